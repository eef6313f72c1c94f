//! Events that wait for the row of their frame: what that says as well is not stored a second time.
//!
//! Rows of frames come when it is known how they ended, a while after their events. Events keep their order, so one that waits holds up those
//! behind it.

use std::collections::{BTreeMap, VecDeque};

use chronoseal_core::{EventKind, NodeId, SimTime, StreamId};

use crate::tables::{TOLD_DELIVERED, TOLD_SENT};
use crate::{EventRow, FrameRow};

/// So many wait at most; the oldest is stored then.
const WAITING_MAX: usize = 1 << 20;

/// A clock of a node is off by less than this part of the time…
const DRIFT: i64 = 5_000;
/// … and what is put down to that is no more than this `[ps]`.
const DRIFT_MAX: i64 = 1_000_000;

/// What was told of a frame by one who sent it or accepted it.
type Key = (StreamId, u64, NodeId, bool);

/// Events in their order, the first of which waits for a row.
#[derive(Default)]
pub(crate) struct Pending {
    /// `None` for one that need not be stored.
    waiting: VecDeque<Option<EventRow>>,
    /// How many were taken out at the front.
    gone: usize,
    /// Where those are that a row may say.
    open: BTreeMap<Key, usize>,
}

impl Pending {
    /// Takes an event.
    pub(crate) fn event(&mut self, row: &EventRow) {
        if let Some(key) = key_of(row) {
            self.open.insert(key, self.gone + self.waiting.len());
        }
        self.waiting.push_back(Some(*row));
    }

    /// Takes the row of a frame, which says when it was sent, when it was due and when it was accepted: which of its events it says.
    pub(crate) fn frame(&mut self, row: &FrameRow) -> u16 {
        let mut told = 0;
        if row.attack.is_some() || row.stream == StreamId::NONE {
            return told;
        }
        if let (Some(sent_at), Some(due_at)) = (row.sent_at, row.due_at) {
            let says = |event: &EventRow| {
                // Its sender counts by its own clock.
                let (late, value) = ((sent_at - due_at).as_ps(), event.event.value);
                is_same(event.time, sent_at) && (late - value).abs() <= 1_000 + (value.abs() / DRIFT).min(DRIFT_MAX)
            };
            let is_dropped = self.drop_if((row.stream, row.sequence, row.sender, false), &says);
            told |= if is_dropped { TOLD_SENT } else { 0 };
        }
        if let (Some(accepted_at), Some(_)) = (row.accepted_at, row.due_at) {
            let key = (row.stream, row.sequence, row.at, true);
            let is_dropped = self.drop_if(key, &|event| is_same(event.time, accepted_at));
            told |= if is_dropped { TOLD_DELIVERED } else { 0 };
        }
        told
    }

    /// True if there was such an event, and need not be stored.
    fn drop_if(&mut self, key: Key, says: &dyn Fn(&EventRow) -> bool) -> bool {
        let place = self.open.remove(&key).and_then(|place| place.checked_sub(self.gone));
        let Some(slot) = place.and_then(|place| self.waiting.get_mut(place)) else { return false };
        slot.take_if(|event| says(event)).is_some()
    }

    /// The next event to be stored, if it is known that it is.
    pub(crate) fn next(&mut self) -> Option<EventRow> {
        while let Some(front) = self.waiting.front() {
            let key = front.as_ref().and_then(key_of);
            let is_open = key.is_some_and(|key| self.open.get(&key) == Some(&self.gone));
            if is_open && self.waiting.len() <= WAITING_MAX {
                return None;
            }
            if let Some(key) = key.filter(|_| is_open) {
                self.open.remove(&key);
            }
            self.gone += 1;
            if let Some(event) = self.waiting.pop_front().flatten() {
                return Some(event);
            }
        }
        None
    }

    /// All that are left, in their order.
    pub(crate) fn rest(self) -> impl Iterator<Item = EventRow> {
        self.waiting.into_iter().flatten()
    }
}

/// By what the row of a frame finds an event that it may say.
fn key_of(row: &EventRow) -> Option<Key> {
    let event = &row.event;
    let accepted = match event.kind {
        EventKind::Sent => false,
        EventKind::Delivered => true,
        _ => return None,
    };
    (event.stream != StreamId::NONE).then_some((event.stream, event.sequence, row.node, accepted))
}

/// In whole nanoseconds, as rows are stored.
fn is_same(one: SimTime, other: SimTime) -> bool {
    one.since_zero().as_ns() == other.since_zero().as_ns()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoseal_core::{Duration, Event};

    use crate::Outcome;

    const STREAM: StreamId = StreamId(3);

    fn at(us: i64) -> SimTime {
        SimTime::ZERO + Duration::from_us(us)
    }

    fn event(us: i64, kind: EventKind, node: u16, value_us: i64) -> EventRow {
        let value = Duration::from_us(value_us).as_ps();
        EventRow { time: at(us), node: NodeId(node), event: Event { value, ..Event::of(kind, STREAM, 7) } }
    }

    #[test]
    fn what_the_row_of_a_frame_says_is_not_stored_again_and_the_rest_keeps_its_order() {
        let row = FrameRow {
            sent_at: Some(at(12)),
            due_at: Some(at(10)),
            accepted_at: Some(at(40)),
            ..FrameRow::open(STREAM, 7, NodeId(0), NodeId(1), at(12), Outcome::Delivered)
        };
        let sent = event(12, EventKind::Sent, 0, 2);
        let other = event(20, EventKind::SyncAcquired, 1, 0);
        let delivered = event(40, EventKind::Delivered, 1, 30);
        let stored = |events: &[EventRow]| {
            let mut pending = Pending::default();
            events.iter().for_each(|event| pending.event(event));
            assert_eq!(pending.next(), None, "the first waits for its row");
            let told = pending.frame(&row);
            let mut stored: Vec<EventRow> = std::iter::from_fn(|| pending.next()).collect();
            stored.extend(pending.rest());
            (stored, told)
        };
        assert_eq!(stored(&[sent, other, delivered]), (vec![other], TOLD_SENT | TOLD_DELIVERED));
        // Handed over before it left, or later than the row says that it was due.
        let early = event(11, EventKind::Sent, 0, 1);
        assert_eq!(stored(&[early, other, delivered]), (vec![early, other], TOLD_DELIVERED));
        let later = event(12, EventKind::Sent, 0, 5);
        assert_eq!(stored(&[later, other]), (vec![later, other], 0));
        // By a clock that is off by 50 ppm, and by none that there is.
        let drifting = |ps: i64| EventRow { event: Event { value: sent.event.value + ps, ..sent.event }, ..sent };
        assert_eq!(stored(&[drifting(1_100)]), (vec![], TOLD_SENT));
        assert_eq!(stored(&[drifting(1_500)]), (vec![drifting(1_500)], 0));
        // At another node, or of a copy.
        let elsewhere = event(40, EventKind::Delivered, 2, 30);
        assert_eq!(stored(&[sent, elsewhere]), (vec![elsewhere], TOLD_SENT));
    }

    #[test]
    fn one_that_waits_in_vain_is_stored_when_too_many_do() {
        let mut pending = Pending::default();
        pending.event(&event(1, EventKind::Sent, 0, 0));
        for _ in 0..WAITING_MAX {
            pending.event(&event(2, EventKind::SyncAcquired, 0, 0));
        }
        assert_eq!(pending.next().map(|event| event.time), Some(at(1)));
    }
}
