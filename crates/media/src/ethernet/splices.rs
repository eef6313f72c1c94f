//! Frames in the hands of attackers on the links of stations.

use std::collections::{BTreeMap, VecDeque};

use chronoseal_core::{DiscardReason, PortId, Priority, SimTime, StreamId};

use super::{Network, NetworkConfig, Seat, Splice, Timer};
use crate::medium::{Attachment, FrameId, FrameLabel, FrameStore, MediumOutput};

/// The first bytes of a frame: where it goes.
type Destination = [u8; 6];

/// So many frames that came to an attacker are known again when they go on.
const CAME_MAX: usize = 1024;

/// What networks remember of attackers on the links of stations.
#[derive(Debug)]
pub(super) struct Splices {
    /// The last priority that stations gave to frames that attackers on their links hand on, by link and address.
    priorities: BTreeMap<(usize, Destination), Priority>,
    /// By link: the last piece of wire behind an attacker at its end.
    ends: BTreeMap<usize, WireEnd>,
}

/// The last piece of a wire, from an attacker into the switch.
///
/// It carries one frame at a time, as the whole wire does. What came over the wire and goes on was on this piece while it came: it is in the
/// switch at once, and waits only for what was put in beside. The same goes for what is put in before it at that instant, since the
/// attacker saw it coming. All else that is put in begins when the attacker sends it.
#[derive(Debug, Default)]
struct WireEnd {
    /// When the last frame came.
    came_at: Option<SimTime>,
    /// Its length, until a frame that is no longer has gone on in its place `[byte]`.
    came_len: Option<u64>,
    /// So many frames came and did not go on at their instant.
    kept: u32,
    /// The last frames that came and have not gone on as they were, with their bytes.
    came: VecDeque<(FrameLabel, Vec<u8>)>,
    /// The wire is free again after the frames that were put in, and after those that just passed.
    free_at: Option<SimTime>,
    passed_until: Option<SimTime>,
    /// Frames that wait for the wire, or are on it, in their order.
    waiting: VecDeque<FrameId>,
    waiting_bytes: u64,
}

impl WireEnd {
    /// The frame that goes on with these bytes: of several the last if it passes as it came, else the first that was kept.
    fn take_same(&mut self, bytes: &[u8], passes: bool) -> Option<FrameLabel> {
        let is_same = |(_, came): &(FrameLabel, Vec<u8>)| came == bytes;
        let place = if passes { self.came.iter().rposition(is_same) } else { self.came.iter().position(is_same) }?;
        self.came.remove(place).map(|(label, _)| label)
    }
}

impl Splices {
    pub(super) fn new(config: &NetworkConfig) -> Self {
        let behind = config.splices.iter().filter(|splice| splice.seat == Seat::BehindWire);
        Self { priorities: BTreeMap::new(), ends: behind.map(|splice| (splice.victim, WireEnd::default())).collect() }
    }

    fn note(&mut self, splice: &Splice, priority: Priority, bytes: &[u8]) {
        if let Some(destination) = bytes.first_chunk().filter(|_| splice.keeps_priorities) {
            self.priorities.insert((splice.victim, *destination), priority);
        }
    }

    /// The priority that the frame of an attacker has in the port of its victim, which has `own` to give.
    pub(super) fn priority(&self, splice: &Splice, own: Priority, bytes: &[u8]) -> Priority {
        let noted = bytes.first_chunk().and_then(|destination| self.priorities.get(&(splice.victim, *destination)));
        noted.copied().unwrap_or(own)
    }
}

impl Network {
    /// A frame of a station comes to the attacker in front of its wire.
    #[cold]
    pub(super) fn intercept(
        &mut self,
        now: SimTime,
        splice: &Splice,
        priority: Priority,
        frame: FrameId,
        frames: &FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        self.splices.note(splice, priority, frames.bytes(frame));
        let to = Attachment { node: splice.attacker, port: PortId(0) };
        out.push(MediumOutput::Deliver { to, frame, departed_at: now });
    }

    /// Gives a frame that has come to the end of a line to the attacker there, protected, if the link has keys. False if nobody is there.
    #[inline]
    pub(super) fn come_to_attacker(
        &mut self,
        now: SimTime,
        line: usize,
        (frame, departed_at): (FrameId, SimTime),
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) -> bool {
        if self.splices.ends.is_empty() || !line.is_multiple_of(2) {
            return false;
        }
        let is_there = |splice: &&Splice| splice.victim == line / 2 && splice.seat == Seat::BehindWire;
        let Some(&splice) = self.config.splices.iter().find(is_there) else { return false };
        // Packet numbers rise in the order in which frames leave.
        if let Err(reason) = self.protect(splice.victim, frame, frames) {
            self.discard(self.judges[line], frame, StreamId::NONE, reason, frames, out);
            return true;
        }
        if let Some(end) = self.splices.ends.get_mut(&splice.victim) {
            (end.came_at, end.came_len) = (Some(now), Some(frames.len_of(frame)));
            end.kept += 1;
            if end.came.len() == CAME_MAX {
                end.came.pop_front();
            }
            end.came.push_back((*frames.label(frame), frames.bytes(frame).to_vec()));
        }
        let to = Attachment { node: splice.attacker, port: PortId(0) };
        out.push(MediumOutput::Deliver { to, frame, departed_at });
        true
    }

    /// An attacker at the end of a line lets a frame go.
    #[cold]
    pub(super) fn send_behind_wire(
        &mut self,
        now: SimTime,
        line: usize,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let len = frames.len_of(frame);
        let speed = *self.lines[line].speed();
        let speed = if self.sec_ys.contains_key(&(line / 2)) { speed.with_protected_frames() } else { speed };
        let Some(end) = self.splices.ends.get_mut(&(line / 2)) else { return };
        let is_answer = end.came_at == Some(now);
        let passes = is_answer && end.came_len.take_if(|longest| len <= *longest).is_some();
        let goes_on = passes || !is_answer && end.kept > 0;
        end.kept -= u32::from(goes_on);
        // What came was sent at the other end, in time to be here now.
        let at_once = if is_answer || goes_on { now - speed.reception(len) } else { now };
        let label = frames.label(frame);
        let same = if label.attack.is_none() { end.take_same(frames.bytes(frame), passes) } else { None };
        // What was changed was sent when it came.
        let changed = end.came.back().filter(|_| passes).map(|(came, _)| came.sent_at);
        let label = frames.label_mut(frame);
        label.sent_at = same.map(|came| came.sent_at).or(changed).unwrap_or(at_once);
        if let Some(came) = same {
            // It is the frame that came, and has come over the wire as that.
            label.serial = came.serial;
        }
        let free_at = if passes { end.free_at } else { end.free_at.max(end.passed_until) };
        let starts_at = free_at.map_or(at_once, |free_at| free_at.max(at_once));
        let arrives_at = starts_at + speed.reception(len);
        if starts_at > now && end.waiting_bytes + len > self.config.queue_len_max {
            let stream = self.stream_of(frames.bytes(frame)).unwrap_or(StreamId::NONE);
            return self.discard(self.judges[line], frame, stream, DiscardReason::QueueFull, frames, out);
        }
        let until = if passes && starts_at == at_once { &mut end.passed_until } else { &mut end.free_at };
        *until = (*until).max(Some(starts_at + speed.occupancy(len)));
        if arrives_at > now {
            end.waiting.push_back(frame);
            end.waiting_bytes += len;
            let timer = Timer::LineArrival(self.lines.len() + line / 2).pack();
            out.push(MediumOutput::Timer { at: arrives_at, timer });
        }
        if !goes_on {
            self.count(line, true);
        }
        if arrives_at == now {
            self.arrive_from_attacker(now, line, frame, frames, out);
        }
    }

    /// The last bit of a frame comes into the switch that an attacker let go and that had to wait for the wire. `place` is that of its
    /// link behind all lines.
    #[cold]
    pub(super) fn come_from_attacker(
        &mut self,
        now: SimTime,
        place: usize,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let link = place - self.lines.len();
        let Some(end) = self.splices.ends.get_mut(&link) else { return };
        let Some(frame) = end.waiting.pop_front() else { return };
        end.waiting_bytes -= frames.len_of(frame);
        self.arrive_from_attacker(now, 2 * link, frame, frames, out);
    }

    fn arrive_from_attacker(
        &mut self,
        now: SimTime,
        line: usize,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        if now < self.impairments.down_from()[line / 2] {
            return self.arrive(now, line, frame, frames, out);
        }
        let stream = self.stream_of(frames.bytes(frame)).unwrap_or(StreamId::NONE);
        self.discard(self.judges[line], frame, stream, DiscardReason::LinkDown, frames, out);
    }
}
