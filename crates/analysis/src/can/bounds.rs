//! Worst-case response times of what a plan has on one CAN segment.
//!
//! # What counts as a message
//! - Periodic messages and the synchronisation message, each with its longest frame.
//! - Of a replayed recording each identifier with the median distance of its frames: an assumption about the recording,
//!   not a property of it. Its sender's processor and driver make them late. What a message of the plan has as its identifier is not
//!   counted twice.
//! - Frames of a recording on another segment that gateways pass on whole come at times that nothing bounds: what they may
//!   go before has no bound, and the longest of them can be in the way of the others once.
//! - A stream in several frames with each of them, and the flow control frames of its receiver.
//! - Frames of a key exchange count as one that is in the way once: what more they can be is for `segment::exchange`.
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

use chronoseal_core::{Duration, Ppm, StreamId};
use chronoseal_groupkey::Transport;
use chronoseal_plan::{Can, CanHop, CanMessage, CanRecording, HopPlan};
use chronoseal_wire::can::{BitTiming, CanFrame, CanId, Dlc, FrameKind};

use super::burst::Burst;
use super::response_time::{Bound, Bus, Message, MessageError, Response, Unbounded};
use super::rivals::{Rivals, Series};
use super::transfer::{Transfer, Waits, shortest};
use crate::segment::Overload;
use crate::segment::demand::{Load, Periodic, true_period};

/// Rounds before messages in several frames count as making one another later without end.
const ROUNDS_MAX: u32 = 200;

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
    /// The frames of a message are not over when the next one is there.
    #[error("the frames of a message can take {takes:.3}, and the next message comes after {distance}")]
    TransferTooLong {
        /// The longest.
        takes: Duration,
        /// The least distance of two messages.
        distance: Duration,
    },
    /// An end of a message in several frames can give up.
    #[error(
        "{name} can be over: one end of the message waits up to {wait:.3} for the other, and gives up after {limit}"
    )]
    TransferTimeout {
        /// Which of the timeouts of ISO 15765-2.
        name: &'static str,
        /// The longest wait.
        wait: Duration,
        /// The timeout.
        limit: Duration,
    },
    /// What is sent in several frames makes others later, and they it, without end.
    #[error("messages in several frames make one another later without end")]
    TransfersGrow,
}

/// When the frames of a message can be queued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Release {
    /// Between the earliest and the latest instant at which the controller can have a frame.
    pub jitter: Duration,
    /// The least distance of two frames at their sender, by true time.
    pub distance: Duration,
    /// How long the processors of its sender and of its receiver can be busy. Only messages in several frames meet them here.
    pub busy: [Duration; 2],
    /// True if that is of PDUs that several frames could hold alone, and one may hold together.
    pub counts_pdus: bool,
}

impl Release {
    /// Of a message whose sender has nothing to compute: its clock and its driver are all that counts.
    pub fn at_sender(view: Can<'_>, stream: StreamId) -> Option<Self> {
        let (id, stream) = (stream, view.plan.streams.get(stream.index())?);
        let hop = stream.hops.iter().find(|hop| hop.segment == view.id);
        let is_segmented = hop.and_then(|hop| CanMessage::of(id, stream, hop)).is_some_and(|it| it.is_segmented());
        let sender = view.plan.nodes.get(stream.sender.index())?;
        Some(Self {
            jitter: if is_segmented { Duration::ZERO } else { sender.driver.max },
            distance: true_period(stream.period, sender.clock.drift_max),
            busy: [Duration::ZERO; 2],
            counts_pdus: false,
        })
    }
}

/// The response time of each message of a segment, the synchronisation message included, in the order of stream numbers.
///
/// It counts from the earliest instant at which the controller can have the frame, to the end of the interframe space
/// behind it. `secured` tells whether messages have their protection. `release` says when a message is queued, `None` if
/// nothing bounds that. A message in several frames counts from the earliest instant at which it is ready, its driver still to
/// come, to the end of the interframe space behind its last frame.
pub fn message_bounds(
    view: Can<'_>,
    secured: bool,
    release: impl Fn(StreamId) -> Option<Release>,
) -> Vec<(StreamId, Result<Bound, NoBound>)> {
    let set = Set::of(view, secured, release);
    let other_frame = exchange_frame(view).max(set.container_frame);
    let bus = Bus { bit_time: view.segment.timing.nominal_bit(), other_frame };
    let (spans, responses) = match set.settle(view, &bus) {
        Ok(settled) => settled,
        Err(error) => return set.streams().map(|stream| (stream, Err(error.into()))).collect(),
    };
    let fifo = view.segment.fifo_mailboxes;
    let busy = fifo.then(|| busy_period(&bus, &set.messages, &set.bursts(&spans)));
    let spoiled_from = set.spoiled_from(fifo, &spans);
    let is_spoiled = |ids: &[CanId]| spoiled_from.is_some_and(|from| ids.iter().any(|id| rank(*id) >= from));
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
    let mut bounds: Vec<(StreamId, Result<Bound, NoBound>)> = (set.own.iter().zip(&set.messages).zip(responses))
        .map(|(((stream, _), message), response)| match outcome(message, response.outcome) {
            Ok(_) if is_spoiled(&[message.id]) => (*stream, Err(NoBound::ArrivalUnbounded)),
            outcome => (*stream, outcome),
        })
        .collect();
    bounds.extend(set.transfers.iter().zip(&spans).map(|(transfer, span)| {
        let jitter = transfer.release.map_or(Duration::ZERO, |release| release.jitter);
        let bound = match span {
            Ok(_) if is_spoiled(&transfer.ids()) => Err(NoBound::ArrivalUnbounded),
            Ok(span) => {
                let whole = *span + view.segment.timing.intermission();
                Ok(Bound { busy_period: whole, instances: vec![jitter + whole] })
            }
            Err(why) => Err(*why),
        };
        (transfer.stream, bound)
    }));
    bounds.sort_by_key(|(stream, _)| *stream);
    bounds
}

/// Everything that takes part in arbitration on a segment.
struct Set {
    /// Streams of one frame a message, each with whether it is known when they come.
    own: Vec<(StreamId, bool)>,
    /// They, and the identifiers of recordings.
    messages: Vec<Message>,
    /// Those of recordings that come from other segments, or from a processor that nothing bounds.
    unknown: Vec<CanId>,
    /// Streams of several frames a message.
    transfers: Vec<Transfer>,
    /// The longest frame that holds several PDUs: one may have begun.
    container_frame: Duration,
}

/// What the messages in several frames take, and the responses of the others beside them.
type Settled = (Vec<Result<Duration, NoBound>>, Vec<Response>);

impl Set {
    fn of(view: Can<'_>, secured: bool, release: impl Fn(StreamId) -> Option<Release>) -> Self {
        let timing = &view.segment.timing;
        let (mut own, mut messages, mut transfers) = (Vec::new(), Vec::new(), Vec::new());
        let mut container_frame = Duration::ZERO;
        for (stream_id, stream, hop, facet) in view.streams() {
            let Some((id, kind)) = format_of(facet) else { continue };
            let len = if secured { view.plan.secured_len(stream, hop) } else { hop.frame_len };
            let known = release(stream_id);
            let message = CanMessage::of(stream_id, stream, hop);
            if let Some(transfer) = message.and_then(|message| Transfer::of(view, &message, len, known)) {
                transfers.push(transfer);
                continue;
            }
            let (jitter, period) = known.map_or((Duration::ZERO, stream.period), |it| (it.jitter, it.distance));
            own.push((stream_id, known.is_some()));
            let longest = occupancy(timing, id, kind, len as usize);
            let counts_pdus = known.is_some_and(|known| known.counts_pdus);
            let wire_time = if counts_pdus { pdu_alone(view, stream_id, hop, (id, kind)) } else { longest };
            container_frame = container_frame.max(if counts_pdus { longest } else { Duration::ZERO });
            messages.push(Message {
                id,
                wire_time,
                period,
                jitter,
                deadline: stream.deadline.unwrap_or(stream.period),
            });
        }
        let (mut recorded, mut unknown) = (BTreeMap::new(), Vec::new());
        for (stream_id, stream, recording) in view.recordings() {
            let known = release(stream_id);
            let drift = view.plan.nodes[stream.sender.index()].clock.drift_max;
            let own = self::recorded(view, recording, drift, known.map_or(Duration::ZERO, |known| known.jitter));
            unknown.extend(known.is_none().then(|| own.keys().copied().collect::<Vec<_>>()).into_iter().flatten());
            recorded.extend(own);
        }
        for (_, recording) in &view.bridged() {
            let own = self::recorded(view, recording, Ppm(0), Duration::ZERO);
            unknown.extend(own.keys().copied());
            recorded.extend(own);
        }
        let is_taken = |id: CanId| {
            let of_transfer = |transfer: &Transfer| transfer.ids().contains(&id);
            messages.iter().any(|message| message.id == id) || transfers.iter().any(of_transfer)
        };
        recorded.retain(|id, _| !is_taken(*id));
        messages.extend(recorded.into_values());
        Self { own, messages, unknown, transfers, container_frame }
    }

    fn streams(&self) -> impl Iterator<Item = StreamId> {
        let mut streams: Vec<StreamId> = self.own.iter().map(|(stream, _)| *stream).collect();
        streams.extend(self.transfers.iter().map(|transfer| transfer.stream));
        streams.sort_unstable();
        streams.into_iter()
    }

    /// The frames of messages in several, if those take so long.
    fn bursts(&self, spans: &[Result<Duration, NoBound>]) -> Vec<Burst> {
        let of = |(transfer, span): (&Transfer, &Result<Duration, NoBound>)| transfer.bursts(span.unwrap_or_default());
        self.transfers.iter().zip(spans).flat_map(of).collect()
    }

    /// Computes what messages in several frames take, from nothing upwards, until they agree on how late their frames can be.
    fn settle(&self, view: Can<'_>, bus: &Bus) -> Result<Settled, MessageError> {
        let mut spans: Vec<Result<Duration, NoBound>> = vec![Ok(Duration::ZERO); self.transfers.len()];
        for _ in 0..ROUNDS_MAX {
            let bursts = self.bursts(&spans);
            let rivals = Rivals::new(*bus, &self.messages, &bursts)?;
            // Where the oldest goes first, a frame has left when all that waits anywhere has.
            let busy = view.segment.fifo_mailboxes.then(|| busy_period(bus, &self.messages, &bursts));
            let wait = |index: usize| match busy {
                Some(busy) => busy.map_err(NoBound::from),
                None => rivals.wait(&bursts[index]).map_err(NoBound::from),
            };
            let whole = |series: &[Series], alone: Duration| match busy {
                Some(_) => rivals.whole_in_order(series, alone),
                None => rivals.whole(series, alone),
            };
            let span = |(index, (transfer, span)): (usize, (&Transfer, &Result<Duration, NoBound>))| {
                // What has no bound keeps its reason; how late it can be matters to nobody any more.
                (*span)?;
                let waits = Waits { data: wait(2 * index)?, answer: wait(2 * index + 1)? };
                transfer.span(waits, whole)
            };
            let found: Vec<_> = self.transfers.iter().zip(&spans).enumerate().map(span).collect();
            if found == spans {
                return Ok((spans, self.responses(&rivals)));
            }
            spans = found;
        }
        spans = vec![Err(NoBound::TransfersGrow); self.transfers.len()];
        let rivals = Rivals::new(*bus, &self.messages, &self.bursts(&spans))?;
        Ok((spans, self.responses(&rivals)))
    }

    fn responses(&self, rivals: &Rivals) -> Vec<Response> {
        self.messages.iter().map(|message| rivals.response(message)).collect()
    }

    /// From which rank on nothing is bounded: what comes at unknown times spoils its own bound and those of all that wait for
    /// it. Others meet one frame of it. From a queue in which the oldest goes first it delays everything.
    fn spoiled_from(&self, fifo: bool, spans: &[Result<Duration, NoBound>]) -> Option<u32> {
        let own = self.own.iter().zip(&self.messages).filter(|((_, is_bounded), _)| !is_bounded);
        let transfers = self.transfers.iter().zip(spans);
        let transfers = transfers.filter(|(transfer, span)| transfer.release.is_none() || span.is_err());
        let ids = own.map(|(_, message)| message.id).chain(self.unknown.iter().copied());
        let ids = ids.chain(transfers.flat_map(|(transfer, _)| transfer.ids()));
        ids.map(|id| if fifo { 0 } else { rank(id) }).min()
    }
}

fn rank(id: CanId) -> u32 {
    id.arbitration_rank(false)
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
fn busy_period(bus: &Bus, set: &[Message], bursts: &[Burst]) -> Result<Duration, Overload> {
    let messages = set.iter().map(|message| (message.period, message.jitter, message.wire_time));
    let bursts = bursts.iter().map(|burst| (burst.period, burst.jitter, burst.total));
    let periodic = messages.chain(bursts).map(|(period, jitter, cost)| Periodic { period, jitter, cost }).collect();
    Load { once: bus.other_frame, periodic, cyclic: Vec::new() }.busy_period()
}

/// From the controller to the last bit at least: a free bus and a frame without a stuff bit. Of a message in several frames
/// from the instant at which it is ready.
///
/// Zero for a recording.
pub fn response_min(view: Can<'_>, number: StreamId, hop: &HopPlan) -> Duration {
    let Some((id, kind)) = hop.facet.get().and_then(format_of) else { return Duration::ZERO };
    let stream = &view.plan.streams[number.index()];
    let secured = view.plan.secured_len(stream, hop);
    let message = CanMessage::of(number, stream, hop);
    if let Some(transfer) = message.and_then(|message| Transfer::of(view, &message, secured, None)) {
        return transfer.span_min();
    }
    // Of several PDUs collected in one frame there may be only one.
    let least = view.plan.container_len_min(number);
    let least = least.map(|len| len + view.plan.protection_on(stream, hop).overhead_bytes());
    shortest(&view.segment.timing, id, kind, data_len(kind, least.unwrap_or(secured) as usize))
}

/// Identifier and format of what has a period of its own.
pub(super) fn format_of(facet: &CanHop) -> Option<(CanId, FrameKind)> {
    match facet {
        CanHop::Message { id, kind, .. } => Some((*id, *kind)),
        CanHop::Synchronisation { id } => Some((*id, FrameKind::Classical)),
        CanHop::Recording(_) => None,
    }
}

/// The identifiers of a recording as messages, each as much later as its sender can make it.
fn recorded(view: Can<'_>, recording: &CanRecording, drift: Ppm, later: Duration) -> BTreeMap<CanId, Message> {
    let frames = recording.by_identifier();
    let medians = recording.median_distances();
    let message = |frames: &[&(Duration, CanFrame)]| {
        let mut lens: Vec<_> = frames.iter().map(|(_, frame)| (frame.kind(), frame.data().len())).collect();
        lens.dedup();
        let id = frames[0].1.id();
        let times = lens.into_iter().map(|(kind, len)| occupancy(&view.segment.timing, id, kind, len));
        let wire_time = times.max().unwrap_or_default();
        let median = medians.get(&id).copied().flatten();
        let period = true_period(median.unwrap_or(recording.length), drift);
        (id, Message { id, wire_time, period, jitter: later, deadline: period })
    };
    frames.chunk_by(|(_, one), (_, next)| one.id() == next.id()).map(message).collect()
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

pub(super) fn occupancy(timing: &BitTiming, id: CanId, kind: FrameKind, len: usize) -> Duration {
    timing.worst_case_occupancy(id.is_extended(), kind, data_len(kind, len))
}

/// What a frame of a hop takes on its bus with so much data, every stuff bit counted; `None` for a recording.
pub(crate) fn frame_time(view: Can<'_>, len: u32, hop: &HopPlan) -> Option<Duration> {
    let (id, kind) = hop.facet.get().and_then(format_of)?;
    Some(occupancy(&view.segment.timing, id, kind, len as usize))
}

/// Filled up to a length there is `[byte]`.
pub(crate) fn data_len(kind: FrameKind, len: usize) -> usize {
    Dlc::holding(len).map_or(len, |dlc| if kind.is_fd() { dlc.fd_len() } else { dlc.classical_len() })
}

#[cfg(test)]
mod tests;
