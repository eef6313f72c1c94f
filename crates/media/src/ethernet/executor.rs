//! The schedule table at work: one entry after the other, at its time, in every cycle. Times are those that the clocks of switches
//! show: each clock has a walk of its own through the entries of the switches that go by it.

use chronoseal_core::{Duration, StreamId};

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

/// The entries that go by one clock, and which of them is next.
#[derive(Clone, Debug, Default)]
struct Walk {
    entries: Vec<Entry>,
    next: usize,
    cycle: i64,
}

/// Walks the table.
pub(super) struct Executor {
    cycle_len: Duration,
    places: Vec<Place>,
    walks: Vec<Walk>,
}

impl Executor {
    /// With so many clocks, of which `clock_of` says which one a hop goes by.
    pub(super) fn new(
        table: &ScheduleTable,
        hop_of: impl Fn(StreamId, u16) -> HopId,
        (clocks, clock_of): (usize, impl Fn(HopId) -> usize),
        waits_for_dispatch: bool,
    ) -> Self {
        let mut walks = vec![Walk::default(); clocks];
        let mut turns = 0;
        for (turn, entry) in table.turns().enumerate() {
            let at = if waits_for_dispatch { entry.dispatch } else { entry.end };
            let (phase, carry) = (at.rem_floor(table.cluster_cycle), at.div_floor(table.cluster_cycle));
            let hop = hop_of(entry.stream, entry.hop);
            walks[clock_of(hop)].entries.push(Entry { phase, carry, turn, hop });
            turns += 1;
        }
        for walk in &mut walks {
            walk.entries.sort_by_key(|entry| (entry.phase, entry.turn));
        }
        Self { cycle_len: table.cluster_cycle, places: vec![Place::default(); turns], walks }
    }

    /// What a clock shows when the next entry acts that goes by it; `None` if there is none.
    pub(super) fn next_at(&self, clock: usize) -> Option<Duration> {
        let walk = self.walks.get(clock)?;
        let entry = walk.entries.get(walk.next)?;
        Some(self.cycle_len * walk.cycle + entry.phase)
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

    /// Acts on the next entry that goes by a clock and moves on.
    pub(super) fn act(&mut self, clock: usize) -> Option<Due> {
        let walk = self.walks.get_mut(clock)?;
        let entry = *walk.entries.get(walk.next)?;
        let cycle = walk.cycle - entry.carry;
        walk.next += 1;
        if walk.next == walk.entries.len() {
            walk.next = 0;
            walk.cycle += 1;
        }
        let place = &mut self.places[entry.turn];
        let missing = cycle >= 0 && place.taken.is_none_or(|taken| taken < cycle);
        Some(Due { hop: entry.hop, cycle, frame: place.held.take(), missing })
    }

    /// Goes on with the first entry from what a clock shows on, earlier or later than what was next. Whatever was taken in a cycle
    /// that is still to come then was taken by another time.
    pub(super) fn seek(&mut self, clock: usize, shown: Duration) {
        let Some(walk) = self.walks.get_mut(clock).filter(|walk| !walk.entries.is_empty()) else { return };
        let phase = shown.rem_floor(self.cycle_len);
        walk.cycle = shown.div_floor(self.cycle_len);
        walk.next = walk.entries.partition_point(|entry| entry.phase < phase);
        for entry in &walk.entries {
            let place = &mut self.places[entry.turn];
            place.taken = place.taken.filter(|taken| *taken <= walk.cycle);
        }
        if walk.next == walk.entries.len() {
            (walk.next, walk.cycle) = (0, walk.cycle + 1);
        }
    }

    /// The frames that wait for an entry that goes by a clock, which will not act on them.
    pub(super) fn give_up(&mut self, clock: usize) -> Vec<(HopId, FrameId)> {
        let entries = self.walks.get(clock).map_or(&[][..], |walk| &walk.entries);
        let places = &mut self.places;
        entries.iter().filter_map(|entry| Some((entry.hop, places[entry.turn].held.take()?))).collect()
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
        let mut executor = Executor::new(&table, |_, _| HopId(0), (1, |_| 0), true);
        let mut frames = crate::medium::FrameStore::new();
        let frame = frames.allocate(crate::medium::FrameLabel::default());
        let next = |executor: &mut Executor| {
            let at = executor.next_at(0).expect("the table has a slot");
            let due = executor.act(0).expect("the table has a slot");
            (at, due.cycle, due.frame, due.missing)
        };
        assert_eq!(next(&mut executor), (ms(2), -1, None, false), "no slot began before the first cycle");
        assert!(executor.take(0, 0));
        executor.hold(0, frame);
        assert_eq!(next(&mut executor), (ms(12), 0, Some(frame), false));
        assert_eq!(next(&mut executor), (ms(22), 1, None, true));
    }

    #[test]
    fn a_clock_that_jumps_gives_up_what_waits_and_begins_where_it_is() {
        let ms = Duration::from_ms;
        let slot = |stream, dispatch| Slot {
            stream: StreamId(stream),
            instance: 0,
            release: Duration::ZERO,
            start: Duration::ZERO,
            frame_time: Duration::from_us(7),
            dispatch,
            end: dispatch,
        };
        let slots = vec![slot(0, ms(2)), slot(1, ms(4)), slot(2, ms(6))];
        let table = ScheduleTable { cluster_cycle: ms(10), slots, ..ScheduleTable::default() };
        // The one in the middle goes by another clock.
        let mut executor =
            Executor::new(&table, |stream, _| HopId(u32::from(stream.0)), (2, |hop: HopId| hop.index() % 2), true);
        let mut frames = crate::medium::FrameStore::new();
        let frame = frames.allocate(crate::medium::FrameLabel::default());
        executor.seek(0, ms(45));
        assert_eq!((executor.next_at(0), executor.next_at(1)), (Some(ms(46)), Some(ms(4))));
        assert!(executor.take(2, 4));
        executor.hold(2, frame);
        assert_eq!(executor.give_up(1), []);
        assert_eq!(executor.give_up(0), [(HopId(2), frame)]);
        executor.seek(0, ms(7));
        assert_eq!(executor.next_at(0), Some(ms(12)));
        assert!(executor.take(2, 0), "the fourth cycle is still to come");
    }
}
