//! What is to be known of an Ethernet segment.

use chronoseal_plan::{Ethernet, Plan, SegmentId};
use chronoseal_report::{Block, Cell, Section, Table};

/// Every stream as it is written.
pub(crate) fn page(plan: &Plan, segment: SegmentId) -> Option<Vec<Section>> {
    let view = Ethernet::of(plan, segment)?;
    let mut table = Table::new("Every stream as written; how long its frames can take is below, from end to end")
        .words("stream")
        .words("class")
        .words("protection")
        .numbers("frame", "B")
        .numbers("on the wire", "us")
        .numbers("period", "us");
    for stream in view.streams() {
        table.push(vec![
            Cell::text(&stream.stream.name),
            Cell::text(stream.hop.class),
            Cell::text(&view.protection_of(&stream).name),
            Cell::count(u64::from(view.secured_len(&stream))),
            Cell::number(view.frame_time_of(&stream).as_us_f64(), 2),
            Cell::number(stream.stream.period.as_us_f64(), 1),
        ]);
    }
    Some(vec![Section::new("Streams").with(Block::Table(table))])
}
