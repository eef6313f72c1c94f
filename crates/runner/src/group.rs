//! A group's members while they are out of it.

use chronoseal_core::{Duration, NodeId, SimTime, StreamId};
use chronoseal_plan::{Plan, StreamPlan};
use chronoseal_results::rows::{Absence, FrameRow};

/// Members that are out of the group. A member is out from its removal, or from the start where it comes in later, until it takes a key
/// into use after it was asked in. Streams that another key protects, or none, are meant for it all the time.
pub(crate) struct Removed(Vec<Out>);

struct Out {
    node: NodeId,
    from: SimTime,
    /// When it is asked in.
    back: Option<SimTime>,
    /// When it took a key into use after that.
    until: SimTime,
    /// What it cannot read meanwhile.
    streams: Vec<StreamId>,
}

impl Removed {
    pub(crate) fn new(plan: &Plan) -> Self {
        let out = |(node, from, back)| {
            let is_its = |stream: &StreamPlan| {
                let is_keyed = plan.protections[usize::from(stream.protection.0)].needs_group_key();
                is_keyed && stream.receivers.contains(&node)
            };
            let streams = plan.streams.iter().zip(0..).filter(|(stream, _)| is_its(stream));
            let streams = streams.map(|(_, index)| StreamId(index)).collect();
            Out { node, from, back, until: SimTime::MAX, streams }
        };
        Self(absences(plan).into_iter().map(out).collect())
    }

    /// A node takes a key into use.
    pub(crate) fn key_installed(&mut self, at: SimTime, node: NodeId) {
        let is_back = |out: &&mut Out| out.node == node && out.back.is_some_and(|back| at >= back);
        self.0.iter_mut().filter(is_back).for_each(|out| out.until = out.until.min(at));
    }

    /// Who is known to be out from when to when.
    pub(crate) fn absences(&self) -> Vec<Absence> {
        let of_one = |out: &Out| {
            let Out { node, from, until, .. } = *out;
            out.streams.iter().map(move |stream| Absence { node, stream: *stream, from, until }).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(of_one).collect()
    }

    /// Leaves out what a member threw away because it could not read it while it was out: that was not meant for it. What was due before
    /// stays, since its sender has told of it.
    pub(crate) fn leave_out(&self, rows: &mut Vec<FrameRow>) {
        if self.0.is_empty() {
            return;
        }
        let out = self.absences();
        let is_due = |row: &FrameRow, absence: &Absence| row.due_at.is_none_or(|due| due >= absence.from);
        rows.retain(|row| {
            let mut unread = out.iter().filter(|absence| absence.explains(row));
            !unread.any(|absence| is_due(row, absence))
        });
    }
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
