//! Hops put together, against hand-made sums and against two buses that are played out.

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_scenario::plan::*;
use proptest::prelude::*;

use super::*;
use crate::can::message_bounds;
use crate::can::testing::{add_message, segments};
use crate::synthesis::synthesize;
use crate::testing::{add_stream, cluster, equal_frames, view};

const MS: fn(i64) -> Duration = Duration::from_ms;
const US: fn(i64) -> Duration = Duration::from_us;
/// Of a classical frame of eight bytes at 500 kbit/s, at most with its interframe space.
const FRAME_US: i64 = 270;
/// The same at least, to its last bit.
const FRAME_MIN_US: i64 = 216;

fn latencies(plan: &Plan) -> Vec<Result<Duration, Why>> {
    end_to_end(plan, &[], BOUNDS).into_iter().map(|stream| stream.ends[0].latency).collect()
}

#[test]
fn one_hop_is_bounded_as_its_segment_alone() {
    let plan = equal_frames(4, 40, 60);
    let table = synthesize(view(&plan)).unwrap();
    let alone = crate::bounds(view(&plan), &table);
    let together = end_to_end(&plan, &[Some(table)], BOUNDS);
    for (one, other) in alone.iter().zip(&together) {
        assert_eq!((one.stream, one.latency_max), (other.stream, other.ends[0].latency.ok()));
        assert!(other.ends[0].latency_min <= one.latency_max.unwrap());
    }
    assert_eq!(latencies(&plan)[0], Err(Why::NoSchedule));

    let mut plan = segments(2, 1);
    add_message(&mut plan, 1, 8, MS(10), &[(0, 0, 1)]);
    add_message(&mut plan, 2, 8, MS(10), &[(0, 0, 1)]);
    assert_eq!(latencies(&plan), [Ok(US(FRAME_US * 2)), Ok(US(FRAME_US * 2))]);
}

#[test]
fn hops_add_up_and_hand_their_jitter_on() {
    let mut plan = segments(3, 2);
    // From node 0 through node 1 to node 2; on the first segment one frame can be in the way, on the second none.
    add_message(&mut plan, 2, 8, MS(10), &[(0, 0, 1), (1, 1, 2)]);
    add_message(&mut plan, 1, 8, MS(10), &[(0, 0, 1)]);
    let bounds = end_to_end(&plan, &[], BOUNDS);
    let end = bounds[0].ends[0];
    assert_eq!((end.receiver, end.latency), (NodeId(2), Ok(US(FRAME_US * 3))));
    assert_eq!(end.latency_min, US(FRAME_MIN_US * 2));
}

#[test]
fn jitter_of_an_arrival_makes_others_wait_longer() {
    let plan = |period| {
        let mut plan = segments(3, 2);
        add_message(&mut plan, 2, 8, period, &[(0, 0, 1), (1, 1, 2)]);
        add_message(&mut plan, 1, 8, MS(10), &[(0, 0, 1)]);
        // On the second segment only, and less urgent than what comes from the first.
        add_message(&mut plan, 3, 8, MS(10), &[(1, 1, 2)]);
        plan
    };
    // The forwarded frame comes every 590 us but up to 324 us late, so two of them can be 266 us apart: the second comes
    // while the first is on its way, and the local one waits for both.
    let late = plan(US(590));
    assert_eq!(latencies(&late)[2], Ok(US(FRAME_US * 3)));
    let view = Can::of(&late, SegmentId(1)).unwrap();
    let alone = message_bounds(view, true, |_| Some(Duration::ZERO));
    assert_eq!(alone[1].1.as_ref().unwrap().worst(), US(FRAME_US * 2));
    assert_eq!(latencies(&plan(MS(5)))[2], Ok(US(FRAME_US * 2)));
}

#[test]
fn a_hop_without_bound_leaves_the_way_without_one() {
    let mut plan = segments(3, 2);
    add_message(&mut plan, 2, 8, US(300), &[(0, 0, 1), (1, 1, 2)]);
    add_message(&mut plan, 1, 8, US(300), &[(0, 0, 1)]);
    add_message(&mut plan, 3, 8, MS(10), &[(1, 1, 2)]);
    add_message(&mut plan, 0, 8, MS(10), &[(1, 1, 2)]);
    let found = latencies(&plan);
    assert!(matches!(found[0], Err(Why::Arbitration(NoBound::Unbounded(_)))), "{:?}", found[0]);
    assert!(found[1].is_ok());
    assert_eq!(found[2], Err(Why::Arbitration(NoBound::ArrivalUnbounded)));
    assert_eq!(found[3], Ok(US(FRAME_US * 2)));
}

#[test]
fn segments_that_hand_over_to_one_another_come_to_an_end() {
    let mut plan = segments(3, 2);
    add_message(&mut plan, 1, 8, MS(2), &[(0, 0, 1), (1, 1, 2)]);
    add_message(&mut plan, 2, 8, MS(2), &[(1, 2, 1), (0, 1, 0)]);
    assert!(latencies(&plan).iter().all(|latency| latency.is_ok_and(|latency| latency <= US(FRAME_US * 5))));
}

#[test]
fn what_is_not_analysed_says_so() {
    let mut plan = segments(2, 1);
    add_message(&mut plan, 1, 8, MS(10), &[(0, 0, 1)]);
    let mut lost = plan.clone();
    lost.streams[0].receivers = vec![NodeId(0), NodeId(1)];
    lost.streams[0].sender = NodeId(1);
    assert_eq!(latencies(&lost)[0], Err(Why::NotReached));
    assert_eq!(end_to_end(&plan, &[], &[])[0].ends[0].latency, Err(Why::UnknownKind(CAN)));
    let change = |change: fn(&mut CanSegment)| {
        let mut plan = plan.clone();
        change(plan.segments[0].facet.get_mut().unwrap());
        latencies(&plan)[0]
    };
    assert_eq!(change(|segment| segment.count = 2), Err(Why::SeveralBuses));
    assert_eq!(change(|segment| segment.fifo_mailboxes = true), Err(Why::OldestFirst));
}

#[test]
fn a_stream_from_a_bus_waits_a_period_for_its_slot_at_most() {
    let mut plan = cluster(3);
    let bus = segments(3, 1).segments.remove(0);
    plan.segments.push(bus);
    let slot = add_stream(&mut plan, 1, &[2], 60).hops.remove(0);
    plan.streams.clear();
    add_message(&mut plan, 1, 8, MS(10), &[(1, 0, 1)]).hops.push(slot);
    plan.streams[0].receivers = vec![NodeId(2)];
    let table = synthesize(view(&plan)).unwrap();
    let in_slot = crate::bounds(view(&plan), &table)[0].latency_max.unwrap();
    let end = end_to_end(&plan, &[Some(table)], BOUNDS)[0].ends[0];
    // Two clocks are a microsecond apart, either way.
    assert_eq!(end.latency, Ok(US(FRAME_US) + MS(10) + US(2) + in_slot));
}

/// A frame that waits for a bus, or is on its way.
#[derive(Clone, Copy)]
struct Frame {
    stream: usize,
    due: i64,
    ready: i64,
}

/// Plays one bus out; every frame takes `FRAME_US`. The frames as they come to its other end. Lower streams go first.
fn play(mut frames: Vec<Frame>) -> Vec<Frame> {
    let (mut now, mut arrived) = (0, Vec::new());
    while !frames.is_empty() {
        let ready = (0..frames.len()).filter(|index| frames[*index].ready <= now);
        match ready.min_by_key(|index| (frames[*index].stream, frames[*index].due)) {
            Some(next) => {
                now += FRAME_US;
                arrived.push(Frame { ready: now, ..frames.swap_remove(next) });
            }
            None => now = frames.iter().map(|frame| frame.ready).min().unwrap(),
        }
    }
    arrived
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Streams of the first bus, some of which go on, and streams of the second alone.
    #[test]
    fn no_frame_played_over_two_buses_is_later_than_its_bound(
        streams in prop::collection::vec((0usize..3, 1_500i64..6_000, any::<u32>()), 2..7),
    ) {
        let ways: [&[(u16, u16, u16)]; 3] = [&[(0, 0, 1)], &[(0, 0, 1), (1, 1, 2)], &[(1, 1, 2)]];
        let mut plan = segments(3, 2);
        for (id, (way, period_us, _)) in streams.iter().enumerate() {
            add_message(&mut plan, id as u16, 8, US(*period_us), ways[*way]);
        }
        let due = |only: &dyn Fn(usize) -> bool| -> Vec<Frame> {
            let chosen = streams.iter().enumerate().filter(|(_, (way, ..))| only(*way));
            let all = chosen.flat_map(|(stream, (_, period, phase))| {
                let first = i64::from(*phase) % period;
                (0..200).map(move |k| first + k * period).map(move |at| Frame { stream, due: at, ready: at })
            });
            all.collect()
        };
        let (over, mut second): (Vec<_>, Vec<_>) = (play(due(&|way| way < 2)), due(&|way| way == 2));
        let (last, on): (Vec<_>, Vec<_>) = over.into_iter().partition(|frame| streams[frame.stream].0 == 0);
        second.extend(on);
        let bounds = end_to_end(&plan, &[], BOUNDS);
        for frame in last.into_iter().chain(play(second)) {
            let end = bounds[frame.stream].ends[0];
            let latency = US(frame.ready - frame.due);
            prop_assert_eq!(bounds[frame.stream].stream, StreamId(frame.stream as u16));
            if let Ok(bound) = end.latency {
                prop_assert!(latency <= bound, "stream {}: {latency}, bound {bound}", frame.stream);
            }
            prop_assert!(latency >= end.latency_min);
        }
    }
}
