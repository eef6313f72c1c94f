//! The schedule table at work: one entry after the other, at its time, in every cycle.

use chronoseal_core::{Duration, SimTime, StreamId};

use super::ways::HopId;
use crate::medium::FrameId;
use crate::schedule::ScheduleTable;

/// A frame in its turn, or the place where it should be.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    held: Option<FrameId>,
    /// The last cycle in which a frame was taken.
    taken: Option<i64>,
}

/// One entry of the dispatch order.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Its action, from the start of a cycle, in `0..cycle`.
    phase: Duration,
    /// How many cycles after the slot's own the action happens.
    carry: i64,
    /// Which turn, as the table counts them.
    turn: usize,
    /// At which switch on its stream's way.
    hop: HopId,
}

/// What one entry found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    /// At which switch on its stream's way.
    pub(super) hop: HopId,
    /// The cycle its slot began in.
    pub(super) cycle: i64,
    /// The frame to pass on, if switches wait for dispatch times and one is here.
    pub(super) frame: Option<FrameId>,
    /// No frame was taken in this turn.
    pub(super) missing: bool,
}

/// Walks the table.
pub(super) struct Executor {
    cycle_len: Duration,
    entries: Vec<Entry>,
    places: Vec<Place>,
    next: usize,
    cycle: i64,
}

impl Executor {
    pub(super) fn new(
        table: &ScheduleTable,
        hop_of: impl Fn(StreamId, u16) -> HopId,
        waits_for_dispatch: bool,
    ) -> Self {
        let mut entries: Vec<Entry> = (table.turns().enumerate())
            .map(|(turn, entry)| {
                let at = if waits_for_dispatch { entry.dispatch } else { entry.end };
                let (phase, carry) = (at.rem_floor(table.cluster_cycle), at.div_floor(table.cluster_cycle));
                Entry { phase, carry, turn, hop: hop_of(entry.stream, entry.hop) }
            })
            .collect();
        entries.sort_by_key(|entry| (entry.phase, entry.turn));
        Self {
            cycle_len: table.cluster_cycle,
            places: vec![Place::default(); entries.len()],
            entries,
            next: 0,
            cycle: 0,
        }
    }

    /// When the next entry acts; `None` for an empty table.
    pub(super) fn next_at(&self) -> Option<SimTime> {
        let entry = self.entries.get(self.next)?;
        Some(SimTime::ZERO + self.cycle_len * self.cycle + entry.phase)
    }

    /// Marks a turn as used in `cycle`. False if it already was.
    pub(super) fn take(&mut self, turn: usize, cycle: i64) -> bool {
        let place = &mut self.places[turn];
        let fresh = place.taken.is_none_or(|taken| taken < cycle);
        if fresh {
            place.taken = Some(cycle);
        }
        fresh
    }

    /// Keeps a taken frame until its entry acts.
    pub(super) fn hold(&mut self, turn: usize, frame: FrameId) {
        self.places[turn].held = Some(frame);
    }

    /// Acts on the next entry and moves on.
    pub(super) fn act(&mut self) -> Option<Due> {
        let entry = *self.entries.get(self.next)?;
        let cycle = self.cycle - entry.carry;
        self.next += 1;
        if self.next == self.entries.len() {
            self.next = 0;
            self.cycle += 1;
        }
        let place = &mut self.places[entry.turn];
        let missing = cycle >= 0 && place.taken.is_none_or(|taken| taken < cycle);
        Some(Due { hop: entry.hop, cycle, frame: place.held.take(), missing })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Slot;

    #[test]
    fn a_slot_that_acts_after_the_end_of_its_cycle_belongs_to_the_cycle_it_began_in() {
        let ms = Duration::from_ms;
        let slot = Slot {
            stream: StreamId(0),
            instance: 0,
            release: ms(9),
            start: ms(9),
            frame_time: Duration::from_us(7),
            dispatch: ms(12),
            end: ms(12),
        };
        let table = ScheduleTable { cluster_cycle: ms(10), slots: vec![slot], ..ScheduleTable::default() };
        let mut executor = Executor::new(&table, |_, _| HopId(0), true);
        let mut frames = crate::medium::FrameStore::new();
        let frame = frames.allocate(crate::medium::FrameLabel::default());
        let next = |executor: &mut Executor| {
            let at = executor.next_at().expect("the table has a slot");
            let due = executor.act().expect("the table has a slot");
            (at - SimTime::ZERO, due.cycle, due.frame, due.missing)
        };
        assert_eq!(next(&mut executor), (ms(2), -1, None, false), "no slot began before the first cycle");
        assert!(executor.take(0, 0));
        executor.hold(0, frame);
        assert_eq!(next(&mut executor), (ms(12), 0, Some(frame), false));
        assert_eq!(next(&mut executor), (ms(22), 1, None, true));
    }
}
