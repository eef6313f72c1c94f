//! The event queue: one total order, so that simultaneous events of different nodes never depend on luck.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use chronoseal_core::{NodeId, PortId, SimTime};
use chronoseal_media::medium::MediumTimer;

/// What happens at a time, and to whom, as one number: class above segment above source. Ties are ordered by it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Happening(u64);

/// At one instant the medium goes first (frames come in, slots are served), then host interfaces give frames to applications, then processors finish, then drivers hand
/// over frames, then nodes wake.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Class {
    /// A timer of the medium expires.
    Medium,
    /// A host interface has copied a frame.
    Host,
    /// A node's processor has finished.
    ProcessorFree,
    /// A driver hands over the frame that it has held for longest of those that are due.
    Launch,
    /// A node wanted to be woken.
    Wake,
}

impl Happening {
    #[inline]
    const fn new(class: Class, segment: u16, source: u32) -> Self {
        Self((class as u64) << 48 | (segment as u64) << 32 | source as u64)
    }

    #[inline]
    pub(crate) const fn medium(timer: MediumTimer) -> Self {
        Self::new(Class::Medium, timer.segment, timer.number)
    }

    #[inline]
    pub(crate) const fn host(node: NodeId, port: PortId) -> Self {
        Self::new(Class::Host, port.0, node.0 as u32)
    }

    #[inline]
    pub(crate) const fn processor_free(node: NodeId) -> Self {
        Self::new(Class::ProcessorFree, 0, node.0 as u32)
    }

    #[inline]
    pub(crate) const fn launch(node: NodeId) -> Self {
        Self::new(Class::Launch, 0, node.0 as u32)
    }

    #[inline]
    pub(crate) const fn wake(node: NodeId) -> Self {
        Self::new(Class::Wake, 0, node.0 as u32)
    }

    #[inline]
    pub(crate) const fn class(self) -> Class {
        match self.0 >> 48 {
            0 => Class::Medium,
            1 => Class::Host,
            2 => Class::ProcessorFree,
            3 => Class::Launch,
            _ => Class::Wake,
        }
    }

    /// Which timer or node.
    #[inline]
    pub(crate) const fn source(self) -> u32 {
        self.0 as u32
    }

    /// The port of the host interface.
    #[inline]
    pub(crate) const fn port(self) -> PortId {
        PortId((self.0 >> 32) as u16)
    }

    /// The timer that expires.
    #[inline]
    pub(crate) const fn timer(self) -> MediumTimer {
        MediumTimer { segment: (self.0 >> 32) as u16, number: self.source() }
    }
}

/// Time above tie, as one number in the order of the queue. Times before zero keep their order too.
///
/// Two events with one key are the same in everything, so nobody can see which of them comes first: no sequence
/// number is needed for a total order.
#[inline]
const fn key(at: SimTime, what: Happening) -> u128 {
    ((at.as_ps() as u64 ^ SIGN) as u128) << 64 | what.0 as u128
}

const SIGN: u64 = 1 << 63;

/// Pending events by time.
///
/// The few that come next stand in a sorted list, which is all that a small network ever needs: taking the first out moves
/// nothing, and putting one in moves those before it or those behind it, whichever are fewer. The others wait in a heap.
pub(crate) struct Queue {
    /// `near[first..end]` is the list. It wanders to the right as events leave it in front.
    near: [u128; ROOM],
    first: usize,
    end: usize,
    /// None of these is before any in the list.
    far: BinaryHeap<Reverse<u128>>,
    /// The earliest in `far`; the largest key there is if `far` is empty.
    far_first: u128,
}

/// Places for the list.
const ROOM: usize = 64;

/// A list of up to this length is still put in order faster than a heap.
const NEAR_MAX: usize = ROOM / 2;

impl Default for Queue {
    fn default() -> Self {
        Self { near: [0; ROOM], first: 0, end: 0, far: BinaryHeap::new(), far_first: u128::MAX }
    }
}

impl Queue {
    #[inline(always)]
    pub(crate) fn push(&mut self, at: SimTime, what: Happening) {
        let key = key(at, what);
        if self.end == ROOM {
            self.move_to_front();
        }
        if key > self.far_first {
            self.far.push(Reverse(key));
            return;
        }
        // The shorter way: events before it move into the place of one that has left, or those behind it make room.
        let middle = self.near[(self.first + self.end) / 2 % ROOM];
        if key < middle && self.first > 0 {
            let (room, list) = self.near[..self.end].split_at_mut(self.first);
            let mut place = &mut room[self.first - 1];
            for earlier in list.iter_mut().take_while(|other| **other < key) {
                *place = *earlier;
                place = earlier;
            }
            *place = key;
            self.first -= 1;
        } else {
            let (list, room) = self.near.split_at_mut(self.end);
            let mut place = &mut room[0];
            for later in list[self.first..].iter_mut().rev().take_while(|other| **other > key) {
                *place = *later;
                place = later;
            }
            *place = key;
            self.end += 1;
        }
    }

    /// The earliest event if it is due by `until`.
    #[inline]
    pub(crate) fn pop_until(&mut self, until: SimTime) -> Option<(SimTime, Happening)> {
        let key = match self.near[..self.end].get(self.first) {
            Some(key) => *key,
            None => self.refill()?,
        };
        let at = SimTime::from_ps(((key >> 64) as u64 ^ SIGN) as i64);
        if at > until {
            return None;
        }
        self.first += 1;
        Some((at, Happening(key as u64)))
    }

    /// Moves the list to the front of its room, and all but its first half to the heap if it is too long.
    #[cold]
    fn move_to_front(&mut self) {
        self.near.copy_within(self.first..self.end, 0);
        self.end -= self.first;
        self.first = 0;
        if self.end > NEAR_MAX {
            self.far.extend(self.near[NEAR_MAX / 2..self.end].iter().copied().map(Reverse));
            self.end = NEAR_MAX / 2;
            self.note_first();
        }
    }

    /// Fills the empty list from the heap, but for the room that the next events need. Returns the earliest.
    #[cold]
    fn refill(&mut self) -> Option<u128> {
        (self.first, self.end) = (0, 0);
        while self.end < NEAR_MAX / 2
            && let Some(Reverse(key)) = self.far.pop()
        {
            self.near[self.end] = key;
            self.end += 1;
        }
        self.note_first();
        self.near[..self.end].first().copied()
    }

    fn note_first(&mut self) {
        self.far_first = self.far.peek().map_or(u128::MAX, |Reverse(key)| *key);
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
        for what in [wake(1), wake(0), medium(1, 2), medium(0, 7), Happening::launch(NodeId(0)), medium(0, 2), wake(0)]
        {
            queue.push(SimTime::ZERO, what);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop_until(SimTime::ZERO)).map(|(_, what)| what).collect();
        let expected =
            [medium(0, 2), medium(0, 7), medium(1, 2), Happening::launch(NodeId(0)), wake(0), wake(0), wake(1)];
        assert_eq!(order, expected);
    }

    #[test]
    fn stays_in_order_whatever_the_scale_of_time() {
        use chronoseal_core::random::{self, Purpose, Rng};
        // From everything within a nanosecond to seconds between two events, and from nothing pending to thousands.
        for (seed, scale) in [0, 10, 16, 20, 24, 30, 36, 42].into_iter().enumerate() {
            for pending in [1, 20, 3_000] {
                let mut rng = random::stream(seed as u64, Purpose::Medium, pending);
                let (mut queue, mut plain, mut now) = (Queue::default(), std::collections::BTreeSet::new(), 0i64);
                for number in 0..40_000u32 {
                    let after = (rng.next_u64() & ((1 << scale) - 1)) as i64;
                    let what = Happening::medium(MediumTimer::new(number));
                    plain.insert((now + after, what));
                    queue.push(SimTime::from_ps(now + after), what);
                    while plain.len() as u64 > pending {
                        let expected = plain.pop_first();
                        assert_eq!(queue.pop_until(SimTime::MAX).map(|(at, what)| (at.as_ps(), what)), expected);
                        now = expected.map_or(now, |(at, _)| at);
                    }
                }
                while let Some(expected) = plain.pop_first() {
                    assert_eq!(queue.pop_until(SimTime::MAX).map(|(at, what)| (at.as_ps(), what)), Some(expected));
                }
                assert_eq!(queue.pop_until(SimTime::MAX), None);
            }
        }
    }

    #[test]
    fn many_events_of_one_instant_come_in_their_order() {
        let mut queue = Queue::default();
        let instant = |round: i64| SimTime::from_ps(round * 1_000_000_000);
        for round in 0..3 {
            for number in (0..200_000).rev() {
                queue.push(instant(round), Happening::medium(MediumTimer::new(number)));
            }
            for number in 0..200_000 {
                let what = Happening::medium(MediumTimer::new(number));
                assert_eq!(queue.pop_until(SimTime::MAX), Some((instant(round), what)));
            }
        }
    }

    fn any_happening() -> impl Strategy<Value = Happening> {
        prop_oneof![
            any::<(u16, u32)>().prop_map(|(segment, number)| Happening::medium(MediumTimer { segment, number })),
            any::<u16>().prop_map(|node| Happening::processor_free(NodeId(node))),
            any::<u16>().prop_map(|node| Happening::launch(NodeId(node))),
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
            plain.sort_by_key(|(at, what)| (*at, what.class(), what.timer().segment, what.source()));
            for (at, what) in plain {
                prop_assert_eq!(queue.pop_until(SimTime::MAX), Some((SimTime::from_ps(at), what)));
            }
            prop_assert_eq!(queue.pop_until(SimTime::MAX), None);
        }

        #[test]
        fn stays_in_order_while_events_come_and_go(
            steps in proptest::collection::vec((0i64..100, any_happening(), 0usize..3), 0..400),
        ) {
            let (mut queue, mut plain, mut now) = (Queue::default(), std::collections::BTreeSet::new(), 0);
            for (after, what, pop_count) in steps {
                // Nothing comes before what has been; a set knows no two equal events, and neither does anyone.
                if plain.insert((now + after, what)) {
                    queue.push(SimTime::from_ps(now + after), what);
                }
                for _ in 0..pop_count {
                    let popped = queue.pop_until(SimTime::MAX).map(|(at, what)| (at.as_ps(), what));
                    prop_assert_eq!(popped, plain.pop_first());
                    now = popped.map_or(now, |(at, _)| at);
                }
            }
            while let Some((at, what)) = queue.pop_until(SimTime::MAX) {
                prop_assert_eq!(Some((at.as_ps(), what)), plain.pop_first());
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
