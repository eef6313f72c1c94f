//! Messages of a station that are longer than a frame: what it sends in pieces, and what it puts together again.
//!
//! A stream has a [`Sender`] at the station that sends it and a [`Receiver`] at the one that takes it. What protects a
//! message covers the whole of it: it is sealed before it is cut, and opened when all of it is there. Nothing of a frame is
//! believed beyond what the transfer itself needs.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use chronoseal_core::{DiscardReason, Event, EventKind, LocalTime, Output, StreamId, TransferFault, TxToken};
use chronoseal_wire::can::iso_tp::Pdu;
use chronoseal_wire::can::{CanFrame, CanId, Dlc, FrameKind};

use super::config::SegmentedConfig;
use super::listener::discard;
use super::transmit;
use crate::gateway::{Mark, number_of};
use crate::segmentation::{
    FRAME_DATA_LEN_MAX, Output as Piece, ReceiveAbort, ReceiveEvent, ReceiveIgnored, Receiver, ReceiverConfig,
    SendAbort, SendEvent, SendIgnored, Sender,
};

/// In tokens of frames of a segmented message, and in no others. The one of relays is above it.
const TOKEN_BIT: u64 = 1 << 62;
/// Below it stands the channel, above it the life.
const CHANNEL_BITS: u32 = 16;
/// So many messages of one stream that begins here wait for the one before them.
const WAITING_MAX: usize = 16;

/// The segmented streams of a station.
pub(super) struct Segmented {
    outgoing: Vec<Outgoing>,
    incoming: Vec<Incoming>,
    /// The channel of each stream that is sent.
    channel_of: BTreeMap<StreamId, usize>,
    /// What is to be done, in order.
    effects: VecDeque<Effect>,
    wakes_at: Option<LocalTime>,
    is_running: bool,
    /// Tokens of earlier lives are nobody's any more.
    life: u64,
    /// Messages of relays that have left, or never will, and have not been asked for.
    released: usize,
}

/// One message to be sent.
pub(super) struct Message {
    /// Which of its stream.
    pub(super) sequence: u64,
    /// What it comes from.
    pub(super) origin: Origin,
}

/// What a message comes from.
#[derive(Clone, Copy)]
pub(super) enum Origin {
    /// This station, for which it was due at a time.
    Own(LocalTime),
    /// Another segment.
    Relayed(Mark),
}

struct Outgoing {
    config: SegmentedConfig,
    sender: Sender,
    waiting: VecDeque<(Message, Vec<u8>)>,
    /// The message on its way, and whether its first frame has left the station.
    active: Option<(Message, bool)>,
}

struct Incoming {
    config: SegmentedConfig,
    listener: usize,
    receiver: Receiver,
    /// The number at the front of the message that is half there.
    sequence: u64,
}

enum Effect {
    Tell(Event),
    Answer(CanFrame),
    Whole { listener: usize, message: Vec<u8> },
}

/// What comes of the segmented streams next.
pub(super) enum Next {
    /// An output, and where its frame comes from if that is another segment.
    Output(Output, Option<Mark>),
    /// A message is there, all of it.
    Whole { listener: usize, message: Vec<u8> },
}

impl Segmented {
    /// Channels for the streams that `listens` knows no listener for: those are sent here. It gives the listener and what
    /// a message has at most `[byte]`.
    pub(super) fn new(configs: Vec<SegmentedConfig>, listens: impl Fn(StreamId) -> Option<(usize, usize)>) -> Self {
        let (mut outgoing, mut incoming, mut channel_of) = (Vec::new(), Vec::new(), BTreeMap::new());
        for config in configs {
            match listens(config.stream()) {
                Some((listener, len_max)) => incoming.push(Incoming::new(config, listener, len_max)),
                None => {
                    channel_of.insert(config.stream(), outgoing.len());
                    outgoing.push(Outgoing::new(config));
                }
            }
        }
        Self {
            outgoing,
            incoming,
            channel_of,
            effects: VecDeque::new(),
            wakes_at: None,
            is_running: false,
            life: 0,
            released: 0,
        }
    }

    /// Begins another life after `lives` earlier ones.
    pub(super) fn after(mut self, lives: u64) -> Self {
        self.life = lives;
        self
    }

    /// The identifiers of flow control frames that it waits for, each with its channel.
    pub(super) fn answers(&self) -> impl Iterator<Item = (CanId, usize)> {
        self.outgoing.iter().enumerate().map(|(channel, outgoing)| (outgoing.config.flow_control(), channel))
    }

    /// The identifiers of messages that it puts together, each with its place among them.
    pub(super) fn hears(&self) -> impl Iterator<Item = (CanId, usize)> {
        self.incoming.iter().enumerate().map(|(place, incoming)| (incoming.config.id(), place))
    }

    /// The channel that a stream is sent on, if it is sent in pieces.
    pub(super) fn channel(&self, stream: StreamId) -> Option<usize> {
        self.channel_of.get(&stream).copied()
    }

    /// The stream of a channel.
    pub(super) fn sent_stream(&self, channel: usize) -> StreamId {
        self.outgoing[channel].config.stream()
    }

    /// The stream of what is put together at a place.
    pub(super) fn heard_stream(&self, place: usize) -> StreamId {
        self.incoming[place].config.stream()
    }

    pub(super) fn start(&mut self) {
        self.is_running = true;
    }

    /// Forgets what is on its way.
    pub(super) fn stop(&mut self) {
        self.is_running = false;
        self.effects.clear();
        for outgoing in &mut self.outgoing {
            outgoing.sender.cancel();
            let messages = outgoing.active.take().map(|(message, _)| message).into_iter();
            let messages = messages.chain(outgoing.waiting.drain(..).map(|(message, _)| message));
            self.released += messages.filter(Message::is_relayed).count();
        }
        for incoming in &mut self.incoming {
            incoming.receiver.cancel();
        }
    }

    /// Queues a message on a channel.
    pub(super) fn send(&mut self, channel: usize, message: Message, bytes: Vec<u8>) {
        let outgoing = &mut self.outgoing[channel];
        if !message.is_relayed() && outgoing.waiting.len() == WAITING_MAX {
            let full = discard(DiscardReason::QueueFull, outgoing.config.stream(), message.sequence);
            return self.effects.push_back(Effect::Tell(full));
        }
        outgoing.waiting.push_back((message, bytes));
    }

    /// Takes a flow control frame.
    pub(super) fn take_answer(&mut self, now: LocalTime, channel: usize, data: &[u8]) {
        if self.is_running {
            self.outgoing[channel].sender.handle_frame(now, data);
        }
    }

    /// Takes a frame of a message.
    pub(super) fn take(&mut self, now: LocalTime, place: usize, data: &[u8]) {
        if self.is_running {
            self.incoming[place].take(now, data, &mut self.effects);
        }
    }

    /// A frame has left, or never will. False if it is none of a segmented message.
    pub(super) fn left(&mut self, now: LocalTime, token: u64, has_left: bool) -> bool {
        if token >> TOKEN_BIT.trailing_zeros() != 1 {
            return false;
        }
        let channel = (token & ((1 << CHANNEL_BITS) - 1)) as usize;
        if token != self.token(channel).id() || !self.is_running {
            return true;
        }
        let outgoing = &mut self.outgoing[channel];
        if has_left {
            outgoing.sender.handle_transmitted(now);
        } else if let Some((message, _)) = outgoing.active.take() {
            outgoing.sender.cancel();
            self.released += usize::from(message.is_relayed());
            self.effects.push_back(outgoing.config.fault(TransferFault::NotTransmitted, message.sequence));
        }
        true
    }

    /// A message of this station's own of which nothing has left yet.
    pub(super) fn owed(&mut self) -> Option<(StreamId, LocalTime)> {
        self.outgoing.iter_mut().find_map(|outgoing| {
            let stream = outgoing.config.stream();
            let active = outgoing.active.as_ref().filter(|(_, has_begun)| !has_begun);
            if let Some(due) = active.and_then(|(message, _)| message.due()) {
                outgoing.sender.cancel();
                outgoing.active = None;
                return Some((stream, due));
            }
            let place = outgoing.waiting.iter().position(|(message, _)| message.due().is_some())?;
            let (message, _) = outgoing.waiting.remove(place)?;
            message.due().map(|due| (stream, due))
        })
    }

    /// How many messages of relays have left, or never will, since it was asked last.
    pub(super) fn take_released(&mut self) -> usize {
        std::mem::take(&mut self.released)
    }

    /// When it wants to be woken.
    pub(super) const fn wakes_at(&self) -> Option<LocalTime> {
        self.wakes_at
    }

    /// What comes next, if something does.
    pub(super) fn poll(&mut self, now: LocalTime, buffer: &mut [u8]) -> Option<Next> {
        if !self.is_running || self.outgoing.is_empty() && self.incoming.is_empty() {
            return None;
        }
        loop {
            match self.effects.pop_front() {
                Some(Effect::Tell(event)) => return Some(Next::Output(Output::Event(event), None)),
                Some(Effect::Answer(frame)) => {
                    return Some(Next::Output(transmit(&frame, now, buffer, None), None));
                }
                Some(Effect::Whole { listener, message }) => return Some(Next::Whole { listener, message }),
                None => {}
            }
            self.wakes_at = None;
            for channel in 0..self.outgoing.len() {
                if let Some((frame, mark)) = self.next_frame(now, channel) {
                    let output = transmit(&frame, now, buffer, Some(self.token(channel)));
                    return Some(Next::Output(output, mark));
                }
            }
            for incoming in &mut self.incoming {
                let wakes_at = incoming.drive(now, &mut self.effects);
                self.wakes_at = earlier(self.wakes_at, wakes_at);
            }
            if self.effects.is_empty() {
                return None;
            }
        }
    }

    /// The frame that a channel sends now, if it does, and what it comes from if that is another segment.
    fn next_frame(&mut self, now: LocalTime, channel: usize) -> Option<(CanFrame, Option<Mark>)> {
        let outgoing = &mut self.outgoing[channel];
        let config = outgoing.config;
        loop {
            if outgoing.active.is_none()
                && let Some((message, bytes)) = outgoing.waiting.pop_front()
            {
                let (sequence, is_relayed) = (message.sequence, message.is_relayed());
                match outgoing.sender.send(now, bytes) {
                    Ok(()) => outgoing.active = Some((message, false)),
                    Err(_) => {
                        self.released += usize::from(is_relayed);
                        let malformed = discard(DiscardReason::Malformed, config.stream(), sequence);
                        self.effects.push_back(Effect::Tell(malformed));
                        continue;
                    }
                }
            }
            let mut data = [0; FRAME_DATA_LEN_MAX];
            let fault = match outgoing.sender.poll(now, &mut data) {
                Piece::Frame(len) => {
                    let frame = frame_of(config.id(), config.kind(), &data[..len]);
                    let Some((message, has_begun)) = &mut outgoing.active else { return Some((frame, None)) };
                    let is_first = !std::mem::replace(has_begun, true);
                    return Some(match message.origin {
                        Origin::Own(due) => {
                            if is_first {
                                let sent = Event::of(EventKind::Sent, config.stream(), message.sequence);
                                self.effects.push_back(Effect::Tell(Event { value: (now - due).as_ps(), ..sent }));
                            }
                            (frame, None)
                        }
                        // What an attacker did to the message is told once.
                        Origin::Relayed(mark) => {
                            (frame, Some(Mark { attack: mark.attack.filter(|_| is_first), ..mark }))
                        }
                    });
                }
                Piece::Timeout(at) => {
                    if outgoing.active.is_none() && !outgoing.waiting.is_empty() {
                        continue;
                    }
                    self.wakes_at = earlier(self.wakes_at, at);
                    return None;
                }
                Piece::Event(SendEvent::Ignored(SendIgnored::UnexpectedFlowControl)) => {
                    let sequence = outgoing.active.as_ref().map_or(0, |(message, _)| message.sequence);
                    self.effects.push_back(config.fault(TransferFault::UnexpectedFlowControl, sequence));
                    continue;
                }
                Piece::Event(SendEvent::Sent { .. }) => None,
                Piece::Event(SendEvent::Aborted(abort)) => Some(fault_of(abort)),
            };
            let Some((message, _)) = outgoing.active.take() else { continue };
            self.released += usize::from(message.is_relayed());
            self.effects.extend(fault.map(|fault| config.fault(fault, message.sequence)));
        }
    }

    fn token(&self, channel: usize) -> TxToken {
        TxToken::new(TOKEN_BIT | self.life << CHANNEL_BITS | channel as u64)
    }
}

impl Message {
    const fn is_relayed(&self) -> bool {
        matches!(self.origin, Origin::Relayed(_))
    }

    /// When a message of this station's own was due.
    const fn due(&self) -> Option<LocalTime> {
        match self.origin {
            Origin::Own(due) => Some(due),
            Origin::Relayed(_) => None,
        }
    }
}

impl Outgoing {
    fn new(config: SegmentedConfig) -> Self {
        let sender = Sender::new(config.sender()).expect("the configuration was checked when it was made");
        Self { config, sender, waiting: VecDeque::new(), active: None }
    }
}

impl Incoming {
    fn new(config: SegmentedConfig, listener: usize, len_max: usize) -> Self {
        let message_len_max = u32::try_from(len_max).unwrap_or(u32::MAX);
        let receiver = Receiver::new(ReceiverConfig { message_len_max, ..config.receiver() });
        let receiver = receiver.expect("the configuration was checked when it was made");
        Self { config, listener, receiver, sequence: 0 }
    }

    fn take(&mut self, now: LocalTime, data: &[u8], effects: &mut VecDeque<Effect>) {
        self.receiver.handle_frame(now, data);
        self.drive(now, effects);
        // What was given up for this frame has been told with its own number.
        if let Ok(Pdu::First { data: first, .. }) = Pdu::parse(data, None)
            && !self.receiver.is_idle()
        {
            self.sequence = number_of(first);
            let began = Event::of(EventKind::TransferBegan, self.config.stream(), self.sequence);
            effects.push_back(Effect::Tell(began));
        }
    }

    /// Does what the receiver wants, and says when it wants to be asked again.
    fn drive(&mut self, now: LocalTime, effects: &mut VecDeque<Effect>) -> Option<LocalTime> {
        let mut data = [0; FRAME_DATA_LEN_MAX];
        let stream = self.config.stream();
        loop {
            let effect = match self.receiver.poll(now, &mut data) {
                Piece::Timeout(at) => return at,
                Piece::Frame(len) => {
                    Effect::Answer(frame_of(self.config.flow_control(), self.config.kind(), &data[..len]))
                }
                Piece::Event(ReceiveEvent::Received(message)) => Effect::Whole { listener: self.listener, message },
                Piece::Event(ReceiveEvent::Refused { .. }) => Effect::Tell(discard(DiscardReason::TooLong, stream, 0)),
                Piece::Event(ReceiveEvent::Aborted { reason, .. }) => {
                    Effect::Tell(discard(reason_of(reason), stream, self.sequence))
                }
                Piece::Event(ReceiveEvent::Ignored(ReceiveIgnored::Malformed(error))) => {
                    Effect::Tell(discard(error.into(), stream, 0))
                }
                Piece::Event(ReceiveEvent::Ignored(_)) => self.config.fault(TransferFault::UnexpectedFrame, 0),
            };
            effects.push_back(effect);
        }
    }
}

impl SegmentedConfig {
    fn fault(&self, fault: TransferFault, sequence: u64) -> Effect {
        Effect::Tell(Event::of(EventKind::TransferFault(fault), self.stream(), sequence))
    }
}

fn frame_of(id: CanId, kind: FrameKind, data: &[u8]) -> CanFrame {
    let dlc = Dlc::holding(data.len()).expect("no frame of a segmented message has more than 64 bytes");
    CanFrame::new(id, kind, dlc, data)
}

const fn fault_of(abort: SendAbort) -> TransferFault {
    match abort {
        SendAbort::NotTransmitted => TransferFault::NotTransmitted,
        SendAbort::FlowControlMissing => TransferFault::FlowControlMissing,
        SendAbort::InvalidFlowStatus(_) => TransferFault::InvalidFlowStatus,
        SendAbort::Overflow => TransferFault::Overflow,
        SendAbort::TooManyWaits => TransferFault::TooManyWaits,
    }
}

const fn reason_of(abort: ReceiveAbort) -> DiscardReason {
    match abort {
        ReceiveAbort::Interrupted => DiscardReason::Interrupted,
        ReceiveAbort::WrongSequenceNumber { .. } => DiscardReason::WrongSequence,
        ReceiveAbort::WrongFrameLength { .. } => DiscardReason::Malformed,
        ReceiveAbort::ConsecutiveFrameMissing => DiscardReason::FrameMissing,
        ReceiveAbort::TooManyWaits => DiscardReason::WaitedTooLong,
    }
}

fn earlier(a: Option<LocalTime>, b: Option<LocalTime>) -> Option<LocalTime> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
