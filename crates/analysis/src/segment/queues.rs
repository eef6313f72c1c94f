//! How many frames can wait in a gateway's queue for a segment.
//!
//! A frame is in the queue some time between the earliest instant at which its gateway can have it and the latest at which
//! the segment has carried it. Of a stream that sends every `T`, no more than `floor(W / T) + 1` frames have that in common
//! at any instant, `W` being the length of that time; the queue holds no more than all its streams together.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, NodeId};
use chronoseal_plan::{Plan, SegmentId};

use super::demand::true_period;
use super::way::{EndBound, Place, StreamBounds};

/// The queue of a gateway for one of its segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueBound {
    /// Whose.
    pub gateway: NodeId,
    /// Where its frames are sent.
    pub segment: SegmentId,
    /// So many frames wait in it at most; `None` if nothing bounds that.
    pub frames: Option<u64>,
    /// So many it holds.
    pub room: u64,
}

impl QueueBound {
    /// True if it has room for all that can wait.
    pub fn holds(&self) -> bool {
        self.frames.is_some_and(|frames| frames <= self.room)
    }
}

/// The queues of all gateways, by gateway and segment, from the bounds of all streams.
pub fn gateway_queues(plan: &Plan, bounds: &[StreamBounds]) -> Vec<QueueBound> {
    let mut queues: BTreeMap<(NodeId, SegmentId), QueueBound> = BTreeMap::new();
    for bound in bounds {
        let stream = &plan.streams[bound.stream.index()];
        let sender = &plan.nodes[stream.sender.index()];
        let distance = true_period(stream.period, sender.clock.drift_max);
        for hop in stream.hops.iter().filter(|hop| hop.previous.is_some()) {
            let Some(gateway) = plan.nodes[hop.from.index()].gateway.as_ref() else { continue };
            let stays = bound.ends.iter().filter_map(|end| stay(end, hop.from, hop.segment)).max();
            let own = stays.map(|stay| stay.div_floor(distance) as u64 + 1);
            let empty = QueueBound {
                gateway: hop.from,
                segment: hop.segment,
                frames: Some(0),
                room: gateway.queue_len_max as u64,
            };
            let queue = queues.entry((hop.from, hop.segment)).or_insert(empty);
            queue.frames = queue.frames.zip(own).map(|(others, own)| others + own);
        }
    }
    queues.into_values().collect()
}

/// From the earliest instant at which a gateway can have a frame to the latest at which its next segment has carried it.
fn stay(end: &EndBound, gateway: NodeId, segment: SegmentId) -> Option<Duration> {
    let place = end
        .parts
        .windows(2)
        .position(|pair| pair[0].place == Place::Gateway(gateway) && pair[1].place == Place::Segment(segment))?;
    let earliest: Duration = end.parts[..place].iter().map(|part| part.min).sum();
    let latest: Duration = end.parts[..place + 2].iter().map(|part| part.max).sum();
    Some(latest - earliest)
}
