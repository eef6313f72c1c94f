//! Nodes that forward streams between their segments.

use chronoseal_core::{Duration, StreamId};
use chronoseal_wire::can::{CanId, IdFilter};

use super::{NodePlan, SegmentId};

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
    /// Streams of which several PDUs leave in one frame. A stream is in one of them at most for each segment.
    pub collects: Vec<CollectPlan>,
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

/// Streams whose PDUs a gateway puts into one frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CollectPlan {
    /// Where the frame is sent.
    pub segment: SegmentId,
    /// The streams, at least two. One frame holds a PDU of each.
    pub streams: Vec<StreamId>,
    /// The frame is sent so long after the first PDU in it came, or as soon as it holds one of each stream.
    pub within: Duration,
}
