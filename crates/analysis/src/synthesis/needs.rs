//! What one frame needs of links and processors, relative to the start of its slot.

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_media::schedule::Slot;
use chronoseal_scenario::plan::{Access, DataName, Dispatch, Ethernet, EthernetStream, PlatformPlan};

/// Bytes of an Ethernet header, which no tag covers: two addresses and a type.
const HEADER_LEN: u32 = 14;

/// Processor time that sealing or verifying one frame of `stream` takes on `node`, from its platform's profile.
///
/// The tag is made over the payload, and of a stream that gateways carry from end to end over its PDU; the profile's base
/// covers the few bytes of a stream's number and freshness value, and a name under the tag is counted.
///
/// A stream that is protected from end to end is sealed by its sender and verified by its receivers, and one that is
/// protected on this hop alone by those of the hop, gateways too. A node that only passes it on takes no time here.
pub fn authentication_time(view: Ethernet<'_>, stream: &EthernetStream<'_>, node: NodeId) -> Duration {
    let EthernetStream { stream: plan, hop, .. } = stream;
    let computes = match hop.protection {
        Some(_) => node == hop.from || hop.to.contains(&node),
        None => node == plan.sender || plan.receivers.contains(&node),
    };
    let Some(profile) = view.protection_of(stream).profile().filter(|_| computes) else { return Duration::ZERO };
    let payload_len = match plan.is_relayed() && hop.protection.is_none() {
        true => plan.length,
        false => hop.frame_len.saturating_sub(HEADER_LEN),
    };
    let name_len = match view.plan.data_name(plan, hop) {
        DataName::Number => 0,
        DataName::Name(name) => name.len() as u32,
    };
    let cost = |platform: &PlatformPlan| platform.cost(profile.mac().operation().0, payload_len + name_len);
    view.plan.platform_of(node).map(cost).unwrap_or_default()
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
    pub(super) fn of(view: Ethernet<'_>, stream: &EthernetStream<'_>) -> Self {
        let network = view.segment;
        let frame_time = view.frame_time_of(stream);
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
            seal: authentication_time(view, stream, stream.hop.from),
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

/// The time-triggered streams of a segment, the only ones with slots.
pub(super) fn scheduled(view: Ethernet<'_>) -> impl Iterator<Item = EthernetStream<'_>> {
    view.streams().filter(|stream| stream.class.is_time_triggered())
}

/// Where the scenario fixes the first slot of a stream. It does so on the segment on which the stream begins.
pub(super) fn offset(stream: &EthernetStream<'_>) -> Option<Duration> {
    stream.stream.offset.filter(|_| stream.hop.from == stream.stream.sender)
}
