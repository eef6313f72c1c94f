//! `bench`: how fast the simulator is, beside other simulators, beside an earlier build of itself, and beside real time.
//!
//! Every run is a process of its own, pinned to one processor, and reports its own processor time.

mod agreement;
mod before;
mod engine;
mod measurement;
mod scenario;
mod star;
mod streams;
mod workload;

use std::path::Path;

use crate::{Failure, TaskResult, generate, process};
use workload::Workload;

/// Rounds over all engines of `bench star`.
const ROUNDS_DEFAULT: usize = 5;
/// Pairs of runs of `--before`.
const PAIRS_DEFAULT: usize = 31;
/// Runs of `bench scenario` and `bench streams`.
const RUNS_DEFAULT: usize = 11;

const USAGE: &str = "\
usage: cargo xtask bench star [ROUNDS]
       cargo xtask bench star|group-key|fleet --before BINARY [--pairs PAIRS]
       cargo xtask bench scenario FILE [--runs RUNS] [--goal FACTOR]
       cargo xtask bench streams [RUNS]";

/// Carries out the words behind `cargo xtask bench`.
pub(crate) fn run(root: &Path, words: &[&str]) -> TaskResult {
    match words {
        ["star"] => star::run(root, ROUNDS_DEFAULT),
        ["star", rounds] if !rounds.starts_with("--") => star::run(root, count("ROUNDS", rounds, 1)?),
        [name, "--before", binary] => before(root, name, binary, PAIRS_DEFAULT),
        [name, "--before", binary, "--pairs", pairs] => {
            before(root, name, binary, count("--pairs", pairs, before::PAIRS_MIN)?)
        }
        ["streams"] => streams::run(root, RUNS_DEFAULT),
        ["streams", runs] => streams::run(root, count("RUNS", runs, 1)?),
        ["scenario", file, options @ ..] => {
            let (mut runs, mut goal) = (RUNS_DEFAULT, None);
            for option in options.chunks(2) {
                match option {
                    ["--runs", value] => runs = count("--runs", value, 1)?,
                    ["--goal", value] => goal = Some(factor(value)?),
                    _ => return Err(Failure::because(USAGE)),
                }
            }
            scenario::run(root, Path::new(file), runs, goal)
        }
        _ => Err(Failure::because(USAGE)),
    }
}

fn before(root: &Path, name: &str, binary: &str, pairs: usize) -> TaskResult {
    match Workload::named(name)[..] {
        [] => Err(Failure::because(format!("there is no workload '{name}'\n{USAGE}"))),
        ref workloads => before::run(root, workloads, Path::new(binary), pairs),
    }
}

fn count(option: &str, text: &str, least: usize) -> Result<usize, Failure> {
    let count = text.parse().ok().filter(|count| (least..=1000).contains(count));
    count.ok_or_else(|| Failure::because(format!("{option} is a number between {least} and 1000, and not '{text}'")))
}

fn factor(text: &str) -> Result<f64, Failure> {
    let factor = text.parse().ok().filter(|factor: &f64| factor.is_finite() && *factor > 0.0);
    factor.ok_or_else(|| Failure::because(format!("--goal is a number above 0, such as 20, and not '{text}'")))
}

/// The words that pin a program to the last processor, none if the host has no `taskset`.
fn pin(root: &Path) -> Vec<String> {
    let last = std::thread::available_parallelism().map_or(0, |count| count.get() - 1).to_string();
    match process::output(root, &["taskset", "-c", &last, "true"]) {
        Ok(_) => vec!["taskset".into(), "-c".into(), last],
        Err(_) => Vec::new(),
    }
}

/// Where cargo puts our build of profile `dist`.
fn ours(root: &Path) -> Result<String, Failure> {
    Ok(generate::target_folder(root)?.join("dist/chronoseal").to_string_lossy().into_owned())
}

/// How busy the host is: the load averages of the last 1, 5 and 15 minutes, as the kernel has them.
fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let three: Vec<&str> = text.split_whitespace().take(3).collect();
    if three.is_empty() { "unknown".into() } else { three.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(words: &[&str]) -> String {
        match run(&crate::workspace_root(), words) {
            Err(Failure::CouldNotRun(reason)) => reason,
            other => panic!("{words:?}: {other:?}"),
        }
    }

    #[test]
    fn words_that_are_no_command_are_refused_with_what_would_be_one() {
        for words in [&[][..], &["moon"], &["star", "--before"], &["scenario", "a.toml", "--runs"]] {
            assert_eq!(refusal(words), USAGE, "{words:?}");
        }
        assert!(refusal(&["moon", "--before", "b"]).contains("no workload 'moon'"));
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        assert!(refusal(&["star", "0"]).contains("between 1 and 1000"));
        assert!(refusal(&["star", "--before", "b", "--pairs", "5"]).contains("between 6 and 1000"));
        assert!(refusal(&["scenario", "a.toml", "--runs", "1001"]).contains("--runs"));
        for goal in ["0", "-1", "fast", "inf"] {
            assert!(refusal(&["scenario", "a.toml", "--goal", goal]).contains("--goal"), "{goal}");
        }
    }
}
