//! Figure 5: how the latencies of each protocol are spread under each load.

use chronoseal_report::{Axis, Chart, Series, SeriesKind};

use super::published::{Protocol, SATURATIONS};
use super::tables::Compared;

/// Bins of a density.
const BINS: usize = 60;

/// The densities of a protocol, a chart for each load with a curve for each payload.
pub(super) fn densities(protocol: Protocol, all: &[Compared]) -> Vec<Chart> {
    let chart = |saturation: u32| {
        let of = |cell: &&Compared| cell.printed.protocol == protocol && cell.printed.saturation == saturation;
        let cells: Vec<(u32, &[f64])> = all
            .iter()
            .filter(of)
            .filter_map(|cell| Some((cell.printed.payload, cell.simulated.as_ref()?.latencies.as_slice())))
            .collect();
        let (low, high) = cells
            .iter()
            .flat_map(|(_, latencies)| latencies.iter())
            .fold((f64::INFINITY, 0f64), |(low, high), latency| (low.min(*latency), high.max(*latency)));
        let series = cells.iter().filter(|(_, latencies)| !latencies.is_empty()).map(|(payload, latencies)| Series {
            name: format!("{payload} B"),
            kind: SeriesKind::Step,
            points: density(latencies, low, high),
        });
        Chart {
            caption: format!(
                "Figure 5, {} at {saturation} %: density of the simulated latencies, {BINS} bins, each run of 1000 messages",
                protocol.name()
            ),
            x: Axis::linear("one-way latency", "us"),
            y: Axis::linear("density", "%/us"),
            series: series.collect(),
        }
    };
    SATURATIONS.map(chart).into_iter().filter(|chart| !chart.series.is_empty()).collect()
}

/// The share of the latencies in each of the bins between two values, over its width `[%/us]`.
fn density(latencies: &[f64], low: f64, high: f64) -> Vec<(f64, f64)> {
    let width = ((high - low) / BINS as f64).max(1e-3);
    let mut counts = [0u32; BINS];
    for latency in latencies {
        counts[(((latency - low) / width) as usize).min(BINS - 1)] += 1;
    }
    let share = |count: u32| 100.0 * f64::from(count) / latencies.len() as f64 / width;
    let bins = counts.iter().enumerate().map(|(bin, count)| (low + width * bin as f64, share(*count)));
    bins.chain([(low + width * BINS as f64, 0.0)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_density_holds_all_latencies() {
        let latencies = [10.0, 10.5, 12.0, 70.0];
        let points = density(&latencies, 10.0, 70.0);
        let area: f64 = points.windows(2).map(|pair| pair[0].1 * (pair[1].0 - pair[0].0)).sum();
        assert!((area - 100.0).abs() < 1e-9, "{area}");
        assert_eq!(points[0].1, 50.0, "two of four in the first microsecond");
    }
}
