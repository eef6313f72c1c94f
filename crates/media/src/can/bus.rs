//! One bus: who sends next, how long it takes, what comes of it.

use chronoseal_core::random::{ChaCha8Rng, Jitter};
use chronoseal_core::{DiscardReason, Duration, Event, EventKind, SimTime, StreamId};
use chronoseal_wire::can::{CanFrame, CanFrameView, FrameBits};

use super::attempt::{Attempt, Contended, NodeResult};
use super::config::{CanBusConfig, Fault};
use super::contention::{self, Inverted, Participant};
use super::controller::Controller;
use super::counters::{ErrorState, RECOVERY_RUN_BITS};
use super::statistics::BusStatistics;
use crate::medium::{FrameId, FrameLabel, FrameStore, MediumOutput};

/// ACK delimiter and end of frame: recessive at the end of every sound frame.
const RECESSIVE_END_BITS: i64 = 1 + 7;

/// What a bus wants of the network around it.
pub(super) enum Wish {
    /// Call [`Bus::handle_turn`] then; an earlier wish of this kind is void.
    Turn(SimTime),
    /// Call [`Bus::handle_look`] then.
    Look(SimTime),
}

/// What goes on.
pub(super) enum Activity {
    /// All nodes have their intermission behind them.
    Idle,
    /// A SOF has begun; whoever wants to send before its sample point joins.
    Sof { began_at: SimTime },
    /// A frame, or what became of it.
    Frame(Attempt),
    /// Until the next SOF may begin.
    Intermission,
}

/// One bus.
pub(super) struct Bus {
    pub(super) config: CanBusConfig,
    pub(super) controllers: Vec<Controller>,
    pub(super) activity: Activity,
    /// When the last dominant bit had ended; meaningless within a frame.
    pub(super) recessive_since: SimTime,
    /// Attempts so far.
    pub(super) attempts: u64,
    pub(super) rng: ChaCha8Rng,
    /// Bits on the wire before the next one that is inverted.
    pub(super) bits_to_error: u64,
    pub(super) statistics: BusStatistics,
    pub(super) senders: Vec<usize>,
    pub(super) wishes: Vec<Wish>,
}

impl Bus {
    pub(super) fn new(config: CanBusConfig, controllers: Vec<Controller>, rng: ChaCha8Rng) -> Self {
        let mut bus = Self {
            config,
            controllers,
            activity: Activity::Idle,
            recessive_since: SimTime::ZERO,
            attempts: 0,
            rng,
            bits_to_error: u64::MAX,
            statistics: BusStatistics::default(),
            senders: Vec::new(),
            wishes: Vec::new(),
        };
        bus.draw_error();
        bus
    }

    pub(super) fn start(&mut self, now: SimTime, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        for babbler in &self.config.babblers {
            self.wishes.push(Wish::Look(babbler.from.max(now)));
        }
        self.handle_look(now, frames, out);
    }

    /// A frame comes to a controller's queue.
    pub(super) fn offer(
        &mut self,
        now: SimTime,
        controller: usize,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        if let Err(reason) = self.admit(controller, frame, frames) {
            out.push(self.discarded(controller, frame, reason, frames));
            return;
        }
        if matches!(self.activity, Activity::Idle) {
            self.begin(now, frames);
        }
    }

    fn admit(&mut self, index: usize, frame: FrameId, frames: &FrameStore) -> Result<(), DiscardReason> {
        let view = CanFrameView::new_checked(frames.bytes(frame))?;
        if view.kind().is_fd() && !self.config.carries_fd {
            return Err(DiscardReason::UnsupportedFormat);
        }
        let controller = &mut self.controllers[index];
        if controller.is_off() && !controller.config.recovers_from_bus_off {
            return Err(DiscardReason::BusOff);
        }
        // The frame being sent keeps its place.
        let held = controller.mailbox.len() + usize::from(controller.sending.is_some());
        let rank = view.id().arbitration_rank(view.kind().is_remote());
        if held >= controller.config.queue_len_max || !controller.mailbox.offer(frame, rank) {
            return Err(DiscardReason::QueueFull);
        }
        Ok(())
    }

    /// A turn asked for has come.
    pub(super) fn handle_turn(&mut self, now: SimTime, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        match core::mem::replace(&mut self.activity, Activity::Idle) {
            Activity::Idle => {}
            Activity::Sof { began_at } => self.arbitrate(began_at, frames),
            Activity::Frame(attempt) => self.finish(now, attempt, frames, out),
            Activity::Intermission => {
                self.recover(now, out);
                self.begin(now, frames);
            }
        }
    }

    /// Something may have changed: a node may be back, no longer suspended, or begin to babble.
    pub(super) fn handle_look(&mut self, now: SimTime, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        if matches!(self.activity, Activity::Idle | Activity::Intermission) {
            self.recover(now, out);
        }
        if matches!(self.activity, Activity::Idle) {
            self.begin(now, frames);
        }
    }

    /// Begins a frame if anyone wants to send; else says when to look again.
    fn begin(&mut self, now: SimTime, frames: &mut FrameStore) {
        self.babble(now, frames);
        if self.controllers.iter().any(|controller| controller.wants_to_send(now)) {
            self.count_recessive_runs(now);
            self.activity = Activity::Sof { began_at: now };
            self.wishes.push(Wish::Turn(now + self.config.timing.nominal_sample()));
            return;
        }
        let suspended = self.controllers.iter().filter(|controller| controller.wants_to_send(SimTime::MAX));
        let resume = suspended.map(|controller| controller.suspended_until).min();
        let recovered = self.controllers.iter().filter(|one| one.is_off() && one.config.recovers_from_bus_off);
        let recovered =
            recovered.map(|one| self.recessive_since + self.recovery_run() * i64::from(one.recovery_runs_left));
        let look = resume.into_iter().chain(recovered.min()).min();
        self.wishes.extend(look.map(Wish::Look));
    }

    /// A babbler always has a frame to send, unless its queue is full of others.
    fn babble(&mut self, now: SimTime, frames: &mut FrameStore) {
        for babbler in &self.config.babblers {
            if now < babbler.from || now >= babbler.until {
                continue;
            }
            let rank = babbler.frame.arbitration_rank();
            let found = self.controllers.iter_mut().find(|one| one.config.attachment == babbler.attachment);
            let Some(controller) = found.filter(|one| !one.mailbox.holds(rank)) else {
                continue;
            };
            let label = FrameLabel { sender: babbler.attachment.node, sent_at: now, ..FrameLabel::default() };
            let frame = frames.allocate(label);
            let len = babbler.frame.emit(frames.buffer(frame));
            frames.set_len(frame, len);
            if !controller.mailbox.offer(frame, rank) {
                frames.release(frame);
            }
        }
    }

    /// The sample point of SOF: nobody joins any more, and who wins is known.
    ///
    /// Nodes that send the same identifier both go on; the bit-by-bit bus tells what comes of that.
    fn arbitrate(&mut self, began_at: SimTime, frames: &mut FrameStore) {
        let mut senders = core::mem::take(&mut self.senders);
        senders.clear();
        let (mut best, mut contenders) = (u32::MAX, 0);
        for (index, controller) in self.controllers.iter().enumerate() {
            if !controller.wants_to_send(began_at) {
                continue;
            }
            contenders += 1;
            let rank = controller.mailbox.next().map_or(u32::MAX, |next| next.rank);
            if rank < best {
                best = rank;
                senders.clear();
            }
            if rank == best {
                senders.push(index);
            }
        }
        self.statistics.lost_arbitrations += contenders - senders.len() as u64;
        let Some((first, others)) = senders.split_first() else { return };
        let frame = self.take_for_sending(*first, frames);
        let others: Vec<CanFrame> = others.iter().map(|index| self.take_for_sending(*index, frames)).collect();

        let attempt = self.attempts;
        self.attempts += 1;
        let bits = FrameBits::of(&frame);
        let error_bit = self.next_error(bits.total());
        let is_faulted = self.config.faults.iter().any(|fault| fault.attempt == attempt);
        let nodes_on_bus = self.controllers.iter().filter(|one| !one.is_off()).count();
        let timing = self.config.timing;
        let is_plain = others.is_empty() && nodes_on_bus > 1 && !is_faulted && error_bit.is_none();
        let (result, length, recessive_since, free_at) = if is_plain {
            let length = timing.time_of(bits);
            let end = began_at + length;
            let recessive_since = end - timing.nominal_bit() * RECESSIVE_END_BITS;
            (None, length, recessive_since, end + timing.intermission())
        } else {
            let sent = core::iter::once(frame).chain(others).collect();
            let (result, outcome) = self.contend(attempt, error_bit, &senders, sent);
            let free_at = began_at + outcome.length;
            (Some(result), outcome.length - timing.intermission(), began_at + outcome.last_dominant, free_at)
        };
        self.wishes.push(Wish::Turn(began_at + length));
        self.activity = Activity::Frame(Attempt { began_at, free_at, recessive_since, frame, result, senders });
    }

    /// Moves a controller's next frame out of its queue and tells receivers the sender's error state.
    fn take_for_sending(&mut self, index: usize, frames: &mut FrameStore) -> CanFrame {
        let controller = &mut self.controllers[index];
        controller.sending = controller.mailbox.take_next();
        let queued = controller.sending.as_ref().expect("a controller that wants to send has a frame");
        let frame = CanFrame::parse(frames.bytes(queued.frame)).expect("frames are checked when they are queued");
        if controller.counters.state() != ErrorState::Passive || !frame.kind().is_fd() {
            return frame;
        }
        let frame = frame.with_error_state(true);
        frame.emit(frames.buffer(queued.frame));
        frame
    }

    fn contend(
        &mut self,
        attempt: u64,
        error_bit: Option<u32>,
        senders: &[usize],
        sent: Vec<CanFrame>,
    ) -> (Contended, contention::Outcome) {
        let on_bus: Vec<usize> =
            (0..self.controllers.len()).filter(|index| !self.controllers[*index].is_off()).collect();
        let mut participants: Vec<Participant> = on_bus
            .iter()
            .map(|index| {
                let counters = self.controllers[*index].counters;
                match senders.iter().position(|sender| sender == index) {
                    Some(sender) => Participant::sender(counters, &sent[sender]),
                    None => Participant::receiver(counters),
                }
            })
            .collect();
        let place = |fault: &Fault| match fault.seen_by {
            None => Some(Inverted { bit: fault.bit, seen_by: None }),
            Some(attachment) => {
                let who = on_bus.iter().position(|index| self.controllers[*index].config.attachment == attachment);
                // Whoever is off the bus sees nothing.
                who.map(|who| Inverted { bit: fault.bit, seen_by: Some(who) })
            }
        };
        let scripted = self.config.faults.iter().filter(|fault| fault.attempt == attempt).filter_map(place);
        let drawn = error_bit.map(|bit| Inverted { bit, seen_by: None });
        let inverted: Vec<Inverted> = scripted.chain(drawn).collect();
        let outcome = contention::resolve(&mut participants, &inverted, &self.config.timing);
        let mut nodes: Vec<Option<NodeResult>> = self.controllers.iter().map(|_| None).collect();
        for (index, one) in on_bus.iter().zip(participants) {
            let (counters, has_sent, received) = (one.counters, one.has_sent, one.received);
            nodes[*index] = Some(NodeResult { counters, has_sent, received });
        }
        let error = outcome.error.map(|(who, error, at)| (on_bus[who], error, at));
        (Contended { sent, nodes, error }, outcome)
    }

    pub(super) fn recovery_run(&self) -> Duration {
        self.config.timing.nominal_bit() * i64::from(RECOVERY_RUN_BITS)
    }

    /// The recessive bits so far end now, with a SOF.
    fn count_recessive_runs(&mut self, now: SimTime) {
        let run = self.recovery_run();
        let runs = (now - self.recessive_since).div_floor(run) as u32;
        for controller in self.controllers.iter_mut().filter(|one| one.is_off()) {
            controller.recovery_runs_left = controller.recovery_runs_left.saturating_sub(runs);
        }
    }

    /// Brings back who has seen enough recessive bits.
    fn recover(&mut self, now: SimTime, out: &mut Vec<MediumOutput>) {
        let runs = (now - self.recessive_since).div_floor(self.recovery_run());
        for controller in &mut self.controllers {
            let is_due = controller.is_off() && i64::from(controller.recovery_runs_left) <= runs;
            if is_due && controller.config.recovers_from_bus_off {
                controller.counters.reset();
                let node = controller.config.attachment.node;
                let event = Event::of(EventKind::ErrorActive, StreamId::NONE, 0);
                out.push(MediumOutput::Event { node, event, frame: None });
            }
        }
    }

    pub(super) fn discarded(
        &self,
        index: usize,
        frame: FrameId,
        reason: DiscardReason,
        frames: &FrameStore,
    ) -> MediumOutput {
        let serial = frames.label(frame).serial.unwrap_or(0);
        let event = Event::of(EventKind::Discarded(reason), StreamId::NONE, serial);
        MediumOutput::Discard { node: self.controllers[index].config.attachment.node, event, frame }
    }

    /// The bit of the next frame of `bits` bits that all see inverted, if one of them is.
    fn next_error(&mut self, bits: u32) -> Option<u32> {
        self.config.bits_between_errors?;
        if self.bits_to_error >= u64::from(bits) {
            self.bits_to_error -= u64::from(bits);
            return None;
        }
        let bit = self.bits_to_error as u32;
        self.draw_error();
        Some(bit)
    }

    /// Distances between independent rare errors are exponential.
    fn draw_error(&mut self) {
        let Some(mean) = self.config.bits_between_errors else { return };
        let mean = Duration::from_ps(i64::try_from(mean.get()).unwrap_or(i64::MAX));
        let distance = Jitter { min: Duration::ZERO, mean, max: Duration::MAX }.sample(&mut self.rng);
        self.bits_to_error = distance.as_ps() as u64;
    }
}
