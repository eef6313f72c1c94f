//! Scheduling class, processor and timer slack of the calling thread.

use std::io;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// Asks for `SCHED_FIFO` at `priority`. False if the host does not grant it.
pub(crate) fn try_fifo(priority: i32) -> bool {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the parameters live through the call; 0 names the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const parameters) == 0 }
}

/// Timers fire at their time instead of up to 50 us later (the default slack of a thread without real-time class).
pub(crate) fn tighten_timers() -> io::Result<()> {
    Ok(nix::sys::prctl::set_timerslack(1)?)
}

/// The processors this thread may run on.
pub(crate) fn allowed_cpus() -> Vec<usize> {
    let allowed = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
    (0..CpuSet::count()).filter(|cpu| allowed.is_set(*cpu).unwrap_or(false)).collect()
}

/// Keeps the calling thread on one processor. False if the host does not allow it.
pub(crate) fn pin_to(cpu: usize) -> bool {
    let mut set = CpuSet::new();
    set.set(cpu).is_ok() && sched_setaffinity(Pid::from_raw(0), &set).is_ok()
}
