//! What is done with a scenario: checked, simulated, run live, stored, reported, captured.

use std::sync::atomic::AtomicBool;

use chronoseal_catalog::Prepared;
use chronoseal_check::{PAGES as BUILT_IN_PAGES, check_with};
use chronoseal_core::{Duration, EventKind};
use chronoseal_report::{TerminalStyle, Word, html, run_report, terminal};
use chronoseal_results::capture::write_capture;
use chronoseal_results::{FrameRow, Outcome, store};
use chronoseal_runner::{LiveOptions, MeasureError, Run, fingerprint, measure, simulate};
use chronoseal_scenario::{NoFiles, Scenario};
use chronoseal_testbed::{LiveError, Placement};
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::{Block, PcapNgReader};

use crate::kind::LINK_TYPE;
use crate::tables::{PAGES, SCENARIO, kinds};
use crate::{frame, station};

pub(crate) const TWO: &str = include_str!("two.toml");
const BESIDE: &str = include_str!("beside.toml");
/// Frames of a stream in each of these scenarios.
const FRAMES: usize = 100;

/// A scenario that may have segments of the toy.
pub(crate) fn load(text: &str) -> Scenario {
    Scenario::load_with(&SCENARIO, "toy.toml", text.as_bytes(), &[], &NoFiles)
        .unwrap_or_else(|problems| panic!("{}", problems.render()))
}

/// Simulates it and keeps its frames.
fn simulated(text: &str) -> Run {
    simulate(&Prepared::with_kinds(&load(text).plan, kinds()).unwrap(), true, &mut |_| true).unwrap()
}

/// Runs it live; `None` where the host refuses.
fn live(text: &str) -> Option<Run> {
    let options =
        LiveOptions { capture: true, no_fifo: true, placement: Some(Placement::Free), ..LiveOptions::default() };
    let scenario = load(text);
    let prepared = Prepared::with_kinds(&scenario.plan, kinds()).unwrap();
    match measure(&prepared, scenario.texts(), &options, &AtomicBool::new(false)) {
        Ok(run) => Some(run),
        Err(MeasureError::Live(LiveError::Start(error))) => {
            assert_ne!(std::env::var("CHRONOSEAL_REQUIRE_LIVE").as_deref(), Ok("1"), "no station starts: {error}");
            println!("skipped, this host starts no station: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

pub(crate) fn check_bounds_the_stream() {
    let checked = check_with(&load(TWO).plan, &PAGES, kinds()).unwrap();
    let text = terminal(&checked.document, TerminalStyle::default());
    // 50 us in the sender's driver and 1 ms on the segment.
    assert!(checked.word == Word::Held && text.contains("HELD") && text.contains("1050.0"), "{text}");
    assert!(checked.json.contains("1050"), "{}", checked.json);
    let late = TWO.replace("deadline = \"2ms\"", "deadline = \"1049us\"");
    let checked = check_with(&load(&late).plan, &PAGES, kinds()).unwrap();
    assert_ne!(checked.word, Word::Held, "{}", terminal(&checked.document, TerminalStyle::default()));
}

/// Every stream has a bound, and no frame took longer.
fn is_within_bounds(run: &Run) {
    for (meta, stream) in run.meta.streams.iter().zip(&run.summary.streams) {
        let bound = meta.bound.as_ref().unwrap_or_else(|| panic!("{}: {:?}", meta.name, meta.unbounded));
        let longest = stream.end_to_end.all.as_ref().unwrap().max_ns;
        println!("  {}: at most {longest} ns, bound {} ns", meta.name, bound.total_ns);
        assert!(longest <= bound.total_ns, "{}: {longest} ns, bound {} ns", meta.name, bound.total_ns);
    }
}

pub(crate) fn a_simulation_is_the_same_twice() {
    let scenario = load(TWO);
    let prepared = Prepared::with_kinds(&scenario.plan, kinds()).unwrap();
    assert_eq!(fingerprint(&prepared).unwrap(), fingerprint(&prepared).unwrap());
    let run = simulated(TWO);
    assert_eq!(run.meta.fingerprint.as_deref(), Some(fingerprint(&prepared).unwrap().as_str()));
    let other = TWO.replace("delay = \"1ms\"", "delay = \"1001us\"");
    assert_ne!(simulated(&other).meta.fingerprint, run.meta.fingerprint, "every delivery is later");
    assert_eq!(run.rows.frames.len(), FRAMES);
    assert!(run.summary.deadlines_held(), "{:?}", run.summary);
    let carried = run.summary.segment("wire").unwrap().series("frames").unwrap().total;
    let told = run.rows.events.iter().filter(|row| row.event.kind == EventKind::Delivered).count();
    assert!(carried >= 99 && carried as usize == told, "{carried} carried, {told} delivered");
    is_within_bounds(&run);
}

pub(crate) fn a_run_is_stored_and_reported() {
    let run = simulated(TWO);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("run");
    store::write(&folder, &run.meta, &run.summary, &run.rows).unwrap();
    let rows = store::read_rows(&folder).unwrap();
    let told = |rows: &[FrameRow]| rows.iter().map(|row| (row.stream, row.sequence, row.outcome)).collect::<Vec<_>>();
    assert_eq!((told(&rows.frames), rows.segments), (told(&run.rows.frames), run.rows.segments.clone()));
    reported(&run);
}

/// Its report shows the stream, the segment and what is to be known of it.
fn reported(run: &Run) {
    let page = html(&run_report(&run.meta, &run.summary, &run.rows));
    for word in ["speed", "wire", "toy", "delay", "1.000 ms", "sensor", "display"] {
        assert!(page.contains(word), "the report does not show {word}");
    }
}

/// An interface of a capture: its link type and its name.
type Interface = (u32, String);

/// The interfaces of a run's capture, and its frames, each with the number of its interface.
fn captured(run: &Run) -> (Vec<Interface>, Vec<(u32, Vec<u8>)>) {
    let mut bytes = Vec::new();
    write_capture(&mut bytes, &run.meta, &run.rows.captures).unwrap();
    let mut reader = PcapNgReader::new(bytes.as_slice()).unwrap();
    let (mut interfaces, mut packets) = (Vec::new(), Vec::new());
    while let Some(block) = reader.next_block() {
        match block.unwrap() {
            Block::InterfaceDescription(interface) => {
                let name = interface.options.iter().find_map(|option| match option {
                    InterfaceDescriptionOption::IfName(name) => Some(name.to_string()),
                    _ => None,
                });
                interfaces.push((u32::from(interface.linktype), name.unwrap()));
            }
            Block::EnhancedPacket(packet) => packets.push((packet.interface_id, packet.data.to_vec())),
            _ => {}
        }
    }
    (interfaces, packets)
}

pub(crate) fn a_capture_has_the_link_type_of_the_kind() {
    let run = simulated(TWO);
    let (interfaces, packets) = captured(&run);
    assert_eq!(interfaces, [(u32::from(LINK_TYPE), "wire".to_owned())]);
    let read: Vec<(u8, u64)> = packets
        .iter()
        .map(|(_, bytes)| frame::parse(bytes).unwrap())
        .map(|(number, pdu)| (number, station::sequence_of(pdu)))
        .collect();
    let written: Vec<(u8, u64)> = (0..read.len() as u64).map(|sequence| (7, sequence)).collect();
    assert!(read.len() >= FRAMES - 1 && read == written, "{read:?}");
}

pub(crate) fn a_gateway_joins_it_to_a_bus() {
    let pages = [BUILT_IN_PAGES, &PAGES].concat();
    let scenario = load(BESIDE);
    for pages in [&pages, &PAGES[..]] {
        let checked = check_with(&scenario.plan, pages, kinds()).unwrap();
        let text = terminal(&checked.document, TerminalStyle::default());
        assert!(checked.word == Word::Held && text.contains("request") && text.contains("wire"), "{text}");
    }
    let late = check_with(&load(&BESIDE.replace("deadline = \"5ms\"", "deadline = \"1500us\"")).plan, &pages, kinds());
    assert_ne!(late.unwrap().word, Word::Held, "the bound is longer");
    let run = simulated(BESIDE);
    assert!(run.summary.deadlines_held(), "{:?}", run.summary);
    is_within_bounds(&run);
    for stream in &run.summary.streams[..2] {
        assert!(stream.delivered >= FRAMES as u64 - 1 && stream.discarded.is_empty(), "{stream:?}");
    }
    let (interfaces, packets) = captured(&run);
    assert_eq!(interfaces, [(227, "bus".to_owned()), (u32::from(LINK_TYPE), "wire".to_owned())]);
    let numbers = |wanted| {
        let on_wire = packets.iter().filter(|(interface, _)| *interface == 1);
        on_wire.filter(|(_, bytes)| frame::parse(bytes).is_some_and(|(number, _)| number == wanted)).count()
    };
    assert!(numbers(1) >= FRAMES - 1 && numbers(2) >= FRAMES - 1, "{} and {}", numbers(1), numbers(2));
    let Some(run) = live(BESIDE) else { return };
    for stream in [0, 1] {
        let accepted = accepted(&run, stream);
        println!("  live, {}: {} of {FRAMES} accepted", run.meta.streams[usize::from(stream)].name, accepted.len());
        assert!(accepted.len() >= FRAMES - 2, "{} accepted", accepted.len());
    }
}

/// Frames of a stream that were accepted, late ones too: a machine that others use may be late.
fn accepted(run: &Run, stream: u16) -> Vec<&FrameRow> {
    let is_accepted =
        |row: &&FrameRow| row.stream.0 == stream && matches!(row.outcome, Outcome::Delivered | Outcome::Late);
    run.rows.frames.iter().filter(is_accepted).collect()
}

pub(crate) fn it_runs_live() {
    let Some(run) = live(TWO) else { return };
    let took = |row: &&FrameRow| row.received_at.unwrap() - row.sent_at.unwrap();
    let accepted = accepted(&run, 0);
    assert!(accepted.len() >= FRAMES - 2, "{} of {FRAMES} accepted", accepted.len());
    let (shortest, longest) = (accepted.iter().map(took).min().unwrap(), accepted.iter().map(took).max().unwrap());
    println!("  live: {} of {FRAMES} accepted, {shortest} to {longest}", accepted.len());
    assert!(shortest >= Duration::from_ms(1), "{shortest}: a frame came before its time");
    reported(&run);
    let (interfaces, packets) = captured(&run);
    assert_eq!(interfaces, [(u32::from(LINK_TYPE), "wire".to_owned())]);
    assert!(packets.len() >= accepted.len() && packets.iter().all(|(_, bytes)| frame::parse(bytes).is_some()));
}
