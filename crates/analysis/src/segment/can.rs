//! Hops on a CAN segment.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, StreamId, Work};
use chronoseal_crypto::symmetric::{BlockMac, CmacAes128};
use chronoseal_frameauth::{DataId, secoc};
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_scenario::plan::{CAN, Can, CanHop, HopPlan, Plan, SegmentId};

use super::compose::for_others;
use super::processor::mac_work;
use super::{Arrivals, HopBound, SegmentBounds, Span, Why, without_bound};
use crate::can::NoBound;
use crate::can::bounds::{Release, message_bounds, response_min};

/// Rounds over the buses of one segment before jitter counts as growing without end.
const ROUNDS_MAX: u32 = 100;

/// Worst-case response times in arbitration, protection included.
///
/// A segment of several buses alike has every frame on each of them: a frame that comes from another bus waits there once
/// more, after its way through the segment's own gateway.
#[derive(Clone, Copy, Debug)]
pub struct CanBounds;

/// When frames are at the end of their way over a bus.
type OnBus = BTreeMap<StreamId, Result<Span, Why>>;

impl SegmentBounds for CanBounds {
    fn kind(&self) -> &'static str {
        CAN
    }

    fn authentication(&self, plan: &Plan, stream: StreamId, hop: &HopPlan) -> Option<Work> {
        match hop.facet.get()? {
            CanHop::Message { .. } => mac_work(plan, stream, hop, stream.0, hop.frame_len),
            // The tag is over trip and reset counters.
            CanHop::Synchronisation { .. } => {
                let counter_bits = u32::from(secoc::JASPAR.trip_bits) + u32::from(secoc::JASPAR.reset_bits);
                let len = DataId::number(stream.0).covered_len() as u32 + counter_bits.div_ceil(8);
                Some(Work::of(CmacAes128::OPERATION, len))
            }
            CanHop::Recording(_) => None,
        }
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
        let Some(buses) = on_buses(view, arrivals) else { return without_bound(plan, segment, Why::NoEndInSight) };
        let mut hops = Vec::new();
        for (id, _, hop, facet) in view.streams() {
            hops.extend(hop.to.iter().map(|node| {
                let found = buses[bus_of(view, node.index())].get(&id).copied();
                let received = match facet {
                    CanHop::Recording(_) => Err(Why::Recording),
                    _ => found.unwrap_or(Err(Why::NotReached)),
                };
                HopBound { stream: id, receiver: *node, received }
            }));
        }
        hops
    }
}

fn bus_of(view: Can<'_>, node: usize) -> usize {
    view.segment.bus_of.get(node).copied().unwrap_or(0).min(view.segment.count.saturating_sub(1))
}

/// Each bus of a segment; `None` if they make one another later without end.
fn on_buses(view: Can<'_>, arrivals: &Arrivals) -> Option<Vec<OnBus>> {
    let mut buses: Vec<OnBus> = vec![OnBus::new(); view.segment.count];
    for _ in 0..ROUNDS_MAX {
        let found: Vec<OnBus> = (0..buses.len()).map(|bus| on_bus(view, arrivals, &buses, bus)).collect();
        if found == buses {
            return Some(buses);
        }
        buses = found;
    }
    None
}

/// One bus, with frames from others as they were found there last.
fn on_bus(view: Can<'_>, arrivals: &Arrivals, buses: &[OnBus], bus: usize) -> OnBus {
    let mut queued: BTreeMap<StreamId, Result<Span, Why>> = BTreeMap::new();
    for (id, _, hop, _) in view.streams() {
        let home = bus_of(view, hop.from.index());
        let span = if home == bus {
            let driver = view.plan.nodes[hop.from.index()].driver;
            arrivals.at(id, view.id).at.map(|at| at.later(driver.min, driver.max))
        } else {
            let delay = view.segment.gateway_delay;
            let there = buses[home].get(&id).copied().unwrap_or(Ok(Span::DUE));
            there.map(|at| at.later(delay, delay))
        };
        queued.insert(id, span);
    }
    let release = |id: StreamId| {
        let at = for_others(queued.get(&id).copied().unwrap_or(Err(Why::NotReached))).ok()?;
        Some(Release { jitter: at.jitter(), distance: arrivals.at(id, view.id).distance })
    };
    let found = message_bounds(view, true, release);
    let received = |(id, found): (StreamId, Result<crate::can::Bound, NoBound>)| {
        let found = match (queued.get(&id).copied().unwrap_or(Err(Why::NotReached)), found) {
            (Err(Why::Radio), _) => Err(Why::Radio),
            (Err(_), _) => Err(Why::ArrivalUnbounded),
            (Ok(_), Err(why)) => Err(Why::Arbitration(why)),
            (Ok(at), Ok(bound)) => {
                let min = at.min + response_min_of(view, id);
                Ok(Span { min, max: at.min + bound.worst() - view.segment.timing.intermission() })
            }
        };
        (id, found)
    };
    found.into_iter().map(received).collect()
}

/// A free bus and a frame without a stuff bit.
fn response_min_of(view: Can<'_>, id: StreamId) -> Duration {
    let stream = &view.plan.streams[id.index()];
    let hop = stream.hops.iter().find(|hop| hop.segment == view.id);
    hop.map_or(Duration::ZERO, |hop| response_min(view, stream, hop))
}
