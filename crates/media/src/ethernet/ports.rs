//! From a switch, or a station, to the other end of a line with a port of its own in front of it.

use chronoseal_core::{DiscardReason, Priority, SimTime, StreamId};

use super::{Network, Timer};
use crate::line::Offer;
use crate::medium::{FrameId, FrameStore, MediumOutput};
use crate::port::{PortStep, Refused};
use crate::watch::Passed;

impl Network {
    /// Gives a frame to the port of a line, or throws it away that a line without one has no room for.
    #[cold]
    #[inline(never)]
    pub(super) fn send_by_port(
        &mut self,
        now: SimTime,
        line: usize,
        offer: Offer,
        stream: StreamId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let taken = match &mut self.ports[line] {
            Some(port) => port.offer(now, offer, stream),
            None => Err(Refused::QueueFull),
        };
        let reason = match taken {
            Ok(step) => return self.follow_port(now, line, &step, frames, out),
            Err(Refused::QueueFull) => DiscardReason::QueueFull,
            Err(Refused::ResidenceTime) => DiscardReason::WaitedTooLong,
        };
        if frames.is_watched() {
            frames.tell(now, line, Some(offer.frame), Passed::Refused);
        }
        self.discard(self.queues_at[line], offer.frame, stream, reason, frames, out);
    }

    /// Tells whoever watches of a frame that leaves: when it started, and when it arrives.
    #[cold]
    #[inline(never)]
    pub(super) fn tell_sent(
        &self,
        now: SimTime,
        line: usize,
        (frame, started_at, arrives_at): (FrameId, SimTime, SimTime),
        frames: &mut FrameStore,
    ) {
        let (speed, len) = (self.lines[line].speed(), frames.len_of(frame));
        let what = Passed::Sent {
            started_at,
            left_at: arrives_at - speed.delay(len),
            arrives_at,
            free_at: self.lines[line].free_at(),
            transmission: speed.transmission(len),
        };
        frames.tell(now, line, Some(frame), what);
    }

    /// Lets the port of a line do what is to be done now.
    pub(super) fn look_at_port(
        &mut self,
        now: SimTime,
        line: usize,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let Some(port) = &mut self.ports[line] else { return };
        let step = port.step(now);
        self.follow_port(now, line, &step, frames, out);
    }

    /// Asks for what a line needs next whose port has taken a frame, or was looked at.
    #[inline]
    fn follow_port(
        &mut self,
        now: SimTime,
        line: usize,
        step: &PortStep,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        self.lines[line].use_until(now, step.free_at);
        if frames.is_watched() {
            frames.tell(now, line, None, Passed::Used { until: step.free_at });
        }
        if let Some(left) = &step.left {
            if frames.is_watched() {
                self.tell_sent(now, line, (left.frame, left.started_at, left.arrives_at), frames);
            }
            let leads_to_switch = self.leads_to_switch(line);
            self.count(line, leads_to_switch);
            if !(leads_to_switch && self.plan_forwarding(line, (left.frame, left.arrives_at), frames, out)) {
                self.lines[line].put_on_wire(left.frame, left.started_at);
                out.push(MediumOutput::Timer { at: left.arrives_at, timer: Timer::LineArrival(line).pack() });
            }
            if let Some(due) = left.due
                && left.priority >= Priority::PROTOCOL_CONTROL
            {
                let times = (left.started_at, left.arrives_at);
                self.forwarded(now, times, line, left.priority, left.frame, due, frames, out);
            }
        }
        if let Some(at) = step.look_again_at {
            out.push(MediumOutput::Timer { at, timer: Timer::Port(line).pack() });
        }
    }
}
