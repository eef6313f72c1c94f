//! From a switch, or a station, to the other end of a line.

use chronoseal_core::{DiscardReason, Event, EventKind, NodeId, Priority, SimTime, StreamId};

use super::forwarding::Forwarded;
use super::{Network, Timer};
use crate::line::{self, Offer, Started, Step};
use crate::medium::{FrameId, FrameStore, MediumOutput};
use crate::watch::Passed;

impl Network {
    /// Throws a frame away at a switch.
    pub(super) fn discard(
        &mut self,
        node: NodeId,
        frame: FrameId,
        stream: StreamId,
        reason: DiscardReason,
        frames: &FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        self.statistics.counts.dropped += 1;
        if let Some(pairs) = &mut self.pairs {
            pairs.drop_at(node);
        }
        let event = Event::of(EventKind::Discarded(reason), stream, frames.label(frame).serial.unwrap_or(0));
        out.push(MediumOutput::Discard { node, event, frame });
    }

    /// Gives a frame to a line, which starts or queues it.
    #[allow(clippy::too_many_arguments, reason = "a frame with everything its line wants to know")]
    #[inline(always)]
    pub(super) fn send(
        &mut self,
        now: SimTime,
        line: usize,
        priority: Priority,
        due: Option<SimTime>,
        (frame, stream): (FrameId, StreamId),
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let offer = Offer { frame, len: frames.len_of(frame), priority, due };
        if frames.is_watched() {
            frames.tell(now, line, Some(frame), Passed::Queued { priority });
        }
        match &self.lines[line].offer(now, offer) {
            Ok(step) => self.follow(now, line, step, frames, out),
            Err(_) => self.send_by_port(now, line, offer, stream, frames, out),
        }
    }

    /// Asks for what a line needs next.
    #[inline(always)]
    pub(super) fn follow(
        &mut self,
        now: SimTime,
        line: usize,
        step: &Step,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let look_again_at = match step {
            Step::Idle => None,
            Step::LookAgain(at) => Some(*at),
            Step::Started(started) => {
                if frames.is_watched() {
                    self.tell_sent(now, line, (started.frame, now, started.arrives_at), frames);
                }
                let leads_to_switch = self.leads_to_switch(line);
                self.count(line, leads_to_switch);
                if !(leads_to_switch && self.plan_forwarding(line, (started.frame, started.arrives_at), frames, out)) {
                    self.lines[line].put_on_wire(started.frame, now);
                    out.push(MediumOutput::Timer { at: started.arrives_at, timer: Timer::LineArrival(line).pack() });
                }
                // Nobody wants to know when a frame without a slot was passed on.
                if let Some(due) = started.due
                    && started.priority >= Priority::PROTOCOL_CONTROL
                {
                    let Started { frame, priority, arrives_at, .. } = *started;
                    self.forwarded(now, (now, arrives_at), line, priority, frame, due, frames, out);
                }
                started.look_again_at
            }
        };
        if let Some(at) = look_again_at {
            out.push(MediumOutput::Timer { at, timer: Timer::LineFree(line).pack() });
        }
    }

    #[inline(always)]
    pub(super) fn count(&mut self, line: usize, leads_to_switch: bool) {
        let counts = &mut self.statistics.counts;
        if line >= self.first_trunk_line {
            counts.between_switches += 1;
        } else {
            counts.from_stations += i64::from(leads_to_switch);
            counts.to_stations += i64::from(!leads_to_switch);
        }
    }

    /// A switch has passed on a frame that was due at a time: it started then and arrives then.
    #[allow(clippy::too_many_arguments, reason = "a frame with everything that is said of it")]
    pub(super) fn forwarded(
        &mut self,
        now: SimTime,
        (started_at, arrives_at): (SimTime, SimTime),
        line: usize,
        priority: Priority,
        frame: FrameId,
        due: SimTime,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        if priority == Priority::PROTOCOL_CONTROL && self.time_aware.is_some() {
            self.stamp_departure(now, started_at, line, frame, frames, out);
        } else if priority == Priority::PROTOCOL_CONTROL {
            // [SAE AS6802] every relay adds the delay it causes to the transparent clock.
            line::stamp_transparent_clock(frame, arrives_at - due, frames);
        } else if priority == Priority::TIME_TRIGGERED {
            let stream = self.stream_of(frames.bytes(frame)).unwrap_or(StreamId::NONE);
            let sequence = frames.label(frame).serial.unwrap_or(0);
            let event =
                Event { value: (started_at - due).as_ps(), ..Event::of(EventKind::Forwarded, stream, sequence) };
            out.push(MediumOutput::Event { node: self.queues_at[line], event, frame: Some(frame) });
        }
    }

    /// A copy of the frame to every line by which its stream leaves the switch.
    #[inline(always)]
    pub(super) fn fan_out(
        &mut self,
        now: SimTime,
        passed: Forwarded,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let Forwarded { frame, hop, priority, due } = passed;
        let hop = *self.ways.hop(hop);
        let copies = self.ways.egress(&hop).len();
        for copy in 0..copies {
            if copy + 1 < copies {
                frames.retain(frame);
            }
            let line = self.ways.egress(&hop)[copy] as usize;
            self.send(now, line, priority, Some(due), (frame, hop.stream), frames, out);
        }
        if copies == 0 {
            let judge = self.judges[hop.ingress as usize];
            self.discard(judge, frame, hop.stream, DiscardReason::UnknownStream, frames, out);
        }
    }

    /// One turn of the schedule table acts that goes by a clock.
    pub(super) fn act(&mut self, now: SimTime, clock: usize, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        if !self.is_entry_due(now, clock) {
            return;
        }
        let Some(due) = self.executor.act(clock) else { return };
        if let Some(frame) = due.frame {
            let priority = self.ways.hop(due.hop).priority;
            self.fan_out(now, Forwarded { frame, hop: due.hop, priority, due: now }, frames, out);
        }
        if due.missing {
            let hop = self.ways.hop(due.hop);
            let event = Event::of(EventKind::Missing, hop.stream, due.cycle as u64);
            out.push(MediumOutput::Event { node: self.judges[hop.ingress as usize], event, frame: None });
        }
        self.ask_for_entry(now, clock, out);
    }
}
