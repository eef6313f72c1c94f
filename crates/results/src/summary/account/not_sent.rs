//! Frames that were due and that their senders did not send.

use std::collections::BTreeSet;

use chronoseal_core::{EventKind, NodeId, SimTime};

use crate::{EventRow, FrameRow};

/// Who has a key to protect frames with.
#[derive(Clone, Debug, Default)]
pub(in crate::summary) struct Keys(BTreeSet<NodeId>);

impl Keys {
    /// Takes in an event, in the order of events.
    pub(in crate::summary) fn event(&mut self, row: &EventRow) {
        match row.event.kind {
            EventKind::KeyInstalled => drop(self.0.insert(row.node)),
            EventKind::KeyWithdrawn => drop(self.0.remove(&row.node)),
            _ => {}
        }
    }

    pub(in crate::summary) fn has(&self, node: NodeId) -> bool {
        self.0.contains(&node)
    }
}

/// When frames were due that were not sent, of which no receiver has missed one yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Unsent {
    due: BTreeSet<(SimTime, usize)>,
    number: usize,
}

impl Unsent {
    pub(super) fn insert(&mut self, due: SimTime) {
        self.due.insert((due, self.number));
        self.number += 1;
    }

    /// Takes out the frame that a receiver misses: one due in the slot in which nothing came, or due before the receiver had waited too
    /// long. False if there is none.
    pub(super) fn take(&mut self, row: &FrameRow, period_ns: i64) -> bool {
        let found = match row.slot_start {
            None => self.due.range(..=(row.cycle_start, usize::MAX)).next(),
            Some(slot) => {
                let distance = |(due, _): &&(SimTime, usize)| (*due - slot).as_ns().abs();
                let before = self.due.range(..=(slot, usize::MAX)).next_back();
                let around = before.into_iter().chain(self.due.range((slot, usize::MAX)..).next());
                around.filter(|due| distance(due) < period_ns).min_by_key(distance)
            }
        };
        found.copied().is_some_and(|found| self.due.remove(&found))
    }

    /// Forgets those that were due before a time.
    pub(super) fn forget(&mut self, before: SimTime) {
        self.due = self.due.split_off(&(before, 0));
    }
}
