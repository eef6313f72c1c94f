//! `bench star`: the same traffic on our simulator and its peers, pinned to one processor and interleaved.
//!
//! A peer that cannot be built or run is skipped with the reason. Counts and latencies are compared as well as
//! speeds: a fast engine that delivers something else has measured nothing.

use std::path::Path;

use super::engine::{ENGINES, Engine, RATIO_TO};
use super::measurement::{self, Measurement};
use super::{agreement, ours, pin};
use crate::{Failure, TaskResult, process};

/// How much time every engine simulates `[ms]`: a second of processor time for the slowest, tens of milliseconds for ours.
const SIMULATED_MS: u64 = 2000;

/// The traffic, from the root.
const FLOWS: &str = "peers/star.csv";

/// One engine and what its runs gave.
pub(super) struct Contestant {
    pub(super) engine: &'static Engine,
    pub(super) runs: Vec<Measurement>,
}

/// Runs every engine `runs` times and prints one Markdown table.
pub(super) fn run(root: &Path, runs: usize) -> TaskResult {
    let chronoseal = ours(root)?;
    let pin = pin(root);
    let phases = phases(root)?;
    let run_once = |engine: &Engine| {
        let words = engine.words(&chronoseal, SIMULATED_MS, &phases);
        measure(root, &[pin.clone(), words].concat())
    };
    let mut contestants: Vec<Contestant> = Vec::new();
    for engine in ENGINES {
        // The first run warms caches and is not counted.
        match build(root, engine).and_then(|()| run_once(engine)) {
            Ok(_) => contestants.push(Contestant { engine, runs: Vec::new() }),
            Err(Failure::CouldNotRun(reason)) => eprintln!("skipped {}: {reason}", engine.name),
            Err(failure) => return Err(failure),
        }
    }
    for round in 1..=runs {
        for contestant in &mut contestants {
            eprintln!("round {round} of {runs}: {}", contestant.engine.name);
            let run = run_once(contestant.engine)?;
            contestant.runs.push(run);
        }
    }
    if contestants.is_empty() {
        return Err(Failure::because("no engine could be built"));
    }
    print_table(&contestants, pin.is_empty());
    let differences = agreement::differences(&contestants);
    for difference in &differences {
        println!("- differs: {difference}");
    }
    if !differences.is_empty() {
        return Err(Failure::CheckFailed);
    }
    println!("{}", agreement::statement(&contestants));
    Ok(())
}

fn build(root: &Path, engine: &Engine) -> TaskResult {
    process::output(root, engine.build).map(drop)
}

fn measure(root: &Path, command: &[String]) -> Result<Measurement, Failure> {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let text = process::output(root, &words)?;
    Measurement::parse(&text).map_err(|reason| Failure::because(format!("`{}`: {reason}", words.join(" "))))
}

/// Overrides for our scenarios, whose phases are drawn from the seed otherwise: `--set streams.flow0.offset=1009ns` …
pub(super) fn phases(root: &Path) -> Result<Vec<String>, Failure> {
    let text = std::fs::read_to_string(root.join(FLOWS))
        .map_err(|error| Failure::because(format!("cannot read {FLOWS}: {error}")))?;
    overrides(&text).ok_or_else(|| Failure::because(format!("{FLOWS} has a line that is no flow")))
}

/// Streams are called `flow0` … for priorities above 0, and `flood0` … for the two floods of priority 0.
fn overrides(text: &str) -> Option<Vec<String>> {
    let (mut flows, mut floods) = (0, 0);
    let mut words = Vec::new();
    for line in text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())) {
        let fields: Vec<&str> = line.split(',').collect();
        let [_, _, _, _, _, phase_ns, priority] = fields[..] else { return None };
        let (kind, number) = if priority == "0" { ("flood", &mut floods) } else { ("flow", &mut flows) };
        words.push("--set".to_owned());
        words.push(format!("streams.{kind}{number}.offset={phase_ns}ns"));
        *number += 1;
    }
    Some(words)
}

fn print_table(contestants: &[Contestant], is_unpinned: bool) {
    let reference = contestants
        .iter()
        .find(|contestant| contestant.engine.name == RATIO_TO)
        .map(|contestant| measurement::median(&speeds(contestant)));
    println!("Star, {:.3} s simulated{}.\n", SIMULATED_MS as f64 / 1e3, if is_unpinned { ", NOT pinned" } else { "" });
    println!("| engine | frames delivered | runs | frames/s of CPU, median | slowest .. fastest | x {RATIO_TO} |");
    println!("|---|---:|---:|---:|---|---:|");
    for contestant in contestants {
        let speeds = speeds(contestant);
        let median = measurement::median(&speeds);
        let slowest = speeds.iter().copied().fold(f64::INFINITY, f64::min);
        let fastest = speeds.iter().copied().fold(0.0, f64::max);
        let ratio = reference.map_or("n/a".into(), |reference| format!("{:.1}", median / reference));
        println!(
            "| {} | {} | {} | {:.3} M | {:.3} .. {:.3} M | {ratio} |",
            contestant.engine.name,
            contestant.runs[0].frames_delivered,
            speeds.len(),
            median / 1e6,
            slowest / 1e6,
            fastest / 1e6,
        );
    }
    println!();
}

fn speeds(contestant: &Contestant) -> Vec<f64> {
    contestant.runs.iter().map(|run| run.frames_per_cpu_s).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_become_overrides_of_the_streams() {
        let text = "# text\nflow,…\n0,0,1,106,250000,1009,7\n1,2,3,1514,15380,7691,0\n";
        let expected = ["--set", "streams.flow0.offset=1009ns", "--set", "streams.flood0.offset=7691ns"];
        assert_eq!(overrides(text).unwrap(), expected);
        assert_eq!(overrides("0,1,2\n"), None);
    }

    #[test]
    fn table_of_the_traffic_has_a_phase_for_every_stream() {
        let words = phases(&crate::workspace_root()).unwrap();
        assert_eq!(words.len(), 2 * 14);
        assert!(words.contains(&"streams.flow11.offset=12108ns".to_owned()));
        assert!(words.contains(&"streams.flood1.offset=7691ns".to_owned()));
    }
}
