//! What each segment was used for.

use super::{PrecisionSummary, SegmentSummary, SeriesSummary};
use crate::{RunMeta, SegmentMeta, SegmentSeries};

/// The series that says how far apart the clocks of a segment were.
pub const CLOCK_DIFFERENCE: &str = "largest difference of clocks";
/// What the name of a series begins with that says how far a clock was from that of its grandmaster; the node follows.
pub const CLOCK_OFFSET: &str = "largest offset from its grandmaster of ";

/// A segment of the description each, with what the rows say of it.
pub(crate) fn segments(meta: &RunMeta, rows: &[SegmentSeries], passed_ns: i64) -> Vec<SegmentSummary> {
    let of_segment = |number: usize| {
        let mut found: Vec<SeriesSummary> = Vec::new();
        for series in rows.iter().filter(|series| usize::from(series.segment) == number) {
            let place = found.iter().position(|known| known.name == series.name).unwrap_or_else(|| {
                found.push(SeriesSummary::new(series));
                found.len() - 1
            });
            found[place].add(series);
        }
        found.iter_mut().for_each(|series| series.share_of(passed_ns));
        found
    };
    let known = meta.segments.iter().enumerate();
    let summary = |(number, segment): (usize, &SegmentMeta)| {
        let series = of_segment(number);
        let measured = series.iter().find(|series| series.name == CLOCK_DIFFERENCE);
        // Where no frame goes by the clocks they may be as far apart as they like.
        let used = segment.clocks.as_ref().filter(|clocks| !clocks.is_idle());
        let allowed = used.and_then(|clocks| clocks.precision_ns);
        let precision = measured
            .zip(allowed)
            .map(|(measured, allowed)| PrecisionSummary { measured_ns: measured.total, allowed_ns: allowed });
        SegmentSummary { name: segment.name.clone(), series, precision }
    };
    known.map(summary).collect()
}

impl SeriesSummary {
    fn new(series: &SegmentSeries) -> Self {
        Self {
            name: series.name.clone(),
            unit: series.unit.clone(),
            // What windows come to together, until there is a total.
            total: series.values.iter().sum(),
            window_ns: None,
            window_max: None,
            share: None,
            share_max: None,
        }
    }

    fn add(&mut self, series: &SegmentSeries) {
        match series.window {
            None => self.total = series.values.iter().sum(),
            Some(window) => {
                self.window_ns = Some(window.as_ns());
                self.window_max = series.values.iter().copied().max();
            }
        }
    }

    /// Time that was used is a share of the time there was.
    fn share_of(&mut self, passed_ns: i64) {
        if self.unit != "ns" || self.name == CLOCK_DIFFERENCE || self.name.starts_with(CLOCK_OFFSET) {
            return;
        }
        let share = |used_ns: i64, of_ns: i64| used_ns as f64 / of_ns.max(1) as f64;
        self.share = Some(share(self.total, passed_ns));
        self.share_max = self.window_max.zip(self.window_ns).map(|(used_ns, of_ns)| share(used_ns, of_ns));
    }
}
