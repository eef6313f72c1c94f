//! The charts of a run.

use std::collections::BTreeMap;

use chronoseal_core::statistics::median;
use chronoseal_results::{FrameRow, Outcome, RunMeta, RunRows, RunSummary};

use crate::document::{Axis, Chart, Series, SeriesKind};
use crate::statistics::ecdf;

/// Points of a series kept in a document.
const POINTS_MAX: usize = 512;
/// Streams shown one by one; more are taken together by protection.
const STREAMS_MAX: usize = 8;
/// Bars of a histogram.
const BINS: usize = 60;

/// Latency of accepted frames by stream (or by protection, if there are many streams) `[us]`: cumulative, and counted.
pub(super) fn latency(meta: &RunMeta, summary: &RunSummary, rows: &RunRows) -> Vec<Chart> {
    let one_by_one = meta.streams.len() <= STREAMS_MAX;
    let mut groups: BTreeMap<(usize, String), Vec<f64>> = BTreeMap::new();
    for row in &rows.frames {
        let index = row.stream.index();
        let Some((stream, counts)) = meta.streams.get(index).zip(summary.streams.get(index)) else { continue };
        if !is_sample(row, counts.ready_ns) {
            continue;
        }
        let Some(latency) = row.latency() else { continue };
        let key = if one_by_one {
            (row.stream.index(), stream.name.clone())
        } else {
            (0, format!("{}, {}", stream.class, stream.protection))
        };
        groups.entry(key).or_default().push(latency.as_us_f64());
    }
    let groups: Vec<(String, Vec<f64>)> = groups.into_iter().map(|((_, name), samples)| (name, samples)).collect();
    distributions("End-to-end latency", ("latency", "frames"), groups)
}

/// Release error and stalls of the emulator.
pub(super) fn emulator(rows: &RunRows) -> Vec<Chart> {
    let errors: Vec<f64> = rows.releases.iter().map(|row| row.error.as_us_f64()).collect();
    let mut charts = distributions(
        "Release error of the emulator",
        ("written later than planned", "writes"),
        vec![("all writes".into(), errors)],
    );
    charts.truncate(1);
    if !rows.stalls.is_empty() {
        let mut points: Vec<(f64, f64)> =
            rows.stalls.iter().map(|row| (row.time.since_zero().as_secs_f64(), row.duration.as_ms_f64())).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        charts.push(Chart {
            caption: "Stays off the processor over the run".into(),
            x: Axis::linear("time", "s"),
            y: Axis::linear("length", "ms"),
            series: vec![Series { name: "stall".into(), kind: SeriesKind::Points, points }],
        });
    }
    charts
}

fn is_sample(row: &FrameRow, ready_ns: i64) -> bool {
    row.attack.is_none()
        && matches!(row.outcome, Outcome::Delivered | Outcome::Late)
        && row.cycle_start.since_zero().as_ns() >= ready_ns
}

/// A cumulative chart and a histogram of named samples `[us]`; nothing without samples. `label` and `counted` name what is
/// measured and what is counted.
fn distributions(what: &str, (label, counted): (&str, &str), groups: Vec<(String, Vec<f64>)>) -> Vec<Chart> {
    let groups: Vec<_> = groups.into_iter().filter(|(_, samples)| !samples.is_empty()).collect();
    if groups.is_empty() {
        return Vec::new();
    }
    let values = || groups.iter().flat_map(|(_, samples)| samples.iter().copied());
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    let mut sorted: Vec<f64> = values().collect();
    sorted.sort_by(f64::total_cmp);
    // A tail that would squeeze everything else into the first pixels asks for a logarithmic axis.
    let middle = median(&sorted).unwrap_or(0.0);
    let log = middle > 0.0 && high > 20.0 * middle;
    let low = sorted.iter().copied().find(|value| !log || *value > 0.0).unwrap_or(high);
    let axis = || Axis { log, ..Axis::linear(label, "\u{b5}s") };
    let histograms = Chart {
        caption: format!("{what}: how often"),
        x: axis(),
        y: Axis::linear(counted, ""),
        series: groups
            .iter()
            .map(|(name, samples)| Series {
                name: name.clone(),
                kind: SeriesKind::Step,
                points: histogram(samples, low, high, log),
            })
            .collect(),
    };
    let cumulative = Chart {
        caption: format!("{what}: share of {counted} at or below"),
        x: axis(),
        y: Axis::linear("share", ""),
        series: groups
            .into_iter()
            .map(|(name, mut samples)| Series {
                name: format!("{name} (n = {})", samples.len()),
                kind: SeriesKind::Ecdf,
                points: ecdf(&mut samples, POINTS_MAX),
            })
            .collect(),
    };
    vec![cumulative, histograms]
}

/// Counts in [`BINS`] equal bins (of the logarithm, if `log`), as steps that begin and end at zero. What lies below `low`
/// counts in the first.
fn histogram(samples: &[f64], low: f64, high: f64, log: bool) -> Vec<(f64, f64)> {
    let map = |value: f64| if log { value.ln() } else { value };
    let back = |value: f64| if log { value.exp() } else { value };
    // Samples that are all alike still need a bin with a width.
    let (low, high) = if map(high) > map(low) { (map(low), map(high)) } else { (map(low) - 0.5, map(low) + 0.5) };
    let width = (high - low) / BINS as f64;
    let mut counts = [0u64; BINS];
    for &sample in samples {
        counts[(((map(sample) - low) / width) as usize).min(BINS - 1)] += 1;
    }
    let mut points = vec![(back(low), 0.0)];
    points.extend(counts.iter().enumerate().map(|(i, &count)| (back(low + width * i as f64), count as f64)));
    points.push((back(high), 0.0));
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_every_sample() {
        for (samples, log) in
            [(vec![1.0, 2.0, 2.0, 900.0], true), (vec![1.0, 2.0, 2.0, 9.0], false), (vec![5.0; 4], false)]
        {
            let (low, high) = (samples[0], samples[3]);
            let total: f64 = histogram(&samples, low, high, log).iter().map(|point| point.1).sum();
            assert_eq!(total, 4.0);
        }
    }
}
