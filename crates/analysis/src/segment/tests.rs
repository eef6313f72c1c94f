//! Hops put together, against hand-made sums and against two buses that are played out.

use chronoseal_core::{Duration, NodeId, Ppm, StreamId};
use chronoseal_frameauth::{Freshness, HashAlgorithm, Profile};
use chronoseal_plan::*;
use chronoseal_wire::can::{CanId, FrameKind};
use chronoseal_wire::container::HeaderType;
use proptest::prelude::*;

use super::*;
use crate::can::testing::{add_message, segments};
use crate::can::{Release, message_bounds};
use crate::synthesis::synthesize;
use crate::testing::{add_stream, best_effort, cluster, equal_frames, network, view};

mod exchange;
mod told;

const MS: fn(i64) -> Duration = Duration::from_ms;
const US: fn(i64) -> Duration = Duration::from_us;
/// Of a classical frame of eight bytes at 500 kbit/s, at most with its interframe space.
const FRAME_US: i64 = 270;
/// Three bits of interframe space behind it.
const GAP_US: i64 = 6;
/// The same at least, to its last bit.
const FRAME_MIN_US: i64 = 216;

fn latencies(plan: &Plan) -> Vec<Result<Duration, Why>> {
    let ends = end_to_end(plan, &[], BOUNDS).into_iter().filter_map(|stream| stream.ends.first().cloned());
    ends.map(|end| end.latency.map(|span| span.max).map_err(|missing| missing.why)).collect()
}

/// The places of a way with what each adds at most.
fn parts(end: &EndBound) -> Vec<(Place, Duration)> {
    end.parts.iter().map(|part| (part.place, part.max)).collect()
}

#[test]
fn one_hop_is_bounded_as_its_segment_alone() {
    let plan = equal_frames(4, 40, 60);
    let table = synthesize(view(&plan)).unwrap();
    let alone = crate::bounds(view(&plan), &table);
    let together = end_to_end(&plan, &[Some(table)], BOUNDS);
    for (one, other) in alone.iter().zip(&together) {
        let latency = other.ends[0].latency.unwrap();
        assert_eq!((one.stream, one.latency_max), (other.stream, Some(latency.max)));
        assert!(latency.min <= latency.max);
    }
    assert_eq!(latencies(&plan)[0], Err(Why::NoSchedule));

    let mut plan = segments(2, 1);
    add_message(&mut plan, 1, 8, MS(10), &[(0, 0, 1)]);
    add_message(&mut plan, 2, 8, MS(10), &[(0, 0, 1)]);
    assert_eq!(latencies(&plan), [Ok(US(FRAME_US * 2 - GAP_US)), Ok(US(FRAME_US * 2 - GAP_US))]);
}

#[test]
fn hops_and_processors_add_up_and_hand_their_jitter_on() {
    let mut plan = segments(3, 2);
    // From node 0 through node 1 to node 2; on the first segment one frame can be in the way, on the second none.
    add_message(&mut plan, 2, 8, MS(10), &[(0, 0, 1), (1, 1, 2)]);
    add_message(&mut plan, 1, 8, MS(10), &[(0, 0, 1)]);
    plan.nodes[1].gateway = Some(GatewayPlan { delay: US(50), queue_len_max: 64, reboot: None, bridges: Vec::new() });
    let bounds = end_to_end(&plan, &[], BOUNDS);
    let end = &bounds[0].ends[0];
    let latency = end.latency.unwrap();
    assert_eq!((end.receiver, latency.max), (NodeId(2), US(FRAME_US * 3 - GAP_US * 2 + 50)));
    assert_eq!(latency.min, US(FRAME_MIN_US * 2 + 50));
    let expected = [
        (Place::Sender(NodeId(0)), US(0)),
        (Place::Segment(SegmentId(0)), US(FRAME_US * 2 - GAP_US)),
        (Place::Gateway(NodeId(1)), US(50)),
        (Place::Segment(SegmentId(1)), US(FRAME_US - GAP_US)),
        (Place::Receiver(NodeId(2)), US(0)),
    ];
    assert_eq!(parts(end), expected);
    assert_eq!(end.parts.iter().map(|part| part.min).sum::<Duration>(), latency.min);
}

#[test]
fn all_that_a_processor_does_can_be_in_the_way() {
    let mut plan = segments(3, 1);
    let profile = Profile::new(HashAlgorithm::Sha256.mac(), 32, Freshness::None, 1).unwrap();
    let hmac = ProtectionKind::Secured { profile, key: KeySource::OfStream, identity: Identity::Number };
    plan.protections.push(ProtectionPlan { name: "tag".into(), kind: hmac });
    let cost = |us| vec![OperationCost { operation: "hmac-sha-256".into(), base: US(us), per_byte: Duration::ZERO }];
    plan.platforms.push(PlatformPlan { name: "slow".into(), costs: cost(100) });
    plan.platforms.push(PlatformPlan { name: "slower".into(), costs: cost(700) });
    (plan.nodes[0].platform, plan.nodes[1].platform) = (PlatformId(1), PlatformId(2));
    for (id, hop) in [(1, (0, 0, 1)), (2, (0, 0, 1)), (3, (0, 2, 0))] {
        add_message(&mut plan, id, 4, MS(10), &[hop]).protection = ProtectionId(1);
    }
    let bounds = end_to_end(&plan, &[], BOUNDS);
    // Node 0 seals two and opens one; node 1 opens two; node 2 computes for nothing.
    let processor = |stream: usize, part: usize| bounds[stream].ends[0].parts[part].max;
    assert_eq!([processor(0, 0), processor(0, 2)], [US(300), US(1400)]);
    assert_eq!([processor(2, 0), processor(2, 2)], [US(0), US(300)]);
    // More than there is time for.
    plan.platforms[2].costs[0].base = MS(6);
    let end = &end_to_end(&plan, &[], BOUNDS)[0].ends[0];
    let missing = end.latency.unwrap_err();
    assert_eq!(missing.place, Place::Receiver(NodeId(1)));
    assert_eq!(missing.why, Why::Overload(Overload::Load { load_ppm: 1_200_001 }));
    assert_eq!(end.parts.len(), 2);
}

#[test]
fn what_protects_a_hop_is_paid_for_at_its_ends() {
    let mut plan = segments(3, 2);
    let cmac = chronoseal_frameauth::secoc::profile_2();
    let kind = ProtectionKind::Secured { profile: cmac, key: KeySource::OfStream, identity: Identity::Name };
    plan.protections.push(ProtectionPlan { name: "secoc".into(), kind });
    let costs = vec![OperationCost { operation: "cmac-aes-128".into(), base: US(10), per_byte: Duration::ZERO }];
    plan.platforms.push(PlatformPlan { name: "slow".into(), costs });
    plan.nodes.iter_mut().for_each(|node| node.platform = PlatformId(1));
    plan.nodes[1].gateway = Some(GatewayPlan { delay: US(1), queue_len_max: 64, reboot: None, bridges: Vec::new() });
    add_message(&mut plan, 2, 4, MS(10), &[(0, 0, 1), (1, 1, 2)]).protection = ProtectionId(1);
    let processors = |plan: &Plan| {
        let end = end_to_end(plan, &[], BOUNDS)[0].ends[0].clone();
        [end.parts[0].max, end.parts[2].max, end.parts[4].max]
    };
    assert_eq!(processors(&plan), [US(10), US(1), US(10)]);
    for hop in &mut plan.streams[0].hops {
        hop.protection = Some(ProtectionId(1));
    }
    assert_eq!(processors(&plan), [US(10), US(10 + 1 + 10), US(10)]);
    collect(&mut plan, &[0], 1, MS(1));
    // Dealt with, kept for a millisecond, and sealed with what is in the frame.
    assert_eq!(processors(&plan), [US(10), US(10 + 1 + 10) + MS(1) + US(10 + 1 + 10), US(10)]);
}

/// Puts PDUs of streams into one frame on their hop `hop`, protected as the first of them is there.
fn collect(plan: &mut Plan, streams: &[u16], hop: usize, within: Duration) {
    let container = StreamId(plan.streams.len() as u16);
    let of = |id: &u16| &plan.streams[usize::from(*id)];
    let first = of(&streams[0]).clone();
    let length = streams.iter().map(|id| HeaderType::Short.wire_len() as u32 + of(id).length).sum();
    let payload = PayloadPlan::Collected(CollectPlan {
        streams: streams.iter().copied().map(StreamId).collect(),
        within,
        header: HeaderType::Short,
    });
    let mut frame = first.hops[hop].clone();
    let protection = frame.protection.take().unwrap_or_default();
    (frame.previous, frame.frame_len) = (None, length);
    let id = CanId::standard(0x7f).unwrap();
    frame.facet = Facet::new(CanHop::Message { id, kind: FrameKind::Fd { brs: false, esi: false }, segmented: None });
    for id in streams {
        plan.streams[usize::from(*id)].hops[hop].facet = Facet::new(Contained { container });
    }
    let (sender, hops) = (frame.from, vec![frame]);
    let receivers = Vec::new();
    plan.streams.push(StreamPlan { sender, receivers, period: within, length, payload, protection, hops, ..first });
}

/// What is collected goes on with its frame: it waits for others, and for the whole of it.
#[test]
fn what_is_collected_waits_and_is_as_late_as_its_frame() {
    let mut plan = segments(3, 2);
    add_message(&mut plan, 1, 8, MS(10), &[(0, 0, 1), (1, 1, 2)]);
    add_message(&mut plan, 2, 8, MS(10), &[(0, 0, 1), (1, 1, 2)]);
    let alone = latencies(&plan)[0].unwrap();
    collect(&mut plan, &[0, 1], 1, MS(2));
    let bounds = end_to_end(&plan, &[], BOUNDS);
    let together = bounds[0].ends[0].latency.unwrap().max;
    assert!(
        together > alone + MS(2) && together < alone + MS(2) + US(FRAME_US * 12),
        "{alone} alone, {together} together"
    );
    assert!(bounds[2].ends.is_empty(), "the frame itself is nobody's");
    // Nothing can be said of either when one of them comes at times that nothing bounds.
    plan.streams[1].period = US(100);
    assert!(latencies(&plan)[0].is_err());
}

#[test]
fn a_queue_holds_what_its_streams_leave_in_it_at_once() {
    let mut plan = segments(3, 2);
    plan.nodes[1].gateway = Some(GatewayPlan { delay: US(50), queue_len_max: 3, reboot: None, bridges: Vec::new() });
    add_message(&mut plan, 1, 8, MS(10), &[(0, 0, 1), (1, 1, 2)]);
    add_message(&mut plan, 2, 8, MS(10), &[(0, 0, 1), (1, 1, 2)]);
    let queue = |plan: &Plan| gateway_queues(plan, &end_to_end(plan, &[], BOUNDS))[0];
    let expected = QueueBound { gateway: NodeId(1), segment: SegmentId(1), frames: Some(2), room: 3 };
    assert_eq!(queue(&plan), expected);
    assert!(queue(&plan).holds());
    // A frame can be there for more than three of its periods.
    plan.streams[0].period = MS(1);
    plan.nodes[1].driver.max = MS(2);
    assert_eq!(queue(&plan).frames, Some(4 + 1));
    assert!(!queue(&plan).holds());
    plan.streams[0].period = US(200);
    assert_eq!((queue(&plan).frames, queue(&plan).holds()), (None, false));
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
    // The forwarded frame comes every 580 us but up to 318 us late, so two of them can be 262 us apart: the second comes
    // while the first is on its way, and the local one waits for both.
    let late = plan(US(580));
    assert_eq!(latencies(&late)[2], Ok(US(FRAME_US * 3 - GAP_US)));
    let view = Can::of(&late, SegmentId(1)).unwrap();
    let alone = message_bounds(view, true, |stream| Release::at_sender(view, stream));
    assert_eq!(alone[1].1.as_ref().unwrap().worst(), US(FRAME_US * 2));
    assert_eq!(latencies(&plan(MS(5)))[2], Ok(US(FRAME_US * 2 - GAP_US)));
}

#[test]
fn a_fast_clock_brings_one_frame_more() {
    let mut plan = segments(3, 1);
    // The second frame of the first would come just when two frames are over and arbitration for the next one is, too.
    add_message(&mut plan, 1, 8, US(FRAME_US * 2 + 2), &[(0, 0, 1)]);
    add_message(&mut plan, 2, 8, MS(10), &[(0, 2, 1)]);
    add_message(&mut plan, 3, 8, MS(10), &[(0, 2, 1)]);
    assert_eq!(latencies(&plan)[2], Ok(US(FRAME_US * 3 - GAP_US)));
    plan.nodes[0].clock.drift_max = Ppm(1_000_000);
    assert_eq!(latencies(&plan)[2], Ok(US(FRAME_US * 4 - GAP_US)));
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
    assert_eq!(found[3], Ok(US(FRAME_US * 2 - GAP_US)));
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
    let unknown = end_to_end(&plan, &[], &[])[0].ends[0].latency.unwrap_err();
    assert_eq!(unknown, Missing { place: Place::Segment(SegmentId(0)), why: Why::UnknownKind(CAN) });
}

/// A segment that bounds nothing.
struct Air;

impl SegmentBounds for Air {
    fn kind(&self) -> &'static str {
        "air"
    }
    fn authentication(&self, _: &Plan, _: StreamId, _: &HopPlan) -> Option<Work> {
        None
    }
    fn bounds(&self, plan: &Plan, segment: SegmentId, _: Option<&ScheduleTable>, _: &Arrivals) -> Vec<HopBound> {
        without_bound(plan, segment, Why::Radio)
    }
}

#[test]
fn what_comes_over_the_air_spoils_nothing_but_itself() {
    let mut plan = segments(3, 2);
    plan.segments[0].kind = "air";
    plan.nodes[1].gateway =
        Some(GatewayPlan { delay: US(50), queue_len_max: 64, reboot: None, bridges: Default::default() });
    add_message(&mut plan, 1, 8, MS(10), &[(0, 0, 1), (1, 1, 2)]);
    add_message(&mut plan, 2, 8, MS(10), &[(1, 1, 2)]);
    let bounds = end_to_end(&plan, &[], &[&Air, &CanBounds]);
    let missing = bounds[0].ends[0].latency.unwrap_err();
    assert_eq!(missing, Missing { place: Place::Segment(SegmentId(0)), why: Why::Radio });
    // What is behind the air has a bound of its own.
    let parts: Vec<_> = bounds[0].ends[0].parts.iter().map(|part| (part.place, part.max)).collect();
    let on_bus = US(FRAME_US * 2 - GAP_US);
    let [gateway, bus, receiver] =
        [Place::Gateway(NodeId(1)), Place::Segment(SegmentId(1)), Place::Receiver(NodeId(2))];
    assert_eq!(parts, [(Place::Sender(NodeId(0)), US(0)), (gateway, US(50)), (bus, on_bus), (receiver, US(0))]);
    // The other one meets it at the gateway and on the bus.
    assert_eq!(bounds[1].ends[0].latency.map(|span| span.max), Ok(US(50 + FRAME_US * 2 - GAP_US)));
}

#[test]
fn a_stream_from_a_bus_waits_a_period_for_its_slot_at_most() {
    let mut plan = cluster(3);
    let bus = segments(3, 1).segments.remove(0);
    plan.segments.push(bus);
    let mut slot = add_stream(&mut plan, 1, &[2], 60).hops.remove(0);
    slot.previous = Some(0);
    plan.streams.clear();
    add_message(&mut plan, 1, 8, MS(10), &[(1, 0, 1)]).hops.push(slot);
    plan.streams[0].receivers = vec![NodeId(2)];
    let table = synthesize(view(&plan)).unwrap();
    let in_slot = crate::bounds(view(&plan), &table)[0].latency_max.unwrap();
    let end = &end_to_end(&plan, &[Some(table)], BOUNDS)[0].ends[0];
    // Two clocks are a microsecond apart, either way.
    assert_eq!(end.latency.unwrap().max, US(FRAME_US - GAP_US) + MS(10) + US(2) + in_slot);
}

#[test]
fn best_effort_waits_on_two_links() {
    let mut plan = cluster(3);
    // From two stations to one; frames of 60 bytes take 4.8 us in the source's accounting.
    for (sender, priority) in [(0, 3), (0, 5), (1, 3)] {
        best_effort(add_stream(&mut plan, sender, &[2], 60), priority);
    }
    let frame = Duration::from_ns(4_800);
    let bound = |plan: &Plan| {
        let table = synthesize(view(plan)).unwrap();
        let bounds = end_to_end(plan, &[Some(table)], BOUNDS);
        bounds.iter().map(|bound| bound.ends[0].latency.map(|span| span.max)).collect::<Vec<_>>()
    };
    // On its own link the other stream of its station, on the receiver's both others and the beacon.
    assert_eq!(bound(&plan)[0], Ok(frame * (2 + 4)));
    // One frame below, and on the receiver's link the beacon above.
    assert_eq!(bound(&plan)[1], Ok(frame * (2 + 3)));
    assert_eq!(bound(&plan)[2], Ok(frame * (1 + 4)));
    network(&mut plan).sync = Sync::Ideal;
    assert_eq!(bound(&plan)[0], Ok(frame * (2 + 3)));
    // Slots of the station keep its link free: the longest frame before, the precision twice, the slot's own frame.
    add_stream(&mut plan, 0, &[1], 60);
    let closed = frame * 2 + US(2);
    assert_eq!(bound(&plan)[0], Ok(frame * (2 + 3) + closed));
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
            let end = &bounds[frame.stream].ends[0];
            // The frames here are over when the next may begin.
            let latency = US(frame.ready - frame.due - GAP_US);
            prop_assert_eq!(bounds[frame.stream].stream, StreamId(frame.stream as u16));
            if let Ok(bound) = end.latency {
                prop_assert!(latency <= bound.max + US(GAP_US), "stream {}: {latency}, {bound:?}", frame.stream);
                prop_assert!(latency >= bound.min);
            }
        }
    }
}
