//! What a key exchange makes later: its frames and signatures are not bounded, and they go before others.
//!
//! The identifiers of an exchange begin with its step (`groupkey::Step`), so they win against most of those that streams have. A
//! participant computes signatures meanwhile, and a processor never interrupts what it has begun. How many frames and how much
//! computing an exchange takes on a bus with other traffic, and how often something is repeated, is simulated and has no bound here.
//! So nothing is bounded that meets them, or that meets what they have made later.

use std::collections::BTreeSet;

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_plan::{EXCHANGE_IDS, GroupKeyPlan, HopPlan, Plan, SegmentId, StreamPlan};

use super::losses::{Cause, Risk};
use super::processor::Jobs;

/// Who can be kept waiting.
struct Touched {
    segments: BTreeSet<SegmentId>,
    nodes: BTreeSet<NodeId>,
}

/// Every stream that a key exchange can make later, at the first segment where it can.
pub(super) fn risks(plan: &Plan, jobs: &Jobs<'_>) -> Vec<Risk> {
    let Some(group) = &plan.group_key else { return Vec::new() };
    let passes_it = |node: NodeId| {
        let bridges = plan.nodes[node.index()].gateway.as_ref().map(|gateway| &gateway.bridges);
        bridges.is_some_and(|filters| filters.iter().any(|filter| filter.covers(&EXCHANGE_IDS)))
    };
    let nodes = (0..plan.nodes.len()).map(|index| NodeId(index as u16));
    let takes_part = |node: &NodeId| *node == group.orchestrator || group.members.contains(node) || passes_it(*node);
    let mut touched =
        Touched { segments: group.segments.iter().copied().collect(), nodes: nodes.filter(takes_part).collect() };
    loop {
        let before = (touched.segments.len(), touched.nodes.len());
        let all = (0..plan.streams.len()).map(|index| StreamId(index as u16));
        let late: Vec<(StreamId, SegmentId)> =
            all.filter_map(|stream| Some((stream, touched.by(plan, jobs, stream)?))).collect();
        if before == (touched.segments.len(), touched.nodes.len()) {
            // All streams of its own segments are concerned alike.
            let cause = |on| Cause::KeyExchange { on };
            let own = group.segments.iter().map(|on| Risk { segment: *on, stream: None, cause: cause(*on) });
            let is_elsewhere = |stream: StreamId| {
                group.segments.iter().all(|segment| plan.streams[stream.index()].on(*segment).is_none())
            };
            let first = group.segments.first().copied();
            let others = late.into_iter().filter(|(stream, _)| is_elsewhere(*stream)).zip(first.into_iter().cycle());
            let others = others.map(|((stream, segment), on)| Risk { segment, stream: Some(stream), cause: cause(on) });
            return own.chain(others).collect();
        }
    }
}

/// Streams under the group key whose sender the scenario throws out of the group: it goes on with the key that it had, and whoever
/// stays has another one.
pub(super) fn thrown_out(plan: &Plan) -> Vec<Risk> {
    let Some(group) = &plan.group_key else { return Vec::new() };
    let of_stream = |(index, stream): (usize, &StreamPlan)| {
        let hit = stream.hops.iter().find_map(|hop| {
            let (node, at) = thrown_out_on(plan, group, (stream, hop))?;
            Some((hop.segment, Cause::ThrownOut { node, at }))
        });
        hit.map(|(segment, cause)| Risk { segment, stream: Some(StreamId(index as u16)), cause })
    };
    plan.streams.iter().enumerate().filter_map(of_stream).collect()
}

/// Streams under the group key with an end that is not in the group: it never has a key, and seals nothing and accepts nothing.
pub(super) fn outsiders(plan: &Plan) -> Vec<Risk> {
    let Some(group) = &plan.group_key else { return Vec::new() };
    let is_out = |node: &NodeId| *node != group.orchestrator && !group.members.contains(node);
    let mut risks = Vec::new();
    for (index, stream) in plan.streams.iter().enumerate() {
        for hop in stream.hops.iter().filter(|hop| plan.protection_on(stream, hop).needs_group_key()) {
            let (seals, open) = ends_under_seal(stream, hop);
            let goes_on = |node: NodeId| hop.protection.is_some() && stream.goes_on(hop, node);
            let risk = |node: NodeId, receiver| Risk {
                segment: hop.segment,
                stream: Some(StreamId(index as u16)),
                cause: Cause::NotInGroup { node, receiver },
            };
            if is_out(&seals) {
                risks.push(risk(seals, None));
            }
            let deaf = open.iter().filter(|node| is_out(node));
            risks.extend(deaf.map(|node| risk(*node, (!goes_on(*node)).then_some(*node))));
        }
    }
    risks
}

/// Who seals the frames of a hop, and who opens them.
fn ends_under_seal<'p>(stream: &'p StreamPlan, hop: &'p HopPlan) -> (NodeId, &'p [NodeId]) {
    match hop.protection {
        Some(_) => (hop.from, &hop.to),
        None => (stream.sender, &stream.receivers),
    }
}

/// Who seals the frames of a hop under the group key, and when it is thrown out for longer than from one frame to the next while all
/// who open them stay.
fn thrown_out_on(
    plan: &Plan,
    group: &GroupKeyPlan,
    (stream, hop): (&StreamPlan, &HopPlan),
) -> Option<(NodeId, Duration)> {
    if !plan.protection_on(stream, hop).needs_group_key() {
        return None;
    }
    let (seals, open) = ends_under_seal(stream, hop);
    if open.iter().any(|node| group.absences(*node).next().is_some()) {
        return None;
    }
    let out = group.removals(seals).find(|(from, until)| until.unwrap_or(plan.duration) - *from > stream.period);
    out.map(|(from, _)| (seals, from))
}

impl Touched {
    /// The first segment on which a stream can be made later, or behind which it can; what it meets from there on is touched as well.
    fn by(&mut self, plan: &Plan, jobs: &Jobs<'_>, stream: StreamId) -> Option<SegmentId> {
        let hops = &plan.streams[stream.index()].hops;
        let mut is_late = vec![false; hops.len()];
        let mut first = None;
        for (index, hop) in hops.iter().enumerate() {
            let was_late = hop.previous.is_some_and(|previous| is_late[usize::from(previous)]);
            is_late[index] = was_late || self.nodes.contains(&hop.from) || self.segments.contains(&hop.segment);
            if is_late[index] {
                // A slot keeps what comes late away from all others.
                if !jobs.is_in_slots(hop) {
                    self.segments.insert(hop.segment);
                }
                self.nodes.extend(&hop.to);
            }
            if is_late[index] || hop.to.iter().any(|node| self.nodes.contains(node)) {
                first = first.or(Some(hop.segment));
            }
        }
        first
    }
}
