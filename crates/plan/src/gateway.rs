//! Nodes that forward streams between their segments.

use chronoseal_core::{Duration, StreamId};
use chronoseal_wire::can::{CanId, IdFilter};
use chronoseal_wire::container::HeaderType;

use crate::{HopPlan, NodePlan, PayloadPlan, Plan, SegmentId, StreamPlan};

/// A node that takes frames from one of its segments and sends them on another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GatewayPlan {
    /// From the end of a frame on one segment to its place in the queue for another.
    pub delay: Duration,
    /// Each queue for a segment holds at most this much `[frame]`.
    pub queue_len_max: usize,
    /// When it starts anew, if it does.
    pub reboot: Option<RebootPlan>,
    /// Frames that belong to no stream and pass between its CAN segments: those that any of these takes.
    pub bridges: Vec<IdFilter>,
}

impl GatewayPlan {
    /// True if frames with this identifier pass, unless they belong to a stream.
    pub fn bridges(&self, id: CanId) -> bool {
        self.bridges.iter().any(|filter| filter.passes(id))
    }
}

/// The segments that frames reach from `start` over gateways that `passes` takes, `start` first. `carries` says which
/// segments have such frames at all.
pub fn bridged_from(
    nodes: &[NodePlan],
    start: SegmentId,
    carries: impl Fn(SegmentId) -> bool,
    passes: impl Fn(&GatewayPlan) -> bool,
) -> Vec<SegmentId> {
    let mut reached = vec![start];
    let mut next = 0;
    while let Some(segment) = reached.get(next).copied() {
        next += 1;
        let bridges =
            |node: &&NodePlan| node.gateway.as_ref().is_some_and(&passes) && node.interfaces.contains(&segment);
        for node in nodes.iter().filter(bridges) {
            for other in node.interfaces.iter().filter(|other| carries(**other)) {
                if !reached.contains(other) {
                    reached.push(*other);
                }
            }
        }
    }
    reached
}

/// A gateway that starts anew in the middle of a run: what it held is lost, and its counters begin again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RebootPlan {
    /// When it stops, from the start of the run.
    pub at: Duration,
    /// It takes and sends nothing for so long.
    pub takes: Duration,
}

/// What a container is made of: PDUs of several streams, which a gateway puts into one frame.
///
/// A container is a stream of the plan, with one hop and no receivers of its own: who takes it there takes the PDUs out of it.
/// Its [`length`](super::StreamPlan::length) is that of PDUs and headers together, at most. The hops of the streams on its
/// segment are [`Contained`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CollectPlan {
    /// The streams, at least two, each once.
    pub streams: Vec<StreamId>,
    /// A frame is sent so long after the first PDU in it came, or as soon as it is full.
    pub within: Duration,
    /// What stands before each PDU.
    pub header: HeaderType,
}

/// The facet of a hop on which a stream's PDUs travel in another stream's frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contained {
    /// The stream whose frames these are.
    pub container: StreamId,
}

impl Contained {
    /// The traffic class of such a hop, as reports call it.
    pub const CLASS: &str = "contained";
}

impl CollectPlan {
    /// What a stream is called in a container: no PDU has the identifier 0.
    pub const fn pdu_id(stream: StreamId) -> u32 {
        stream.0 as u32 + 1
    }
}

impl Plan {
    /// A stream's PDU on a hop in frames with others', with the protection that is on the PDU alone `[byte]`.
    pub fn contained_len(&self, stream: &StreamPlan, hop: &HopPlan) -> u32 {
        let overhead = if hop.protection.is_some() { 0 } else { self.protection_of(stream).overhead_bytes() };
        stream.length + overhead
    }

    /// The streams in the frames of a container, each with its hop there.
    pub fn contained_in(&self, container: StreamId) -> impl Iterator<Item = (StreamId, &StreamPlan, &HopPlan)> {
        let collected = self.streams.get(container.index()).and_then(StreamPlan::collected);
        collected.into_iter().flat_map(|collect| &collect.streams).filter_map(move |id| {
            let stream = &self.streams[id.index()];
            let hop = stream.hops.iter().find(|hop| hop.container() == Some(container))?;
            Some((*id, stream, hop))
        })
    }

    /// PDU and header of the longest in a container `[byte]`.
    pub fn contained_len_max(&self, container: StreamId) -> Option<u32> {
        let header = self.streams.get(container.index())?.collected()?.header.wire_len() as u32;
        self.contained_in(container).map(|(_, stream, hop)| header + self.contained_len(stream, hop)).max()
    }

    /// PDUs and headers of a container that holds only the shortest of its PDUs, without what fills it up `[byte]`.
    pub fn container_len_min(&self, container: StreamId) -> Option<u32> {
        let header = self.streams.get(container.index())?.collected()?.header.wire_len() as u32;
        self.contained_in(container).map(|(_, stream, hop)| header + self.contained_len(stream, hop)).min()
    }
}

impl HopPlan {
    /// The stream in whose frames the PDUs travel on this hop, if they have none of their own.
    pub fn container(&self) -> Option<StreamId> {
        self.facet.get::<Contained>().map(|contained| contained.container)
    }
}

impl StreamPlan {
    /// What is in its frames, if it is a container.
    pub fn collected(&self) -> Option<&CollectPlan> {
        match &self.payload {
            PayloadPlan::Collected(collect) => Some(collect),
            PayloadPlan::Synthetic
            | PayloadPlan::Sequential
            | PayloadPlan::Random
            | PayloadPlan::Recorded { .. }
            | PayloadPlan::Messages(_) => None,
        }
    }
}
