//! Messages in several frames: what one takes, frame by frame, and what its frames ask of the bus.
//!
//! A message is a first frame (FF), consecutive frames (CF) and the flow control frames (FC) of its receiver, each queued
//! when the one before has left (ISO 15765-2). So each waits for what wins against it and for one frame that is on the wire,
//! by itself, and the whole takes no longer than all of them one after the other:
//!
//! ```text
//! D = A + sum over FF, CF of w + sum over FC of w'
//! A = sum over FF, CF of (driver + C)
//!   + sum over FC of (receiver's processor + driver + C' + sender's processor)
//!   + sum over CF that follow a CF of (STmin + sender's processor, twice)
//! ```
//!
//! `w` is the longest wait of a frame until its first bit; a processor is at what has come when its longest busy period is
//! over. STmin is by the sender's clock. Not every frame finds the worst case, since what goes before one of them does not
//! go before another: all of them together wait no longer than for one frame each that loses against them, and for all
//! that wins in the whole time,
//!
//! ```text
//! D = A + sum over FF, CF, FC of B + sum over hp of demand(D)
//! ```
//!
//! is its least fixed point. The smaller of the two holds. A frame that is queued before the interframe space behind the one
//! before it is over has no B: nothing that loses against it can begin in between. A sender begins a message when the one before is over; if `D` and one more look of its
//! processor fit the distance of two messages, none is later than `D` after it was ready, whatever their jitter.
//!
//! For others the frames of a message are a [`Burst`] that can begin `D` late.

use chronoseal_core::random::Jitter;
use chronoseal_core::{Duration, StreamId};
use chronoseal_plan::{Can, CanMessage, SegmentedPlan};
use chronoseal_wire::can::iso_tp::Segments;
use chronoseal_wire::can::{BitTiming, CanId, FrameBits, FrameKind};

use super::bounds::{NoBound, Release, occupancy};
use super::burst::Burst;
use super::response_time::Unbounded;
use super::rivals::Series;
use crate::segment::demand::{longest_true, true_period};

/// N_As: what ISO 15765-2 gives a frame to leave.
const N_AS: Duration = Duration::from_s(1);

/// A stream whose messages have several frames.
pub(super) struct Transfer {
    pub(super) stream: StreamId,
    pub(super) release: Option<Release>,
    id: CanId,
    plan: SegmentedPlan,
    segments: Segments,
    /// C of a full frame, of the last one, and of a flow control frame.
    full: Duration,
    last: Duration,
    answer: Duration,
    sender: Jitter,
    receiver: Jitter,
    /// STmin by the sender's clock.
    separation_max: Duration,
    separation_min: Duration,
    /// The same frames without a stuff bit and interframe space.
    full_min: Duration,
    last_min: Duration,
    answer_min: Duration,
    intermission: Duration,
    /// Distance of two messages if nothing bounds it.
    period: Duration,
}

/// How long frames of a transfer wait in their controllers.
#[derive(Clone, Copy)]
pub(super) struct Waits {
    /// Of the sender.
    pub(super) data: Duration,
    /// Of the receiver.
    pub(super) answer: Duration,
}

impl Transfer {
    /// Of a message in several frames; `len` is what a message has `[byte]`.
    pub(super) fn of(view: Can<'_>, message: &CanMessage<'_>, len: u32, release: Option<Release>) -> Option<Self> {
        let plan = message.segmented?;
        let timing = &view.segment.timing;
        let (id, kind) = (message.id, message.kind);
        let segments = SegmentedPlan::segments(kind, len);
        let answer_len = SegmentedPlan::format(kind).flow_control_len();
        let sender = view.plan.nodes.get(message.hop.from.index())?;
        let receiver = view.plan.nodes.get(message.hop.to.first()?.index())?;
        let separation = plan.separation_time.duration();
        Some(Self {
            stream: message.stream_id,
            release,
            id,
            plan,
            segments,
            full: occupancy(timing, id, kind, segments.full_len()),
            last: occupancy(timing, id, kind, segments.last_len()),
            answer: occupancy(timing, plan.flow_control, kind, answer_len),
            sender: sender.driver,
            receiver: receiver.driver,
            separation_max: longest_true(separation, sender.clock.drift_max),
            separation_min: if separation == Duration::ZERO {
                Duration::ZERO
            } else {
                true_period(separation, sender.clock.drift_max)
            },
            full_min: shortest(timing, id, kind, segments.full_len()),
            last_min: shortest(timing, id, kind, segments.last_len()),
            answer_min: shortest(timing, plan.flow_control, kind, answer_len),
            intermission: timing.intermission(),
            period: message.stream.period,
        })
    }

    /// The identifiers of its frames: the sender's and the receiver's.
    pub(super) fn ids(&self) -> [CanId; 2] {
        [self.id, self.plan.flow_control]
    }

    fn answers(&self) -> i64 {
        i64::from(self.segments.flow_controls(self.plan.block_size))
    }

    /// Consecutive frames that follow one, and so keep STmin.
    fn separations(&self) -> i64 {
        i64::from(self.segments.separations(self.plan.block_size))
    }

    fn full_frames(&self) -> i64 {
        i64::from(self.segments.consecutive())
    }

    /// Between the latest instant at which a message is ready and the latest at which one of its frames is queued, if it takes
    /// `span`.
    fn jitter(&self, span: Duration) -> Duration {
        self.release.map_or(Duration::ZERO, |release| release.jitter) + span
    }

    /// Its frames as others meet them if a message takes `span`: the sender's, and the receiver's if there are any.
    pub(super) fn bursts(&self, span: Duration) -> [Burst; 2] {
        let period = self.release.map_or(self.period, |release| release.distance);
        let answers = self.answers();
        let own = Burst {
            id: self.id,
            wire_time: self.full.max(self.last),
            total: self.full * self.full_frames() + self.last,
            // The first frame, and each that an answer is waited for before.
            at_once: 1 + answers as u32,
            distance: self.full_min + self.separation_min + self.sender.min,
            period,
            jitter: self.jitter(span),
        };
        let of_receiver = Burst {
            id: self.plan.flow_control,
            wire_time: self.answer,
            // A message of a single frame is not answered, and its identifier stays.
            total: self.answer * answers,
            at_once: answers as u32,
            distance: Duration::ZERO,
            period,
            jitter: self.jitter(span),
        };
        [own, of_receiver]
    }

    /// The longest from the instant at which a message is ready, and none before it is on its way, to its last bit. `whole`
    /// is how long its frames take together on the bus, if they need so much when it is free.
    ///
    /// # Errors
    /// [`NoBound`] if the message can be given up by one of its ends, or the next one comes before it is over.
    pub(super) fn span(
        &self,
        waits: Waits,
        whole: impl Fn(&[Series], Duration) -> Result<Duration, Unbounded>,
    ) -> Result<Duration, NoBound> {
        let [sender_busy, receiver_busy] = self.release.map_or([Duration::ZERO; 2], |release| release.busy);
        let over = |wait: Duration, frame: Duration| wait + frame - self.intermission;
        let longest = self.sender.max + over(waits.data, self.full.max(self.last));
        let answer = receiver_busy + self.receiver.max + over(waits.answer, self.answer) + sender_busy;
        // The sender hears that a frame has left, and is woken when STmin is over, if there is one.
        let wakes = if self.separation_max > Duration::ZERO { 2 } else { 1 };
        let separation = self.separation_max + sender_busy * wakes;
        self.in_time("N_As", longest + sender_busy, N_AS)?;
        if self.answers() > 0 {
            self.in_time("N_Bs", answer, self.plan.n_bs)?;
            self.in_time("N_Cr", answer.max(separation) + longest + receiver_busy, self.plan.n_cr)?;
        }
        let frames = self.full_frames() + 1;
        let pauses = self.sender.max * frames
            + (receiver_busy + self.receiver.max + sender_busy) * self.answers()
            + separation * self.separations();
        let alone = pauses + self.full * self.full_frames() + self.last + self.answer * self.answers();
        let one_by_one =
            alone - self.intermission * (frames + self.answers()) + waits.data * frames + waits.answer * self.answers();
        let follows_at_once = separation + self.sender.max <= self.intermission;
        let blocked = if follows_at_once { frames - self.separations() } else { frames };
        let series = [Series { id: self.id, blocked }, Series { id: self.plan.flow_control, blocked: self.answers() }];
        let together = whole(&series, alone).map(|whole| whole - self.intermission);
        let span = together.map_or(one_by_one, |together| together.min(one_by_one));
        let distance = self.release.map_or(self.period, |release| release.distance);
        if span + sender_busy > distance {
            return Err(NoBound::TransferTooLong { takes: span + sender_busy, distance });
        }
        Ok(span)
    }

    /// Whether a wait is over before the end that waits gives up, by its own clock.
    fn in_time(&self, name: &'static str, wait: Duration, limit: Duration) -> Result<(), NoBound> {
        // No clock of a plan is wrong by more than a thousandth.
        if wait + wait / 999 <= limit { Ok(()) } else { Err(NoBound::TransferTimeout { name, wait, limit }) }
    }

    /// The least from the instant at which a message is ready to its last bit.
    pub(super) fn span_min(&self) -> Duration {
        (self.sender.min + self.full_min) * self.full_frames()
            + self.sender.min
            + self.last_min
            + (self.receiver.min + self.answer_min) * self.answers()
            + self.separation_min * self.separations()
    }
}

/// A free bus and a frame without a stuff bit, interframe space left out.
pub(super) fn shortest(timing: &BitTiming, id: CanId, kind: FrameKind, data_len: usize) -> Duration {
    let bits = FrameBits::worst_case(id.is_extended(), kind, data_len);
    // Every stuff bit counts as a slow one, so that this stays below every frame.
    timing.time_of(bits) - timing.nominal_bit() * i64::from(bits.stuff)
}
