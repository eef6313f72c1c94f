//! What a station sends and receives beside its key exchange.

use std::collections::{BTreeMap, VecDeque};

use chronoseal_core::{
    Command, DiscardReason, Event, EventKind, LocalTime, NodeBase, Output, Priority, StreamId, Transmit, Work,
};
use chronoseal_crypto::symmetric::Key128;
use chronoseal_frameauth::{Moment, Opener, Sealer};
use chronoseal_wire::can::{CanFrame, CanFrameView, CanId, Dlc};

use super::PORT;
use super::config::{BridgeConfig, ListenerConfig, Numbering, ReplayConfig, StationConfig, TalkerConfig};
use super::relay::Relays;
use super::synchronisation::{Due, Synchronisation};
use crate::container::Containers;
use crate::gateway::{HandOver, Mark, Pdu, SEQUENCE_LEN, number_of};
use crate::pace::Pace;
use crate::protection::{Protection, ProtectionError};
use crate::supervision::Supervision;

/// Received frames a station holds until its processor gets to them.
const RECEIVED_MAX: usize = 256;

struct Talker {
    config: TalkerConfig,
    sealer: Option<Sealer>,
    pace: Pace,
    sequence: u64,
    due: LocalTime,
}

struct Listener {
    config: ListenerConfig,
    received: u64,
    opener: Option<Opener>,
    supervision: Option<Supervision>,
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
    Relay { relay: usize, pdu: Pdu },
    OpenContainer { container: usize, frame: CanFrame },
    JudgeContained,
    Announce,
    Follow(CanFrame),
}

/// Who of a station takes a frame.
#[derive(Clone, Copy)]
enum Addressee {
    Listener(usize),
    Container(usize),
    Synchronisation,
}

pub(super) struct Application {
    pub(super) base: NodeBase<VecDeque<Event>>,
    talkers: Vec<Talker>,
    listeners: Vec<Listener>,
    by_id: BTreeMap<CanId, Addressee>,
    containers: Containers,
    replays: Vec<Replay>,
    synchronisation: Option<Synchronisation>,
    started_at: Option<LocalTime>,
    received: VecDeque<(Addressee, CanFrame)>,
    working: Option<Working>,
    bridge: BridgeConfig,
    /// What goes on from here, for the owner of this station.
    pub(super) handed: VecDeque<Pdu>,
    pub(super) relays: Relays,
}

impl Application {
    pub(super) fn new(config: StationConfig) -> Result<Self, ProtectionError> {
        let talkers = config
            .talkers
            .into_iter()
            .map(|config| {
                config.protection.check_on_can()?;
                let sealer = match &config.protection {
                    Protection::Secured { profile, key: Some(key), data_id } => {
                        Some(Sealer::new(*profile, key, *data_id)?)
                    }
                    Protection::Secured { key: None, .. } | Protection::None { .. } => None,
                };
                let pace = Pace::new(config.pace, config.stream.0);
                Ok(Talker { config, sealer, pace, sequence: 0, due: LocalTime::ZERO })
            })
            .collect::<Result<_, ProtectionError>>()?;
        let listeners = config
            .listeners
            .into_iter()
            .map(|config| {
                config.protection.check_on_can()?;
                let opener = match &config.protection {
                    Protection::Secured { profile, key: Some(key), data_id } => {
                        Some(Opener::new(*profile, key, *data_id)?)
                    }
                    Protection::Secured { key: None, .. } | Protection::None { .. } => None,
                };
                let supervision = config.supervision.map(Supervision::new);
                Ok(Listener { config, opener, received: 0, supervision })
            })
            .collect::<Result<Vec<_>, ProtectionError>>()?;
        let synchronisation = config.synchronisation.map(Synchronisation::new).transpose()?;
        let listened = synchronisation.as_ref().and_then(Synchronisation::listens_to);
        let by_id = listeners
            .iter()
            .enumerate()
            .map(|(index, listener)| (listener.config.id, Addressee::Listener(index)))
            .chain(config.containers.iter().enumerate().map(|(index, (id, _))| (*id, Addressee::Container(index))))
            .chain(listened.map(|id| (id, Addressee::Synchronisation)))
            .collect();
        let containers = config.containers.into_iter().map(|(_, container)| container).collect();
        let containers = Containers::new(containers, Protection::check_on_can)?;
        let replays = config.replays.into_iter().map(|config| Replay { config, next: 0, round: 0, sent: 0 }).collect();
        Ok(Self {
            base: NodeBase::new(0..PORT.0 + 1).giving_tokens(),
            talkers,
            listeners,
            by_id,
            containers,
            replays,
            synchronisation,
            started_at: None,
            received: VecDeque::new(),
            working: None,
            bridge: config.bridge,
            handed: VecDeque::new(),
            relays: Relays::new(config.relays, config.collects, config.relay_queue_len_max)?,
        })
    }

    /// True between the poll that charges for an effect and the one that has it.
    pub(super) const fn is_working(&self) -> bool {
        self.working.is_some()
    }

    /// Every protection under the group key takes keys of its length, or there would be no station.
    pub(super) fn use_group_key(&mut self, now: LocalTime, key: &Key128) {
        if let Some(synchronisation) = &mut self.synchronisation {
            synchronisation.use_group_key(now, key);
        }
        for talker in &mut self.talkers {
            if let Protection::Secured { profile, key: None, data_id } = talker.config.protection {
                talker.sealer = Sealer::new(profile, key, data_id).ok();
            }
        }
        for listener in &mut self.listeners {
            if let Protection::Secured { profile, key: None, data_id } = listener.config.protection {
                listener.opener = Opener::new(profile, key, data_id).ok();
            }
        }
        self.containers.use_group_key(key);
        self.relays.use_group_key(key);
    }

    pub(super) fn command(&mut self, now: LocalTime, command: Command) {
        match command {
            Command::Start => {
                self.started_at = Some(now);
                for talker in &mut self.talkers {
                    talker.due = now + talker.config.offset;
                }
                if let Some(synchronisation) = &mut self.synchronisation {
                    synchronisation.start(now);
                }
                self.containers.start(now);
                for supervision in self.listeners.iter_mut().filter_map(|listener| listener.supervision.as_mut()) {
                    supervision.start(now);
                }
            }
            _ => self.started_at = None,
        }
    }

    pub(super) fn receive(&mut self, bytes: &[u8]) {
        let Ok(view) = CanFrameView::new_checked(bytes) else {
            self.base.push(discard(DiscardReason::Malformed, StreamId::NONE, 0));
            return;
        };
        if self.bridge.takes(view.id()) {
            self.handed.push_back(Pdu::of_frame(bytes, false));
        }
        let Some(&addressee) = self.by_id.get(&view.id()) else { return };
        if self.received.len() == RECEIVED_MAX {
            let stream = match addressee {
                Addressee::Listener(listener) => self.listeners[listener].config.stream,
                Addressee::Container(container) => self.containers.stream(container),
                Addressee::Synchronisation => {
                    self.synchronisation.as_ref().map_or(StreamId::NONE, Synchronisation::stream)
                }
            };
            self.base.push(discard(DiscardReason::QueueFull, stream, 0));
            return;
        }
        self.received.push_back((addressee, view.to_frame()));
    }

    pub(super) fn poll(&mut self, now: LocalTime, buffer: &mut [u8]) -> Output {
        if let Some(output) = self.base.next(now, buffer) {
            return output;
        }
        match self.working.take() {
            Some(Working::Seal { talker, due }) => return self.send(talker, due, now, buffer),
            Some(Working::Open { listener, frame }) => return Output::Event(self.open(listener, &frame, now)),
            Some(Working::Relay { relay, pdu }) => return self.relay(relay, &pdu, now, buffer),
            Some(Working::OpenContainer { container, frame }) => self.open_container(container, &frame),
            Some(Working::JudgeContained) => return self.judge_contained(now, buffer),
            Some(Working::Announce) => return self.announce(now, buffer),
            Some(Working::Follow(frame)) => return self.follow(now, &frame),
            None => {}
        }
        if let Some(output) = self.base.next(now, buffer) {
            return output;
        }
        if let Some(work) = self.containers.next_work() {
            let Some(work) = work else { return self.judge_contained(now, buffer) };
            self.working = Some(Working::JudgeContained);
            return Output::Work(work);
        }
        if let Some((addressee, frame)) = self.received.pop_front() {
            return self.take_in(addressee, frame, now, buffer);
        }
        if self.started_at.is_none() {
            return Output::Timeout(None);
        }
        match self.synchronisation.as_mut().and_then(|synchronisation| synchronisation.poll(now)) {
            Some(Due::Announce(work)) => {
                self.working = Some(Working::Announce);
                return Output::Work(work);
            }
            Some(Due::Tell(event)) => return Output::Event(event),
            None => {}
        }
        if let Some((relay, pdu)) = self.relays.next() {
            return self.begin_relay(relay, pdu, now, buffer);
        }
        if let Some(event) = self.absent(now) {
            return Output::Event(event);
        }
        if let Some(output) = self.talk(now, buffer).or_else(|| self.replay(now, buffer)) {
            return output;
        }
        self.idle()
    }

    /// The first listener that has waited too long.
    fn absent(&mut self, now: LocalTime) -> Option<Event> {
        let of_listener = self.listeners.iter_mut().find_map(|listener| {
            let absent = listener.supervision.as_mut()?.absent(now)?;
            Some(Event::of(EventKind::Missing, listener.config.stream, absent))
        });
        of_listener.or_else(|| self.containers.absent(now))
    }

    /// A PDU that goes on: what it costs to seal it, or what comes of it.
    fn begin_relay(&mut self, relay: Option<usize>, pdu: Pdu, now: LocalTime, buffer: &mut [u8]) -> Output {
        let Some(relay) = relay else {
            let len = pdu.bytes.len();
            buffer[..len].copy_from_slice(&pdu.bytes);
            let token = Some(self.relays.whole(&pdu));
            return Output::Transmit(Transmit { port: PORT, priority: Priority(0), launch_at: now, len, token });
        };
        match self.relays.work(relay, &pdu, self.moment()) {
            Ok(Some(work)) => {
                self.working = Some(Working::Relay { relay, pdu });
                Output::Work(work)
            }
            Ok(None) => self.relay(relay, &pdu, now, buffer),
            Err(kind) => {
                self.relays.forget();
                Output::Event(Event::of(kind, pdu.stream, pdu.sequence))
            }
        }
    }

    fn relay(&mut self, relay: usize, pdu: &Pdu, now: LocalTime, buffer: &mut [u8]) -> Output {
        let moment = self.moment();
        match self.relays.seal(relay, pdu, moment) {
            Ok((frame, token)) => {
                let len = frame.emit(buffer);
                let token = Some(token);
                Output::Transmit(Transmit { port: PORT, priority: Priority(0), launch_at: now, len, token })
            }
            Err(kind) => {
                self.relays.forget();
                Output::Event(Event::of(kind, pdu.stream, pdu.sequence))
            }
        }
    }

    /// Hands over a frame that this station's own agent sends, if its owner passes such frames on.
    pub(super) fn bridge_own(&mut self, bytes: &[u8]) {
        if CanFrameView::new_checked(bytes).is_ok_and(|view| self.bridge.takes(view.id())) {
            self.handed.push_back(Pdu::of_frame(bytes, true));
        }
    }

    /// Takes a PDU that goes on from here.
    pub(super) fn take_on(&mut self, pdu: Pdu) {
        if let Some(event) = self.relays.push(pdu) {
            self.base.push(event);
        }
    }

    /// A received frame: what it costs to check it, or what comes of it.
    fn take_in(&mut self, addressee: Addressee, frame: CanFrame, now: LocalTime, buffer: &mut [u8]) -> Output {
        match (self.opening(addressee, &frame), addressee) {
            (Some(work), addressee) => {
                self.working = Some(match addressee {
                    Addressee::Synchronisation => Working::Follow(frame),
                    Addressee::Listener(listener) => Working::Open { listener, frame },
                    Addressee::Container(container) => Working::OpenContainer { container, frame },
                });
                Output::Work(work)
            }
            (None, Addressee::Container(container)) => {
                self.open_container(container, &frame);
                self.poll(now, buffer)
            }
            (None, Addressee::Synchronisation) => self.follow(now, &frame),
            (None, Addressee::Listener(index)) => Output::Event(self.open(index, &frame, now)),
        }
    }

    /// What it takes to check a frame; `None` if there is nothing to compute.
    fn opening(&self, addressee: Addressee, frame: &CanFrame) -> Option<Work> {
        match addressee {
            Addressee::Synchronisation => self.synchronisation.as_ref().and_then(Synchronisation::checking),
            Addressee::Listener(index) => {
                let Listener { config, opener, .. } = &self.listeners[index];
                opener.as_ref().map(|opener| opener.work(config.len))
            }
            Addressee::Container(container) => self.containers.work(container, frame.data().len()),
        }
    }

    /// Takes a frame with PDUs of several streams apart.
    fn open_container(&mut self, container: usize, frame: &CanFrame) {
        let events = self.containers.open(container, frame.data(), 0, self.moment());
        events.into_iter().for_each(|event| self.base.push(event));
    }

    /// The next PDU that was in a frame with others.
    fn judge_contained(&mut self, now: LocalTime, buffer: &mut [u8]) -> Output {
        match self.containers.judge_next(now, self.moment()) {
            Some((event, pdu)) => {
                self.handed.extend(pdu);
                Output::Event(event)
            }
            None => self.poll(now, buffer),
        }
    }

    /// The synchronisation message that was paid for.
    fn announce(&mut self, now: LocalTime, buffer: &mut [u8]) -> Output {
        match self.synchronisation.as_ref().and_then(|synchronisation| synchronisation.announcement().ok()) {
            Some((frame, event)) => {
                self.base.push(event);
                transmit(&frame, now, buffer)
            }
            None => self.idle(),
        }
    }

    fn follow(&mut self, now: LocalTime, frame: &CanFrame) -> Output {
        match &mut self.synchronisation {
            Some(synchronisation) => {
                self.handed.extend(synchronisation.handed(frame));
                Output::Event(synchronisation.follow(now, frame))
            }
            None => self.idle(),
        }
    }

    /// What this station knows of the freshness values of now.
    fn moment(&self) -> Moment {
        self.synchronisation.as_ref().and_then(Synchronisation::current).into()
    }

    fn idle(&self) -> Output {
        Output::Timeout(self.next_due())
    }

    fn next_due(&self) -> Option<LocalTime> {
        let started_at = self.started_at?;
        let talkers = self.talkers.iter().map(|talker| talker.due);
        let talkers = talkers.chain(self.synchronisation.as_ref().map(Synchronisation::due));
        let supervised = self.listeners.iter().filter_map(|listener| listener.supervision.as_ref()?.due());
        let talkers = talkers.chain(supervised).chain(self.containers.due());
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
        let moment = self.moment();
        let talker = &mut self.talkers[index];
        let due = talker.due;
        talker.due += talker.pace.step();
        match (&talker.config.protection, &talker.sealer) {
            (Protection::Secured { profile, .. }, Some(sealer))
                if moment != Moment::Unknown || !profile.freshness().needs_master() =>
            {
                let work = sealer.work(talker.config.len);
                self.working = Some(Working::Seal { talker: index, due });
                Some(Output::Work(work))
            }
            (Protection::Secured { .. }, _) => Some(Output::Event(talker.withheld())),
            (Protection::None { .. }, _) => Some(self.send(index, due, now, buffer)),
        }
    }

    fn send(&mut self, index: usize, due: LocalTime, now: LocalTime, buffer: &mut [u8]) -> Output {
        let moment = self.moment();
        let talker = &mut self.talkers[index];
        let config = &talker.config;
        let mut data = [0; 64];
        data[..config.len].copy_from_slice(&config.fill[..config.len]);
        let sequence_len = SEQUENCE_LEN.min(config.len);
        data[..sequence_len].copy_from_slice(&talker.sequence.to_be_bytes()[8 - sequence_len..]);
        if let (Some(signal), Some(started_at)) = (&config.signal, self.started_at) {
            let signal = signal.at(due - started_at);
            let len = signal.len().min(config.len - sequence_len);
            data[sequence_len..sequence_len + len].copy_from_slice(&signal[..len]);
        }
        let len = match &mut talker.sealer {
            None => config.len + config.protection.overhead(),
            Some(sealer) => match sealer.seal_next(&mut data, config.len, moment) {
                Ok(len) => len,
                // Its freshness value is used up.
                Err(_) => return Output::Event(talker.withheld()),
            },
        };
        // A length between two that FD has is filled up to the next one.
        let dlc = Dlc::holding(len).expect("a plan holds only lengths that fit a frame");
        let frame = CanFrame::new(config.id, config.kind, dlc, &data);
        let event = Event { value: (now - due).as_ps(), ..Event::of(EventKind::Sent, config.stream, talker.sequence) };
        talker.sequence += 1;
        self.base.push(event);
        transmit(&frame, now, buffer)
    }

    fn replay(&mut self, now: LocalTime, buffer: &mut [u8]) -> Option<Output> {
        let started_at = self.started_at?;
        let replay = self.replays.iter_mut().find(|replay| replay.due(started_at).is_some_and(|due| due <= now))?;
        let frame = replay.config.frames[replay.next].1;
        self.base.push(Event::of(EventKind::Sent, replay.config.stream, replay.sent));
        replay.sent += 1;
        replay.next += 1;
        if replay.next == replay.config.frames.len() {
            replay.next = 0;
            replay.round += 1;
        }
        Some(transmit(&frame, now, buffer))
    }

    fn open(&mut self, index: usize, frame: &CanFrame, now: LocalTime) -> Event {
        let moment = self.moment();
        let Listener { config, opener, received, supervision } = &mut self.listeners[index];
        let data = frame.data();
        let Some(payload) = data.get(..config.len) else { return discard(DiscardReason::TooShort, config.stream, 0) };
        let sequence = match config.numbering {
            Numbering::AtFront => number_of(payload),
            Numbering::Counted => *received,
            Numbering::Counters(layout) => layout.counters_in(payload).number(),
        };
        *received += 1;
        let mut hand_over = |bytes: &[u8]| {
            let pdu = Pdu { stream: config.stream, sequence, bytes: bytes.to_vec(), mark: Mark::default() };
            self.handed.push_back(pdu);
        };
        if let HandOver::Sealed { len } = config.hands_over {
            let Some(pdu) = data.get(..len) else { return discard(DiscardReason::TooShort, config.stream, sequence) };
            hand_over(pdu);
            if !config.delivers {
                return Event::of(EventKind::Relayed, config.stream, sequence);
            }
        }
        match (&config.protection, opener) {
            (Protection::None { .. }, _) => {}
            (_, None) => return discard(DiscardReason::NoKey, config.stream, sequence),
            (_, Some(opener)) => {
                // What the bus added to fill up the frame comes off first.
                let len = opener.profile().secured_len(config.len);
                let opened = data.get(..len).ok_or(DiscardReason::TooShort).and_then(|pdu| opener.open(pdu, moment));
                if let Err(reason) = opened {
                    return discard(reason, config.stream, sequence);
                }
            }
        }
        if let Some(supervision) = supervision {
            supervision.met(now, sequence);
        }
        if config.hands_over == HandOver::Opened {
            hand_over(payload);
        }
        let kind = if config.delivers { EventKind::Delivered } else { EventKind::Relayed };
        Event::of(kind, config.stream, sequence)
    }
}

impl Talker {
    /// No key or no freshness value: what cannot be protected is not sent.
    fn withheld(&mut self) -> Event {
        let event = Event::of(EventKind::Withheld, self.config.stream, self.sequence);
        self.sequence += 1;
        event
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

pub(super) fn discard(reason: DiscardReason, stream: StreamId, sequence: u64) -> Event {
    Event::of(EventKind::Discarded(reason), stream, sequence)
}
