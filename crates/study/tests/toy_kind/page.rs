//! The page of `check`: what is to be known of a segment, before what holds from end to end.

use chronoseal_check::Checked;
use chronoseal_plan::{Plan, SegmentId};
use chronoseal_report::{Block, Cell, Document, Section, Table, Verdict, Word};

use crate::kind;

/// The page of a scenario with one segment.
pub(crate) fn page(plan: &Plan, segment: SegmentId) -> Option<Checked> {
    let (name, delay) = (&plan.segments[segment.index()].name, kind::delay(plan, segment));
    let mut table = Table::new(format!("Streams on {name}, where every frame takes {:.3} ms", delay.as_ms_f64()))
        .words("stream")
        .numbers("number", "")
        .numbers("frame", "B");
    for (_, stream, hop, number) in kind::hops(plan, segment) {
        let len = plan.secured_len(stream, hop);
        table.push(vec![Cell::text(&stream.name), Cell::count(number.into()), Cell::count(len.into())]);
    }
    let text = "Every stream is in time in the worst case.".to_owned();
    let document = Document {
        title: format!("Check of {}", plan.name),
        subtitle: "Bounded by analysis; nothing was run.".into(),
        verdict: Verdict { word: Word::Held, text, points: plan.notes.clone() },
        sections: vec![Section::new("Segment").with(Block::Table(table))],
        environment: Vec::new(),
    };
    Some(Checked { json: serde_json::to_string_pretty(&document).ok()?, holds: true, document })
}
