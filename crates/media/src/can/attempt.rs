//! The end of a frame: who got it, what its sender does next, and what the errors mean for each node.

use chronoseal_core::{DiscardReason, Duration, Event, EventKind, SimTime, StreamId};
use chronoseal_wire::can::bits::SUSPEND_TRANSMISSION_BITS;
use chronoseal_wire::can::{BusError, CanFrame, CanId};

use super::bus::{Activity, Bus, Wish};
use super::counters::{ErrorCounters, ErrorState, RECOVERY_RUNS};
use super::mailbox::Queued;
use crate::medium::{FrameId, FrameStore, MediumOutput};

/// A frame on the bus, and what is known of its end.
pub(super) struct Attempt {
    pub(super) began_at: SimTime,
    pub(super) free_at: SimTime,
    pub(super) recessive_since: SimTime,
    pub(super) frame: CanFrame,
    /// Set if it went through the bit-by-bit bus.
    pub(super) result: Option<Contended>,
    /// Controllers that send; the first one's frame is delivered.
    pub(super) senders: Vec<usize>,
}

/// What came of a frame that went through the bit-by-bit bus.
pub(super) struct Contended {
    /// What the senders sent, in their order.
    pub(super) sent: Vec<CanFrame>,
    /// By controller; `None` for those in bus-off.
    pub(super) nodes: Vec<Option<NodeResult>>,
    pub(super) error: Option<(usize, BusError, Duration)>,
}

/// A node behind it.
pub(super) struct NodeResult {
    pub(super) counters: ErrorCounters,
    pub(super) has_sent: bool,
    pub(super) received: Option<CanFrame>,
}

impl Bus {
    /// The frame, or the error that ended it, is over; intermission begins.
    pub(super) fn finish(
        &mut self,
        now: SimTime,
        attempt: Attempt,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let occupied = attempt.free_at - attempt.began_at;
        self.statistics.count_busy(attempt.began_at, occupied, self.config.load_window);
        self.recessive_since = attempt.recessive_since;
        self.activity = Activity::Intermission;
        self.wishes.push(Wish::Turn(attempt.free_at));
        match &attempt.result {
            None => self.finish_plain(now, &attempt, frames, out),
            Some(result) => self.finish_contended(now, &attempt, result, frames, out),
        }
        let suspended = self.config.timing.nominal_bit() * i64::from(SUSPEND_TRANSMISSION_BITS);
        for index in &attempt.senders {
            let controller = &mut self.controllers[*index];
            if controller.counters.state() == ErrorState::Passive {
                controller.suspended_until = attempt.free_at + suspended;
            }
        }
        self.senders = attempt.senders;
    }

    fn finish_plain(&mut self, now: SimTime, attempt: &Attempt, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        let sender = attempt.senders[0];
        let queued = self.controllers[sender].sending.take().expect("the sender holds its frame until it is sent");
        self.statistics.frames += 1;
        frames.label_mut(queued.frame).arrived_at = Some(now);
        for index in 0..self.controllers.len() {
            let controller = &mut self.controllers[index];
            let before = controller.counters.state();
            if before == ErrorState::BusOff {
                continue;
            }
            if index == sender {
                controller.counters.sent();
                self.confirm(index, queued.frame, attempt.began_at, frames, out);
            } else {
                controller.counters.received();
                self.deliver(index, queued.frame, attempt.frame.id(), attempt.began_at, frames, out);
            }
            self.tell_state(now, index, before, frames, out);
        }
        frames.release(queued.frame);
    }

    fn finish_contended(
        &mut self,
        now: SimTime,
        attempt: &Attempt,
        result: &Contended,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let sent_by = |bus: &Self, sender: usize| {
            let queued = bus.controllers[attempt.senders[sender]].sending.as_ref();
            queued.expect("a sender holds its frame until it is sent").frame
        };
        let frame = sent_by(self, 0);
        if let Some((index, error, since_sof)) = result.error {
            let mut event = Event::of(kind_of(error), StreamId::NONE, frames.label(frame).serial.unwrap_or(0));
            event.value = (attempt.free_at - attempt.began_at - since_sof).as_ps();
            let node = self.controllers[index].config.attachment.node;
            out.push(MediumOutput::Event { node, event, frame: Some(frame) });
        }
        // Receivers first: the frame is theirs even if its sender thinks that it failed.
        for (index, node) in result.nodes.iter().enumerate() {
            let Some(received) = node.as_ref().and_then(|node| node.received) else { continue };
            if let Some(sender) = result.sent.iter().position(|sent| *sent == received) {
                let frame = sent_by(self, sender);
                frames.label_mut(frame).arrived_at = Some(now);
                self.deliver(index, frame, received.id(), attempt.began_at, frames, out);
            } else {
                // What it saw passed every check, and yet is not what was sent.
                let changed = frames.allocate(*frames.label(frame));
                let len = received.emit(frames.buffer(changed));
                frames.set_len(changed, len);
                self.deliver(index, changed, received.id(), attempt.began_at, frames, out);
                frames.release(changed);
            }
        }
        if result.nodes.iter().flatten().any(|node| node.has_sent) {
            self.statistics.frames += 1;
        } else {
            self.statistics.failed_attempts += 1;
            self.statistics.failed += attempt.free_at - attempt.began_at;
        }
        for (index, node) in result.nodes.iter().enumerate() {
            let Some(node) = node else { continue };
            let controller = &mut self.controllers[index];
            let before = controller.counters.state();
            controller.counters = node.counters;
            if let Some(queued) = controller.sending.take() {
                if node.has_sent {
                    self.confirm(index, queued.frame, attempt.began_at, frames, out);
                    frames.release(queued.frame);
                } else {
                    self.failed(index, queued, frames, out);
                }
            }
            self.tell_state(now, index, before, frames, out);
        }
    }

    /// A frame goes back to its queue, or away if its controller has tried often enough.
    fn failed(&mut self, index: usize, mut queued: Queued, frames: &FrameStore, out: &mut Vec<MediumOutput>) {
        queued.failures += 1;
        let controller = &mut self.controllers[index];
        if controller.config.attempts_max.is_some_and(|max| queued.failures >= max) {
            out.push(self.discarded(index, queued.frame, DiscardReason::AttemptsExhausted, frames));
        } else {
            controller.mailbox.put_back(queued);
        }
    }

    /// Tells the station of a controller that its frame is through.
    fn confirm(
        &self,
        index: usize,
        frame: FrameId,
        departed_at: SimTime,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        frames.retain(frame);
        let from = self.controllers[index].config.attachment;
        out.push(MediumOutput::Transmitted { from, frame, departed_at });
    }

    /// Gives the frame to the station of a controller, with a reference of its own.
    fn deliver(
        &self,
        index: usize,
        frame: FrameId,
        id: CanId,
        began_at: SimTime,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let controller = &self.controllers[index];
        if controller.accepts(id) {
            frames.retain(frame);
            let to = controller.config.attachment;
            out.push(MediumOutput::Deliver { to, frame, departed_at: began_at });
        }
    }

    /// Says that a controller's state has changed, and sees to what follows.
    fn tell_state(
        &mut self,
        now: SimTime,
        index: usize,
        before: ErrorState,
        frames: &FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let controller = &mut self.controllers[index];
        let state = controller.counters.state();
        if state == before {
            return;
        }
        let kind = match state {
            ErrorState::Active => EventKind::ErrorActive,
            ErrorState::Passive => EventKind::ErrorPassive,
            ErrorState::BusOff => EventKind::BusOff,
        };
        let (transmit, receive) = (controller.counters.transmit(), controller.counters.receive());
        let mut event = Event::of(kind, StreamId::NONE, u64::from(transmit));
        event.value = i64::from(receive);
        let node = controller.config.attachment.node;
        out.push(MediumOutput::Event { node, event, frame: None });
        if state != ErrorState::BusOff {
            return;
        }
        controller.go_off();
        if controller.config.recovers_from_bus_off {
            let earliest = self.recessive_since + self.recovery_run() * i64::from(RECOVERY_RUNS);
            self.wishes.push(Wish::Look(earliest.max(now)));
            return;
        }
        while let Some(queued) = self.controllers[index].mailbox.take_next() {
            out.push(self.discarded(index, queued.frame, DiscardReason::BusOff, frames));
        }
    }
}

fn kind_of(error: BusError) -> EventKind {
    match error {
        BusError::Bit => EventKind::BitError,
        BusError::Stuff => EventKind::StuffError,
        BusError::Crc => EventKind::CrcError,
        BusError::Form => EventKind::FormError,
        BusError::Ack => EventKind::AckError,
    }
}
