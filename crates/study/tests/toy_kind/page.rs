//! The page of `check`: what each stream takes at most, over all segments it travels on.

use chronoseal_analysis::segment::end_to_end;
use chronoseal_report::{Block, Cell, Document, Evidence, Held, Mark, Section, Table, Verdict};
use chronoseal_scenario::plan::{Plan, SegmentId};
use chronoseal_study::Checked;

use crate::tables::{TOY, kinds};

/// The page of a segment.
pub(crate) fn page(plan: &Plan, segment: SegmentId) -> Option<Checked> {
    let mut table =
        Table::new("Every stream, at most").words("stream").words("receiver").numbers("bound", "us").words("holds");
    let mut misses = 0;
    // A segment of this kind has no schedule table.
    for stream in end_to_end(plan, &[], kinds().bounds()) {
        let known = &plan.streams[stream.stream.index()];
        for end in stream.ends {
            let deadline = known.deadline_of(end.receiver);
            let bound = end.latency.map(|span| span.max);
            let holds = bound.is_ok_and(|bound| deadline.is_none_or(|deadline| bound <= deadline));
            misses += u32::from(!holds);
            table.push(vec![
                Cell::text(&known.name),
                Cell::text(plan.node_name(end.receiver)),
                match bound {
                    Ok(bound) => Cell::number(bound.as_us_f64(), 1).from(Evidence::Recomputed),
                    Err(missing) => Cell::na(missing.why.to_string()),
                },
                if holds { Cell::text("yes").marked(Mark::Good) } else { Cell::text("no").marked(Mark::Bad) },
            ]);
        }
    }
    let (held, text) = match misses {
        0 => (Held::Yes, "Every stream is in time.".to_owned()),
        _ => (Held::No, format!("{misses} streams can be late, or have no bound.")),
    };
    let document = Document {
        title: format!("{}: {} of kind {TOY}", plan.name, plan.segments[segment.index()].name),
        subtitle: "Bounded by analysis; nothing was run.".into(),
        verdict: Verdict { held, text, points: plan.notes.clone() },
        sections: vec![Section::new("Streams").with(Block::Table(table))],
        environment: Vec::new(),
    };
    Some(Checked { json: serde_json::to_string_pretty(&document).ok()?, holds: misses == 0, document })
}
