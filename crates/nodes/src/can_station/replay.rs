//! A recording that a station plays over and over.

use chronoseal_core::LocalTime;
use chronoseal_wire::can::CanFrame;

use super::config::ReplayConfig;

/// One recording and how far it has come.
pub(super) struct Replay {
    pub(super) config: ReplayConfig,
    next: usize,
    round: i64,
    /// Frames played so far.
    sent: u64,
}

impl Replay {
    pub(super) const fn new(config: ReplayConfig) -> Self {
        Self { config, next: 0, round: 0, sent: 0 }
    }

    /// When its next frame is due; `None` if it has none.
    pub(super) fn due(&self, started_at: LocalTime) -> Option<LocalTime> {
        let (at, _) = self.config.frames.get(self.next)?;
        Some(started_at + self.config.start + self.config.length * self.round + *at)
    }

    /// The frame that is next, which there has to be, and its number.
    pub(super) fn take(&mut self) -> (CanFrame, u64) {
        let frame = self.config.frames[self.next].1;
        let number = self.sent;
        self.sent += 1;
        self.next += 1;
        if self.next == self.config.frames.len() {
            self.next = 0;
            self.round += 1;
        }
        (frame, number)
    }
}
