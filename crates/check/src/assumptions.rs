//! What a bound takes for granted and a reader may not know: processors on which tags cost nothing, segments that a stream crosses
//! without one, recordings, and clocks of which it says nothing.

use std::collections::BTreeSet;

use chronoseal_analysis::candidates::{ShortTag, short_tags};
use chronoseal_core::NodeId;
use chronoseal_plan::{Can, Ethernet, HopPlan, Plan, ProtectionKind, SegmentId, StreamPlan, Sync};

/// Names that a sentence lists.
const NAMED_MAX: usize = 6;

/// A sentence each.
pub(crate) fn of(plan: &Plan) -> Vec<String> {
    let mut sentences = Vec::new();
    let free: BTreeSet<NodeId> = plan.streams.iter().flat_map(|stream| free_nodes(plan, stream)).collect();
    if !free.is_empty() {
        let names = listed(free.iter().map(|node| plan.nodes[node.index()].name.clone()));
        sentences.push(format!(
            "No platform says what a tag costs on {names}: it is made and checked there in no time. Give them a `platform`."
        ));
    }
    sentences.extend(tags(plan));
    let open: BTreeSet<(usize, &str)> =
        plan.streams.iter().enumerate().flat_map(|(at, stream)| bare(plan, at, stream)).collect();
    if !open.is_empty() {
        let pairs = open.iter().map(|(stream, segment)| format!("`{}` on {segment}", plan.streams[*stream].name));
        sentences.push(format!("Protected elsewhere on their way, these have no tag here: {}.", listed(pairs)));
    }
    let on_buses = plan.segment_ids().filter_map(|id| Can::of(plan, id)).flat_map(Can::recordings);
    let recordings: BTreeSet<&str> = on_buses.map(|(_, stream, _)| stream.name.as_str()).collect();
    if !recordings.is_empty() {
        let names = listed(recordings.iter().map(|name| format!("`{name}`")));
        sentences.push(format!(
            "Beside others on a bus, frames of {names} count with the median distance of each identifier, which is assumed of a recording."
        ));
    }
    let unbounded = unbounded_clocks(plan);
    if !unbounded.is_empty() {
        let names = unbounded.iter().map(|segment| format!("`{}`", plan.segments[segment.index()].name));
        sentences.push(format!(
            "How far the clocks of {} are apart is not bounded (IEEE 802.1AS): a run in which that is more than `precision` fails, whatever \
             holds of its streams.",
            listed(names)
        ));
    }
    sentences
}

/// Segments whose clocks nothing bounds on paper.
pub(crate) fn unbounded_clocks(plan: &Plan) -> Vec<SegmentId> {
    let follows =
        |segment: &SegmentId| Ethernet::of(plan, *segment).is_some_and(|view| view.segment.sync == Sync::Gptp);
    plan.segment_ids().filter(follows).collect()
}

/// What short tags are worth.
fn tags(plan: &Plan) -> Option<String> {
    let said = |short: ShortTag<'_>| {
        let after = match short.forgery.expected_s {
            Some(_) => format!(", on average after {} of guessing as fast as frames can come", short.forgery.text),
            None => String::new(),
        };
        format!(
            "`{}` has {} bits, so one guess in {} is accepted{after}",
            short.protection,
            short.bits,
            1u64 << short.bits
        )
    };
    let short: Vec<String> = short_tags(plan).into_iter().map(said).collect();
    (!short.is_empty()).then(|| {
        format!(
            "Authenticators are short: {}. NIST SP 800-38B (A.2) asks for 64 bits unless the number of guesses is limited, and nothing limits \
             it here.",
            short.join("; ")
        )
    })
}

/// Who makes or checks tags of a stream at no price.
fn free_nodes<'p>(plan: &'p Plan, stream: &'p StreamPlan) -> impl Iterator<Item = NodeId> + 'p {
    stream.hops.iter().flat_map(move |hop| {
        let ProtectionKind::Secured { profile, .. } = &plan.protection_on(stream, hop).kind else { return Vec::new() };
        let operation = profile.mac().name();
        let computes = |node: NodeId| match hop.protection {
            Some(_) => true,
            None => node == stream.sender || stream.receivers.contains(&node),
        };
        let is_free = |node: NodeId| {
            plan.platform_of(node).is_some_and(|platform| platform.costs.iter().all(|cost| cost.operation != operation))
        };
        let ends = std::iter::once(hop.from).chain(hop.to.iter().copied());
        ends.filter(|node| computes(*node) && is_free(*node)).collect()
    })
}

/// The segments that a stream crosses without a tag, if it has one on others.
fn bare<'p>(plan: &'p Plan, at: usize, stream: &'p StreamPlan) -> Vec<(usize, &'p str)> {
    let is_secured = |hop: &&HopPlan| matches!(plan.protection_on(stream, hop).kind, ProtectionKind::Secured { .. });
    if !stream.hops.iter().any(|hop| is_secured(&hop)) {
        return Vec::new();
    }
    let name = |hop: &HopPlan| (at, plan.segments[hop.segment.index()].name.as_str());
    stream.hops.iter().filter(|hop| !is_secured(hop)).map(name).collect()
}

fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    let others = names.len().saturating_sub(NAMED_MAX);
    let named = names.take(NAMED_MAX).collect::<Vec<_>>().join(", ");
    if others == 0 { named } else { format!("{named} and {others} more") }
}
