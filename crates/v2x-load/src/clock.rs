//! Two clocks: what passed, and what this thread was given of it.

use std::time::Instant;

use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};

/// The host's clock since a start, and this thread's share of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// Since the start `[ns]`.
    pub(crate) fn now_ns(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Processor time of this thread `[ns]`.
    pub(crate) fn thread_ns() -> u64 {
        let spent: TimeSpec = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every Linux has this clock");
        let ns = spent.tv_sec() * 1_000_000_000 + spent.tv_nsec();
        ns.unsigned_abs()
    }
}
