//! Starts of scheduled frames that a line is kept free for.

use chronoseal_core::{Duration, SimTime};

/// Times of scheduled frames on a line, which no lower class may delay (timely block, SAE AS6802).
#[derive(Clone, Debug, Default)]
pub struct ReservedStarts {
    cycle: Duration,
    /// Sorted, each in `0..cycle`: the earliest moment of each start.
    phases: Vec<Duration>,
    /// A start may come this much later; the line is kept free until then.
    hold: Duration,
}

impl ReservedStarts {
    /// Starts at `phases` (taken modulo `cycle`) of every cycle, each early or late by up to `tolerance`.
    pub fn new(cycle: Duration, phases: impl Iterator<Item = Duration>, tolerance: Duration) -> Self {
        let mut phases: Vec<_> = phases.map(|phase| (phase - tolerance).rem_floor(cycle)).collect();
        phases.sort_unstable();
        phases.dedup();
        Self { cycle, phases, hold: tolerance * 2 }
    }

    /// When to look again if a frame that keeps the line for `occupancy` from `now` on could delay a reserved start;
    /// `None` if it may go.
    ///
    /// The instant of a start is part of what is reserved: whoever is served first then, it is not the lower class.
    #[inline]
    pub(crate) fn blocked_until(&self, now: SimTime, occupancy: Duration) -> Option<SimTime> {
        let first = *self.phases.first()?;
        // The first start that has not been over before now.
        let since = now - self.hold;
        let phase = since.since_zero().rem_floor(self.cycle);
        let cycle_start = since - phase;
        let index = self.phases.partition_point(|start| *start < phase);
        let start = cycle_start + self.phases.get(index).copied().unwrap_or(self.cycle + first);
        (now + occupancy > start).then(|| start + self.hold + Duration::from_ps(1))
    }
}
