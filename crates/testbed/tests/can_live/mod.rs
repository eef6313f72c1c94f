//! The live CAN bus for real: stations as processes, clients over multicast, frames to the bit.
//!
//! The executable is also the bus in a namespace of its own, and what `cargo xtask socketcan` runs where the kernel has CAN.

pub(crate) mod multicast;
pub(crate) mod socketcan;
pub(crate) mod stations;

use std::process::Command;
use std::sync::atomic::AtomicBool;

use chronoseal_core::{
    DiscardReason, Duration, EventKind, NodeId, PortId, Priority, Rate, SimTime, StreamId, TransferFault,
};
use chronoseal_media::can::{CanBus, CanBusConfig, ControllerConfig};
use chronoseal_media::medium::{Attachment, Medium};
use chronoseal_media::topology::{Absent, Topology};
use chronoseal_results::{Direction, FrameRow, Outcome, RunRows};
use chronoseal_testbed::can::{Guest, GuestKind, NoStreams};
use chronoseal_testbed::{
    AgentConfig, FrameDescription, Home, LiveConfig, LiveError, LiveOutcome, PortLink, Traffic, run,
};
use chronoseal_wire::can::{BitTiming, BitTimingConfig, CanFrame};

use stations::{FRAMES, STATIONS};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("frames_take_the_time_of_their_bits", frames_take_the_time_of_their_bits),
    ("the_lowest_identifier_wins_and_no_frame_is_lost", the_lowest_identifier_wins_and_no_frame_is_lost),
    ("stations_that_share_a_process_talk_as_others_do", stations_that_share_a_process_talk_as_others_do),
    ("who_sends_is_told_what_the_bus_threw_away", who_sends_is_told_what_the_bus_threw_away),
    ("who_has_nothing_to_say_has_no_row", who_has_nothing_to_say_has_no_row),
    ("what_is_not_for_a_station_is_no_row_of_it", what_is_not_for_a_station_is_no_row_of_it),
    ("a_frame_checked_after_its_deadline_is_late", a_frame_checked_after_its_deadline_is_late),
    ("an_interface_that_is_not_there_is_refused", an_interface_that_is_not_there_is_refused),
    ("an_interface_without_one_listener_is_refused", an_interface_without_one_listener_is_refused),
    ("a_station_that_cannot_be_built_is_an_error", a_station_that_cannot_be_built_is_an_error),
    ("an_address_that_is_no_group_is_refused", || in_namespace("an_address_that_is_no_group_is_refused")),
    ("a_client_hears_others_after_the_bus", || in_namespace("a_client_hears_others_after_the_bus")),
    ("what_is_no_frame_is_counted", || in_namespace("what_is_no_frame_is_counted")),
    ("clients_and_stations_share_a_bus", || in_namespace("clients_and_stations_share_a_bus")),
    ("python_can_plays_along", || in_namespace("python_can_plays_along")),
];

/// Runs a test of [`multicast`] in a process of its own, which can leave the host's network.
fn in_namespace(test: &str) {
    let status = Command::new(std::env::current_exe().unwrap()).args(["multicast", test]).status().unwrap();
    match status.code() {
        Some(multicast::REFUSED) if std::env::var("CHRONOSEAL_REQUIRE_LIVE").is_ok_and(|value| value == "1") => {
            panic!("{test}: this host refuses network namespaces")
        }
        Some(multicast::REFUSED) => println!("  skipped: this host refuses network namespaces"),
        code => assert_eq!(code, Some(0), "{test}"),
    }
}

fn timing() -> BitTiming {
    BitTiming::new(&BitTimingConfig::new(Rate(500_000), Rate(2_000_000))).unwrap()
}

/// A bus of the stations and of guests behind them.
fn bus_with(guests: &[Guest]) -> CanBus {
    bus_of(guests, ControllerConfig::new)
}

fn bus_of(guests: &[Guest], controller: fn(Attachment) -> ControllerConfig) -> CanBus {
    let stations = (0..STATIONS).map(|node| Attachment { node: NodeId(node), port: PortId(0) });
    let bus = CanBusConfig {
        timing: timing(),
        carries_fd: true,
        controllers: stations.map(controller).chain(guests.iter().map(Guest::controller)).collect(),
        bits_between_errors: None,
        faults: Vec::new(),
        babblers: Vec::new(),
        load_window: None,
    };
    CanBus::new(bus, 1).unwrap()
}

/// The stations, each with one port that is `link`, and `guests` beside them.
fn config(link: &PortLink, guests: Vec<Guest>) -> LiveConfig {
    let station = |node| AgentConfig { ports: vec![link.clone()], ..AgentConfig::new(NodeId(node)) };
    let agents = (0..STATIONS).map(station).collect();
    let agent_command = Some(crate::agents("can_live"));
    LiveConfig { guests, capture: true, agent_command, ..LiveConfig::new(agents, Vec::new(), Duration::from_ms(200)) }
}

/// The stations on a CAN interface of the kernel, where strangers appear under the number of the first guest.
fn config_on(interface: &str) -> LiveConfig {
    let listener = guest(0, GuestKind::Listener(interface.into()));
    config(&PortLink::CanInterface(interface.into()), vec![listener])
}

fn guest(number: u16, kind: GuestKind) -> Guest {
    Guest { attachment: Attachment { node: NodeId(STATIONS + number), port: PortId(0) }, kind }
}

fn run_with(guests: Vec<Guest>) -> LiveOutcome {
    let mut bus = bus_with(&guests);
    run(&config(&PortLink::Pair, guests), &mut bus, &NoStreams, &AtomicBool::new(false)).unwrap()
}

/// Warnings, but for what the host does not grant.
fn warnings_of_frames(outcome: &LiveOutcome) -> Vec<&String> {
    outcome.warnings.iter().filter(|warning| !warning.contains("SCHED_FIFO")).collect()
}

/// What was on the bus, by the guest that only records.
fn seen_by(rows: &RunRows, node: NodeId) -> Vec<CanFrame> {
    let seen = rows.captures.iter().filter(|row| row.node == node && row.direction == Direction::Departure);
    seen.map(|row| CanFrame::parse(&row.bytes).unwrap()).collect()
}

fn frames_take_the_time_of_their_bits() {
    let recorder = guest(0, GuestKind::Recorder);
    let outcome = run_with(vec![recorder.clone()]);
    let rows = &outcome.rows;
    let frames = seen_by(rows, recorder.attachment.node);
    assert_eq!(frames.len() as u32, FRAMES * u32::from(STATIONS));
    let planned = ends_on_bus(rows);
    assert_eq!(planned.len(), frames.len());
    let occupied = |frame: &CanFrame| timing().frame(frame) + timing().intermission();
    let mut back_to_back = 0;
    for (index, pair) in planned.windows(2).enumerate() {
        // From the end of one frame to the end of the next: intermission and the next, and more if nobody waited.
        let (apart, least) = (pair[1] - pair[0], occupied(&frames[index + 1]));
        assert!(apart >= least, "frame {} came {apart} after the one before it, and takes {least}", index + 1);
        back_to_back += u32::from(apart == least);
    }
    // Three stations send three at once: eight of nine have somebody before them, if all wake up in time.
    assert!(back_to_back > FRAMES * u32::from(STATIONS) / 2, "{back_to_back} of {} to the bit", frames.len());
    assert!(rows.releases.iter().all(|row| !row.error.is_negative()), "a frame left early");
    let mut errors: Vec<i64> = rows.releases.iter().map(|row| row.error.as_ns()).collect();
    errors.sort_unstable();
    let n = errors.len();
    println!(
        "  {} frames, {back_to_back} back to back to the bit; {n} copies, release error p50 {} p99 {} max {} ns",
        frames.len(),
        errors[n / 2],
        errors[n * 99 / 100],
        errors[n - 1]
    );
}

fn the_lowest_identifier_wins_and_no_frame_is_lost() {
    let recorder = guest(0, GuestKind::Recorder);
    let outcome = run_with(vec![recorder.clone()]);
    let rows = &outcome.rows;
    assert_eq!(warnings_of_frames(&outcome), Vec::<&String>::new());
    for count in &outcome.counts {
        assert_eq!((count.sent, count.lost, count.refused), (u64::from(FRAMES), 0, 0));
        assert_eq!(count.received, u64::from(FRAMES) * u64::from(STATIONS - 1));
    }
    let copies = (u32::from(STATIONS) - 1 + 1) * u32::from(STATIONS) * FRAMES;
    assert_eq!(rows.frames.len() as u32, copies, "a row for each station but the sender, and the recorder");
    for row in &rows.frames {
        assert_eq!(row.outcome, Outcome::Delivered, "{row:?}");
        let times = [row.sent_at, row.arrived_at, row.departed_at, row.received_at].map(|time| time.expect("known"));
        assert!(times[0] < times[1] && times[0] < times[3] && times[2] < times[3], "{row:?}");
    }
    // Whatever the bus had when a frame began and carried later would have lost against it.
    let carried = seen_by(rows, recorder.attachment.node);
    let ends = ends_on_bus(rows);
    let arrivals = rows.captures.iter().filter(|row| row.direction == Direction::Arrival);
    let arrivals: Vec<_> = arrivals.map(|row| (row.time, CanFrame::parse(&row.bytes).unwrap())).collect();
    let mut contests = 0;
    for (index, winner) in carried.iter().enumerate() {
        let began = ends[index] - timing().frame(winner);
        let later = &carried[index + 1..];
        for (_, loser) in arrivals.iter().filter(|(at, frame)| *at < began && later.contains(frame)) {
            assert!(winner.arbitration_rank() <= loser.arbitration_rank(), "{winner:?} before {loser:?}");
            contests += 1;
        }
    }
    assert!(contests > FRAMES, "{contests} frames waited for another");
    each_heard_all_others(rows);
}

/// When the last bit of each frame was over: all copies of a frame are planned for that instant.
fn ends_on_bus(rows: &RunRows) -> Vec<SimTime> {
    let mut planned: Vec<SimTime> = rows.releases.iter().map(|row| row.planned).collect();
    planned.sort_unstable();
    planned.dedup();
    planned
}

/// Every station tells every frame of every other, in order.
fn each_heard_all_others(rows: &RunRows) {
    for (at, from) in (0..STATIONS).flat_map(|at| (0..STATIONS).map(move |from| (at, from))) {
        let heard: Vec<u64> = rows
            .events
            .iter()
            .filter(|row| row.node == NodeId(at) && row.event.kind == EventKind::Delivered)
            .filter(|row| row.event.stream == StreamId(from))
            .map(|row| row.event.sequence)
            .collect();
        let expected: Vec<u64> = if at == from { Vec::new() } else { (0..u64::from(FRAMES)).collect() };
        assert_eq!(heard, expected, "station {at} of station {from}");
    }
}

fn stations_that_share_a_process_talk_as_others_do() {
    // The second stays alone, so that the shared process has nodes that do not follow one another.
    let mut config = config(&PortLink::Pair, Vec::new());
    for agent in config.agents.iter_mut().filter(|agent| agent.node != NodeId(1)) {
        agent.home = Home::Shared;
    }
    let outcome = run(&config, &mut bus_with(&[]), &NoStreams, &AtomicBool::new(false)).unwrap();
    assert_eq!(outcome.host.agents.len(), 2, "processes");
    assert_eq!(warnings_of_frames(&outcome), Vec::<&String>::new());
    let nodes: Vec<u16> = outcome.counts.iter().map(|count| count.node).collect();
    assert_eq!(nodes, [0, 1, 2], "each has its own records");
    each_heard_all_others(&outcome.rows);
}

fn what_is_not_for_a_station_is_no_row_of_it() {
    let config = config(&PortLink::Pair, Vec::new());
    let rows = run(&config, &mut bus_with(&[]), &OnlyForTheFirst, &AtomicBool::new(false)).unwrap().rows;
    assert_eq!(rows.frames.len() as u32, FRAMES * u32::from(STATIONS - 1));
    assert!(rows.frames.iter().all(|row| row.at == NodeId(0)));
    each_heard_all_others(&rows);
}

/// Rows are kept of what the first station says.
struct OnlyForTheFirst;

impl Traffic for OnlyForTheFirst {
    fn priority(&self, from: Attachment, bytes: &[u8]) -> Priority {
        NoStreams.priority(from, bytes)
    }
    fn describe(&self, from: Attachment, bytes: &[u8], arrived_at: SimTime) -> FrameDescription {
        NoStreams.describe(from, bytes, arrived_at)
    }
    fn is_for(&self, _: Attachment, _: StreamId, node: NodeId) -> bool {
        node == NodeId(0)
    }
}

/// Frames are meant for all stations but the last.
struct NotForTheLast;

impl Traffic for NotForTheLast {
    fn priority(&self, from: Attachment, bytes: &[u8]) -> Priority {
        NoStreams.priority(from, bytes)
    }
    fn describe(&self, from: Attachment, bytes: &[u8], arrived_at: SimTime) -> FrameDescription {
        NoStreams.describe(from, bytes, arrived_at)
    }
    fn concerns(&self, _: StreamId, node: NodeId) -> bool {
        node.0 != STATIONS - 1
    }
}

/// Three frames at once for a controller that holds one.
fn who_sends_is_told_what_the_bus_threw_away() {
    let mut config = config(&PortLink::Pair, Vec::new());
    config.node_config = stations::ASKS.to_vec();
    let mut bus = bus_of(&[], |at| ControllerConfig { queue_len_max: 1, ..ControllerConfig::new(at) });
    let rows = run(&config, &mut bus, &NoStreams, &AtomicBool::new(false)).unwrap().rows;
    let count = |kind| rows.events.iter().filter(|row| row.event.kind == kind).count();
    let carried = rows.captures.iter().filter(|row| row.direction == Direction::Carried).count();
    let thrown_away = count(EventKind::Discarded(DiscardReason::QueueFull));
    assert!(thrown_away > 0 && carried > 0, "{thrown_away} thrown away, {carried} carried");
    assert_eq!(thrown_away + carried, (FRAMES * u32::from(STATIONS)) as usize);
    assert_eq!(count(EventKind::TransferFault(TransferFault::NotTransmitted)), thrown_away);
}

fn who_has_nothing_to_say_has_no_row() {
    let mut config = config(&PortLink::Pair, Vec::new());
    config.node_config = stations::LAST_IS_SILENT.to_vec();
    let rows_of_last = |traffic: &dyn Traffic| {
        let rows = run(&config, &mut bus_with(&[]), traffic, &AtomicBool::new(false)).unwrap().rows.frames;
        let (of_last, others): (Vec<FrameRow>, Vec<FrameRow>) =
            rows.into_iter().partition(|row| row.at == NodeId(STATIONS - 1));
        assert!(others.iter().all(|row| row.outcome == Outcome::Delivered));
        assert!(of_last.iter().all(|row| row.outcome == Outcome::Unaccounted));
        of_last.len()
    };
    assert_eq!(rows_of_last(&NotForTheLast), 0);
    // Where it should have said something, its silence shows.
    assert_eq!(rows_of_last(&NoStreams), (FRAMES * u32::from(STATIONS - 1)) as usize);
}

/// Every frame has to be received and checked so long after it was handed to the bus.
struct Within(Duration);

impl Traffic for Within {
    fn priority(&self, from: Attachment, bytes: &[u8]) -> Priority {
        NoStreams.priority(from, bytes)
    }
    fn describe(&self, _: Attachment, _: &[u8], arrived_at: SimTime) -> FrameDescription {
        FrameDescription { received_by: Some(arrived_at + self.0), ..FrameDescription::UNKNOWN }
    }
}

fn a_frame_checked_after_its_deadline_is_late() {
    let outcome_of_all = |deadline: Duration, expected: Outcome| {
        let config = config(&PortLink::Pair, Vec::new());
        let traffic = Within(deadline);
        let rows = run(&config, &mut bus_with(&[]), &traffic, &AtomicBool::new(false)).unwrap().rows.frames;
        assert_eq!(rows.len() as u32, FRAMES * u32::from(STATIONS) * u32::from(STATIONS - 1));
        assert!(rows.iter().all(|row| row.outcome == expected));
    };
    // The shortest frame takes more than 200 us.
    outcome_of_all(Duration::from_us(100), Outcome::Late);
    outcome_of_all(Duration::from_s(10), Outcome::Delivered);
}

fn an_interface_that_is_not_there_is_refused() {
    let refused = |config: &LiveConfig| {
        let error = run(config, &mut Absent, &NoStreams, &AtomicBool::new(false)).unwrap_err();
        assert!(matches!(&error, LiveError::CanRefused { interface, .. } if interface == "nocan7"), "{error}");
        assert!(error.is_refusal() && error.to_string().contains("modprobe vcan"), "{error}");
    };
    refused(&config_on("nocan7"));
    refused(&config(&PortLink::Pair, vec![guest(0, GuestKind::Interface("nocan7".into()))]));
}

fn an_interface_without_one_listener_is_refused() {
    let refused = |config: &LiveConfig, medium: &mut (dyn Medium + Send), reason: &str| {
        let error = run(config, medium, &NoStreams, &AtomicBool::new(false)).unwrap_err();
        assert!(matches!(&error, LiveError::Configuration(text) if text.contains(reason)), "{error}");
    };
    let listener = |number| guest(number, GuestKind::Listener("nocan7".into()));
    let config = config_on("nocan7");
    refused(&LiveConfig { guests: Vec::new(), ..config.clone() }, &mut Absent, "nobody listens");
    refused(&LiveConfig { guests: vec![listener(0), listener(1)], ..config.clone() }, &mut Absent, "more than one");
    let in_place_of_a_station =
        Guest { attachment: Attachment { node: NodeId(0), port: PortId(1) }, kind: GuestKind::Recorder };
    let guests = vec![listener(0), in_place_of_a_station];
    refused(&LiveConfig { guests, ..config.clone() }, &mut Absent, "somebody else's place");
    // It gives its rows their segment.
    refused(&config, &mut Topology::new(), "on no segment");
}

fn a_station_that_cannot_be_built_is_an_error() {
    let mut config = config(&PortLink::Pair, Vec::new());
    config.agents.push(AgentConfig::new(NodeId(STATIONS)));
    let error = run(&config, &mut bus_with(&[]), &NoStreams, &AtomicBool::new(false)).unwrap_err();
    assert!(matches!(&error, LiveError::Node { node: NodeId(STATIONS), .. }), "{error}");
}
