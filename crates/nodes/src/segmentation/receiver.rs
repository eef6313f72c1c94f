//! Puts messages together again, one at a time.

use chronoseal_core::LocalTime;
use chronoseal_wire::can::iso_tp::{FlowControl, FlowStatus, Pdu, PduError, SeparationTime};

use super::FRAME_DATA_LEN_MAX;
use super::config::{ConfigError, ReceiverConfig, Reception};
use super::event::{Events, Output, ReceiveAbort, ReceiveEvent, ReceiveIgnored};

/// One receiving end.
///
/// It holds at most one message of [`ReceiverConfig::message_len_max`] bytes, and takes memory as bytes come, not as
/// a first frame announces them.
#[derive(Clone, Debug)]
pub struct Receiver {
    config: ReceiverConfig,
    active: Option<Receiving>,
    /// The sender of a message that is too long has to be told.
    refuses: bool,
    is_busy: bool,
    events: Events<ReceiveEvent>,
}

/// A message of which the first frame has come.
#[derive(Clone, Debug)]
struct Receiving {
    message: Vec<u8>,
    /// Of the whole message `[byte]`.
    message_len: usize,
    /// RX_DL: data of the first frame and so of every frame but the last `[byte]`.
    frame_len: usize,
    /// Of the next consecutive frame.
    sequence_number: u8,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// The sender has to be answered: by leave to go on as soon as this receiver is not busy, else at this time by a
    /// request to wait.
    AnswerDue { at: LocalTime, waits: u8 },
    /// Consecutive frames come: so many until the next answer, `None` for no limit.
    Consecutive { block_left: Option<u8>, deadline: LocalTime },
}

impl Receiver {
    /// A receiver that has heard nothing yet.
    ///
    /// # Errors
    /// [`ConfigError`] says which parameter cannot be used.
    pub fn new(config: ReceiverConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self { config, active: None, refuses: false, is_busy: false, events: Events::new() })
    }

    /// True while no message is half received.
    pub const fn is_idle(&self) -> bool {
        self.active.is_none()
    }

    /// While it is busy, a receiver with flow control asks its sender to wait at the next answer that is due.
    pub const fn set_busy(&mut self, is_busy: bool) {
        self.is_busy = is_busy;
    }

    /// Forgets the message that is half received, and what it has not said yet, without an event.
    pub fn cancel(&mut self) {
        (self.active, self.refuses) = (None, false);
        self.events = Events::new();
    }

    /// Takes the data of a frame from the peer. Flow control frames are left to the [`Sender`](super::Sender).
    pub fn handle_frame(&mut self, now: LocalTime, data: &[u8]) {
        self.expire(now);
        match Pdu::parse(data, self.config.peer_address) {
            Ok(Pdu::Single { data }) => {
                self.interrupt();
                // At most 62.
                match self.refusal(data.len() as u32) {
                    Some(refused) => self.events.push(refused),
                    None => self.events.push(ReceiveEvent::Received(data.to_vec())),
                }
            }
            Ok(Pdu::First { message_len, data: first }) => self.begin(now, message_len, data.len(), first),
            Ok(Pdu::Consecutive { sequence_number, data: part }) => {
                self.go_on(now, sequence_number, data.len(), part);
            }
            Ok(Pdu::FlowControl(_)) | Err(PduError::ReservedFlowStatus(_) | PduError::OtherAddress { .. }) => {}
            Err(error) => self.events.push(ReceiveEvent::Ignored(ReceiveIgnored::Malformed(error))),
        }
    }

    /// The next effect. The data of a frame are written to the front of `data`.
    pub fn poll(&mut self, now: LocalTime, data: &mut [u8; FRAME_DATA_LEN_MAX]) -> Output<ReceiveEvent> {
        self.expire(now);
        if let Some(len) = self.answer(now, data) {
            return Output::Frame(len);
        }
        if let Some(event) = self.events.pop() {
            return Output::Event(event);
        }
        Output::Timeout(self.active.as_ref().map(|receiving| match receiving.phase {
            Phase::AnswerDue { at, .. } => at,
            Phase::Consecutive { deadline, .. } => deadline,
        }))
    }

    /// A first frame of `frame_len` bytes.
    fn begin(&mut self, now: LocalTime, message_len: u32, frame_len: usize, first: &[u8]) {
        if self.config.reception == Reception::SingleFrame {
            self.events.push(ReceiveEvent::Ignored(ReceiveIgnored::SegmentedMessage));
            return;
        }
        self.interrupt();
        let is_flow_controlled = matches!(self.config.reception, Reception::FlowControlled { .. });
        if let Some(refused) = self.refusal(message_len) {
            self.refuses = is_flow_controlled;
            self.events.push(refused);
            return;
        }
        let phase = if is_flow_controlled {
            Phase::AnswerDue { at: now, waits: 0 }
        } else {
            Phase::Consecutive { block_left: None, deadline: now + self.config.n_cr }
        };
        self.active = Some(Receiving {
            message: first.to_vec(),
            message_len: message_len as usize,
            frame_len,
            sequence_number: 1,
            phase,
        });
    }

    /// A consecutive frame of `frame_len` bytes, which holds `part` and perhaps padding.
    fn go_on(&mut self, now: LocalTime, sequence_number: u8, frame_len: usize, part: &[u8]) {
        let Some(receiving) = &mut self.active else { return self.ignore_consecutive() };
        let Phase::Consecutive { block_left, .. } = receiving.phase else { return self.ignore_consecutive() };
        if sequence_number != receiving.sequence_number {
            let expected = receiving.sequence_number;
            return self.abort(ReceiveAbort::WrongSequenceNumber { expected, found: sequence_number });
        }
        let control_len = frame_len - part.len();
        let left = receiving.message_len - receiving.message.len();
        let expected = receiving.frame_len.min(control_len + left);
        if frame_len < expected || frame_len > receiving.frame_len {
            return self.abort(ReceiveAbort::WrongFrameLength { expected, found: frame_len });
        }
        receiving.message.extend_from_slice(&part[..left.min(part.len())]);
        receiving.sequence_number = (sequence_number + 1) % 16;
        if receiving.message.len() == receiving.message_len {
            let message = std::mem::take(&mut receiving.message);
            self.active = None;
            self.events.push(ReceiveEvent::Received(message));
            return;
        }
        let block_left = block_left.map(|left| left - 1);
        receiving.phase = match block_left {
            Some(0) => Phase::AnswerDue { at: now, waits: 0 },
            _ => Phase::Consecutive { block_left, deadline: now + self.config.n_cr },
        };
    }

    /// Writes the flow control frame that is due, if one is.
    fn answer(&mut self, now: LocalTime, data: &mut [u8; FRAME_DATA_LEN_MAX]) -> Option<usize> {
        let Reception::FlowControlled { block_size, separation_time, waits_max, wait_interval } = self.config.reception
        else {
            return None;
        };
        let format = &self.config.format;
        if std::mem::take(&mut self.refuses) {
            return Some(overflow().emit(format, data));
        }
        let receiving = self.active.as_mut()?;
        let Phase::AnswerDue { at, waits } = receiving.phase else { return None };
        let status = if !self.is_busy {
            let block_left = (block_size > 0).then_some(block_size);
            receiving.phase = Phase::Consecutive { block_left, deadline: now + self.config.n_cr };
            FlowStatus::ContinueToSend
        } else if now < at {
            return None;
        } else if waits < waits_max {
            receiving.phase = Phase::AnswerDue { at: now + wait_interval, waits: waits + 1 };
            FlowStatus::Wait
        } else {
            self.abort(ReceiveAbort::TooManyWaits);
            return None;
        };
        Some(Pdu::FlowControl(FlowControl { status, block_size, separation_time }).emit(format, data))
    }

    /// Why a message of this length is not taken.
    fn refusal(&self, message_len: u32) -> Option<ReceiveEvent> {
        let message_len_max = self.config.message_len_max;
        (message_len > message_len_max).then_some(ReceiveEvent::Refused { message_len, message_len_max })
    }

    fn ignore_consecutive(&mut self) {
        self.events.push(ReceiveEvent::Ignored(ReceiveIgnored::UnexpectedConsecutiveFrame));
    }

    /// Another message begins. What was half received is given up for it.
    fn interrupt(&mut self) {
        self.refuses = false;
        self.abort(ReceiveAbort::Interrupted);
    }

    /// Gives the message up if the next frame did not come in time.
    fn expire(&mut self, now: LocalTime) {
        if let Some(Receiving { phase: Phase::Consecutive { deadline, .. }, .. }) = self.active
            && deadline <= now
        {
            self.abort(ReceiveAbort::ConsecutiveFrameMissing);
        }
    }

    /// Gives up what is half received, if there is something.
    fn abort(&mut self, reason: ReceiveAbort) {
        if let Some(receiving) = self.active.take() {
            self.events.push(ReceiveEvent::Aborted { reason, received: receiving.message.len() });
        }
    }
}

/// The answer to a message that is too long.
const fn overflow() -> Pdu<'static> {
    Pdu::FlowControl(FlowControl { status: FlowStatus::Overflow, block_size: 0, separation_time: SeparationTime::ZERO })
}
