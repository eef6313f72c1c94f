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

use chronoseal_core::{Duration, LocalTime, PortId, Priority, Queue, Ring, Transmit, TxToken};
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
    queue: Ring<Outgoing, OUTBOX_LEN>,
    transport: Transport,
}

impl Outbox {
    pub(crate) const fn new(transport: Transport) -> Self {
        Self { queue: Ring::new(), transport }
    }

    pub(crate) const fn has_room(&self) -> bool {
        self.queue.has_room()
    }

    /// Queues a message; false if there is no room. With `wants_token` the driver says when its last frame left.
    pub(crate) fn push(&mut self, identifier: Identifier, message: Text, wants_token: bool) -> bool {
        if !self.has_room() {
            return false;
        }
        self.queue.push(Outgoing { identifier, message, sent: 0, wants_token });
        true
    }

    pub(crate) fn clear(&mut self) {
        self.queue.clear();
    }

    /// Writes the next frame.
    pub(crate) fn poll(&mut self, now: LocalTime, port: PortId, frame: &mut [u8]) -> Option<Transmit> {
        let outgoing = self.queue.front_mut()?;
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
            self.queue.pop();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identifier::ExchangeId;

    const SHARE: Identifier =
        ExchangeId { first: Address(1), second: Address(2), result: Address(9) }.message(Step::ShareFirst);

    fn at(ms: i64) -> LocalTime {
        LocalTime::ZERO + Duration::from_ms(ms)
    }

    fn frames(message: &[u8], transport: Transport) -> Vec<Vec<u8>> {
        let mut outbox = Outbox::new(transport);
        assert!(outbox.push(SHARE, Text::of(&[message]), true));
        let mut bytes = [0; 72];
        let mut frames = vec![];
        while let Some(transmit) = outbox.poll(at(0), PortId(0), &mut bytes) {
            frames.push(bytes[..transmit.len].to_vec());
            // Only the last frame bears the token.
            assert_eq!(transmit.token.is_some(), outbox.queue.is_empty());
        }
        frames
    }

    #[test]
    fn messages_of_every_length_come_through_both_transports() {
        for transport in Transport::ALL {
            for len in 1..=120 {
                let message: Vec<u8> = (0..len as u8).collect();
                let mut inbox = Inbox::new(transport);
                let mut whole = None;
                for frame in frames(&message, transport) {
                    let (identifier, data) = protocol_frame(&frame, transport).unwrap();
                    assert!(whole.is_none());
                    whole = inbox.push(identifier, data, len, at(0)).unwrap();
                }
                assert_eq!(whole.unwrap().as_bytes(), message);
            }
        }
    }

    #[test]
    fn a_share_of_p_256_takes_one_fd_frame_of_48_or_five_classical_ones() {
        let fd = frames(&[7; 33], Transport::Fd);
        assert_eq!(fd.len(), 1);
        assert_eq!(protocol_frame(&fd[0], Transport::Fd).unwrap().1.len(), 48);
        assert_eq!(frames(&[7; 33], Transport::Classical).len(), 5);
    }

    #[test]
    fn refuses_pieces_of_another_length() {
        for (transport, right, wrong) in [(Transport::Classical, 8, 7), (Transport::Fd, 32, 24)] {
            let mut inbox = Inbox::new(transport);
            assert_eq!(inbox.push(SHARE, &[0; 64][..wrong], 32, at(0)).err(), Some(WrongPiece));
            assert!(inbox.push(SHARE, &[0; 64][..right], 32, at(0)).is_ok());
        }
    }

    #[test]
    fn begins_anew_after_a_pause_or_a_new_request() {
        let mut inbox = Inbox::new(Transport::Classical);
        for number in 0..3 {
            assert!(inbox.push(SHARE, &[1; 8], 32, at(number)).unwrap().is_none());
        }
        // The fourth piece was lost; after the pause the message comes again from its beginning.
        for number in 0..4 {
            let whole = inbox.push(SHARE, &[2; 8], 32, at(1000 + number)).unwrap();
            assert_eq!(whole.map(|message| message.as_bytes().to_vec()), (number == 3).then(|| vec![2; 32]));
        }
        assert!(inbox.push(SHARE, &[1; 8], 32, at(2000)).unwrap().is_none());
        inbox.forget_exchange(Address(9));
        for number in 0..4 {
            assert_eq!(inbox.push(SHARE, &[3; 8], 32, at(2001)).unwrap().is_some(), number == 3);
        }
    }

    #[test]
    fn other_traffic_is_none_of_its_business() {
        let standard = CanFrame::classical(CanId::standard(0x123).unwrap(), &[0; 8]).unwrap();
        let reserved = CanFrame::classical(CanId::extended(0x18da_f110).unwrap(), &[0; 8]).unwrap();
        let fd = CanFrame::fd(SHARE.can_id(), &[0; 32], true).unwrap();
        for frame in [standard, reserved, fd] {
            let mut bytes = [0; 72];
            let len = frame.emit(&mut bytes);
            assert!(protocol_frame(&bytes[..len], Transport::Classical).is_none());
        }
        assert!(protocol_frame(&[1, 2, 3], Transport::Classical).is_none());
    }

    #[test]
    fn a_full_table_gives_up_the_message_that_waited_longest() {
        let mut inbox = Inbox::new(Transport::Classical);
        let share = |number: u8| Identifier { first: Address(number), ..SHARE };
        for number in 0..=INBOX_LEN as u8 {
            assert!(inbox.push(share(number), &[1; 8], 16, at(i64::from(number))).unwrap().is_none());
        }
        assert!(inbox.push(share(1), &[1; 8], 16, at(30)).unwrap().is_some());
        assert!(inbox.push(share(0), &[1; 8], 16, at(30)).unwrap().is_none());
    }
}
