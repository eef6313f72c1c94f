//! The frames of one class that wait.

use std::collections::VecDeque;

use chronoseal_core::SimTime;

use crate::line::Offer;

/// A frame in a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) offer: Offer,
    /// It may not leave before.
    pub(super) eligible: SimTime,
}

/// Frames in the order in which they may leave, and those that may leave at one time in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Queue {
    frames: VecDeque<Waiting>,
    /// All of them `[byte]`.
    bytes: u64,
}

impl Queue {
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    #[inline]
    pub(super) fn first(&self) -> Option<&Waiting> {
        self.frames.front()
    }

    pub(super) fn push(&mut self, waiting: Waiting) {
        self.bytes += waiting.offer.len;
        if self.frames.back().is_none_or(|last| last.eligible <= waiting.eligible) {
            return self.frames.push_back(waiting);
        }
        let later = self.frames.iter().rev().take_while(|other| other.eligible > waiting.eligible).count();
        self.frames.insert(self.frames.len() - later, waiting);
    }

    /// Puts a frame in front of all others, from where it was taken.
    pub(super) fn put_back(&mut self, waiting: Waiting) {
        self.bytes += waiting.offer.len;
        self.frames.push_front(waiting);
    }

    pub(super) fn pop(&mut self) -> Option<Waiting> {
        let first = self.frames.pop_front()?;
        self.bytes -= first.offer.len;
        Some(first)
    }
}
