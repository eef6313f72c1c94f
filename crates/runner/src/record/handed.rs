//! Frames that were handed to segments where a driver tells of each, and how many of them became of something.

use std::collections::{BTreeMap, VecDeque};

use chronoseal_core::{NodeId, SimTime, StreamId};
use chronoseal_plan::Plan;

/// Frames of streams that are to be accounted for. A sender's frames of one stream reach each receiver in their order, so those that
/// were never seen again are the last ones.
#[derive(Default)]
pub(super) struct Handed(BTreeMap<StreamId, OfStream>);

#[derive(Default)]
struct OfStream {
    /// When frames were handed over, without those that have ended everywhere.
    times: VecDeque<SimTime>,
    /// How many there were before.
    before: usize,
    /// How many became of something at a node.
    ended: BTreeMap<NodeId, usize>,
}

impl Handed {
    pub(super) fn hand_over(&mut self, stream: StreamId, at: SimTime) {
        self.0.entry(stream).or_default().times.push_back(at);
    }

    pub(super) fn end(&mut self, stream: StreamId, node: NodeId) {
        if let Some(known) = self.0.get_mut(&stream) {
            *known.ended.entry(node).or_default() += 1;
        }
    }

    /// Forgets frames that have ended at every node that has told of any.
    pub(super) fn forget_ended(&mut self, plan: &Plan) {
        for (stream, known) in &mut self.0 {
            let ended = |receiver: &NodeId| known.ended.get(receiver).copied().unwrap_or(0);
            let everywhere = plan.streams[stream.index()].receivers.iter().map(ended).min().unwrap_or(usize::MAX);
            let old = everywhere.saturating_sub(known.before).min(known.times.len());
            known.times.drain(..old);
            known.before += old;
        }
    }

    /// When the oldest frame was handed over that may be under way.
    pub(super) fn oldest(&self) -> Option<SimTime> {
        self.0.values().filter_map(|known| known.times.front()).min().copied()
    }

    /// Frames that were never seen again: stream, receiver, which one, and when it was handed over.
    pub(super) fn open(&self, plan: &Plan) -> Vec<(StreamId, NodeId, u64, SimTime)> {
        let mut open = Vec::new();
        for (stream, known) in &self.0 {
            for receiver in &plan.streams[stream.index()].receivers {
                let ended = known.ended.get(receiver).copied().unwrap_or(0).saturating_sub(known.before);
                let left = known.times.iter().zip(known.before as u64..).skip(ended);
                open.extend(left.map(|(at, sequence)| (*stream, *receiver, sequence, *at)));
            }
        }
        open
    }
}
