//! Stations with a link to each of two networks, A and B (ARINC 664 part 7): their network interface puts a copy of each frame on
//! both links, or the frame on one, as its stream goes.
//!
//! A station hands a frame over by its first port; what comes over its second link it gets by the port that this names. Messages of
//! IEEE 802.1AS are those of a port, and leave by the link of the port that they are handed over by. Nothing here is asked of a frame of
//! a station with one link.

use std::collections::BTreeMap;

use chronoseal_core::{DiscardReason, NodeId, PortId, Priority, SimTime, StreamId};

use super::config::{Ends, NetworkConfig, Splice};
use super::{Network, control, time_aware};
use crate::medium::{Attachment, FrameId, FrameStore, MediumOutput, Series};

/// The stations with two links, and what was counted of the two networks.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    /// The ports of each and its links to A and B.
    of_node: BTreeMap<NodeId, ([PortId; 2], [usize; 2])>,
    switches_of_b: Vec<NodeId>,
    /// Frames that stations sent into each network, and frames that were thrown away there.
    sent: [i64; 2],
    dropped: [i64; 2],
}

impl Pairs {
    /// `None` if every station has one link.
    pub(super) fn of(config: &NetworkConfig) -> Option<Box<Self>> {
        let mut first: BTreeMap<NodeId, (PortId, usize)> = BTreeMap::new();
        let mut of_node = BTreeMap::new();
        for (index, link) in config.links.iter().enumerate() {
            let Ends::Station { station, .. } = link.ends else { break };
            match first.get(&station.node) {
                None => drop(first.insert(station.node, (station.port, index))),
                Some((port, known)) => drop(of_node.insert(station.node, ([*port, station.port], [*known, index]))),
            }
        }
        let switches_of_b = config.switches_of_b.iter().map(|switch| config.switches[*switch]).collect();
        (!of_node.is_empty()).then(|| Box::new(Self { of_node, switches_of_b, sent: [0; 2], dropped: [0; 2] }))
    }

    /// The two links of a station, and whether the frame comes by the port of the second.
    pub(super) fn links_of(&self, from: Attachment) -> Option<([usize; 2], bool)> {
        let ([first, second], links) = self.of_node.get(&from.node)?;
        (from.port == *first || from.port == *second).then_some((*links, from.port == *second))
    }

    /// True if a station has two links.
    pub(super) fn has(&self, node: NodeId) -> bool {
        self.of_node.contains_key(&node)
    }

    /// Counts a frame that was thrown away at a switch.
    pub(super) fn drop_at(&mut self, switch: NodeId) {
        self.dropped[usize::from(self.switches_of_b.contains(&switch))] += 1;
    }

    /// What was counted so far.
    pub(super) fn series(&self) -> Vec<Series> {
        let named = [
            ("frames into network A", self.sent[0]),
            ("frames into network B", self.sent[1]),
            ("frames dropped in network A", self.dropped[0]),
            ("frames dropped in network B", self.dropped[1]),
        ];
        named.into_iter().map(|(name, count)| Series::total(name, "frames", count)).collect()
    }
}

impl Network {
    /// Puts a frame of a station on its links: on those by which its stream goes, on both if it keeps the clocks of a cluster together, on
    /// that of the port it was handed over by if it is a message of IEEE 802.1AS, or on the first if no stream is known.
    #[cold]
    #[inline(never)]
    pub(super) fn send_by_pair(
        &mut self,
        now: SimTime,
        (links, is_by_second): ([usize; 2], bool),
        priority: Priority,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let known = self.stream_of(frames.bytes(frame)).and_then(|stream| self.ways.stream(stream));
        let goes_by = |link: usize| known.is_some_and(|stream| self.ways.hop_by(stream, 2 * link).is_some());
        let is_of_protocol = self.time_aware.is_some() && priority == Priority::PROTOCOL_CONTROL;
        let is_time_message = is_of_protocol && time_aware::is_message(frames.bytes(frame));
        if is_by_second && !is_time_message {
            let first = self.config.switches[0];
            return self.discard(first, frame, StreamId::NONE, DiscardReason::WrongPort, frames, out);
        }
        let is_control =
            self.stamps_control && priority == Priority::PROTOCOL_CONTROL && control::is_control(frames.bytes(frame));
        // What it waits in front of its lines is part of the age of a control frame, and differs from one to the other.
        let due = (is_control || is_time_message).then_some(now);
        let takes = match links.map(goes_by) {
            _ if is_control => [true, true],
            _ if is_time_message => [!is_by_second, is_by_second],
            [false, false] => [true, false],
            takes => takes,
        };
        let copies = match takes {
            [true, true] => [Some(frame), Some(frames.duplicate(frame))],
            [first, second] => [first.then_some(frame), second.then_some(frame)],
        };
        for (network, (link, copy)) in links.into_iter().zip(copies).enumerate() {
            let Some(copy) = copy else { continue };
            if let Some(pairs) = &mut self.pairs {
                pairs.sent[network] += 1;
            }
            // Where messages are stamped an attacker takes frames at the end of the line.
            let is_before_line = |splice: &&Splice| splice.victim == link && self.time_aware.is_none();
            match self.config.splices.iter().find(is_before_line) {
                None => self.send(now, 2 * link, priority, due, (copy, StreamId::NONE), frames, out),
                Some(&splice) => self.intercept(now, &splice, priority, copy, frames, out),
            }
        }
    }
}
