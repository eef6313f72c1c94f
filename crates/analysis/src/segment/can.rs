//! Hops on a CAN segment.

use std::collections::BTreeMap;

use chronoseal_core::random::Jitter;
use chronoseal_core::{Duration, NodeId, StreamId, Work};
use chronoseal_crypto::symmetric::{BlockMac, CmacAes128};
use chronoseal_frameauth::DataId;
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_plan::{CAN, Can, CanHop, CanMessage, GatewayPlan, HopPlan, Plan, SegmentId};
use chronoseal_wire::can::CanId;

use super::processor::mac_work;
use super::{Arrivals, Cause, HopBound, LinkLoad, Risk, SegmentBounds, Span, Why, without_bound};
use crate::can::NoBound;
use crate::can::bounds::{Release, data_len, message_bounds, response_min};
use crate::can::load::bus_load;

/// Worst-case response times in arbitration, protection included.
#[derive(Clone, Copy, Debug)]
pub struct CanBounds;

impl SegmentBounds for CanBounds {
    fn kind(&self) -> &'static str {
        CAN
    }

    fn authentication(&self, plan: &Plan, stream: StreamId, hop: &HopPlan) -> Option<Work> {
        match hop.facet.get()? {
            CanHop::Message { kind, .. } => {
                // A container is filled up before it is sealed.
                let is_container = plan.streams[stream.index()].collected().is_some();
                let overhead = plan.secured_len(&plan.streams[stream.index()], hop) - hop.frame_len;
                let filled_up = || data_len(*kind, (hop.frame_len + overhead) as usize) as u32 - overhead;
                mac_work(plan, stream, hop, stream.0, if is_container { filled_up() } else { hop.frame_len })
            }
            // The tag is over trip and reset counters.
            CanHop::Synchronisation { .. } => {
                let layout = plan.freshness.as_ref()?.layout;
                let counter_bits = u32::from(layout.trip_bits) + u32::from(layout.reset_bits);
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
        let received = on_bus(view, arrivals);
        let mut hops = Vec::new();
        for (id, _, hop, facet) in view.streams() {
            let received = match facet {
                CanHop::Recording(_) => Err(Why::Recording),
                _ => received.get(&id).copied().unwrap_or(Err(Why::NotReached)),
            };
            hops.extend(hop.to.iter().map(|node| HopBound { stream: id, receiver: *node, received }));
        }
        hops
    }

    fn risks(
        &self,
        plan: &Plan,
        segment: SegmentId,
        _prepared: Option<&ScheduleTable>,
        _arrivals: &Arrivals,
    ) -> Vec<Risk> {
        let Some(view) = Can::of(plan, segment) else { return Vec::new() };
        let bridged = view.bridged();
        let local = view.recordings().map(|(recording, _, frames)| (recording, frames));
        let mut recorded = BTreeMap::new();
        for (recording, frames) in local.chain(bridged.iter().map(|(recording, frames)| (*recording, frames))) {
            for (_, frame) in &frames.frames {
                recorded.entry(frame.id()).or_insert(recording);
            }
        }
        let of_stream = |(stream, _, _, facet): (StreamId, &_, &_, &CanHop)| {
            let (id, recording) =
                facet.identifiers().find_map(|id| recorded.get(&id).map(|recording| (id, *recording)))?;
            Some(Risk { segment, stream: Some(stream), cause: Cause::Recorded { recording, id } })
        };
        view.streams().filter_map(of_stream).collect()
    }

    fn loads(&self, plan: &Plan, segment: SegmentId) -> Vec<LinkLoad> {
        let of_bus = |view| LinkLoad { ends: None, share: bus_load(view) };
        Can::of(plan, segment).map(of_bus).into_iter().collect()
    }

    fn bridges_recordings(&self, plan: &Plan, segment: SegmentId, gateway: &GatewayPlan) -> bool {
        let Some(view) = Can::of(plan, segment) else { return false };
        let bridged = view.bridged();
        let local = view.recordings().map(|(_, _, recording)| recording);
        let is_stream = |id: CanId| view.identifiers().any(|known| known == id);
        let passes = |id: CanId| gateway.bridges(id) && !is_stream(id);
        let mut recordings = local.chain(bridged.iter().map(|(_, recording)| recording));
        recordings.any(|recording| recording.frames.iter().any(|(_, frame)| passes(frame.id())))
    }
}

/// When frames are at the end of their way over the bus.
fn on_bus(view: Can<'_>, arrivals: &Arrivals) -> BTreeMap<StreamId, Result<Span, Why>> {
    let segmented: BTreeMap<StreamId, CanMessage<'_>> =
        view.messages().filter(CanMessage::is_segmented).map(|message| (message.stream_id, message)).collect();
    // The driver of a message in several frames has to do with each of them.
    let queued = |(id, _, hop, _): (StreamId, &_, &HopPlan, &_)| {
        let is_whole = !segmented.contains_key(&id);
        let driver = if is_whole { view.plan.nodes[hop.from.index()].driver } else { Jitter::default() };
        (id, arrivals.at(id, view.id).at.map(|at| at.later(driver.min, driver.max)))
    };
    let queued: BTreeMap<StreamId, Result<Span, Why>> = view.streams().map(queued).collect();
    let recordings: BTreeMap<StreamId, NodeId> = view.recordings().map(|(id, stream, _)| (id, stream.sender)).collect();
    let release = |id: StreamId| {
        if let Some(sender) = recordings.get(&id) {
            // Its frames wait for the processor as others do.
            let jitter = arrivals.busy(*sender).ok()? + view.plan.nodes[sender.index()].driver.max;
            return Some(Release { jitter, distance: Duration::ZERO, busy: [Duration::ZERO; 2], counts_pdus: false });
        }
        let at = queued.get(&id).copied()?.ok()?;
        let busy = match segmented.get(&id) {
            Some(message) => {
                let of = |node| arrivals.busy(node).ok();
                [of(message.hop.from)?, message.hop.to.first().map_or(Some(Duration::ZERO), |node| of(*node))?]
            }
            None => [Duration::ZERO; 2],
        };
        let distance = arrivals.at(id, view.id).distance;
        Some(Release { jitter: at.jitter(), distance, busy, counts_pdus: arrivals.counts_pdus(id, view.id) })
    };
    let found = message_bounds(view, true, release);
    let received = |(id, found): (StreamId, Result<crate::can::Bound, NoBound>)| {
        let found = match (queued.get(&id).copied().unwrap_or(Err(Why::NotReached)), found) {
            (Err(_), _) => Err(Why::ArrivalUnbounded),
            (Ok(_), Err(why)) => Err(Why::Arbitration(why)),
            // Nothing says how far from their release frames of a container are sent: each is gone when all that can be before it is.
            (Ok(at), Ok(bound)) if view.plan.streams[id.index()].collected().is_some() => {
                let min = at.min + response_min_of(view, id);
                Ok(Span { min, max: at.max + bound.busy_period + view.segment.timing.nominal_bit() })
            }
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
    hop.map_or(Duration::ZERO, |hop| response_min(view, id, hop))
}
