//! The key that a group comes to.

use chronoseal_results::{RunMeta, RunSummary};

use super::evidence;
use crate::document::{Block, Cell, Mark, Section, Table};

fn ms(ns: i64) -> f64 {
    ns as f64 / 1e6
}

/// Whether the group came to its key, and that in words; `None` without a group.
pub(super) fn answer(meta: &RunMeta, summary: &RunSummary) -> Option<(bool, String)> {
    let (group, found) = (meta.group.as_ref()?, summary.group.as_ref()?);
    let nodes = group.members.len() + 1;
    let text = match found.established_after_ns(group) {
        Some(ns) => format!("All {nodes} nodes shared a key {:.3} ms after the exchange began", ms(ns)),
        None => {
            let have = found.keys.first().map_or(0, |key| key.installed_ns.len());
            format!("Not all nodes came to a key: {have} of {nodes} had one at the end")
        }
    };
    Some((found.is_established(group), text))
}

/// More about it, a sentence each.
pub(super) fn points(meta: &RunMeta, summary: &RunSummary) -> Vec<String> {
    let (Some(group), Some(found)) = (&meta.group, &summary.group) else { return Vec::new() };
    let nodes = group.members.len() + 1;
    let mut points = Vec::new();
    for key in found.keys.iter().skip(1) {
        points.push(format!(
            "Key {} was in use at {} of {nodes} nodes {:.3} ms into the run.",
            key.epoch,
            key.installed_ns.len(),
            ms(key.complete_ns())
        ));
    }
    for (reason, count) in found.aborted.iter().chain(&found.refused) {
        points.push(format!("Given up {count} times: {reason}."));
    }
    if found.withheld > 0 {
        points.push(format!(
            "{} messages were due before there was a key to protect them with, and were not sent.",
            found.withheld
        ));
    }
    points
}

/// Who had which key when; nothing without a group.
pub(super) fn section(meta: &RunMeta, summary: &RunSummary) -> Option<Section> {
    let (group, found) = (meta.group.as_ref()?, summary.group.as_ref()?);
    let mut table = Table::new(format!(
        "When each node took each key into use, from the start of the run: {}, {}, {}",
        group.scheme, group.suite, group.profile
    ))
    .words("node")
    .words("role");
    for key in &found.keys {
        table = table.numbers(format!("key {}", key.epoch), "ms");
    }
    for node in std::iter::once(group.orchestrator).chain(group.members.iter().copied()) {
        let role = if node == group.orchestrator { "orchestrator" } else { "member" };
        let mut row = vec![Cell::text(meta.node_name(node)), Cell::text(role)];
        row.extend(found.keys.iter().map(|key| match key.installed_ns.get(&node) {
            Some(ns) => Cell::number(ms(*ns), 3).from(evidence(meta)),
            None => Cell::text("never").marked(Mark::Warn).titled("it did not come to this key"),
        }));
        table.push(row);
    }
    let mut section = Section::new("Group key").with(Block::Table(table));
    if !found.aborted.is_empty() || !found.refused.is_empty() {
        let mut table = Table::new("What was given up, and why").words("what").words("reason").numbers("times", "");
        let aborted = found.aborted.iter().map(|(reason, count)| ("exchange", reason, count));
        for (what, reason, count) in aborted.chain(found.refused.iter().map(|(reason, count)| ("key", reason, count))) {
            table.push(vec![
                Cell::text(what),
                Cell::text(reason.clone()),
                Cell::count(*count).from(evidence(meta)).marked(Mark::Warn),
            ]);
        }
        section = section.with(Block::Table(table));
    }
    Some(section)
}
