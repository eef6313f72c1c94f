//! A group's members while they are out of it.

use chronoseal_core::{DiscardReason, EventKind, NodeId, SimTime};
use chronoseal_results::rows::{EventRow, Outcome, RunRows};
use chronoseal_scenario::plan::{GroupChange, Plan};

/// Leaves out what a member threw away because it could not read it while it was out of the group: that was not meant
/// for it. It is out from its removal until it takes a key into use after it was asked back. The events stay.
pub(crate) fn leave_out_removed(plan: &Plan, rows: &mut RunRows) {
    let removals = removals(plan);
    let events = &rows.events;
    let out: Vec<(NodeId, SimTime, SimTime)> = removals
        .into_iter()
        .map(|(node, from, back)| {
            let has_key = |row: &&EventRow| {
                row.node == node
                    && row.event.kind == EventKind::KeyInstalled
                    && back.is_some_and(|back| row.time >= back)
            };
            (node, from, events.iter().filter(has_key).map(|row| row.time).min().unwrap_or(SimTime::MAX))
        })
        .collect();
    rows.frames.retain(|row| {
        let at = row.received_at.or(row.sent_at).unwrap_or(SimTime::ZERO);
        let is_out = out.iter().any(|(node, from, until)| row.at == *node && at >= *from && at < *until);
        !(is_out && row.outcome == Outcome::Discarded(DiscardReason::TagMismatch))
    });
    rows.absences = out;
}

fn removals(plan: &Plan) -> Vec<(NodeId, SimTime, Option<SimTime>)> {
    let changes = plan.group_key.as_ref().map_or(&[][..], |group| &group.changes);
    let at = |change: &GroupChange| SimTime::ZERO + change.at;
    changes
        .iter()
        .enumerate()
        .filter(|(_, change)| !change.returns())
        .map(|(index, change)| {
            let back = changes[index..].iter().find(|later| later.returns() && later.member == change.member);
            (change.member, at(change), back.map(at))
        })
        .collect()
}
