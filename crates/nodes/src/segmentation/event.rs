//! What a sender and a receiver say.

use std::collections::VecDeque;

use chronoseal_core::LocalTime;
use chronoseal_wire::can::iso_tp::PduError;

/// What `poll` gives back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output<E> {
    /// Send the data just written, so many bytes.
    Frame(usize),
    /// Something happened.
    Event(E),
    /// Nothing until this time, or until the next input if `None`.
    Timeout(Option<LocalTime>),
}

/// Why a message is not accepted for sending.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The message before has not ended.
    #[error("the message before is still being sent")]
    Busy,
    /// There is nothing to send.
    #[error("an empty message cannot be sent")]
    Empty,
    /// Above what a first frame can announce, or a single frame hold where only that may be sent.
    #[error("a message of {len} bytes cannot be sent, at most {len_max} can")]
    TooLong {
        /// Of the message `[byte]`.
        len: usize,
        /// At most `[byte]`.
        len_max: usize,
    },
}

/// What happened at a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SendEvent {
    /// Every frame of the message left. With flow control the receiver has asked for all of them; that it has them is
    /// not known.
    Sent {
        /// Of the message `[byte]`.
        message_len: usize,
        /// Single, first and consecutive frames.
        frames: u64,
    },
    /// The message was given up.
    Aborted(SendAbort),
    /// A flow control frame changes nothing.
    Ignored(SendIgnored),
}

/// Why a message was given up by its sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SendAbort {
    /// N_TIMEOUT_A: a frame did not leave within N_As.
    NotTransmitted,
    /// N_TIMEOUT_Bs: no flow control frame came within N_Bs.
    FlowControlMissing,
    /// N_INVALID_FS: the receiver's flow status is reserved.
    InvalidFlowStatus(u8),
    /// N_BUFFER_OVFLW: the message is longer than the receiver takes.
    Overflow,
    /// The receiver asked to wait more often than it may.
    TooManyWaits,
}

/// Why a frame changes nothing at a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SendIgnored {
    /// A flow control frame while none is awaited.
    UnexpectedFlowControl,
}

/// What happened at a receiver.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ReceiveEvent {
    /// A whole message.
    Received(Vec<u8>),
    /// A message was announced, or came in a single frame, that is longer than this receiver takes.
    Refused {
        /// Of the message `[byte]`.
        message_len: u32,
        /// What this receiver takes `[byte]`.
        message_len_max: u32,
    },
    /// A message that had begun was given up.
    Aborted {
        /// Why.
        reason: ReceiveAbort,
        /// What had come of it `[byte]`.
        received: usize,
    },
    /// A frame changes nothing.
    Ignored(ReceiveIgnored),
}

/// Why a message was given up by its receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ReceiveAbort {
    /// N_UNEXP_PDU: a single or first frame began another message.
    Interrupted,
    /// N_WRONG_SN: a frame was lost, doubled or came out of order.
    WrongSequenceNumber {
        /// What would have been next.
        expected: u8,
        /// What came.
        found: u8,
    },
    /// A consecutive frame is longer than the first frame, or too short for what is left of the message.
    WrongFrameLength {
        /// The least it has to have `[byte]`.
        expected: usize,
        /// What it has `[byte]`.
        found: usize,
    },
    /// N_TIMEOUT_Cr: no consecutive frame came within N_Cr.
    ConsecutiveFrameMissing,
    /// N_WFT_OVRN: this receiver was busy for more waits than WFTmax.
    TooManyWaits,
}

/// Why a frame changes nothing at a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ReceiveIgnored {
    /// It is nothing of the protocol.
    Malformed(PduError),
    /// A consecutive frame while none is awaited.
    UnexpectedConsecutiveFrame,
    /// A first frame where only single frames may come.
    SegmentedMessage,
}

/// Most events that are kept for a driver that does not poll.
const EVENTS_MAX: usize = 16;

/// Events that wait to be polled.
#[derive(Clone, Debug)]
pub(super) struct Events<E>(VecDeque<E>);

impl<E> Events<E> {
    pub(super) const fn new() -> Self {
        Self(VecDeque::new())
    }

    /// A driver polls after every input, of which none makes more than two events; for one that does not, the oldest
    /// goes.
    pub(super) fn push(&mut self, event: E) {
        if self.0.len() == EVENTS_MAX {
            self.0.pop_front();
        }
        self.0.push_back(event);
    }

    pub(super) fn pop(&mut self) -> Option<E> {
        self.0.pop_front()
    }
}
