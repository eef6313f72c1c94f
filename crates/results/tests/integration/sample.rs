//! A small run made by hand: one authenticated stream from `ecu1` to `ecu2`, a spoofer on a port of its own.

use chronoseal_core::{AttackKind, DiscardReason, Duration, Event, EventKind, NodeId, SimTime, StreamId};
use chronoseal_results::{
    CaptureRow, ClockDomainMeta, Direction, Engine, EventRow, FrameRow, HopRow, NodeMeta, NodeRole, Outcome,
    ReleaseRow, RunMeta, RunRows, ScheduleMeta, SegmentMeta, SegmentSeries, SlotMeta, StallRow, StreamMeta, WorkRow,
};

pub(crate) const CYCLE_US: i64 = 10_000;
pub(crate) const SLOT_US: i64 = 1_000;

pub(crate) fn us(us: i64) -> SimTime {
    SimTime::ZERO + Duration::from_us(us)
}

pub(crate) fn meta() -> RunMeta {
    let node = |name: &str, role| NodeMeta { name: name.into(), role, on_link_of: None };
    RunMeta {
        nodes: vec![
            node("ecu1", NodeRole::Station),
            node("ecu2", NodeRole::Station),
            node("attacker", NodeRole::Attacker),
            node("switch", NodeRole::Switch),
        ],
        streams: vec![StreamMeta {
            name: "speed".into(),
            sender: 0,
            senders: None,
            receivers: vec![1],
            segments: vec![0],
            class: "time-triggered".into(),
            is_judged: true,
            is_numbered: true,
            is_due_each_period: false,
            is_replicated: false,
            is_lossy: false,
            counters: None,
            allowances: Vec::new(),
            trigger: None,
            period_ns: CYCLE_US * 1_000,
            frame_len: 60,
            secured_len: 80,
            protection: "hmac-sha-256".into(),
            replayable: false,
            authenticated: true,
            is_opened_on_way: false,
            ends: Vec::new(),
            deadline_ns: None,
            bound: None,
            unbounded: None,
        }],
        segments: vec![backbone()],
        ..RunMeta::new("sample", Engine::Sim, 7)
    }
}

/// The only segment: `ecu1` and `ecu2` around a switch that keeps their clocks together.
pub(crate) fn backbone() -> SegmentMeta {
    SegmentMeta {
        name: "backbone".into(),
        kind: "ethernet".into(),
        link_type: 1,
        links: Vec::new(),
        members: Vec::new(),
        properties: vec![("rate".into(), "100 Mbit/s".into())],
        clocks: Some(ClockDomainMeta {
            cycle_ns: CYCLE_US * 1_000,
            nodes: vec![0, 1],
            dependents: Vec::new(),
            startup_cycles: None,
            precision_ns: None,
            spared: Vec::new(),
        }),
        schedule: Some(ScheduleMeta {
            cycle_ns: CYCLE_US * 1_000,
            deliveries: Vec::new(),
            slots: vec![SlotMeta {
                stream: 0,
                start_ns: SLOT_US * 1_000,
                frame_time_ns: 6_400,
                dispatch_ns: 1_010_000,
                end_ns: 1_206_400,
            }],
            tasks: Vec::new(),
        }),
    }
}

pub(crate) fn series(segment: u16, name: &str, unit: &str, window: Option<Duration>, values: &[i64]) -> SegmentSeries {
    SegmentSeries { segment, name: name.into(), unit: unit.into(), window, values: values.into() }
}

/// A frame of cycle `k`, delivered 20 us after its slot began.
pub(crate) fn delivered(k: i64) -> FrameRow {
    let slot = k * CYCLE_US + SLOT_US;
    FrameRow {
        stream: StreamId(0),
        sequence: k as u64,
        sender: NodeId(0),
        at: NodeId(1),
        attack: None,
        len: 80,
        cycle_start: us(k * CYCLE_US),
        slot_start: Some(us(slot)),
        sent_at: Some(us(slot)),
        arrived_at: Some(us(slot + 7)),
        departed_at: Some(us(slot + 10)),
        received_at: Some(us(slot + 20)),
        due_at: Some(us(slot)),
        accepted_at: Some(us(slot + 20)),
        outcome: Outcome::Delivered,
        stalled: false,
        lost_for: None,
    }
}

pub(crate) fn spoofed(k: i64, outcome: Outcome) -> FrameRow {
    FrameRow { sender: NodeId(2), attack: Some(AttackKind::Spoof), outcome, ..delivered(k) }
}

/// Transmission `frame`, from `ecu1` to `ecu2`.
fn hop(frame: u64, origins: Vec<u64>) -> HopRow {
    HopRow {
        stream: StreamId(0),
        sequence: frame,
        segment: 3,
        from: NodeId(0),
        to: NodeId(1),
        sent_at: Some(us(1_000)),
        arrived_at: Some(us(1_007)),
        departed_at: None,
        received_at: Some(us(1_020)),
        frame,
        origins,
    }
}

pub(crate) fn acquired(node: u16, at_us: i64) -> EventRow {
    let event = Event { value: 5_000_000_000, ..Event::of(EventKind::SyncAcquired, StreamId::NONE, 0) };
    EventRow { time: us(at_us), node: NodeId(node), event }
}

pub(crate) fn rows(cycles: i64) -> RunRows {
    let mut frames: Vec<_> = (0..cycles).map(delivered).collect();
    frames.push(spoofed(1, Outcome::Discarded(DiscardReason::WrongPort)));
    let attacked = Event::of(EventKind::Attacked(AttackKind::Spoof), StreamId(0), 0);
    RunRows {
        hops: vec![hop(0, Vec::new()), hop(1, vec![0, 7])],
        frames,
        events: vec![acquired(0, 0), acquired(1, 0), EventRow { time: us(11_000), node: NodeId(2), event: attacked }],
        work: vec![WorkRow {
            time: us(900),
            node: NodeId(0),
            operation: "hmac-sha-256",
            len: 68,
            duration: Duration::from_us(3),
        }],
        stalls: vec![StallRow { time: us(500), duration: Duration::from_us(700) }],
        releases: vec![ReleaseRow { planned: us(1_000), error: Duration::from_ns(300) }],
        captures: vec![capture(1_017, 1, Direction::Departure, "seq 0"), capture(1_007, 0, Direction::Arrival, "")],
        segments: vec![
            series(0, "frames", "frames", None, &[400]),
            series(0, "busy", "ns", Some(Duration::from_ms(10)), &[7, 0, 9]),
            series(0, "busy", "ns", None, &[16]),
        ],
        interrupted: false,
        figures: None,
        owed: Vec::new(),
        on_way: Vec::new(),
        absences: Vec::new(),
    }
}

fn capture(at_us: i64, node: u16, direction: Direction, comment: &str) -> CaptureRow {
    let (node, comment) = (NodeId(node), comment.into());
    CaptureRow { time: us(at_us), segment: 0, node, direction, comment, bytes: critical_frame() }
}

/// Critical traffic 03:04:05:06, identifier 100; length field, no EtherType.
pub(crate) fn critical_frame() -> Vec<u8> {
    let mut bytes = vec![0x03, 0x04, 0x05, 0x06, 0x00, 0x64, 0x02, 0, 0, 0, 0, 0x01, 0, 46];
    bytes.extend((0..46u8).map(|i| i.wrapping_mul(7)));
    bytes
}

/// Protocol control frame of type integration, integration cycle 9, from master 1, identifier 4043.
pub(crate) fn control_frame() -> Vec<u8> {
    let mut bytes = vec![0x03, 0x04, 0x05, 0x06, 0x0f, 0xcb, 0x02, 0, 0, 0, 0, 0x01, 0x89, 0x1d];
    bytes.extend([0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0, 2, 3, 0x02, 0, 0, 0, 0, 0]);
    bytes.extend([0, 0, 0, 0, 0, 1, 0, 0]);
    bytes.resize(60, 0);
    bytes
}
