//! Nodes that forward streams between their segments.

use chronoseal_core::{Duration, StreamId};

use super::SegmentId;

/// A node that takes frames from one of its segments and sends them on another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GatewayPlan {
    /// From the end of a frame on one segment to its place in the queue for another.
    pub delay: Duration,
    /// Each queue for a segment holds at most this much `[frame]`.
    pub queue_len_max: usize,
    /// When it starts anew, if it does.
    pub reboot: Option<RebootPlan>,
    /// Streams of which several PDUs leave in one frame. A stream is in one of them at most for each segment.
    pub collects: Vec<CollectPlan>,
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
