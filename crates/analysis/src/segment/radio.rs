//! Hops on a radio segment.

use chronoseal_core::{StreamId, Work};
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_scenario::plan::{HopPlan, Plan, RADIO, Radio, SegmentId};
use chronoseal_v2x_fleet::station::verify_operation;

use super::{Arrivals, HopBound, SegmentBounds, Why, without_bound};

/// Nothing bounds a hop on the air: whoever is out of hearing may send into it, and a broadcast is never repeated.
#[derive(Clone, Copy, Debug)]
pub struct RadioBounds;

impl SegmentBounds for RadioBounds {
    fn kind(&self) -> &'static str {
        RADIO
    }

    /// Whoever hears a message verifies it; its certificate, if that is new, costs as much again and is left out, as
    /// nothing on the air is bounded anyway.
    fn authentication(&self, plan: &Plan, _: StreamId, hop: &HopPlan) -> Option<Work> {
        let curve = Radio::of(plan, hop.segment)?.segment.fleet.signs?;
        Some(Work::of(verify_operation(curve), hop.frame_len))
    }

    fn bounds(&self, plan: &Plan, segment: SegmentId, _: Option<&ScheduleTable>, _: &Arrivals) -> Vec<HopBound> {
        without_bound(plan, segment, Why::Radio)
    }
}
