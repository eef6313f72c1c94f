//! The page of `check`: what is to be known of a segment, before what holds from end to end.

use chronoseal_plan::{Plan, SegmentId};
use chronoseal_report::{Block, Cell, Section, Table};

use crate::kind;

/// What is on the only segment of a scenario.
pub(crate) fn page(plan: &Plan, segment: SegmentId) -> Option<Vec<Section>> {
    let (name, delay) = (&plan.segments[segment.index()].name, kind::delay(plan, segment));
    let mut table = Table::new(format!("Streams on {name}, where every frame takes {:.3} ms", delay.as_ms_f64()))
        .words("stream")
        .numbers("number", "")
        .numbers("frame", "B");
    for (_, stream, hop, number) in kind::hops(plan, segment) {
        let len = plan.secured_len(stream, hop);
        table.push(vec![Cell::text(&stream.name), Cell::count(number.into()), Cell::count(len.into())]);
    }
    Some(vec![Section::new("Segment").with(Block::Table(table))])
}
