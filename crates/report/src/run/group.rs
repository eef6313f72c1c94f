//! The key that a group comes to.

use chronoseal_results::{ChangeMeta, ChangeSummary, GroupMeta, KeySummary, RunMeta, RunSummary};

use super::evidence;
use crate::counted::{counted, were};
use crate::document::{Block, Cell, Mark, Section, Table};

fn ms(ns: i64) -> f64 {
    ns as f64 / 1e6
}

/// Nodes that a sentence names one by one.
const NAMED_MAX: usize = 12;

/// Whether the group came to its key and every planned change of it came about, and that in words; `None` without a group.
pub(super) fn answer(meta: &RunMeta, summary: &RunSummary) -> Option<(bool, String)> {
    let (group, found) = (meta.group.as_ref()?, summary.group.as_ref()?);
    let nodes = group.founders().count() + 1;
    let text = match found.established_after_ns(group) {
        Some(ns) => format!("All {nodes} nodes shared a key {:.3} ms after the exchange began", ms(ns)),
        None => {
            let have = found.keys.first().map_or(0, |key| key.installed_ns.len());
            format!("Not all nodes came to a key: {have} of {nodes} had one at the end")
        }
    };
    let failed: Vec<_> = group.changes.iter().zip(&found.changes).filter(|(_, change)| !change.held()).collect();
    let text = match failed[..] {
        [] => text,
        [(planned, found)] => format!("{text}, but {}", what_failed(meta, planned, found)),
        [(planned, found), ref others @ ..] => {
            let (first, count) = (what_failed(meta, planned, found), others.len());
            format!("{text}, but {first}, and {count} more planned changes failed")
        }
    };
    Some((found.is_established(group) && failed.is_empty(), text))
}

/// A planned change that did not come about, in a clause.
fn what_failed(meta: &RunMeta, planned: &ChangeMeta, found: &ChangeSummary) -> String {
    let who = names(meta, &planned.members().collect::<Vec<_>>());
    let at = ms(planned.at_ns) / 1e3;
    let what = match planned {
        ChangeMeta { merges: true, .. } => "merge",
        ChangeMeta { admits: true, .. } => "return",
        ChangeMeta { revokes: true, .. } => "revocation",
        _ => "removal",
    };
    let outcome = match (&found.refused, found.epoch) {
        (Some(reason), _) => format!("failed ({reason})"),
        (None, None) => "had not ended when the run did".to_owned(),
        (None, Some(epoch)) if found.kept_in => format!("failed, for {who} has key {epoch} as well"),
        (None, Some(epoch)) => format!("was not finished: {} lack key {epoch}", names(meta, &found.lacking)),
    };
    let who_has_what = match (&found.exposed[..], &found.holding[..]) {
        ([], []) => String::new(),
        ([], holding) => format!("; a key of before is still in use at {}", names(meta, holding)),
        (exposed, _) => format!("; the key that {who} has is still in use at {}", names(meta, exposed)),
    };
    format!("the {what} of {who} at {at:.3} s {outcome}{who_has_what}")
}

/// Nodes by their names.
fn names(meta: &RunMeta, nodes: &[u16]) -> String {
    let mut named: Vec<String> = nodes.iter().take(NAMED_MAX).map(|node| meta.node_name(*node)).collect();
    if let Some(more @ 1..) = nodes.len().checked_sub(NAMED_MAX) {
        named.push(format!("{more} more"));
    }
    match &named[..] {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => named.concat(),
    }
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
    for (planned, found) in group.changes.iter().zip(&found.changes).filter(|(_, change)| !change.held()).skip(1) {
        points.push(format!("Also, {}.", what_failed(meta, planned, found)));
    }
    for (reason, count) in found.aborted.iter().chain(&found.refused) {
        points.push(format!("Given up {}: {reason}.", counted(*count, "time")));
    }
    if found.withheld > 0 {
        points.push(format!(
            "{} {1} due before there was a key to protect them with, and {1} not sent.",
            counted(found.withheld, "message"),
            were(found.withheld)
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
            None if group.merge_of(node).is_some_and(|merge| key.complete_ns() <= merge.at_ns) => {
                Cell::text("not in yet").titled("it comes into the group later")
            }
            None if is_removed(group, node, key) => Cell::text("removed").titled("it is not to have this key"),
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

/// True if a node had been thrown out of the group, and had not been asked in again, when a key came into use.
fn is_removed(group: &GroupMeta, node: u16, key: &KeySummary) -> bool {
    let since = key.installed_ns.values().copied().min();
    let is_before = |change: &&ChangeMeta| change.members().any(|member| member == node) && Some(change.at_ns) <= since;
    group.changes.iter().filter(is_before).max_by_key(|change| change.at_ns).is_some_and(|change| !change.admits)
}
