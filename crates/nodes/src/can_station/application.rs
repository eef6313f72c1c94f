//! What a station sends and receives beside its key exchange.

use std::collections::VecDeque;

use chronoseal_core::{
    Command, DiscardReason, Event, EventKind, LocalTime, NodeBase, Output, Priority, StreamId, Transmit,
};
use chronoseal_crypto::symmetric::Key128;
use chronoseal_frameauth::Moment;
use chronoseal_wire::can::{CanFrame, CanFrameView, Dlc};

use super::config::{BridgeConfig, StationConfig};
use super::listener::{Listener, discard};
use super::relay::Relays;
use super::replay::Replay;
use super::segmented::{Message, Next, Origin, Segmented};
use super::synchronisation::{Due, Synchronisation};
use super::talker::Talker;
use super::{PORT, transmit};
use crate::by_id::ById;
use crate::by_time::ByTime;
use crate::container::Containers;
use crate::gateway::Pdu;
use crate::protection::{Protection, ProtectionError};

/// Received frames a station holds until its processor gets to them.
const RECEIVED_MAX: usize = 256;

/// What the next poll does, its work charged already.
enum Working {
    Seal { talker: usize, due: LocalTime },
    Open { listener: usize, received: Received },
    Relay { relay: usize, pdu: Pdu },
    OpenContainer { container: usize, frame: CanFrame },
    JudgeContained,
    Announce,
    Follow(CanFrame),
}

/// A message as it came.
enum Received {
    /// In one frame.
    Frame(CanFrame),
    /// In several.
    Whole(Vec<u8>),
}

impl Received {
    fn data(&self) -> &[u8] {
        match self {
            Self::Frame(frame) => frame.data(),
            Self::Whole(message) => message,
        }
    }
}

/// Who of a station takes a frame.
#[derive(Clone, Copy)]
enum Addressee {
    Listener(usize),
    Container(usize),
    Synchronisation,
    /// What puts messages together.
    Segment(usize),
    /// What sends messages in pieces.
    Answer(usize),
}

pub(super) struct Application {
    pub(super) base: NodeBase<VecDeque<Event>>,
    talkers: Vec<Talker>,
    /// When the next message of each talker is due.
    talking: ByTime,
    listeners: Vec<Listener>,
    /// When each listener has waited too long, if it looks after that.
    waiting: ByTime,
    by_id: ById<Addressee>,
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
    pub(super) segmented: Segmented,
}

impl Application {
    pub(super) fn new(config: StationConfig) -> Result<Self, ProtectionError> {
        let talkers = config.talkers.into_iter().map(Talker::new).collect::<Result<Vec<_>, _>>()?;
        let listeners = config.listeners.into_iter().map(Listener::new).collect::<Result<Vec<_>, _>>()?;
        let synchronisation = config.synchronisation.map(Synchronisation::new).transpose()?;
        let listened = synchronisation.as_ref().and_then(Synchronisation::listens_to);
        let listens = |stream: StreamId| {
            let place = listeners.iter().position(|listener| listener.config.stream == stream)?;
            Some((place, listeners[place].secured_len()))
        };
        let segmented = Segmented::new(config.segmented, listens);
        let by_id = listeners
            .iter()
            .enumerate()
            .map(|(index, listener)| (listener.config.id, Addressee::Listener(index)))
            .chain(config.containers.iter().enumerate().map(|(index, (id, _))| (*id, Addressee::Container(index))))
            .chain(listened.map(|id| (id, Addressee::Synchronisation)))
            .chain(segmented.hears().map(|(id, place)| (id, Addressee::Segment(place))))
            .chain(segmented.answers().map(|(id, channel)| (id, Addressee::Answer(channel))))
            .collect();
        let containers = config.containers.into_iter().map(|(_, container)| container).collect();
        let containers = Containers::new(containers, Protection::check_on_can)?;
        Ok(Self {
            base: NodeBase::new(0..PORT.0 + 1).giving_tokens(),
            talkers,
            talking: ByTime::default(),
            listeners,
            waiting: ByTime::default(),
            by_id,
            containers,
            replays: config.replays.into_iter().map(Replay::new).collect(),
            synchronisation,
            started_at: None,
            received: VecDeque::new(),
            working: None,
            bridge: config.bridge,
            handed: VecDeque::new(),
            relays: Relays::new(config.relays, config.collects, config.relay_queue_len_max)?,
            segmented,
        })
    }

    /// True between the poll that charges for an effect and the one that has it.
    pub(super) const fn is_working(&self) -> bool {
        self.working.is_some()
    }

    pub(super) fn use_group_key(&mut self, now: LocalTime, key: Option<&Key128>) {
        if let Some(synchronisation) = &mut self.synchronisation {
            synchronisation.use_group_key(now, key);
        }
        self.talkers.iter_mut().for_each(|talker| talker.use_group_key(key));
        self.listeners.iter_mut().for_each(|listener| listener.use_group_key(key));
        self.containers.use_group_key(key);
        self.relays.use_group_key(key);
    }

    pub(super) fn command(&mut self, now: LocalTime, command: Command) {
        match command {
            Command::Start => {
                self.started_at = Some(now);
                self.segmented.start();
                for (index, talker) in self.talkers.iter_mut().enumerate() {
                    talker.due = now + talker.config.offset;
                    self.talking.set(index, Some(talker.due));
                }
                if let Some(synchronisation) = &mut self.synchronisation {
                    synchronisation.start(now);
                }
                self.containers.start(now);
                for (index, listener) in self.listeners.iter_mut().enumerate() {
                    let Some(supervision) = &mut listener.supervision else { continue };
                    supervision.start(now);
                    self.waiting.set(index, supervision.due());
                }
            }
            _ => {
                self.started_at = None;
                self.segmented.stop();
                self.forget_released();
            }
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
        let Some(&addressee) = self.by_id.get(view.id()) else { return };
        if self.received.len() == RECEIVED_MAX {
            self.base.push(discard(DiscardReason::QueueFull, self.stream_of(addressee), 0));
            return;
        }
        self.received.push_back((addressee, view.to_frame()));
    }

    fn stream_of(&self, addressee: Addressee) -> StreamId {
        match addressee {
            Addressee::Listener(listener) => self.listeners[listener].config.stream,
            Addressee::Container(container) => self.containers.stream(container),
            Addressee::Synchronisation => self.synchronisation.as_ref().map_or(StreamId::NONE, Synchronisation::stream),
            Addressee::Segment(place) => self.segmented.heard_stream(place),
            Addressee::Answer(channel) => self.segmented.sent_stream(channel),
        }
    }

    /// A frame has left, or never will. False if it is none of the application's.
    pub(super) fn left(&mut self, now: LocalTime, token: u64, has_left: bool) -> bool {
        self.relays.left(token) || self.segmented.left(now, token, has_left)
    }

    pub(super) fn poll(&mut self, now: LocalTime, buffer: &mut [u8]) -> Output {
        loop {
            if let Some(output) = self.next(now, buffer) {
                return output;
            }
        }
    }

    /// What comes next; `None` if something has been done that gives nothing by itself.
    fn next(&mut self, now: LocalTime, buffer: &mut [u8]) -> Option<Output> {
        if let Some(output) = self.base.next(now, buffer) {
            return Some(output);
        }
        match self.working.take() {
            Some(Working::Seal { talker, due }) => return self.send(talker, due, now, buffer),
            Some(Working::Open { listener, received }) => return Some(self.open(listener, &received, now)),
            Some(Working::Relay { relay, pdu }) => return self.relay(relay, &pdu, now, buffer),
            Some(Working::OpenContainer { container, frame }) => {
                self.open_container(container, &frame);
                return None;
            }
            Some(Working::JudgeContained) => return self.judge_contained(now),
            Some(Working::Announce) => return Some(self.announce(now, buffer)),
            Some(Working::Follow(frame)) => return Some(self.follow(now, &frame)),
            None => {}
        }
        match self.segmented.poll(now, buffer) {
            Some(Next::Output(output, mark)) => {
                self.relays.sent = mark.or(self.relays.sent);
                return Some(output);
            }
            Some(Next::Whole { listener, message }) => {
                return Some(self.begin_open(listener, Received::Whole(message), now));
            }
            None => self.forget_released(),
        }
        if let Some(work) = self.containers.next_work() {
            let Some(work) = work else { return self.judge_contained(now) };
            self.working = Some(Working::JudgeContained);
            return Some(Output::Work(work));
        }
        if let Some((addressee, frame)) = self.received.pop_front() {
            return self.take_in(addressee, frame, now);
        }
        if self.started_at.is_none() {
            return Some(Output::Timeout(None));
        }
        match self.synchronisation.as_mut().and_then(|synchronisation| synchronisation.poll(now)) {
            Some(Due::Announce(work)) => {
                self.working = Some(Working::Announce);
                return Some(Output::Work(work));
            }
            Some(Due::Tell(event)) => return Some(Output::Event(event)),
            None => {}
        }
        if let Some((relay, pdu)) = self.relays.next() {
            return self.begin_relay(relay, pdu, now, buffer);
        }
        if let Some(event) = self.absent(now) {
            return Some(Output::Event(event));
        }
        if let Some(talker) = self.talking.first_due(now) {
            return self.talk(talker, now, buffer);
        }
        Some(self.replay(now, buffer).unwrap_or_else(|| self.idle()))
    }

    /// What was sent in pieces and is gone makes room for what comes next.
    fn forget_released(&mut self) {
        (0..self.segmented.take_released()).for_each(|_| self.relays.forget());
    }

    /// The first listener that has waited too long.
    fn absent(&mut self, now: LocalTime) -> Option<Event> {
        let of_listener = self.waiting.first_due(now).and_then(|index| {
            let listener = &mut self.listeners[index];
            let supervision = listener.supervision.as_mut()?;
            let absent = supervision.absent(now)?;
            self.waiting.set(index, supervision.due());
            Some(Event::of(EventKind::Missing, listener.config.stream, absent))
        });
        of_listener.or_else(|| self.containers.absent(now))
    }

    /// A PDU that goes on: what it costs to seal it, or what comes of it.
    fn begin_relay(&mut self, relay: Option<usize>, pdu: Pdu, now: LocalTime, buffer: &mut [u8]) -> Option<Output> {
        let Some(relay) = relay else {
            let len = pdu.bytes.len();
            buffer[..len].copy_from_slice(&pdu.bytes);
            let token = Some(self.relays.whole(&pdu));
            return Some(Output::Transmit(Transmit { port: PORT, priority: Priority(0), launch_at: now, len, token }));
        };
        match self.relays.work(relay, &pdu, self.moment()) {
            Ok(Some(work)) => {
                self.working = Some(Working::Relay { relay, pdu });
                Some(Output::Work(work))
            }
            Ok(None) => self.relay(relay, &pdu, now, buffer),
            Err(kind) => Some(self.lose(kind, &pdu)),
        }
    }

    fn relay(&mut self, relay: usize, pdu: &Pdu, now: LocalTime, buffer: &mut [u8]) -> Option<Output> {
        let moment = self.moment();
        let config = self.relays.config(relay);
        if let Some(channel) = self.segmented.channel(config.stream) {
            let mut data = vec![0; config.len + config.protection.overhead()];
            match self.relays.seal(relay, pdu, moment, &mut data) {
                Ok(len) => {
                    data.truncate(len);
                    let message = Message { sequence: pdu.sequence, origin: Origin::Relayed(pdu.mark) };
                    self.segmented.send(channel, message, data);
                    return None;
                }
                Err(kind) => return Some(self.lose(kind, pdu)),
            }
        }
        let mut data = [0; 64];
        let sealed = self.relays.seal(relay, pdu, moment, &mut data);
        let sealed = sealed.and_then(|len| self.relays.frame(relay, pdu.mark, len, &data));
        Some(match sealed {
            Ok((frame, token)) => transmit(&frame, now, buffer, Some(token)),
            Err(kind) => self.lose(kind, pdu),
        })
    }

    /// A PDU that was to go on does not.
    fn lose(&mut self, kind: EventKind, pdu: &Pdu) -> Output {
        self.relays.forget();
        Output::Event(Event::of(kind, pdu.stream, pdu.sequence))
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
    fn take_in(&mut self, addressee: Addressee, frame: CanFrame, now: LocalTime) -> Option<Output> {
        match addressee {
            Addressee::Synchronisation => {
                let Some(work) = self.synchronisation.as_ref().and_then(Synchronisation::checking) else {
                    return Some(self.follow(now, &frame));
                };
                self.working = Some(Working::Follow(frame));
                Some(Output::Work(work))
            }
            Addressee::Listener(index) => Some(self.begin_open(index, Received::Frame(frame), now)),
            Addressee::Container(container) => {
                let Some(work) = self.containers.work(container, frame.data().len()) else {
                    self.open_container(container, &frame);
                    return None;
                };
                self.working = Some(Working::OpenContainer { container, frame });
                Some(Output::Work(work))
            }
            Addressee::Segment(place) => {
                self.segmented.take(now, place, frame.data());
                None
            }
            Addressee::Answer(channel) => {
                self.segmented.take_answer(now, channel, frame.data());
                None
            }
        }
    }

    /// A received message: what it costs to check it, or what comes of it.
    fn begin_open(&mut self, listener: usize, received: Received, now: LocalTime) -> Output {
        match self.listeners[listener].work() {
            Some(work) => {
                self.working = Some(Working::Open { listener, received });
                Output::Work(work)
            }
            None => self.open(listener, &received, now),
        }
    }

    fn open(&mut self, listener: usize, received: &Received, now: LocalTime) -> Output {
        let moment = self.moment();
        let event = self.listeners[listener].open(received.data(), now, moment, &mut self.handed);
        if let Some(supervision) = &self.listeners[listener].supervision {
            self.waiting.set(listener, supervision.due());
        }
        Output::Event(event)
    }

    /// Takes a frame with PDUs of several streams apart.
    fn open_container(&mut self, container: usize, frame: &CanFrame) {
        let events = self.containers.open(container, (frame.data(), 0), self.moment(), || Ok(()));
        events.into_iter().for_each(|event| self.base.push(event));
    }

    /// The next PDU that was in a frame with others.
    fn judge_contained(&mut self, now: LocalTime) -> Option<Output> {
        let (event, pdu) = self.containers.judge_next(now, self.moment())?;
        self.handed.extend(pdu);
        Some(Output::Event(event))
    }

    /// The synchronisation message that was paid for.
    fn announce(&mut self, now: LocalTime, buffer: &mut [u8]) -> Output {
        match self.synchronisation.as_ref().and_then(|synchronisation| synchronisation.announcement().ok()) {
            Some((frame, event)) => {
                self.base.push(event);
                transmit(&frame, now, buffer, None)
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
        let talkers = self.talking.earliest().into_iter();
        let talkers = talkers.chain(self.synchronisation.as_ref().map(Synchronisation::due));
        let supervised = self.waiting.earliest();
        let talkers = talkers.chain(supervised).chain(self.segmented.wakes_at()).chain(self.containers.due());
        talkers.chain(self.replays.iter().filter_map(|replay| replay.due(started_at))).min()
    }

    /// The earliest message that is due, which is one of this talker.
    fn talk(&mut self, index: usize, now: LocalTime, buffer: &mut [u8]) -> Option<Output> {
        let moment = self.moment();
        let due = self.step(index);
        let talker = &mut self.talkers[index];
        match talker.work(moment) {
            Ok(Some(work)) => {
                self.working = Some(Working::Seal { talker: index, due });
                Some(Output::Work(work))
            }
            Ok(None) => self.send(index, due, now, buffer),
            Err(withheld) => Some(late(withheld, now, due)),
        }
    }

    fn send(&mut self, index: usize, due: LocalTime, now: LocalTime, buffer: &mut [u8]) -> Option<Output> {
        let moment = self.moment();
        let talker = &mut self.talkers[index];
        let since_start = self.started_at.map(|started_at| due - started_at);
        if let Some(channel) = self.segmented.channel(talker.config.stream) {
            let mut data = vec![0; talker.secured_len()];
            let len = match talker.make(&mut data, since_start, moment) {
                Ok(len) => len,
                Err(withheld) => return Some(late(withheld, now, due)),
            };
            data.truncate(len);
            // That it is sent is told when its first frame is.
            let sequence = talker.sent(now, due).sequence;
            self.segmented.send(channel, Message { sequence, origin: Origin::Own(due) }, data);
            return None;
        }
        let mut data = [0; 64];
        let len = match talker.make(&mut data, since_start, moment) {
            Ok(len) => len,
            Err(withheld) => return Some(late(withheld, now, due)),
        };
        // A length between two that FD has is filled up to the next one.
        let Some(dlc) = Dlc::holding(len) else {
            return Some(Output::Event(discard(DiscardReason::TooLong, talker.config.stream, talker.sequence)));
        };
        let frame = CanFrame::new(talker.config.id, talker.config.kind, dlc, &data);
        let sent = talker.sent(now, due);
        self.base.push(sent);
        Some(transmit(&frame, now, buffer, None))
    }

    /// Lets the next message of a talker become due, and says when this one was.
    fn step(&mut self, talker: usize) -> LocalTime {
        let due = self.talkers[talker].step();
        self.talking.set(talker, Some(self.talkers[talker].due));
        due
    }

    /// The next frame that was due and has not been handed over.
    pub(super) fn owed(&mut self, now: LocalTime) -> Option<(StreamId, LocalTime)> {
        let started_at = self.started_at?;
        if let Some(Working::Seal { talker, due }) = self.working {
            self.working = None;
            return Some((self.talkers[talker].config.stream, due));
        }
        if let Some(owed) = self.segmented.owed() {
            return Some(owed);
        }
        if let Some(talker) = self.talking.first_due(now) {
            let due = self.step(talker);
            return Some((self.talkers[talker].config.stream, due));
        }
        let is_due = |replay: &&mut Replay| replay.due(started_at).is_some_and(|due| due <= now);
        let replay = self.replays.iter_mut().find(is_due)?;
        let due = replay.due(started_at)?;
        replay.take();
        Some((replay.config.stream, due))
    }

    fn replay(&mut self, now: LocalTime, buffer: &mut [u8]) -> Option<Output> {
        let started_at = self.started_at?;
        let replay = self.replays.iter_mut().find(|replay| replay.due(started_at).is_some_and(|due| due <= now))?;
        let value = replay.due(started_at).map_or(0, |due| (now - due).as_ps());
        let (frame, number) = replay.take();
        self.base.push(Event { value, ..Event::of(EventKind::Sent, replay.config.stream, number) });
        Some(transmit(&frame, now, buffer, None))
    }
}

/// Tells of a message that is withheld how much later than it was due that is.
fn late(withheld: Event, now: LocalTime, due: LocalTime) -> Output {
    Output::Event(Event { value: (now - due).as_ps(), ..withheld })
}
