mod networks;

use chronoseal_frameauth::{DataId, Freshness, HashAlgorithm, Profile};
use chronoseal_plan::*;
use proptest::prelude::*;

use super::*;
use crate::testing::{add_stream, best_effort, cluster, equal_frames, network, send, view};

const US: fn(i64) -> Duration = Duration::from_us;

/// Adds a protection with this price for every frame on every node.
fn charge(plan: &mut Plan, cost: Duration) {
    let profile = Profile::new(HashAlgorithm::Sha256.mac(), 128, Freshness::CycleCounter, 1).unwrap();
    let kind = ProtectionKind::Secured { profile, key: KeySource::OfStream, identity: Identity::Number };
    plan.protections.push(ProtectionPlan { name: "hmac".into(), kind });
    let operation = HashAlgorithm::Sha256.operation().0.to_owned();
    plan.platforms[0].costs.push(OperationCost { operation, base: cost, per_byte: Duration::ZERO });
    let last = ProtectionId(plan.protections.len() as u16 - 1);
    plan.streams.iter_mut().for_each(|stream| stream.protection = last);
}

fn task(plan: &mut Plan, node: usize, period: Duration, wcet: Duration) {
    let tasks = &mut plan.nodes[node].tasks;
    tasks.push(TaskPlan { name: format!("control.{}", tasks.len()), period, wcet });
}

fn assert_verifies(plan: &Plan) -> Synthesis {
    let synthesis = synthesize_all(view(plan)).unwrap_or_else(|infeasible| panic!("{infeasible}"));
    assert_eq!(verify(view(plan), &synthesis.table), []);
    synthesis
}

#[test]
fn forty_frames_do_not_fit_in_half_the_base_period_and_24_do() {
    let mut plan = equal_frames(4, 40, 60);
    network(&mut plan).cluster_cycle = Duration::from_ms(5);
    plan.streams.iter_mut().for_each(|stream| stream.period = Duration::from_ms(5));
    let infeasible = synthesize(view(&plan)).unwrap_err();
    assert_eq!((infeasible.fitted, infeasible.wanted), (24, 40));
    assert_eq!(infeasible.item, Item::Stream(StreamId(24)));
    assert_eq!(infeasible.conflict.len(), 25);
    assert!(infeasible.is_minimal);
    assert_eq!(
        infeasible.to_string(),
        "the schedule does not fit: stream `s.24` (60B with its protection, every 5ms) finds no free 204.8us between \
         the other slots; 24 of 40 frames fit. These 25 do not fit together: s.0, s.1, s.2, s.3, s.4, s.5 and 19 more. \
         All slots together need 8.192ms of a cluster cycle of 5ms: lengthen the periods, shorten the guard period of \
         200us or the frames and tags, or take out 16 of the frames"
    );
}

#[test]
fn slots_follow_one_another_without_a_gap() {
    let table = assert_verifies(&equal_frames(4, 40, 60)).table;
    for (k, slot) in table.slots.iter().enumerate() {
        assert_eq!(slot.start, Duration::from_ns(204_800) * k as i64);
        assert_eq!((slot.stream.index(), slot.release), (k, slot.start));
        assert_eq!((slot.frame_time, slot.end - slot.start), (Duration::from_ns(4_800), Duration::from_ns(204_800)));
        assert_eq!(slot.dispatch, slot.end);
    }
}

#[test]
fn a_fixed_offset_does_not_move_and_others_go_around_it() {
    let mut plan = equal_frames(2, 3, 60);
    plan.streams[2].offset = Some(US(100));
    let table = assert_verifies(&plan).table;
    let start = |stream| table.of(StreamId(stream)).next().unwrap().start;
    assert_eq!(start(2), US(100));
    assert_eq!(start(0), US(100) + Duration::from_ns(204_800));
    assert_eq!(start(1), US(100) + Duration::from_ns(2 * 204_800));
}

#[test]
fn two_fixed_offsets_that_collide_are_named() {
    let mut plan = equal_frames(2, 10, 60);
    plan.streams[3].offset = Some(US(0));
    plan.streams[7].offset = Some(US(100));
    let infeasible = synthesize(view(&plan)).unwrap_err();
    assert_eq!(infeasible.conflict, ["s.3", "s.7"]);
    assert_eq!(infeasible.fitted, 9);
}

#[test]
fn a_fixed_offset_too_late_in_its_period_is_refused() {
    let mut plan = equal_frames(2, 1, 60);
    plan.streams[0].offset = Some(Duration::from_ms(10) - US(204));
    let infeasible = synthesize(view(&plan)).unwrap_err();
    assert_eq!(infeasible.reason, Reason::PeriodTooShort { needed: Duration::from_ns(204_800) });
    assert!(infeasible.advice.starts_with("Move its offset"), "{}", infeasible.advice);
}

#[test]
fn a_frame_too_long_with_its_tag_is_refused() {
    let mut plan = equal_frames(2, 1, 1500);
    charge(&mut plan, Duration::ZERO);
    let infeasible = synthesize(view(&plan)).unwrap_err();
    assert_eq!(infeasible.reason, Reason::FrameTooLong { len: 1516 });
    assert_eq!(infeasible.fitted, 0);
}

#[test]
fn periods_that_do_not_divide_the_cycle_or_hold_no_slot_are_refused() {
    let mut plan = equal_frames(2, 1, 60);
    for (period, expected) in [
        (Duration::from_ms(3), "does not repeat"),
        (Duration::ZERO, "does not repeat"),
        (US(200), "alone needs 204.8us"),
        (Duration::from_ms(20), "does not repeat"),
    ] {
        plan.streams[0].period = period;
        let text = synthesize(view(&plan)).unwrap_err().to_string();
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn every_period_of_a_faster_stream_has_its_slot() {
    let mut plan = equal_frames(2, 4, 60);
    plan.streams[3].period = US(2_500);
    let table = assert_verifies(&plan).table;
    let starts: Vec<_> = table.of(StreamId(3)).map(|slot| slot.start).collect();
    assert_eq!(starts, [US(0), US(2_500), US(5_000), US(7_500)]);
}

#[test]
fn sealing_of_the_first_slot_takes_the_end_of_the_cycle() {
    let mut plan = equal_frames(2, 1, 60);
    charge(&mut plan, US(30));
    task(&mut plan, 0, Duration::from_ms(10), Duration::from_ms(9));
    task(&mut plan, 0, Duration::from_ms(10), US(960));
    let synthesis = assert_verifies(&plan);
    assert_eq!(synthesis.table.slots[0].release, US(-30));
    let last = synthesis.table.tasks.last().unwrap();
    assert_eq!(last.start + last.length, US(9_960));

    task(&mut plan, 0, Duration::from_ms(10), US(11));
    let infeasible = synthesize(view(&plan)).unwrap_err();
    assert_eq!(infeasible.name, "ecu0/control.2");
    assert!(infeasible.to_string().contains("on the processor of `ecu0`"), "{infeasible}");
}

#[test]
fn all_bytes_under_a_tag_are_reserved() {
    let mut plan = equal_frames(2, 1, 60);
    charge(&mut plan, Duration::ZERO);
    plan.platforms[0].costs.last_mut().unwrap().per_byte = US(3);
    let profile = *view(&plan).protection_of(&view(&plan).stream(StreamId(0)).unwrap()).profile().unwrap();
    // What the node itself is charged: the number of the stream and the freshness value with the 46 bytes of payload.
    let charged = profile.work(&DataId::number(0), 46).len;
    assert!(charged > 46);
    let synthesis = assert_verifies(&plan);
    let [slot] = synthesis.table.slots[..] else { panic!("{:?}", synthesis.table.slots) };
    let length = US(3) * i64::from(charged);
    assert_eq!(slot.start - slot.release, length);
    assert_eq!(synthesis.verifications[0].length, length);
}

#[test]
fn a_verification_waits_for_a_task_of_its_receiver() {
    let mut plan = equal_frames(2, 1, 60);
    plan.streams[0].offset = Some(US(0));
    charge(&mut plan, US(30));
    task(&mut plan, 1, Duration::from_ms(10), US(1_000));
    // The fixed frame is placed first, so the task goes around its check; a second frame goes around the task.
    add_stream(&mut plan, 0, &[1], 60).protection = ProtectionId(1);
    plan.streams[1].offset = Some(US(500));
    let synthesis = assert_verifies(&plan);
    assert_eq!(synthesis.verifications.len(), 2);
    for check in &synthesis.verifications {
        for run in &synthesis.table.tasks {
            assert!(check.start + check.length <= run.start || check.start >= run.start + run.length);
        }
    }
}

#[test]
fn a_verification_may_last_from_the_arrival_to_the_end_of_the_period_and_no_longer() {
    let mut plan = equal_frames(2, 1, 60);
    network(&mut plan).access = Access::PerLink;
    plan.streams[0].offset = Some(US(0));
    charge(&mut plan, US(30));
    let slot = assert_verifies(&plan).table.slots[0];
    let arrival = slot.dispatch + slot.frame_time + view(&plan).segment.propagation_delay;
    let longest = Duration::from_ms(10) - arrival;
    for (cost, fits) in [(US(30), true), (longest, true), (longest + Duration::from_ps(1), false)] {
        plan.platforms[0].costs.last_mut().unwrap().base = cost;
        let Ok(synthesis) = synthesize_all(view(&plan)) else {
            assert!(!fits, "{cost} after {arrival}");
            continue;
        };
        assert!(fits, "{cost} after {arrival}");
        assert_eq!(verify(view(&plan), &synthesis.table), []);
        let [check] = synthesis.verifications[..] else { panic!("{:?}", synthesis.verifications) };
        assert_eq!((check.start, check.length), (arrival, cost));
    }
}

#[test]
fn a_long_task_is_placed_before_frames_when_it_fits_no_other_way() {
    let mut plan = equal_frames(2, 20, 60);
    charge(&mut plan, US(100));
    task(&mut plan, 0, Duration::from_ms(10), Duration::from_ms(6));
    assert_verifies(&plan);
}

#[test]
fn too_many_checks_for_one_processor_are_refused() {
    let mut plan = equal_frames(2, 12, 60);
    charge(&mut plan, US(1_000));
    let infeasible = synthesize(view(&plan)).unwrap_err();
    assert!(infeasible.to_string().contains("on the processor of"), "{infeasible}");
    assert!(infeasible.advice.contains("cheaper protection"));
    // Ten would need each processor to be busy without a gap.
    assert!((8..=10).contains(&infeasible.fitted), "{}", infeasible.fitted);
}

#[test]
fn links_of_their_own_carry_frames_at_once() {
    let mut plan = cluster(4);
    network(&mut plan).access = Access::PerLink;
    network(&mut plan).guard_period = Duration::ZERO;
    add_stream(&mut plan, 0, &[1], 1000);
    add_stream(&mut plan, 2, &[3], 1000);
    add_stream(&mut plan, 3, &[1], 1000);
    let table = assert_verifies(&plan).table;
    let starts: Vec<_> = (0..3).map(|id| table.of(StreamId(id)).next().unwrap().start).collect();
    assert_eq!(starts, [US(0), US(0), US(80)], "the third shares the receiver's link with the first");
    assert_eq!(table.slots[0].dispatch, US(80) + view(&plan).segment.precision * 2);
}

#[test]
fn immediate_forwarding_dispatches_after_the_forwarding_delay() {
    let mut plan = equal_frames(2, 1, 60);
    network(&mut plan).dispatch = Dispatch::Immediate;
    network(&mut plan).forwarding_delay = US(10);
    let slot = assert_verifies(&plan).table.slots[0];
    assert_eq!(slot.dispatch, slot.start + slot.frame_time + US(10));
}

#[test]
fn a_long_frame_on_its_way_to_the_receiver_is_not_run_into() {
    let mut plan = cluster(2);
    network(&mut plan).guard_period = Duration::ZERO;
    add_stream(&mut plan, 0, &[1], 1514);
    add_stream(&mut plan, 0, &[1], 60);
    plan.streams[0].period = Duration::from_ms(5);
    let table = assert_verifies(&plan).table;
    let [long, short] = [0, 1].map(|id| *table.of(StreamId(id)).next().unwrap());
    assert!(short.dispatch >= long.dispatch + long.frame_time);
}

#[test]
fn best_effort_streams_get_no_slots() {
    let mut plan = equal_frames(2, 2, 60);
    best_effort(&mut plan.streams[0], 3);
    let table = assert_verifies(&plan).table;
    assert_eq!(table.slots.len(), 1);
    assert_eq!(table.slots[0].stream, StreamId(1));
}

#[test]
fn an_explicit_table_is_not_checked() {
    let plan = equal_frames(2, 60, 60);
    let pitch = slot_pitch(view(&plan), &view(&plan).stream(StreamId(0)).unwrap());
    let table = explicit(view(&plan), pitch);
    assert_eq!(table.slots.len(), 60);
    assert_eq!(table.slots[59].start, pitch * 59);
    assert!(verify(view(&plan), &table).iter().any(|v| matches!(v, Violation::OutsidePeriod { .. })));
    let fitting = equal_frames(2, 48, 60);
    assert_eq!(explicit(view(&fitting), pitch), synthesize(view(&fitting)).unwrap());
}

#[test]
fn the_checker_sees_each_kind_of_damage() {
    let mut plan = equal_frames(3, 6, 60);
    charge(&mut plan, US(5));
    task(&mut plan, 0, Duration::from_ms(10), US(50));
    let table = synthesize(view(&plan)).unwrap();
    let damaged = |damage: fn(&mut ScheduleTable)| {
        let mut table = table.clone();
        damage(&mut table);
        verify(view(&plan), &table)
    };
    let first = |damage| damaged(damage).into_iter().next().unwrap();
    assert!(matches!(first(|t| t.cluster_cycle = US(1)), Violation::WrongCycle));
    assert!(matches!(first(|t| t.slots.truncate(5)), Violation::WrongInstances { .. }));
    assert!(matches!(first(|t| t.slots[1].dispatch += US(1)), Violation::WrongTimes { which: "dispatch time", .. }));
    assert!(matches!(first(|t| t.slots[1].release += US(1)), Violation::WrongTimes { which: "release", .. }));
    assert!(matches!(first(|t| t.tasks.clear()), Violation::WrongTaskInstances { .. }));
    let shift = |slot: &mut chronoseal_media::schedule::Slot, by| {
        slot.start += by;
        slot.release += by;
        slot.dispatch += by;
        slot.end += by;
    };
    let mut moved = table.clone();
    shift(&mut moved.slots[1], US(-1));
    assert!(matches!(verify(view(&plan), &moved)[..], [Violation::Overlap { resource: Resource::Cluster, .. }]));
    let mut moved = table.clone();
    shift(&mut moved.slots[5], Duration::from_ms(9));
    assert!(matches!(verify(view(&plan), &moved)[..], [Violation::OutsidePeriod { .. }]));
    let mut moved = table.clone();
    moved.tasks[0].start = moved.slots[3].start - US(2);
    assert!(matches!(verify(view(&plan), &moved)[..], [Violation::Overlap { resource: Resource::Processor(_), .. }]));
}

#[test]
fn the_checker_sees_a_processor_with_more_checks_than_time() {
    let mut plan = equal_frames(2, 20, 60);
    let pitch = slot_pitch(view(&plan), &view(&plan).stream(StreamId(0)).unwrap());
    charge(&mut plan, Duration::from_ms(2));
    plan.streams.iter_mut().for_each(|stream| send(stream, NodeId(0), NodeId(1)));
    // Sealing is free for the sender, so that only the receiver is short of time.
    plan.nodes[0].platform = PlatformId(1);
    plan.platforms.push(PlatformPlan { name: "free".into(), costs: Vec::new() });
    let table = explicit(view(&plan), pitch + US(3));
    assert!(matches!(verify(view(&plan), &table)[..], [Violation::VerificationLate { node: NodeId(1), .. }]));
}

fn access() -> impl Strategy<Value = Access> {
    prop_oneof![Just(Access::SharedSlots), Just(Access::PerLink)]
}

fn dispatch() -> impl Strategy<Value = Dispatch> {
    prop_oneof![Just(Dispatch::Scheduled), Just(Dispatch::Immediate)]
}

prop_compose! {
    fn some_plan()(
        access in access(),
        dispatch in dispatch(),
        guard_us in prop_oneof![Just(0i64), Just(200), 0i64..300],
        cost_us in prop_oneof![Just(0i64), 0i64..200],
        nodes in 2u16..6,
        streams in prop::collection::vec(
            (any::<u16>(), any::<u16>(), 60u32..1498, 0usize..4, prop::option::weighted(0.05, 0i64..5_000)), 1..40),
        tasks in prop::collection::vec((any::<u16>(), 0usize..4, 0i64..1_500), 0..6),
    ) -> Plan {
        let periods = [2_500, 5_000, 10_000, 2_000].map(US);
        let mut plan = cluster(nodes);
        network(&mut plan).access = access;
        network(&mut plan).dispatch = dispatch;
        network(&mut plan).guard_period = US(guard_us);
        network(&mut plan).forwarding_delay = US(3);
        network(&mut plan).propagation_delay = Duration::from_ns(50);
        for (sender, distance, len, period, offset_us) in streams {
            let sender = sender % nodes;
            let receiver = (sender + 1 + distance % (nodes - 1)) % nodes;
            let stream = add_stream(&mut plan, sender, &[receiver], len);
            stream.period = periods[period];
            stream.offset = offset_us.map(US);
        }
        charge(&mut plan, US(cost_us));
        for (node, period, wcet_us) in tasks {
            task(&mut plan, usize::from(node % nodes), periods[period], US(wcet_us));
        }
        plan
    }
}

/// A stream, which of its frames, and two times of that one's slot.
type Placed = (String, u32, Duration, Duration);

/// Where everything was placed, or what does not fit together, by names.
fn by_name(plan: &Plan) -> Result<Vec<Placed>, (String, Vec<String>)> {
    let table = synthesize(view(plan)).map_err(|infeasible| (infeasible.to_string(), infeasible.conflict))?;
    let slots = table
        .slots
        .iter()
        .map(|slot| (plan.streams[slot.stream.index()].name.clone(), slot.instance, slot.start, slot.dispatch));
    let tasks = table.tasks.iter().map(|task| {
        let node = &plan.nodes[task.node.index()];
        let name = format!("{}/{}", node.name, node.tasks[usize::from(task.task)].name);
        (name, task.instance, task.start, task.start + task.length)
    });
    let mut all: Vec<_> = slots.chain(tasks).collect();
    all.sort();
    Ok(all)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The search against the closed form: N frames fit if and only if N <= NFmax.
    #[test]
    fn equal_frames_fit_up_to_nfmax_and_no_further(
        len in 60u32..=1514,
        on_wire in any::<bool>(),
        guarded in any::<bool>(),
        nodes in 2u16..5,
        period_us in prop_oneof![Just(10_000i64), 500i64..3_000],
    ) {
        let fits = |frames: u64| {
            let mut plan = equal_frames(nodes, frames, len);
            network(&mut plan).cluster_cycle = US(period_us);
            plan.streams.iter_mut().for_each(|stream| stream.period = US(period_us));
            network(&mut plan).accounting = if on_wire { Accounting::OnWire } else { Accounting::AsPublished };
            network(&mut plan).guard_period = if guarded { US(200) } else { Duration::ZERO };
            let nf_max = crate::tdma::frames_max(US(period_us), view(&plan).frame_time(len), view(&plan).segment.guard_period);
            (attempt(view(&plan), &items(view(&plan), Order::FramesFirst)).map_err(|failure| failure.fitted as u64), nf_max)
        };
        let nf_max = fits(0).1;
        prop_assert!(fits(nf_max).0.is_ok());
        prop_assert_eq!(fits(nf_max + 1).0.err(), Some(nf_max));
    }

    #[test]
    fn every_synthesized_table_verifies(plan in some_plan()) {
        match synthesize_all(view(&plan)) {
            Ok(synthesis) => prop_assert_eq!(verify(view(&plan), &synthesis.table), []),
            Err(infeasible) => prop_assert!(!infeasible.conflict.is_empty()),
        }
    }

    #[test]
    fn the_order_of_streams_and_tasks_changes_nothing(plan in some_plan()) {
        let mut other = plan.clone();
        other.streams.reverse();
        other.nodes.iter_mut().for_each(|node| node.tasks.reverse());
        prop_assert_eq!(by_name(&other), by_name(&plan));
    }

    /// What one frame cannot have alone it cannot have if it is longer either.
    #[test]
    fn a_frame_that_fits_nowhere_fits_nowhere_with_32_bytes_more(mut plan in some_plan(), slow in any::<bool>()) {
        if slow {
            network(&mut plan).rate = chronoseal_core::Rate(2_000_000);
        }
        let fits_alone = |reason| matches!(reason, Reason::NoGap { .. });
        if let Err(infeasible) = synthesize(view(&plan)) && !fits_alone(infeasible.reason) {
            for stream in &mut plan.streams {
                (stream.length, stream.hops[0].frame_len) = (stream.length + 32, stream.hops[0].frame_len + 32);
            }
            // Longer frames are placed in another order, so that another one may be the first without a place.
            prop_assert!(synthesize(view(&plan)).is_err(), "{infeasible}");
        }
    }

    /// Each member of a minimal conflict is needed: without it the rest finds a place.
    #[test]
    fn a_minimal_conflict_has_no_bystander(plan in some_plan()) {
        if let Err(infeasible) = synthesize(view(&plan)) && infeasible.is_minimal && infeasible.conflict.len() > 1 {
            let named = |name: &String| infeasible.conflict.contains(name);
            for skipped in &infeasible.conflict {
                let mut rest = plan.clone();
                rest.streams.iter_mut().for_each(|stream| {
                    if !named(&stream.name) || stream.name == *skipped {
                        best_effort(stream, 0);
                    }
                });
                // Tasks keep their number, so one that is left out takes no time instead.
                for station in &mut rest.nodes {
                    let name = station.name.clone();
                    for task in &mut station.tasks {
                        let full = format!("{name}/{}", task.name);
                        if !named(&full) || full == *skipped {
                            task.wcet = Duration::ZERO;
                        }
                    }
                }
                prop_assert!(synthesize(view(&rest)).is_ok(), "without {} it still fails", skipped);
            }
        }
    }
}
