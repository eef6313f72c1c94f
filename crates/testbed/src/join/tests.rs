//! Records of a small run made by hand, joined.

use chronoseal_core::{Event, EventKind, NodeId, PortId, Priority, SimTime, StreamId};
use chronoseal_media::medium::Attachment;
use chronoseal_results::{FrameRow, HopRow, Outcome};

use super::ways::pair;
use super::*;
use crate::config::PortLink;
use crate::emulator::{Arrival, Departure};
use crate::log::{EventRecord, ReceivedRecord, Records, SentRecord};
use crate::traffic::FrameDescription;

#[test]
fn frames_are_paired_across_losses_and_strangers() {
    assert_eq!(pair(&[1, 2, 3, 4], &[1, 3, 9, 4]), [Some(0), Some(2), None, Some(3)]);
    assert_eq!(pair(&[7, 7, 7], &[7, 7]), [Some(0), Some(1)]);
    assert_eq!(pair(&[], &[5]), [None]);
}

/// A time as it is kept.
fn at(step: i64) -> SimTime {
    SimTime::ZERO + resolution::RESOLUTION * step
}

fn port(node: u16, port: u16) -> Attachment {
    Attachment { node: NodeId(node), port: PortId(port) }
}

fn agent(node: u16, ports: &[PortLink]) -> AgentConfig {
    AgentConfig { ports: ports.to_vec(), ..AgentConfig::new(NodeId(node)) }
}

fn can() -> PortLink {
    PortLink::CanInterface("can0".into())
}

fn sent(step: i64, port: u16, hash: u64, origins: Records) -> SentRecord {
    SentRecord { at_ps: at(step).as_ps(), port, hash, len: 60, attack: None, origins, parts: Records::default() }
}

/// A frame received, and accepted five steps later.
fn received(step: i64, port: u16, hash: u64) -> ReceivedRecord {
    let event = Event::of(EventKind::Delivered, StreamId(hash as u16), 0);
    let verdict = Some(EventRecord::new(at(step + 5), &event));
    ReceivedRecord { at_ps: at(step).as_ps(), port, hash, len: 60, verdict, told: Records::default() }
}

fn arrival(step: i64, wire: usize, hash: u64, description: FrameDescription) -> Arrival {
    let stream = StreamId(hash as u16);
    let description = FrameDescription { stream, sequence: Some(hash), ..description };
    Arrival {
        wire,
        read_at: at(step),
        arrived_at: None,
        has_left: false,
        is_out: true,
        first: None,
        len: 60,
        hash,
        description,
    }
}

/// Knows nothing of any frame.
pub(super) struct Nothing;

impl Traffic for Nothing {
    fn priority(&self, _: Attachment, _: &[u8]) -> Priority {
        Priority(0)
    }
    fn describe(&self, _: Attachment, _: &[u8], _: SimTime) -> FrameDescription {
        FrameDescription::UNKNOWN
    }
}

/// Nodes 0 and 1 are on a CAN interface of the kernel, node 2 on Ethernet; node 1 is on both and forwards two CAN frames in
/// one Ethernet frame. Node 9 is a stranger on the interface.
fn forwarded(description: FrameDescription) -> Joined {
    forwarded_but(description, |_, _| ())
}

/// The same with a change to what was written down.
fn forwarded_but(description: FrameDescription, change: impl FnOnce(&mut [AgentLog], &mut EmulatorLog)) -> Joined {
    let agents = [agent(0, &[can()]), agent(1, &[can(), PortLink::Tap]), agent(2, &[PortLink::Tap])];
    let line = |attachment, segment, carrier| Line { attachment, segment, carrier };
    let lines = [
        line(port(1, 1), 1, Carrier::Emulator),
        line(port(2, 0), 1, Carrier::Emulator),
        line(port(9, 0), 0, Carrier::Kernel("can0".into())),
    ];
    let mut logs = [AgentLog::with_room(8), AgentLog::with_room(8), AgentLog::with_room(8)];
    logs[0].sent = vec![sent(10, 0, 100, Records::default()), sent(50, 0, 101, Records::default())];
    logs[0].received = vec![received(31, 0, 555)];
    logs[1].received = vec![received(20, 0, 100), received(31, 0, 555), received(60, 0, 101)];
    let origins = logs[1].add_origins(&[0, 2]);
    logs[1].sent = vec![sent(70, 1, 200, origins)];
    logs[2].received = vec![received(90, 0, 200)];
    let mut emulated = EmulatorLog {
        arrivals: vec![
            arrival(21, 2, 100, description),
            arrival(32, 2, 555, description),
            arrival(61, 2, 101, description),
            arrival(71, 0, 200, description),
        ],
        departures: vec![Departure {
            serial: Some(3),
            wire: 1,
            departed_at: at(80),
            written_at: at(88),
            hash: 200,
            is_whole: true,
            accepted: true,
        }],
        ..EmulatorLog::default()
    };
    change(&mut logs, &mut emulated);
    let mut logs = logs.map(Some);
    join(&agents, &lines.each_ref(), emulated, &mut logs, &Nothing)
}

#[test]
fn each_wire_is_joined_by_what_carries_it() {
    let joined = forwarded(FrameDescription::UNKNOWN);
    let who = |row: &FrameRow| (row.sender.0, row.at.0, row.sequence, row.outcome);
    let rows: Vec<_> = joined.rows.frames.iter().map(who).collect();
    let ok = Outcome::Delivered;
    assert_eq!(rows, [(0, 1, 100, ok), (9, 0, 555, ok), (9, 1, 555, ok), (0, 1, 101, ok), (1, 2, 200, ok)]);
    let counts: Vec<_> =
        joined.counts.iter().map(|count| (count.sent, count.read, count.written, count.received)).collect();
    assert_eq!(counts, [(2, 2, 1, 1), (1, 1, 3, 3), (0, 0, 1, 1)]);
    assert!(joined.counts.iter().all(|count| (count.lost, count.foreign, count.unread) == (0, 0, 0)));
    assert_eq!(joined.warnings, Vec::<String>::new());
}

#[test]
fn who_only_hears_a_frame_has_the_number_that_its_receiver_counted() {
    let joined = forwarded_but(FrameDescription::UNKNOWN, |logs, emulated| {
        emulated.arrivals[1].description.sequence = None;
        logs[0].received[0].verdict = None;
        let event = Event::of(EventKind::Delivered, StreamId(555), 7);
        logs[1].received[1].verdict = Some(EventRecord::new(at(36), &event));
    });
    let of_frame = joined.rows.hops.iter().filter(|hop| hop.frame == 1);
    assert!(of_frame.map(|hop| (hop.to.0, hop.sequence)).eq([(0, 7), (1, 7)]));
}

#[test]
fn a_transmission_names_those_it_came_from_on_another_segment() {
    let hops = forwarded(FrameDescription::UNKNOWN).rows.hops;
    let way = |hop: &HopRow| (hop.segment, hop.from.0, hop.to.0, hop.frame, hop.origins.clone());
    let none = Vec::new;
    let ways: Vec<_> = hops.iter().map(way).collect();
    let expected = [
        (0, 0, 1, 0, none()),
        (0, 9, 0, 1, none()),
        (0, 9, 1, 1, none()),
        (0, 0, 1, 2, none()),
        (1, 1, 2, 3, vec![0, 2]),
    ];
    assert_eq!(ways, expected);
    let last = hops.last().unwrap();
    assert_eq!((last.sent_at, last.arrived_at), (Some(at(70)), Some(at(71))));
    assert_eq!((last.departed_at, last.received_at), (Some(at(80)), Some(at(90))));
    assert_eq!((hops[0].departed_at, hops[0].received_at), (None, Some(at(20))));
}

#[test]
fn a_frame_is_late_by_either_deadline_and_on_time_at_it() {
    // The last frame leaves the medium at 80 us and is accepted at 95 us.
    let outcome = |leaves_by: Option<i64>, received_by: Option<i64>| {
        let (leaves_by, received_by) = (leaves_by.map(at), received_by.map(at));
        let joined = forwarded(FrameDescription { leaves_by, received_by, ..FrameDescription::UNKNOWN });
        joined.rows.frames.last().unwrap().outcome
    };
    assert_eq!(outcome(Some(80), Some(95)), Outcome::Delivered);
    assert_eq!(outcome(Some(79), Some(95)), Outcome::Late);
    assert_eq!(outcome(Some(80), Some(94)), Outcome::Late);
    assert_eq!(outcome(None, None), Outcome::Delivered);
}

#[test]
fn reception_is_the_last_bit_or_the_verdict_as_described() {
    let received_at = |has_when_checked| {
        let joined = forwarded(FrameDescription { has_when_checked, ..FrameDescription::UNKNOWN });
        joined.rows.frames.last().unwrap().received_at
    };
    assert_eq!((received_at(false), received_at(true)), (Some(at(90)), Some(at(95))));
}

/// On the air a frame may be heard by nobody: it was carried all the same.
#[test]
fn a_frame_that_nobody_hears_is_lost_only_if_it_never_left() {
    let description = FrameDescription { stream: StreamId(1), ..FrameDescription::UNKNOWN };
    let rows = |has_left: bool| {
        let lines = [Line { attachment: port(0, 0), segment: 0, carrier: Carrier::Emulator }];
        let mut log = AgentLog::with_room(1);
        log.sent = vec![sent(10, 0, 100, Records::default())];
        let arrivals = vec![Arrival { has_left, ..arrival(11, 0, 100, description) }];
        let emulated = EmulatorLog { arrivals, ..EmulatorLog::default() };
        let joined = join(&[agent(0, &[PortLink::Pair])], &lines.each_ref(), emulated, &mut [Some(log)], &Nothing);
        joined.rows.frames.iter().map(|row| row.outcome).collect::<Vec<_>>()
    };
    assert_eq!(rows(true), []);
    assert_eq!(rows(false), [Outcome::Unaccounted]);
}
