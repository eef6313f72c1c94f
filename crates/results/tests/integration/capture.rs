use std::process::Command;

use chronoseal_core::NodeId;
use chronoseal_results::capture::write_capture;
use chronoseal_results::{CaptureRow, Direction};

use crate::sample::{control_frame, critical_frame, meta, us};

fn captures() -> Vec<CaptureRow> {
    let row = |at_us, node, direction, comment: &str, bytes| CaptureRow {
        time: us(at_us),
        node: NodeId(node),
        direction,
        comment: comment.into(),
        bytes,
    };
    vec![
        row(1_010, 1, Direction::Departure, "sequence 5", critical_frame()),
        row(1_007, 0, Direction::Arrival, "", critical_frame()),
        row(3, 0, Direction::Departure, "beacon", control_frame()),
    ]
}

#[test]
fn interfaces_are_named_and_packets_in_order() {
    use pcap_file::pcapng::{Block, PcapNgReader};
    let mut bytes = Vec::new();
    write_capture(&mut bytes, &meta(), &captures()).unwrap();
    let mut reader = PcapNgReader::new(bytes.as_slice()).unwrap();
    let (mut names, mut packets) = (Vec::new(), Vec::new());
    while let Some(block) = reader.next_block() {
        match block.unwrap() {
            Block::InterfaceDescription(interface) => names.push(format!("{:?}", interface.options[0])),
            Block::EnhancedPacket(packet) => packets.push((packet.timestamp.as_nanos(), packet.options.len())),
            _ => {}
        }
    }
    assert_eq!(names.len(), 3);
    assert!(names[0].contains("ecu1 arrival") && names[2].contains("ecu2 departure"), "{names:?}");
    assert_eq!(packets, [(3_000, 1), (1_007_000, 0), (1_010_000, 1)]);
}

/// The command of `docs/guide/captures.md`, run on a capture of hand-made frames. Needs tshark; says so if absent.
#[test]
fn tshark_dissects_control_and_critical_frames() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("capture.pcapng");
    write_capture(std::fs::File::create(&path).unwrap(), &meta(), &captures()).unwrap();
    let output = Command::new("tshark")
        .args(["-o", "tte.ct_mask_value:0xffffffff", "-o", "tte.ct_marker_value:0x03040506"])
        .args(["-T", "fields", "-E", "separator=;"])
        .args(["-e", "frame.interface_name", "-e", "frame.time_epoch", "-e", "frame.comment", "-e", "frame.protocols"])
        .args(["-e", "tte.cf", "-e", "tte.ctid", "-e", "tte_pcf.ic", "-e", "tte_pcf.mn", "-e", "tte_pcf.type"])
        .arg("-r")
        .arg(&path)
        .output();
    let Ok(output) = output else {
        println!("skipped: tshark is not installed (Debian package tshark)");
        return;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(lines.len(), 3, "{text}");
    assert_eq!(
        lines[0],
        "ecu1 departure;0.000003000;beacon;eth:tte:ethertype:tte_pcf;0x03040506;0x0fcb;0x00000009;0x00000001;0x02"
    );
    assert!(lines[1].starts_with("ecu1 arrival;0.001007000;;eth:tte:ethertype:"), "{text}");
    assert!(lines[1].contains(";0x03040506;0x0064;"), "{text}");
    assert!(lines[2].starts_with("ecu2 departure;0.001010000;sequence 5;eth:tte:ethertype:"), "{text}");
}
