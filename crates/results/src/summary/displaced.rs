//! Which genuine frames an attack's frames displaced, as far as the trace shows it.
//!
//! A loss in the same cycle is no evidence. A frame of an attack has to have had what the genuine frame lacked: its slot at the
//! same filter, its room in the same queue, or the freshness value that its receiver had not seen yet. An attacker that holds a
//! stream's frames in its hands says itself which of them it changed or put another in place of.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::{AttackKind, DiscardReason, Duration, EventKind, NodeId, SimTime, StoppedBy};

use crate::meta::NodeRole;
use crate::{EventRow, FrameRow, Outcome, RunMeta};

/// What attacked one stream, not long ago.
#[derive(Clone, Debug, Default)]
pub(super) struct Attacks {
    rows: Vec<FrameRow>,
    /// How many of these there were when accounts were settled the last three times.
    settled: [usize; 3],
    /// When a receiver first took the frame of an attack for real.
    accepted: BTreeMap<NodeId, SimTime>,
    /// When frames were sent that an attacker changed or replaced in its hands, or before.
    taken: Vec<SimTime>,
    /// Attackers on the link of the stream's sender.
    on_link: BTreeSet<NodeId>,
}

impl Attacks {
    /// None yet, on a stream that `sender` sends.
    pub(super) fn new(meta: &RunMeta, sender: u16) -> Self {
        let is_on_link = |(_, node): &(usize, &crate::NodeMeta)| node.on_link_of == Some(sender);
        let nodes = meta.nodes.iter().enumerate().filter(is_on_link);
        Self { on_link: nodes.map(|(node, _)| NodeId(node as u16)).collect(), ..Self::default() }
    }

    /// Takes in what an attacker did with the stream.
    pub(super) fn event(&mut self, meta: &RunMeta, row: &EventRow) {
        // Where a frame was kept back nothing took its place: it is missed or lost.
        let EventKind::Attacked(AttackKind::Tamper | AttackKind::Replay) = row.event.kind else { return };
        // Who was taken over passes on what comes to it.
        let is_gateway = meta.nodes.get(row.node.index()).is_some_and(|node| node.role == NodeRole::Station);
        if is_gateway || self.on_link.contains(&row.node) {
            self.taken.push(row.time - Duration::from_ps(row.event.value.max(0)));
        }
    }

    /// Takes in the frame of an attack.
    pub(super) fn frame(&mut self, row: &FrameRow) {
        if let (Outcome::Delivered | Outcome::Late, Some(at)) = (row.outcome, row.received_at) {
            let first = self.accepted.entry(row.at).or_insert(at);
            *first = (*first).min(at);
        }
        self.rows.push(*row);
    }

    /// Forgets what came before accounts were settled the last time but two.
    pub(super) fn settle(&mut self) {
        let [first, second, third] = self.settled;
        self.rows.drain(..first);
        self.settled = [second - first, third - first, self.rows.len()];
    }

    /// Takes out when genuine frames were sent that were taken out of the stream, a time for each of them.
    pub(super) fn take_taken(&mut self) -> Vec<SimTime> {
        std::mem::take(&mut self.taken)
    }

    /// Slots in which a receiver saw a frame of an attack.
    pub(super) fn slots_used_at(&self, receiver: NodeId) -> impl Iterator<Item = SimTime> {
        let seen = self.rows.iter().filter(move |row| row.at == receiver && !is_stopped_by_schedule(row));
        seen.filter_map(|row| row.slot_start)
    }

    /// True if a frame of an attack had the place that this frame was refused.
    pub(super) fn displaced(&self, row: &FrameRow, receivers: &[u16]) -> bool {
        let Outcome::Discarded(reason) = row.outcome else { return false };
        match reason {
            DiscardReason::DuplicateInWindow => self.rows.iter().any(|attack| has_its_slot(attack, row, receivers)),
            // Behind a forged frame on its link it comes too late.
            DiscardReason::OutsideWindow => self
                .rows
                .iter()
                .any(|attack| self.on_link.contains(&attack.sender) && has_its_slot(attack, row, receivers)),
            DiscardReason::QueueFull => self.rows.iter().any(|attack| has_its_room(attack, row, receivers)),
            // The same receiver had already taken the frame of an attack for real.
            DiscardReason::Replayed | DiscardReason::FreshnessTooOld | DiscardReason::FreshnessTooFarAhead => {
                let first = self.accepted.get(&row.at);
                first.copied().zip(row.received_at).is_some_and(|(attack, row)| attack <= row)
            }
            _ => false,
        }
    }
}

/// True if a filter refused a frame for its address, port or window.
fn is_stopped_by_schedule(row: &FrameRow) -> bool {
    row.outcome.reason().is_some_and(|reason| reason.stopped_by() == StoppedBy::Schedule)
}

/// True if the frame of an attack was let into a slot where the genuine one was thrown away.
fn has_its_slot(attack: &FrameRow, row: &FrameRow, receivers: &[u16]) -> bool {
    let is_same = attack.slot_start.is_some() && attack.slot_start == row.slot_start;
    let is_let_in = match attack.at == row.at {
        // By the same filter, whatever a tag said afterwards.
        true => !is_stopped_by_schedule(attack),
        // It went through where the genuine one was thrown away on its way.
        false => !receivers.contains(&row.at.0) && receivers.contains(&attack.at.0),
    };
    is_same && is_let_in
}

/// True if the frame of an attack was waiting for one of the same receivers' links when the genuine one came.
fn has_its_room(attack: &FrameRow, row: &FrameRow, receivers: &[u16]) -> bool {
    let waits = attack.arrived_at.zip(attack.departed_at).zip(row.arrived_at);
    receivers.contains(&attack.at.0) && waits.is_some_and(|((from, until), at)| from <= at && at < until)
}
