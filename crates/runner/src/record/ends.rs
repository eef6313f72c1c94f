//! Frames that nobody told the end of while the run went on.

use chronoseal_core::{DiscardReason, FramePart, NodeId, SimTime, StreamId};
use chronoseal_plan::Plan;
use chronoseal_results::rows::{FrameRow, OnWayRow, Outcome};
use chronoseal_sim::FrameContext;

use super::{Follow, Recorder, Untold, sender};
use crate::messages::Begun;
use crate::ways::OnSegment;

impl<W: Follow> Recorder<'_, '_, W> {
    /// What becomes of each message of which a receiver or a gateway still waits for the rest when the run is over.
    pub(super) fn half_received(&mut self) {
        let last = self.open.last();
        for ((stream, node), begun) in self.messages.take_open(None) {
            let outcome = match self.open.ways.is_away(node, last) {
                true => Outcome::Discarded(DiscardReason::Restarted),
                false => Outcome::Missing,
            };
            self.end_half(stream, node, &begun, outcome);
        }
    }

    /// A node has started anew: the messages that it had half are lost, and those of its own that had not left.
    pub(super) fn lost_in_restart(&mut self, node: NodeId) {
        for (stream, sequence, due_at) in self.open.dues.lose(node) {
            let outcome = Outcome::Discarded(DiscardReason::Restarted);
            let receivers = self.open.plan().streams.get(stream.index()).map_or(&[][..], |stream| &stream.receivers);
            for receiver in receivers {
                self.open.frame(FrameRow::open(stream, sequence, node, *receiver, due_at, outcome));
            }
        }
        for ((stream, node), begun) in self.messages.take_open(Some(node)) {
            self.end_half(stream, node, &begun, Outcome::Discarded(DiscardReason::Restarted));
        }
    }

    /// The end of a message of which a node has the beginning.
    fn end_half(&mut self, stream: StreamId, node: NodeId, begun: &Begun, outcome: Outcome) {
        let Begun { label, bytes, sequence } = begun;
        let frame = FrameContext { bytes, label, departed_at: None, received_at: None };
        let described = self.described(&frame, label.sent_at);
        let is_relayed = self.open.ways.is_relayed(stream) && label.attack.is_none();
        if is_relayed && outcome != Outcome::Missing {
            let (sequence, sent_at, serial) = (described.sequence, label.sent_at, label.serial);
            return self.open.take_in_vain(OnSegment { stream, sequence, sent_at, serial }, node);
        }
        if label.attack.is_none() {
            self.handed.end(stream, node);
        }
        let (sender, sequence) = (sender(&frame, described.sender), described.sequence.unwrap_or(*sequence));
        let cut_short = self.cut_short.get(&(stream, sequence)).map(|(reason, _)| Outcome::Discarded(*reason));
        let outcome = cut_short.filter(|_| outcome == Outcome::Missing).unwrap_or(outcome);
        self.open.frame(FrameRow {
            attack: label.attack,
            len: bytes.len() as u32,
            sent_at: Some(label.sent_at),
            ..FrameRow::open(stream, sequence, sender, node, described.cycle_start, outcome)
        });
    }

    /// An attacker's frame, or the first of a message, that no receiver had come to when the run was over.
    pub(super) fn attack_on_way(&mut self, frame: FrameContext<'_>, stream: StreamId) {
        let FrameContext { bytes, label, .. } = frame;
        let Some(receiver) = self.open.plan().streams.get(stream.index()).and_then(|stream| stream.receivers.first())
        else {
            return;
        };
        let (receiver, described) = (*receiver, self.described(&frame, label.sent_at));
        self.open.frame(FrameRow {
            attack: label.attack,
            len: bytes.len() as u32,
            sent_at: Some(label.sent_at),
            ..FrameRow::open(
                stream,
                described.sequence.unwrap_or_default(),
                label.sender,
                receiver,
                described.cycle_start,
                Outcome::Missing,
            )
        });
    }

    /// What nodes had taken and lost when they started anew: a row for each frame of a stream that no gateway carries on.
    pub(super) fn lost_in_restarts(&mut self, plan: &Plan) {
        let last = self.open.last();
        for ((node, serial), Untold { at, label, bytes, departed_at, received_at }) in std::mem::take(&mut self.untold)
        {
            if !self.open.ways.has_restarted(node, last.max(at)) {
                continue;
            }
            for OnWayRow { stream, sequence, sent_at } in self.parts_on_way(serial).into_iter().flatten() {
                self.open.take_in_vain(OnSegment { stream, sequence, sent_at, serial: None }, node);
            }
            let frame = FrameContext { bytes: &bytes, label: &label, departed_at, received_at };
            let described = self.described(&frame, label.sent_at);
            if self.open.ways.is_relayed(described.stream) {
                let (stream, sequence) = (described.stream, described.sequence);
                let frame = OnSegment { stream, sequence, sent_at: label.sent_at, serial: Some(serial) };
                self.open.take_in_vain(frame, node);
            } else if plan.streams[described.stream.index()].receivers.contains(&node) && self.part(&frame).is_first() {
                self.handed.end(described.stream, node);
                let (sender, sequence) = (sender(&frame, described.sender), described.sequence.unwrap_or_default());
                let outcome = Outcome::Discarded(DiscardReason::Restarted);
                self.open.frame(FrameRow {
                    len: bytes.len() as u32,
                    slot_start: described.slot_start,
                    sent_at: Some(label.sent_at),
                    departed_at,
                    received_at: received_at.or(Some(at)),
                    ..FrameRow::open(described.stream, sequence, sender, node, described.cycle_start, outcome)
                });
            }
        }
    }

    /// Keeps a frame that its node may lose, until the node tells of it.
    pub(super) fn take_before_restart(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        let FrameContext { bytes, label, departed_at, received_at } = frame;
        let stream = self.describer(label.segment).stream_of(bytes);
        let is_its = self.waits.segment(stream, node).is_some();
        if let Some(serial) = label.serial.filter(|_| is_its && label.attack.is_none()) {
            let untold = Untold { at, label: *label, bytes: bytes.to_vec(), departed_at, received_at };
            self.untold.insert((node, serial), untold);
        }
    }

    /// The PDUs in a frame, if it holds those of several streams.
    pub(super) fn parts_on_way(&self, serial: u64) -> Option<Vec<OnWayRow>> {
        let on_way = |part: &FramePart| {
            let mut hops =
                self.open.hops.rows.iter().filter(|hop| Some(hop.frame) == part.origin && hop.stream == part.stream);
            let hop = hops.next_back()?;
            Some(OnWayRow { stream: hop.stream, sequence: Some(hop.sequence), sent_at: hop.sent_at? })
        };
        Some(self.parts.get(&serial)?.iter().filter_map(on_way).collect())
    }

    /// A row for each frame that was handed to a segment and never seen again.
    pub(super) fn unaccounted(&mut self, plan: &Plan) {
        for (stream, receiver, sequence, sent_at) in self.handed.open(plan) {
            let known = &plan.streams[stream.index()];
            let outcome = Outcome::Unaccounted;
            self.open.frame(FrameRow {
                len: known.hops.first().map_or(0, |hop| plan.secured_len(known, hop)),
                sent_at: Some(sent_at),
                ..FrameRow::open(stream, sequence, known.sender, receiver, sent_at, outcome)
            });
        }
    }
}
