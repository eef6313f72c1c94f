//! Hops on a CAN segment.

use std::collections::BTreeMap;

use chronoseal_media::schedule::ScheduleTable;
use chronoseal_scenario::plan::{CAN, Can, CanHop, Plan, SegmentId};

use super::{Arrivals, HopBound, SegmentBounds, Why, without_bound};
use crate::bounds::Latency;
use crate::can::bounds::{message_bounds, response_min};

/// Worst-case response times in arbitration, protection included.
#[derive(Clone, Copy, Debug)]
pub struct CanBounds;

impl SegmentBounds for CanBounds {
    fn kind(&self) -> &'static str {
        CAN
    }

    fn bounds(
        &self,
        plan: &Plan,
        segment: SegmentId,
        _prepared: Option<&ScheduleTable>,
        arrivals: &Arrivals,
    ) -> Vec<HopBound> {
        let Some(view) = Can::of(plan, segment) else {
            return without_bound(plan, segment, Why::UnknownKind(plan.segments[segment.index()].kind));
        };
        if view.segment.count > 1 {
            return without_bound(plan, segment, Why::SeveralBuses);
        }
        if view.segment.fifo_mailboxes {
            return without_bound(plan, segment, Why::OldestFirst);
        }
        let found = message_bounds(view, true, |stream| arrivals.at(stream, segment).jitter());
        let found: BTreeMap<_, _> = found.into_iter().collect();
        let mut hops = Vec::new();
        for (id, stream, hop, facet) in view.streams() {
            let arrival = arrivals.at(id, segment);
            let latency = match (found.get(&id), facet) {
                (_, CanHop::Recording(_)) | (None, _) => Err(Why::Recording),
                (Some(Err(why)), _) => Err(Why::Arbitration(*why)),
                // A response counts from the earliest arrival, a latency from the latest one.
                (Some(Ok(bound)), _) => Ok(Latency {
                    min: response_min(view, stream, hop),
                    max: bound.worst() - arrival.jitter().unwrap_or_default(),
                }),
            };
            hops.extend(hop.to.iter().map(|node| HopBound::new(id, *node, arrival, latency)));
        }
        hops
    }
}
