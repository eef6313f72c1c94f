//! The charts of a run.

use std::collections::BTreeMap;

use chronoseal_results::{FrameFigures, RunMeta, RunRows, Samples};

use crate::document::{Axis, Chart, Series, SeriesKind};
use crate::statistics::ecdf;

/// Points of a series kept in a document.
const POINTS_MAX: usize = 512;
/// Streams shown one by one; more are taken together by protection.
const STREAMS_MAX: usize = 8;
/// Bars of a histogram.
const BINS: usize = 60;

/// Latency of accepted frames by stream (or by protection, if there are many streams) `[us]`: cumulative, and counted. Streams in closed
/// loops have charts of their own.
pub(super) fn latency(meta: &RunMeta, figures: &FrameFigures) -> Vec<Chart> {
    let mut charts = latency_of(meta, figures, false, "End-to-end latency");
    charts.extend(latency_of(meta, figures, true, "End-to-end latency in closed loops"));
    charts
}

fn latency_of(meta: &RunMeta, figures: &FrameFigures, of_closed_loops: bool, caption: &str) -> Vec<Chart> {
    let one_by_one = meta.streams.len() <= STREAMS_MAX;
    let mut groups: BTreeMap<(usize, String), Samples> = BTreeMap::new();
    for (index, (stream, samples)) in meta.streams.iter().zip(&figures.latencies).enumerate() {
        if meta.is_in_closed_loop(stream) != of_closed_loops {
            continue;
        }
        let key = match one_by_one {
            true => (index, stream.name.clone()),
            false => (0, format!("{}, {}", stream.class, stream.protection)),
        };
        groups.entry(key).or_default().extend(samples);
    }
    let groups = groups.into_iter().map(|((_, name), samples)| (name, samples)).collect();
    distributions(caption, ("latency", "frames"), groups)
}

/// Release error and stalls of the emulator.
pub(super) fn emulator(rows: &RunRows) -> Vec<Chart> {
    let errors: Samples = rows.releases.iter().map(|row| row.error.as_ns()).collect();
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

/// Different values in order, with how often each came.
type Counted = Vec<(f64, u64)>;

fn in_us(samples: Samples) -> Counted {
    samples.into_counted().into_iter().map(|(ns, count)| (ns as f64 / 1_000.0, count)).collect()
}

/// A cumulative chart and a histogram of named samples `[us]`; nothing without samples. `label` and `counted` name what is
/// measured and what is counted.
fn distributions(what: &str, (label, counted): (&str, &str), groups: Vec<(String, Samples)>) -> Vec<Chart> {
    let mut all = Samples::default();
    groups.iter().for_each(|(_, samples)| all.extend(samples));
    let half = all.len().div_ceil(2);
    let all = in_us(all);
    let Some((high, _)) = all.last().copied() else { return Vec::new() };
    let mut below = 0;
    let reaches_half = |(_, count): &&(f64, u64)| {
        below += count;
        below >= half
    };
    // A tail that would squeeze everything else into the first pixels asks for a logarithmic axis.
    let middle = all.iter().find(reaches_half).map_or(0.0, |(value, _)| *value);
    let log = middle > 0.0 && high > 20.0 * middle;
    let low = all.iter().map(|(value, _)| *value).find(|value| !log || *value > 0.0).unwrap_or(high);
    let groups: Vec<(String, u64, Counted)> = (groups.into_iter())
        .filter(|(_, samples)| !samples.is_empty())
        .map(|(name, samples)| (name, samples.len(), in_us(samples)))
        .collect();
    let axis = || Axis { log, ..Axis::linear(label, "\u{b5}s") };
    let histograms = Chart {
        caption: format!("{what}: how often"),
        x: axis(),
        y: Axis::linear(counted, ""),
        series: groups
            .iter()
            .map(|(name, _, samples)| Series {
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
            .iter()
            .map(|(name, count, samples)| Series {
                name: format!("{name} (n = {count})"),
                kind: SeriesKind::Ecdf,
                points: ecdf(samples, POINTS_MAX),
            })
            .collect(),
    };
    vec![cumulative, histograms]
}

/// Counts in [`BINS`] equal bins (of the logarithm, if `log`), as steps that begin and end at zero. What lies below `low`
/// counts in the first.
fn histogram(samples: &[(f64, u64)], low: f64, high: f64, log: bool) -> Vec<(f64, f64)> {
    let map = |value: f64| if log { value.ln() } else { value };
    let back = |value: f64| if log { value.exp() } else { value };
    // Samples that are all alike still need a bin with a width.
    let (low, high) = if map(high) > map(low) { (map(low), map(high)) } else { (map(low) - 0.5, map(low) + 0.5) };
    let width = (high - low) / BINS as f64;
    let mut counts = [0u64; BINS];
    for (sample, count) in samples {
        counts[(((map(*sample) - low) / width) as usize).min(BINS - 1)] += count;
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
        for (samples, log) in [([1.0, 2.0, 2.0, 900.0], true), ([1.0, 2.0, 2.0, 9.0], false), ([5.0; 4], false)] {
            let (low, high) = (samples[0], samples[3]);
            let counted = samples.map(|sample| (sample, 1));
            let total: f64 = histogram(&counted, low, high, log).iter().map(|point| point.1).sum();
            assert_eq!(total, 4.0);
        }
    }
}
