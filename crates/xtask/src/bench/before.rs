//! This tree's build of profile `dist` against an earlier one, in pairs of runs.
//!
//! The two runs of a pair follow each other at once on one processor, and which of them is first alternates: what else
//! the host does then changes both. The figure is the median of the pairs' ratios, not the ratio of two medians.

use std::path::Path;

use super::engine::BUILD_OURS;
use super::workload::{Cost, Workload};
use super::{load_average, measurement, ours, pin};
use crate::{Failure, TaskResult, process};

/// With fewer a median has no 95 % interval.
pub(super) const PAIRS_MIN: usize = 6;

/// What the pairs of one workload gave.
struct Comparison {
    workload: &'static Workload,
    before_cpu_s: Vec<f64>,
    after_cpu_s: Vec<f64>,
    is_same_result: bool,
}

/// Builds this tree and compares it with `binary` on every workload; prints one Markdown table.
pub(super) fn run(root: &Path, workloads: &[&'static Workload], binary: &Path, pairs: usize) -> TaskResult {
    let binary = std::path::absolute(binary)
        .ok()
        .filter(|path| path.is_file())
        .ok_or_else(|| Failure::because(format!("there is no program {}", binary.display())))?;
    process::output(root, BUILD_OURS)?;
    let (after, pin, load_before) = (ours(root)?, pin(root), load_average());
    let mut comparisons = Vec::new();
    for workload in workloads {
        // The first run of each warms caches and is not counted.
        let before = understood(root, workload, &binary.to_string_lossy(), &pin)?;
        let after = understood(root, workload, &after, &pin)?;
        eprintln!("{}: `{}` against `{}`", workload.title, shown(&before), shown(&after));
        let run = |words: &[String]| workload.run(root, words);
        comparisons.push(compare(workload, pairs, || run(&before), || run(&after))?);
    }
    let pinned = if pin.is_empty() { "NOT pinned" } else { "pinned to one processor" };
    println!("{pairs} pairs, interleaved, {pinned}; load average {load_before} before, {} after.\n", load_average());
    print!("{}", table(&comparisons));
    for comparison in &comparisons {
        println!("{}", comparison.statement());
    }
    if comparisons.iter().all(Comparison::holds) { Ok(()) } else { Err(Failure::CheckFailed) }
}

/// The first command that a build carries out, ready to be repeated.
fn understood(root: &Path, workload: &Workload, binary: &str, pin: &[String]) -> Result<Vec<String>, Failure> {
    let mut refusals = String::new();
    for command in workload.commands(root, binary)? {
        let words = [pin, &command].concat();
        match workload.run(root, &words) {
            Ok(_) => return Ok(words),
            Err(Failure::CouldNotRun(reason)) => refusals = refusals + &reason + "\n",
            Err(failure) => return Err(failure),
        }
    }
    Err(Failure::because(format!("{binary} understands no form of the workload '{}':\n{refusals}", workload.title)))
}

/// A command as people read it, without the overrides.
fn shown(words: &[String]) -> String {
    words.iter().take_while(|word| *word != "--set").map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn compare(
    workload: &'static Workload,
    pairs: usize,
    before: impl Fn() -> Result<Cost, Failure>,
    after: impl Fn() -> Result<Cost, Failure>,
) -> Result<Comparison, Failure> {
    let (mut before_cpu_s, mut after_cpu_s, mut is_same_result) = (Vec::new(), Vec::new(), true);
    for pair in 0..pairs {
        let (one, other) = if pair % 2 == 0 {
            let one = before()?;
            (one, after()?)
        } else {
            let other = after()?;
            (before()?, other)
        };
        is_same_result &= one.result == other.result;
        before_cpu_s.push(one.cpu_s);
        after_cpu_s.push(other.cpu_s);
    }
    Ok(Comparison { workload, before_cpu_s, after_cpu_s, is_same_result })
}

impl Comparison {
    /// How many times as fast as before, of each pair.
    fn speeds(&self) -> Vec<f64> {
        self.before_cpu_s.iter().zip(&self.after_cpu_s).map(|(before_s, after_s)| before_s / after_s).collect()
    }

    fn holds(&self) -> bool {
        self.is_same_result && measurement::median(&self.speeds()) >= self.workload.speed_min
    }

    fn statement(&self) -> String {
        let Workload { title, speed_min, .. } = self.workload;
        if !self.is_same_result {
            return format!("- {title}: the builds differ in what they print as result, so their times say nothing");
        }
        let verdict = if self.holds() { "held" } else { "FAILED" };
        format!("- {title}: {verdict}, the limit is a speed of {speed_min:.3}; both gave the same result")
    }
}

fn table(comparisons: &[Comparison]) -> String {
    let mut text = String::from(
        "| workload | pairs | before, median s | after, median s | speed to before, median | its 95 % interval |\n\
         |---|---:|---:|---:|---:|---|\n",
    );
    for comparison in comparisons {
        let speeds = comparison.speeds();
        let interval = measurement::interval_of_median(&speeds)
            .map_or_else(|| "n/a".into(), |(low, high)| format!("{low:.3} to {high:.3}"));
        text += &format!(
            "| {} | {} | {:.3} | {:.3} | {:.3} | {interval} |\n",
            comparison.workload.title,
            speeds.len(),
            measurement::median(&comparison.before_cpu_s),
            measurement::median(&comparison.after_cpu_s),
            measurement::median(&speeds),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn cost(cpu_s: f64, result: &str) -> Result<Cost, Failure> {
        Ok(Cost { cpu_s, result: result.into() })
    }

    fn star() -> &'static Workload {
        Workload::named("star")[0]
    }

    #[test]
    fn slower_than_the_limit_fails_and_at_the_limit_holds() {
        let held = compare(star(), 7, || cost(0.97, "x"), || cost(1.0, "x")).unwrap();
        assert!(held.holds(), "{}", held.statement());
        let failed = compare(star(), 7, || cost(0.96, "x"), || cost(1.0, "x")).unwrap();
        assert!(!failed.holds() && failed.statement().contains("FAILED"));
        assert!(table(&[failed]).contains("| star, timing | 7 | 0.960 | 1.000 | 0.960 | 0.960 to 0.960 |"));
    }

    #[test]
    fn other_results_fail_however_fast() {
        let other = compare(star(), 7, || cost(1.0, "x"), || cost(0.5, "y")).unwrap();
        assert!(!other.holds() && other.statement().contains("differ"));
    }

    #[test]
    fn which_of_a_pair_is_first_alternates() {
        let order = RefCell::new(String::new());
        let run = |name: &str| {
            order.borrow_mut().push_str(name);
            cost(1.0, "x")
        };
        compare(star(), 3, || run("b"), || run("a")).unwrap();
        assert_eq!(order.into_inner(), "baabba");
    }

    #[test]
    fn a_program_that_is_none_or_understands_nothing_is_refused() {
        let root = crate::workspace_root();
        let missing = run(&root, &[star()], Path::new("/nonexistent"), PAIRS_MIN);
        assert!(matches!(missing, Err(Failure::CouldNotRun(reason)) if reason.contains("/nonexistent")));
        let refused = understood(&root, star(), "/bin/false", &[]);
        assert!(matches!(refused, Err(Failure::CouldNotRun(reason)) if reason.contains("star, timing")));
    }
}
