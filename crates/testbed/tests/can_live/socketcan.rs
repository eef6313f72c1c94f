//! What runs where the kernel has CAN: the same stations on an interface of the kernel, and our bus with the interface
//! as a guest. What was seen is written down line by line, to be held against what candump saw.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use chronoseal_core::{Duration, NodeId};
use chronoseal_media::topology::Absent;
use chronoseal_results::{Direction, Outcome, RunRows};
use chronoseal_testbed::can::{GuestKind, NoStreams};
use chronoseal_testbed::{LiveConfig, PortLink, run as run_live};
use chronoseal_wire::can::{CanFrame, FrameKind};

use super::{FRAMES, STATIONS, bus_with, config, config_on, each_heard_all_others, guest, warnings_of_frames};

/// Under which number strangers appear.
const OUTSIDE: NodeId = NodeId(STATIONS);

/// Runs the stations on `interface`, then on our bus with `interface` for a guest, and writes to `folder`.
pub(crate) fn run(interface: &str, folder: &str) -> ExitCode {
    let folder = Path::new(folder);
    // One processor for all, and itself a process: what takes a tenth of a second elsewhere may take many.
    let slow = LiveConfig { duration: Duration::from_s(2), ..config_on(interface) };
    let outcome = run_live(&slow, &mut Absent, &NoStreams, &AtomicBool::new(false)).unwrap();
    check_stations(&outcome.rows);
    assert_eq!(warnings_of_frames(&outcome), Vec::<&String>::new());
    write(&folder.join("stations.log"), &outcome.rows, Direction::Arrival);
    println!("stations on the interface: {} frames seen", outcome.rows.captures.len());
    std::fs::write(folder.join("stations.done"), "done").unwrap();
    await_file(&folder.join("bus.go"));

    let guests = vec![guest(0, GuestKind::Interface(interface.to_owned()))];
    let mut bus = bus_with(&guests);
    let mut config = config(&PortLink::Pair, guests);
    config.duration = Duration::from_s(20);
    let stop = AtomicBool::new(false);
    let outcome = thread::scope(|scope| {
        scope.spawn(|| {
            await_file(&folder.join("outside.done"));
            stop.store(true, Ordering::Relaxed);
        });
        run_live(&config, &mut bus, &NoStreams, &stop).unwrap()
    });
    check_stations(&outcome.rows);
    write(&folder.join("bus.log"), &outcome.rows, Direction::Departure);
    write(&folder.join("outside.log"), &outcome.rows, Direction::Arrival);
    let outside: Vec<_> = outcome.rows.frames.iter().filter(|row| row.sender == OUTSIDE).collect();
    println!("bus with the interface for a guest: {} frames from outside", outside.len() / usize::from(STATIONS));
    assert!(!outside.is_empty() && outside.len().is_multiple_of(usize::from(STATIONS)), "{}", outside.len());
    assert!(outside.iter().all(|row| row.outcome == Outcome::Delivered), "a frame from outside was lost");
    assert!(outcome.rows.releases.iter().all(|row| !row.error.is_negative()));
    ExitCode::SUCCESS
}

/// Prints the frames of a capture as a log of candump.
pub(crate) fn print_as_candump(capture: &str) -> ExitCode {
    let recording = chronoseal_recordings::read(&std::fs::read(capture).unwrap()).unwrap();
    print!("{}", chronoseal_recordings::write_candump(&recording));
    ExitCode::SUCCESS
}

fn check_stations(rows: &RunRows) {
    each_heard_all_others(rows);
    let of_stations: Vec<_> = rows.frames.iter().filter(|row| row.sender.0 < STATIONS).collect();
    let heard = FRAMES * u32::from(STATIONS) * u32::from(STATIONS - 1);
    assert!(of_stations.len() as u32 >= heard, "{} rows of frames, and {heard} were heard", of_stations.len());
    assert!(of_stations.iter().all(|row| row.outcome == Outcome::Delivered), "a frame of a station was lost");
}

/// One line a frame at the interface, as candump's log has it behind time and interface.
fn write(path: &Path, rows: &RunRows, direction: Direction) {
    let mut text = String::new();
    for row in rows.captures.iter().filter(|row| row.node == OUTSIDE && row.direction == direction) {
        let frame = CanFrame::parse(&row.bytes).unwrap();
        let id = frame.id().raw();
        let id = if frame.id().is_extended() { format!("{id:08X}") } else { format!("{id:03X}") };
        let mark = match frame.kind() {
            FrameKind::Classical => String::new(),
            FrameKind::Remote => "R".into(),
            FrameKind::Fd { brs, esi } => format!("#{:X}", 4 + u8::from(brs) + 2 * u8::from(esi)),
        };
        write!(text, "{id}#{mark}").unwrap();
        for byte in frame.data() {
            write!(text, "{byte:02X}").unwrap();
        }
        text.push('\n');
    }
    std::fs::write(path, text).unwrap();
}

/// Waits until somebody has written `path`.
fn await_file(path: &Path) {
    for _ in 0..2_000 {
        if path.exists() {
            return;
        }
        thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("nobody wrote {}", path.display());
}
