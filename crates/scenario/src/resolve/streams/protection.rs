//! How a stream is protected: from end to end, or segment by segment.

use std::collections::BTreeMap;

use chronoseal_frameauth::NAME_LEN_MAX;
use chronoseal_plan::{Identity, ProtectionId, ProtectionKind, ProtectionPlan, SegmentId, hop_name};

use super::ends::Route;
use super::{Hop, World};
use crate::kinds::{Context, Place, StreamRequest};
use crate::problem::Code;
use crate::shape::shortened;
use crate::source::Step;
use crate::spec::{StreamProtectionSpec, StreamSpec};

/// The key of the table that stands for the whole way.
const END_TO_END: &str = StreamProtectionSpec::END_TO_END;

/// What is written of a stream's protection.
pub(super) struct Shield {
    /// From its sender to its receivers; the first protection there is, which does nothing, if it is protected by segment.
    pub(super) end_to_end: ProtectionId,
    /// On single segments of a way over several.
    by_segment: Vec<(SegmentId, ProtectionId)>,
}

impl Shield {
    /// How the stream is protected on a segment alone, if it is.
    pub(super) fn on(&self, segment: SegmentId) -> Option<ProtectionId> {
        self.by_segment.iter().find(|(known, _)| *known == segment).map(|(_, protection)| *protection)
    }
}

/// Where the protection of a stream on a segment is written.
pub(in crate::resolve) fn place<'k>(stream: &StreamRequest<'k>, segment: &'k str) -> Place<'k> {
    let place = Place::new("streams").entry(stream.entry).key("protection");
    match &stream.spec.protection {
        Some(StreamProtectionSpec::Each(table)) if table.contains_key(END_TO_END) => place.key(END_TO_END),
        Some(StreamProtectionSpec::Each(table)) if table.contains_key(segment) => place.key(segment),
        _ => place,
    }
}

impl Context<'_> {
    /// How a stream is protected on its way.
    pub(super) fn shield(&mut self, i: usize, spec: &StreamSpec, route: &Route, world: &World<'_>) -> Shield {
        let place = Place::new("streams").entry(i).key("protection");
        let (end_to_end, by_segment) = match &spec.protection {
            None => (None, Vec::new()),
            Some(StreamProtectionSpec::EndToEnd(name)) => (self.protection_named(name, &place, world), Vec::new()),
            Some(StreamProtectionSpec::Each(table)) => match table.get(END_TO_END) {
                Some(name) => {
                    if table.len() > 1 {
                        self.report(
                            Code::ChooseOne,
                            &place,
                            format!(
                                "stream `{}` is protected from end to end and on single segments",
                                shortened(&spec.name)
                            ),
                            "both",
                            "keep `end_to_end`, or the segments",
                        );
                    }
                    (self.protection_named(name, &place.key(END_TO_END), world), Vec::new())
                }
                None => (None, self.by_segment(spec, table, &place, route, world)),
            },
        };
        match (&by_segment[..], &route.steps[..]) {
            // On a way over one segment both mean the same.
            ([(segment, only)], [step]) if step.segment == *segment => {
                Shield { end_to_end: *only, by_segment: Vec::new() }
            }
            _ => Shield { end_to_end: end_to_end.unwrap_or_default(), by_segment },
        }
    }

    /// The protections of a table of segments, those that do nothing left out.
    fn by_segment(
        &mut self,
        spec: &StreamSpec,
        table: &BTreeMap<String, String>,
        place: &Place<'_>,
        route: &Route,
        world: &World<'_>,
    ) -> Vec<(SegmentId, ProtectionId)> {
        let mut names: Vec<&str> = world.segments.iter().map(|segment| segment.name).collect();
        names.push(END_TO_END);
        let mut by_segment = Vec::new();
        for (segment, protection) in table {
            let at = place.clone().key(segment);
            let Some(id) = self.find(segment, &names, &at, "segment", "segments") else { continue };
            let Some(protection) = self.protection_named(protection, &at, world) else { continue };
            let id = SegmentId(id as u16);
            if route.is_known && !route.steps.iter().any(|step| step.segment == id) {
                self.report(
                    Code::SegmentTable,
                    &at,
                    format!("stream `{}` does not cross `{segment}`", shortened(&spec.name)),
                    "not on its way",
                    "leave it out",
                );
            } else if protection != ProtectionId::default() {
                by_segment.push((id, protection));
            }
        }
        by_segment
    }

    fn protection_named(&mut self, name: &str, at: &[Step<'_>], world: &World<'_>) -> Option<ProtectionId> {
        let names: Vec<&str> = world.protections.iter().map(|protection| protection.name.as_str()).collect();
        self.find(name, &names, at, "protection", "protections").map(|found| ProtectionId(found as u16))
    }

    /// Refuses a protection from end to end that only the stations of one segment can have. False if there is such a
    /// problem.
    pub(super) fn passes_gateways(&mut self, stream: &StreamRequest<'_>, route: &Route, world: &World<'_>) -> bool {
        let protection = stream.protection;
        let Some(profile) = protection.profile() else { return true };
        let name = |id: SegmentId| world.segments.get(id.index()).map_or("", |segment| segment.name);
        let crossed: Vec<String> = route.steps.iter().map(|step| format!("`{}`", name(step.segment))).collect();
        let first = route.steps.first().map_or("", |step| name(step.segment));
        let apart = format!("protect segments one by one: `protection = {{ {first} = \"…\" }}`");
        let freshness = "write `freshness = { rising = { sent = \"1B\" } }`, `\"full\"` or `{ truncated = \"2B\" }`";
        if !profile.freshness().needs_clock() {
            return true;
        }
        let what = "takes freshness from the cycle counter, which only stations of one segment with slots share";
        self.report(
            Code::FreshnessWithoutSlot,
            &place(stream, ""),
            format!(
                "`{}` {what}, and stream `{}` crosses {}",
                protection.name,
                shortened(&stream.spec.name),
                crossed.join(" and ")
            ),
            "not from end to end",
            format!("{freshness}, or {apart}"),
        );
        false
    }

    /// Refuses a name too long to stand under a tag.
    pub(super) fn names_under_tags(&mut self, stream: &StreamRequest<'_>, hops: &[Hop], world: &World<'_>) {
        let spec = stream.spec;
        let longest = match spec.count {
            Some(count) => format!("{}.{}", spec.name, count.saturating_sub(1)),
            None => spec.name.clone(),
        };
        let is_named = |protection: &ProtectionPlan| match protection.kind {
            ProtectionKind::Secured { identity, .. } => identity == Identity::Name || hops.len() > 1,
            ProtectionKind::None | ProtectionKind::SizeOnly { .. } => false,
        };
        let name = |hop: &Hop| match world.segments.get(hop.step.segment.index()) {
            Some(segment) if hop.is_alone => hop_name(&longest, segment.name),
            _ => longest.clone(),
        };
        let secured = hops.iter().filter(|hop| is_named(&world.protections[usize::from(hop.protection.0)]));
        let Some(len) = secured.map(|hop| name(hop).len()).max().filter(|len| *len > NAME_LEN_MAX) else { return };
        self.report(
            Code::BadName,
            &stream.at("name"),
            format!(
                "the tags of stream `{}` cover its name, which has {len} bytes with its number and segment",
                shortened(&spec.name)
            ),
            "too long",
            format!("write a name of {} bytes at most", spec.name.len().saturating_sub(len - NAME_LEN_MAX)),
        );
    }
}
