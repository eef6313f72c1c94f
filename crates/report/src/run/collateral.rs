//! Who stopped the frames of attacks, and what genuine frames came to meanwhile.

use std::collections::BTreeMap;

use chronoseal_core::{EventKind, SimTime, StreamId};
use chronoseal_results::{FrameRow, Outcome, RunMeta, RunRows};

use super::evidence;
use crate::document::{Cell, Mark, Table};

/// By attack, stream, and who stopped it for what reason. Empty if nobody stopped anything, or if rows were not kept.
pub(super) fn stopped(meta: &RunMeta, rows: &RunRows) -> Table {
    let kind = evidence(meta);
    let mut counted: BTreeMap<_, u64> = BTreeMap::new();
    for row in &rows.frames {
        let (Some(attack), Outcome::Discarded(reason)) = (row.attack, row.outcome) else { continue };
        *counted.entry((attack, row.sender, row.stream, row.at, reason)).or_default() += 1;
    }
    let mut table = Table::new("Who stopped what")
        .words("attack")
        .words("attacker")
        .words("on stream")
        .words("stopped at")
        .words("reason")
        .numbers("stopped", "copies");
    for ((attack, sender, stream, at, reason), copies) in counted {
        table.push(vec![
            Cell::text(attack.name()),
            Cell::text(meta.node_name(sender.0)),
            Cell::text(meta.stream_name(stream.0)),
            Cell::text(meta.node_name(at.0)),
            Cell::text(reason.name()),
            Cell::count(copies).from(kind),
        ]);
    }
    table
}

/// What one stream's genuine frames came to.
#[derive(Default)]
struct Fate {
    copies: u64,
    in_time: u64,
    late: u64,
    lost: u64,
    /// By place and reason.
    why: BTreeMap<String, u64>,
}

/// By stream, from the first attempt on. Empty if nothing was attacked, or if rows were not kept.
pub(super) fn collateral(meta: &RunMeta, rows: &RunRows) -> Table {
    let kind = evidence(meta);
    let mut table = Table::new("What genuine frames came to under attack")
        .words("stream")
        .numbers("frames", "copies")
        .numbers("in time", "copies")
        .numbers("late", "copies")
        .numbers("lost", "copies")
        .words("lost at, and why")
        .footnote(
            "Frames that were due from the first attempt of the first attack on. They were lost while the run was attacked, which does \
             not say that the attack is why. A frame that was still in a queue when the run ended is not among them.",
        );
    let Some(first) = first_attempt(rows) else { return table };
    let mut fates: BTreeMap<StreamId, Fate> = BTreeMap::new();
    let genuine = rows.frames.iter().filter(|row| row.attack.is_none());
    for row in genuine.filter(|row| row.due_at.or(row.sent_at).is_some_and(|at| at >= first)) {
        let fate = fates.entry(row.stream).or_default();
        fate.copies += 1;
        match row.outcome {
            Outcome::Delivered => fate.in_time += 1,
            Outcome::Late => fate.late += 1,
            Outcome::Missing | Outcome::Discarded(_) => {
                fate.lost += 1;
                *fate.why.entry(reason(meta, row)).or_default() += 1;
            }
            // It was on its way when the run ended.
            Outcome::Unaccounted => {}
        }
    }
    for (stream, fate) in fates {
        let why: Vec<String> = fate.why.iter().map(|(why, copies)| format!("{why}: {copies}")).collect();
        let bad = |count: u64| Cell::count(count).from(kind).marked(if count > 0 { Mark::Bad } else { Mark::Good });
        table.push(vec![
            Cell::text(meta.stream_name(stream.0)),
            Cell::count(fate.copies).from(kind),
            Cell::count(fate.in_time).from(kind),
            bad(fate.late),
            bad(fate.lost),
            Cell::text(if why.is_empty() { "nothing was lost".to_owned() } else { why.join("; ") }),
        ]);
    }
    table
}

fn first_attempt(rows: &RunRows) -> Option<SimTime> {
    let told = rows.events.iter().filter(|row| matches!(row.event.kind, EventKind::Attacked(_))).map(|row| row.time);
    let sent = rows.frames.iter().filter(|row| row.attack.is_some()).filter_map(|row| row.sent_at);
    told.chain(sent).min()
}

fn reason(meta: &RunMeta, row: &FrameRow) -> String {
    let why = row.outcome.reason().map_or("missing", |reason| reason.name());
    format!("{}, {why}", meta.node_name(row.at.0))
}
