//! Frames that were due and that their senders did not send.

use std::collections::BTreeSet;

use chronoseal_core::{EventKind, NodeId, SimTime};

use crate::{FrameRow, RunMeta, RunRows};

/// When frames were due that were not sent, by stream.
#[derive(Clone, Debug, Default)]
pub(super) struct NotSent {
    /// Their senders have not come to them by the end of the run.
    pub(super) owed: Vec<SimTime>,
    /// Their senders had lost the key to protect them with, or the freshness value.
    pub(super) withheld: Vec<SimTime>,
    /// Their senders had no key yet.
    pub(super) before_key: u64,
}

impl NotSent {
    pub(super) fn times(&self) -> Unsent {
        Unsent(self.owed.iter().chain(&self.withheld).copied().zip(0..).collect())
    }
}

/// When frames were due that were not sent, of which no receiver has missed one yet.
pub(super) struct Unsent(BTreeSet<(SimTime, usize)>);

impl Unsent {
    /// Takes out the frame that a receiver misses: one due in the slot in which nothing came, or due before the receiver had waited too
    /// long. False if there is none.
    pub(super) fn take(&mut self, row: &FrameRow, period_ns: i64) -> bool {
        let found = match row.slot_start {
            None => self.0.range(..=(row.cycle_start, usize::MAX)).next(),
            Some(slot) => {
                let distance = |(due, _): &&(SimTime, usize)| (*due - slot).as_ns().abs();
                let before = self.0.range(..=(slot, usize::MAX)).next_back();
                let around = before.into_iter().chain(self.0.range((slot, usize::MAX)..).next());
                around.filter(|due| distance(due) < period_ns).min_by_key(distance)
            }
        };
        found.copied().is_some_and(|found| self.0.remove(&found))
    }
}

/// What senders did not send, by stream.
pub(super) fn not_sent(meta: &RunMeta, rows: &RunRows) -> Vec<NotSent> {
    let mut all = vec![NotSent::default(); meta.streams.len()];
    let mut keyed: BTreeSet<NodeId> = BTreeSet::new();
    for row in &rows.events {
        match row.event.kind {
            EventKind::KeyInstalled => drop(keyed.insert(row.node)),
            EventKind::KeyWithdrawn => drop(keyed.remove(&row.node)),
            EventKind::Withheld => {
                let index = row.event.stream.index();
                let is_its = meta.streams.get(index).is_some_and(|stream| stream.is_sent_by(row.node.0));
                match all.get_mut(index).filter(|_| is_its) {
                    Some(stream) if meta.group.is_some() && !keyed.contains(&row.node) => stream.before_key += 1,
                    Some(stream) => stream.withheld.push(row.time),
                    None => {}
                }
            }
            _ => {}
        }
    }
    for row in &rows.owed {
        if let Some(stream) = all.get_mut(row.stream.index()) {
            stream.owed.push(row.due_at);
        }
    }
    all
}
