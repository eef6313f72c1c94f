//! Deadlines, held against when frames were due and accepted.

use std::collections::BTreeMap;

use chronoseal_core::{NodeId, SimTime, StreamId};
use chronoseal_plan::{DeadlineKind, Plan, StreamPlan};
use chronoseal_results::rows::{FrameRow, Outcome};

/// The stream of an accepted frame that has a deadline.
fn judged<'p>(plan: &'p Plan, row: &FrameRow) -> Option<&'p StreamPlan> {
    let is_accepted = row.attack.is_none() && matches!(row.outcome, Outcome::Delivered | Outcome::Late);
    let stream = plan.streams.get(row.stream.index()).filter(|_| is_accepted)?;
    stream.deadline_of(row.at).map(|_| stream)
}

/// Judges the deadlines of streams, from when a frame was due to when its receiver had accepted it.
pub(super) fn judge(plan: &Plan, rows: &mut [FrameRow]) {
    let mut aging: BTreeMap<(StreamId, NodeId), Vec<&mut FrameRow>> = BTreeMap::new();
    for row in rows {
        let Some(stream) = judged(plan, row) else { continue };
        match stream.deadline_kind {
            DeadlineKind::Reaction => judge_until(stream, row, row.accepted_at),
            DeadlineKind::Age => aging.entry((row.stream, row.at)).or_default().push(row),
        }
    }
    for ((id, _), mut rows) in aging {
        rows.sort_by_key(|row| row.accepted_at);
        // The last one of a run is followed by none.
        let next: Vec<Option<SimTime>> = rows.iter().skip(1).map(|row| row.accepted_at).collect();
        for (row, until) in rows.into_iter().zip(next) {
            judge_until(&plan.streams[id.index()], row, until);
        }
    }
}

/// A frame is late if its deadline was over by then.
fn judge_until(stream: &StreamPlan, row: &mut FrameRow, until: Option<SimTime>) {
    let limit = row.due_at.zip(stream.deadline_of(row.at)).map(|(due, deadline)| due + deadline);
    if limit.zip(until).is_some_and(|(limit, until)| until > limit) {
        row.outcome = Outcome::Late;
    }
}

/// Takes out the frames whose deadline is about when the next one is accepted, which is not known yet.
pub(super) fn take_unjudged(plan: &Plan, rows: &mut Vec<FrameRow>) -> Vec<FrameRow> {
    if plan.streams.iter().all(|stream| stream.deadline_kind != DeadlineKind::Age) {
        return Vec::new();
    }
    let mut last: BTreeMap<(StreamId, NodeId), (Option<SimTime>, usize)> = BTreeMap::new();
    for (row, place) in rows.iter().zip(0..) {
        if judged(plan, row).is_some_and(|stream| stream.deadline_kind == DeadlineKind::Age) {
            let known = last.entry((row.stream, row.at)).or_insert((row.accepted_at, place));
            *known = (*known).max((row.accepted_at, place));
        }
    }
    if last.is_empty() {
        return Vec::new();
    }
    let mut places: Vec<usize> = last.into_values().map(|(_, place)| place).collect();
    places.sort_unstable();
    let unjudged = places.iter().map(|place| rows[*place]).collect();
    let mut place = 0..;
    rows.retain(|_| place.next().is_none_or(|place| places.binary_search(&place).is_err()));
    unjudged
}
