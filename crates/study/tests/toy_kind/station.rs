//! A station of the toy: sends its streams when they are due, tells of what it receives, and hands over what goes on.

use std::collections::VecDeque;

use chronoseal_core::{
    Command, DiscardReason, Duration, Event, EventKind, HandleError, Input, LocalTime, Node, NodeBase, Output, PortId,
    Priority, StreamId, Transmit,
};
use chronoseal_nodes::gateway::{HandOver, Mark, Pdu, SEQUENCE_LEN, Stack};

use crate::frame;

/// The one port of a station.
const PORT: PortId = PortId(0);

/// What a station is made from.
#[derive(Clone, Default)]
pub(crate) struct StationConfig {
    /// What begins here.
    pub(crate) talkers: Vec<Talker>,
    /// What comes in here.
    pub(crate) listeners: Vec<Listener>,
    /// What comes to the station's node on another segment and goes on from here: stream and number.
    pub(crate) relays: Vec<(StreamId, u8)>,
}

/// A stream that begins here.
#[derive(Clone)]
pub(crate) struct Talker {
    pub(crate) stream: StreamId,
    pub(crate) number: u8,
    pub(crate) period: Duration,
    /// When its first frame is due, from the start.
    pub(crate) offset: Duration,
    /// What it carries `[byte]`.
    pub(crate) len: usize,
}

/// A stream that comes in here.
#[derive(Clone)]
pub(crate) struct Listener {
    pub(crate) stream: StreamId,
    pub(crate) number: u8,
    /// True if this station uses it; false if it only hands it over.
    pub(crate) delivers: bool,
    /// What goes on from here.
    pub(crate) hands_over: HandOver,
}

/// A station, and what it has to do yet.
pub(crate) struct Station {
    config: StationConfig,
    /// Checks what the driver does, and keeps events until they are asked for.
    base: NodeBase<VecDeque<Event>>,
    /// By talker: when its next frame is due, and its number. `None` before the start and after the stop.
    due: Option<Vec<(LocalTime, u64)>>,
    /// What goes on from here and waits to be sent.
    waiting: VecDeque<(u8, Pdu)>,
    /// What came in and goes on elsewhere.
    handed: VecDeque<Pdu>,
    /// Where the frame sent last came from.
    sent: Option<Mark>,
}

impl Station {
    pub(crate) fn new(config: StationConfig) -> Self {
        Self {
            config,
            base: NodeBase::new(PORT.0..PORT.0 + 1),
            due: None,
            waiting: VecDeque::new(),
            handed: VecDeque::new(),
            sent: None,
        }
    }

    /// A bad frame is an event with a reason; it never stops a station.
    fn receive(&mut self, bytes: &[u8]) -> Event {
        let discarded = |reason| Event::of(EventKind::Discarded(reason), StreamId::NONE, 0);
        let Some((number, pdu)) = frame::parse(bytes) else { return discarded(DiscardReason::Malformed) };
        let Some(listener) = self.config.listeners.iter().find(|listener| listener.number == number) else {
            return discarded(DiscardReason::UnknownStream);
        };
        let (stream, sequence) = (listener.stream, sequence_of(pdu));
        let goes_on = match listener.hands_over {
            HandOver::Nothing => None,
            HandOver::Opened => Some(pdu),
            HandOver::Sealed { len } => pdu.get(..len),
        };
        if let Some(bytes) = goes_on {
            self.handed.push_back(Pdu { stream, sequence, bytes: bytes.to_vec(), mark: Mark::default() });
        }
        Event::of(if listener.delivers { EventKind::Delivered } else { EventKind::Relayed }, stream, sequence)
    }

    /// The next frame of the talker that is due first, if its time has come.
    fn talk(&mut self, now: LocalTime, buffer: &mut [u8]) -> Option<Output> {
        let dues = self.due.as_mut()?;
        let (index, (due, sequence)) = dues.iter().copied().enumerate().min_by_key(|(_, (due, _))| *due)?;
        if due > now {
            return None;
        }
        let talker = &self.config.talkers[index];
        dues[index] = (due + talker.period, sequence + 1);
        let mut pdu = vec![0; talker.len];
        let number_len = SEQUENCE_LEN.min(talker.len);
        pdu[..number_len].copy_from_slice(&sequence.to_be_bytes()[8 - number_len..]);
        let value = (now - due).as_ps();
        self.base.push(Event { value, ..Event::of(EventKind::Sent, talker.stream, sequence) });
        Some(transmit(talker.number, &pdu, now, buffer))
    }
}

impl Node for Station {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.base.admit(now, &input)?;
        match input {
            Input::Frame { bytes, .. } => {
                let event = self.receive(bytes);
                self.base.push(event);
            }
            Input::Command(Command::Start) => {
                self.due = Some(self.config.talkers.iter().map(|talker| (now + talker.offset, 0)).collect());
            }
            Input::Command(_) => self.due = None,
            // A wake-up, perhaps early or twice: whether something is due is looked at when it is polled.
            _ => {}
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, buffer: &mut [u8]) -> Output {
        if let Some(event) = self.base.next(now, buffer) {
            return event;
        }
        if self.due.is_none() {
            return Output::Timeout(None);
        }
        if let Some((number, pdu)) = self.waiting.pop_front() {
            self.sent = Some(pdu.mark);
            return transmit(number, &pdu.bytes, now, buffer);
        }
        match self.talk(now, buffer) {
            Some(output) => output,
            None => Output::Timeout(self.due.iter().flatten().map(|(due, _)| *due).min()),
        }
    }
}

/// What makes a station an interface of a gateway.
impl Stack for Station {
    fn take(&mut self) -> Option<Pdu> {
        self.handed.pop_front()
    }

    fn send(&mut self, _: LocalTime, pdu: Pdu) {
        let refused = |reason| Event::of(EventKind::Discarded(reason), pdu.stream, pdu.sequence);
        match self.config.relays.iter().find(|(stream, _)| *stream == pdu.stream) {
            None => self.base.push(refused(DiscardReason::UnknownStream)),
            Some(_) if pdu.bytes.len() > frame::PDU_LEN_MAX => self.base.push(refused(DiscardReason::TooLong)),
            Some((_, number)) => self.waiting.push_back((*number, pdu)),
        }
    }

    fn take_sent(&mut self) -> Option<Mark> {
        self.sent.take()
    }

    fn restart(&mut self, _: LocalTime) {
        self.base.clear();
        (self.due, self.sent) = (None, None);
        self.waiting.clear();
        self.handed.clear();
    }
}

fn transmit(number: u8, pdu: &[u8], now: LocalTime, buffer: &mut [u8]) -> Output {
    let len = frame::emit(number, pdu, buffer);
    Output::Transmit(Transmit { port: PORT, priority: Priority(0), launch_at: now, len, token: None })
}

/// The sequence number at the front of what a frame carries.
pub(crate) fn sequence_of(pdu: &[u8]) -> u64 {
    pdu.iter().take(SEQUENCE_LEN).fold(0, |value, byte| value << 8 | u64::from(*byte))
}
