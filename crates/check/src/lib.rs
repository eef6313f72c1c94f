//! What `check` finds: a plan held against its deadlines on paper.
//!
//! This crate computes no bound, which is what `chronoseal-analysis` is for, and runs no plan but for the percentiles of a radio,
//! which nothing bounds. It makes pages of what there is, and their verdict.
//!
//! Every stream is bounded from end to end, over all segments. A network of one segment has the page of its kind before
//! that: one row of [`PAGES`]; [`check_with`] takes pages of one's own.

mod assumptions;
mod can;
mod ends;
mod ethernet;
mod radio;

use chronoseal_analysis::candidates;
use chronoseal_catalog::Kinds;
use chronoseal_plan::{CAN, Can, ETHERNET, Plan, RADIO, Radio, SegmentId};
use chronoseal_report::{Document, Verdict, Word};
use chronoseal_runner::versions;
use serde_json::{Value, json};

use self::ends::EndsReport;

pub use self::ethernet::candidate_table;

/// A plan that was checked.
#[derive(Clone, Debug)]
pub struct Checked {
    /// For people.
    pub document: Document,
    /// For programs, as JSON.
    pub json: String,
    /// True if every deadline holds on paper.
    pub holds: bool,
}

/// Checks a segment and what travels on it; `None` if the segment is of another kind.
pub type Page = fn(&Plan, SegmentId) -> Option<Checked>;

/// The kinds that can be checked, each by its name.
pub const PAGES: &[(&str, Page)] = &[(ETHERNET, of_ethernet), (CAN, of_can), (RADIO, of_radio)];

/// A plan without a segment that can be checked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "no segment of this scenario can be checked on paper: the table of pages has none for {}; add a row for the kind, or \
     simulate the scenario",
    listed(kinds)
)]
pub struct NoPage {
    /// The names of the kinds of its segments.
    pub kinds: Vec<String>,
}

fn listed(kinds: &[String]) -> String {
    kinds.iter().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(", ")
}

/// Checks a plan.
///
/// # Errors
/// [`NoPage`] if nothing is known of the kinds of its segments.
pub fn check(plan: &Plan) -> Result<Checked, NoPage> {
    check_with(plan, PAGES, Kinds::BUILT_IN)
}

/// [`check`] with other pages than [`PAGES`], and the kinds that the plan was made with.
///
/// # Errors
/// [`NoPage`] if none of the pages is for the kind of a segment.
pub fn check_with(plan: &Plan, pages: &[(&str, Page)], kinds: Kinds) -> Result<Checked, NoPage> {
    let kind = |segment: SegmentId| plan.segments[segment.index()].kind;
    let page = |segment| pages.iter().find(|(known, _)| *known == kind(segment)).map(|(_, page)| (segment, page));
    let first = plan.segment_ids().find_map(page);
    let checked = first.and_then(|(segment, page)| match plan.segments.len() {
        1 => page(plan, segment),
        _ => Some(of_network(plan)),
    });
    let no_page = || NoPage { kinds: plan.segment_ids().map(|segment| kind(segment).to_owned()).collect() };
    Ok(join(checked.ok_or_else(no_page)?, &EndsReport::of(plan, kinds)))
}

/// Reasons that a verdict names.
const REASONS_MAX: usize = 8;

/// Adds what holds from end to end to the page of a segment, or of a network.
fn join(mut checked: Checked, ends: &EndsReport) -> Checked {
    let verdict = &mut checked.document.verdict;
    let word = if checked.holds { ends.word() } else { Word::Broken };
    let (broken, unbounded, by_radio, all) = (ends.broken(), ends.unbounded(), ends.by_radio(), ends.ends.len());
    verdict.word = word;
    match word {
        _ if !checked.holds => {}
        Word::Held if !ends.has_deadlines() => {
            verdict.text =
                "No stream has a deadline to hold. On paper every frame arrives, each within its bound.".into();
        }
        Word::Held => {}
        Word::Broken | Word::Failed | Word::Worse if broken == 0 => {
            verdict.text = "On paper a clock can be lost, or the queue of a gateway can overflow.".into();
        }
        Word::Broken | Word::Failed | Word::Worse => {
            verdict.text = format!(
                "From end to end, frames of {broken} of {all} streams at their receivers can be late or lost on paper."
            );
        }
        Word::NotProven | Word::NotChecked if unbounded == 0 && ends.has_unbounded_clocks => {
            verdict.text = "Every stream arrives within its bound on paper; nothing bounds how far apart the clocks of IEEE 802.1AS are, \
                            which a run judges."
                .into();
        }
        Word::NotProven | Word::NotChecked if unbounded > by_radio || by_radio == 0 => {
            verdict.text = format!("Nothing bounds {unbounded} of {all} streams at their receivers.");
        }
        Word::NotProven | Word::NotChecked if by_radio == all => {
            verdict.text = "Nothing bounds streams over radio; their percentiles are simulated.".into();
        }
        Word::NotProven | Word::NotChecked => {
            verdict.text = format!(
                "Nothing bounds streams over radio, {by_radio} of {all}; their percentiles are simulated. Every other \
                 stream meets its deadline in the worst case."
            );
        }
    }
    checked.holds &= word == Word::Held;
    let reasons = ends.reasons();
    let more = reasons.len().saturating_sub(REASONS_MAX);
    verdict.points.extend(reasons.into_iter().take(REASONS_MAX).map(|reason| sentence(&reason)));
    if more > 0 {
        verdict.points.push(format!("There are {more} more reasons; the tables below have all of them."));
    }
    verdict.points.extend(ends.warnings());
    checked.document.sections.extend(ends.sections());
    if let Ok(Value::Object(mut page)) = serde_json::from_str(&checked.json) {
        page.insert("end_to_end".into(), json!(ends));
        page.insert("word".into(), json!(word));
        // What a page found by itself may have been too good.
        let verdict = &checked.document.verdict;
        match page.get("verdict") {
            Some(Value::String(_)) if word != Word::Held => drop(page.insert("verdict".into(), json!(verdict.text))),
            Some(Value::String(_)) => {}
            _ => drop(page.insert("verdict".into(), json!(verdict))),
        }
        if page.contains_key("holds") {
            page.insert("holds".into(), json!(checked.holds));
        }
        checked.json = format!("{:#}", Value::Object(page));
    }
    checked
}

/// A reason as a sentence of its own.
fn sentence(reason: &str) -> String {
    let mut text = format!("{reason}.");
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

/// A network of several segments, before what holds from end to end.
fn of_network(plan: &Plan) -> Checked {
    let segments: Vec<Value> =
        plan.segments.iter().map(|segment| json!({ "name": segment.name, "kind": segment.kind })).collect();
    let text = "Every stream meets its deadlines in the worst case, from end to end.".to_owned();
    let document = Document {
        title: format!("Check of {}", plan.name),
        subtitle: "Bounded by analysis; nothing was run.".into(),
        verdict: Verdict { word: Word::Held, text, points: plan.notes.clone() },
        sections: plan
            .segment_ids()
            .filter_map(|segment| Radio::of(plan, segment))
            .flat_map(|view| radio::check_document(view).sections)
            .collect(),
        environment: versions(),
    };
    let json = json!({ "scenario": plan.name, "segments": segments });
    Checked { document, json: format!("{json:#}"), holds: true }
}

fn of_ethernet(plan: &Plan, _: SegmentId) -> Option<Checked> {
    let report = candidates::check(plan)?;
    let document = ethernet::check_document(&report);
    Some(Checked { document, json: serde_json::to_string_pretty(&report).ok()?, holds: report.holds })
}

fn of_can(plan: &Plan, segment: SegmentId) -> Option<Checked> {
    let document = can::can_check_document(Can::of(plan, segment)?);
    let holds = document.verdict.word == Word::Held;
    Some(Checked { json: serde_json::to_string_pretty(&document).ok()?, holds, document })
}

fn of_radio(plan: &Plan, segment: SegmentId) -> Option<Checked> {
    let document = radio::check_document(Radio::of(plan, segment)?);
    // Nothing on the air is held on paper.
    let holds = document.verdict.word != Word::Failed;
    Some(Checked { json: serde_json::to_string_pretty(&document).ok()?, holds, document })
}
