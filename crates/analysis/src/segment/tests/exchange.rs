//! Which streams a key exchange can make later.

use chronoseal_crypto::suite::SuiteName;
use chronoseal_groupkey::{FailedRemoval, Installation, OrchestrationSigning, Profile, Scheme, Transport};

use super::*;
use crate::segment::losses::Cause;

/// Nodes 0 to 2 of bus 0 agree on a key.
fn with_group(mut plan: Plan) -> Plan {
    plan.group_key = Some(GroupKeyPlan {
        orchestrator: NodeId(0),
        members: vec![NodeId(1), NodeId(2)],
        segments: vec![SegmentId(0)],
        suite: SuiteName::FourQ,
        scheme: Scheme::FullTree,
        profile: Profile::Hardened,
        transport: Transport::Classical,
        signing: OrchestrationSigning::PerStep,
        installation: Installation::Confirmed,
        failed_removal: FailedRemoval::Available,
        start: Duration::ZERO,
        changes: Vec::new(),
    });
    plan
}

/// By segment, and by stream where a stream is meant alone.
fn told(plan: &Plan) -> Vec<(u16, Option<u16>)> {
    let risks = bounds(plan, &[], BOUNDS).risks.into_iter();
    let own = risks.filter(|risk| matches!(risk.cause, Cause::KeyExchange { on: SegmentId(0) }));
    own.map(|risk| (risk.segment.0, risk.stream.map(|stream| stream.0))).collect()
}

#[test]
fn a_key_exchange_makes_late_what_it_meets_and_what_that_meets() {
    let mut plan = segments(8, 4);
    // On the bus of the exchange; from a member on bus 1; beside that; from there on to bus 2; and far from all of it on bus 3.
    add_message(&mut plan, 1, 8, MS(10), &[(0, 3, 4)]);
    add_message(&mut plan, 2, 8, MS(10), &[(1, 1, 3)]);
    add_message(&mut plan, 3, 8, MS(10), &[(1, 4, 5)]);
    add_message(&mut plan, 4, 8, MS(10), &[(1, 4, 5), (2, 5, 6)]);
    add_message(&mut plan, 5, 8, MS(10), &[(3, 7, 7)]);
    assert_eq!(told(&plan), []);
    let plan = with_group(plan);
    assert_eq!(told(&plan), [(0, None), (1, Some(1)), (1, Some(2)), (1, Some(3))]);
}

#[test]
fn what_only_ends_at_a_participant_makes_nothing_else_late() {
    let mut plan = segments(6, 2);
    add_message(&mut plan, 1, 8, MS(10), &[(1, 3, 2)]);
    add_message(&mut plan, 2, 8, MS(10), &[(1, 4, 5)]);
    assert_eq!(told(&with_group(plan)), [(0, None), (1, Some(0))]);
}

#[test]
fn who_is_thrown_out_of_the_group_sends_frames_that_nobody_takes() {
    let mut plan = segments(5, 1);
    let kind = ProtectionKind::Secured {
        profile: chronoseal_frameauth::secoc::profile_2(),
        key: KeySource::Group,
        identity: Identity::Number,
    };
    plan.protections.push(ProtectionPlan { name: "secoc".into(), kind });
    for (id, from, to) in [(1, 1, 0), (2, 2, 1), (3, 2, 0)] {
        add_message(&mut plan, id, 4, MS(10), &[(0, from, to)]).protection = ProtectionId(1);
    }
    add_message(&mut plan, 4, 4, MS(10), &[(0, 1, 0)]);
    let mut plan = with_group(plan);
    let change = |at, member, kind| GroupChange { at, members: vec![NodeId(member)], kind };
    let lost = |plan: &Plan| {
        let risks = bounds(plan, &[], BOUNDS).risks.into_iter();
        let own = risks.filter(|risk| matches!(risk.cause, Cause::ThrownOut { .. }));
        own.filter_map(|risk| Some(risk.stream?.0)).collect::<Vec<u16>>()
    };
    let changes = |plan: &mut Plan, changes: Vec<GroupChange>| {
        plan.group_key.iter_mut().for_each(|group| group.changes = changes.clone());
        lost(plan)
    };
    assert_eq!(changes(&mut plan, Vec::new()), [0_u16; 0]);
    // Of node 1 only what the key protects; what it receives is not meant for it any more.
    assert_eq!(changes(&mut plan, vec![change(MS(50), 1, ChangeKind::Remove)]), [0]);
    // What is sent to a node that was out itself is not judged.
    assert_eq!(
        changes(&mut plan, vec![change(MS(20), 1, ChangeKind::Remove), change(MS(50), 2, ChangeKind::Revoke)]),
        [0, 2]
    );
    // One that comes in later waits for its first key.
    assert_eq!(changes(&mut plan, vec![change(MS(50), 1, ChangeKind::Merge)]), [0_u16; 0]);
    // Taken back before its next frame.
    let back = change(MS(55), 1, ChangeKind::Add);
    assert_eq!(changes(&mut plan, vec![change(MS(50), 1, ChangeKind::Remove), back]), [0_u16; 0]);
}
