//! What `check` found, for people.

use chronoseal_analysis::candidates::{CandidateReport, CheckReport};
use chronoseal_report::{Block, Cell, Document, Mark, Section, Table, Verdict, Word};

/// The document of a check.
pub(crate) fn check_document(report: &CheckReport) -> Document {
    let (word, text) =
        if report.holds { (Word::Held, "Every deadline holds on paper") } else { (Word::Failed, "Not as it is") };
    let mut points = Vec::new();
    if let Some(lightest) = &report.lightest {
        points.push(format!("Lightest protection that holds: {lightest}. {}", report.lightest_reason));
    } else if !report.candidates.is_empty() {
        points.push(report.lightest_reason.clone());
    }
    let mut sections = vec![Section::new("Candidates").with(Block::Table(candidate_table(report)))];
    sections.push(Section::new("Streams").with(Block::Table(stream_table(report))));
    Document {
        title: format!("Check of {}", report.scenario),
        subtitle: "Bounded by analysis; nothing was run.".into(),
        verdict: Verdict { word, text: format!("{text}: {}.", report.verdict.trim_end_matches('.')), points },
        sections,
        environment: Vec::new(),
    }
}

/// What each candidate costs, and what guessing its tag takes.
pub fn candidate_table(report: &CheckReport) -> Table {
    let mut table = Table::new("What each protection costs this scenario, on every stream")
        .words("protection")
        .numbers("added", "B")
        .numbers("frames per cycle", "")
        .numbers("slack", "us")
        .numbers("slack", "%")
        .numbers("busiest processor", "%")
        .words("stops a forger")
        .words("expected time to an online forgery")
        .words("fits")
        .footnote(format!("Forgery model: {}.", report.forgery_model));
    if report.candidates.iter().any(|candidate| candidate.kept_for_comparison) {
        table =
            table.footnote("SHA-1 is kept for comparison with published figures; choose another hash for new designs.");
    }
    for candidate in &report.candidates {
        table.push(candidate_row(candidate, report.lightest.as_deref() == Some(&candidate.protection)));
    }
    table
}

fn candidate_row(candidate: &CandidateReport, lightest: bool) -> Vec<Cell> {
    let mut name = candidate.protection.clone();
    if candidate.kept_for_comparison {
        name += " (for comparison)";
    }
    if lightest {
        name += " *";
    }
    let stops = match (candidate.authenticates, candidate.replayable) {
        (false, _) => Cell::text("no").marked(Mark::Bad),
        (true, true) => Cell::text("yes, but replayable").marked(Mark::Warn),
        (true, false) => Cell::text("yes").marked(Mark::Good),
    };
    let fits = match &candidate.why_not {
        None if candidate.fits => Cell::text("fits").marked(Mark::Good),
        why => Cell::text("no").marked(Mark::Bad).titled(why.clone().unwrap_or_default()),
    };
    vec![
        Cell::text(name),
        Cell::count(u64::from(candidate.overhead_bytes)),
        Cell::count(candidate.frames_max),
        Cell::number(candidate.slack_ns / 1000.0, 1),
        Cell::number(candidate.slack_percent, 1),
        Cell::number(candidate.processor_share_max_percent, 2).titled(candidate.busiest_node.clone()),
        stops,
        Cell::text(candidate.forgery_one_stream.text.clone())
            .titled(format!("all streams at once: {}", candidate.forgery_all_streams.text)),
        fits,
    ]
}

fn stream_table(report: &CheckReport) -> Table {
    let mut table = Table::new("Every stream as written; how long its frames can take is below, from end to end")
        .words("stream")
        .words("class")
        .words("protection")
        .numbers("frame", "B")
        .numbers("on the wire", "us")
        .numbers("deadline", "us");
    for stream in &report.streams {
        table.push(vec![
            Cell::text(stream.stream.clone()),
            Cell::text(stream.class),
            Cell::text(stream.protection.clone()),
            Cell::count(u64::from(stream.secured_len_bytes)),
            Cell::number(stream.frame_time_ns / 1000.0, 2),
            Cell::number(stream.deadline_ns / 1000.0, 1),
        ]);
    }
    table
}
