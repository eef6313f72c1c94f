//! Frames that a sender owes by its period, whatever it tells: one that has lost its clock tells nothing.

use std::collections::{BTreeSet, VecDeque};

use chronoseal_core::{Duration, SimTime};

/// A sender makes up for a gap by then, if at all: after so many frames.
const MADE_UP_AFTER: u64 = 64;
/// A clock is off by less than this part of the time.
const DRIFT: i64 = 1_000;

/// When a stream was due that leaves in slots, a frame in each period.
#[derive(Clone, Debug)]
pub(super) struct Periodic {
    period_ns: i64,
    first: Option<SimTime>,
    /// When the last frame of which the sender told was due by the period.
    last: Option<SimTime>,
    /// Frames of which the sender told.
    told: u64,
    /// When frames were due of which the sender did not tell, unless it makes up for them, and how many it had told of by then.
    gaps: VecDeque<(SimTime, u64)>,
    /// Of the frames that were owed.
    owed: BTreeSet<SimTime>,
}

impl Periodic {
    pub(super) fn new(period_ns: i64) -> Self {
        let gaps = VecDeque::new();
        Self { period_ns: period_ns.max(1), first: None, last: None, told: 0, gaps, owed: BTreeSet::new() }
    }

    /// Takes in when frames were due of which the sender told, by time. Gives when others were due that it did not send.
    ///
    /// A sender whose processor was busy is late with some and sends others at once: what is more than one in a period makes up for a gap
    /// before.
    pub(super) fn take(&mut self, told: impl Iterator<Item = SimTime>) -> Vec<SimTime> {
        let mut owed = Vec::new();
        for due in told {
            self.told += 1;
            let Some(last) = self.last else {
                (self.first, self.last) = (Some(due), Some(due));
                continue;
            };
            let distance_ns = (due - last).as_ns();
            let periods = (distance_ns + self.period_ns / 2) / self.period_ns;
            if periods <= 0 {
                self.gaps.pop_back();
            } else {
                let at = |place: i64| last + Duration::from_ns(self.period_ns.saturating_mul(place));
                self.gaps.extend((1..periods).map(|place| (at(place), self.told)));
                // Late by what a processor takes, it keeps its place; by what a clock is off, it does not.
                let drift_ns = self.period_ns / DRIFT * periods;
                let off_ns = (due - at(periods)).as_ns().clamp(-drift_ns, drift_ns);
                self.last = Some(at(periods) + Duration::from_ns(off_ns));
            }
            while self.gaps.front().is_some_and(|(_, told)| told + MADE_UP_AFTER <= self.told) {
                owed.extend(self.gaps.pop_front().map(|(due, _)| due));
            }
        }
        self.owed.extend(&owed);
        owed
    }

    /// When frames were due that the sender had not told of when the run was over.
    pub(super) fn finish(&mut self, end: SimTime) -> Vec<SimTime> {
        let mut owed: Vec<SimTime> = self.gaps.drain(..).map(|(due, _)| due).collect();
        let Some(last) = self.last else { return owed };
        let due = |place: i64| last + Duration::from_ns(self.period_ns.saturating_mul(place));
        // The next one may be due just before the end, and be told of just after it.
        let half = Duration::from_ns(self.period_ns / 2);
        owed.extend((1..).map(due).take_while(|due| *due + half < end));
        self.owed.extend(&owed);
        owed
    }

    /// True if the sender told of its first frame before a slot, or in it.
    pub(super) fn has_begun(&self, slot: SimTime) -> bool {
        self.first.is_some_and(|first| first - Duration::from_ns(self.period_ns / 2) <= slot)
    }

    /// True if a frame that its sender says it owes is one of those that it owes by its period.
    pub(super) fn is_owed(&self, due: SimTime) -> bool {
        let half = Duration::from_ns(self.period_ns / 2);
        self.owed.range(due - half..=due + half).next().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn at(ms: i64) -> SimTime {
        SimTime::ZERO + Duration::from_ns(ms * MS)
    }

    #[test]
    fn what_is_due_in_a_gap_is_owed() {
        let mut periodic = Periodic::new(10 * MS);
        assert!(!periodic.has_begun(at(100)));
        assert_eq!(
            periodic.take([12, 22, 52, 53].map(at).into_iter()),
            [],
            "the sender may make up for it, and does for one"
        );
        let others: Vec<i64> = (6..72).map(|place| place * 10 + 2).collect();
        assert_eq!(periodic.take(others.into_iter().map(at)), [at(32)]);
        assert!(periodic.has_begun(at(10)) && !periodic.has_begun(at(2)));
        assert_eq!(periodic.finish(at(738)), [at(722), at(732)]);
        assert!(periodic.is_owed(at(33)) && !periodic.is_owed(at(43)));
    }

    #[test]
    fn a_busy_sender_owes_nothing_while_it_keeps_its_rate() {
        let mut periodic = Periodic::new(2_500_000);
        // Four frames in 10 ms, two of them together and one late.
        let us = (0..100).flat_map(|four| [0, 4_030, 6_060, 8_090].map(|after| four * 10_000 + after));
        assert_eq!(periodic.take(us.map(|us| SimTime::ZERO + Duration::from_us(us))), []);
        assert_eq!(periodic.finish(at(1_000)), []);
    }

    #[test]
    fn a_clock_that_is_off_owes_nothing() {
        let mut periodic = Periodic::new(10 * MS);
        let told = (0..100_000).map(|place| SimTime::ZERO + Duration::from_ns(place * (10 * MS + 2_000)));
        assert_eq!(periodic.take(told), []);
    }

    #[test]
    fn a_sender_that_told_nothing_owes_what_its_receivers_miss() {
        assert_eq!(Periodic::new(10 * MS).finish(at(100)), []);
    }
}
