//! What each segment was used for, whatever its kind.

use chronoseal_results::{RunMeta, RunRows, RunSummary, SegmentMeta, SegmentSeries, SegmentSummary};

use super::evidence;
use crate::document::{Axis, Block, Cell, Chart, Evidence, Section, Series, SeriesKind, Table};

/// Points of a series kept in a document.
const POINTS_MAX: usize = 512;
/// The unit of series that are times.
const NS: &str = "ns";

/// One section for each segment that something is known of.
pub(super) fn sections(meta: &RunMeta, summary: &RunSummary, rows: &RunRows) -> Vec<Section> {
    let known = meta.segments.iter().zip(&summary.segments).zip(0u16..);
    known.map(|((segment, found), number)| section(meta, segment, found, of_segment(rows, number))).collect()
}

fn of_segment(rows: &RunRows, number: u16) -> Vec<&SegmentSeries> {
    rows.segments.iter().filter(|series| series.segment == number && series.window.is_some()).collect()
}

fn section(meta: &RunMeta, segment: &SegmentMeta, found: &SegmentSummary, by_window: Vec<&SegmentSeries>) -> Section {
    let mut section = Section::new(format!("Segment {}", segment.name)).with(Block::Text(words(segment)));
    if !found.series.is_empty() {
        section = section.with(Block::Table(totals(meta, segment, found)));
    }
    let mut left = by_window;
    while let Some(first) = left.first().copied() {
        let (alike, others) =
            left.into_iter().partition(|series| (&series.unit, series.window) == (&first.unit, first.window));
        section = section.with(Block::Chart(chart(segment, alike)));
        left = others;
    }
    section
}

/// Its kind and its properties as a sentence.
pub(super) fn words(segment: &SegmentMeta) -> String {
    let mut text = format!("Kind: {}", segment.kind);
    for (name, value) in &segment.properties {
        text += &format!("; {name}: {value}");
    }
    text + "."
}

fn totals(meta: &RunMeta, segment: &SegmentMeta, found: &SegmentSummary) -> Table {
    let counted = evidence(meta);
    // No wire was timed: live, too, a frame's time on it follows from its length.
    let timed = if counted == Evidence::Measured { Evidence::Derived } else { counted };
    let mut table = Table::new(format!("What was counted on {}", segment.name))
        .words("figure")
        .numbers("in the run", "")
        .numbers("in the window with the most", "")
        .words("unit")
        .numbers("share of the run", "%")
        .numbers("share of the window with the most", "%")
        .numbers("window", "ms");
    if timed != counted && found.series.iter().any(|series| series.unit == NS) {
        table = table.footnote(
            "The frames were counted live. How long they used the wire is what their length takes at the segment's rate.",
        );
    }
    for series in &found.series {
        // Time is counted in nanoseconds and read in milliseconds.
        let (is_time, scale) = if series.unit == NS { (true, 1e6) } else { (false, 1.0) };
        let kind = if is_time { timed } else { counted };
        let digits = if is_time { 3 } else { 0 };
        let value = |value: i64| Cell::number(value as f64 / scale, digits).from(kind);
        let or_na = |cell: Option<Cell>, why: &str| cell.unwrap_or_else(|| Cell::na(why));
        let percent = |share: Option<f64>| {
            or_na(share.map(|share| Cell::number(100.0 * share, 2).from(kind)), "it is no time that was used")
        };
        let not_by_window = "it was counted for the whole run only";
        table.push(vec![
            Cell::text(&series.name),
            value(series.total),
            or_na(series.window_max.map(value), not_by_window),
            Cell::text(if is_time { "ms" } else { &series.unit }),
            percent(series.share),
            match series.window_ns {
                Some(_) => percent(series.share_max),
                None => Cell::na(not_by_window),
            },
            or_na(series.window_ns.map(|ns| Cell::number(ns as f64 / 1e6, 0)), not_by_window),
        ]);
    }
    table
}

/// Series of one unit over the run.
fn chart(segment: &SegmentMeta, series: Vec<&SegmentSeries>) -> Chart {
    let window_ns =
        series.iter().filter_map(|series| series.window).map(|window| window.as_ns()).max().unwrap_or(1).max(1);
    let windows = series.iter().map(|series| series.values.len()).max().unwrap_or(0);
    let merged = windows.div_ceil(POINTS_MAX).max(1);
    let is_time = series.iter().any(|series| series.unit == NS);
    let (label, unit) = if is_time { ("share of the time", "%") } else { ("in one window", series[0].unit.as_str()) };
    let of_each = match merged {
        1 => String::new(),
        _ => format!("; each point is the highest of {merged} windows"),
    };
    let value = |value: i64| if is_time { 100.0 * value as f64 / window_ns as f64 } else { value as f64 };
    let points = |values: &[i64]| {
        let highest = values.chunks(merged).map(|some| some.iter().copied().max().unwrap_or(0));
        let mut points: Vec<(f64, f64)> = highest
            .enumerate()
            .map(|(index, highest)| ((index * merged) as f64 * window_ns as f64 / 1e9, value(highest)))
            .collect();
        // The last window has a width as well.
        points.extend(points.last().map(|(_, last)| (values.len() as f64 * window_ns as f64 / 1e9, *last)));
        points
    };
    Chart {
        caption: format!("{} in windows of {:.0} ms{of_each}", segment.name, window_ns as f64 / 1e6),
        x: Axis::linear("time", "s"),
        y: Axis::linear(label, unit),
        series: series
            .iter()
            .map(|series| Series { name: series.name.clone(), kind: SeriesKind::Step, points: points(&series.values) })
            .collect(),
    }
}
