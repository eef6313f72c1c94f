//! Where the latency of each stream goes, step by step.

use chronoseal_results::{DividedLatency, DividedPart, PartKind, RunMeta, RunSummary};

use super::ranges::shown;
use crate::document::{Divided, DividedRow, Piece};

/// The picture, if frames were followed.
pub(super) fn divided(meta: &RunMeta, summary: &RunSummary) -> Option<Divided> {
    let rows: Vec<DividedRow> = summary.divided.iter().filter_map(|one| row(meta, one)).collect();
    (!rows.is_empty()).then(|| Divided {
        caption: "Where latencies go, step by step".into(),
        unit: "us".into(),
        kinds: PartKind::ALL.iter().map(|kind| kind.name().to_owned()).collect(),
        rows,
        footnotes: vec!["A bound is that of the receiver which its stream takes the longest to.".into()],
    })
}

fn row(meta: &RunMeta, one: &DividedLatency) -> Option<DividedRow> {
    let stream = meta.streams.get(usize::from(one.stream))?;
    let us = |ps: f64| ps / 1e6;
    let frames = one.frames.max(1) as f64;
    let piece = |part: &DividedPart| Piece {
        kind: PartKind::ALL.iter().position(|kind| *kind == part.kind).unwrap_or(0),
        place: part.place.clone(),
        longest: us(part.worst_ps as f64),
        mean: us(part.sum_ps as f64) / frames,
    };
    Some(DividedRow {
        name: shown(meta, stream),
        note: meta.node_name(one.receiver),
        longest: format!("frame {}", one.worst_sequence),
        n: one.frames,
        bound: stream.bound.as_ref().map(|bound| bound.total_ns as f64 / 1e3),
        pieces: one.parts.iter().map(piece).collect(),
    })
}
