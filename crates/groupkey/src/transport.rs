//! Messages to frames and back.
//!
//! # Segmentation
//! A message longer than a frame is cut into frames under one and the same identifier, first bytes first, none numbered:
//! the 64, 32 and 32 bytes of a request and two shares leave no room for a number in 8, 4 and 4 classical frames, and
//! the four bits of the step say too much to be spent on one. That is sound because CAN keeps the order of the frames of
//! one identifier, and every receiver knows a message's length from its step. Only the last frame may be shorter; on FD
//! it is filled up to the next length there is (33 bytes of a P-256 share travel in 48). A frame that is lost leaves
//! a message unfinished: it is dropped when the next request for its exchange comes or after a pause of
//! [`GAP_MAX`], and its exchange runs into its timeout.

use chronoseal_core::{Duration, LocalTime, PortId, Priority, Transmit, TxToken};
use chronoseal_wire::can::{CanFrame, CanId, Dlc, FrameKind};

use crate::identifier::{Address, Identifier, Step};
use crate::profile::Transport;
use crate::text::Text;

/// Longest pause between two frames of one message.
pub const GAP_MAX: Duration = Duration::from_ms(200);

/// Messages that wait to be sent.
const OUTBOX_LEN: usize = 16;
/// Messages that can be on their way at once.
const INBOX_LEN: usize = 24;

struct Outgoing {
    identifier: Identifier,
    message: Text,
    sent: usize,
    wants_token: bool,
}

/// Messages to send, cut into frames.
pub(crate) struct Outbox {
    queue: [Option<Outgoing>; OUTBOX_LEN],
    head: usize,
    len: usize,
    transport: Transport,
}

impl Outbox {
    pub(crate) const fn new(transport: Transport) -> Self {
        Self { queue: [const { None }; OUTBOX_LEN], head: 0, len: 0, transport }
    }

    pub(crate) const fn has_room(&self) -> bool {
        self.len < OUTBOX_LEN
    }

    /// Queues a message; false if there is no room. With `wants_token` the driver says when its last frame left.
    pub(crate) fn push(&mut self, identifier: Identifier, message: Text, wants_token: bool) -> bool {
        if !self.has_room() {
            return false;
        }
        let tail = (self.head + self.len) % OUTBOX_LEN;
        self.queue[tail] = Some(Outgoing { identifier, message, sent: 0, wants_token });
        self.len += 1;
        true
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.transport);
    }

    /// Writes the next frame.
    pub(crate) fn poll(&mut self, now: LocalTime, port: PortId, frame: &mut [u8]) -> Option<Transmit> {
        let outgoing = self.queue[self.head].as_mut()?;
        let message = outgoing.message.as_bytes();
        let end = message.len().min(outgoing.sent + self.transport.data_len_max());
        let piece = &message[outgoing.sent..end];
        let kind = match self.transport {
            Transport::Classical => FrameKind::Classical,
            Transport::Fd => FrameKind::Fd { brs: true, esi: false },
        };
        let dlc = Dlc::holding(piece.len()).expect("a piece is no longer than a frame");
        let len = CanFrame::new(outgoing.identifier.can_id(), kind, dlc, piece).emit(frame);
        outgoing.sent = end;
        let is_last = end == message.len();
        let id = u64::from(outgoing.identifier.can_id().raw());
        let token = (is_last && outgoing.wants_token).then(|| TxToken::new(id));
        if is_last {
            self.queue[self.head] = None;
            self.head = (self.head + 1) % OUTBOX_LEN;
            self.len -= 1;
        }
        Some(Transmit { port, priority: PRIORITY, launch_at: now, len, token })
    }
}

/// On the bus the identifier decides; in the node these frames queue as protocol control.
const PRIORITY: Priority = Priority::PROTOCOL_CONTROL;

/// A frame that is no piece of the message it claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WrongPiece;

struct Incoming {
    identifier: Identifier,
    message: Text,
    last_at: LocalTime,
}

/// Messages being put together.
pub(crate) struct Inbox {
    messages: [Option<Incoming>; INBOX_LEN],
    transport: Transport,
}

impl Inbox {
    pub(crate) const fn new(transport: Transport) -> Self {
        Self { messages: [const { None }; INBOX_LEN], transport }
    }

    /// A frame of a message of `len` bytes; the message, once it is whole.
    pub(crate) fn push(
        &mut self,
        identifier: Identifier,
        data: &[u8],
        len: usize,
        rx_at: LocalTime,
    ) -> Result<Option<Text>, WrongPiece> {
        let is_open = |incoming: &Incoming| incoming.identifier == identifier;
        let found = self.messages.iter().position(|slot| slot.as_ref().is_some_and(is_open));
        let slot = found.unwrap_or_else(|| self.room(rx_at));
        let is_stale = self.messages[slot]
            .as_ref()
            .is_none_or(|incoming| incoming.identifier != identifier || rx_at - incoming.last_at > GAP_MAX);
        if is_stale {
            self.messages[slot] = Some(Incoming { identifier, message: Text::EMPTY, last_at: rx_at });
        }
        let incoming = self.messages[slot].as_mut().ok_or(WrongPiece)?;
        let due = (len - incoming.message.len()).min(self.transport.data_len_max());
        let expected = match self.transport {
            Transport::Classical => Some(due),
            Transport::Fd => Dlc::holding(due).map(Dlc::fd_len),
        };
        if expected != Some(data.len()) {
            self.messages[slot] = None;
            return Err(WrongPiece);
        }
        incoming.message.append(data, len);
        incoming.last_at = rx_at;
        let is_whole = incoming.message.len() == len;
        Ok(if is_whole { self.messages[slot].take().map(|incoming| incoming.message) } else { None })
    }

    /// A free slot, or else the one that has waited longest.
    fn room(&self, now: LocalTime) -> usize {
        let idle = |slot: &Option<Incoming>| slot.as_ref().map_or(Duration::MAX, |incoming| now - incoming.last_at);
        (0..INBOX_LEN).max_by_key(|index| idle(&self.messages[*index])).unwrap_or(0)
    }

    /// Drops what was collected of the shares and confirmations that result in `result`.
    pub(crate) fn forget_exchange(&mut self, result: Address) {
        for slot in &mut self.messages {
            let is_part = |incoming: &Incoming| {
                let identifier = incoming.identifier;
                identifier.result == result && !matches!(identifier.step, Step::Orchestration | Step::Start)
            };
            if slot.as_ref().is_some_and(is_part) {
                *slot = None;
            }
        }
    }
}

/// The protocol frame in a driver's bytes: identifier and data, or `None` if it belongs to something else.
pub(crate) fn protocol_frame(bytes: &[u8], transport: Transport) -> Option<(Identifier, &[u8])> {
    let view = chronoseal_wire::can::CanFrameView::new_checked(bytes).ok()?;
    let fits = match transport {
        Transport::Classical => view.kind() == FrameKind::Classical,
        Transport::Fd => view.kind().is_fd(),
    };
    match view.id() {
        CanId::Extended(id) if fits => Identifier::from_can_id(id).map(|identifier| (identifier, view.data())),
        _ => None,
    }
}
