//! From the last bit of a frame in a switch to its egress queues.

use chronoseal_core::{DiscardReason, Priority, SimTime, StreamId};
use chronoseal_wire::ethernet::{FCS_LEN, VlanTag};

use super::control;
use super::filter::{Admission, InTurn};
use super::forwarding::Forwarded;
use super::ways::HopId;
use super::{Network, Timer, time_aware};
use crate::line;
use crate::medium::{FrameId, FrameStore, MediumOutput};
use crate::port::priority_of;

impl Network {
    /// Spares a best-effort frame on its way to a switch the event of its arrival. False if it needs that.
    ///
    /// Whatever happens until then, it will be let in: its stream, its line and its length decide. A fixed forwarding
    /// delay is known now as well.
    #[inline(always)]
    pub(super) fn plan_forwarding(
        &mut self,
        line: usize,
        (frame, arrives_at): (FrameId, SimTime),
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) -> bool {
        let Some(delay) = self.fixed_delay else { return false };
        if self.impairments.may_take(line, arrives_at) {
            return false;
        }
        let judged = self.filter.judge(&self.config, &self.ways, line, frames.bytes(frame));
        let Ok(Admission::Stream(hop, tag)) = judged else { return false };
        let priority = self.queue_of(hop, tag);
        self.stamp_arrival(arrives_at, line, frame, frames);
        self.forward_at(line, Forwarded { frame, hop, priority, due: arrives_at + delay }, out);
        true
    }

    /// Writes on a frame when it came to the first switch on its way.
    #[inline(always)]
    fn stamp_arrival(&self, at: SimTime, line: usize, frame: FrameId, frames: &mut FrameStore) {
        if line < self.first_trunk_line {
            frames.label_mut(frame).arrived_at = Some(self.stamp(at, line, frame, frames));
        }
    }

    /// The last bit of a frame came in at a switch.
    pub(super) fn arrive(
        &mut self,
        now: SimTime,
        line: usize,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        self.stamp_arrival(now, line, frame, frames);
        if self.has_special && self.arrive_special(now, line, frame, frames, out) {
            return;
        }
        match self.filter.judge(&self.config, &self.ways, line, frames.bytes(frame)) {
            Err((reason, stream)) => self.discard(self.judges[line], frame, stream, reason, frames, out),
            Ok(Admission::Stream(hop, tag)) => {
                let Some((frame, priority)) = self.pass_guards(now, line, frame, (hop, tag), frames, out) else {
                    return;
                };
                self.forward(now, line, (frame, hop, priority), frames, out);
            }
            Ok(Admission::VirtualLink(hop)) => {
                let Some((frame, priority)) = self.pass_guards(now, line, frame, (hop, None), frames, out) else {
                    return;
                };
                // Lengths of virtual links count the checksum.
                let len = (frames.len_of(frame) + FCS_LEN as u64) as u32;
                if self.accounts[hop.index()].as_mut().is_none_or(|account| account.pays(now, len)) {
                    self.forward(now, line, (frame, hop, priority), frames, out);
                } else {
                    let stream = self.ways.hop(hop).stream;
                    self.discard(self.judges[line], frame, stream, DiscardReason::Policed, frames, out);
                }
            }
            Ok(Admission::Scheduled(hop)) => self.arrive_scheduled(now, line, (frame, hop), frames, out),
            Ok(Admission::Beacon) => {
                let due = self.due(now, line);
                // [SAE AS6802] the time in the switch is part of the delay that a relay causes.
                line::stamp_transparent_clock(frame, due - now, frames);
                let (hop, priority) = (HopId::BEACON, Priority::PROTOCOL_CONTROL);
                self.forward_at(line, Forwarded { frame, hop, priority, due }, out);
            }
        }
    }

    /// The priority by which a best-effort frame is queued unless a stream gate gives it another: what its tag says, or its class.
    #[inline(always)]
    fn queue_of(&self, hop: HopId, tag: Option<VlanTag>) -> Priority {
        tag.map_or(self.ways.hop(hop).priority, |tag| priority_of(tag.pcp))
    }

    /// Lets a frame that is let in pass the filters, gates and meters of its switch, and what takes one of several copies. Gives
    /// what goes on, by which priority it is queued; `None` if the frame was thrown away.
    #[inline(always)]
    fn pass_guards(
        &mut self,
        now: SimTime,
        line: usize,
        frame: FrameId,
        (hop, tag): (HopId, Option<VlanTag>),
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) -> Option<(FrameId, Priority)> {
        let mut passed = (frame, self.queue_of(hop, tag));
        if self.guards.is_some() {
            passed = self.filter_stream(now, line, passed, (hop, tag), frames, out)?;
        }
        // Recovery comes behind filters, gates and meters: IEEE 802.1CB-2017 §8.1.
        (self.recoveries.is_none() || self.recover(now, line, passed.0, hop, frames, out)).then_some(passed)
    }

    /// A scheduled frame is taken once in each of its turns, by the clock of the switch.
    fn arrive_scheduled(
        &mut self,
        now: SimTime,
        line: usize,
        (frame, hop): (FrameId, HopId),
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let InTurn { turn, cycle } = match self.in_turn(now, line, (hop, frames.len_of(frame))) {
            Ok(found) => found,
            Err(reason) => {
                let stream = self.ways.hop(hop).stream;
                return self.discard(self.judges[line], frame, stream, reason, frames, out);
            }
        };
        let Some((frame, priority)) = self.pass_guards(now, line, frame, (hop, None), frames, out) else { return };
        if !self.executor.take(turn, cycle) {
            let (reason, stream) = (DiscardReason::DuplicateInWindow, self.ways.hop(hop).stream);
            self.discard(self.judges[line], frame, stream, reason, frames, out);
        } else if self.config.waits_for_dispatch {
            self.executor.hold(turn, frame);
        } else {
            self.forward(now, line, (frame, hop, priority), frames, out);
        }
    }

    /// The turn of a scheduled frame of so many bytes that has just come in by a line.
    ///
    /// # Errors
    /// Why it has none.
    pub(super) fn in_turn(&self, now: SimTime, line: usize, (hop, len): (HopId, u64)) -> Result<InTurn, DiscardReason> {
        let shown = self.shown_behind(now, line).ok_or(DiscardReason::NotSynchronised)?;
        self.filter.window(&self.config, shown, hop, (line, len)).ok_or(DiscardReason::OutsideWindow)
    }

    /// What comes to a switch of a cluster that keeps its clocks together by itself, or by a link with keys. True if it ends there.
    #[cold]
    #[inline(never)]
    fn arrive_special(
        &mut self,
        now: SimTime,
        line: usize,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) -> bool {
        if let Err(reason) = self.unprotect(line, frame, frames) {
            let stream = self.stream_of(frames.bytes(frame)).unwrap_or(StreamId::NONE);
            self.discard(self.judges[line], frame, stream, reason, frames, out);
            return true;
        }
        if self.control.is_some() && control::is_control(frames.bytes(frame)) {
            self.arrive_control(now, line, frame, frames, out);
            return true;
        }
        if self.time_aware.is_some() && time_aware::is_message(frames.bytes(frame)) {
            self.arrive_time_message(now, line, frame, frames, out);
            return true;
        }
        false
    }

    /// When a frame that is in a switch now has been there for the forwarding delay.
    pub(super) fn due(&mut self, now: SimTime, line: usize) -> SimTime {
        let due = now + self.config.forwarding_delay;
        if self.config.forwarding_jitter.is_zero() {
            return due;
        }
        let switch = self.config.switch_behind(line).unwrap_or_default();
        self.forwarding.in_order(line, due + self.config.forwarding_jitter.sample(&mut self.rngs[switch]))
    }

    /// Passes a frame on after the forwarding delay.
    #[inline]
    fn forward(
        &mut self,
        now: SimTime,
        line: usize,
        (frame, hop, priority): (FrameId, HopId, Priority),
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let due = self.due(now, line);
        let passed = Forwarded { frame, hop, priority, due };
        if due == now && self.forwarding.is_empty(line) {
            return self.fan_out(now, passed, frames, out);
        }
        self.forward_at(line, passed, out);
    }

    /// Keeps a frame that came in by a line until it is passed on.
    #[inline(always)]
    pub(super) fn forward_at(&mut self, line: usize, passed: Forwarded, out: &mut Vec<MediumOutput>) {
        self.forwarding.keep(line, passed);
        out.push(MediumOutput::Timer { at: passed.due, timer: Timer::ForwardingDone(line).pack() });
    }
}
