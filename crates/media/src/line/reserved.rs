//! Starts of scheduled frames that a line is kept free for.

use chronoseal_core::{Duration, LocalTime, Oscillator, SimTime};

/// Times of scheduled frames on a line, which no lower class may delay (timely block, SAE AS6802).
#[derive(Clone, Debug)]
pub struct ReservedStarts {
    /// By what the cycles are counted; while there is nothing, nothing is reserved.
    clock: Option<Oscillator>,
    cycle: Duration,
    /// Sorted, each in `0..cycle`: the earliest moment of each start.
    phases: Vec<Duration>,
    /// A start may come this much later; the line is kept free until then.
    hold: Duration,
}

impl Default for ReservedStarts {
    /// None.
    fn default() -> Self {
        let (cycle, hold) = (Duration::ZERO, Duration::ZERO);
        Self { clock: Some(Oscillator::default()), cycle, phases: Vec::new(), hold }
    }
}

impl ReservedStarts {
    /// Starts at `phases` (taken modulo `cycle`) of every cycle, each early or late by up to `tolerance`. Cycles are counted by the
    /// time of the run, until [`Self::follow`] says by what else.
    pub fn new(cycle: Duration, phases: impl Iterator<Item = Duration>, tolerance: Duration) -> Self {
        let mut phases: Vec<_> = phases.map(|phase| (phase - tolerance).rem_floor(cycle)).collect();
        phases.sort_unstable();
        phases.dedup();
        Self { clock: Some(Oscillator::default()), cycle, phases, hold: tolerance * 2 }
    }

    /// Counts cycles by what a clock shows from now on; without one nothing is reserved.
    pub fn follow(&mut self, clock: Option<Oscillator>) {
        self.clock = clock;
    }

    /// When to look again if a frame that keeps the line for `occupancy` from `now` on could delay a reserved start;
    /// `None` if it may go.
    ///
    /// The instant of a start is part of what is reserved: whoever is served first then, it is not the lower class.
    #[inline(always)]
    pub(crate) fn blocked_until(&self, now: SimTime, occupancy: Duration) -> Option<SimTime> {
        // Most lines have nothing reserved.
        if self.phases.is_empty() { None } else { self.blocked_by_a_start(now, occupancy) }
    }

    fn blocked_by_a_start(&self, now: SimTime, occupancy: Duration) -> Option<SimTime> {
        let first = *self.phases.first()?;
        let clock = self.clock.as_ref()?;
        let shown = clock.local(now).since_zero();
        // The first start that has not been over before now.
        let since = shown - self.hold;
        let phase = since.rem_floor(self.cycle);
        let cycle_start = since - phase;
        let index = self.phases.partition_point(|start| *start < phase);
        let start = cycle_start + self.phases.get(index).copied().unwrap_or(self.cycle + first);
        (shown + occupancy > start).then(|| clock.sim(LocalTime::ZERO + start + self.hold + Duration::from_ps(1)))
    }
}
