//! Ethernet: switches with a schedule table, streams in slots, virtual links, and streams whenever the wire is free.

mod classes;
mod clock_threats;
mod clocks;
mod collected;
mod datagrams;
mod eliminations;
mod failures;
pub mod filter_spec;
mod gate_lists;
pub(crate) mod gated;
mod integration;
mod links;
mod macsec;
pub mod macsec_spec;
mod networks;
pub mod port_spec;
mod ports;
mod replay;
pub mod replication;
mod routes;
mod segment;
pub mod spec;
mod stream_filters;
mod streams;
mod sub_virtual_links;
mod threats;
mod time;
mod time_aware;
pub mod time_aware_spec;
mod virtual_links;
mod windows;

use chronoseal_plan::{ETHERNET, Plan, SegmentId};
use serde_json::Value as Json;

use super::{
    CollectRequest, Context, HopParts, HopRequest, OnSegment, Replay, Rules, Segment, SegmentKind, SegmentParts,
    SegmentRequest, Table, ThreatParts, ThreatRequest, TrafficParts, TrafficRequest, schema_of,
};
use classes::Classes;

pub use segment::divisors_help;

/// The kind of Ethernet segments.
#[derive(Clone, Copy, Debug)]
pub struct EthernetKind;

/// What the resolver of streams needs to know of a segment.
#[derive(Clone, Debug)]
struct Memo {
    /// The class of streams that say nothing else.
    class: spec::ClassSpec,
    /// The classes of others.
    classes: Classes,
    /// Virtual links keep to ARINC 664 part 7.
    is_standard: bool,
    /// The names of its switches.
    switches: Vec<String>,
}

impl SegmentKind for EthernetKind {
    fn name(&self) -> &'static str {
        ETHERNET
    }

    fn segment_schema(&self) -> Json {
        schema_of::<spec::EthernetSegmentSpec>()
    }

    fn stream_schema(&self) -> Json {
        schema_of::<spec::EthernetStreamSpec>()
    }

    fn threat_schema(&self) -> Json {
        schema_of::<spec::EthernetThreatSpec>()
    }

    fn rules(&self) -> Rules {
        Rules { collects: true, has_host_interfaces: true, replays: Some(Replay::Sender), ..Rules::default() }
    }

    fn resolve_segment(&self, request: &SegmentRequest<'_>, context: &mut Context<'_>) -> Option<SegmentParts> {
        segment::resolve(request, context)
    }

    fn resolve_hop(&self, request: &HopRequest<'_>, context: &mut Context<'_>) -> Option<HopParts> {
        streams::hop(request, context)
    }

    fn check_streams(&self, segment: &Segment<'_>, streams: &mut [OnSegment<'_>], context: &mut Context<'_>) {
        streams::check(segment, streams, context);
    }

    fn complete(&self, plan: &mut Plan, segment: SegmentId, table: &Table<'_>, context: &mut Context<'_>) {
        time::complete(plan, segment, table, context);
    }

    fn judge_contained(&self, request: &HopRequest<'_>, context: &mut Context<'_>) {
        streams::judge_contained(request, context);
    }

    fn check_collect(&self, request: &mut CollectRequest<'_>, context: &mut Context<'_>) {
        collected::check(request, context);
    }

    fn resolve_traffic(&self, request: &TrafficRequest<'_>, context: &mut Context<'_>) -> Option<TrafficParts> {
        replay::resolve(request, context)
    }

    fn resolve_threat(&self, request: &ThreatRequest<'_>, context: &mut Context<'_>) -> Option<ThreatParts> {
        threats::resolve(request, context)
    }
}
