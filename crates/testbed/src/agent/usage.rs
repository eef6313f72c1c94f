//! What a program took of its processor and of memory, with all that it started.

use std::path::Path;

use chronoseal_core::Duration;
use nix::sys::resource::{UsageWho, getrusage};

use crate::log::ProgramUsage;

/// The kernel counts processor time of processes in such parts of a second (`USER_HZ`, which is 100 wherever programs see it).
const TICK: Duration = Duration::from_ms(10);

/// What is known of a program before it ends.
pub(super) struct Meter {
    /// What children of this process had taken before it was started.
    before: Duration,
    /// Its processes, as they last were.
    alive: Option<Alive>,
}

/// Processes that are there.
struct Alive {
    processor: Duration,
    memory: u64,
}

impl Meter {
    /// Its program is about to be started.
    pub(super) fn start() -> Self {
        Self { before: of_children(), alive: None }
    }

    /// Looks at the processes of the program, of which `pid` is the first, before they are ended.
    pub(super) fn look(&mut self, pid: u32) {
        self.alive = alive(Path::new("/proc"), pid);
    }

    /// Once it has ended. What a process took is only known if the one that started it waited for it, so the sum may be too small; that it
    /// is shows where it is less than what its processes had taken when they were looked at.
    pub(super) fn end(self) -> ProgramUsage {
        let taken = of_children() - self.before;
        let is_whole = self.alive.as_ref().is_none_or(|alive| alive.processor <= taken);
        ProgramUsage {
            processor_ps: is_whole.then(|| taken.as_ps()),
            memory: self.alive.map(|alive| alive.memory),
            ..ProgramUsage::default()
        }
    }
}

/// What all children that have ended took, with those that they waited for.
fn of_children() -> Duration {
    getrusage(UsageWho::RUSAGE_CHILDREN).map_or(Duration::ZERO, |usage| {
        let time = |time: nix::sys::time::TimeVal| Duration::from_us(time.tv_sec() * 1_000_000 + time.tv_usec());
        time(usage.user_time()) + time(usage.system_time())
    })
}

/// A process and all that come from it; `None` if it cannot be seen.
fn alive(proc: &Path, pid: u32) -> Option<Alive> {
    let mut sum = Alive { processor: Duration::ZERO, memory: 0 };
    let mut open = vec![pid];
    let mut is_first = true;
    while let Some(pid) = open.pop() {
        let folder = proc.join(pid.to_string());
        let found = std::fs::read_to_string(folder.join("stat")).ok().as_deref().and_then(processor);
        let memory = std::fs::read_to_string(folder.join("status")).ok().as_deref().and_then(peak);
        match (found, memory) {
            (Some(processor), Some(memory)) => {
                sum.processor += processor;
                sum.memory += memory;
            }
            // It ended meanwhile, or it has ended and nobody has waited for it.
            _ if is_first => return None,
            _ => {}
        }
        is_first = false;
        for task in folder.join("task").read_dir().into_iter().flatten().flatten() {
            let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            open.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
    }
    Some(sum)
}

/// What a process and those it waited for have taken (proc_pid_stat(5): utime, stime, cutime, cstime).
fn processor(stat: &str) -> Option<Duration> {
    // Its name may have spaces and brackets.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks: Vec<i64> = fields.split_whitespace().skip(11).take(4).map_while(|field| field.parse().ok()).collect();
    (ticks.len() == 4).then(|| TICK * ticks.iter().sum::<i64>())
}

/// The most that a process had in memory `[byte]` (proc_pid_status(5): VmHWM).
fn peak(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_summed_over_their_tree() {
        let proc = tempfile::tempdir().unwrap();
        let process = |pid: u32, ticks: u32, kilobytes: u32, children: &str| {
            let folder = proc.path().join(pid.to_string());
            std::fs::create_dir_all(folder.join(format!("task/{pid}"))).unwrap();
            let stat = format!("{pid} (a) b) S 1 1 1 0 -1 0 0 0 0 0 {ticks} 1 2 0 20 0 1 0");
            std::fs::write(folder.join("stat"), stat).unwrap();
            std::fs::write(folder.join("status"), format!("Name:\ta\nVmHWM:\t {kilobytes} kB\n")).unwrap();
            std::fs::write(folder.join(format!("task/{pid}/children")), children).unwrap();
        };
        process(7, 10, 100, "8 9 ");
        process(8, 20, 30, "");
        // Number 9 has ended.
        let found = alive(proc.path(), 7).unwrap();
        assert_eq!((found.processor, found.memory), (Duration::from_ms(360), 130 * 1024));
        assert!(alive(proc.path(), 9).is_none());
    }

    #[test]
    fn a_sum_that_leaves_a_process_out_is_not_shown() {
        let alive = |processor| Some(Alive { processor, memory: 5 });
        let before = of_children();
        let unseen = Meter { before, alive: alive(Duration::from_s(1)) }.end();
        assert_eq!((unseen.processor_ps, unseen.memory), (None, Some(5)));
        assert!(Meter { before, alive: alive(Duration::ZERO) }.end().processor_ps.is_some());
        assert_eq!(Meter { before, alive: None }.end().memory, None);
    }
}
