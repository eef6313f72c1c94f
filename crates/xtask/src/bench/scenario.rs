//! How fast a scenario is simulated: how many times faster than real time, and how many events a second.

use std::path::Path;

use serde_json::Value;

use super::engine::BUILD_OURS;
use super::{load_average, measurement, ours, pin};
use crate::{Failure, TaskResult, process};

/// One run.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Run {
    simulated_s: f64,
    cpu_s: f64,
    events: u64,
    pub(super) frames_delivered: u64,
    fingerprint: String,
}

impl Run {
    /// Reads what `chronoseal run --count --format json` prints.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("prints no JSON object: {error}"))?;
        let time = |key: &str| value[key].as_f64().filter(|s| *s > 0.0).ok_or(format!("prints no time `{key}`"));
        let number = |key: &str| value[key].as_u64().ok_or(format!("prints no number `{key}`"));
        Ok(Self {
            simulated_s: time("simulated_s")?,
            cpu_s: time("cpu_s")?,
            events: number("events")?,
            frames_delivered: number("frames_delivered")?,
            fingerprint: value["fingerprint"].as_str().ok_or("prints no text `fingerprint`")?.into(),
        })
    }

    /// Frames delivered in a second of processor time.
    pub(super) fn frames_per_cpu_s(&self) -> f64 {
        self.frames_delivered as f64 / self.cpu_s
    }

    /// How many times faster than real time.
    fn factor(&self) -> f64 {
        self.simulated_s / self.cpu_s
    }
}

/// Builds this tree, simulates `file` once to warm up and then `runs` times, and prints the figures; fails if the median is
/// not `goal` times faster than real time.
pub(super) fn run(root: &Path, file: &Path, runs: usize, goal: Option<f64>) -> TaskResult {
    let file = std::path::absolute(file)
        .ok()
        .filter(|path| path.is_file())
        .ok_or_else(|| Failure::because(format!("there is no scenario {}", file.display())))?;
    process::output(root, BUILD_OURS)?;
    let (chronoseal, pin, load_before) = (ours(root)?, pin(root), load_average());
    let file = file.to_string_lossy();
    let words = [&chronoseal, "run", &file, "--engine", "sim", "--count", "--allow-unchecked", "--format", "json"];
    let words: Vec<&str> = pin.iter().map(String::as_str).chain(words).collect();
    let once = || {
        let text = process::output(root, &words)?;
        Run::parse(&text).map_err(|reason| Failure::because(format!("`{}`: {reason}", words.join(" "))))
    };
    once()?;
    let runs = (0..runs).map(|_| once()).collect::<Result<Vec<_>, _>>()?;
    let pinned = if pin.is_empty() { "NOT pinned" } else { "pinned to one processor" };
    println!("`{}`, {pinned}; load average {load_before} before, {} after.\n", words.join(" "), load_average());
    print!("{}", table(&runs));
    judge(&runs, goal)
}

fn judge(runs: &[Run], goal: Option<f64>) -> TaskResult {
    if runs.iter().any(|run| run.fingerprint != runs[0].fingerprint) {
        println!("- FAILED: two runs of the same scenario and seed have different fingerprints");
        return Err(Failure::CheckFailed);
    }
    let Some(goal) = goal else { return Ok(()) };
    let median = measurement::median(&factors(runs));
    if median < goal {
        println!("- FAILED: {median:.1} times faster than real time, and the goal is {goal}");
        return Err(Failure::CheckFailed);
    }
    println!("- held: {median:.1} times faster than real time, and the goal is {goal}");
    Ok(())
}

fn factors(runs: &[Run]) -> Vec<f64> {
    runs.iter().map(Run::factor).collect()
}

fn table(runs: &[Run]) -> String {
    let factors = factors(runs);
    let interval = measurement::interval_of_median(&factors)
        .map_or_else(|| "n/a".into(), |(low, high)| format!("{low:.1} to {high:.1}"));
    let speed = |of: fn(&Run) -> u64| {
        measurement::median(&runs.iter().map(|run| of(run) as f64 / run.cpu_s).collect::<Vec<_>>()) / 1e6
    };
    format!(
        "| simulated s | events | frames delivered | runs | times faster than real time, median | its 95 % interval \
         | million events/s | million frames/s |\n|---:|---:|---:|---:|---:|---|---:|---:|\n\
         | {} | {} | {} | {} | {:.1} | {interval} | {:.3} | {:.3} |\n",
        runs[0].simulated_s,
        runs[0].events,
        runs[0].frames_delivered,
        runs.len(),
        measurement::median(&factors),
        speed(|run| run.events),
        speed(|run| run.frames_delivered),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        r#"{"simulated_s": 2.0, "cpu_s": 0.1, "events": 500000, "frames_delivered": 100000, "fingerprint": "f"}"#;

    #[test]
    fn reads_a_run_and_refuses_what_says_too_little() {
        let run = Run::parse(TEXT).unwrap();
        assert_eq!((run.factor(), run.events), (20.0, 500_000));
        for key in ["simulated_s", "cpu_s", "events", "frames_delivered", "fingerprint"] {
            assert!(Run::parse(&TEXT.replace(key, "other")).unwrap_err().contains(key));
        }
        assert!(Run::parse(&TEXT.replace("0.1", "0")).is_err());
    }

    #[test]
    fn below_the_goal_fails_and_so_do_runs_that_differ() {
        let run = Run::parse(TEXT).unwrap();
        let runs = vec![run.clone(); 6];
        assert!(table(&runs).contains("| 2 | 500000 | 100000 | 6 | 20.0 | 20.0 to 20.0 | 5.000 | 1.000 |"));
        assert!(judge(&runs, Some(20.0)).is_ok() && judge(&runs, None).is_ok());
        assert!(matches!(judge(&runs, Some(20.1)), Err(Failure::CheckFailed)));
        let other = Run { fingerprint: "g".into(), ..run.clone() };
        assert!(matches!(judge(&[run, other], None), Err(Failure::CheckFailed)));
    }

    #[test]
    fn a_scenario_that_is_not_there_is_named() {
        let refused = run(&crate::workspace_root(), Path::new("nowhere.toml"), 1, None);
        assert!(matches!(refused, Err(Failure::CouldNotRun(reason)) if reason.contains("nowhere.toml")));
    }
}
