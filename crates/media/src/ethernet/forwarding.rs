//! Frames between their last bit in and their egress queue.

use std::collections::VecDeque;

use chronoseal_core::{Priority, SimTime};

use super::ways::HopId;
use crate::medium::FrameId;

/// A frame that is to be passed on.
#[derive(Clone, Copy)]
pub(super) struct Forwarded {
    pub(super) frame: FrameId,
    /// Which of the switches on its way has it.
    pub(super) hop: HopId,
    /// The priority by which it is queued, if it is of a stream.
    pub(super) priority: Priority,
    /// When.
    pub(super) due: SimTime,
}

/// [`Forwarded`] in two words, which a processor moves through its registers: as three it would be written to memory in pieces
/// and read back at once as a whole, which waits for the pieces.
#[derive(Clone, Copy)]
struct Kept {
    what: u64,
    due: SimTime,
}

impl Kept {
    #[inline(always)]
    fn new(Forwarded { frame, hop, priority, due }: Forwarded) -> Self {
        let place = hop.0 | u32::from(priority.0) << HopId::BITS;
        Self { what: u64::from(frame.0) << 32 | u64::from(place), due }
    }

    #[inline(always)]
    fn unpack(self) -> Forwarded {
        let place = self.what as u32;
        let (hop, priority) = (HopId(place & HopId::BEACON.0), Priority((place >> HopId::BITS) as u8));
        Forwarded { frame: FrameId((self.what >> 32) as u32), hop, priority, due: self.due }
    }
}

/// All of them, by the line they came in by: the earliest first, and those of one instant in the order in which they came
/// in. The switches take them line by line, so that frames of one instant are ordered by where they come from and then by
/// their sequence, and by nothing that depends on what was in a switch before.
pub(super) struct Forwarding {
    lines: Vec<VecDeque<Kept>>,
}

impl Forwarding {
    /// None yet, on so many lines.
    pub(super) fn new(lines: usize) -> Self {
        Self { lines: (0..lines).map(|_| VecDeque::new()).collect() }
    }

    /// Keeps a frame that came in by `line`, or is coming in there.
    #[inline(always)]
    pub(super) fn keep(&mut self, line: usize, frame: Forwarded) {
        let frames = &mut self.lines[line];
        if frames.back().is_none_or(|last| last.due <= frame.due) {
            frames.push_back(Kept::new(frame));
        } else {
            Self::keep_before(frames, Kept::new(frame));
        }
    }

    /// What will have come in is known before it has, and before a frame in front of it is judged.
    #[cold]
    fn keep_before(frames: &mut VecDeque<Kept>, frame: Kept) {
        let later = frames.iter().rev().take_while(|other| other.due > frame.due).count();
        frames.insert(frames.len() - later, frame);
    }

    /// When a frame is passed on that came in by `line` and could be `due` alone: not before those that came in there earlier,
    /// however long each of them takes.
    #[inline]
    pub(super) fn in_order(&self, line: usize, due: SimTime) -> SimTime {
        self.lines[line].back().map_or(due, |last| due.max(last.due))
    }

    /// True if nothing that came in by `line` is kept.
    #[inline]
    pub(super) fn is_empty(&self, line: usize) -> bool {
        self.lines[line].is_empty()
    }

    /// Takes the next frame of a line that is due by `now`.
    #[inline(always)]
    pub(super) fn take(&mut self, line: usize, now: SimTime) -> Option<Forwarded> {
        let frames = &mut self.lines[line];
        if frames.front()?.due > now {
            return None;
        }
        frames.pop_front().map(Kept::unpack)
    }
}

#[cfg(test)]
mod tests {
    use chronoseal_core::Duration;

    use super::*;
    use crate::medium::{FrameLabel, FrameStore};

    #[test]
    fn frames_leave_by_time_and_those_of_one_instant_in_the_order_they_came() {
        let mut frames = FrameStore::new();
        let mut forwarding = Forwarding::new(1);
        let due_us = [10, 30, 20, 20, 5, 30];
        let came: Vec<_> = due_us.map(|us| (us, frames.allocate(FrameLabel::default()))).to_vec();
        for (us, frame) in &came {
            let due = SimTime::ZERO + Duration::from_us(*us);
            forwarding.keep(0, Forwarded { frame: *frame, hop: HopId(0), priority: Priority(0), due });
        }
        let end = SimTime::ZERO + Duration::from_us(30);
        assert!(forwarding.take(0, SimTime::ZERO + Duration::from_us(4)).is_none(), "nothing is due yet");
        let left: Vec<_> = core::iter::from_fn(|| forwarding.take(0, end)).map(|one| one.frame).collect();
        assert_eq!(left, [4, 0, 2, 3, 1, 5].map(|index| came[index].1));
        assert!(forwarding.is_empty(0));
    }
}
