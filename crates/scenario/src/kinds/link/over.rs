//! Streams that a robot middleware carries, whose programs a live run starts.

use chronoseal_core::{NodeId, StreamId};
use chronoseal_plan::{Charged, Link, LinkSegment, Middleware};

use super::spec::LinkStreamSpec;
use super::{Context, HopRequest, Step};
use crate::problem::Code;
use crate::shape::shortened;

/// What a node is to a middleware.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Publisher,
    Subscriber,
    Broker,
}

impl Role {
    const fn name(self) -> &'static str {
        match self {
            Self::Publisher => "publisher",
            Self::Subscriber => "subscriber",
            Self::Broker => "broker",
        }
    }
}

/// The middleware that a stream names, if it names one.
pub(super) fn resolve(
    request: &HopRequest<'_>,
    spec: &LinkStreamSpec,
    segment: &LinkSegment,
    context: &mut Context<'_>,
) -> Option<Middleware> {
    let name = shortened(&request.stream.spec.name);
    let Some(over) = &spec.over else {
        if spec.broker.is_some() {
            context.report(
                Code::MissingKey,
                &request.table.at("broker"),
                format!("stream `{name}` names the node of a broker, and no middleware that has one"),
                "of no middleware",
                "write `over = \"ros-1\"` beside it, or leave `broker` out",
            );
        }
        return None;
    };
    let at = request.table.at("over");
    context.title(over, &at, "the middleware");
    if request.table.has("transport") {
        context.report_both(
            Code::OutOfRange,
            (&at, "carried by this"),
            (&request.table.at("transport"), "and by this"),
            format!("stream `{name}` has two carriers: the middleware `{}` and a `transport`", shortened(over)),
            "leave one of them out",
        );
    }
    let names: Vec<&str> = context.spec().nodes.iter().map(|node| node.name.as_str()).collect();
    let find = |broker: &String| context.find(broker, &names, &request.table.at("broker"), "node", "nodes");
    let broker = spec.broker.as_ref().and_then(find).map(|node| NodeId(node as u16));
    let charged = charged(request, over, segment, context);
    Some(Middleware { configuration: over.clone(), broker, charged })
}

/// What a simulation charges for it, if the segment has a file of what it took.
fn charged(request: &HopRequest<'_>, over: &str, segment: &LinkSegment, context: &mut Context<'_>) -> Option<Charged> {
    let known = segment.measured.iter().find(|one| one.configuration == over)?;
    let (name, length) = (shortened(&request.stream.spec.name), request.stream.payload_len);
    let charged = known.charged(length);
    match (&charged, &known.lengths[..]) {
        (Some(_), _) => context.note(format!(
            "In a simulation stream `{name}` is charged what `{over}` took of such messages, as it was measured ({}): its time at the receiver, \
             which does nothing else meanwhile, and its bytes at the sender. What it sends again, and how it holds a sender back, is not simulated.",
            known.source
        )),
        (None, [first, .., last] | [first @ last]) => context.report(
            Code::OutOfRange,
            &request.stream.at("length"),
            format!(
                "stream `{name}` has messages of {length}B, and `{over}` was measured with {}B to {}B (`measured` of `{}`)",
                first.length, last.length, request.segment.name
            ),
            "not measured",
            format!("measure it too: `chronoseal middleware profile {over} --length {length}B`"),
        ),
        (None, []) => {}
    }
    charged
}

/// A node runs one program, which publishes, subscribes or is a broker, and the keys of a run are of one node each.
pub(super) fn check(view: Link<'_>, context: &mut Context<'_>) {
    let segment = &view.plan.segments[view.id.index()].name;
    let mut known: Vec<(StreamId, &str, NodeId, Role)> = Vec::new();
    for (id, stream, hop, facet) in view.streams() {
        let Some(over) = &facet.over else { continue };
        let entry = context.entry_of(id);
        let at = |key| [Step::Key("streams"), Step::Index(entry), Step::Key(segment), Step::Key(key)];
        let name = shortened(&stream.name);
        let configuration = over.configuration.as_str();
        let mut refuse = |at: &[Step<'_>], message: String, help: &str| {
            context.report(Code::NotYet, at, message, "not with this middleware", help);
        };
        if hop.to.len() > 1 {
            let count = hop.to.len();
            let message = format!("stream `{name}` has {count} receivers; over a middleware it has one");
            refuse(&at("over"), message, "write a stream to each of them, over other nodes, or leave `over` out");
            continue;
        }
        let off = over.broker.filter(|node| !view.plan.nodes[node.index()].interfaces.contains(&view.id));
        if let Some(node) = off {
            let node = view.plan.node_name(node);
            refuse(&at("broker"), format!("the broker `{node}` is not on `{segment}`"), "name a node on that segment");
            continue;
        }
        let ends = std::iter::once((hop.from, Role::Publisher)).chain(hop.to.iter().map(|to| (*to, Role::Subscriber)));
        for (node, role) in ends.chain(over.broker.map(|node| (node, Role::Broker))) {
            let others = known.iter().find(|(_, other, at, as_role)| {
                let is_same = (*other, *as_role) == (configuration, role);
                // One node in one role, and one role at one node.
                (*at == node) != is_same
            });
            if let Some((other, over, at_node, as_role)) = others {
                let other = &view.plan.streams[other.index()].name;
                let message = format!(
                    "stream `{name}` makes `{}` the {} of `{configuration}`, and stream `{}` makes `{}` the {} of `{over}`",
                    view.plan.node_name(node),
                    role.name(),
                    shortened(other),
                    view.plan.node_name(*at_node),
                    as_role.name()
                );
                refuse(
                    &at("over"),
                    message,
                    "a node runs one program, and a middleware has one publisher, one subscriber and one broker on a segment: use \
                     other nodes, or another middleware between these",
                );
                break;
            }
            known.push((id, configuration, node, role));
        }
    }
}
