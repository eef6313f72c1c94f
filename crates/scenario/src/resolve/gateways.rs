//! What gateways do beside forwarding: they start anew, and put several PDUs into one frame.

use chronoseal_core::{Duration, NodeId, StreamId};

use super::streams::Streams;
use crate::kinds::{CollectRequest, Collected, Context, Place, Segment};
use crate::limits::{CLUSTER_CYCLE_MAX, PERIOD_MIN};
use crate::plan::{CollectPlan, HopPlan, NodePlan, ProtectionPlan, RebootPlan, StreamPlan};
use crate::problem::Code;
use crate::shape::shortened;
use crate::source::at;
use crate::spec::{CollectSpec, RebootSpec};

impl Context<'_> {
    /// When a gateway starts anew.
    pub(super) fn reboot(&mut self, node: usize, spec: &RebootSpec) -> RebootPlan {
        let duration = self.spec.duration.0;
        let path = at!["nodes", node, "gateway", "reboot", "takes"];
        let takes = self.within(path, "the time of the reboot", spec.takes.0, PERIOD_MIN, duration.max(PERIOD_MIN));
        let path = at!["nodes", node, "gateway", "reboot", "at"];
        if spec.at.0 >= duration || spec.at.0 < Duration::ZERO {
            self.report_both(
                Code::OutOfRange,
                (path, "not within the run"),
                (at!["duration"], "the run ends here"),
                format!(
                    "`{}` reboots at {}, and the run lasts {duration}",
                    shortened(&self.spec.nodes[node].name),
                    spec.at.0
                ),
                "write an earlier time, or a longer duration",
            );
        }
        RebootPlan { at: spec.at.0.clamp(Duration::ZERO, duration), takes }
    }

    /// Which streams gateways put together, now that their ways are known.
    pub(super) fn collects(
        &mut self,
        nodes: &mut [NodePlan],
        segments: &[Segment<'_>],
        streams: &Streams,
        protections: &[ProtectionPlan],
    ) {
        let spec = self.spec;
        for (i, node) in spec.nodes.iter().enumerate() {
            let Some(gateway) = &node.gateway else { continue };
            let mut collects: Vec<CollectPlan> = Vec::new();
            for (k, collect) in gateway.collect.iter().enumerate() {
                let plan = self.collect(i, k, collect, segments, streams, protections);
                collects.extend(plan);
            }
            self.once_each(i, &collects, streams);
            if let Some(plan) = nodes[i].gateway.as_mut() {
                plan.collects = collects;
            }
        }
    }

    fn collect(
        &mut self,
        node: usize,
        k: usize,
        spec: &CollectSpec,
        segments: &[Segment<'_>],
        streams: &Streams,
        protections: &[ProtectionPlan],
    ) -> Option<CollectPlan> {
        let place = Place::new("nodes").entry(node).key("gateway").key("collect").entry(k);
        let within =
            self.within(&place.clone().key("within"), "the waiting time", spec.within.0, PERIOD_MIN, CLUSTER_CYCLE_MAX);
        let names: Vec<&str> = segments.iter().map(|segment| segment.name).collect();
        let segment = &segments[self.find(&spec.on, &names, &place.clone().key("on"), "segment", "segments")?];
        let mut collected: Vec<(StreamId, Collected<'_>)> = Vec::new();
        for (n, name) in spec.streams.iter().enumerate() {
            let at = place.clone().key("streams").entry(n);
            let entries: Vec<&str> = self.spec.streams.iter().map(|stream| stream.name.as_str()).collect();
            let entry = self.find(name, &entries, &at, "stream", "streams")?;
            let of_entry = streams.entries.iter().zip(&streams.plans).enumerate();
            for (id, (_, stream)) in of_entry.filter(|(_, (of, _))| **of == entry) {
                // A stream without a way is a problem of its own.
                if !streams.are_on_their_way[id] {
                    return None;
                }
                let leaves = |hop: &&HopPlan| {
                    hop.segment == segment.id && hop.from == NodeId(node as u16) && hop.previous.is_some()
                };
                let Some(hop) = stream.hops.iter().find(leaves) else {
                    self.does_not_leave(&at, node, stream, segment);
                    return None;
                };
                let protection = &protections[usize::from(hop.protection.unwrap_or(stream.protection).0)];
                let pdu_len = stream.length + protection.overhead_bytes();
                collected.push((StreamId(id as u16), Collected { at: at.clone(), name: &stream.name, hop, pdu_len }));
            }
        }
        if collected.len() < 2 {
            self.report(
                Code::BadGateway,
                &place.clone().key("streams"),
                format!("`{}` collects one stream alone", shortened(&self.spec.nodes[node].name)),
                "nothing to collect",
                "name another stream, or leave it out",
            );
        }
        let (ids, collected): (Vec<StreamId>, Vec<Collected<'_>>) = collected.into_iter().unzip();
        let request = CollectRequest { segment, at: place, streams: collected };
        segment.kind.check_collect(&request, self);
        Some(CollectPlan { segment: segment.id, streams: ids, within })
    }

    fn does_not_leave(&mut self, at: &Place<'_>, node: usize, stream: &StreamPlan, segment: &Segment<'_>) {
        self.report(
            Code::BadGateway,
            at,
            format!(
                "stream `{}` does not go on from `{}` to `{}`",
                shortened(&stream.name),
                shortened(&self.spec.nodes[node].name),
                segment.name
            ),
            "not on its way",
            "leave it out, or name the gateway that brings it to this segment",
        );
    }

    /// A PDU leaves in one frame, so a stream is collected once for a segment.
    fn once_each(&mut self, node: usize, collects: &[CollectPlan], streams: &Streams) {
        for (k, collect) in collects.iter().enumerate() {
            let earlier = |id: &&StreamId| {
                let of_earlier = collects[..k].iter().filter(|other| other.segment == collect.segment);
                let before = collect.streams.iter().take_while(|other| !std::ptr::eq(*other, *id));
                of_earlier.flat_map(|other| &other.streams).chain(before).any(|other| other == *id)
            };
            if let Some(id) = collect.streams.iter().find(earlier) {
                self.report(
                    Code::BadGateway,
                    at!["nodes", node, "gateway", "collect", k, "streams"],
                    format!("stream `{}` is collected twice", shortened(&streams.plans[id.index()].name)),
                    "again here",
                    "name each stream once",
                );
            }
        }
    }
}
