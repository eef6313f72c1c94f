//! Frames between their last bit in and their egress queue.

use std::collections::VecDeque;

use chronoseal_core::{SimTime, StreamId};

use crate::medium::FrameId;

/// A frame that is to be passed on.
#[derive(Clone, Copy)]
pub(super) struct Forwarded {
    pub(super) frame: FrameId,
    pub(super) stream: StreamId,
    /// When.
    pub(super) due: SimTime,
}

/// All of them, by the port they came in at: the earliest first, and those of one instant in the order in which they came
/// in. The switch takes them port by port, so that frames of one instant are ordered by where they come from and then by
/// their sequence, and by nothing that depends on what was in the switch before.
pub(super) struct Forwarding {
    ports: Vec<VecDeque<Forwarded>>,
}

impl Forwarding {
    /// None yet, at so many ports.
    pub(super) fn new(ports: usize) -> Self {
        Self { ports: (0..ports).map(|_| VecDeque::new()).collect() }
    }

    /// Keeps a frame that came in at `port`.
    #[inline(always)]
    pub(super) fn keep(&mut self, port: usize, frame: Forwarded) {
        let frames = &mut self.ports[port];
        // With a random part in the delay a frame can be due before one that came in earlier.
        let later = frames.iter().rev().take_while(|other| other.due > frame.due).count();
        frames.insert(frames.len() - later, frame);
    }

    /// Takes the next frame of a port that is due by `now`.
    #[inline(always)]
    pub(super) fn take(&mut self, port: usize, now: SimTime) -> Option<Forwarded> {
        let frames = &mut self.ports[port];
        if frames.front()?.due > now {
            return None;
        }
        frames.pop_front()
    }
}
