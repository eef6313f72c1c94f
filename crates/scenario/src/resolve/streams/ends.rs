//! Who sends a stream, who receives it, and the way between them.

use chronoseal_core::NodeId;
use chronoseal_plan::SegmentId;

use super::World;
use crate::kinds::Context;
use crate::problem::Code;
use crate::resolve::ways::{self, Step, Way, WayError};
use crate::shape::shortened;
use crate::source::at;
use crate::spec::StreamSpec;

/// The way of a stream.
pub(super) struct Route {
    pub(super) steps: Vec<Step>,
    /// False if it only stands in for one that cannot be known.
    pub(super) is_known: bool,
}

/// Sender and receivers.
pub(super) struct Ends {
    pub(super) sender: NodeId,
    /// The segment whose vehicles send it, if it is whoever of them has something to say.
    pub(super) sent_by: Option<SegmentId>,
    pub(super) receivers: Vec<NodeId>,
    /// False if one of them could not be found, so that nothing can be said of the way.
    pub(super) are_known: bool,
}

impl Context<'_> {
    pub(super) fn ends(&mut self, i: usize, spec: &StreamSpec, world: &World<'_>) -> Ends {
        let written = world.nodes.iter().take(self.spec.nodes.len());
        let names: Vec<&str> = written.map(|node| node.name.as_str()).collect();
        let road = world.segments.iter().find(|segment| segment.name == spec.from && !segment.brought.is_empty());
        let (sender, sent_by) = match road.filter(|_| !names.contains(&spec.from.as_str())) {
            Some(road) => (Some(usize::from(road.brought.start)), Some(road.id)),
            None => (self.find(&spec.from, &names, at!["streams", i, "from"], "node", "nodes"), None),
        };
        let mut are_known = sender.is_some();
        let Some(to) = &spec.to else {
            if spec.answers.is_some() {
                return self.asker(spec, sender, &world.nodes[..self.spec.nodes.len().min(world.nodes.len())]);
            }
            let sender = NodeId(sender.unwrap_or(0) as u16);
            let receivers = if are_known { self.all_others(i, spec, sender, sent_by, world) } else { Vec::new() };
            return Ends { sender, sent_by, are_known: are_known && !receivers.is_empty(), receivers };
        };
        let mut receivers: Vec<NodeId> = Vec::new();
        for (k, name) in to.iter().enumerate() {
            let path = at!["streams", i, "to", k];
            let Some(receiver) = self.find(name, &names, path, "node", "nodes") else {
                are_known = false;
                continue;
            };
            if Some(receiver) == sender {
                self.report_both(
                    Code::SenderReceives,
                    (path, "receiver"),
                    (at!["streams", i, "from"], "and sender"),
                    format!("`{name}` sends stream `{}` to itself", shortened(&spec.name)),
                    "name another node",
                );
            } else if receivers.contains(&NodeId(receiver as u16)) {
                self.report(
                    Code::DuplicateName,
                    path,
                    format!("`{name}` is twice among the receivers"),
                    "again here",
                    "keep one of them",
                );
            } else {
                receivers.push(NodeId(receiver as u16));
            }
        }
        if to.is_empty() {
            self.report(
                Code::NoReceivers,
                at!["streams", i, "to"],
                format!("nobody receives stream `{}`", shortened(&spec.name)),
                "empty",
                "name at least one node",
            );
        }
        let sender = NodeId(sender.unwrap_or(0) as u16);
        Ends { sender, sent_by, are_known: are_known && !receivers.is_empty(), receivers }
    }

    /// The receivers of a stream that names none.
    fn all_others(
        &mut self,
        i: usize,
        spec: &StreamSpec,
        sender: NodeId,
        sent_by: Option<SegmentId>,
        world: &World<'_>,
    ) -> Vec<NodeId> {
        let interfaces = &world.nodes[sender.index()].interfaces;
        let only = match interfaces[..] {
            [only] => world.segments.get(only.index()),
            _ => None,
        };
        if let Some(segment) = only.filter(|segment| segment.kind.rules().has_broadcast) {
            let is_on = |node: &NodeId| world.nodes[node.index()].interfaces.contains(&segment.id);
            let is_other = |node: &NodeId| sent_by.is_some() || *node != sender;
            let others: Vec<NodeId> =
                (0..world.nodes.len() as u16).map(NodeId).filter(is_other).filter(is_on).collect();
            if others.is_empty() {
                self.report(
                    Code::NoReceivers,
                    at!["streams", i, "name"],
                    format!("nobody but its sender is on the segment of stream `{}`", shortened(&spec.name)),
                    "has no receiver",
                    "add a node there",
                );
            }
            return others;
        }
        // Where the sender is on no segment, that is a problem of its own.
        if !interfaces.is_empty() {
            self.report(
                Code::MissingKey,
                at!["streams", i],
                format!("stream `{}` has no `to`", shortened(&spec.name)),
                "`to` is missing",
                "add `to = [\"…\"]` with the nodes that receive it",
            );
        }
        Vec::new()
    }

    /// The stream's way. Where its ends are wrong it is that over the sender's first segment, so that the rest can be checked.
    pub(super) fn way(&mut self, i: usize, spec: &StreamSpec, ends: &Ends, world: &World<'_>) -> Route {
        let via = spec.via.as_ref().map(|names| self.via(i, names, world));
        let stand_in = || {
            let first = world.nodes.get(ends.sender.index()).and_then(|node| node.interfaces.first());
            let step = |segment: &SegmentId| Step {
                segment: *segment,
                from: ends.sender,
                to: ends.receivers.clone(),
                previous: None,
            };
            Route { steps: first.map(step).into_iter().collect(), is_known: false }
        };
        // A segment that does not exist has been reported with the node.
        let is_placed = |node: NodeId| {
            let written = self.spec.nodes.get(node.index()).and_then(|node| node.on.as_ref()).map_or(1, Vec::len);
            world.nodes[node.index()].interfaces.len() >= written
        };
        if !ends.are_known || !is_placed(ends.sender) || !ends.receivers.iter().all(|node| is_placed(*node)) {
            return stand_in();
        }
        match ways::tree(world.nodes, ends.sender, &ends.receivers, via.as_deref()) {
            Ok(steps) => {
                self.all_passed(i, via.as_deref().unwrap_or_default(), &steps, world);
                Route { steps, is_known: true }
            }
            Err(error) => {
                self.no_way(i, spec, ends, &error, world);
                Route { steps: Vec::new(), is_known: false }
            }
        }
    }

    /// The gateways that a stream may pass.
    fn via(&mut self, i: usize, names: &[String], world: &World<'_>) -> Vec<NodeId> {
        let all: Vec<&str> = world.nodes.iter().map(|node| node.name.as_str()).collect();
        let mut via: Vec<NodeId> = Vec::new();
        for (k, name) in names.iter().enumerate() {
            let path = at!["streams", i, "via", k];
            let Some(found) = self.find(name, &all, path, "node", "nodes") else { continue };
            let id = NodeId(found as u16);
            if via.contains(&id) {
                self.report(
                    Code::BadVia,
                    path,
                    format!("the way would pass `{name}` twice, in a circle"),
                    "again here",
                    "name each gateway once",
                );
                continue;
            }
            if world.nodes[found].gateway.is_none() {
                self.report_both(
                    Code::BadVia,
                    (path, "is no gateway"),
                    (at!["nodes", found, "name"], "does not forward"),
                    format!("`{name}` does not forward frames between segments"),
                    format!("write `gateway = {{}}` for `{name}`, or name a gateway"),
                );
            }
            via.push(id);
        }
        via
    }

    /// Refuses gateways in `via` that the way does not pass.
    fn all_passed(&mut self, i: usize, via: &[NodeId], steps: &[Step], world: &World<'_>) {
        for (k, gateway) in via.iter().enumerate() {
            let is_passed = steps.iter().any(|step| step.from == *gateway && step.previous.is_some());
            if !is_passed && world.nodes[gateway.index()].gateway.is_some() {
                self.report(
                    Code::BadVia,
                    at!["streams", i, "via", k],
                    format!("no receiver is reached by `{}`", world.nodes[gateway.index()].name),
                    "not passed",
                    "leave it out",
                );
            }
        }
    }

    fn no_way(&mut self, i: usize, spec: &StreamSpec, ends: &Ends, error: &WayError, world: &World<'_>) {
        let name = |node: NodeId| world.nodes[node.index()].name.as_str();
        let segment = |id: SegmentId| world.segments.get(id.index()).map_or("", |segment| segment.name);
        let (WayError::None { receiver, .. } | WayError::Several { receiver, .. }) = error;
        let position = spec.to.iter().flatten().position(|to| to == name(*receiver));
        let path: &[_] = match position {
            Some(k) => at!["streams", i, "to", k],
            None => at!["streams", i, "name"],
        };
        let on = |node: NodeId| {
            let names: Vec<String> =
                world.nodes[node.index()].interfaces.iter().map(|id| format!("`{}`", segment(*id))).collect();
            names.join(" and ")
        };
        match error {
            WayError::None { receiver, missing } => {
                let help = match (missing, &spec.via) {
                    (_, Some(_)) => "let `via` name gateways that lead there, or leave it out".to_owned(),
                    (Some(node), None) => format!("write `gateway = {{}}` for `{}`, which is on both", name(*node)),
                    (None, None) => "add a node with `gateway = {}` that is on both".to_owned(),
                };
                self.report_both(
                    Code::NoWay,
                    (path, "not reached"),
                    (at!["streams", i, "from"], "from here"),
                    format!(
                        "no gateway leads from `{}` on {} to `{}` on {}",
                        name(ends.sender),
                        on(ends.sender),
                        name(*receiver),
                        on(*receiver)
                    ),
                    help,
                );
            }
            WayError::Several { receiver, ways } => {
                let shown = |(first, rest): &Way| {
                    let mut text = format!("`{}`", segment(*first));
                    for (gateway, behind) in rest {
                        text += &format!(", by `{}` to `{}`", name(*gateway), segment(*behind));
                    }
                    text
                };
                let gateways: Vec<String> = ways[0].1.iter().map(|(node, _)| format!("\"{}\"", name(*node))).collect();
                let chooses = ways[0].1.iter().map(|(node, _)| node).ne(ways[1].1.iter().map(|(node, _)| node));
                let help = if chooses {
                    format!("choose one: `via = [{}]`", gateways.join(", "))
                } else {
                    "nothing tells them apart: take one of the nodes off one of the segments".to_owned()
                };
                self.report(
                    Code::SeveralWays,
                    path,
                    format!(
                        "two ways of one length lead from `{}` to `{}`: over {}; and over {}",
                        name(ends.sender),
                        name(*receiver),
                        shown(&ways[0]),
                        shown(&ways[1])
                    ),
                    "reached in two ways",
                    help,
                );
            }
        }
    }
}
