//! Frames between their last bit in and their egress queue.

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

/// All of them, each in a place of its own, which is used again after it.
#[derive(Default)]
pub(super) struct Forwarding {
    places: Vec<Option<Forwarded>>,
    free: Vec<u32>,
}

impl Forwarding {
    /// Keeps a frame. Returns its place.
    #[inline(always)]
    pub(super) fn keep(&mut self, frame: Forwarded) -> usize {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = Some(frame);
                place as usize
            }
            None => {
                self.places.push(Some(frame));
                self.places.len() - 1
            }
        }
    }

    /// Takes the frame at a place, if there is one.
    #[inline(always)]
    pub(super) fn take(&mut self, place: usize) -> Option<Forwarded> {
        let frame = self.places[place].take()?;
        self.free.push(place as u32);
        Some(frame)
    }
}
