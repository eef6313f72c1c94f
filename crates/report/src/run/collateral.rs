//! Who stopped the frames of attacks, and what genuine frames came to meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::{NodeId, StreamId};
use chronoseal_results::{FrameFigures, RunMeta, RunSummary, Stopped};

use super::evidence;
use crate::document::{Cell, Mark, Table};

/// By attack, stream, and who stopped it for what reason. Empty if nobody stopped anything.
pub(super) fn stopped(meta: &RunMeta, figures: &FrameFigures) -> Table {
    let kind = evidence(meta);
    let mut table = Table::new("Who stopped what")
        .words("attack")
        .words("attacker")
        .words("on stream")
        .words("stopped at")
        .words("reason")
        .numbers("stopped", "copies");
    for (Stopped { attack, attacker, stream, at, reason }, copies) in &figures.stopped {
        table.push(vec![
            Cell::text(attack.name()),
            Cell::text(meta.node_name(attacker.0)),
            Cell::text(meta.stream_name(stream.0)),
            Cell::text(meta.node_name(at.0)),
            Cell::text(reason.name()),
            Cell::count(*copies).from(kind),
        ]);
    }
    table
}

/// By stream, what its account says. Empty if nothing was attacked.
pub(super) fn collateral(meta: &RunMeta, summary: &RunSummary, figures: &FrameFigures) -> Table {
    let kind = evidence(meta);
    let mut table = Table::new("What genuine frames came to under attack")
        .words("stream")
        .numbers("due", "copies")
        .numbers("in time", "copies")
        .numbers("late", "copies")
        .numbers("lost", "copies")
        .words("lost at, and why")
        .footnote(
            "Of the whole run, but for start-up and what was on its way at the end. They were lost in a run that was attacked, which does not \
             say that the attack is why.",
        );
    if summary.attack_attempts() == 0 {
        return table;
    }
    let places: BTreeMap<(StreamId, &str), &BTreeSet<NodeId>> =
        figures.lost_at.iter().map(|((stream, reason), at)| ((*stream, reason.name()), at)).collect();
    for (id, stream) in (0..).map(StreamId).zip(&summary.streams) {
        let losses: Vec<(&str, u64)> =
            stream.losses().filter(|(reason, _)| !matches!(*reason, "late" | "overdue")).collect();
        let lost: u64 = losses.iter().map(|(_, count)| count).sum();
        let why = losses.iter().map(|(reason, count)| {
            let at = places.get(&(id, *reason)).map(|at| listed(meta, at)).unwrap_or_default();
            format!("{at}{reason}: {count}")
        });
        let why: Vec<String> = why.collect();
        let bad = |count: u64| Cell::count(count).from(kind).marked(if count > 0 { Mark::Bad } else { Mark::Good });
        table.push(vec![
            Cell::text(&stream.name),
            Cell::count(stream.due.saturating_sub(stream.startup + stream.in_flight)).from(kind),
            Cell::count(stream.delivered).from(kind),
            bad(stream.late + stream.overdue),
            bad(lost),
            Cell::text(if why.is_empty() { "nothing was lost".to_owned() } else { why.join("; ") }),
        ]);
    }
    table
}

/// Where frames were thrown away for one reason.
fn listed(meta: &RunMeta, places: &BTreeSet<NodeId>) -> String {
    let names: Vec<String> = places.iter().map(|node| meta.node_name(node.0)).collect();
    format!("{}, ", names.join(" and "))
}
