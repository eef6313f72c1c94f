//! What a station sends and receives beside its key exchange.

use std::collections::{BTreeMap, VecDeque};

use chronoseal_core::{
    Command, DiscardReason, Duration, Event, EventKind, LocalTime, NodeId, Output, Priority, StreamId, Transmit,
};
use chronoseal_crypto::symmetric::Key128;
use chronoseal_frameauth::secoc::{Receiver, SecOcProfile, Transmitter};
use chronoseal_wire::can::{CanFrame, CanFrameView, CanId, Dlc, FrameKind};

use super::PORT;

/// Bytes of the sequence number at the front of a message.
const SEQUENCE_LEN: usize = 4;
/// Received frames a station holds until its processor gets to them.
const RECEIVED_MAX: usize = 256;

/// What a station is made from.
#[derive(Clone, Debug)]
pub struct StationConfig {
    /// Its number.
    pub node: NodeId,
    /// What it sends.
    pub talkers: Vec<TalkerConfig>,
    /// What it receives.
    pub listeners: Vec<ListenerConfig>,
    /// What it replays.
    pub replays: Vec<ReplayConfig>,
}

/// A periodic message of this station.
#[derive(Clone, Debug)]
pub struct TalkerConfig {
    /// Which.
    pub stream: StreamId,
    /// Its identifier.
    pub id: CanId,
    /// Its format.
    pub kind: FrameKind,
    /// Data before protection [byte].
    pub len: usize,
    /// Distance of two frames.
    pub period: Duration,
    /// Its first frame, from the start of the run.
    pub offset: Duration,
    /// Bytes behind the sequence number, as many as `len`.
    pub fill: Vec<u8>,
    /// How it is protected.
    pub protection: MessageProtection,
}

/// A message this station uses.
#[derive(Clone, Debug)]
pub struct ListenerConfig {
    /// Which.
    pub stream: StreamId,
    /// Its identifier.
    pub id: CanId,
    /// Data before protection [byte]; 0 for any.
    pub len: usize,
    /// True for frames of a recording, which carry no sequence number: the station counts them.
    pub counts_itself: bool,
    /// How it is protected.
    pub protection: MessageProtection,
}

/// How a message is protected.
#[derive(Clone, Debug)]
pub enum MessageProtection {
    /// Not at all.
    None,
    /// By a SecOC profile whose freshness value is a counter, or that has none.
    SecOc {
        /// Which.
        profile: SecOcProfile,
        /// The key, or `None` if it is the group key.
        key: Option<Key128>,
        /// The data identifier under the tag.
        data_id: u16,
    },
}

/// A recording this station plays over and over.
#[derive(Clone, Debug)]
pub struct ReplayConfig {
    /// Of all its frames.
    pub stream: StreamId,
    /// Frames by time from its start.
    pub frames: Vec<(Duration, CanFrame)>,
    /// It starts again after this.
    pub length: Duration,
    /// When it begins.
    pub start: Duration,
}

struct Talker {
    config: TalkerConfig,
    transmitter: Option<Transmitter>,
    sequence: u64,
    due: LocalTime,
}

struct Listener {
    config: ListenerConfig,
    received: u64,
    receiver: Option<Receiver>,
}

struct Replay {
    config: ReplayConfig,
    next: usize,
    round: i64,
    sent: u64,
}

/// What the next poll does, its work charged already.
enum Working {
    Seal { talker: usize, due: LocalTime },
    Open { listener: usize, frame: CanFrame },
}

pub(super) struct Application {
    talkers: Vec<Talker>,
    listeners: Vec<Listener>,
    by_id: BTreeMap<CanId, usize>,
    replays: Vec<Replay>,
    started_at: Option<LocalTime>,
    received: VecDeque<(usize, CanFrame)>,
    events: VecDeque<Event>,
    working: Option<Working>,
}

impl Application {
    pub(super) fn new(config: StationConfig) -> Self {
        let pre_shared = |protection: &MessageProtection| match protection {
            MessageProtection::SecOc { profile, key: Some(key), data_id } => Some((*profile, key.clone(), *data_id)),
            _ => None,
        };
        let talkers = config
            .talkers
            .into_iter()
            .map(|config| {
                let secured = pre_shared(&config.protection);
                let transmitter = secured.map(|(profile, key, data_id)| Transmitter::new(profile, &key, data_id));
                Talker { config, transmitter, sequence: 0, due: LocalTime::ZERO }
            })
            .collect();
        let listeners: Vec<Listener> = config
            .listeners
            .into_iter()
            .map(|config| {
                let secured = pre_shared(&config.protection);
                let receiver = secured.map(|(profile, key, data_id)| Receiver::new(profile, &key, data_id));
                Listener { config, receiver, received: 0 }
            })
            .collect();
        let by_id = listeners.iter().enumerate().map(|(index, listener)| (listener.config.id, index)).collect();
        let replays = config.replays.into_iter().map(|config| Replay { config, next: 0, round: 0, sent: 0 }).collect();
        Self {
            talkers,
            listeners,
            by_id,
            replays,
            started_at: None,
            received: VecDeque::new(),
            events: VecDeque::new(),
            working: None,
        }
    }

    /// True between the poll that charges for an effect and the one that has it.
    pub(super) const fn is_working(&self) -> bool {
        self.working.is_some()
    }

    pub(super) fn use_group_key(&mut self, key: &Key128) {
        for talker in &mut self.talkers {
            if let MessageProtection::SecOc { profile, key: None, data_id } = talker.config.protection {
                talker.transmitter = Some(Transmitter::new(profile, key, data_id));
            }
        }
        for listener in &mut self.listeners {
            if let MessageProtection::SecOc { profile, key: None, data_id } = listener.config.protection {
                listener.receiver = Some(Receiver::new(profile, key, data_id));
            }
        }
    }

    pub(super) fn command(&mut self, now: LocalTime, command: Command) {
        match command {
            Command::Start => {
                self.started_at = Some(now);
                for talker in &mut self.talkers {
                    talker.due = now + talker.config.offset;
                }
            }
            _ => self.started_at = None,
        }
    }

    pub(super) fn receive(&mut self, bytes: &[u8]) {
        let Ok(view) = CanFrameView::new_checked(bytes) else {
            self.events.push_back(discard(DiscardReason::Malformed, StreamId::NONE, 0));
            return;
        };
        let Some(&listener) = self.by_id.get(&view.id()) else { return };
        if self.received.len() == RECEIVED_MAX {
            let stream = self.listeners[listener].config.stream;
            self.events.push_back(discard(DiscardReason::QueueFull, stream, 0));
            return;
        }
        self.received.push_back((listener, view.to_frame()));
    }

    pub(super) fn poll(&mut self, now: LocalTime, buffer: &mut [u8]) -> Output {
        if let Some(event) = self.events.pop_front() {
            return Output::Event(event);
        }
        match self.working.take() {
            Some(Working::Seal { talker, due }) => return self.send(talker, due, now, buffer),
            Some(Working::Open { listener, frame }) => return Output::Event(self.open(listener, &frame)),
            None => {}
        }
        if let Some((listener, frame)) = self.received.pop_front() {
            if let Some(receiver) = &self.listeners[listener].receiver {
                let work = receiver.protection().work(self.listeners[listener].config.len);
                self.working = Some(Working::Open { listener, frame });
                return Output::Work(work);
            }
            return Output::Event(self.open(listener, &frame));
        }
        if self.started_at.is_none() {
            return Output::Timeout(None);
        }
        if let Some(output) = self.talk(now, buffer).or_else(|| self.replay(now, buffer)) {
            return output;
        }
        Output::Timeout(self.next_due())
    }

    fn next_due(&self) -> Option<LocalTime> {
        let started_at = self.started_at?;
        let talkers = self.talkers.iter().map(|talker| talker.due);
        talkers.chain(self.replays.iter().filter_map(|replay| replay.due(started_at))).min()
    }

    /// The earliest message that is due.
    fn talk(&mut self, now: LocalTime, buffer: &mut [u8]) -> Option<Output> {
        let (index, _) = self
            .talkers
            .iter()
            .enumerate()
            .filter(|(_, talker)| talker.due <= now)
            .min_by_key(|(index, talker)| (talker.due, *index))?;
        let talker = &mut self.talkers[index];
        let due = talker.due;
        talker.due += talker.config.period;
        match (&talker.config.protection, &talker.transmitter) {
            (MessageProtection::SecOc { .. }, None) => {
                // No key yet: what cannot be protected is not sent.
                let event = Event::of(EventKind::Withheld, talker.config.stream, talker.sequence);
                talker.sequence += 1;
                Some(Output::Event(event))
            }
            (_, Some(transmitter)) => {
                let work = transmitter.protection().work(talker.config.len);
                self.working = Some(Working::Seal { talker: index, due });
                Some(Output::Work(work))
            }
            (MessageProtection::None, None) => Some(self.send(index, due, now, buffer)),
        }
    }

    fn send(&mut self, index: usize, due: LocalTime, now: LocalTime, buffer: &mut [u8]) -> Output {
        let talker = &mut self.talkers[index];
        let config = &talker.config;
        let mut data = [0; 64];
        data[..config.len].copy_from_slice(&config.fill[..config.len]);
        let sequence_len = SEQUENCE_LEN.min(config.len);
        data[..sequence_len].copy_from_slice(&talker.sequence.to_be_bytes()[8 - sequence_len..]);
        let len = match &mut talker.transmitter {
            None => config.len,
            Some(transmitter) => match transmitter.seal(&mut data, config.len, None) {
                Ok(len) => len,
                // Its freshness value is used up: what cannot be protected is not sent.
                Err(_) => return Output::Event(Event::of(EventKind::Withheld, config.stream, talker.sequence)),
            },
        };
        // A length between two that FD has is filled up to the next one.
        let dlc = Dlc::holding(len).expect("a plan holds only lengths that fit a frame");
        let frame = CanFrame::new(config.id, config.kind, dlc, &data);
        let event = Event { value: (now - due).as_ps(), ..Event::of(EventKind::Sent, config.stream, talker.sequence) };
        talker.sequence += 1;
        self.events.push_back(event);
        transmit(&frame, now, buffer)
    }

    fn replay(&mut self, now: LocalTime, buffer: &mut [u8]) -> Option<Output> {
        let started_at = self.started_at?;
        let replay = self.replays.iter_mut().find(|replay| replay.due(started_at).is_some_and(|due| due <= now))?;
        let frame = replay.config.frames[replay.next].1;
        self.events.push_back(Event::of(EventKind::Sent, replay.config.stream, replay.sent));
        replay.sent += 1;
        replay.next += 1;
        if replay.next == replay.config.frames.len() {
            replay.next = 0;
            replay.round += 1;
        }
        Some(transmit(&frame, now, buffer))
    }

    fn open(&mut self, index: usize, frame: &CanFrame) -> Event {
        let Listener { config, receiver, received } = &mut self.listeners[index];
        let data = frame.data();
        let Some(payload) = data.get(..config.len) else { return discard(DiscardReason::TooShort, config.stream, 0) };
        let sequence = if config.counts_itself { *received } else { sequence_of(payload) };
        *received += 1;
        match (&config.protection, receiver) {
            (MessageProtection::None, _) => Event::of(EventKind::Delivered, config.stream, sequence),
            (_, None) => discard(DiscardReason::NoKey, config.stream, sequence),
            (_, Some(receiver)) => {
                // What the bus added to fill up the frame comes off first.
                let len = config.len + receiver.protection().profile().overhead();
                let opened = data.get(..len).ok_or(DiscardReason::TooShort).and_then(|pdu| receiver.open(pdu, None));
                match opened {
                    Ok(_) => Event::of(EventKind::Delivered, config.stream, sequence),
                    Err(reason) => discard(reason, config.stream, sequence),
                }
            }
        }
    }
}

impl Replay {
    fn due(&self, started_at: LocalTime) -> Option<LocalTime> {
        let (at, _) = self.config.frames.get(self.next)?;
        Some(started_at + self.config.start + self.config.length * self.round + *at)
    }
}

fn transmit(frame: &CanFrame, now: LocalTime, buffer: &mut [u8]) -> Output {
    let len = frame.emit(buffer);
    Output::Transmit(Transmit { port: PORT, priority: Priority(0), launch_at: now, len, token: None })
}

fn discard(reason: DiscardReason, stream: StreamId, sequence: u64) -> Event {
    Event::of(EventKind::Discarded(reason), stream, sequence)
}

/// The sequence number at the front of a message's data.
fn sequence_of(data: &[u8]) -> u64 {
    data.iter().take(SEQUENCE_LEN).fold(0, |value, byte| value << 8 | u64::from(*byte))
}
