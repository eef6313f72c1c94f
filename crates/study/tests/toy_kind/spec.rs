//! What a scenario may say of the toy, and what becomes of it in the plan.

use chronoseal_core::Duration;
use chronoseal_plan::Facet;
use chronoseal_scenario::kinds::{
    Context, HopParts, HopRequest, OnSegment, Place, Room, Segment, SegmentParts, SegmentRequest, Step, schema_of,
};
use chronoseal_scenario::{Code, Quantity, SegmentKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

use crate::frame::{HEADER_LEN, PDU_LEN_MAX};
use crate::tables::TOY;

/// The table `[segments.NAME.toy]`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SegmentSpec {
    /// What every frame takes.
    delay: Quantity<Duration>,
}

/// The table `NAME = { … }` of a stream that travels over the segment.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StreamSpec {
    /// In its frames; no other stream there has it.
    number: u8,
}

/// The table `NAME = { … }` of an attack, which is refused.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ThreatSpec {}

/// What a plan knows of the segment.
#[derive(Clone, Debug)]
pub(crate) struct ToySegment {
    /// What every frame takes.
    pub(crate) delay: Duration,
}

/// What a plan knows of a stream on the segment.
#[derive(Clone, Debug)]
pub(crate) struct ToyHop {
    /// In its frames.
    pub(crate) number: u8,
}

/// The row of the toy in the table of scenarios.
pub(crate) struct ToyScenario;

impl SegmentKind for ToyScenario {
    fn name(&self) -> &'static str {
        TOY
    }

    fn segment_schema(&self) -> Json {
        schema_of::<SegmentSpec>()
    }

    fn stream_schema(&self) -> Json {
        schema_of::<StreamSpec>()
    }

    fn threat_schema(&self) -> Json {
        schema_of::<ThreatSpec>()
    }

    fn resolve_segment(&self, request: &SegmentRequest<'_>, context: &mut Context<'_>) -> Option<SegmentParts> {
        let spec: SegmentSpec = request.table.read(context)?;
        let at = request.table.at("delay");
        let delay = context.within(&at, "the delay", spec.delay.0, Duration::ZERO, Duration::from_s(1));
        if let Some((third, node)) = request.nodes_on_it().nth(2) {
            context.report(
                Code::TooMany,
                &[Step::Key("nodes"), Step::Index(third), Step::Key("on")],
                format!("`{}` is the third node on `{}`", node.name, request.name),
                "one too many",
                "a toy has two ends: put the node on another segment",
            );
        }
        Some(SegmentParts::new(Facet::new(ToySegment { delay })))
    }

    fn resolve_hop(&self, request: &HopRequest<'_>, context: &mut Context<'_>) -> Option<HopParts> {
        let spec: StreamSpec = request.table.read(context)?;
        let segment: &ToySegment = request.segment.facet()?;
        if request.is_sealed_here && request.protection.overhead_bytes() > 0 {
            context.report(
                Code::NotYet,
                &request.protection_at,
                format!("`{}` cannot be used on `{}`", request.protection.name, request.segment.name),
                "nobody seals frames there",
                "leave the protection out",
            );
        }
        Some(HopParts {
            frame_len: request.stream.payload_len + HEADER_LEN as u32,
            class: "toy",
            facet: Facet::new(ToyHop { number: spec.number }),
            has_slots: false,
            room: Room { bytes: PDU_LEN_MAX as u32, frame: "a frame of a toy", other_way: String::new() },
            wire_time: segment.delay,
        })
    }

    fn check_streams(&self, segment: &Segment<'_>, streams: &mut [OnSegment<'_>], context: &mut Context<'_>) {
        let mut earlier: Vec<(u8, usize)> = Vec::new();
        for stream in streams {
            let Some(ToyHop { number }) = stream.hop.facet.get() else { continue };
            match earlier.iter().find(|(known, _)| known == number) {
                None => earlier.push((*number, stream.entry)),
                Some((_, first)) => context.report_both(
                    Code::DuplicateName,
                    (&stream.at(segment, "number"), "again here"),
                    (&Place::new("streams").entry(*first).key(segment.name).key("number"), "first here"),
                    format!("two streams have the number {number} on `{}`", segment.name),
                    "give each stream its own number",
                ),
            }
        }
    }
}
