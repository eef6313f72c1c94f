//! What `check` finds: a plan held against its deadlines on paper.
//!
//! A kind of segment is one row of [`PAGES`]; [`check_with`] takes pages of one's own.

mod can;
mod ethernet;
mod radio;

use chronoseal_analysis::candidates;
use chronoseal_report::{Document, Held};
use chronoseal_scenario::plan::{CAN, Can, ETHERNET, Plan, RADIO, Radio, SegmentId};

pub(crate) use self::ethernet::candidate_table;

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
    check_with(plan, PAGES)
}

/// [`check`] with other pages than [`PAGES`].
///
/// # Errors
/// [`NoPage`] if none of them is for the kind of a segment.
pub fn check_with(plan: &Plan, pages: &[(&str, Page)]) -> Result<Checked, NoPage> {
    let kind = |segment: SegmentId| plan.segments[segment.index()].kind;
    let checked = plan.segment_ids().find_map(|segment| {
        let (_, page) = pages.iter().find(|(known, _)| *known == kind(segment))?;
        page(plan, segment)
    });
    checked.ok_or_else(|| NoPage { kinds: plan.segment_ids().map(|segment| kind(segment).to_owned()).collect() })
}

fn of_ethernet(plan: &Plan, _: SegmentId) -> Option<Checked> {
    let report = candidates::check(plan)?;
    let document = ethernet::check_document(&report);
    Some(Checked { document, json: serde_json::to_string_pretty(&report).ok()?, holds: report.holds })
}

fn of_can(plan: &Plan, segment: SegmentId) -> Option<Checked> {
    let document = can::can_check_document(Can::of(plan, segment)?);
    let holds = document.verdict.held == Held::Yes;
    Some(Checked { json: serde_json::to_string_pretty(&document).ok()?, holds, document })
}

fn of_radio(plan: &Plan, segment: SegmentId) -> Option<Checked> {
    let document = radio::check_document(Radio::of(plan, segment)?);
    // Nothing on the air is held on paper.
    let holds = document.verdict.held != Held::No;
    Some(Checked { json: serde_json::to_string_pretty(&document).ok()?, holds, document })
}
