//! What one frame needs of links and processors, relative to the start of its slot.

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_media::schedule::Slot;
use chronoseal_scenario::plan::{Access, Dispatch, Plan, ProtectionKind, StreamClass, StreamPlan};

/// Bytes of an Ethernet header, which no tag covers: two addresses and a type.
const HEADER_LEN: u32 = 14;

/// Processor time that sealing or verifying one frame of `stream` takes on `node`, from its platform's profile.
///
/// The hash runs over the payload; the profile's base covers the few bytes of stream identifier and freshness value.
pub fn authentication_time(plan: &Plan, stream: &StreamPlan, node: NodeId) -> Duration {
    match &plan.protection_of(stream).kind {
        ProtectionKind::Hmac { hash, .. } => {
            let platform = &plan.platforms[plan.nodes[node.index()].platform.0 as usize];
            platform.cost(hash.operation().0, stream.frame_len.saturating_sub(HEADER_LEN))
        }
        ProtectionKind::None | ProtectionKind::SizeOnly { .. } => Duration::ZERO,
    }
}

/// The times of one time-triggered frame, counted from the start of its slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameNeeds {
    pub(super) frame_time: Duration,
    /// Processor time of the sender directly before the slot.
    pub(super) seal: Duration,
    /// The switch passes the frame on.
    pub(super) dispatch: Duration,
    /// The last bit reaches a receiver.
    pub(super) arrival: Duration,
    /// The slot is over.
    pub(super) end: Duration,
    /// How long the way from the switch to a receiver is taken, from `dispatch`.
    pub(super) egress: Duration,
}

impl FrameNeeds {
    pub(super) fn of(plan: &Plan, stream: &StreamPlan) -> Self {
        let network = &plan.network;
        let frame_time = plan.frame_time(plan.secured_len(stream));
        let slot = frame_time + network.guard_period;
        let forwarded = frame_time + network.propagation_delay + network.forwarding_delay;
        let dispatch = match (network.access, network.dispatch) {
            (_, Dispatch::Immediate) => forwarded,
            (Access::SharedSlots, Dispatch::Scheduled) => slot,
            // The switch may be early and the sender late by the precision.
            (Access::PerLink, Dispatch::Scheduled) => forwarded + network.precision * 2,
        };
        let egress = match (network.access, network.dispatch) {
            // The guard period is part of the slot.
            (Access::SharedSlots, _) => frame_time,
            (Access::PerLink, Dispatch::Scheduled) => slot,
            (Access::PerLink, Dispatch::Immediate) => slot + network.forwarding_jitter.max + network.precision,
        };
        let end = match network.access {
            Access::SharedSlots => slot,
            Access::PerLink => slot.max(dispatch),
        };
        Self {
            frame_time,
            seal: authentication_time(plan, stream, stream.sender),
            dispatch,
            arrival: dispatch + frame_time + network.propagation_delay,
            end,
            egress,
        }
    }

    pub(super) fn slot(&self, stream: StreamId, instance: u32, start: Duration) -> Slot {
        Slot {
            stream,
            instance,
            release: start - self.seal,
            start,
            frame_time: self.frame_time,
            dispatch: start + self.dispatch,
            end: start + self.end,
        }
    }
}

/// The time-triggered streams of a plan, the only ones with slots.
pub(super) fn scheduled(plan: &Plan) -> impl Iterator<Item = (StreamId, &StreamPlan)> {
    plan.streams
        .iter()
        .enumerate()
        .filter(|(_, stream)| matches!(stream.class, StreamClass::TimeTriggered { .. }))
        .map(|(index, stream)| (StreamId(index as u16), stream))
}
