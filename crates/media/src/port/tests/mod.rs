//! A port against the line it is where nothing is configured, and against a plain model that goes byte by byte.

mod bytewise;
mod changed_slopes;
mod clocks;
mod cut_off;
mod plain;

use chronoseal_core::oscillator::RateDeviation;
use chronoseal_core::{Duration, LocalTime, Priority, Rate, SimTime, StreamId};
use proptest::prelude::*;

use super::*;
use crate::medium::{FrameLabel, FrameStore};

/// A byte is 8 ns.
fn speed() -> LineSpeed {
    LineSpeed::new(Rate(1_000_000_000), 24, 12, Duration::ZERO)
}

/// What a byte takes.
const BYTE: Duration = Duration::from_ns(8);

/// A frame that comes to a port.
#[derive(Clone, Copy, Debug)]
struct Coming {
    at: SimTime,
    len: u64,
    priority: u8,
    stream: u16,
}

/// Which frames left, by their number, when they started, and when their last bit left.
type Log = Vec<(usize, SimTime, SimTime)>;

/// Plays frames, in the order of their times, to a port, as a driver does: what comes first, then what the port asked for.
fn play(port: &mut Port, coming: &[Coming]) -> Log {
    let mut frames = FrameStore::new();
    let numbers: Vec<FrameId> = coming.iter().map(|_| frames.allocate(FrameLabel::default())).collect();
    let mut looks = std::collections::BTreeSet::new();
    let (mut log, mut next) = (Log::new(), 0);
    let mut follow = |step: PortStep, now: SimTime, looks: &mut std::collections::BTreeSet<SimTime>| {
        if let Some(left) = step.left {
            let number = numbers.iter().position(|frame| *frame == left.frame).unwrap();
            log.push((number, left.started_at, left.arrives_at));
        }
        if let Some(at) = step.look_again_at {
            assert!(at > now, "a look at {at} asked for at {now}");
            looks.insert(at);
        }
    };
    // More looks than this are a port that never ends.
    for _ in 0..20_000 {
        let look = looks.first().copied();
        match coming.get(next) {
            Some(frame) if look.is_none_or(|look| frame.at <= look) => {
                let priority = Priority(frame.priority);
                let offer = Offer { frame: numbers[next], len: frame.len, priority, due: None };
                if let Ok(step) = port.offer(frame.at, offer, StreamId(frame.stream)) {
                    follow(step, frame.at, &mut looks);
                }
                next += 1;
            }
            _ => {
                let Some(now) = looks.pop_first() else { return log };
                follow(port.step(now), now, &mut looks);
            }
        }
    }
    panic!("the port looks again and again: {coming:?}")
}

fn coming(frames: Vec<(i64, u64, u8, u16)>) -> Vec<Coming> {
    let mut now = SimTime::ZERO;
    let one = |(later, len, priority, stream)| {
        now += BYTE * later;
        Coming { at: now, len, priority, stream }
    };
    frames.into_iter().map(one).collect()
}

fn gated(entries: &[(u8, i64)], cycle_us: i64) -> PortConfig {
    let entry = |(open, us): &(u8, i64)| GateEntry { open: *open, hold: false, lasts: Duration::from_us(*us) };
    let list = GateControlList {
        base_time: Duration::ZERO,
        cycle: Duration::from_us(cycle_us),
        entries: entries.iter().map(entry).collect(),
        hold_advance: Duration::ZERO,
        change: None,
    };
    PortConfig { gates: Some(list), ..PortConfig::default() }
}

/// A list that replaces the one of a port from then on, asked for at the start, with so much by which a cycle may be extended before.
fn change(entries: &[(u8, i64)], begins_us: i64, extension_us: i64) -> Option<Box<ListChange>> {
    let list = gated(entries, entries.iter().map(|(_, us)| us).sum()).gates?;
    Some(Box::new(ListChange {
        requested_at: Duration::ZERO,
        extension: Duration::from_us(extension_us),
        base_time: Duration::from_us(begins_us),
        cycle: list.cycle,
        entries: list.entries,
    }))
}

/// A credit-based shaper with its idle slope under the one list and under the other.
fn shaped(idle_slope: u64, changed: u64) -> Selection {
    Selection::CreditBased { idle_slope: Rate(idle_slope), changed: Some(Rate(changed)) }
}

fn at_ns(ns: i64) -> SimTime {
    SimTime::ZERO + Duration::from_ns(ns)
}

fn one(at: SimTime, len: u64, priority: u8) -> Coming {
    Coming { at, len, priority, stream: 0 }
}

fn port(config: &PortConfig) -> Port {
    Port::new(config, speed(), u64::MAX, ReservedStarts::default())
}

#[test]
fn a_frame_starts_only_if_it_ends_before_its_gate_closes() {
    // Closed forms GUARD1 and GUARD2: best effort is open for [0, 100) us of 500; 8 and 1522 bytes need 12.24 us.
    let config = gated(&[(1, 100), (0, 400)], 500);
    for (queued, starts) in [(87_760, 87_760), (87_761, 500_000)] {
        let log = play(&mut port(&config), &[one(at_ns(queued), 1518, 0)]);
        assert_eq!(log, [(0, at_ns(starts), at_ns(starts + 12_240))]);
    }
    // A shorter one of a lower class goes instead, a shorter one of its own class does not.
    let config = gated(&[(3, 100), (0, 400)], 500);
    let queued = at_ns(90_000);
    let log = play(&mut port(&config), &[one(queued, 1514, 1), one(queued, 60, 1), one(queued, 60, 0)]);
    assert_eq!(log.iter().map(|(number, started, _)| (*number, *started)).next(), Some((2, queued)));
    assert_eq!(log.iter().map(|(number, ..)| *number).collect::<Vec<_>>(), [2, 0, 1]);
}

#[test]
fn at_the_opening_of_several_gates_the_highest_class_goes_first() {
    let config = gated(&[(0, 10), (0b1010_0001, 490)], 500);
    let waiting = [one(at_ns(0), 100, 0), one(at_ns(0), 100, 5), one(at_ns(0), 100, 7)];
    let log = play(&mut port(&config), &waiting);
    assert_eq!(log.iter().map(|(number, ..)| *number).collect::<Vec<_>>(), [2, 1, 0]);
    assert_eq!(log[0].1, at_ns(10_000));
}

#[test]
fn held_frames_leave_the_wire_free_when_the_hold_says_so() {
    // Class 7 is express and has [250, 260) us, during which preemptable frames are held.
    let mut config = gated(&[(0x7f, 250), (0xff, 10), (0x7f, 240)], 500);
    config.classes[0].is_preemptable = true;
    let list = config.gates.as_mut().unwrap();
    list.entries[1].hold = true;
    // 143 bytes: the longest that cannot be divided.
    list.hold_advance = BYTE * 143;
    for before in 0..1600 {
        let begins = at_ns(250_000) - BYTE * before;
        let log = play(&mut port(&config), &[one(begins, 1514, 0), one(at_ns(240_000).max(begins), 60, 7)]);
        let express = log.iter().find(|(number, ..)| *number == 1).unwrap();
        assert_eq!(express.1, at_ns(250_000), "{before} bytes before");
        let (_, _, ended) = log.iter().find(|(number, ..)| *number == 0).unwrap();
        assert!(*ended <= begins + Duration::from_us(25), "it ends soon after");
    }
}

#[test]
fn an_express_frame_waits_for_143_bytes_at_most() {
    let mut config = PortConfig::default();
    config.classes[0].is_preemptable = true;
    let mut longest = Duration::ZERO;
    for len in [60, 119, 120, 121, 183, 400, 1514] {
        for after in 0..len as i64 + 24 {
            let arrives = at_ns(0) + BYTE * after;
            let log = play(&mut port(&config), &[one(at_ns(0), len, 0), one(arrives, 60, 5)]);
            longest = longest.max(log.iter().find(|(number, ..)| *number == 1).unwrap().1 - arrives);
        }
    }
    assert_eq!(longest, BYTE * 143);
}

#[test]
fn each_class_has_a_queue_of_its_own_unless_they_share_one() {
    // Control frames find room in a queue of theirs, and none in the common one.
    for (is_shared, control) in [(false, Ok(())), (true, Err(Refused::QueueFull))] {
        let mut config = PortConfig::default();
        config.classes[5].room = Some(200);
        let port = Port::new(&config, speed(), 100, ReservedStarts::default());
        let mut port = port.with_shared_queue(is_shared);
        let mut frames = FrameStore::new();
        let mut offer = |priority, len| {
            let frame = frames.allocate(FrameLabel::default());
            let offer = Offer { frame, len, priority: Priority(priority), due: None };
            port.offer(SimTime::ZERO, offer, StreamId(0)).map(|_| ())
        };
        assert_eq!(offer(0, 100), Ok(()), "it starts");
        assert_eq!((offer(0, 100), offer(0, 1)), (Ok(()), Err(Refused::QueueFull)));
        assert_eq!(
            (offer(5, 201), offer(5, 200), offer(5, 1)),
            (Err(Refused::QueueFull), Ok(()), Err(Refused::QueueFull))
        );
        assert_eq!(offer(8, 1), control);
    }
}
