//! The network of a run.

use chronoseal_results::{NodeRole, RunMeta, RunSummary};

use super::evidence;
use crate::document::{Topology, TopologyLink, TopologyNode, number_text};

/// Nodes that a drawing shows at most; of larger networks the table of links is enough.
const NODES_MAX: usize = 200;

/// The drawing, of a run that knows its links or has a medium that several share.
pub(super) fn topology(meta: &RunMeta, summary: &RunSummary) -> Option<Topology> {
    let mut nodes: Vec<TopologyNode> = meta
        .nodes
        .iter()
        .map(|node| TopologyNode {
            name: node.name.clone(),
            what: what(node.role).to_owned(),
            is_hub: node.role == NodeRole::Switch,
        })
        .collect();
    let mut links = Vec::new();
    for (number, segment) in (0u16..).zip(&meta.segments) {
        for (index, link) in (0u16..).zip(&segment.links) {
            let busy = summary.links.iter().find(|one| (one.segment, one.link) == (number, index));
            let share = |ns: i64| ns as f64 / summary.passed_ns.max(1) as f64;
            links.push(TopologyLink {
                ends: link.ends.map(usize::from),
                rate: rate(link.rate_bps),
                used: busy.map(|busy| busy.busy_ns.map(share)),
                fails_at: link.fails_at_ns.map(|ns| format!("{} ms", number_text(ns as f64 / 1e6, 0))),
            });
        }
        if !segment.members.is_empty() {
            let medium = nodes.len();
            let what = format!("{} segment", segment.kind);
            nodes.push(TopologyNode { name: segment.name.clone(), what, is_hub: true });
            links.extend(segment.members.iter().map(|member| TopologyLink {
                ends: [usize::from(*member), medium],
                rate: String::new(),
                used: None,
                fails_at: None,
            }));
        }
    }
    links.retain(|link| link.ends.iter().all(|end| *end < nodes.len()));
    // What hangs on nothing, such as the switch of a segment without one, is not drawn.
    if links.is_empty() || nodes.len() > NODES_MAX {
        return None;
    }
    let is_used = links.iter().any(|link| link.used.is_some());
    Some(Topology {
        caption: "Who is linked to whom".into(),
        nodes,
        links,
        evidence: is_used.then(|| evidence(meta)),
        footnotes: Vec::new(),
    })
}

const fn what(role: NodeRole) -> &'static str {
    match role {
        NodeRole::Station => "station",
        NodeRole::Attacker => "attacker",
        NodeRole::Switch => "switch",
    }
}

/// A rate in the unit that people say it in.
fn rate(bps: u64) -> String {
    let (value, unit) = if bps >= 1_000_000_000 { (bps as f64 / 1e9, "Gbit/s") } else { (bps as f64 / 1e6, "Mbit/s") };
    let digits = if value.fract() == 0.0 { 0 } else { 1 };
    format!("{} {unit}", number_text(value, digits))
}
