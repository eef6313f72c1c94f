//! The event queue: one total order, so that simultaneous events of different nodes never depend on luck.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use chronoseal_core::{NodeId, SimTime};
use chronoseal_media::medium::MediumTimer;

/// What happens at a time. At one instant the medium goes first (frames come in, slots are served), then processors
/// finish, then drivers hand over frames, then nodes wake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Happening {
    Medium(MediumTimer),
    ProcessorFree(NodeId),
    Launch(u32),
    Wake(NodeId),
}

impl Happening {
    /// Class above source: ties are ordered by (time, class, source, sequence).
    fn tie(self) -> u64 {
        let (class, source) = match self {
            Self::Medium(timer) => (0, timer.0),
            Self::ProcessorFree(node) => (1, u32::from(node.0)),
            Self::Launch(slot) => (2, slot),
            Self::Wake(node) => (3, u32::from(node.0)),
        };
        class << 32 | u64::from(source)
    }
}

struct Entry {
    at: SimTime,
    tie: u64,
    sequence: u64,
    what: Happening,
}

impl Ord for Entry {
    /// Reversed: the heap gives its greatest, the queue its earliest.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.tie, other.sequence).cmp(&(self.at, self.tie, self.sequence))
    }
}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Entry {}

/// Pending events by time.
#[derive(Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<Entry>,
    pushed: u64,
}

impl Queue {
    pub(crate) fn push(&mut self, at: SimTime, what: Happening) {
        self.pushed += 1;
        self.heap.push(Entry { at, tie: what.tie(), sequence: self.pushed, what });
    }

    /// The earliest event if it is due by `until`.
    pub(crate) fn pop_until(&mut self, until: SimTime) -> Option<(SimTime, Happening)> {
        if self.heap.peek()?.at > until {
            return None;
        }
        self.heap.pop().map(|entry| (entry.at, entry.what))
    }

    /// Events pushed so far.
    pub(crate) fn pushed(&self) -> u64 {
        self.pushed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ties_go_by_class_then_source_then_sequence() {
        let mut queue = Queue::default();
        let wake = |node| Happening::Wake(NodeId(node));
        let medium = |timer| Happening::Medium(MediumTimer(timer));
        for what in [wake(1), wake(0), medium(7), Happening::Launch(0), medium(2), wake(0)] {
            queue.push(SimTime::ZERO, what);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop_until(SimTime::ZERO)).map(|(_, what)| what).collect();
        assert_eq!(order, [medium(2), medium(7), Happening::Launch(0), wake(0), wake(0), wake(1)]);
    }

    proptest! {
        #[test]
        fn pops_like_a_sorted_list(times in proptest::collection::vec((0i64..50, 0u16..4), 0..200)) {
            let mut queue = Queue::default();
            let mut plain: Vec<_> = times.iter().enumerate().map(|(k, (at, node))| (*at, *node, k)).collect();
            for (at, node) in &times {
                queue.push(SimTime::from_ps(*at), Happening::Wake(NodeId(*node)));
            }
            plain.sort_unstable();
            for (at, node, _) in plain {
                prop_assert_eq!(queue.pop_until(SimTime::MAX), Some((SimTime::from_ps(at), Happening::Wake(NodeId(node)))));
            }
            prop_assert_eq!(queue.pop_until(SimTime::MAX), None);
        }
    }
}
