//! Compares runs, not packets: one figure for each run, a rank test over the runs, and a least effect worth telling.
//!
//! Samples within a run depend on each other; tests over packets find differences between identical runs nearly
//! always. Runs of the two sides should have been interleaved, so that a slow drift of the host hits both alike.

use chronoseal_core::statistics::{Interval, median};
use chronoseal_results::{RunSummary, StreamSummary};
use serde::Serialize;
use serde::ser::SerializeStruct;

use crate::document::{Block, Cell, Document, Evidence, Mark, Section, Table, Verdict as Answer};
use crate::statistics::{hodges_lehmann, holm, mann_whitney};
use crate::word::Word;

/// Runs each side needs before a difference is judged.
pub const RUNS_MIN: usize = 10;
/// A smaller difference is not worth telling, relative to the first side's median.
pub const EFFECT_MIN: f64 = 0.05;
/// The same for shares that are often zero (loss), absolute.
pub const LOSS_EFFECT_MIN: f64 = 0.001;
/// Tolerated share of false alarms.
pub const SIGNIFICANCE: f64 = 0.05;

/// Two sets of runs compared.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CompareReport {
    /// Worse if any metric is worse, else better if any is better, else the same; insufficient before all.
    pub verdict: Change,
    /// Each metric compared.
    pub metrics: Vec<MetricComparison>,
}

/// What happened from the first side to the second.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Significantly and noticeably lower.
    Better,
    /// Significantly and noticeably higher.
    Worse,
    /// No difference worth telling was found.
    Same,
    /// Too few runs to judge.
    Insufficient,
}

/// One metric compared. Of every metric, less is better.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MetricComparison {
    /// What was compared.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Runs of each side that have a figure.
    pub n: (usize, usize),
    /// Median over the runs of each side.
    pub medians: (Option<f64>, Option<f64>),
    /// How far the second side lies above the first, with its 95 % interval.
    #[serde(serialize_with = "serialize_interval")]
    pub shift: Option<Interval>,
    /// Probability of such a difference between runs of one source, adjusted for all metrics.
    pub p: Option<f64>,
    /// The judgement.
    pub change: Change,
}

impl Change {
    /// As shown to people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Same => "same",
            Self::Insufficient => "insufficient",
        }
    }
}

/// As a map of its three figures.
fn serialize_interval<S: serde::Serializer>(interval: &Option<Interval>, serializer: S) -> Result<S::Ok, S::Error> {
    let Some(Interval { estimate, low, high }) = interval else { return serializer.serialize_none() };
    let mut map = serializer.serialize_struct("Interval", 3)?;
    map.serialize_field("estimate", estimate)?;
    map.serialize_field("low", low)?;
    map.serialize_field("high", high)?;
    map.end()
}

/// A figure of one run, a metric's least effect for a base value, its name and unit.
struct Metric {
    name: &'static str,
    unit: &'static str,
    of: fn(&RunSummary) -> Option<f64>,
    least: fn(f64) -> f64,
}

const METRICS: [Metric; 3] = [
    Metric {
        name: "median latency, middle stream",
        unit: "us",
        of: median_latency_us,
        least: |base| base.abs() * EFFECT_MIN,
    },
    Metric { name: "p99 latency, worst stream", unit: "us", of: p99_latency_us, least: |base| base.abs() * EFFECT_MIN },
    Metric { name: "frames late or lost", unit: "share", of: loss, least: |_| LOSS_EFFECT_MIN },
];

fn median_latency_us(run: &RunSummary) -> Option<f64> {
    let mut medians: Vec<f64> =
        run.streams.iter().filter_map(|stream| stream.end_to_end.all?.p50_ns).map(|ns| ns as f64 / 1e3).collect();
    medians.sort_by(f64::total_cmp);
    median(&medians)
}

fn p99_latency_us(run: &RunSummary) -> Option<f64> {
    run.streams.iter().filter_map(|stream| stream.end_to_end.all?.p99_ns).max().map(|ns| ns as f64 / 1e3)
}

fn loss(run: &RunSummary) -> Option<f64> {
    let failed = |stream: &StreamSummary| stream.late + stream.missing + stream.unaccounted + stream.discarded_total();
    let lost: u64 = run.streams.iter().map(failed).sum();
    let all: u64 = run.streams.iter().map(|stream| stream.delivered + failed(stream)).sum();
    (all > 0).then(|| lost as f64 / all as f64)
}

/// Compares the runs `a` with the runs `b`; fewer than [`RUNS_MIN`] a side are [`Change::Insufficient`].
pub fn compare(a: &[RunSummary], b: &[RunSummary]) -> CompareReport {
    let figures: Vec<(Vec<f64>, Vec<f64>)> = METRICS
        .iter()
        .map(|metric| (a.iter().filter_map(metric.of).collect(), b.iter().filter_map(metric.of).collect()))
        .collect();
    let enough = |(a, b): &(Vec<f64>, Vec<f64>)| a.len() >= RUNS_MIN && b.len() >= RUNS_MIN;
    let raw: Vec<f64> = figures
        .iter()
        .filter(|sides| enough(sides))
        .filter_map(|(a, b)| mann_whitney(a, b))
        .map(|test| test.p)
        .collect();
    let mut adjusted = holm(&raw).into_iter();
    let metrics: Vec<_> = METRICS
        .iter()
        .zip(figures)
        .map(|(metric, sides)| {
            let p = if enough(&sides) { adjusted.next() } else { None };
            let (a, b) = sides;
            let middle = |values: &[f64]| {
                let mut sorted = values.to_vec();
                sorted.sort_by(f64::total_cmp);
                median(&sorted)
            };
            let (medians, shift) = ((middle(&a), middle(&b)), hodges_lehmann(&a, &b, 0.95));
            let change = match (p, shift, medians.0) {
                (Some(p), Some(shift), Some(base)) => {
                    if p >= SIGNIFICANCE || shift.estimate.abs() < (metric.least)(base) || shift.estimate == 0.0 {
                        Change::Same
                    } else if shift.estimate > 0.0 {
                        Change::Worse
                    } else {
                        Change::Better
                    }
                }
                _ => Change::Insufficient,
            };
            MetricComparison {
                name: metric.name.into(),
                unit: metric.unit.into(),
                n: (a.len(), b.len()),
                medians,
                shift,
                p,
                change,
            }
        })
        .collect();
    let any = |change: Change| metrics.iter().any(|metric| metric.change == change);
    let verdict =
        if a.len() < RUNS_MIN || b.len() < RUNS_MIN || metrics.iter().all(|m| m.change == Change::Insufficient) {
            Change::Insufficient
        } else if any(Change::Worse) {
            Change::Worse
        } else if any(Change::Better) {
            Change::Better
        } else {
            Change::Same
        };
    CompareReport { verdict, metrics }
}

/// The comparison as a document; `names` are those of the two sides.
pub fn compare_document(report: &CompareReport, names: (&str, &str)) -> Document {
    let table_of = |kind: Evidence| {
        let mut table = Table::new(format!("{} against {}, one figure for each run", names.1, names.0))
            .words("metric")
            .words("unit")
            .numbers(format!("{} (median)", names.0), "")
            .numbers(format!("{} (median)", names.1), "")
            .numbers("shift", "")
            .numbers("95 % interval", "")
            .numbers("p (Holm)", "")
            .numbers("runs", "")
            .words("change")
            .footnote(format!(
                "Mann-Whitney U over runs, Hodges-Lehmann shift; a change is told from {} % on (loss: {} percentage points) and with at least {RUNS_MIN} runs a side.",
                EFFECT_MIN * 100.0,
                LOSS_EFFECT_MIN * 100.0
            ));
        for metric in &report.metrics {
            let digits = if metric.unit == "share" { 5 } else { 3 };
            let value = |value: Option<f64>| {
                value.map_or_else(|| Cell::na("no run has it"), |v| Cell::number(v, digits).from(kind))
            };
            let mark = match metric.change {
                Change::Better => Mark::Good,
                Change::Worse => Mark::Bad,
                Change::Same => Mark::None,
                Change::Insufficient => Mark::Na,
            };
            let interval = metric.shift.map_or_else(
                || Cell::na("no runs"),
                |shift| Cell::text(format!("{:.digits$} .. {:.digits$}", shift.low, shift.high)),
            );
            table.push(vec![
                Cell::text(&metric.name),
                Cell::text(&metric.unit),
                value(metric.medians.0),
                value(metric.medians.1),
                value(metric.shift.map(|shift| shift.estimate)),
                interval,
                metric.p.map_or_else(|| Cell::na("too few runs"), |p| Cell::number(p, 4)),
                Cell::text(format!("{} / {}", metric.n.0, metric.n.1)),
                Cell::text(metric.change.name()).marked(mark),
            ]);
        }
        table
    };
    let (word, text) = match report.verdict {
        Change::Better => (Word::Held, format!("{} is better than {}.", names.1, names.0)),
        Change::Same => {
            (Word::Held, format!("No difference worth telling was found between {} and {}.", names.0, names.1))
        }
        Change::Worse => (Word::Worse, format!("{} is worse than {}.", names.1, names.0)),
        Change::Insufficient => {
            (Word::NotChecked, format!("Insufficient: a comparison needs at least {RUNS_MIN} runs of each side."))
        }
    };
    Document {
        title: format!("{} against {}", names.1, names.0),
        subtitle: "Runs are compared, not packets.".into(),
        verdict: Answer { word, text, points: Vec::new() },
        sections: vec![Section::new("Comparison").with(Block::Table(table_of(Evidence::Plain)))],
        environment: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
