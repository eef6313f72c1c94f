//! Times single calls on one processor. The only place outside live runs where the wall clock is read.

use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};

use crate::clock::monotonic_ns;
use crate::sys;

/// This thread kept on one processor, the last one allowed, for as long as the value lives.
#[derive(Debug)]
pub struct PinnedCore {
    cpu: Option<usize>,
    before: nix::Result<nix::sched::CpuSet>,
}

impl PinnedCore {
    /// Moves this thread there.
    pub fn new() -> Self {
        let before = nix::sched::sched_getaffinity(nix::unistd::Pid::from_raw(0));
        let cpu = sys::allowed_cpus().last().copied().filter(|cpu| sys::pin_to(*cpu));
        Self { cpu, before }
    }

    /// Which one; `None` if the host refused.
    pub fn cpu(&self) -> Option<usize> {
        self.cpu
    }
}

impl Default for PinnedCore {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for PinnedCore {
    fn drop(&mut self) {
        if let Ok(before) = &self.before {
            // If the host refuses now, the thread stays where it is: slower perhaps, never wrong.
            let _ = nix::sched::sched_setaffinity(nix::unistd::Pid::from_raw(0), before);
        }
    }
}

/// How long one call takes `[ns]`, the reading of the clock included, and what it returns.
pub fn time<T>(call: impl FnOnce() -> T) -> (i64, T) {
    let before = monotonic_ns();
    let result = std::hint::black_box(call());
    (monotonic_ns() - before, result)
}

/// What [`time`] shows for a call that does nothing: the median of 1001 `[ns]`.
pub fn overhead_ns() -> i64 {
    let mut samples: Vec<i64> = (0..1001).map(|_| time(|| ()).0).collect();
    samples.sort_unstable();
    chronoseal_core::statistics::median(&samples).unwrap_or(0)
}

/// Processor time this process has used so far `[ns]`; 0 if the kernel does not tell.
pub fn process_cpu_ns() -> i64 {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map_or(0, |time| time.num_nanoseconds())
}
