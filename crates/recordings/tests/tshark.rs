//! What Wireshark makes of our captures. Needs tshark, so it runs on demand only:
//!
//! ```text
//! cargo test -p chronoseal-recordings --test recordings tshark -- --ignored --nocapture
//! ```

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]
#![allow(clippy::disallowed_methods, reason = "a pipe is filled while another is drained")]

use std::io::Write;
use std::process::{Command, Stdio};

use chronoseal_recordings::{RecordedFrame, Recording, read, write_pcap};
use chronoseal_wire::can::{CanFrame, CanId, Dlc, FrameKind};

const FIELDS: [&str; 9] = [
    "frame.time_epoch",
    "can.id",
    "can.flags.xtd",
    "can.flags.rtr",
    "can.flags.err",
    "can.len",
    "canfd.flags.brs",
    "canfd.flags.esi",
    "data.data",
];

/// [`FIELDS`] of each packet, or `None` without tshark.
fn tshark(capture: &[u8]) -> Option<Vec<Vec<String>>> {
    let spawned = Command::new("tshark")
        .args(["-r", "-", "-T", "fields", "-E", "occurrence=f"])
        .args(FIELDS.iter().flat_map(|field| ["-e", field]))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = spawned.ok()?;
    let mut input = child.stdin.take().unwrap();
    let capture = capture.to_vec();
    // It reads and writes at once: a whole capture would fill both pipes.
    let writer = std::thread::spawn(move || input.write_all(&capture));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    Some(lines.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

/// What tshark should show of a frame.
fn shown(recording: &Recording, recorded: &RecordedFrame) -> Vec<String> {
    let frame = &recorded.frame;
    let time_ns = recording.start_ns + recorded.at_ns;
    let bit = |value: bool| String::from(if value { "1" } else { "0" });
    let (brs, esi) = match frame.kind() {
        FrameKind::Fd { brs, esi } => (bit(brs), bit(esi)),
        _ => (String::new(), String::new()),
    };
    let classical = |value: bool| if frame.kind().is_fd() { String::new() } else { bit(value) };
    let len = if frame.kind().is_fd() { frame.dlc().fd_len() } else { frame.dlc().classical_len() };
    vec![
        format!("{}.{:09}", time_ns / 1_000_000_000, time_ns % 1_000_000_000),
        frame.id().raw().to_string(),
        bit(frame.id().is_extended()),
        classical(frame.kind().is_remote()),
        classical(false),
        len.to_string(),
        brs,
        esi,
        // It shows of a remote frame as many bytes as it asks for, which are padding.
        if frame.kind().is_remote() {
            "00".repeat(len)
        } else {
            frame.data().iter().map(|byte| format!("{byte:02x}")).collect()
        },
    ]
}

fn check(recording: &Recording) {
    let Some(packets) = tshark(&write_pcap(recording)) else {
        println!("SKIPPED: tshark is not installed");
        return;
    };
    assert_eq!(packets.len(), recording.frames.len());
    for (packet, recorded) in packets.iter().zip(&recording.frames) {
        assert_eq!(*packet, shown(recording, recorded));
    }
    println!("tshark agrees on {} frames", packets.len());
}

#[test]
#[ignore = "needs tshark"]
fn tshark_reads_identifiers_flags_and_lengths_of_every_kind_of_frame() {
    let mut recording = read(b"(1700000000.000000) can0 123#01\n").unwrap();
    recording.frames.clear();
    // Data of identifier 0 is taken for a higher protocol.
    let ids = [CanId::standard(1), CanId::standard(0x7ff), CanId::extended(1), CanId::extended(0x1fff_ffff)];
    let mut kinds = vec![FrameKind::Classical, FrameKind::Remote];
    kinds.extend(
        [(false, false), (false, true), (true, false), (true, true)].map(|(brs, esi)| FrameKind::Fd { brs, esi }),
    );
    for id in ids.map(Result::unwrap) {
        for kind in &kinds {
            for dlc in 0..16 {
                // A classical code above 8 is kept beside the length, which tshark 4.0 does not show.
                let dlc = Dlc::new(if kind.is_fd() { dlc } else { dlc.min(8) }).unwrap();
                let data: Vec<u8> = (0..64).map(|byte| byte * 3 + dlc.raw()).collect();
                let at_ns = recording.frames.len() as u64 * 1_000_001;
                let frame = CanFrame::new(id, *kind, dlc, &data);
                recording.frames.push(RecordedFrame { at_ns, channel: 0, frame });
            }
        }
    }
    check(&recording);
}

#[test]
#[ignore = "needs tshark"]
fn tshark_reads_whole_recordings() {
    check(&read(include_bytes!("../../../data/can/vessel_bus.log")).unwrap());
    check(&read(include_bytes!("../../../data/can/car_busmaster.log")).unwrap());
}
