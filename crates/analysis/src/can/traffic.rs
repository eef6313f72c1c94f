//! Messages as identifiers, lengths and periods, and what protection makes of them.

use chronoseal_core::Duration;
use chronoseal_wire::can::{BitTiming, CanId, Dlc, FrameKind};

use super::response_time::Message;

/// Which frames carry a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Classical frames of up to 8 bytes.
    Classical,
    /// FD frames of up to 64 bytes, filled up to the next length there is.
    Fd {
        /// Bit rate switch: the data phase is sent at the data bit rate.
        brs: bool,
    },
}

impl Format {
    /// The most data a frame carries `[byte]`.
    pub const fn len_max(self) -> usize {
        match self {
            Self::Classical => 8,
            Self::Fd { .. } => 64,
        }
    }

    const fn kind(self) -> FrameKind {
        match self {
            Self::Classical => FrameKind::Classical,
            Self::Fd { brs } => FrameKind::Fd { brs, esi: false },
        }
    }
}

/// A message by what a designer writes down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Traffic {
    /// Its identifier.
    pub id: CanId,
    /// What carries it.
    pub format: Format,
    /// Its data `[byte]`.
    pub len: usize,
    /// Least distance of two instances.
    pub period: Duration,
    /// How much later than its event a frame can be queued, at most.
    pub jitter: Duration,
    /// From the event to the last bit, at most.
    pub deadline: Duration,
}

/// Data that no frame of its format holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("message {id}: {len} bytes do not fit a frame, which holds {len_max}; shorten it, or use FD frames")]
pub struct TrafficError {
    /// Of which message.
    pub id: CanId,
    /// Its data, protection included `[byte]`.
    pub len: usize,
    /// The most its format holds `[byte]`.
    pub len_max: usize,
}

impl Traffic {
    /// The same message with `overhead` bytes of freshness value and authenticator behind its data.
    ///
    /// # Errors
    /// [`TrafficError`] if that is more than a frame holds: protection does not split messages.
    pub fn secured(self, overhead: usize) -> Result<Self, TrafficError> {
        let secured = Self { len: self.len.saturating_add(overhead), ..self };
        secured.frame_len().map(|_| secured)
    }

    /// What it asks of a bus with these bits: the longest frame, worst stuffing and interframe space included.
    ///
    /// # Errors
    /// [`TrafficError`] if its data is more than a frame holds.
    pub fn message(&self, timing: &BitTiming) -> Result<Message, TrafficError> {
        let wire_time = timing.worst_case_occupancy(self.id.is_extended(), self.format.kind(), self.frame_len()?);
        let Self { id, period, jitter, deadline, .. } = *self;
        Ok(Message { id, wire_time, period, jitter, deadline })
    }

    /// The frame's data, filled up to a length there is `[byte]`.
    fn frame_len(&self) -> Result<usize, TrafficError> {
        let len_max = self.format.len_max();
        let dlc = Dlc::holding(self.len).filter(|_| self.len <= len_max);
        dlc.map(Dlc::fd_len).ok_or(TrafficError { id: self.id, len: self.len, len_max })
    }
}
