//! CAN and CAN-FD: a bus with arbitration by identifier.

pub(crate) mod bridges;
mod messages;
mod segment;
mod segmented;
pub mod spec;
mod threats;
mod traffic;

use chronoseal_core::Duration;
use chronoseal_groupkey::Transport;
use chronoseal_nodes::Protection;
use chronoseal_plan::{CAN, CanSegment, Facet, Plan, SegmentId};
use chronoseal_wire::can::CanId;
use serde_json::Value as Json;

use super::{
    CollectRequest, Context, HopParts, HopRequest, OnSegment, Replay, Rules, Segment, SegmentKind, SegmentParts,
    SegmentRequest, SynchronisationRequest, ThreatParts, ThreatRequest, TrafficParts, TrafficRequest, schema_of,
};
use crate::limits::{CLUSTER_CYCLE_MAX, SEQUENCE_LEN};

/// The kind of CAN segments.
#[derive(Clone, Copy, Debug)]
pub struct CanKind;

impl SegmentKind for CanKind {
    fn name(&self) -> &'static str {
        CAN
    }

    fn segment_schema(&self) -> Json {
        schema_of::<spec::CanSegmentSpec>()
    }

    fn stream_schema(&self) -> Json {
        schema_of::<spec::CanStreamSpec>()
    }

    fn threat_schema(&self) -> Json {
        schema_of::<spec::CanThreatSpec>()
    }

    fn rules(&self) -> Rules {
        Rules {
            period_max: CLUSTER_CYCLE_MAX,
            has_broadcast: true,
            deadline_is_period: true,
            attempt_distance: Some(Duration::from_ms(10)),
            attempts_lie_within_run: false,
            has_addresses: true,
            payload_header_len: SEQUENCE_LEN,
            payload_changes: false,
            announces_counters: true,
            bridges_frames: true,
            replays: Some(Replay::Segment),
            relays: false,
            has_timing_fidelity: false,
            has_host_interfaces: false,
            has_programs: false,
            has_stations: false,
            collects: true,
        }
    }

    fn resolve_segment(&self, request: &SegmentRequest<'_>, context: &mut Context<'_>) -> Option<SegmentParts> {
        segment::resolve(request, context)
    }

    fn resolve_hop(&self, request: &HopRequest<'_>, context: &mut Context<'_>) -> Option<HopParts> {
        messages::hop(request, context)
    }

    fn check_streams(&self, segment: &Segment<'_>, streams: &mut [OnSegment<'_>], context: &mut Context<'_>) {
        messages::check(segment, streams, context);
    }

    fn judge_contained(&self, request: &HopRequest<'_>, context: &mut Context<'_>) {
        request.judge_protection(Protection::check_on_can, context);
    }

    fn check_collect(&self, request: &mut CollectRequest<'_>, context: &mut Context<'_>) {
        messages::collect(request, context);
    }

    fn resolve_threat(&self, request: &ThreatRequest<'_>, context: &mut Context<'_>) -> Option<ThreatParts> {
        threats::resolve(request, context)
    }

    fn builtin_traffic(&self) -> &'static [(&'static str, &'static [u8])] {
        traffic::BUILTIN
    }

    fn resolve_traffic(&self, request: &TrafficRequest<'_>, context: &mut Context<'_>) -> Option<TrafficParts> {
        traffic::resolve(request, context)
    }

    fn recorded_ids(&self, hop: &Facet) -> Vec<CanId> {
        traffic::identifiers(hop)
    }

    fn check_plan(&self, plan: &Plan, segment: SegmentId, context: &mut Context<'_>) {
        traffic::check(plan, segment, context);
    }

    fn key_exchange(&self, segment: &Facet) -> Option<Transport> {
        let segment: &CanSegment = segment.get()?;
        Some(if segment.has_data_phase { Transport::Fd } else { Transport::Classical })
    }

    fn synchronisation(
        &self,
        request: &SynchronisationRequest<'_>,
        context: &mut Context<'_>,
    ) -> Option<(CanId, HopParts)> {
        messages::synchronisation(request, context)
    }
}
