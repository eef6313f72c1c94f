//! What is to be known of a radio segment.

use chronoseal_analysis::segment::{BOUNDS, StreamBounds, end_to_end};
use chronoseal_catalog::Prepared;
use chronoseal_core::Duration;
use chronoseal_plan::{Plan, Radio, SegmentId};
use chronoseal_report::{Block, Cell, Evidence, Section, Table};
use chronoseal_results::Distribution;
use chronoseal_runner::simulated_latencies;

/// Of the run at most this much is simulated for a check.
const LOOK: Duration = Duration::from_s(5);

/// What is known of streams on a radio segment before a run: that nothing bounds them, and what a short simulation gives.
pub(crate) fn page(plan: &Plan, segment: SegmentId) -> Option<Vec<Section>> {
    let view = Radio::of(plan, segment)?;
    let mut short = plan.clone();
    short.duration = plan.duration.min(LOOK);
    let latencies = Prepared::new(&short).ok().and_then(|prepared| simulated_latencies(&prepared).ok());
    let vehicles = view.segment.fleet.trips.trips.len();
    let section = Section::new("Messages")
        .with(Block::Text(format!(
            "Nothing bounds a message on the air: it may be lost, and it waits as long as others send. The percentiles are \
             of a simulation of the first {}, over all pairs of sender and receiver, from the first bit to the moment the \
             receiver's application has the message, checked. {vehicles} vehicles come by on the road.",
            short.duration
        )))
        .with(Block::Table(table(plan, view, latencies.as_deref())));
    Some(vec![section])
}

fn table(plan: &Plan, view: Radio<'_>, latencies: Option<&[Option<Distribution>]>) -> Table {
    let mut table = Table::new("Latency of each stream")
        .words("stream")
        .words("message")
        .words("bound")
        .numbers("median", "us")
        .numbers("99 %", "us")
        .numbers("most", "us")
        .numbers("received", "")
        .numbers("deadline", "us");
    let tables = vec![None; plan.segments.len()];
    let bounds = end_to_end(plan, &tables, BOUNDS);
    for (id, stream, _, facet) in view.streams() {
        let found = latencies.and_then(|latencies| latencies[id.index()]);
        let us = |ns: Option<i64>| match (found, ns) {
            (_, Some(ns)) => Cell::number(ns as f64 / 1_000.0, 1).from(Evidence::Simulated),
            (None, None) => Cell::na("nothing was received in this time"),
            (Some(_), None) => Cell::na("too few messages"),
        };
        table.push(vec![
            Cell::text(&stream.name),
            Cell::text(facet.message.name()),
            bound(bounds.iter().find(|bound| bound.stream == id)),
            us(found.and_then(|found| found.p50_ns)),
            us(found.and_then(|found| found.p99_ns)),
            us(found.map(|found| found.max_ns)),
            Cell::count(found.map_or(0, |found| found.n)).from(Evidence::Simulated),
            stream.deadline.map_or_else(|| Cell::na("it has none"), |deadline| Cell::number(deadline.as_us_f64(), 1)),
        ]);
    }
    table
}

/// The longest over all receivers, or why there is none.
fn bound(bounds: Option<&StreamBounds>) -> Cell {
    let ends = bounds.map_or(&[][..], |bounds| &bounds.ends[..]);
    if let Some(missing) = ends.iter().find_map(|end| end.latency.err()) {
        return Cell::text(missing.why.to_string());
    }
    match ends.iter().filter_map(|end| end.latency.ok()).map(|span| span.max).max() {
        Some(longest) => Cell::text(format!("{longest:.3}")).from(Evidence::Bounded),
        None => Cell::text("nobody receives it"),
    }
}
