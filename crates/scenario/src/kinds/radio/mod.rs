//! Radio: a channel of ITS-G5, stations on it, and the road that other vehicles come from.

mod messages;
mod road;
mod segment;
pub mod spec;
mod stations;
mod threats;

use chronoseal_core::{NodeId, Operation};
use chronoseal_plan::{HopPlan, Plan, RADIO, Radio, SegmentId};
use chronoseal_v2x_fleet::station::{sign_operation, verify_operation};
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

    /// Whoever sends signs, and whoever hears a message verifies it.
    fn operations(&self, plan: &Plan, segment: SegmentId) -> Vec<(NodeId, Operation)> {
        let Some(curve) = Radio::of(plan, segment).and_then(|view| view.segment.fleet.signs) else { return Vec::new() };
        let ends = |hop: &HopPlan| {
            let signs = (hop.from, sign_operation(curve));
            std::iter::once(signs).chain(hop.to.iter().map(|node| (*node, verify_operation(curve)))).collect::<Vec<_>>()
        };
        plan.on_segment(segment).flat_map(|(_, _, hop)| ends(hop)).collect()
    }

    fn resolve_threat(&self, request: &ThreatRequest<'_>, context: &mut Context<'_>) -> Option<ThreatParts> {
        threats::resolve(request, context)
    }
}
