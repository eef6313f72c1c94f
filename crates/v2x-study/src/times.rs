//! Tables 4.1 to 4.7 beside this host: its processor, its lanes, and every device that is there.

use chronoseal_core::statistics;
use chronoseal_report::{Cell, Evidence, Mark, Table};
use chronoseal_v2x::pipeline::Engine;
use chronoseal_v2x_load::in_batches;
use chronoseal_v2x_service::trial::{measure_devices, other_build};

use super::published::{Printed, tables};

/// Ten runs of something on or for this host.
#[derive(Debug)]
pub(super) struct Measured {
    name: String,
    /// What a run is.
    what: &'static str,
    evidence: Evidence,
    /// Sign and verify of each run `[ns]`, or why there is none.
    runs: Result<Vec<[u64; 2]>, String>,
}

impl Measured {
    fn new(name: &str, what: &'static str, runs: Result<Vec<[u64; 2]>, String>) -> Self {
        Self { name: name.into(), what, evidence: Evidence::Measured, runs }
    }

    /// Mean and median `[ms]`.
    fn middle_ms(&self, column: usize) -> Option<[f64; 2]> {
        let mut values: Vec<u64> = self.runs.as_ref().ok()?.iter().map(|run| run[column]).collect();
        values.sort_unstable();
        let mean = values.iter().sum::<u64>() as f64 / values.len().max(1) as f64;
        Some([mean / 1e6, statistics::median(&values)? as f64 / 1e6])
    }

    fn why_not(&self) -> String {
        self.runs.as_ref().err().cloned().unwrap_or_else(|| "no run".into())
    }

    fn cell(&self, run: usize, column: usize) -> Cell {
        match self.runs.as_ref().ok().and_then(|runs| runs.get(run)) {
            Some(times) => Cell::number(times[column] as f64 / 1e6, 4).from(self.evidence),
            None => Cell::na(self.why_not()),
        }
    }
}

/// A message's signature with hashing and encoding, its verification with decoding and every check.
const MESSAGE: &str = "a whole message";
const OF_BATCH: &str = "a whole message, a 32nd of 32 at once";
const DIGEST: &str = "a digest alone";

/// As many messages at once as fill the lanes, named by what ran and not by what could run elsewhere.
pub(super) fn at_once(seed: u64) -> Measured {
    let batches = in_batches(seed).map_err(|error| error.to_string());
    let engine = batches.as_ref().map_or_else(|_| Engine::fastest(), |batches| batches.engine);
    let runs = batches.map(|batches| batches.runs.iter().map(|run| [run.sign_ns, run.verify_ns]).collect());
    Measured::new(&format!("this host, 32 messages at once, {}", engine.words()), OF_BATCH, runs)
}

/// What is measured on this host: the build for size, that for speed, batches, then every device.
pub(super) fn measure(seed: u64, folder: &std::path::Path) -> Vec<Measured> {
    let other_build = |profile| other_build(profile).map_err(|error| error.to_string());
    let mut all = vec![
        Measured::new("this host, built for size", MESSAGE, other_build("size")),
        Measured::new("this host, built for speed", MESSAGE, other_build("dist")),
        at_once(seed),
    ];
    for (name, samples) in measure_devices(folder) {
        let is_simulated = samples.as_ref().is_ok_and(|samples| samples.is_simulated);
        let runs = samples.map_err(|error| error.to_string()).and_then(|samples| {
            let mut columns = samples.rows.into_iter().map(|row| row.calls_ns);
            let (sign, verify) = (columns.next(), columns.next());
            match (sign, verify) {
                (Some(Ok(sign)), Some(Ok(verify))) => Ok(sign.into_iter().zip(verify).map(<[u64; 2]>::from).collect()),
                (Some(Err(error)), _) | (_, Some(Err(error))) => Err(error.to_string()),
                _ => Err("nothing was measured".to_owned()),
            }
        });
        let evidence = if is_simulated { Evidence::Simulated } else { Evidence::Measured };
        all.push(Measured { evidence, ..Measured::new(name, DIGEST, runs) });
    }
    all
}

/// Each of the seven tables, run by run, with what stands for it here beside it.
pub(super) fn run_by_run(measured: &[Measured]) -> Vec<Table> {
    tables().iter().map(|printed| one_table(printed, beside(printed, measured))).collect()
}

/// The FPGA's counterpart is the simulated engine; a build for size is held against a build for size.
fn beside<'a>(printed: &Printed, measured: &'a [Measured]) -> Option<&'a Measured> {
    let name = match printed.build {
        "Os" => "this host, built for size",
        "O3" => "this host, built for speed",
        _ => "RTL, simulated",
    };
    measured.iter().find(|one| one.name == name)
}

fn one_table(printed: &Printed, beside: Option<&Measured>) -> Table {
    let name = beside.map_or("", |one| one.name.as_str());
    let mut table = Table::new(format!("Table {}: {}, {}", printed.number, printed.processor, printed.build))
        .words("run")
        .numbers("sign", "ms")
        .numbers("verify", "ms")
        .words("success")
        .numbers(format!("sign, {name}"), "ms")
        .numbers(format!("verify, {name}"), "ms");
    let here = |run: usize, column: usize| beside.map_or_else(|| Cell::na("not measured"), |one| one.cell(run, column));
    for (run, times) in printed.runs.iter().enumerate() {
        let [sign, verify] = times.map(|ms| Cell::number(ms, 0).from(Evidence::Printed));
        let success = Cell::text("yes").from(Evidence::Printed);
        table.push(vec![Cell::count(run as u64 + 1), sign, verify, success, here(run, 0), here(run, 1)]);
    }
    let mean = |column| match beside.and_then(|one| Some((one.middle_ms(column)?[0], one.evidence))) {
        Some((ms, evidence)) => Cell::number(ms, 4).from(evidence),
        None => Cell::na(beside.map_or_else(String::new, Measured::why_not)),
    };
    let [sign, verify] = printed.averages_ms.map(|ms| Cell::number(ms, 1).from(Evidence::Printed));
    table.push(vec![Cell::text("average as printed"), sign, verify, Cell::text(""), mean(0), mean(1)]);
    let again = [0, 1].map(|column| {
        let agrees = (printed.mean_ms(column) - printed.averages_ms[column]).abs() < 0.051;
        let mark = if agrees { Mark::Good } else { Mark::Bad };
        Cell::number(printed.mean_ms(column), 2).from(Evidence::Recomputed).marked(mark)
    });
    let [sign, verify] = again;
    table.push(vec![Cell::text("average computed again"), sign, verify]);
    let [sign, verify] = printed.rates_per_s.map(|rate| Cell::number(rate, 2).from(Evidence::Printed));
    table.push(vec![Cell::text("a second, as printed"), sign, verify]);
    let [sign, verify] = [0, 1].map(|column| {
        let rate = 1000.0 / printed.mean_ms(column);
        let agrees = (rate - printed.rates_per_s[column]).abs() <= 0.005 * printed.rates_per_s[column] + 0.05;
        Cell::number(rate, 2).from(Evidence::Recomputed).marked(if agrees { Mark::Good } else { Mark::Bad })
    });
    table.push(vec![Cell::text("a second, computed again"), sign, verify]);
    table
}

/// Every platform in a line.
pub(super) fn side_by_side(measured: &[Measured]) -> Table {
    let mut table = Table::new("Signatures and verifications on P-256, one after the other")
        .words("platform")
        .words("one run is")
        .numbers("sign, mean", "ms")
        .numbers("sign, median", "ms")
        .numbers("verify, mean", "ms")
        .numbers("verify, median", "ms")
        .numbers("sign", "1/s")
        .numbers("verify", "1/s")
        .footnote("Rates are the inverse of the median here and of the mean in the source, one core, ten runs each.")
        .footnote("Simulated: cycles of the RTL at a declared 100 MHz and modelled USB high speed; nothing of it was on a board.")
        .footnote("The source's messages follow an early draft; other hardware, other bytes: orders of magnitude, no ranking.");
    for printed in tables() {
        let mean = |column| Cell::number(printed.mean_ms(column), 2).from(Evidence::Recomputed);
        let median = |column: usize| {
            let mut values: Vec<f64> = printed.runs.iter().map(|run| run[column]).collect();
            values.sort_by(f64::total_cmp);
            let middle = statistics::median(&values).expect("a table has runs");
            Cell::number(middle, 1).from(Evidence::Recomputed)
        };
        let [sign, verify] = printed.rates_per_s.map(|rate| Cell::number(rate, 2).from(Evidence::Printed));
        table.push(vec![
            Cell::text(format!("{}, {} (table {})", printed.processor, printed.build, printed.number)),
            Cell::text(MESSAGE),
            mean(0),
            median(0),
            mean(1),
            median(1),
            sign,
            verify,
        ]);
    }
    for one in measured {
        let mut row = vec![Cell::text(one.name.clone()), Cell::text(one.what)];
        for column in [0, 1] {
            match one.middle_ms(column) {
                Some(both) => row.extend(both.map(|ms| Cell::number(ms, 4).from(one.evidence))),
                None => row.extend([Cell::na(one.why_not()), Cell::na(one.why_not())]),
            }
        }
        for column in [0, 1] {
            row.push(match one.middle_ms(column) {
                Some([_, median]) => {
                    let kind = if one.evidence == Evidence::Measured { Evidence::Derived } else { one.evidence };
                    Cell::number(1000.0 / median, 0).from(kind)
                }
                None => Cell::na(one.why_not()),
            });
        }
        table.push(row);
    }
    table
}

/// How much faster this host's build for speed verifies than the source's fastest software, if both are there.
pub(super) fn headline(measured: &[Measured]) -> Option<String> {
    let rates = |one: &Measured| Some([1000.0 / one.middle_ms(0)?[1], 1000.0 / one.middle_ms(1)?[1]]);
    let [sign, verify] = rates(measured.iter().find(|one| one.name == "this host, built for speed")?)?;
    // As printed, from the tables.
    let fastest = |column: usize| tables().iter().map(|table| table.rates_per_s[column]).fold(0.0, f64::max);
    let at_once = measured.iter().find(|one| one.what == OF_BATCH);
    let at_once = at_once.and_then(|one| {
        let [sign, verify] = rates(one)?;
        let name = one.name.trim_start_matches("this host, ");
        Some(format!("; {name}, {sign:.0} and {verify:.0}"))
    });
    let at_once = at_once.unwrap_or_default();
    Some(format!(
        "One core here signs {sign:.0} and verifies {verify:.0} messages a second, one after the other{at_once}. The source's fastest: {} and {}.",
        fastest(0),
        fastest(1)
    ))
}
