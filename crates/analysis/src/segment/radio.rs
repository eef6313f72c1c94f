//! Hops on a radio segment.

use chronoseal_core::{StreamId, Work};
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_plan::{HopPlan, Plan, RADIO, Radio, RadioHop, SegmentId};
use chronoseal_v2x_fleet::station::verify_operation;

use super::{Arrivals, HopBound, SegmentBounds, Why, without_bound};

/// Nothing bounds a hop on the air: whoever is out of hearing may send into it, and a broadcast is never repeated.
#[derive(Clone, Copy, Debug)]
pub struct RadioBounds;

impl SegmentBounds for RadioBounds {
    fn kind(&self) -> &'static str {
        RADIO
    }

    /// Whoever hears a message verifies it.
    fn authentication(&self, plan: &Plan, _: StreamId, hop: &HopPlan) -> Option<Work> {
        let curve = Radio::of(plan, hop.segment)?.segment.fleet.signs?;
        Some(Work::of(verify_operation(curve), hop.frame_len))
    }

    /// A message can bring a new certificate along, which costs as much again. What the vehicles of a road send is one
    /// stream: each of them may, within the least distance of two messages of a vehicle.
    fn openings_per_period(&self, plan: &Plan, stream: StreamId, hop: &HopPlan) -> u64 {
        let Some(view) = Radio::of(plan, hop.segment) else { return 1 };
        let checks = if view.segment.fleet.signs.is_some() { 2 } else { 1 };
        vehicles(view, stream, |_| true) * checks
    }

    /// A hazard has one vehicle that tells of it.
    fn senders(&self, plan: &Plan, stream: StreamId, hop: &HopPlan) -> u64 {
        Radio::of(plan, hop.segment).map_or(1, |view| vehicles(view, stream, |facet| facet.hazard.is_none()))
    }

    fn bounds(&self, plan: &Plan, segment: SegmentId, _: Option<&ScheduleTable>, _: &Arrivals) -> Vec<HopBound> {
        without_bound(plan, segment, Why::Radio)
    }
}

/// How many vehicles may send a stream: all of the road, or one.
fn vehicles(view: Radio<'_>, stream: StreamId, may_be_of_all: impl Fn(&RadioHop) -> bool) -> u64 {
    let known = view.streams().find(|(id, ..)| *id == stream);
    let is_of_all = known.is_some_and(|(_, stream, _, facet)| {
        stream.sent_by.is_some() && facet.vehicle.is_none() && may_be_of_all(facet)
    });
    if is_of_all { view.segment.fleet.trips.trips.len() as u64 } else { 1 }
}
