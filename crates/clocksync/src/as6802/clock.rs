//! The local clock of a device: where in which integration cycle it is.

use chronoseal_core::{Duration, LocalTime};

/// `local_clock` and `local_integration_cycle` of the standard.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClusterClock {
    /// When the current cycle began.
    began: LocalTime,
    /// Its number.
    cycle: u32,
    length: Duration,
    cycles: u32,
}

impl ClusterClock {
    pub(super) fn new(length: Duration, cycles: u32) -> Self {
        Self { began: LocalTime::ZERO, cycle: 0, length, cycles: cycles.max(1) }
    }

    /// Shows `local_clock` of cycle number `cycle` at a time.
    pub(super) fn set(&mut self, at: LocalTime, local_clock: Duration, cycle: u32) {
        self.began = at - local_clock;
        self.cycle = cycle % self.cycles;
    }

    /// Begins cycle number `cycle` at a time that is still to come: until then it is in the one before.
    pub(super) fn begin_at(&mut self, at: LocalTime, cycle: u32) {
        self.began = at - self.length;
        self.cycle = (cycle % self.cycles).checked_sub(1).unwrap_or(self.cycles - 1);
    }

    /// Sets the clock back by a span, or forth if it is negative.
    pub(super) fn set_back(&mut self, by: Duration) {
        self.began += by;
    }

    pub(super) fn next_cycle(&mut self) {
        self.began += self.length;
        self.cycle = (self.cycle + 1) % self.cycles;
    }

    pub(super) fn cycle(&self) -> u32 {
        self.cycle
    }

    /// Time since the current cycle began.
    pub(super) fn local_clock(&self, at: LocalTime) -> Duration {
        at - self.began
    }

    /// When the clock shows `local_clock` in the current cycle.
    pub(super) fn shows(&self, local_clock: Duration) -> LocalTime {
        self.began + local_clock
    }

    /// When the next cycle begins.
    pub(super) fn ends(&self) -> LocalTime {
        self.began + self.length
    }

    /// Time since cycle 0 began.
    pub(super) fn cluster_time(&self, at: LocalTime) -> Duration {
        self.length.saturating_mul(i64::from(self.cycle)) + self.local_clock(at)
    }
}
