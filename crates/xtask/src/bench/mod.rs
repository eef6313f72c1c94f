//! `bench star`: the same traffic on our simulator and its peers, pinned to one processor and interleaved.
//!
//! A peer that cannot be built or run is skipped with the reason. Counts and latencies are compared as well as
//! speeds: a fast engine that delivers something else has measured nothing.

mod agreement;
mod engine;
mod measurement;

use std::path::Path;

use crate::{Failure, TaskResult, generate, process};
use engine::{ENGINES, Engine, RATIO_TO};
use measurement::Measurement;

pub(crate) const RUNS_DEFAULT: usize = 5;

/// What peers simulate if our own binary does not say how long its scenario lasts [ms].
const SIMULATED_MS_DEFAULT: u64 = 1000;

/// One engine and what its runs gave.
struct Contestant {
    engine: &'static Engine,
    runs: Vec<Measurement>,
}

/// Runs every engine `runs` times and prints one Markdown table.
pub(crate) fn star(root: &Path, runs: usize) -> TaskResult {
    let release = generate::target_folder(root)?.join("release");
    let pin = pin(root);
    let mut simulated_ms = SIMULATED_MS_DEFAULT;
    let mut contestants: Vec<Contestant> = Vec::new();
    for engine in ENGINES {
        // The first run warms caches, sets the simulated time peers must match, and is not counted.
        match build(root, engine).and_then(|()| run_once(root, &release, &pin, engine, simulated_ms)) {
            Ok(first) => {
                if engine.sets_simulated_time {
                    simulated_ms = first.simulated_ms;
                }
                contestants.push(Contestant { engine, runs: Vec::new() });
            }
            Err(Failure::CouldNotRun(reason)) => eprintln!("skipped {}: {reason}", engine.name),
            Err(failure) => return Err(failure),
        }
    }
    for round in 1..=runs {
        for contestant in &mut contestants {
            eprintln!("round {round} of {runs}: {}", contestant.engine.name);
            let run = run_once(root, &release, &pin, contestant.engine, simulated_ms)?;
            contestant.runs.push(run);
        }
    }
    if contestants.is_empty() {
        return Err(Failure::because("no engine could be built"));
    }
    print_table(&contestants, simulated_ms, pin.is_empty());
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

fn run_once(
    root: &Path,
    release: &Path,
    pin: &[String],
    engine: &Engine,
    simulated_ms: u64,
) -> Result<Measurement, Failure> {
    let command = engine.command.iter().map(|word| {
        word.replace("{release}", &release.to_string_lossy()).replace("{simulated_ms}", &simulated_ms.to_string())
    });
    let command: Vec<String> = pin.iter().cloned().chain(command).collect();
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let text = process::output(root, &words)?;
    Measurement::parse(&text).map_err(|reason| Failure::because(format!("`{}`: {reason}", words.join(" "))))
}

/// The words that pin a program to the last processor, none if the host has no `taskset`.
fn pin(root: &Path) -> Vec<String> {
    let last = std::thread::available_parallelism().map_or(0, |count| count.get() - 1).to_string();
    match process::output(root, &["taskset", "-c", &last, "true"]) {
        Ok(_) => vec!["taskset".into(), "-c".into(), last],
        Err(_) => Vec::new(),
    }
}

fn print_table(contestants: &[Contestant], simulated_ms: u64, is_unpinned: bool) {
    let reference = contestants
        .iter()
        .find(|contestant| contestant.engine.name == RATIO_TO)
        .map(|contestant| measurement::median(&speeds(contestant)));
    println!("Star, {:.3} s simulated{}.\n", simulated_ms as f64 / 1e3, if is_unpinned { ", NOT pinned" } else { "" });
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
