//! A run for programs.

use std::path::Path;

use chronoseal_report::{Document, RunView};
use serde_json::{Value, json};

/// The page in the folder of a run.
pub const PAGE: &str = "report.html";

/// A run with its report, the processor time of this process `[s]` and where it is stored.
pub fn run_json(view: &RunView<'_>, document: &Document, cpu_s: f64, folder: Option<&Path>) -> Value {
    let RunView { meta, summary, .. } = view;
    let delivered: u64 = summary.streams.iter().map(|stream| stream.delivered + stream.late).sum();
    json!({
        "schema_version": 2,
        "scenario": meta.name,
        "engine": meta.engine.name(),
        "seed": meta.seed,
        "fingerprint": meta.fingerprint,
        "interrupted": meta.interrupted,
        "word": document.verdict.word,
        "verdict": document.verdict.text,
        "frames_delivered": delivered,
        "cpu_s": cpu_s,
        "frames_per_cpu_s": delivered as f64 / cpu_s,
        "summary": summary,
        "warnings": meta.warnings,
        "results": folder,
    })
}
