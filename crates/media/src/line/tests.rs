//! A line by hand: who starts when, and who waits.

use super::*;
use crate::medium::FrameLabel;
use chronoseal_core::Rate;
use proptest::prelude::*;

fn speed() -> LineSpeed {
    LineSpeed::new(Rate(100_000_000), 24, 12, Duration::ZERO)
}

fn line() -> Line {
    Line::new(speed(), u64::MAX, ReservedStarts::default())
}

fn frame(frames: &mut FrameStore) -> FrameId {
    frames.allocate(FrameLabel::default())
}

fn offer(line: &mut Line, now: SimTime, frame: FrameId, len: u64, priority: Priority) -> Step {
    line.offer(now, Offer { frame, len, priority, due: None }).expect("there is room")
}

fn started(step: Step) -> Started {
    match step {
        Step::Started(started) => started,
        other => panic!("expected a start, got {other:?}"),
    }
}

#[test]
fn two_frames_at_one_instant_leave_one_after_the_other() {
    // Closed form FIFO1: two 1518-byte frames (checksum included) at 100 Mbit/s end at 245.12 us.
    let mut frames = FrameStore::new();
    let mut line = line();
    let (a, b) = (frame(&mut frames), frame(&mut frames));
    assert_eq!(started(offer(&mut line, SimTime::ZERO, a, 1514, Priority(0))).frame, a);
    let step = offer(&mut line, SimTime::ZERO, b, 1514, Priority(0));
    let Step::LookAgain(free) = step else { panic!("the wire is busy") };
    assert!(matches!(line.step(SimTime::ZERO), Step::Idle), "asked for once");
    let second = started(line.step(free));
    assert_eq!((second.frame, second.arrives_at), (b, SimTime::from_ps(245_120_000)));
    assert_eq!(second.look_again_at, None, "nobody is left");
}

#[test]
fn the_higher_class_goes_first() {
    let mut frames = FrameStore::new();
    let mut line = line();
    let (first, low, high) = (frame(&mut frames), frame(&mut frames), frame(&mut frames));
    started(offer(&mut line, SimTime::ZERO, first, 60, Priority(1)));
    let step = offer(&mut line, SimTime::ZERO, low, 60, Priority(1));
    let Step::LookAgain(free) = step else { panic!("the wire is busy") };
    assert!(matches!(offer(&mut line, SimTime::ZERO, high, 60, Priority::TIME_TRIGGERED), Step::Idle));
    let second = started(line.step(free));
    assert_eq!(second.frame, high);
    let free = second.look_again_at.expect("one more waits");
    assert_eq!(started(line.step(free)).frame, low);
}

#[test]
fn frames_of_one_class_leave_in_the_order_they_came() {
    let mut frames = FrameStore::new();
    let mut line = line();
    started(offer(&mut line, SimTime::ZERO, frame(&mut frames), 60, Priority(1)));
    // Two classes, mixed: each keeps its own order.
    let waiting: Vec<_> = (0..6).map(|k| (frame(&mut frames), Priority(1 + k % 2))).collect();
    for (frame, priority) in &waiting {
        offer(&mut line, SimTime::ZERO, *frame, 60, *priority);
    }
    let mut now = SimTime::ZERO + speed().occupancy(60);
    let left: Vec<_> = std::iter::from_fn(|| {
        let Step::Started(next) = line.step(now) else { return None };
        now += speed().occupancy(60);
        Some(next.frame)
    })
    .collect();
    let of = |class| waiting.iter().filter(move |(_, priority)| *priority == class).map(|(frame, _)| *frame);
    assert_eq!(left, of(Priority(2)).chain(of(Priority(1))).collect::<Vec<_>>());
}

/// A line with starts at 100 us of every 500 us.
fn reserved_line(tolerance: Duration) -> Line {
    let starts = [Duration::from_us(100)].into_iter();
    Line::new(speed(), u64::MAX, ReservedStarts::new(Duration::from_us(500), starts, tolerance))
}

#[test]
fn a_low_frame_that_would_delay_a_reserved_start_waits_for_it() {
    let start = SimTime::ZERO + Duration::from_us(600);
    let ps = Duration::from_ps(1);
    let longest = |line: &mut Line, now| {
        let mut frames = FrameStore::new();
        offer(line, now, frame(&mut frames), 1514, Priority(0))
    };
    for tolerance in [Duration::ZERO, Duration::from_us(10)] {
        let last_chance = start - tolerance - speed().occupancy(1514);
        let step = longest(&mut reserved_line(tolerance), last_chance);
        assert!(matches!(step, Step::Started(_)), "it ends exactly when the start may come");
        for now in [last_chance + ps, start - ps, start, start + tolerance] {
            let mut line = reserved_line(tolerance);
            let Step::LookAgain(clear_at) = longest(&mut line, now) else { panic!("{now} is too late") };
            assert_eq!(clear_at, start + tolerance + ps);
            assert!(matches!(line.step(clear_at), Step::Started(_)), "nobody came");
        }
    }
}

#[test]
fn a_full_queue_refuses() {
    let mut frames = FrameStore::new();
    let mut line = Line::new(speed(), 100, ReservedStarts::default());
    let mut offer = |len| {
        let offer = Offer { frame: frame(&mut frames), len, priority: Priority(0), due: None };
        line.offer(SimTime::ZERO, offer).map(|_| ())
    };
    assert_eq!(offer(101), Err(QueueFull), "even on an idle line");
    assert_eq!(offer(60), Ok(()), "it starts and waits for nobody");
    assert_eq!(offer(60), Ok(()));
    assert_eq!(offer(60), Err(QueueFull));
}

#[test]
fn a_queue_is_full_at_its_limit_and_has_room_again_when_a_frame_leaves() {
    let mut frames = FrameStore::new();
    let mut line = Line::new(speed(), 100, ReservedStarts::default());
    let mut offer = |line: &mut Line, now, len| {
        let offer = Offer { frame: frame(&mut frames), len, priority: Priority(0), due: None };
        line.offer(now, offer).map(|_| ())
    };
    assert_eq!(offer(&mut line, SimTime::ZERO, 60), Ok(()), "it starts and waits for nobody");
    assert_eq!(offer(&mut line, SimTime::ZERO, 60), Ok(()));
    assert_eq!(offer(&mut line, SimTime::ZERO, 40), Ok(()), "100 bytes may wait");
    assert_eq!(offer(&mut line, SimTime::ZERO, 1), Err(QueueFull));
    let free = SimTime::ZERO + speed().occupancy(60);
    assert!(matches!(line.step(free), Step::Started(_)));
    assert_eq!(offer(&mut line, free, 61), Err(QueueFull), "40 bytes still wait");
    assert_eq!(offer(&mut line, free, 60), Ok(()));
}

#[test]
fn a_queue_takes_no_room_from_another_unless_they_share_one() {
    for (is_shared, expected) in [(false, Ok(())), (true, Err(QueueFull))] {
        let mut frames = FrameStore::new();
        let mut line = Line::new(speed(), 100, ReservedStarts::default()).with_shared_queue(is_shared);
        let mut offer = |priority| {
            let offer = Offer { frame: frame(&mut frames), len: 60, priority: Priority(priority), due: None };
            line.offer(SimTime::ZERO, offer).map(|_| ())
        };
        assert_eq!([offer(0), offer(0), offer(0)], [Ok(()), Ok(()), Err(QueueFull)], "one is sent, one waits");
        assert_eq!(offer(1), expected);
    }
}

#[test]
fn a_class_above_the_highest_is_taken_for_the_highest() {
    let mut frames = FrameStore::new();
    let mut line = line();
    let first = started(offer(&mut line, SimTime::ZERO, frame(&mut frames), 60, Priority(200)));
    assert_eq!(first.priority, Priority::TIME_TRIGGERED);
    let (low, high) = (frame(&mut frames), frame(&mut frames));
    offer(&mut line, SimTime::ZERO, low, 60, Priority(Priority::TIME_TRIGGERED.0 - 1));
    offer(&mut line, SimTime::ZERO, high, 60, Priority(200));
    let next = started(line.step(SimTime::ZERO + speed().occupancy(60)));
    assert_eq!((next.frame, next.priority), (high, Priority::TIME_TRIGGERED));
}

#[test]
fn a_frame_that_comes_when_the_wire_gets_free_does_not_overtake_one_that_waits() {
    let mut frames = FrameStore::new();
    let mut line = line();
    started(offer(&mut line, SimTime::ZERO, frame(&mut frames), 60, Priority(1)));
    let (waiting, late) = (frame(&mut frames), frame(&mut frames));
    offer(&mut line, SimTime::ZERO, waiting, 60, Priority(1));
    let free = SimTime::ZERO + speed().occupancy(60);
    assert_eq!(started(offer(&mut line, free, late, 60, Priority(1))).frame, waiting);
}

#[test]
fn a_low_frame_that_waited_for_the_wire_waits_for_a_reserved_start_too() {
    let mut frames = FrameStore::new();
    let mut line = reserved_line(Duration::ZERO);
    let start = SimTime::ZERO + Duration::from_us(600);
    let now = start - speed().occupancy(60);
    started(offer(&mut line, now, frame(&mut frames), 60, Priority(0)));
    let Step::LookAgain(free) = offer(&mut line, now, frame(&mut frames), 60, Priority(0)) else {
        panic!("it is busy")
    };
    assert_eq!(free, start, "the wire gets free at the very moment that is reserved");
    let Step::LookAgain(clear) = line.step(free) else { panic!("the start is reserved") };
    assert_eq!(clear, start + Duration::from_ps(1));
}

proptest! {
    #[test]
    fn a_frame_is_blocked_if_a_start_lies_in_its_way(
        phases in proptest::collection::vec(0i64..1000, 1..6), hold in 0i64..50, now in 0i64..3000, length in 1i64..200,
    ) {
        let ps = Duration::from_ps;
        let starts = phases.iter().map(|phase| ps(*phase));
        let reserved = ReservedStarts::new(ps(1000), starts, ps(hold));
        // Every start of some cycles, without any arithmetic of remainders.
        let in_the_way = |start: i64| now <= start + hold && start - hold < now + length;
        let plain = phases.iter().any(|phase| (-2..6).any(|cycle| in_the_way(phase + 1000 * cycle)));
        let blocked = reserved.blocked_until(SimTime::from_ps(now), ps(length));
        prop_assert_eq!(blocked.is_some(), plain);
        prop_assert!(blocked.is_none_or(|until| until > SimTime::from_ps(now)));
    }
    #[test]
    fn a_frame_takes_what_its_bits_take(len in 60u64..1515, rate in prop_oneof![
        Just(10_000_000), Just(100_000_000), Just(1_000_000_000), Just(10_000_000_000), 1_000_000u64..10_000_000_000
    ]) {
        let delay = Duration::from_ns(500);
        let speed = LineSpeed::new(Rate(rate), 24, 12, delay);
        prop_assert_eq!(speed.occupancy(len), Rate(rate).time_of(len + 24));
        prop_assert_eq!(speed.reception(len), Rate(rate).time_of(len + 12) + delay);
    }
}
