//! The event queue: one total order, so that simultaneous events of different nodes never depend on luck.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use chronoseal_core::{NodeId, SimTime};
use chronoseal_media::medium::MediumTimer;

/// What happens at a time, and to whom: ties are ordered by (time, class, segment, source).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Happening {
    pub(crate) class: Class,
    /// The segment of a timer; 0 for everything else.
    segment: u16,
    /// Which timer, node or held frame.
    pub(crate) source: u32,
}

/// At one instant the medium goes first (frames come in, slots are served), then processors finish, then drivers hand
/// over frames, then nodes wake.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Class {
    /// A timer of the medium expires.
    Medium,
    /// A node's processor has finished.
    ProcessorFree,
    /// A driver hands over the frame it held.
    Launch,
    /// A node wanted to be woken.
    Wake,
}

impl Happening {
    #[inline]
    pub(crate) fn medium(timer: MediumTimer) -> Self {
        Self { class: Class::Medium, segment: timer.segment, source: timer.number }
    }

    /// The timer that expires.
    #[inline]
    pub(crate) fn timer(self) -> MediumTimer {
        MediumTimer { segment: self.segment, number: self.source }
    }

    #[inline]
    pub(crate) fn processor_free(node: NodeId) -> Self {
        Self { class: Class::ProcessorFree, segment: 0, source: u32::from(node.0) }
    }

    #[inline]
    pub(crate) fn launch(slot: u32) -> Self {
        Self { class: Class::Launch, segment: 0, source: slot }
    }

    #[inline]
    pub(crate) fn wake(node: NodeId) -> Self {
        Self { class: Class::Wake, segment: 0, source: u32::from(node.0) }
    }

    /// Class above segment above source.
    #[inline]
    fn tie(self) -> u64 {
        (self.class as u64) << 48 | u64::from(self.segment) << 32 | u64::from(self.source)
    }

    /// The inverse of [`Self::tie`], which says all there is to know.
    #[inline]
    fn of_tie(tie: u64) -> Self {
        let class = match tie >> 48 {
            0 => Class::Medium,
            1 => Class::ProcessorFree,
            2 => Class::Launch,
            _ => Class::Wake,
        };
        Self { class, segment: (tie >> 32) as u16, source: tie as u32 }
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
///
/// The few that come next stand in a sorted list, which is all that a small network ever needs: putting one in moves
/// a handful of neighbours, taking the first out moves nothing. The others wait in a heap.
pub(crate) struct Queue {
    /// The first `near_len` are in use, the earliest last. None of them is after any in `far`.
    near: [u128; NEAR_MAX],
    near_len: usize,
    far: BinaryHeap<Reverse<u128>>,
    /// The earliest in `far`; the largest key there is if `far` is empty.
    far_first: u128,
    pushed: u64,
}

/// A list of this length is still put in order faster than a heap.
const NEAR_MAX: usize = 32;

impl Default for Queue {
    fn default() -> Self {
        Self { near: [0; NEAR_MAX], near_len: 0, far: BinaryHeap::new(), far_first: u128::MAX, pushed: 0 }
    }
}

impl Queue {
    #[inline(always)]
    pub(crate) fn push(&mut self, at: SimTime, what: Happening) {
        self.pushed += 1;
        let key = key(at, what);
        if self.near_len == NEAR_MAX {
            self.spill();
        }
        if key > self.far_first {
            self.far.push(Reverse(key));
            return;
        }
        let mut place = self.near_len;
        while place > 0 && self.near[place - 1] < key {
            self.near[place] = self.near[place - 1];
            place -= 1;
        }
        self.near[place] = key;
        self.near_len += 1;
    }

    /// The earliest event if it is due by `until`.
    #[inline]
    pub(crate) fn pop_until(&mut self, until: SimTime) -> Option<(SimTime, Happening)> {
        if self.near_len == 0 {
            self.refill();
        }
        let last = self.near_len.checked_sub(1)?;
        let key = self.near[last];
        let at = SimTime::from_ps(((key >> 64) as u64 ^ SIGN) as i64);
        if at > until {
            return None;
        }
        self.near_len = last;
        Some((at, Happening::of_tie(key as u64)))
    }

    /// Moves the later half of a full list to the heap.
    #[cold]
    fn spill(&mut self) {
        let kept = NEAR_MAX / 2;
        self.far.extend(self.near[..kept].iter().copied().map(Reverse));
        self.near.copy_within(kept.., 0);
        self.near_len = NEAR_MAX - kept;
        self.note_first();
    }

    /// Fills the empty list from the heap, but for the room that the next events need.
    #[cold]
    fn refill(&mut self) {
        while self.near_len < NEAR_MAX / 2
            && let Some(Reverse(key)) = self.far.pop()
        {
            self.near[self.near_len] = key;
            self.near_len += 1;
        }
        self.near[..self.near_len].reverse();
        self.note_first();
    }

    fn note_first(&mut self) {
        self.far_first = self.far.peek().map_or(u128::MAX, |Reverse(key)| *key);
    }

    /// Events popped so far.
    pub(crate) fn popped(&self) -> u64 {
        self.pushed - (self.near_len + self.far.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ties_go_by_class_then_segment_then_source() {
        let mut queue = Queue::default();
        let wake = |node| Happening::wake(NodeId(node));
        let medium = |segment, number| Happening::medium(MediumTimer { segment, number });
        for what in [wake(1), wake(0), medium(1, 2), medium(0, 7), Happening::launch(0), medium(0, 2), wake(0)] {
            queue.push(SimTime::ZERO, what);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop_until(SimTime::ZERO)).map(|(_, what)| what).collect();
        let expected = [medium(0, 2), medium(0, 7), medium(1, 2), Happening::launch(0), wake(0), wake(0), wake(1)];
        assert_eq!(order, expected);
    }

    fn any_happening() -> impl Strategy<Value = Happening> {
        prop_oneof![
            any::<(u16, u32)>().prop_map(|(segment, number)| Happening::medium(MediumTimer { segment, number })),
            any::<u16>().prop_map(|node| Happening::processor_free(NodeId(node))),
            any::<u32>().prop_map(Happening::launch),
            any::<u16>().prop_map(|node| Happening::wake(NodeId(node))),
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
            // Time, then the order in which the classes are written down, then segment and source.
            plain.sort_by_key(|(at, what)| (*at, what.class, what.segment, what.source));
            for (at, what) in plain {
                prop_assert_eq!(queue.pop_until(SimTime::MAX), Some((SimTime::from_ps(at), what)));
            }
            prop_assert_eq!(queue.pop_until(SimTime::MAX), None);
            prop_assert_eq!(queue.popped(), pushes.len() as u64);
        }

        #[test]
        fn stays_in_order_while_events_come_and_go(
            steps in proptest::collection::vec((0i64..100, any_happening(), 0usize..3), 0..400),
        ) {
            let (mut queue, mut plain, mut now) = (Queue::default(), std::collections::BTreeSet::new(), 0);
            for (after, what, pop_count) in steps {
                // Nothing comes before what has been; a set knows no two equal events, and neither does anyone.
                if plain.insert((now + after, what.tie())) {
                    queue.push(SimTime::from_ps(now + after), what);
                }
                for _ in 0..pop_count {
                    let popped = queue.pop_until(SimTime::MAX).map(|(at, what)| (at.as_ps(), what.tie()));
                    prop_assert_eq!(popped, plain.pop_first());
                    now = popped.map_or(now, |(at, _)| at);
                }
            }
            while let Some((at, what)) = queue.pop_until(SimTime::MAX) {
                prop_assert_eq!(Some((at.as_ps(), what.tie())), plain.pop_first());
            }
            prop_assert!(plain.is_empty());
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
