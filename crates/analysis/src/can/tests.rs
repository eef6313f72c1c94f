//! Public vectors, then a bus that is played out: no response beyond its bound, and the bound reached.

use chronoseal_core::{Duration, Rate};
use chronoseal_wire::can::{BitTiming, BitTimingConfig, CanId};
use proptest::prelude::*;
use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Vectors {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    bit_time_ps: i64,
    other_frame_ps: i64,
    messages: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    /// Lower goes first.
    id: u16,
    wire_time_ps: i64,
    period_ps: i64,
    jitter_ps: i64,
    deadline_ps: i64,
    response_ps: i64,
    blocking_ps: Option<i64>,
    response_per_instance_ps: Option<Vec<i64>>,
    data_len: Option<usize>,
    bit_rate: Option<u64>,
}

fn vectors() -> Vectors {
    serde_json::from_str(include_str!("../../tests/vectors/can_response_times.json")).expect("the vectors are JSON")
}

#[test]
fn responses_of_the_vectors_are_exact() {
    let mut count = 0;
    for case in vectors().cases {
        let bus =
            Bus { bit_time: Duration::from_ps(case.bit_time_ps), other_frame: Duration::from_ps(case.other_frame_ps) };
        let messages: Vec<Message> = case.messages.iter().map(message_of).collect();
        let responses = response_times(&bus, &messages).expect("the vectors are messages");
        for (row, response) in case.messages.iter().zip(&responses) {
            let bound = response.outcome.as_ref().expect("the vectors are schedulable");
            assert_eq!(bound.worst().as_ps(), row.response_ps, "{}, message {}", case.name, row.id);
            assert_eq!(response.meets_deadline(), row.response_ps <= row.deadline_ps);
            if let Some(blocking) = row.blocking_ps {
                assert_eq!(response.blocking.as_ps(), blocking, "{}, message {}", case.name, row.id);
            }
            if let Some(instances) = &row.response_per_instance_ps {
                let found: Vec<i64> = bound.instances.iter().map(|instance| instance.as_ps()).collect();
                assert_eq!(&found, instances, "{}, message {}", case.name, row.id);
            }
            count += 1;
        }
    }
    assert_eq!(count, 3 + 17 + 17);
}

#[test]
fn an_interframe_space_has_three_bits() {
    let bus = Bus { bit_time: Duration::from_us(2), other_frame: Duration::ZERO };
    assert_eq!(bus.intermission(), Duration::from_us(6));
}

#[test]
fn a_busy_period_may_have_so_many_instances_and_no_more() {
    // Frames take 99 of 100 ps: a blocking of n ps is worked off after n of them.
    let message = Message {
        id: CanId::standard(1).expect("it has 11 bits"),
        wire_time: Duration::from_ps(99),
        period: Duration::from_ps(100),
        jitter: Duration::ZERO,
        deadline: Duration::from_ps(100),
    };
    let instances = |blocking| {
        let bus = Bus { bit_time: Duration::from_ps(1), other_frame: Duration::from_ps(blocking) };
        let response = response_times(&bus, &[message]).expect("it is a message").swap_remove(0);
        response.outcome.map(|bound| bound.instances.len())
    };
    assert_eq!(instances(50_000), Ok(50_000));
    assert_eq!(instances(50_001), Err(Unbounded::NoEndInSight));
}

#[test]
fn a_fixed_point_is_a_time_or_there_is_none() {
    let most = i128::from(i64::MAX);
    assert_eq!(response_time::fixed_point(0, |_| most), Ok(most));
    assert_eq!(response_time::fixed_point(0, |_| most + 1), Err(Unbounded::NoEndInSight));
}

#[test]
fn a_response_may_take_all_of_its_deadline_and_no_longer() {
    let case = vectors().cases.swap_remove(0);
    let bus =
        Bus { bit_time: Duration::from_ps(case.bit_time_ps), other_frame: Duration::from_ps(case.other_frame_ps) };
    let mut messages: Vec<Message> = case.messages.iter().map(message_of).collect();
    for (index, row) in case.messages.iter().enumerate() {
        for (deadline, meets) in [(row.response_ps, true), (row.response_ps - 1, false)] {
            messages[index].deadline = Duration::from_ps(deadline);
            let responses = response_times(&bus, &messages).expect("the vectors are messages");
            assert_eq!(responses[index].meets_deadline(), meets, "message {} by {deadline} ps", row.id);
        }
    }
}

/// Davis 2007 eq. (1) for 11 bits: what the vectors call the time on the wire is what the frame codec counts.
#[test]
fn wire_times_of_the_vectors_are_those_of_the_frame_codec() {
    let mut count = 0;
    for case in vectors().cases {
        for row in &case.messages {
            let (Some(len), Some(bit_rate)) = (row.data_len, row.bit_rate) else { continue };
            let timing = BitTiming::new(&BitTimingConfig::new(Rate(bit_rate), Rate(bit_rate))).expect("a usual rate");
            let message = Traffic { len, ..traffic(row.id, Format::Classical) }.message(&timing).expect("8 bytes fit");
            assert_eq!(message.wire_time.as_ps(), row.wire_time_ps, "{}, message {}", case.name, row.id);
            count += 1;
        }
    }
    assert_eq!(count, 17);
}

fn message_of(row: &Row) -> Message {
    Message {
        id: CanId::standard(row.id).expect("11 bits"),
        wire_time: Duration::from_ps(row.wire_time_ps),
        period: Duration::from_ps(row.period_ps),
        jitter: Duration::from_ps(row.jitter_ps),
        deadline: Duration::from_ps(row.deadline_ps),
    }
}

fn traffic(id: u16, format: Format) -> Traffic {
    Traffic {
        id: CanId::standard(id).expect("11 bits"),
        format,
        len: 8,
        period: Duration::from_ms(10),
        jitter: Duration::ZERO,
        deadline: Duration::from_ms(10),
    }
}

fn timing() -> BitTiming {
    BitTiming::new(&BitTimingConfig::new(Rate(500_000), Rate(2_000_000))).expect("usual rates")
}

#[test]
fn protection_makes_frames_longer_and_responses_later() {
    let bus = Bus { bit_time: timing().nominal_bit(), other_frame: Duration::ZERO };
    let bounds = |overhead: usize| -> Vec<Duration> {
        let set: Vec<Message> = (1..=4)
            .map(|id| Traffic { len: 4, ..traffic(id, Format::Classical) })
            .map(|traffic| traffic.secured(overhead).and_then(|traffic| traffic.message(&timing())).expect("it fits"))
            .collect();
        let responses = response_times(&bus, &set).expect("they are messages");
        responses.iter().map(|response| response.outcome.as_ref().expect("it is bounded").worst()).collect()
    };
    // 95 and 135 bits at most, 2 us each: all four fit between two of the first.
    assert_eq!(bounds(0), [190 * 2, 190 * 3, 190 * 4, 190 * 4].map(Duration::from_us));
    assert_eq!(bounds(4), [270 * 2, 270 * 3, 270 * 4, 270 * 4].map(Duration::from_us));
}

#[test]
fn protection_that_does_not_fit_is_refused() {
    let refused = traffic(1, Format::Classical).secured(1).expect_err("nine bytes");
    assert_eq!(refused, TrafficError { id: CanId::standard(1).expect("11 bits"), len: 9, len_max: 8 });
    let fd = traffic(1, Format::Fd { brs: true });
    assert!(fd.secured(56).is_ok());
    assert_eq!(fd.secured(57).expect_err("65 bytes").len_max, 64);
    // Nine bytes take a frame of twelve.
    let wire_time = |len| Traffic { len, ..fd }.message(&timing()).expect("it fits").wire_time;
    assert_eq!(wire_time(9), wire_time(12));
    assert!(wire_time(8) < wire_time(9));
}

#[test]
fn an_overloaded_bus_has_no_bound_below_the_overload() {
    let bus = Bus { bit_time: Duration::from_us(2), other_frame: Duration::ZERO };
    let message = |id, wire_us, period_us| Message {
        wire_time: Duration::from_us(wire_us),
        period: Duration::from_us(period_us),
        ..message_of(&Row {
            id,
            wire_time_ps: 1,
            period_ps: 1,
            jitter_ps: 0,
            deadline_ps: 1_000_000_000,
            response_ps: 0,
            blocking_ps: None,
            response_per_instance_ps: None,
            data_len: None,
            bit_rate: None,
        })
    };
    let responses = response_times(&bus, &[message(1, 200, 400), message(2, 200, 300), message(3, 1, 100_000)]);
    let outcomes: Vec<_> = responses.expect("they are messages").into_iter().map(|response| response.outcome).collect();
    assert!(outcomes[0].is_ok());
    assert_eq!(outcomes[1], Err(Unbounded::Overload { load_ppm: 1_166_667 }));
    assert!(matches!(outcomes[2], Err(Unbounded::Overload { .. })));
    // Exactly all of the bus and nothing else on it: bounded. With a frame in the way, it never falls idle.
    let full = [message(1, 200, 400), message(2, 200, 400)];
    assert!(response_times(&bus, &full).expect("they are messages")[1].outcome.is_ok());
    let blocked = Bus { other_frame: Duration::from_us(1), ..bus };
    let outcome = &response_times(&blocked, &full).expect("they are messages")[1].outcome;
    assert_eq!(*outcome, Err(Unbounded::NoEndInSight));
}

#[test]
fn refuses_what_is_no_message_set() {
    let bus = Bus { bit_time: Duration::from_us(2), other_frame: Duration::ZERO };
    let good = traffic(5, Format::Classical).message(&timing()).expect("8 bytes fit");
    assert_eq!(response_times(&bus, &[good, good]), Err(MessageError::SameId(good.id)));
    for bad in [
        Message { wire_time: Duration::ZERO, ..good },
        Message { period: Duration::ZERO, ..good },
        Message { jitter: Duration::from_ps(-1), ..good },
        Message { deadline: Duration::ZERO, ..good },
    ] {
        assert!(matches!(response_times(&bus, &[bad]), Err(MessageError::OutOfRange { .. })), "{bad:?}");
    }
    assert_eq!(response_times(&bus, &[]), Ok(Vec::new()));
}

#[test]
fn a_base_identifier_goes_before_the_extended_one_that_begins_alike() {
    let bus = Bus { bit_time: Duration::from_us(2), other_frame: Duration::ZERO };
    let base = traffic(0x123, Format::Classical).message(&timing()).expect("8 bytes fit");
    let extended = Message { id: CanId::extended(0x123 << 18).expect("29 bits"), ..base };
    let responses = response_times(&bus, &[extended, base]).expect("two identifiers");
    assert_eq!(responses[0].blocking, Duration::ZERO);
    assert_eq!(responses[1].blocking, extended.wire_time);
}

/// A frame to be sent: when its event is, when it is queued, whose it is.
#[derive(Clone, Copy)]
struct Release {
    event: i64,
    queued: i64,
    message: usize,
}

/// Plays a bus out: whenever it is idle the most urgent queued frame goes, and nothing stops it. `messages` are in order
/// of urgency. The latest end of each message's frames after its event; `busy_until` is when the bus falls idle first.
fn play(messages: &[Message], mut releases: Vec<Release>, busy_until: i64) -> Vec<i64> {
    let mut worst = vec![0; messages.len()];
    let mut now = busy_until;
    while !releases.is_empty() {
        // Of one message the earlier frame first.
        let ready = |release: &&Release| release.queued <= now;
        let Some(next) = releases.iter().filter(ready).min_by_key(|r| (r.message, r.event)).copied() else {
            now = releases.iter().map(|release| release.queued).min().expect("some are left");
            continue;
        };
        releases.retain(|r| (r.message, r.event) != (next.message, next.event));
        now += messages[next.message].wire_time.as_ps();
        worst[next.message] = worst[next.message].max(now - next.event);
    }
    worst
}

/// Bit times of the sets below: every time is a multiple, as it is on a bus where all agree on where a bit begins.
const BIT: i64 = 1_000;

/// Sets of messages with at most nine tenths of a bus.
fn any_set() -> impl Strategy<Value = Vec<Message>> {
    proptest::collection::vec((50i64..200, 200i64..3000, 0i64..400), 1..6)
        .prop_map(|rows| {
            let row = |(id, (wire, period, jitter)): (usize, (i64, i64, i64))| Message {
                id: CanId::standard(id as u16).expect("few"),
                wire_time: Duration::from_ps(wire * BIT),
                period: Duration::from_ps(period * BIT),
                jitter: Duration::from_ps(jitter * BIT),
                deadline: Duration::from_ps(period * BIT),
            };
            rows.into_iter().enumerate().map(row).collect::<Vec<_>>()
        })
        .prop_filter("more than the bus has", |set| {
            set.iter().map(|m| m.wire_time.as_ps() as f64 / m.period.as_ps() as f64).sum::<f64>() < 0.9
        })
}

fn bus() -> Bus {
    Bus { bit_time: Duration::from_ps(BIT), other_frame: Duration::ZERO }
}

proptest! {
    #[test]
    fn no_response_is_later_than_its_bound(set in any_set(), seed in proptest::collection::vec(any::<u32>(), 300)) {
        let responses = response_times(&bus(), &set).expect("they are messages");
        let mut chance = seed.iter().cycle().map(|chance| i64::from(*chance));
        let mut releases = Vec::new();
        for (index, message) in set.iter().enumerate() {
            let (period, jitter) = (message.period.as_ps(), message.jitter.as_ps());
            let mut event = chance.next().unwrap_or(0) % (period / BIT) * BIT;
            let mut queued = 0;
            while event < 60_000 * BIT {
                // Frames of one message are queued in the order of their events.
                queued = queued.max(event + chance.next().unwrap_or(0) % (jitter / BIT + 1) * BIT);
                releases.push(Release { event, queued, message: index });
                event += period;
            }
        }
        let worst = play(&set, releases, 0);
        for (response, worst) in responses.iter().zip(worst) {
            let bound = response.outcome.as_ref().expect("below nine tenths").worst();
            prop_assert!(worst <= bound.as_ps(), "{}: {worst} ps, bound {bound}", response.id);
        }
    }

    /// All are queued at once, each as late after its event as it can be, when the longest of the less urgent has begun.
    #[test]
    fn the_bound_is_reached_at_the_critical_instant(set in any_set(), which in any::<prop::sample::Index>()) {
        let which = which.index(set.len());
        let response = &response_times(&bus(), &set).expect("they are messages")[which];
        let bound = response.outcome.as_ref().expect("below nine tenths");
        let urgent = &set[..=which];
        let mut releases = Vec::new();
        for (index, message) in urgent.iter().enumerate() {
            let mut event = -message.jitter.as_ps();
            while event < bound.busy_period.as_ps() {
                releases.push(Release { event, queued: event.max(0), message: index });
                event += message.period.as_ps();
            }
        }
        let worst = play(urgent, releases, response.blocking.as_ps());
        prop_assert_eq!(worst[which], bound.worst().as_ps());
    }
}
