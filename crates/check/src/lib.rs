//! What `check` finds: a plan held against its deadlines on paper.
//!
//! This crate computes no bound, which is what `chronoseal-analysis` is for, and runs no plan but for the percentiles of a radio,
//! which nothing bounds. It judges what there is, and makes one document and one JSON object of it, whatever the segments are.
//!
//! Every stream is judged from end to end, over all segments. A network of one segment has the page of its kind before
//! that: one row of [`PAGES`]; [`check_with`] takes pages of one's own.

mod assumptions;
mod can;
mod candidates;
mod certain;
mod ethernet;
mod judged;
mod left_out;
mod link;
mod radio;
mod report;

use chronoseal_catalog::Kinds;
use chronoseal_plan::{CAN, ETHERNET, LINK, Plan, RADIO, SegmentId};
use chronoseal_report::{Document, Section, Table, Verdict, Word};
use chronoseal_runner::versions;

use self::candidates::Candidates;
use self::judged::Judgement;
use self::report::Report;

pub use self::candidates::{Applied, Refused, Tried};
pub use self::report::schema;

/// A plan that was checked.
#[derive(Clone, Debug)]
pub struct Checked {
    /// For people.
    pub document: Document,
    /// For programs, as JSON.
    pub json: String,
    /// The worst of what is judged.
    pub word: Word,
}

/// What is to be known of a segment and of what travels on it, before what holds from end to end; `None` if the segment is of
/// another kind.
pub type Page = fn(&Plan, SegmentId) -> Option<Vec<Section>>;

/// The kinds that can be checked, each by its name.
pub const PAGES: &[(&str, Page)] =
    &[(ETHERNET, ethernet::page), (CAN, can::page), (RADIO, radio::page), (LINK, link::page)];

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

/// Checks a plan and its candidates. `applied` makes the plan that a candidate is judged by.
///
/// # Errors
/// [`NoPage`] if nothing is known of the kinds of its segments.
pub fn check(plan: &Plan, applied: &Applied<'_>) -> Result<Checked, NoPage> {
    let sections = pages(plan, PAGES)?;
    let judgement = Judgement::of(plan, Kinds::BUILT_IN);
    let candidates = Candidates::of(plan, &judgement, Kinds::BUILT_IN, applied);
    Ok(checked(plan, sections, &judgement, &candidates))
}

/// What the candidates of a plan cost, and which is the lightest with which it holds.
#[derive(Clone, Debug)]
pub struct Compared {
    /// A row for each.
    pub table: Table,
    /// The name of the lightest.
    pub lightest: Option<String>,
    /// Why that one, or why none.
    pub reason: String,
}

/// Compares the candidates of a plan; `applied` is as in [`check`].
pub fn compare(plan: &Plan, applied: &Applied<'_>) -> Compared {
    let judgement = Judgement::of(plan, Kinds::BUILT_IN);
    let candidates = Candidates::of(plan, &judgement, Kinds::BUILT_IN, applied);
    Compared { table: candidates.table(), lightest: candidates.lightest, reason: candidates.reason }
}

/// Checks a plan without candidates, with other pages than [`PAGES`], and the kinds that the plan was made with.
///
/// # Errors
/// [`NoPage`] if none of the pages is for the kind of a segment.
pub fn check_with(plan: &Plan, pages: &[(&str, Page)], kinds: Kinds) -> Result<Checked, NoPage> {
    let sections = self::pages(plan, pages)?;
    Ok(checked(plan, sections, &Judgement::of(plan, kinds), &Candidates::default()))
}

/// The page of the only segment. Of several, only those of a radio, since nothing else says what is on it.
fn pages(plan: &Plan, pages: &[(&str, Page)]) -> Result<Vec<Section>, NoPage> {
    let kind = |segment: SegmentId| plan.segments[segment.index()].kind;
    let page = |segment| pages.iter().find(|(known, _)| *known == kind(segment)).map(|(_, page)| (segment, *page));
    let known: Vec<(SegmentId, Page)> = plan.segment_ids().filter_map(page).collect();
    if known.is_empty() {
        return Err(NoPage { kinds: plan.segment_ids().map(|segment| kind(segment).to_owned()).collect() });
    }
    let is_shown = |segment: SegmentId| plan.segments.len() == 1 || kind(segment) == RADIO;
    let shown = known.into_iter().filter(|(segment, _)| is_shown(*segment));
    Ok(shown.filter_map(|(segment, page)| page(plan, segment)).flatten().collect())
}

fn checked(plan: &Plan, pages: Vec<Section>, judgement: &Judgement, candidates: &Candidates) -> Checked {
    let word = judgement.word();
    let mut points = judgement.points();
    points.extend(candidates.point());
    points.extend(plan.notes.iter().cloned());
    let verdict = Verdict { word, text: judgement.text(), points };
    let report = Report::of(plan, &verdict, judgement, candidates);
    let json = serde_json::to_string_pretty(&report).expect("a report has no map with keys that are no text");
    let mut sections = candidates.sections();
    sections.extend(pages);
    sections.extend(report.sections());
    sections.extend(judgement.sections());
    let document = Document {
        title: format!("Check of {}", plan.name),
        subtitle: "Bounded by analysis; nothing was run.".into(),
        verdict,
        sections,
        environment: versions(),
    };
    Checked { document, json, word }
}
