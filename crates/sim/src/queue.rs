//! The event queue: one total order, so that simultaneous events of different nodes never depend on luck.

use std::cmp::Reverse;
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
    /// Class above source: ties are ordered by (time, class, source).
    #[inline]
    fn tie(self) -> u64 {
        let (class, source) = match self {
            Self::Medium(timer) => (0, timer.0),
            Self::ProcessorFree(node) => (1, u32::from(node.0)),
            Self::Launch(slot) => (2, slot),
            Self::Wake(node) => (3, u32::from(node.0)),
        };
        class << 32 | u64::from(source)
    }

    /// The inverse of [`Self::tie`], which says all there is to know.
    #[inline]
    fn of_tie(tie: u64) -> Self {
        let source = tie as u32;
        match tie >> 32 {
            0 => Self::Medium(MediumTimer(source)),
            1 => Self::ProcessorFree(NodeId(source as u16)),
            2 => Self::Launch(source),
            _ => Self::Wake(NodeId(source as u16)),
        }
    }
}

/// Time above tie, as one number in the order of the queue. Times before zero keep their order too.
///
/// Two events with one key are the same in everything, so nobody can see which of them comes first: no sequence
/// number is needed for a total order.
#[inline]
fn key(at: SimTime, what: Happening) -> u128 {
    u128::from(at.as_ps() as u64 ^ SIGN) << 64 | u128::from(what.tie())
}

const SIGN: u64 = 1 << 63;

/// Pending events by time.
#[derive(Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<Reverse<u128>>,
    pushed: u64,
}

impl Queue {
    #[inline]
    pub(crate) fn push(&mut self, at: SimTime, what: Happening) {
        self.pushed += 1;
        self.heap.push(Reverse(key(at, what)));
    }

    /// The earliest event if it is due by `until`.
    #[inline]
    pub(crate) fn pop_until(&mut self, until: SimTime) -> Option<(SimTime, Happening)> {
        let Reverse(key) = *self.heap.peek()?;
        let at = SimTime::from_ps(((key >> 64) as u64 ^ SIGN) as i64);
        if at > until {
            return None;
        }
        self.heap.pop();
        Some((at, Happening::of_tie(key as u64)))
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
    fn ties_go_by_class_then_source() {
        let mut queue = Queue::default();
        let wake = |node| Happening::Wake(NodeId(node));
        let medium = |timer| Happening::Medium(MediumTimer(timer));
        for what in [wake(1), wake(0), medium(7), Happening::Launch(0), medium(2), wake(0)] {
            queue.push(SimTime::ZERO, what);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop_until(SimTime::ZERO)).map(|(_, what)| what).collect();
        assert_eq!(order, [medium(2), medium(7), Happening::Launch(0), wake(0), wake(0), wake(1)]);
    }

    fn any_happening() -> impl Strategy<Value = Happening> {
        prop_oneof![
            any::<u32>().prop_map(|timer| Happening::Medium(MediumTimer(timer))),
            any::<u16>().prop_map(|node| Happening::ProcessorFree(NodeId(node))),
            any::<u32>().prop_map(Happening::Launch),
            any::<u16>().prop_map(|node| Happening::Wake(NodeId(node))),
        ]
    }

    proptest! {
        #[test]
        fn pops_like_a_sorted_list(pushes in proptest::collection::vec((-5i64..50, any_happening()), 0..200)) {
            let mut queue = Queue::default();
            let mut plain = pushes.clone();
            for (at, what) in &pushes {
                queue.push(SimTime::from_ps(*at), *what);
            }
            // Time, then the order in which the classes are written down, then the source.
            plain.sort_by_key(|(at, what)| match what {
                Happening::Medium(timer) => (*at, 0, timer.0),
                Happening::ProcessorFree(node) => (*at, 1, u32::from(node.0)),
                Happening::Launch(slot) => (*at, 2, *slot),
                Happening::Wake(node) => (*at, 3, u32::from(node.0)),
            });
            for (at, what) in plain {
                prop_assert_eq!(queue.pop_until(SimTime::MAX), Some((SimTime::from_ps(at), what)));
            }
            prop_assert_eq!(queue.pop_until(SimTime::MAX), None);
        }

        #[test]
        fn nothing_is_popped_before_it_is_due(at: i64, until: i64, what in any_happening()) {
            let mut queue = Queue::default();
            queue.push(SimTime::from_ps(at), what);
            let popped = queue.pop_until(SimTime::from_ps(until));
            prop_assert_eq!(popped, (at <= until).then_some((SimTime::from_ps(at), what)));
        }
    }
}
