//! Sends one message after the other in pieces.

use chronoseal_core::{Duration, LocalTime};
use chronoseal_wire::can::iso_tp::{FlowControl, FlowStatus, Pdu, PduError};

use super::FRAME_DATA_LEN_MAX;
use super::config::{ConfigError, SenderConfig, Transfer};
use super::event::{Events, Output, SendAbort, SendError, SendEvent, SendIgnored};

/// One sending end.
#[derive(Clone, Debug)]
pub struct Sender {
    config: SenderConfig,
    active: Option<Sending>,
    events: Events<SendEvent>,
}

/// A message on its way.
#[derive(Clone, Debug)]
struct Sending {
    message: Vec<u8>,
    /// How much of it has been handed over `[byte]`.
    sent: usize,
    /// Frames that have been handed over.
    frames: u64,
    /// Of the next consecutive frame.
    sequence_number: u8,
    /// Consecutive frames until the next flow control frame; `None` for no limit.
    block_left: Option<u8>,
    separation: Duration,
    /// Waits in a row.
    waits: u8,
    phase: Phase,
    /// A flow control frame that came before the driver said that its cause had left.
    early: Option<Result<FlowControl, u8>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// The next frame is handed over at this time.
    Due(LocalTime),
    /// A frame was handed over and has not left.
    Leaving { handed_over: LocalTime, deadline: LocalTime },
    /// The receiver has to answer.
    AwaitsFlowControl { deadline: LocalTime },
}

impl Sender {
    /// A sender without a message.
    ///
    /// # Errors
    /// [`ConfigError`] says which parameter cannot be used.
    pub fn new(config: SenderConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self { config, active: None, events: Events::new() })
    }

    /// True while no message is on its way.
    pub const fn is_idle(&self) -> bool {
        self.active.is_none()
    }

    /// The longest message [`Self::send`] takes `[byte]`.
    pub const fn message_len_max(&self) -> usize {
        match self.config.transfer {
            Transfer::SingleFrame => self.config.format.single_len_max(),
            Transfer::FlowControlled { .. } | Transfer::PacedBroadcast { .. } => u32::MAX as usize,
        }
    }

    /// Begins to send `message`.
    ///
    /// # Errors
    /// [`SendError`] if it cannot be sent, or not yet.
    pub fn send(&mut self, now: LocalTime, message: Vec<u8>) -> Result<(), SendError> {
        if self.active.is_some() {
            return Err(SendError::Busy);
        }
        let (len, len_max) = (message.len(), self.message_len_max());
        if len == 0 {
            return Err(SendError::Empty);
        }
        if len > len_max {
            return Err(SendError::TooLong { len, len_max });
        }
        self.active = Some(Sending {
            message,
            sent: 0,
            frames: 0,
            sequence_number: 1,
            // After the first frame the receiver has to answer.
            block_left: Some(0),
            separation: Duration::ZERO,
            waits: 0,
            phase: Phase::Due(now),
            early: None,
        });
        Ok(())
    }

    /// Forgets the message that is on its way, without an event.
    pub fn cancel(&mut self) {
        self.active = None;
    }

    /// Takes the data of a frame from the peer. All but flow control frames are left to the [`Receiver`](super::Receiver).
    pub fn handle_frame(&mut self, now: LocalTime, data: &[u8]) {
        self.expire(now);
        let answer = match Pdu::parse(data, self.config.peer_address) {
            Ok(Pdu::FlowControl(control)) => Ok(control),
            Err(PduError::ReservedFlowStatus(status)) => Err(status),
            _ => return,
        };
        let is_flow_controlled = matches!(self.config.transfer, Transfer::FlowControlled { .. });
        match &mut self.active {
            Some(Sending { phase: Phase::AwaitsFlowControl { .. }, .. }) => self.take_flow_control(now, answer),
            Some(sending) if is_flow_controlled && sending.is_leaving_with_answer_due() => sending.early = Some(answer),
            _ => self.events.push(SendEvent::Ignored(SendIgnored::UnexpectedFlowControl)),
        }
    }

    /// The frame handed over last has left. Without N_As there is nothing to say.
    pub fn handle_transmitted(&mut self, now: LocalTime) {
        self.expire(now);
        if let Some(Sending { phase: Phase::Leaving { handed_over, .. }, .. }) = self.active {
            self.frame_left(now, handed_over);
        }
    }

    /// The next effect. The data of a frame are written to the front of `data`.
    pub fn poll(&mut self, now: LocalTime, data: &mut [u8; FRAME_DATA_LEN_MAX]) -> Output<SendEvent> {
        self.expire(now);
        if let Some(event) = self.events.pop() {
            return Output::Event(event);
        }
        let Some(sending) = &mut self.active else { return Output::Timeout(None) };
        match sending.phase {
            Phase::Due(at) if at <= now => {
                let len = sending.next_frame(&self.config, data);
                match self.config.n_as {
                    Some(n_as) => sending.phase = Phase::Leaving { handed_over: now, deadline: now + n_as },
                    None => self.frame_left(now, now),
                }
                Output::Frame(len)
            }
            Phase::Due(at) | Phase::Leaving { deadline: at, .. } | Phase::AwaitsFlowControl { deadline: at } => {
                Output::Timeout(Some(at))
            }
        }
    }

    /// What comes after a frame that was handed over and has left.
    fn frame_left(&mut self, now: LocalTime, handed_over: LocalTime) {
        let Some(sending) = &mut self.active else { return };
        if sending.sent == sending.message.len() {
            let event = SendEvent::Sent { message_len: sending.message.len(), frames: sending.frames };
            self.active = None;
            self.events.push(event);
            return;
        }
        match self.config.transfer {
            Transfer::FlowControlled { n_bs, .. } if sending.block_left == Some(0) => {
                sending.phase = Phase::AwaitsFlowControl { deadline: now + n_bs };
                if let Some(answer) = sending.early.take() {
                    self.take_flow_control(now, answer);
                }
            }
            // A message of a single frame has ended above.
            Transfer::FlowControlled { .. } | Transfer::SingleFrame => {
                sending.phase = Phase::Due(now + sending.separation);
            }
            Transfer::PacedBroadcast { separation } => sending.phase = Phase::Due(handed_over + separation),
        }
    }

    /// Takes the answer it awaits.
    fn take_flow_control(&mut self, now: LocalTime, answer: Result<FlowControl, u8>) {
        let Transfer::FlowControlled { n_bs, waits_max } = self.config.transfer else { return };
        let Some(sending) = &mut self.active else { return };
        match answer {
            Ok(FlowControl { status: FlowStatus::ContinueToSend, block_size, separation_time }) => {
                sending.waits = 0;
                sending.block_left = (block_size > 0).then_some(block_size);
                sending.separation = separation_time.duration();
                sending.phase = Phase::Due(now);
            }
            Ok(FlowControl { status: FlowStatus::Wait, .. }) if sending.waits < waits_max => {
                sending.waits += 1;
                sending.phase = Phase::AwaitsFlowControl { deadline: now + n_bs };
            }
            Ok(FlowControl { status: FlowStatus::Wait, .. }) => self.abort(SendAbort::TooManyWaits),
            Ok(FlowControl { status: FlowStatus::Overflow, .. }) => self.abort(SendAbort::Overflow),
            Err(status) => self.abort(SendAbort::InvalidFlowStatus(status)),
        }
    }

    /// Gives the message up if a deadline has passed.
    fn expire(&mut self, now: LocalTime) {
        match self.active.as_ref().map(|sending| sending.phase) {
            Some(Phase::Leaving { deadline, .. }) if deadline <= now => self.abort(SendAbort::NotTransmitted),
            Some(Phase::AwaitsFlowControl { deadline }) if deadline <= now => self.abort(SendAbort::FlowControlMissing),
            _ => {}
        }
    }

    fn abort(&mut self, reason: SendAbort) {
        self.active = None;
        self.events.push(SendEvent::Aborted(reason));
    }
}

impl Sending {
    /// True if the frame that is leaving asks for an answer.
    fn is_leaving_with_answer_due(&self) -> bool {
        matches!(self.phase, Phase::Leaving { .. }) && self.block_left == Some(0) && self.sent < self.message.len()
    }

    /// Writes the next frame and counts it as handed over.
    fn next_frame(&mut self, config: &SenderConfig, data: &mut [u8; FRAME_DATA_LEN_MAX]) -> usize {
        let format = &config.format;
        let rest = &self.message[self.sent..];
        let (pdu, taken) = if self.sent > 0 {
            let taken = rest.len().min(format.consecutive_len());
            let pdu = Pdu::Consecutive { sequence_number: self.sequence_number, data: &rest[..taken] };
            self.sequence_number = (self.sequence_number + 1) % 16;
            self.block_left = self.block_left.map(|left| left.saturating_sub(1));
            (pdu, taken)
        } else if rest.len() <= format.single_len_max() {
            (Pdu::Single { data: rest }, rest.len())
        } else {
            let message_len = u32::try_from(rest.len()).expect("`send` refuses what is longer");
            let taken = format.first_len(message_len);
            (Pdu::First { message_len, data: &rest[..taken] }, taken)
        };
        let len = pdu.emit(format, data);
        self.sent += taken;
        self.frames += 1;
        len
    }
}
