//! What segments of the toy are made of, and how their frames are told apart.

use chronoseal_analysis::Infeasible;
use chronoseal_catalog::{BuildError, BuildOptions, Describe, Description, Kind, LiveLink, Prepared, gateway};
use chronoseal_core::{Duration, Node, NodeId, SimTime, StreamId};
use chronoseal_media::medium::{Attachment, Medium};
use chronoseal_nodes::gateway::Stack;
use chronoseal_plan::{Facet, HopPlan, Plan, SegmentId, StreamPlan};

use crate::frame;
use crate::medium::Toy;
use crate::spec::{ToyHop, ToySegment};
use crate::station::{Listener, Station, StationConfig, Talker, sequence_of};
use crate::tables::TOY;

/// LINKTYPE_USER0: the registry of tcpdump.org keeps it for frames of one's own.
pub(crate) const LINK_TYPE: u16 = 147;

/// The row of the toy in the catalog.
pub(crate) struct ToyKind;

impl Kind for ToyKind {
    fn name(&self) -> &'static str {
        TOY
    }

    fn prepare(&self, _: &Plan, _: SegmentId) -> Result<Facet, Box<Infeasible>> {
        // Nothing has to be worked out before a run.
        Ok(Facet::new(()))
    }

    fn medium(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        guests: &[Attachment],
    ) -> Result<Box<dyn Medium + Send>, BuildError> {
        let plan = prepared.plan();
        let stations = plan.node_ids().filter_map(|id| prepared.attachment(id, segment));
        let ends = stations.chain(guests.iter().copied()).collect();
        Ok(Box::new(Toy::new(delay(plan, segment), ends)))
    }

    fn station(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        node: NodeId,
        _: BuildOptions,
    ) -> Result<Box<dyn Node + Send>, BuildError> {
        Ok(Box::new(Station::new(config(prepared.plan(), segment, node))))
    }

    fn stack(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        node: NodeId,
        _: BuildOptions,
    ) -> Result<Box<dyn Stack + Send>, BuildError> {
        Ok(Box::new(Station::new(config(prepared.plan(), segment, node))))
    }

    fn attacker(&self, _: &Prepared<'_>, _: SegmentId, node: NodeId) -> Result<Box<dyn Node + Send>, BuildError> {
        Err(BuildError::Attack(node))
    }

    fn describer(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Box<dyn Describe> {
        let known = hops(prepared.plan(), segment).map(|(stream, plan, _, number)| (number, stream, plan.sender));
        Box::new(Describer { known: known.collect() })
    }

    fn live_link(&self) -> LiveLink {
        LiveLink::Pair
    }

    fn link_type(&self) -> u16 {
        LINK_TYPE
    }

    fn properties(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Vec<(&'static str, String)> {
        vec![("delay", format!("{:.3} ms", delay(prepared.plan(), segment).as_ms_f64()))]
    }
}

/// What every frame takes on a segment.
pub(crate) fn delay(plan: &Plan, segment: SegmentId) -> Duration {
    let facet: Option<&ToySegment> = plan.segments[segment.index()].facet.get();
    facet.expect("a row is asked for segments of its own kind").delay
}

/// Streams on a segment with their way over it and their number there.
pub(crate) fn hops(plan: &Plan, segment: SegmentId) -> impl Iterator<Item = (StreamId, &StreamPlan, &HopPlan, u8)> {
    plan.on_segment(segment).filter_map(|(id, stream, hop)| {
        let ToyHop { number } = hop.facet.get()?;
        Some((id, stream, hop, *number))
    })
}

/// What a node sends and receives on a segment.
fn config(plan: &Plan, segment: SegmentId, node: NodeId) -> StationConfig {
    let mut config = StationConfig::default();
    for (id, stream, hop, number) in hops(plan, segment) {
        if hop.from == node && hop.previous.is_none() {
            config.talkers.push(Talker {
                stream: id,
                number,
                period: stream.period,
                offset: stream.offset.unwrap_or_default(),
                len: stream.length as usize,
            });
        } else if hop.from == node {
            config.relays.push((id, number));
        }
        if hop.to.contains(&node) {
            config.listeners.push(Listener {
                stream: id,
                number,
                delivers: stream.receivers.contains(&node),
                hands_over: gateway::hand_over(plan, stream, hop, node),
            });
        }
    }
    config
}

/// Knows the frames of a segment by their number.
struct Describer {
    /// Number, stream and who sends it.
    known: Vec<(u8, StreamId, NodeId)>,
}

impl Describe for Describer {
    fn stream_of(&self, bytes: &[u8]) -> StreamId {
        self.describe(bytes, SimTime::ZERO).stream
    }

    fn describe(&self, bytes: &[u8], sent_at: SimTime) -> Description {
        let parsed = frame::parse(bytes);
        let known = parsed.and_then(|(number, _)| self.known.iter().find(|(known, ..)| *known == number));
        Description {
            stream: known.map_or(StreamId::NONE, |(_, stream, _)| *stream),
            sequence: parsed.map(|(_, pdu)| sequence_of(pdu)),
            sender: known.map(|(.., sender)| *sender),
            cycle_start: sent_at,
            slot_start: None,
            leaves_by: None,
            // The runner holds every frame against the deadline of its stream.
            received_by: None,
            is_received_when_checked: true,
        }
    }

    fn payload_len(&self, bytes: &[u8]) -> u64 {
        frame::parse(bytes).map_or(0, |(_, pdu)| pdu.len() as u64)
    }

    fn is_judged(&self, _: StreamId) -> bool {
        // Only a stream with a deadline can be late here.
        false
    }

    fn is_shared(&self) -> bool {
        // Only the other end gets a frame.
        false
    }

    fn is_accounted(&self, stream: StreamId) -> bool {
        self.known.iter().any(|(_, known, _)| *known == stream)
    }
}
