//! Hops on an Ethernet segment with a schedule table.

use chronoseal_core::Duration;
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_scenario::plan::{ETHERNET, Ethernet, Plan, SegmentId};

use super::{Arrival, Arrivals, HopBound, SegmentBounds, Why, without_bound};
use crate::bounds::{Latency, ways, why_unbounded};

/// Latencies under the schedule table.
///
/// A stream that begins on the segment is made for its slot, so its latency counts from the slot's start; how exactly the
/// sender keeps that start is part of the jitter it hands on. A stream that comes from another segment waits for its next
/// slot, a period at most after the latest instant at which it can come: by then all frames before it have had theirs.
#[derive(Clone, Copy, Debug)]
pub struct EthernetBounds;

impl SegmentBounds for EthernetBounds {
    fn kind(&self) -> &'static str {
        ETHERNET
    }

    fn bounds(
        &self,
        plan: &Plan,
        segment: SegmentId,
        prepared: Option<&ScheduleTable>,
        arrivals: &Arrivals,
    ) -> Vec<HopBound> {
        let Some(view) = Ethernet::of(plan, segment) else {
            return without_bound(plan, segment, Why::UnknownKind(plan.segments[segment.index()].kind));
        };
        let Some(table) = prepared else { return without_bound(plan, segment, Why::NoSchedule) };
        let mut hops = Vec::new();
        for (stream, ways) in view.streams().zip(ways(view, table)) {
            let arrival = arrivals.at(stream.id, segment);
            // Two clocks differ by the precision, one way or the other.
            let driver = plan.nodes[stream.hop.from.index()].driver.max;
            let start_jitter = view.segment.precision * 2 + driver;
            let wait = match arrival {
                Arrival::Begins => Duration::ZERO,
                Arrival::Forwarded { .. } | Arrival::Unbounded => stream.stream.period + start_jitter,
            };
            for way in ways {
                let in_slot = way.latency.ok_or(Why::NotScheduled(why_unbounded(&stream)));
                let latency = in_slot.map(|latency| Latency { min: latency.min, max: latency.max + wait });
                let mut hop = HopBound::new(stream.id, way.receiver, arrival, latency);
                if hop.latency.is_ok() && arrival == Arrival::Begins {
                    hop.next_jitter += start_jitter;
                }
                hops.push(hop);
            }
        }
        hops
    }
}
