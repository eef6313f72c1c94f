use chronoseal_core::NodeId;
use chronoseal_frameauth::secoc::profile_2;
use chronoseal_plan::*;
use chronoseal_wire::can::CanFrame;

use super::super::testing::{add_message, segments};
use super::*;

mod segmented;

const MS: fn(i64) -> Duration = Duration::from_ms;
const US: fn(i64) -> Duration = Duration::from_us;

/// Worst cases of the only segment, nothing arriving from elsewhere.
fn worst(plan: &Plan, secured: bool) -> Vec<Result<Duration, NoBound>> {
    let view = Can::first(plan).unwrap();
    let bounds = message_bounds(view, secured, |stream| Release::at_sender(view, stream));
    bounds.into_iter().map(|(_, bound)| bound.map(|bound| bound.worst())).collect()
}

#[test]
fn a_message_alone_takes_its_longest_frame_and_its_driver() {
    let mut plan = segments(2, 1);
    add_message(&mut plan, 1, 8, MS(10), &[(0, 0, 1)]);
    // 135 bits of 2 us.
    assert_eq!(worst(&plan, true), [Ok(US(270))]);
    plan.nodes[0].driver.max = US(5);
    assert_eq!(worst(&plan, true), [Ok(US(275))]);
}

#[test]
fn the_shortest_response_has_no_stuff_bit() {
    let mut plan = segments(2, 1);
    add_message(&mut plan, 1, 8, MS(10), &[(0, 0, 1)]);
    let (view, stream) = (Can::first(&plan).unwrap(), &plan.streams[0]);
    // 108 bits without stuffing and interframe space.
    assert_eq!(response_min(view, StreamId(0), &stream.hops[0]), US(216));
}

#[test]
fn protection_counts_only_when_asked_for() {
    let mut plan = segments(2, 1);
    let kind = ProtectionKind::Secured { profile: profile_2(), key: KeySource::OfStream, identity: Identity::Number };
    plan.protections.push(ProtectionPlan { name: "secoc".into(), kind });
    add_message(&mut plan, 1, 5, MS(10), &[(0, 0, 1)]).protection = ProtectionId(1);
    // Three bytes of tag: as long as eight bytes of data.
    assert_eq!(worst(&plan, true), [Ok(US(270))]);
    assert_eq!(worst(&plan, false), [Ok(US(210))]);
}

#[test]
fn a_recording_counts_with_the_median_distance_of_each_identifier() {
    let mut plan = segments(2, 1);
    add_message(&mut plan, 9, 8, MS(10), &[(0, 0, 1)]);
    let frame = |id| CanFrame::classical(CanId::standard(id).unwrap(), &[0; 8]).unwrap();
    let frames = [0, 1, 2, 4].map(|ms| (MS(ms), frame(3))).into_iter().chain([(MS(1), frame(9))]).collect();
    let recording = CanRecording { source: "test".into(), frames, length: MS(5), start: Duration::ZERO };
    let mut stream = plan.streams[0].clone();
    stream.hops[0].facet = Facet::new(CanHop::Recording(recording));
    plan.streams.push(stream);
    // One frame before it; its own identifier in the recording is not counted twice, nor listed as a stream.
    assert_eq!(worst(&plan, true), [Ok(US(270 * 2))]);
}

#[test]
fn the_synchronisation_message_and_a_key_exchange_are_in_the_way() {
    let mut plan = segments(2, 1);
    add_message(&mut plan, 9, 8, MS(10), &[(0, 0, 1)]);
    let mut sync = plan.streams[0].clone();
    sync.hops[0].facet = Facet::new(CanHop::Synchronisation { id: CanId::standard(1).unwrap() });
    plan.streams.push(sync);
    assert_eq!(worst(&plan, true), [Ok(US(270 * 2)), Ok(US(270 * 2))]);
    plan.group_key = Some(GroupKeyPlan {
        orchestrator: NodeId(0),
        segments: vec![SegmentId(0)],
        members: vec![NodeId(1)],
        suite: chronoseal_crypto::suite::SuiteName::FourQ,
        scheme: chronoseal_groupkey::Scheme::FullTree,
        profile: chronoseal_groupkey::Profile::Hardened,
        transport: Transport::Classical,
        signing: chronoseal_groupkey::OrchestrationSigning::Once,
        installation: chronoseal_groupkey::Installation::Confirmed,
        failed_removal: chronoseal_groupkey::FailedRemoval::Available,
        start: Duration::ZERO,
        changes: Vec::new(),
    });
    // An extended frame of eight bytes: 160 bits.
    assert_eq!(worst(&plan, true), [Ok(US(270 * 2 + 320)), Ok(US(270 + 320))]);
}

#[test]
fn two_messages_of_one_identifier_have_no_bound() {
    let mut plan = segments(2, 1);
    add_message(&mut plan, 9, 8, MS(10), &[(0, 0, 1)]);
    add_message(&mut plan, 9, 8, MS(10), &[(0, 1, 0)]);
    assert!(worst(&plan, true).iter().all(|bound| matches!(bound, Err(NoBound::Set(MessageError::SameId(_))))));
}

#[test]
fn arrivals_without_bound_spoil_the_less_urgent_only() {
    let mut plan = segments(2, 1);
    for id in 1..=3 {
        add_message(&mut plan, id, 8, MS(10), &[(0, 0, 1)]);
    }
    let view = Can::first(&plan).unwrap();
    let all_but_one = |stream: StreamId| Release::at_sender(view, stream).filter(|_| stream.0 != 1);
    let bounds = message_bounds(view, true, all_but_one);
    assert_eq!(bounds[0].1.as_ref().unwrap().worst(), US(270 * 2));
    assert!(bounds[1..].iter().all(|(_, bound)| *bound == Err(NoBound::ArrivalUnbounded)));
}

#[test]
fn where_the_oldest_frame_goes_first_all_wait_for_all() {
    let mut plan = segments(2, 1);
    for id in 1..=3 {
        add_message(&mut plan, id, 8, MS(10), &[(0, 0, 1)]);
    }
    plan.segments[0].facet.get_mut::<CanSegment>().unwrap().fifo_mailboxes = true;
    assert_eq!(worst(&plan, true), [Ok(US(270 * 3)); 3]);
    // What comes at unknown times can be in any queue before any other.
    let view = Can::first(&plan).unwrap();
    let all_but_one = |stream: StreamId| Release::at_sender(view, stream).filter(|_| stream.0 != 1);
    let bounds = message_bounds(view, true, all_but_one);
    assert!(bounds.iter().all(|(_, bound)| *bound == Err(NoBound::ArrivalUnbounded)));
}

#[test]
fn frames_that_need_not_keep_their_order_wait_for_the_whole_busy_period() {
    let mut plan = segments(2, 1);
    add_message(&mut plan, 1, 8, MS(1), &[(0, 0, 1)]);
    plan.nodes[0].driver.max = US(990);
    // Two can be there at once, and each is the second of them only if it is queued second.
    assert_eq!(worst(&plan, true), [Ok(US(990 + 270))]);
    plan.nodes[0].driver.max = MS(1);
    // Two of them, whichever is first, and a bit.
    assert_eq!(worst(&plan, true), [Ok(US(1000 + 270 * 2 + 2))]);
}
