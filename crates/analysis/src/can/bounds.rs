//! Worst-case response times of what a plan has on one CAN segment.
//!
//! # What counts as a message
//! - Periodic messages and the synchronisation message, each with its longest frame.
//! - Of a replayed recording each identifier with the median distance of its frames: an assumption about the recording,
//!   not a property of it. What a message of the plan has as its identifier is not counted twice.
//! - Frames of a recording on another segment that gateways pass on whole come at times that nothing bounds: what they may
//!   go before has no bound, and the longest of them can be in the way of the others once.
//! - Frames of a key exchange lose against every message, so the longest of them can be in the way once.
//!
//! # Assumptions
//! The bus has no errors, and each controller sends the most urgent frame it has. Controllers that send their
//! oldest frame first let urgent ones wait behind others; a message is then done when all that waits anywhere is, at the
//! end of the longest busy period of the bus.
//!
//! Frames of one message leave in the order in which they were queued. If they can be so late that this need not be the
//! order in which they were due, the end of the busy period bounds each of them.
//!
//! # Source
//! Davis, Burns, Bril, Lukkien, Real-Time Systems 35 (2007) 239-272, section 3. Release jitter that comes from an earlier
//! network: Tindell, Clark, "Holistic schedulability analysis for distributed hard real-time systems", Microprocessing
//! and Microprogramming 40 (1994) 117-134.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, StreamId};
use chronoseal_groupkey::Transport;
use chronoseal_scenario::plan::{Can, CanHop, CanRecording, HopPlan};
use chronoseal_wire::can::{BitTiming, CanId, Dlc, FrameBits, FrameKind};

use super::response_time::{Bound, Bus, Message, MessageError, Unbounded, response_times};
use crate::segment::Overload;
use crate::segment::demand::{Load, Periodic, true_period};

/// Why a message of a plan has no bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoBound {
    /// What is on the segment is no set of messages.
    #[error(transparent)]
    Set(#[from] MessageError),
    /// The bus has too little time for it.
    #[error(transparent)]
    Unbounded(#[from] Unbounded),
    /// It, or a message that goes before it, comes from another segment at times that nothing bounds.
    #[error("it or what goes before it comes from another segment, and nothing bounds when")]
    ArrivalUnbounded,
    /// The bus has too little time for all that waits in its controllers.
    #[error(transparent)]
    Overload(#[from] Overload),
}

/// When the frames of a message can be queued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Release {
    /// Between the earliest and the latest instant at which the controller can have a frame.
    pub jitter: Duration,
    /// The least distance of two frames at their sender, by true time.
    pub distance: Duration,
    /// True if that is of PDUs that several frames could hold alone, and one may hold together.
    pub counts_pdus: bool,
}

impl Release {
    /// Of a message whose sender has nothing to compute: its clock and its driver are all that counts.
    pub fn at_sender(view: Can<'_>, stream: StreamId) -> Option<Self> {
        let stream = view.plan.streams.get(stream.index())?;
        let sender = view.plan.nodes.get(stream.sender.index())?;
        Some(Self {
            jitter: sender.driver.max,
            distance: true_period(stream.period, sender.clock.drift),
            counts_pdus: false,
        })
    }
}

/// The response time of each message of a segment, the synchronisation message included, in the order of stream numbers.
///
/// It counts from the earliest instant at which the controller can have the frame, to the end of the interframe space
/// behind it. `secured` tells whether messages have their protection. `release` says when a message is queued, `None` if
/// nothing bounds that.
pub fn message_bounds(
    view: Can<'_>,
    secured: bool,
    release: impl Fn(StreamId) -> Option<Release>,
) -> Vec<(StreamId, Result<Bound, NoBound>)> {
    let timing = &view.segment.timing;
    let (mut streams, mut set) = (Vec::new(), Vec::new());
    let mut other_frame = exchange_frame(view);
    for (stream_id, stream, hop, facet) in view.streams() {
        let Some((id, kind)) = format_of(facet) else { continue };
        let len = if secured { view.plan.secured_len(stream, hop) } else { hop.frame_len };
        let known = release(stream_id);
        let unknown = Release { jitter: Duration::ZERO, distance: stream.period, counts_pdus: false };
        let Release { jitter, distance, counts_pdus } = known.unwrap_or(unknown);
        streams.push((stream_id, known.is_some()));
        let longest = occupancy(timing, id, kind, len as usize);
        let wire_time = if counts_pdus { pdu_alone(view, stream_id, hop, (id, kind)) } else { longest };
        // A frame that holds several may have begun.
        other_frame = other_frame.max(if counts_pdus { longest } else { Duration::ZERO });
        set.push(Message {
            id,
            wire_time,
            period: distance,
            jitter,
            deadline: stream.deadline.unwrap_or(stream.period),
        });
    }
    let rank = |message: &Message| message.id.arbitration_rank(false);
    // What arrives at unknown times spoils its own bound and those of all that wait for it. Others meet one frame of it.
    let spoiled = streams.iter().zip(&set).filter(|((_, is_bounded), _)| !is_bounded);
    let spoiled_from = match view.segment.fifo_mailboxes {
        true => spoiled.map(|_| 0).min(),
        false => spoiled.map(|(_, message)| rank(message)).min(),
    };
    let ranks: Vec<u32> = set.iter().map(rank).collect();
    let mut recorded = recorded(view, view.recordings().map(|(_, _, recording)| recording));
    let bridged = view.bridged();
    let bridged = self::recorded(view, bridged.iter().map(|(_, recording)| recording));
    // From a queue in which the oldest goes first they delay everything.
    let bridged_from = bridged.values().map(|message| if view.segment.fifo_mailboxes { 0 } else { rank(message) });
    let spoiled_from = bridged_from.chain(spoiled_from).min();
    recorded.extend(bridged);
    recorded.retain(|id, _| set.iter().all(|message| message.id != *id));
    set.extend(recorded.into_values());

    let bus = Bus { bit_time: timing.nominal_bit(), other_frame };
    let responses = match response_times(&bus, &set) {
        Ok(responses) => responses,
        Err(error) => return streams.into_iter().map(|(stream, _)| (stream, Err(error.into()))).collect(),
    };
    let busy = view.segment.fifo_mailboxes.then(|| busy_period(&bus, &set));
    let outcome = |message: &Message, outcome: Result<Bound, Unbounded>| -> Result<Bound, NoBound> {
        if let Some(busy) = busy {
            let busy_period = busy?;
            return Ok(Bound { busy_period, instances: vec![message.jitter + busy_period] });
        }
        let mut bound = outcome?;
        if message.jitter >= message.period {
            bound.instances.push(message.jitter + bound.busy_period + bus.bit_time);
        }
        Ok(bound)
    };
    (streams.into_iter().zip(&set).zip(ranks).zip(responses))
        .map(|((((stream, _), message), rank), response)| match outcome(message, response.outcome) {
            Ok(_) if spoiled_from.is_some_and(|from| rank >= from) => (stream, Err(NoBound::ArrivalUnbounded)),
            outcome => (stream, outcome),
        })
        .collect()
}

/// What the longest PDU of a container takes if it is alone in its frame, and enough that a frame of several takes no longer than
/// this for each of them. Frames have few lengths, and a byte more can make one longer by many.
fn pdu_alone(view: Can<'_>, number: StreamId, hop: &HopPlan, (id, kind): (CanId, FrameKind)) -> Duration {
    let stream = &view.plan.streams[number.index()];
    let overhead = view.plan.protection_on(stream, hop).overhead_bytes() as usize;
    let time = |len: usize| occupancy(&view.segment.timing, id, kind, len + overhead);
    let lens = view.plan.container_len_min(number).unwrap_or(1).max(1)..=stream.length;
    let empty = time(0);
    let per_byte = lens.map(|len| (time(len as usize) - empty).as_ps().div_euclid(i64::from(len)) + 1).max();
    let longest = i64::from(view.plan.contained_len_max(number).unwrap_or(stream.length));
    empty + Duration::from_ps(per_byte.unwrap_or_default()) * longest
}

/// The longest time during which some controller has a frame.
fn busy_period(bus: &Bus, set: &[Message]) -> Result<Duration, Overload> {
    let periodic = set
        .iter()
        .map(|message| Periodic { period: message.period, jitter: message.jitter, cost: message.wire_time })
        .collect();
    Load { once: bus.other_frame, periodic, cyclic: Vec::new() }.busy_period()
}

/// From the controller to the last bit at least: a free bus and a frame without a stuff bit.
///
/// Zero for a recording.
pub fn response_min(view: Can<'_>, number: StreamId, hop: &HopPlan) -> Duration {
    let Some((id, kind)) = hop.facet.get().and_then(format_of) else { return Duration::ZERO };
    let stream = &view.plan.streams[number.index()];
    // Of several PDUs collected in one frame there may be only one.
    let shortest = view.plan.container_len_min(number);
    let shortest = shortest.map(|len| len + view.plan.protection_on(stream, hop).overhead_bytes());
    let len = data_len(kind, shortest.unwrap_or(view.plan.secured_len(stream, hop)) as usize);
    let timing = &view.segment.timing;
    let bits = FrameBits::worst_case(id.is_extended(), kind, len);
    // Every stuff bit counts as a slow one, so that this stays below every frame.
    timing.time_of(bits) - timing.nominal_bit() * i64::from(bits.stuff)
}

/// Identifier and format of what has a period of its own.
fn format_of(facet: &CanHop) -> Option<(CanId, FrameKind)> {
    match facet {
        CanHop::Message { id, kind } => Some((*id, *kind)),
        CanHop::Synchronisation { id } => Some((*id, FrameKind::Classical)),
        CanHop::Recording(_) => None,
    }
}

/// The identifiers of recordings as messages.
fn recorded<'r>(view: Can<'_>, recordings: impl Iterator<Item = &'r CanRecording>) -> BTreeMap<CanId, Message> {
    let mut set: BTreeMap<CanId, Message> = BTreeMap::new();
    for recording in recordings {
        for (_, frame) in &recording.frames {
            let wire_time = occupancy(&view.segment.timing, frame.id(), frame.kind(), frame.data().len());
            let known = set.entry(frame.id()).or_insert(Message {
                id: frame.id(),
                wire_time,
                period: recording.length,
                jitter: Duration::ZERO,
                deadline: recording.length,
            });
            known.wire_time = known.wire_time.max(wire_time);
        }
        for (id, median) in recording.median_distances() {
            if let (Some(median), Some(message)) = (median, set.get_mut(&id)) {
                (message.period, message.deadline) = (median, median);
            }
        }
    }
    set
}

/// The longest frame of the key exchange; zero if there is none.
fn exchange_frame(view: Can<'_>) -> Duration {
    view.plan.group_key.as_ref().map_or(Duration::ZERO, |group| {
        let (kind, len) = match group.transport {
            Transport::Classical => (FrameKind::Classical, 8),
            Transport::Fd => (FrameKind::Fd { brs: true, esi: false }, 64),
        };
        view.segment.timing.worst_case_occupancy(true, kind, len)
    })
}

fn occupancy(timing: &BitTiming, id: CanId, kind: FrameKind, len: usize) -> Duration {
    timing.worst_case_occupancy(id.is_extended(), kind, data_len(kind, len))
}

/// Filled up to a length there is `[byte]`.
pub(crate) fn data_len(kind: FrameKind, len: usize) -> usize {
    Dlc::holding(len).map_or(len, |dlc| if kind.is_fd() { dlc.fd_len() } else { dlc.classical_len() })
}

#[cfg(test)]
mod tests;
