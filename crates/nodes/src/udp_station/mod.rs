//! A station that sends and receives messages as UDP datagrams over IPv4 (RFC 768, RFC 791), as a program with a socket does: in a
//! live run the host's own kernel does what stands here.
//!
//! A message is a datagram, cut into fragments where it is longer than a packet; one that is longer than a datagram is cut into parts,
//! each a datagram in a packet of its own ([`Framing::Parts`]). Packets may overtake each other, come twice or not at all, so a receiver
//! puts several messages together at once, takes their pieces in any order, and reports a message that it has had already
//! instead of delivering it again. A message is sealed as a whole and opened when all of it is there.
//!
//! Messages of other streams go over connections, which are the kernel's and live only ([`Framing::Message`]): the station gives and gets
//! each as one frame of its own EtherType, whatever its length.

mod check;
mod collect;
mod listen;
mod talk;
mod trigger;

use std::collections::VecDeque;
use std::sync::Arc;

use chronoseal_core::{
    Command, DiscardReason, Duration, Event, EventKind, HandleError, Input, LocalTime, Node, NodeBase, NodeId,
    Operation, Output, PortId, Priority, StreamId, Transmit, Work,
};
use chronoseal_wire::ethernet::HEADER_LEN;
use chronoseal_wire::ipv4::{Cut, Packet};
use chronoseal_wire::test_bed_header::{ETHERTYPE_BEST_EFFORT, TestBedHeader};
use chronoseal_wire::{udp, virtual_link};

pub use self::collect::{NUMBERS_TOLD_APART, unfinished_max};
use self::listen::{Accepted, Listener, Taken, Whole};
use self::talk::Talker;
pub use self::trigger::Trigger;
use crate::protection::{Protection, ProtectionError};
use crate::signal::RecordedSignal;

/// What a program does with a message.
const PROGRAM: Operation = Operation("program");

/// In place of when a message was due that does not say so `[ps]`.
const NO_DUE: i64 = i64::MIN;

/// The one port of a station.
const PORT: PortId = PortId(0);

/// What a station is made from.
#[derive(Clone, Debug)]
pub struct UdpStationConfig {
    /// Itself.
    pub node: NodeId,
    /// What it sends.
    pub talkers: Vec<UdpTalker>,
    /// What it receives.
    pub listeners: Vec<UdpListener>,
}

/// A stream that a station sends.
#[derive(Clone, Debug)]
pub struct UdpTalker {
    /// Which.
    pub stream: StreamId,
    /// The first message, by the station's oscillator, unless it is an answer.
    pub phase: Duration,
    /// What makes the station send.
    pub trigger: Trigger,
    /// In what its messages travel.
    pub framing: Framing,
    /// As long as a message before it is protected; what it carries behind its header, unless `payload` or a recording says that.
    pub fill: Vec<u8>,
    /// What changes of it from message to message.
    pub payload: Payload,
    /// A recorded signal that stands behind that number, if there is one.
    pub signal: Option<RecordedSignal>,
    /// How its messages are protected.
    pub protection: Protection,
    /// Its datagrams have no checksum of UDP, as a socket may ask for: what is altered on the way comes, and is found by that of the message.
    pub leaves_checksum_out: bool,
}

/// What of a payload changes from message to message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Payload {
    /// Nothing.
    #[default]
    Same,
    /// Byte 20 of a message is its number, and each byte one more than that before it, modulo 256.
    Sequential,
    /// Every byte is drawn anew, from this seed, the stream and the number of the message.
    Random(u64),
}

/// A stream that a station receives.
#[derive(Clone, Debug)]
pub struct UdpListener {
    /// Which.
    pub stream: StreamId,
    /// Who sends it.
    pub sender: NodeId,
    /// In what its messages travel.
    pub framing: Framing,
    /// A message of which so long after its first packet not all have come is given up.
    pub timeout: Duration,
    /// How its messages are protected.
    pub protection: Protection,
    /// What its program takes of a message before it has it.
    pub takes: Option<ProgramTimes>,
}

/// What a program takes of a message that has come, as it was measured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramTimes {
    /// One of these, each as likely as the others. Never empty.
    pub times: Arc<[Duration]>,
    /// Which of them it is, is drawn from this.
    pub seed: u64,
}

/// In what messages travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    /// In datagrams of UDP that are cut so, their header included.
    Datagram(Cut),
    /// Each in a datagram and a packet of its own, of whatever length.
    Packet,
    /// In datagrams with a part each, in a packet of its own behind a [part header](chronoseal_wire::part_header): what is behind the
    /// test-bed header of the message, its protection included, is cut so.
    Parts(Cut),
    /// Each in one frame, behind a header of Ethernet with [`ETHERTYPE_BEST_EFFORT`]: what carries it keeps its ends and its order.
    Message,
}

/// The addresses of a stream's packets.
const fn ends(sender: NodeId, stream: StreamId) -> udp::Ends {
    udp::Ends { source: virtual_link::station_ip(sender), destination: virtual_link::stream_ip(stream) }
}

/// A station, and what it has to do yet.
pub struct UdpStation {
    node: NodeId,
    base: NodeBase<VecDeque<Event>>,
    talkers: Vec<Talker>,
    listeners: Vec<Listener>,
    /// What has to be computed, in its order.
    jobs: VecDeque<Job>,
    /// The driver was told of the first of them.
    is_told: bool,
    /// When it began with a message last.
    begun_at: LocalTime,
    is_running: bool,
}

/// Something to compute.
enum Job {
    /// The next message of a talker is sealed.
    Seal(usize),
    /// A message is opened for a listener: what stands in these bytes from so many on.
    Open(usize, Vec<u8>, usize),
    /// The program of a listener takes so long of a message.
    Take(usize, Accepted, Duration),
}

impl UdpStation {
    /// A station that has not started.
    ///
    /// # Errors
    /// [`ProtectionError`] if a stream is protected in a way that it cannot.
    pub fn new(config: UdpStationConfig) -> Result<Self, ProtectionError> {
        Ok(Self {
            node: config.node,
            base: NodeBase::new(PORT.0..PORT.0 + 1),
            talkers: config.talkers.into_iter().map(Talker::new).collect::<Result<_, _>>()?,
            listeners: config.listeners.into_iter().map(Listener::new).collect::<Result<_, _>>()?,
            jobs: VecDeque::new(),
            is_told: false,
            begun_at: LocalTime::ZERO,
            is_running: false,
        })
    }

    /// The next packet, if one is due: the rest of a message that has begun goes before all others.
    fn send(&mut self, now: LocalTime, buffer: &mut [u8]) -> Option<Output> {
        let index = self.talkers.iter().position(Talker::has_begun)?;
        let len = self.talkers[index].write(self.node, buffer);
        Some(Output::Transmit(Transmit { port: PORT, priority: Priority(0), launch_at: now, len, token: None }))
    }

    /// Begins with the next message that is due, or with sealing it. False if none is.
    fn begin(&mut self, now: LocalTime) -> bool {
        let due = self.talkers.iter().enumerate().filter(|(_, talker)| talker.is_due(now));
        let Some((index, talker)) = due.min_by_key(|(index, talker)| (talker.turn.due(), *index)) else { return false };
        match talker.work() {
            Some(_) => self.jobs.push_back(Job::Seal(index)),
            None => self.begin_with(now, index),
        }
        true
    }

    fn begin_with(&mut self, now: LocalTime, talker: usize) {
        self.begun_at = now;
        let event = self.talkers[talker].begin(now, self.node);
        event.into_iter().for_each(|event| self.base.push(event));
    }

    /// A bad packet is an event with a reason; it never stops a station.
    fn receive(&mut self, now: LocalTime, rx_at: LocalTime, bytes: &[u8]) {
        let (index, taken) = match self.take(rx_at, bytes) {
            Ok((index, taken)) => (index, taken),
            Err((stream, reason)) => return self.base.push(Event::of(EventKind::Discarded(reason), stream, 0)),
        };
        if let Some(sequence) = taken.began {
            self.base.push(Event::of(EventKind::TransferBegan, self.listeners[index].config.stream, sequence));
        }
        match taken.whole {
            Some(Whole::Judged(judged)) => match (judged, self.listeners[index].program_time()) {
                (Ok(accepted), Some(time)) => self.jobs.push_back(Job::Take(index, accepted, time)),
                (judged, _) => self.tell(now, index, judged),
            },
            Some(Whole::Sealed(bytes, from)) => self.jobs.push_back(Job::Open(index, bytes, from)),
            None => {}
        }
    }

    fn tell(&mut self, now: LocalTime, listener: usize, judged: Result<Accepted, (u64, DiscardReason)>) {
        let stream = self.listeners[listener].config.stream;
        match judged {
            Ok(Accepted { sequence, due }) => {
                // How long ago that was is worked out when a driver asks.
                let value = due.map_or(NO_DUE, LocalTime::as_ps);
                self.base.push(Event { value, ..Event::of(EventKind::Delivered, stream, sequence) });
                self.talkers.iter_mut().for_each(|talker| talker.turn.accepted(now, stream, sequence));
            }
            Err((sequence, reason)) => self.base.push(Event::of(EventKind::Discarded(reason), stream, sequence)),
        }
    }

    /// What a frame did to which listener.
    fn take(&mut self, rx_at: LocalTime, bytes: &[u8]) -> Result<(usize, Taken), (StreamId, DiscardReason)> {
        let of_none = |reason| (StreamId::NONE, reason);
        if let Some(message) = message(bytes) {
            let stream = TestBedHeader::parse(message).map_err(|error| of_none(error.into()))?.stream;
            let is_its =
                |listener: &Listener| listener.config.stream == stream && listener.config.framing == Framing::Message;
            let index = self.listeners.iter().position(is_its).ok_or(of_none(DiscardReason::UnknownStream))?;
            return Ok((index, self.listeners[index].take_message(message)));
        }
        let packet = Packet::in_frame(bytes).ok_or(of_none(DiscardReason::UnknownStream))?;
        let packet = packet.map_err(|error| of_none(error.into()))?;
        let found = self.listeners.iter().position(|listener| listener.is_its(&packet));
        let index = found.ok_or(of_none(DiscardReason::UnknownStream))?;
        let listener = &mut self.listeners[index];
        let taken = listener.take(rx_at, &packet).map_err(|reason| (listener.config.stream, reason))?;
        Ok((index, taken))
    }

    /// What the first job takes, if that is known; `None` if there is no job.
    fn work(&self) -> Option<Option<Work>> {
        Some(match self.jobs.front()? {
            Job::Seal(talker) => self.talkers[*talker].work(),
            Job::Open(listener, bytes, from) => self.listeners[*listener].work(bytes.len() - from),
            Job::Take(_, _, time) => Some(Work::declared(PROGRAM, *time)),
        })
    }

    /// Does the first job.
    fn compute(&mut self, now: LocalTime) {
        self.is_told = false;
        match self.jobs.pop_front() {
            Some(Job::Seal(talker)) => self.begin_with(now, talker),
            Some(Job::Open(listener, bytes, from)) => {
                let opened = self.listeners[listener].open(&bytes[from..]);
                self.tell(now, listener, opened);
            }
            Some(Job::Take(listener, accepted, _)) => self.tell(now, listener, Ok(accepted)),
            None => {}
        }
    }

    /// Gives up what has waited too long. False if nothing has.
    fn give_up(&mut self, now: LocalTime) -> bool {
        let overdue =
            self.listeners.iter_mut().find_map(|listener| Some((listener.config.stream, listener.give_up(now)?)));
        // Of one whose first packet has not come nobody can say which it is; what lost that has told of it.
        if let Some((stream, Some(sequence))) = overdue {
            self.base.push(Event::of(EventKind::Discarded(DiscardReason::FrameMissing), stream, sequence));
        }
        overdue.is_some()
    }
}

/// The message in a frame of its own.
fn message(frame: &[u8]) -> Option<&[u8]> {
    let is_one = frame.get(HEADER_LEN - 2..HEADER_LEN)? == ETHERTYPE_BEST_EFFORT.to_be_bytes();
    is_one.then(|| &frame[HEADER_LEN..])
}

impl Node for UdpStation {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.base.admit(now, &input)?;
        match input {
            Input::Frame { rx_at, bytes, .. } if self.is_running => self.receive(now, rx_at, bytes),
            Input::Command(Command::Start) => {
                self.is_running = true;
                self.talkers.iter_mut().for_each(|talker| talker.turn.start(now + talker.config.phase));
            }
            Input::Command(Command::Stop) => {
                self.is_running = false;
                self.jobs.clear();
                self.is_told = false;
            }
            // A wake-up, perhaps early or twice: whether something is due is looked at when it is polled.
            _ => {}
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, buffer: &mut [u8]) -> Output {
        while self.is_running && self.give_up(now) {}
        loop {
            if let Some(mut output) = self.base.next(now, buffer) {
                // Word of a message goes behind its first packet, and a driver takes it for what was told now.
                match &mut output {
                    Output::Event(Event { kind: EventKind::Sent, value, .. }) => {
                        *value += (now - self.begun_at).as_ps();
                    }
                    Output::Event(Event { kind: EventKind::Delivered, value, .. }) => {
                        *value = if *value == NO_DUE { 0 } else { now.as_ps().saturating_sub(*value) };
                    }
                    _ => {}
                }
                return output;
            }
            if !self.is_running {
                return Output::Timeout(None);
            }
            // The rest of what has begun goes before all else, and of what begins the first packet goes before word of it.
            if !self.is_told
                && let Some(output) = self.send(now, buffer)
            {
                return output;
            }
            match self.work() {
                Some(Some(work)) if !self.is_told => {
                    self.is_told = true;
                    return Output::Work(work);
                }
                Some(_) => self.compute(now),
                None if self.begin(now) => {}
                None => break,
            }
            if let Some(output) = self.send(now, buffer) {
                return output;
            }
        }
        let dues = self.talkers.iter().filter_map(|talker| talker.turn.due());
        let deadlines = self.listeners.iter().filter_map(Listener::deadline);
        Output::Timeout(dues.chain(deadlines).min())
    }

    fn owed(&mut self, now: LocalTime) -> Option<(StreamId, LocalTime)> {
        let talkers = self.talkers.iter_mut().filter(|talker| talker.is_due(now));
        let earliest = talkers.min_by_key(|talker| talker.turn.due()).filter(|_| self.is_running)?;
        let (due, _) = earliest.turn.step(now)?;
        Some((earliest.config.stream, due))
    }
}

#[cfg(test)]
mod tests;
