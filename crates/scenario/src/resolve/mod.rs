//! From what was written to what will be run.

mod allowances;
mod bridges;
mod containers;
mod freshness;
mod gateways;
mod group_changes;
mod group_key;
mod nodes;
mod operations;
mod platforms;
mod prices;
mod protections;
mod recordings;
mod segments;
mod streams;
mod threats;
mod traffic;
mod ways;

use chronoseal_core::StreamId;
use chronoseal_plan::{Fidelity, Plan, ProtectionId, ProtectionPlan, SegmentPlan, StreamPlan};

use crate::inputs::{ReadFiles, scenario_hash};
use crate::kinds::{Context, KINDS, Segment, SegmentKind};
use crate::limits::*;
use crate::load::Files;
use crate::problem::{Code, Problems};
use crate::source::at;
use crate::spec::{FidelitySpec, Spec};

/// Resolves every name, fills every default and checks what a scenario means.
///
/// # Errors
/// Everything that is wrong with it.
pub fn resolve(spec: &Spec, files: &dyn Files) -> Result<Plan, Problems> {
    resolve_with(KINDS, spec, files)
}

/// [`resolve`] with other kinds of segments than [`KINDS`].
///
/// # Errors
/// Everything that is wrong with it.
pub fn resolve_with(kinds: &[&dyn SegmentKind], spec: &Spec, files: &dyn Files) -> Result<Plan, Problems> {
    let files = ReadFiles::new(files);
    let mut context = Context::new(spec, kinds);
    let mut plan = context.plan(&files);
    plan.inputs.files = files.list();
    plan.scenario_hash = scenario_hash(&plan.inputs);
    context.problems.or(plan)
}

impl<'s> Context<'s> {
    fn plan(&mut self, files: &dyn Files) -> Plan {
        let spec = self.spec;
        self.identifier(&spec.name, at!["name"], "the scenario's name");
        let duration = self.within(at!["duration"], "the duration", spec.duration.0, PERIOD_MIN, DURATION_MAX);
        let platforms = self.platforms(files);
        let segment_names = self.segment_names();
        let mut nodes = self.nodes(&segment_names, &platforms);
        let mut segments = self.segments(&nodes, files);
        self.judge_nodes(&mut nodes, &segments);
        self.bring_nodes(&mut nodes, &mut segments);
        self.abilities(&segments);
        let key_name = self.key_name();
        let protections = self.protections(key_name);
        let candidates = self.candidates(&protections);
        let (recordings, recording_of) = self.recordings(files);
        let mut streams = self.streams(&nodes, &segments, &protections, &recordings, &recording_of, duration);
        let traffic = self.traffic(&streams, &nodes, &segments, files);
        self.bridges(&mut nodes, &segments, &traffic);
        let group_key = key_name.and_then(|name| self.group_key(name, &nodes, &segments, &traffic, duration));
        if let Some(group) = &group_key {
            self.have_key(group, &streams, &protections, &nodes, &segments);
        }
        let first_announced = streams.plans.len() + traffic.len();
        let number = StreamId(first_announced as u16);
        let mut counted =
            self.freshness(number, &nodes, &segments, &streams, &protections, key_name, group_key.as_ref(), duration);
        let first_container = first_announced + usize::from(counted.is_some());
        let announced = counted.as_mut().map(|(_, stream)| stream);
        let containers = self.containers(first_container, &nodes, &segments, &mut streams, &protections, announced);
        let (attackers, threats) = self.threats(&nodes, &segments, &streams, &protections, duration);
        let fidelity = match spec.fidelity {
            FidelitySpec::Bytes => Fidelity::Bytes,
            FidelitySpec::Timing => Fidelity::Timing,
        };
        if fidelity == Fidelity::Timing && any_tag(&streams.plans, &protections) {
            self.note(
                "Fidelity is timing: tags take their time and length, but none is made or checked, \
                 so nothing is said about attacks.",
            );
        }
        if spec.freshness.is_some() && counted.is_none() {
            self.note("No message takes its freshness from a master: there is none.");
        }
        let mut plans = std::mem::take(&mut streams.plans);
        plans.extend(traffic);
        let (freshness, synchronisation) = counted.unzip();
        plans.extend(synchronisation);
        plans.extend(containers);
        let allowances = self.allowances(&plans);
        let segments_of_kinds: Vec<_> =
            segments.iter().map(|segment| (segment.kind, segment.id, segment.table.clone())).collect();
        let mut plan = Plan {
            name: spec.name.clone(),
            description: spec.description.clone(),
            seed: spec.seed,
            duration,
            fidelity,
            segments: segments.into_iter().filter_map(segment_plan).collect(),
            nodes,
            attackers,
            streams: plans,
            protections,
            candidates,
            threats,
            allowances,
            platforms,
            recordings,
            group_key,
            freshness,
            inputs: spec.source.inputs.clone(),
            scenario_hash: String::new(),
            notes: Vec::new(),
        };
        for (kind, segment, table) in &segments_of_kinds {
            kind.complete(&mut plan, *segment, table, self);
        }
        self.prices(&plan);
        self.nonces_after_reboots(&plan);
        segments_of_kinds.iter().for_each(|(kind, segment, _)| kind.check_plan(&plan, *segment, self));
        plan.notes = std::mem::take(&mut self.notes);
        plan
    }

    /// What a scenario asks for as a whole and not every kind of segment can do.
    fn abilities(&mut self, segments: &[Segment<'_>]) {
        let spec = self.spec;
        let without = |has: fn(&crate::kinds::Rules) -> bool| {
            segments
                .iter()
                .find(|segment| !has(&segment.kind.rules()))
                .map(|segment| (segment.name, segment.kind.name()))
        };
        if let (FidelitySpec::Timing, Some((name, kind))) = (spec.fidelity, without(|rules| rules.has_timing_fidelity))
        {
            self.report_both(
                Code::WrongNetwork,
                (at!["fidelity"], "no bytes are made"),
                (at!["segments", name, kind], "needs them"),
                format!("`{name}` is a segment of kind `{kind}`, on which every bit depends on the bytes"),
                "leave `fidelity` out",
            );
        }
    }
}

/// Whether any frame carries a tag.
fn any_tag(streams: &[StreamPlan], protections: &[ProtectionPlan]) -> bool {
    let on_hops = |stream: &StreamPlan| stream.hops.iter().any(|hop| has_tag(protections, hop.protection));
    let has_tag_itself = |stream: &StreamPlan| has_tag(protections, Some(stream.protection));
    streams.iter().any(|stream| has_tag_itself(stream) || on_hops(stream))
}

fn has_tag(protections: &[ProtectionPlan], id: Option<ProtectionId>) -> bool {
    id.is_some_and(|id| protections[usize::from(id.0)].is_authenticated())
}

/// `None` if its kind could not resolve it, which is a problem of its own.
fn segment_plan(segment: Segment<'_>) -> Option<SegmentPlan> {
    let parts = segment.parts?;
    Some(SegmentPlan {
        name: segment.name.to_owned(),
        kind: segment.kind.name(),
        facet: parts.facet,
        own_nodes: parts.own_nodes,
        brought: segment.brought,
    })
}
