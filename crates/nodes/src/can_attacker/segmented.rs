//! An attacker on messages in several frames: to its victim it is a sender like any other.

use std::collections::VecDeque;

use chronoseal_core::{
    AttackKind, Command, Duration, Event, EventKind, HandleError, Input, LocalTime, Node, NodeBase, Output, PortId,
    Priority, Transmit, TxToken,
};
use chronoseal_wire::can::{CanFrame, CanFrameView, Dlc};

use crate::can_station::SegmentedConfig;
use crate::segmentation::{
    FRAME_DATA_LEN_MAX, Output as Piece, ReceiveEvent, Receiver, ReceiverConfig, Reception, Sender,
};

/// What an attacker is made from.
#[derive(Clone, Debug)]
pub struct SegmentedAttackerConfig {
    /// The stream it attacks, as its own sender cuts it.
    pub stream: SegmentedConfig,
    /// The message it makes up, whose first four bytes are counted up so that no two are alike; `None`: it repeats the first
    /// message that it hears from its start on.
    pub spoofed: Option<Vec<u8>>,
    /// Its first attempt, from the start of the run.
    pub start: Duration,
    /// Distance of two attempts, at least: one begins when the one before is over.
    pub every: Duration,
    /// Attempts at most.
    pub count: u32,
}

/// An attacker. It sends whole messages and answers to the receiver's flow control, and spoils by that what the true sender
/// has on its way.
pub struct SegmentedAttacker {
    config: SegmentedAttackerConfig,
    sender: Sender,
    /// Puts together what it hears, and answers nothing.
    ear: Receiver,
    message: Option<Vec<u8>>,
    attempts: u32,
    due: Option<LocalTime>,
    starts_at: LocalTime,
    base: NodeBase<VecDeque<Event>>,
}

/// Of every frame; there is one on its way at a time.
const TOKEN: u64 = 1;

impl SegmentedAttacker {
    /// An attacker that waits for [`Command::Start`].
    ///
    /// # Panics
    /// Never: the stream's configuration was checked when it was made.
    pub fn new(config: SegmentedAttackerConfig) -> Self {
        let sender = Sender::new(config.stream.sender()).expect("the configuration was checked when it was made");
        let ear = ReceiverConfig {
            reception: Reception::PacedBroadcast,
            message_len_max: u32::MAX,
            ..config.stream.receiver()
        };
        let ear = Receiver::new(ear).expect("the configuration was checked when it was made");
        let message = config.spoofed.clone();
        let base = NodeBase::new(0..1).giving_tokens();
        let starts_at = LocalTime::ZERO;
        Self { config, sender, ear, message, attempts: 0, due: None, starts_at, base }
    }

    fn hear(&mut self, now: LocalTime, bytes: &[u8]) {
        let Ok(view) = CanFrameView::new_checked(bytes) else { return };
        if view.id() == self.config.stream.flow_control() {
            self.sender.handle_frame(now, view.data());
        }
        if view.id() != self.config.stream.id() || self.message.is_some() || now < self.starts_at {
            return;
        }
        self.ear.handle_frame(now, view.data());
        let mut data = [0; FRAME_DATA_LEN_MAX];
        loop {
            match self.ear.poll(now, &mut data) {
                Piece::Event(ReceiveEvent::Received(message)) => self.message = Some(message),
                Piece::Timeout(_) => return,
                _ => {}
            }
        }
    }

    /// Begins an attempt, if it is time and there is something to say.
    fn begin(&mut self, now: LocalTime) -> Option<Event> {
        let due = self.due.filter(|due| *due <= now && self.attempts < self.config.count && self.sender.is_idle())?;
        self.due = Some(due.max(now - self.config.every) + self.config.every);
        let mut message = self.message.clone()?;
        let kind = match self.config.spoofed {
            Some(_) => {
                let counted = self.attempts.to_be_bytes();
                let len = message.len().min(counted.len());
                message[..len].copy_from_slice(&counted[counted.len() - len..]);
                AttackKind::Spoof
            }
            None => AttackKind::Replay,
        };
        self.sender.send(now, message).ok()?;
        let attempt = u64::from(self.attempts);
        self.attempts += 1;
        Some(Event::of(EventKind::Attacked(kind), self.config.stream.stream(), attempt))
    }
}

impl Node for SegmentedAttacker {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.base.admit(now, &input)?;
        match input {
            Input::Command(Command::Start) => {
                self.starts_at = now + self.config.start;
                self.due = Some(self.starts_at);
            }
            Input::Command(_) => {
                self.due = None;
                self.sender.cancel();
            }
            Input::Frame { bytes, .. } => self.hear(now, bytes),
            Input::Transmitted { token, .. } | Input::Dropped { token } if token.id() != TOKEN => {
                return Err(HandleError::UnknownToken(token.id()));
            }
            Input::Transmitted { .. } => self.sender.handle_transmitted(now),
            Input::Dropped { .. } => self.sender.cancel(),
            _ => {}
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, buffer: &mut [u8]) -> Output {
        if let Some(output) = self.base.next(now, buffer) {
            return output;
        }
        let mut data = [0; FRAME_DATA_LEN_MAX];
        loop {
            match self.sender.poll(now, &mut data) {
                Piece::Frame(len) => {
                    let config = &self.config.stream;
                    let dlc = Dlc::holding(len).expect("no frame of a segmented message has more than 64 bytes");
                    let len = CanFrame::new(config.id(), config.kind(), dlc, &data[..len]).emit(buffer);
                    let token = Some(TxToken::new(TOKEN));
                    let (port, priority) = (PortId(0), Priority(0));
                    return Output::Transmit(Transmit { port, priority, launch_at: now, len, token });
                }
                Piece::Event(_) => {}
                Piece::Timeout(wakes_at) => {
                    if let Some(event) = self.begin(now) {
                        return Output::Event(event);
                    }
                    // Without a message it waits for one, and while it sends for the end of that.
                    let waits = self.attempts < self.config.count && self.sender.is_idle() && self.message.is_some();
                    let due = self.due.filter(|_| waits);
                    return Output::Timeout(wakes_at.into_iter().chain(due).min());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::can_station::SegmentedTimeouts;
    use chronoseal_core::StreamId;
    use chronoseal_wire::can::iso_tp::{Pdu, SeparationTime};
    use chronoseal_wire::can::{CanId, FrameKind};

    fn id(raw: u16) -> CanId {
        CanId::standard(raw).expect("11 bits")
    }

    fn stream() -> SegmentedConfig {
        let ids = [id(0x6a0), id(0x6a8)];
        let timeouts = SegmentedTimeouts::default();
        SegmentedConfig::new(StreamId(3), ids, FrameKind::Classical, 0, SeparationTime::ZERO, timeouts)
            .expect("one second is above zero")
    }

    /// Everything an attacker sends to a receiver that hears a true message of `message` first.
    fn received(spoofed: Option<Vec<u8>>, message: &[u8]) -> Vec<Vec<u8>> {
        let (start, every) = (Duration::from_ms(1), Duration::from_ms(5));
        let mut attacker =
            SegmentedAttacker::new(SegmentedAttackerConfig { stream: stream(), spoofed, start, every, count: 2 });
        let mut receiver = Receiver::new(stream().receiver()).expect("it was checked");
        let mut sender = Sender::new(stream().sender()).expect("it was checked");
        attacker.handle_input(LocalTime::ZERO, Input::Command(Command::Start)).expect("time runs forwards");
        let (mut buffer, mut data, mut whole) = ([0; 1536], [0; FRAME_DATA_LEN_MAX], Vec::new());
        for ms in 2..40 {
            let now = LocalTime::ZERO + Duration::from_ms(ms);
            if ms == 2 {
                sender.send(now, message.to_vec()).expect("it is idle");
            }
            let heard = |attacker: &mut SegmentedAttacker, id, data: &[u8]| {
                let frame = CanFrame::classical(id, data).expect("8 bytes fit");
                let mut bytes = [0; 72];
                let len = frame.emit(&mut bytes);
                let input = Input::Frame { port: PortId(0), rx_at: now, bytes: &bytes[..len] };
                attacker.handle_input(now, input).expect("port 0 is there");
            };
            while let Piece::Frame(len) = sender.poll(now, &mut data) {
                receiver.handle_frame(now, &data[..len]);
                heard(&mut attacker, id(0x6a0), &data[..len]);
                sender.handle_transmitted(now);
            }
            loop {
                match attacker.poll_output(now, &mut buffer) {
                    Output::Transmit(transmit) => {
                        let view = CanFrameView::new_checked(&buffer[..transmit.len]).expect("a frame");
                        receiver.handle_frame(now, view.data());
                        let token = transmit.token.expect("it wants to know");
                        attacker.handle_input(now, Input::Transmitted { token, tx_at: now }).expect("its own token");
                    }
                    Output::Timeout(_) => break,
                    _ => {}
                }
            }
            loop {
                match receiver.poll(now, &mut data) {
                    Piece::Frame(len) => {
                        assert!(matches!(Pdu::parse(&data[..len], None), Ok(Pdu::FlowControl(_))));
                        sender.handle_frame(now, &data[..len]);
                        heard(&mut attacker, id(0x6a8), &data[..len]);
                    }
                    Piece::Event(ReceiveEvent::Received(message)) => whole.push(message),
                    Piece::Event(_) => {}
                    Piece::Timeout(_) => break,
                }
            }
        }
        whole
    }

    #[test]
    fn a_made_up_message_is_whole_and_no_two_are_alike() {
        let message = b"a message that is long enough".to_vec();
        let whole = received(Some(vec![0x5a; 30]), &message);
        // The first is begun while the true message is on its way, and what comes of the two is neither.
        let spoofed: Vec<_> = whole.iter().filter(|message| message[4..] == [0x5a; 26]).collect();
        assert_eq!(spoofed.iter().map(|message| message[3]).collect::<Vec<_>>(), [1]);
        assert!(!whole.contains(&message), "{whole:?}");
    }

    #[test]
    fn a_message_that_was_heard_is_repeated() {
        let message = b"a message that is long enough".to_vec();
        assert_eq!(received(None, &message), vec![message; 3]);
    }
}
