//! What `check` found, for programs: one shape for every network.

use chronoseal_plan::{Plan, SegmentId};
use chronoseal_report::{Block, Cell, Evidence, Mark, Section, Table, Verdict, Word};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::candidates::{CandidateReport, Candidates};
use super::judged::{ClockReport, InfeasibleReport, Judged, Judgement, QueueReport, ScheduleReport};
use super::left_out::LeftOut;

/// The schema of a word.
pub(crate) fn word(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": [Word::Held, Word::NotChecked, Word::NotProven, Word::Broken] })
}

/// The answer for people.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct VerdictReport<'r> {
    /// The same word.
    #[schemars(schema_with = "word")]
    word: Word,
    /// One sentence or two, with the streams that are not held and what is not checked.
    text: &'r str,
    /// Further reasons and remarks, a sentence each.
    points: &'r [String],
}

/// What `chronoseal check` found, whatever the network is. Times are in nanoseconds.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Report<'r> {
    /// Name of the scenario.
    scenario: &'r str,
    /// The worst word of all that is judged.
    #[schemars(schema_with = "word")]
    word: Word,
    /// The same for people.
    verdict: VerdictReport<'r>,
    /// Every stream and recording at each of its receivers.
    judged: &'r [Judged],
    /// What is not checked on paper.
    left_out: &'r [LeftOut],
    /// The queues of gateways.
    queues: &'r [QueueReport],
    /// Clocks that are not known to hold.
    clocks: &'r [ClockReport],
    /// The segments, and how busy they are.
    segments: Vec<SegmentReport<'r>>,
    /// Why a schedule does not fit.
    infeasible: Option<&'r InfeasibleReport>,
    /// The scenario with each of its candidates.
    candidates: &'r [CandidateReport],
    /// The name of the lightest candidate that stops the scenario's attackers and with which the scenario holds.
    lightest: Option<&'r str>,
    /// Why that one, or why none.
    lightest_reason: &'r str,
    /// How the forgery times of candidates are meant.
    forgery_model: &'static str,
    /// What is taken for granted, a sentence each.
    assumptions: &'r [String],
}

/// A segment.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct SegmentReport<'r> {
    /// Its name.
    name: &'r str,
    /// The name of its kind.
    kind: &'r str,
    /// How busy its busiest link is, or its bus; nothing is known of a radio.
    load: Option<LoadReport>,
    /// What its schedule has, if there is one with slots.
    schedule: Option<&'r ScheduleReport>,
}

/// What frames need of a bus or of one direction of a link, each as long as it can be.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct LoadReport {
    /// Of all the time there is `[%]`.
    share_percent: f64,
    /// Who sends on the link; `null` for a bus.
    from: Option<String>,
    /// Who receives.
    to: Option<String>,
}

/// The JSON Schema of what `check` writes.
pub fn schema() -> serde_json::Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<Report<'static>>().to_value()
}

impl<'r> Report<'r> {
    pub(crate) fn of(
        plan: &'r Plan,
        verdict: &'r Verdict,
        judgement: &'r Judgement,
        candidates: &'r Candidates,
    ) -> Self {
        let segment = |id: SegmentId| {
            let segment = &plan.segments[id.index()];
            let load = judgement.loads.busiest(id).map(|link| LoadReport {
                share_percent: link.share.ppm() as f64 / 1e4,
                from: link.ends.map(|[from, _]| plan.node_name(from)),
                to: link.ends.map(|[_, to]| plan.node_name(to)),
            });
            let schedule = judgement.schedules.get(id.index()).and_then(Option::as_ref);
            SegmentReport { name: &segment.name, kind: segment.kind, load, schedule }
        };
        Self {
            scenario: &plan.name,
            word: verdict.word,
            verdict: VerdictReport { word: verdict.word, text: &verdict.text, points: &verdict.points },
            judged: &judgement.ends,
            left_out: &judgement.left_out,
            queues: &judgement.queues,
            clocks: &judgement.clocks,
            segments: plan.segment_ids().map(segment).collect(),
            infeasible: judgement.infeasible.as_ref(),
            candidates: &candidates.list,
            lightest: candidates.lightest.as_deref(),
            lightest_reason: &candidates.reason,
            forgery_model: chronoseal_analysis::candidates::FORGERY_MODEL,
            assumptions: &judgement.assumptions,
        }
    }

    /// How busy segments are, for people.
    pub(crate) fn sections(&self) -> Vec<Section> {
        let mut table = Table::new("What frames need of the busiest link of each segment, or of its bus")
            .words("segment")
            .words("kind")
            .words("busiest")
            .numbers("load", "%")
            .words("slots in a cluster cycle")
            .footnote(
                "Each frame counts with the longest it can be, stuff bits and what stands between frames included.",
            );
        for segment in &self.segments {
            let Some(load) = &segment.load else { continue };
            let place = match (&load.from, &load.to) {
                (Some(from), Some(to)) => format!("{from} to {to}"),
                _ => "the bus".into(),
            };
            let share = Cell::number(load.share_percent, 1).from(Evidence::Bounded);
            let share = if load.share_percent > 100.0 { share.marked(Mark::Bad) } else { share };
            let slots = segment.schedule.map_or_else(
                || Cell::text("none"),
                |schedule| Cell::text(format!("{} in {} ms", schedule.slots, schedule.cycle_ns / 1e6)),
            );
            table.push(vec![Cell::text(segment.name), Cell::text(segment.kind), Cell::text(place), share, slots]);
        }
        match table.rows.is_empty() {
            true => Vec::new(),
            false => vec![Section::new("Load").with(Block::Table(table))],
        }
    }
}
