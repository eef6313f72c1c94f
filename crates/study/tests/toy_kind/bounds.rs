//! What a frame takes on the toy at most and at least.

use chronoseal_analysis::segment::{Arrivals, HopBound, SegmentBounds};
use chronoseal_core::{StreamId, Work};
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_plan::{HopPlan, Plan, SegmentId};

use crate::kind;
use crate::tables::TOY;

/// The row of the toy in the table of bounds.
pub(crate) struct ToyBounds;

impl SegmentBounds for ToyBounds {
    fn kind(&self) -> &'static str {
        TOY
    }

    fn authentication(&self, _: &Plan, _: StreamId, _: &HopPlan) -> Option<Work> {
        // Nobody seals or opens frames there.
        None
    }

    fn bounds(&self, plan: &Plan, segment: SegmentId, _: Option<&ScheduleTable>, arrivals: &Arrivals) -> Vec<HopBound> {
        let delay = kind::delay(plan, segment);
        let mut bounds = Vec::new();
        for (stream, _, hop) in plan.on_segment(segment) {
            // A frame waits for no other: it takes its time in the sender's driver, and the delay.
            let driver = plan.nodes[hop.from.index()].driver;
            let sent = arrivals.at(stream, segment).at;
            let received = sent.map(|sent| sent.later(driver.min + delay, driver.max + delay));
            bounds.extend(hop.to.iter().map(|node| HopBound { stream, receiver: *node, received }));
        }
        bounds
    }
}
