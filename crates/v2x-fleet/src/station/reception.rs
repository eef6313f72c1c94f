//! From a frame to a message that can be believed, or a reason.

use std::sync::Arc;

use chronoseal_core::{DiscardReason, Event, EventKind, LocalTime, Output, StreamId, Work};
use chronoseal_v2x::types::Time64;
use chronoseal_v2x::verify::{CheckedMessage, ResultCode};

use super::table::{Content, Frame, MessageKind};
use super::{ItsStation, discard_reason, verify_operation};

/// A message that was taken, for whoever stands above.
#[derive(Clone, Debug)]
pub struct ReceivedMessage {
    /// Its stream, as in events.
    pub stream: StreamId,
    /// Its number, as in events.
    pub sequence: u64,
    /// When its last bit came in.
    pub rx_at: LocalTime,
    /// The frame it came in, with what it says.
    pub frame: Arc<Frame>,
}

/// A frame on its way through the checks.
#[derive(Debug, Default)]
pub(super) struct Reception {
    step: Step,
    rx_at: LocalTime,
    bytes: Vec<u8>,
}

#[derive(Debug, Default)]
enum Step {
    #[default]
    Idle,
    Arrived,
    /// So many of its signatures are to be charged yet.
    Verifying {
        frame: Arc<Frame>,
        checked: Arc<CheckedMessage>,
        charged: usize,
    },
}

impl Reception {
    pub(super) fn arrive(&mut self, rx_at: LocalTime, bytes: &[u8]) {
        self.step = Step::Arrived;
        self.rx_at = rx_at;
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn is_idle(&self) -> bool {
        matches!(self.step, Step::Idle)
    }
}

/// What is next for a frame.
enum Next {
    Take(Arc<Frame>),
    Refuse(DiscardReason),
    Verify(Arc<Frame>, Arc<CheckedMessage>),
}

impl ItsStation {
    /// The next step of a reception; nothing to say means that it is over, or that its event is told.
    pub(super) fn receive(&mut self, now: LocalTime) -> Option<Output> {
        let rx_at = self.reception.rx_at;
        let next = match std::mem::take(&mut self.reception.step) {
            Step::Idle => return None,
            Step::Arrived if now - rx_at > self.config.wait_max => Next::Refuse(DiscardReason::WaitedTooLong),
            Step::Arrived => self.examine(rx_at),
            Step::Verifying { frame, checked, charged } => match checked.jobs().get(charged) {
                Some(job) => {
                    let work = Work::of(verify_operation(job.curve()), frame.bytes().len() as u32);
                    self.reception.step = Step::Verifying { frame, checked, charged: charged + 1 };
                    return Some(Output::Work(work));
                }
                None => self.conclude(rx_at, frame, &checked),
            },
        };
        match next {
            Next::Verify(frame, checked) => {
                self.reception.step = Step::Verifying { frame, checked, charged: 0 };
                None
            }
            Next::Refuse(reason) => {
                let sequence = self.counts.next_discarded();
                Some(Output::Event(Event::of(EventKind::Discarded(reason), StreamId::NONE, sequence)))
            }
            Next::Take(frame) => Some(Output::Event(self.take(rx_at, frame))),
        }
    }

    /// Everything but signatures.
    fn examine(&mut self, rx_at: LocalTime) -> Next {
        let now = Time64(self.tai_us(rx_at));
        let mut table = self.table.lock();
        let entry = table.entry(&self.reception.bytes);
        // What it has said itself is news to nobody, whoever repeats it.
        if self.said.contains(&entry.hash) {
            return Next::Refuse(DiscardReason::Replayed);
        }
        let (frame, verifier) = (Arc::clone(&entry.frame), self.credentials.verifier());
        match (&mut entry.secured, verifier) {
            (Some(message), Some(verifier)) => match verifier.check(message, now, None) {
                (checked, ResultCode::Success) => Next::Verify(frame, checked),
                (_, code) => Next::Refuse(discard_reason(code).unwrap_or(DiscardReason::Malformed)),
            },
            (_, Some(_)) if !frame.is_secured() => Next::Refuse(match frame.content() {
                Ok(_) => DiscardReason::Unsecured,
                Err(reason) => reason,
            }),
            (_, None) if !frame.is_secured() => admit(frame),
            _ => Next::Refuse(DiscardReason::NotExpectedSecured),
        }
    }

    /// The signatures, and what is learned from a good message.
    fn conclude(&mut self, rx_at: LocalTime, frame: Arc<Frame>, checked: &CheckedMessage) -> Next {
        let now = Time64(self.tai_us(rx_at));
        let code = self.credentials.verifier().map(|verifier| verifier.conclude(checked, now));
        match code.and_then(discard_reason) {
            Some(reason) => Next::Refuse(reason),
            None => admit(frame),
        }
    }

    fn take(&mut self, rx_at: LocalTime, frame: Arc<Frame>) -> Event {
        // What says nothing that is known is not taken.
        let kind = frame.content().map_or(MessageKind::Cam, Content::kind);
        let (stream, sequence) = (self.config.streams[kind.index()], self.counts.next_delivered(kind));
        if let (Some(heard), Ok(Content::Cam(cam))) = (&mut self.heard, frame.content()) {
            heard.note(rx_at, cam);
        }
        if self.config.received_max > 0 {
            if self.received.len() == self.config.received_max {
                self.received.pop_front();
            }
            self.received.push_back(ReceivedMessage { stream, sequence, rx_at, frame });
        }
        Event::of(EventKind::Delivered, stream, sequence)
    }
}

/// A good frame is taken if it says something that is known here.
fn admit(frame: Arc<Frame>) -> Next {
    match frame.content() {
        Ok(_) => Next::Take(frame),
        Err(reason) => Next::Refuse(reason),
    }
}
