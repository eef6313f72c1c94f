//! Which masters were heard out of schedule lately.

use chronoseal_core::{Duration, LocalTime};

use super::MASTERS_MAX;

/// `local_async_membership`: one bit for each master that was heard out of schedule within the monitoring interval.
///
/// The standard keeps two registers that are cleared in turn, since the interval, a cycle and an acceptance window, is longer than
/// the distance of two evaluations. The time at which each bit was last set gives the same without a register to clear.
#[derive(Clone, Debug)]
pub(super) struct OutOfSchedule {
    interval: Duration,
    last: [Option<LocalTime>; MASTERS_MAX],
}

impl OutOfSchedule {
    pub(super) fn new(interval: Duration) -> Self {
        Self { interval, last: [None; MASTERS_MAX] }
    }

    pub(super) fn add(&mut self, at: LocalTime, membership: u32) {
        for (bit, last) in self.last.iter_mut().enumerate() {
            if membership >> bit & 1 == 1 {
                *last = Some(at);
            }
        }
    }

    /// How many masters were heard in the interval that ends at a time.
    pub(super) fn count(&self, at: LocalTime) -> u32 {
        let since = at - self.interval;
        self.last.iter().filter(|last| last.is_some_and(|last| last >= since)).count() as u32
    }

    pub(super) fn clear(&mut self) {
        self.last = [None; MASTERS_MAX];
    }
}
