//! The way of a stream over segments and gateways: the shortest one to each receiver, as a tree.

use std::collections::BTreeMap;

use chronoseal_core::NodeId;
use chronoseal_plan::{NodePlan, SegmentId};

/// A stream's way over one segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Step {
    pub(super) segment: SegmentId,
    /// The sender of the stream, or a gateway.
    pub(super) from: NodeId,
    /// Receivers of the stream, and gateways that take it on.
    pub(super) to: Vec<NodeId>,
    /// The step that brings it to `from`, if that is a gateway.
    pub(super) previous: Option<u16>,
}

/// Why a stream does not reach a receiver in just one way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum WayError {
    /// There is no way. If this node were a gateway, there would be one.
    None { receiver: NodeId, missing: Option<NodeId> },
    /// There are several of one length: two of them, each as gateways and the segments behind them.
    Several { receiver: NodeId, ways: [Way; 2] },
}

/// A segment, and from there each gateway with the segment behind it.
pub(super) type Way = (SegmentId, Vec<(NodeId, SegmentId)>);

/// A segment, and how many of the gateways of `via` lie behind.
type State = (SegmentId, usize);

/// How far a state is, in segments, and where the shortest ways to it come from.
struct Reached {
    distance: usize,
    from: Vec<(State, NodeId)>,
}

/// The steps from `sender` to all of `receivers`, each after the one it follows. With `via`, only these gateways are passed, in
/// this order.
pub(super) fn tree(
    nodes: &[NodePlan],
    sender: NodeId,
    receivers: &[NodeId],
    via: Option<&[NodeId]>,
) -> Result<Vec<Step>, WayError> {
    let reached = reach(nodes, sender, via);
    let mut steps: Vec<Step> = Vec::new();
    for &receiver in receivers {
        let (first, rest) = way_to(nodes, &reached, sender, receiver)?;
        let mut at = enter(&mut steps, first, sender, None, receiver, &reached)?;
        for (gateway, segment) in rest {
            add(&mut steps[at].to, gateway);
            at = enter(&mut steps, segment, gateway, Some(at as u16), receiver, &reached)?;
        }
        add(&mut steps[at].to, receiver);
    }
    Ok(steps)
}

fn add(nodes: &mut Vec<NodeId>, node: NodeId) {
    if !nodes.contains(&node) {
        nodes.push(node);
    }
}

/// The step over `segment`, made if there is none. A stream enters each segment once.
fn enter(
    steps: &mut Vec<Step>,
    segment: SegmentId,
    from: NodeId,
    previous: Option<u16>,
    receiver: NodeId,
    reached: &BTreeMap<State, Reached>,
) -> Result<usize, WayError> {
    match steps.iter().position(|step| step.segment == segment) {
        Some(known) if steps[known].from == from && steps[known].previous == previous => Ok(known),
        Some(_) => {
            let states: Vec<State> = reached.keys().copied().filter(|(other, _)| *other == segment).collect();
            let mut ways = states.iter().map(|state| back(reached, *state));
            let first = ways.next().unwrap_or((segment, Vec::new()));
            let second = ways.next().unwrap_or_else(|| first.clone());
            Err(WayError::Several { receiver, ways: [first, second] })
        }
        None => {
            steps.push(Step { segment, from, to: Vec::new(), previous });
            Ok(steps.len() - 1)
        }
    }
}

/// Whatever can be reached, by breadth-first search over segments.
fn reach(nodes: &[NodePlan], sender: NodeId, via: Option<&[NodeId]>) -> BTreeMap<State, Reached> {
    let own = &nodes[sender.index()].interfaces;
    let mut reached: BTreeMap<State, Reached> =
        own.iter().map(|segment| ((*segment, 0), Reached { distance: 1, from: Vec::new() })).collect();
    let mut edge: Vec<State> = reached.keys().copied().collect();
    for distance in 2.. {
        let mut next: Vec<State> = Vec::new();
        for &(segment, passed) in &edge {
            for (gateway, passed_then) in gateways(nodes, segment, passed, via) {
                let others = nodes[gateway.index()].interfaces.iter().filter(|other| **other != segment);
                for state in others.map(|other| (*other, passed_then)) {
                    let entry = reached.entry(state).or_insert_with(|| {
                        next.push(state);
                        Reached { distance, from: Vec::new() }
                    });
                    if entry.distance == distance {
                        entry.from.push(((segment, passed), gateway));
                    }
                }
            }
        }
        if next.is_empty() {
            break;
        }
        edge = next;
    }
    reached
}

/// The gateways on a segment that may come next, with how many of `via` lie behind then.
fn gateways<'a>(
    nodes: &'a [NodePlan],
    segment: SegmentId,
    passed: usize,
    via: Option<&'a [NodeId]>,
) -> impl Iterator<Item = (NodeId, usize)> + 'a {
    let is_gateway = move |id: &NodeId| {
        let node = &nodes[id.index()];
        node.gateway.is_some() && node.interfaces.contains(&segment)
    };
    let position = move |id: NodeId| match via {
        None => Some((id, 0)),
        Some(via) => via.iter().position(|other| *other == id).filter(|at| *at >= passed).map(|at| (id, at + 1)),
    };
    (0..nodes.len() as u16).map(NodeId).filter(is_gateway).filter_map(position)
}

/// The only shortest way to a receiver.
fn way_to(
    nodes: &[NodePlan],
    reached: &BTreeMap<State, Reached>,
    sender: NodeId,
    receiver: NodeId,
) -> Result<Way, WayError> {
    let on = &nodes[receiver.index()].interfaces;
    let ends = reached.iter().filter(|((segment, _), _)| on.contains(segment));
    let Some(distance) = ends.clone().map(|(_, reached)| reached.distance).min() else {
        return Err(WayError::None { receiver, missing: missing_gateway(nodes, reached, sender, receiver) });
    };
    let mut ways: Vec<Way> = Vec::new();
    for (state, _) in ends.filter(|(_, reached)| reached.distance == distance) {
        collect(reached, *state, Vec::new(), &mut ways);
    }
    // One way at least leads to each state that is reached.
    let mut ways = ways.into_iter();
    match (ways.next(), ways.next()) {
        (Some(first), Some(second)) => Err(WayError::Several { receiver, ways: [first, second] }),
        (Some(only), None) => Ok(only),
        (None, _) => Err(WayError::None { receiver, missing: None }),
    }
}

/// Up to two shortest ways to a state; `behind` is what follows it.
fn collect(reached: &BTreeMap<State, Reached>, state: State, behind: Vec<(NodeId, SegmentId)>, ways: &mut Vec<Way>) {
    let from = &reached[&state].from;
    if from.is_empty() {
        ways.push((state.0, behind));
        return;
    }
    for (before, gateway) in from {
        if ways.len() < 2 {
            let behind = [(*gateway, state.0)].into_iter().chain(behind.iter().copied()).collect();
            collect(reached, *before, behind, ways);
        }
    }
}

/// One of the ways to a state.
fn back(reached: &BTreeMap<State, Reached>, state: State) -> Way {
    let mut ways = Vec::new();
    collect(reached, state, Vec::new(), &mut ways);
    ways.into_iter().next().unwrap_or((state.0, Vec::new()))
}

/// A node between what is reached and the receiver that only has to forward.
fn missing_gateway(
    nodes: &[NodePlan],
    reached: &BTreeMap<State, Reached>,
    sender: NodeId,
    receiver: NodeId,
) -> Option<NodeId> {
    let wanted = &nodes[receiver.index()].interfaces;
    let is_between = |id: &NodeId| {
        let on = &nodes[id.index()].interfaces;
        let leads = on.iter().any(|segment| wanted.contains(segment));
        leads && on.iter().any(|segment| reached.keys().any(|(other, _)| other == segment))
    };
    (0..nodes.len() as u16).map(NodeId).filter(|id| *id != sender && *id != receiver).find(is_between)
}
