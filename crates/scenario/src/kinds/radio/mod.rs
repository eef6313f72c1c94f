//! Radio: a channel of ITS-G5, stations on it, and the road that other vehicles come from.

mod messages;
mod road;
mod segment;
pub mod spec;
mod stations;
mod threats;

use chronoseal_plan::RADIO;
use serde_json::Value as Json;

use super::{
    Context, HopParts, HopRequest, OnSegment, OwnMessage, Rules, Segment, SegmentKind, SegmentParts, SegmentRequest,
    Table, ThreatParts, ThreatRequest, schema_of,
};

/// The kind of radio segments.
#[derive(Clone, Copy, Debug)]
pub struct RadioKind;

impl SegmentKind for RadioKind {
    fn name(&self) -> &'static str {
        RADIO
    }

    fn segment_schema(&self) -> Json {
        schema_of::<spec::RadioSegmentSpec>()
    }

    fn stream_schema(&self) -> Json {
        schema_of::<spec::RadioStreamSpec>()
    }

    fn threat_schema(&self) -> Json {
        schema_of::<spec::RadioThreatSpec>()
    }

    fn rules(&self) -> Rules {
        Rules { has_broadcast: true, has_stations: true, has_timing_fidelity: false, ..Rules::default() }
    }

    fn resolve_segment(&self, request: &SegmentRequest<'_>, context: &mut Context<'_>) -> Option<SegmentParts> {
        segment::resolve(request, context)
    }

    fn own_message(&self, segment: &Segment<'_>, table: &Table<'_>, context: &mut Context<'_>) -> Option<OwnMessage> {
        messages::own(segment, table, context)
    }

    fn resolve_hop(&self, request: &HopRequest<'_>, context: &mut Context<'_>) -> Option<HopParts> {
        messages::hop(request, context)
    }

    fn check_streams(&self, segment: &Segment<'_>, streams: &mut [OnSegment<'_>], context: &mut Context<'_>) {
        messages::check(segment, streams, context);
    }

    fn resolve_threat(&self, request: &ThreatRequest<'_>, context: &mut Context<'_>) -> Option<ThreatParts> {
        threats::resolve(request, context)
    }
}
