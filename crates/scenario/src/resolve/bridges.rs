//! Frames of no stream that gateways pass on whole, by their identifiers.

use chronoseal_plan::{EXCHANGE_IDS, NodePlan, SegmentId, StreamPlan};
use chronoseal_wire::can::{CanId, IdFilter};

use crate::kinds::can::bridges::filter;
use crate::kinds::{Context, Place, Segment};
use crate::problem::Code;
use crate::source::at;
use crate::spec::{BridgeSpec, GatewaySpec};

/// A gateway that passes frames on, and the segments it does so between.
struct Bridge<'n> {
    node: usize,
    name: &'n str,
    segments: Vec<SegmentId>,
    filters: &'n [IdFilter],
}

impl Bridge<'_> {
    fn passes_some_of(&self, filter: &IdFilter) -> bool {
        self.filters.iter().any(|own| own.meets(filter))
    }
}

impl Context<'_> {
    /// What each gateway passes on.
    pub(super) fn bridges(&mut self, nodes: &mut [NodePlan], segments: &[Segment<'_>], traffic: &[StreamPlan]) {
        let spec = self.spec;
        for (i, written) in spec.nodes.iter().enumerate() {
            let Some(gateway) = written.gateway.as_ref().filter(|gateway| !gateway.bridges.is_empty()) else {
                continue;
            };
            let filters = self.filters(i, gateway, segments, traffic);
            let between = bridged_segments(&nodes[i], segments);
            // A segment that does not exist, or is none that can be, is a problem of its own.
            let are_known = nodes[i].interfaces.len() >= 2 && segments.iter().all(|segment| segment.parts.is_some());
            if between.len() < 2 && are_known {
                self.report(
                    Code::BadGateway,
                    at!["nodes", i, "gateway", "bridges"],
                    format!(
                        "`{}` is on {} segment whose frames are passed on whole, and there have to be two",
                        written.name,
                        if between.is_empty() { "no" } else { "one" }
                    ),
                    "nowhere to pass them on to",
                    "name another CAN segment in `on`, or leave `bridges` out",
                );
            }
            if let Some(gateway) = &mut nodes[i].gateway {
                gateway.bridges = filters;
            }
        }
        self.no_loops(nodes, segments);
    }

    fn filters(
        &mut self,
        i: usize,
        gateway: &GatewaySpec,
        segments: &[Segment<'_>],
        traffic: &[StreamPlan],
    ) -> Vec<IdFilter> {
        let mut filters = Vec::new();
        for (k, bridge) in gateway.bridges.iter().enumerate() {
            let place = Place::new("nodes").entry(i).key("gateway").key("bridges").entry(k);
            match bridge {
                BridgeSpec::All => filters.extend(IdFilter::ALL),
                BridgeSpec::Frames(frames) => filters.push(filter(&place.key("frames"), frames, self)),
                BridgeSpec::Key(name) => {
                    let names: Vec<&str> = self.spec.keys.keys().map(String::as_str).collect();
                    if self.find(name, &names, &place.key("key"), "key", "keys").is_some() {
                        filters.push(EXCHANGE_IDS);
                    }
                }
                BridgeSpec::Recording(name) => {
                    let ids = self.recorded(name, &place.key("recording"), segments, traffic);
                    filters.extend(ids.into_iter().map(IdFilter::exactly));
                }
            }
        }
        filters
    }

    /// The identifiers in a recording of traffic.
    fn recorded(&mut self, name: &str, at: &Place<'_>, segments: &[Segment<'_>], traffic: &[StreamPlan]) -> Vec<CanId> {
        let names: Vec<&str> = self.spec.recordings.iter().map(|recording| recording.name.as_str()).collect();
        let Some(found) = self.find(name, &names, at, "recording", "recordings") else { return Vec::new() };
        if self.spec.recordings[found].traffic.is_none() {
            self.report(
                Code::BadGateway,
                at,
                format!("`{name}` is no traffic, and travels in streams only"),
                "no frames of its own",
                "name a recording of `traffic`, or route the stream by its receivers",
            );
            return Vec::new();
        }
        // One that could not be resolved is a problem of its own.
        let hop = traffic.iter().find(|stream| stream.name == *name).and_then(|stream| stream.hops.first());
        let segment = hop.and_then(|hop| segments.iter().find(|segment| segment.id == hop.segment));
        hop.zip(segment).map_or_else(Vec::new, |(hop, segment)| segment.kind.recorded_ids(&hop.facet))
    }

    /// Refuses gateways by which a frame would come back to where it has been.
    fn no_loops(&mut self, nodes: &[NodePlan], segments: &[Segment<'_>]) {
        let bridges: Vec<Bridge<'_>> = nodes
            .iter()
            .enumerate()
            .filter_map(|(node, plan)| {
                let filters = &plan.gateway.as_ref()?.bridges[..];
                Some(Bridge { node, name: &plan.name, segments: bridged_segments(plan, segments), filters })
            })
            .collect();
        let mut known = Vec::new();
        for filter in bridges.iter().flat_map(|bridge| bridge.filters) {
            let Some((first, second)) = closes_loop(&bridges, filter, segments.len()) else { continue };
            if known.contains(&second.node) {
                continue;
            }
            known.push(second.node);
            let again: Vec<&str> = (second.segments.iter())
                .filter(|segment| first.segments.contains(segment))
                .map(|segment| segments[segment.index()].name)
                .collect();
            let circle = match again[..] {
                [one, other, ..] => format!(" between `{one}` and `{other}`"),
                _ => String::new(),
            };
            self.report_both(
                Code::BadGateway,
                (at!["nodes", second.node, "gateway", "bridges"], "and come back"),
                (at!["nodes", first.node, "gateway", "bridges"], "frames pass here"),
                format!("frames that `{}` and `{}` pass on would circle{circle} for ever", first.name, second.name),
                "let only one of them pass these frames: leave the entry out, or write other identifiers",
            );
        }
    }
}

/// The segments between which a node passes frames on whole.
fn bridged_segments(node: &NodePlan, segments: &[Segment<'_>]) -> Vec<SegmentId> {
    let can =
        |id: &&SegmentId| segments.iter().any(|segment| segment.id == **id && segment.kind.rules().bridges_frames);
    node.interfaces.iter().filter(can).copied().collect()
}

/// Two gateways of a loop that frames of a filter may take: the last one closes it.
fn closes_loop<'b, 'n>(
    bridges: &'b [Bridge<'n>],
    filter: &IdFilter,
    segments: usize,
) -> Option<(&'b Bridge<'n>, &'b Bridge<'n>)> {
    // Segments that are joined have one number.
    let mut group: Vec<usize> = (0..segments).collect();
    let mut passed: Vec<&Bridge<'_>> = Vec::new();
    for bridge in bridges.iter().filter(|bridge| bridge.passes_some_of(filter)) {
        let mut joined = bridge.segments.iter().map(|segment| group[segment.index()]);
        let Some(first) = joined.next() else { continue };
        let others: Vec<usize> = joined.collect();
        let is_closed = others.iter().enumerate().any(|(k, other)| *other == first || others[..k].contains(other));
        if is_closed {
            let shared = |earlier: &&&Bridge<'_>| earlier.segments.iter().any(|one| bridge.segments.contains(one));
            return passed.iter().rev().find(shared).map(|earlier| (*earlier, bridge));
        }
        for number in &mut group {
            if others.contains(number) {
                *number = first;
            }
        }
        passed.push(bridge);
    }
    None
}
