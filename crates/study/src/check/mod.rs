//! What `check` finds: a plan held against its deadlines on paper.

mod can;
mod ethernet;

use chronoseal_analysis::candidates;
use chronoseal_report::{Document, Held};
use chronoseal_scenario::plan::{CAN, Can, ETHERNET, Plan, SegmentId};

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
type CheckSegment = fn(&Plan, SegmentId) -> Option<Checked>;

/// By name of the kind.
const CHECKS: &[(&str, CheckSegment)] = &[(ETHERNET, of_ethernet), (CAN, of_can)];

/// Checks a plan; `None` if nothing is known of the kinds of its segments.
pub fn check(plan: &Plan) -> Option<Checked> {
    plan.segment_ids().find_map(|segment| {
        let kind = plan.segments[segment.index()].kind;
        CHECKS.iter().find(|(known, _)| *known == kind).and_then(|(_, check)| check(plan, segment))
    })
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
