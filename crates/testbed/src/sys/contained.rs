//! A process of somebody else, from which nothing is left when this one ends.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use nix::sched::{CloneFlags, CpuSet, sched_setaffinity, unshare};
use nix::sys::signal::Signal;
use nix::unistd::Pid;

/// Starts a program as the first process of a process namespace of its own: when it ends, whatever it started ends, and it is ended when
/// the calling thread does. It may use these processors, or all if there are none.
///
/// All children of this process after that are in the namespace, so there can be one such program only, and no further thread.
pub(crate) fn spawn_contained(mut command: Command, cpus: &[usize]) -> io::Result<Child> {
    let mut set = CpuSet::new();
    let all = 0..CpuSet::count();
    let wanted: Vec<usize> = if cpus.is_empty() { all.collect() } else { cpus.to_vec() };
    wanted.into_iter().try_for_each(|cpu| set.set(cpu))?;
    unshare(CloneFlags::CLONE_NEWPID)?;
    let prepare = move || {
        nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
        sched_setaffinity(Pid::from_raw(0), &set)?;
        Ok(())
    };
    // SAFETY: between fork and exec only two system calls are made, which allocate nothing.
    unsafe { command.pre_exec(prepare) };
    command.spawn()
}
