//! A group's members while they are out of it.

use chronoseal_core::{DiscardReason, Duration, EventKind, NodeId, SimTime, StreamId};
use chronoseal_plan::Plan;
use chronoseal_results::rows::{Absence, EventRow, Outcome, RunRows};

/// Leaves out what a member threw away because it could not read it while it was out of the group: that was not meant
/// for it. It is out from its removal, or from the start where it comes in later, until it takes a key into use after it
/// was asked in. Streams that another key protects, or none, are meant for it all the time. The events stay.
pub(crate) fn leave_out_removed(plan: &Plan, rows: &mut RunRows) {
    let events = &rows.events;
    let mut out = Vec::new();
    for (node, from, back) in absences(plan) {
        let has_key = |row: &&EventRow| {
            row.node == node && row.event.kind == EventKind::KeyInstalled && back.is_some_and(|back| row.time >= back)
        };
        let until = events.iter().filter(has_key).map(|row| row.time).min().unwrap_or(SimTime::MAX);
        for (index, stream) in plan.streams.iter().enumerate() {
            let is_keyed = plan.protections[usize::from(stream.protection.0)].needs_group_key();
            if is_keyed && stream.receivers.contains(&node) {
                out.push(Absence { node, stream: StreamId(index as u16), from, until });
            }
        }
    }
    rows.frames.retain(|row| {
        let at = row.received_at.or(row.sent_at).unwrap_or(SimTime::ZERO);
        // It has the key of before, or none.
        let is_unread = matches!(row.outcome, Outcome::Discarded(DiscardReason::TagMismatch | DiscardReason::NoKey));
        !(is_unread && out.iter().any(|absence| absence.covers(row.at, row.stream, at)))
    });
    rows.absences = out;
}

/// Who is out from when, and when it is asked in.
fn absences(plan: &Plan) -> Vec<(NodeId, SimTime, Option<SimTime>)> {
    let Some(group) = &plan.group_key else { return Vec::new() };
    let at = |after: Duration| SimTime::ZERO + after;
    let mut absences = Vec::new();
    for member in &group.members {
        absences.extend(group.absences(*member).map(|(from, until)| (*member, at(from), until.map(at))));
    }
    absences
}
