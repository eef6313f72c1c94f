//! How long messages wait for their verdict when nobody waits for the receiver.

use chronoseal_core::statistics::nearest_rank;
use chronoseal_report::{Axis, Cell, Chart, Evidence, Mark, Series, SeriesKind, Table};
use chronoseal_v2x::crypto::one_by_one_by;
use chronoseal_v2x::pipeline::{Class, Engine};
use chronoseal_v2x_load::{Capacity, Load, LoadError, Outcome, Town, capacity, offer};

/// Stations around the receiver, all of them known.
const STATIONS: usize = 200;
/// Messages that a capacity is measured with.
const CAPACITY_MESSAGES: usize = 8_192;
/// Messages a second, and for how long: enough of them for the highest percentile where that is possible `[1/s, ms]`.
const OFFERED: [(f64, u64); 6] =
    [(100.0, 5_000), (500.0, 4_000), (1_000.0, 3_000), (2_000.0, 2_000), (5_000.0, 2_000), (10_000.0, 2_000)];
/// Overload lasts so long `[ms]`.
const OVERLOAD_MS: u64 = 1_000;

/// A stream and what became of it.
pub(super) struct Run {
    offered_per_s: f64,
    what: String,
    outcome: Outcome,
}

/// Every engine of this processor.
pub(super) struct Loads {
    runs: Vec<Run>,
    capacities: Vec<Capacity>,
}

/// Offers every rate to every engine of this processor, and twice what each can do.
pub(super) fn measure(seed: u64, progress: &mut dyn FnMut(f64, &str)) -> Result<Loads, LoadError> {
    measure_at(&OFFERED, Town::new(STATIONS, seed)?, seed, progress)
}

fn measure_at(
    offered: &[(f64, u64)],
    mut town: Town,
    seed: u64,
    progress: &mut dyn FnMut(f64, &str),
) -> Result<Loads, LoadError> {
    let mut loads = Loads { runs: Vec::new(), capacities: Vec::new() };
    let engines = Engine::available();
    for (index, engine) in engines.iter().copied().enumerate() {
        let capacity = capacity(&mut town, engine, CAPACITY_MESSAGES)?;
        loads.capacities.push(capacity);
        for (step, (offered_per_s, duration_ms)) in offered.iter().copied().enumerate() {
            let done = (index * offered.len() + step) as f64 / (engines.len() * offered.len()) as f64;
            progress(done, &format!("load: {offered_per_s:.0} messages a second, {}", engine.words()));
            let load = Load { offered_per_s, duration_ms, seed, ..Load::default() };
            let outcome = offer(&mut town, &load, engine)?;
            loads.runs.push(Run { offered_per_s, what: format!("{offered_per_s:.0}"), outcome });
        }
        let load = Load { offered_per_s: 2.0 * capacity.per_s, duration_ms: OVERLOAD_MS, seed, ..Load::default() };
        let outcome = offer(&mut town, &load, engine)?;
        let what = format!("{:.0}, twice the capacity", 2.0 * capacity.per_s);
        loads.runs.push(Run { offered_per_s: 2.0 * capacity.per_s, what, outcome });
    }
    Ok(loads)
}

impl Loads {
    /// A row for each stream.
    pub(super) fn table(&self) -> Table {
        let mut table = Table::new("From the instant a message was due to its verdict, one thread, every check done")
            .words("verifies")
            .words("offered a second")
            .numbers("messages", "")
            .numbers("p50", "us")
            .numbers("p99", "us")
            .numbers("p99.9", "us")
            .numbers("p99, stall-free", "us")
            .numbers("p99.9, stall-free", "us")
            .numbers("p99 of emergencies, stall-free", "us")
            .numbers("dropped: emergency", "")
            .numbers("near", "")
            .numbers("far", "")
            .numbers("logged", "")
            .footnote("Instants of a Poisson process by the seed; 5 % emergencies, 25 % near, the rest far; 10 % with their certificate; 200 stations, all known.")
            .footnote("Stall-free: without messages during which the host took the processor away, as its own loop's steps show.")
            .footnote("A full queue drops the oldest of the least relevant; each dropped message is in the audit.");
        for run in &self.runs {
            let outcome = &run.outcome;
            let latency = |class, stall_free, per_mille: usize| {
                let all = outcome.latencies_ns(class, stall_free);
                percentile_us(&all, per_mille)
            };
            let [emergency, near, far] = outcome.dropped_by_class;
            let counted = |count: u64, is_bad: bool| {
                let mark = if is_bad && count > 0 { Mark::Warn } else { Mark::None };
                Cell::count(count).from(Evidence::Measured).marked(mark)
            };
            let logged = outcome.dropped.total();
            let is_complete = logged == emergency + near + far && outcome.verified + logged == outcome.offered;
            table.push(vec![
                Cell::text(outcome.engine.words()),
                Cell::text(run.what.clone()),
                Cell::count(outcome.offered),
                latency(None, false, 500),
                latency(None, false, 990),
                latency(None, false, 999),
                latency(None, true, 990),
                latency(None, true, 999),
                latency(Some(Class::Emergency), true, 990),
                counted(emergency, true),
                counted(near, true),
                counted(far, false),
                Cell::count(logged).from(Evidence::Measured).marked(if is_complete { Mark::Good } else { Mark::Bad }),
            ]);
        }
        table
    }

    /// The 99th percentile over the rate.
    pub(super) fn chart(&self) -> Chart {
        let series = |engine: Engine, stall_free: bool| {
            let of_engine = self.runs.iter().filter(|run| run.outcome.engine == engine);
            let points = of_engine.filter_map(|run| {
                let us = percentile(&run.outcome.latencies_ns(None, stall_free), 990)? as f64 / 1e3;
                Some((run.offered_per_s, us))
            });
            let suffix = if stall_free { ", stall-free" } else { "" };
            Series { name: format!("{}{suffix}", engine.words()), kind: SeriesKind::Line, points: points.collect() }
        };
        Chart {
            caption:
                "99th percentile of the latency over the messages offered; the last point of each is twice its capacity"
                    .into(),
            x: Axis::log("offered", "1/s"),
            y: Axis::log("p99", "us"),
            series: self
                .capacities
                .iter()
                .flat_map(|capacity| [series(capacity.engine, false), series(capacity.engine, true)])
                .collect(),
        }
    }

    /// How many a second each engine can do at most.
    pub(super) fn capacities(&self) -> Table {
        let mut table = Table::new("Messages that lie ready, verified back to back: one core, processor time")
            .words("verifies")
            .numbers("whole path", "1/s")
            .footnote(format!("One by one: {}.", one_by_one_by()));
        for Capacity { engine, per_s } in &self.capacities {
            table.push(vec![Cell::text(engine.words()), Cell::number(*per_s, 0).from(Evidence::Measured)]);
        }
        table
    }

    /// True if nothing genuine was refused, and under overload nothing was dropped that was not written down, and no
    /// emergency at all.
    pub(super) fn is_good(&self) -> bool {
        self.runs.iter().all(|run| {
            let outcome = &run.outcome;
            let logged = outcome.dropped.total();
            outcome.refused == 0
                && outcome.dropped_by_class[Class::Emergency as usize] == 0
                && outcome.verified + logged == outcome.offered
        })
    }

    /// One sentence on overload.
    pub(super) fn headline(&self) -> Option<String> {
        let run = self.runs.last()?;
        let [emergency, near, far] = run.outcome.dropped_by_class;
        Some(format!(
            "At twice its capacity ({} messages offered in a second) the receiver drops {far} far, {near} near and {emergency} emergency messages, each logged.",
            run.outcome.offered
        ))
    }
}

/// The percentile, in parts of a thousand, of values of which one at least lies beyond it. That is less than
/// [`chronoseal_core::statistics::percentile`] asks for: the classes of a short stream have too few messages for its bound.
fn percentile(sorted_ns: &[u64], per_mille: usize) -> Option<u64> {
    let has_one_beyond = sorted_ns.len() * (1_000 - per_mille) >= 1_000;
    nearest_rank(sorted_ns, per_mille as f64 / 1_000.0).filter(|_| has_one_beyond)
}

fn percentile_us(sorted_ns: &[u64], per_mille: usize) -> Cell {
    match percentile(sorted_ns, per_mille) {
        Some(ns) => Cell::number(ns as f64 / 1e3, 1).from(Evidence::Measured),
        None => Cell::na("too few messages for this percentile"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the test again in a process whose lanes are masked; true in that process.
    fn is_masked(test: &str) -> bool {
        const VARIABLE: &str = "CHRONOSEAL_NO_LANES";
        if std::env::var_os(VARIABLE).is_some() {
            return true;
        }
        let program = std::env::current_exe().expect("this program");
        let output =
            std::process::Command::new(program).args(["--exact", test, "--nocapture"]).env(VARIABLE, "1").output();
        let output = output.expect("it starts");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        false
    }

    #[test]
    fn rows_are_named_by_what_ran() {
        let masked = is_masked("load::tests::rows_are_named_by_what_ran");
        let town = Town::new(5, 1).expect("a town");
        let mut steps = Vec::new();
        let mut progress = |_: f64, what: &str| steps.push(what.to_owned());
        let loads = measure_at(&[(1_000.0, 20)], town, 1, &mut progress).expect("measured");
        let at_once = crate::times::at_once(1);
        let chart: Vec<_> = loads.chart().series.into_iter().map(|series| series.name).collect();
        let said = format!(
            "{steps:?} {:?} {:?} {chart:?} {:?} {at_once:?}",
            loads.table(),
            loads.capacities(),
            loads.headline()
        );
        let has_lanes = Engine::fastest() == Engine::Lanes;
        assert!(!(masked && has_lanes), "they are masked");
        assert_eq!(said.contains("lanes"), has_lanes, "{said}");
        assert_eq!(loads.capacities().rows.len(), Engine::available().len());
        assert_eq!(said.contains("64-bit words"), Engine::available().contains(&Engine::Words), "{said}");
        assert!(said.contains("one by one") && loads.headline().is_some(), "{said}");
    }

    #[test]
    fn a_percentile_needs_enough_values() {
        let values: Vec<u64> = (1..=1_000).collect();
        assert_eq!([500, 990, 999].map(|per_mille| percentile(&values, per_mille)), [Some(500), Some(990), Some(999)]);
        assert_eq!(percentile(&values[..999], 999), None);
        assert_eq!(percentile(&values[..99], 990), None);
    }
}
