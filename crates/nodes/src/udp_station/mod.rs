//! A station that sends and receives messages as UDP datagrams over IPv4 (RFC 768, RFC 791), as a program with a socket does: in a
//! live run the host's own kernel does what stands here.
//!
//! A message is a datagram, cut into fragments where it is longer than a packet. Packets may overtake each other, come twice or not
//! at all, so a receiver puts several messages together at once, takes their fragments in any order, and reports a message
//! that it has had already instead of delivering it again.
//!
//! Messages of other streams go over connections, which are the kernel's and live only ([`Framing::Message`]): the station gives and gets
//! each as one frame of its own EtherType, whatever its length.

mod collect;

use std::collections::VecDeque;

use chronoseal_core::{
    Command, DiscardReason, Duration, Event, EventKind, HandleError, Input, LocalTime, Node, NodeBase, NodeId, Output,
    PortId, Priority, StreamId, Transmit,
};
use chronoseal_wire::ethernet::{FRAME_LEN_MIN, HEADER_LEN, Header, TypeOrLength};
use chronoseal_wire::ipv4::{self, Cut, ETHERTYPE_IPV4, PROTOCOL_UDP, Packet};
use chronoseal_wire::test_bed_header::{ETHERTYPE_BEST_EFFORT, TestBedHeader};
use chronoseal_wire::{udp, virtual_link};

use self::collect::{Collected, Collector, Seen};
use crate::pace::{Pace, PaceConfig};

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
    /// The first message, by the station's oscillator.
    pub phase: Duration,
    /// Distance of two messages.
    pub pace: PaceConfig,
    /// In what its messages travel.
    pub framing: Framing,
    /// What every message carries behind the number of stream and message.
    pub fill: Vec<u8>,
}

/// A stream that a station receives.
#[derive(Clone, Copy, Debug)]
pub struct UdpListener {
    /// Which.
    pub stream: StreamId,
    /// Who sends it.
    pub sender: NodeId,
    /// In what its messages travel.
    pub framing: Framing,
    /// A message of which so long after its first packet not all have come is given up.
    pub timeout: Duration,
}

/// In what messages travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    /// In datagrams of UDP that are cut so, their header included.
    Datagram(Cut),
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
    is_running: bool,
}

struct Talker {
    config: UdpTalker,
    pace: Pace,
    /// When its next message is due.
    due: LocalTime,
    sequence: u64,
    /// The datagram or message that is being sent, and where its next fragment begins; behind its end if all of it has left.
    datagram: Vec<u8>,
    next: usize,
}

struct Listener {
    config: UdpListener,
    /// Of datagrams.
    collector: Option<Collector>,
    seen: Seen,
}

impl UdpStation {
    /// A station that has not started.
    pub fn new(config: UdpStationConfig) -> Self {
        let talker = |config: UdpTalker| Talker {
            pace: Pace::new(config.pace, config.stream.0),
            due: LocalTime::ZERO,
            sequence: 0,
            next: config.len(),
            datagram: vec![0; config.len()],
            config,
        };
        let listener = |config: UdpListener| Listener {
            collector: match config.framing {
                Framing::Datagram(cut) => Some(Collector::new(cut, config.timeout)),
                Framing::Message => None,
            },
            seen: Seen::default(),
            config,
        };
        Self {
            node: config.node,
            base: NodeBase::new(PORT.0..PORT.0 + 1),
            talkers: config.talkers.into_iter().map(talker).collect(),
            listeners: config.listeners.into_iter().map(listener).collect(),
            is_running: false,
        }
    }

    /// The next packet, if one is due: the rest of a message that has begun goes before all others.
    fn send(&mut self, now: LocalTime, buffer: &mut [u8]) -> Option<Output> {
        let has_begun = |talker: &Talker| talker.next < talker.datagram.len();
        let index = self.talkers.iter().position(has_begun).or_else(|| {
            let earliest = self.talkers.iter().enumerate().min_by_key(|(index, talker)| (talker.due, *index));
            let (index, _) = earliest.filter(|(_, talker)| talker.due <= now)?;
            self.begin(now, index);
            Some(index)
        })?;
        let talker = &mut self.talkers[index];
        let Framing::Datagram(cut) = talker.config.framing else {
            let len = talker.write_message(self.node, buffer);
            return Some(Output::Transmit(Transmit {
                port: PORT,
                priority: Priority(0),
                launch_at: now,
                len,
                token: None,
            }));
        };
        let (offset, len) = (talker.next, cut.len_at(talker.next));
        talker.next += len;
        let identification = (talker.sequence - 1) as u16;
        let data = &talker.datagram[offset..offset + len];
        let ends = ends(self.node, talker.config.stream);
        let packet =
            ipv4::Header { source: ends.source, destination: ends.destination, identification, protocol: PROTOCOL_UDP };
        let header = Header {
            destination: virtual_link::stream_address(talker.config.stream),
            source: virtual_link::station_address(self.node),
            type_or_length: TypeOrLength::EtherType(ETHERTYPE_IPV4),
        };
        let len = write(header, packet, (offset, !cut.is_last(offset)), data, buffer);
        Some(Output::Transmit(Transmit { port: PORT, priority: Priority(0), launch_at: now, len, token: None }))
    }

    /// Makes the next message of a talker, and reports that it is sent.
    fn begin(&mut self, now: LocalTime, index: usize) {
        let node = self.node;
        let talker = &mut self.talkers[index];
        let stream = talker.config.stream;
        let (due, sequence) = (talker.due, talker.sequence);
        talker.due = due + talker.pace.step();
        talker.sequence += 1;
        let is_datagram = matches!(talker.config.framing, Framing::Datagram(_));
        let message = &mut talker.datagram[if is_datagram { udp::HEADER_LEN } else { 0 }..];
        TestBedHeader { stream, sequence: sequence as u32 }.emit(message);
        let filled = talker.config.fill.len().min(message.len() - TestBedHeader::LEN);
        message[TestBedHeader::LEN..TestBedHeader::LEN + filled].copy_from_slice(&talker.config.fill[..filled]);
        if is_datagram {
            udp::emit(&mut talker.datagram);
            udp::fill_checksum(&mut talker.datagram, ends(node, stream));
        }
        talker.next = 0;
        self.base.push(Event { value: (now - due).as_ps(), ..Event::of(EventKind::Sent, stream, sequence) });
    }

    /// A bad packet is an event with a reason; it never stops a station.
    fn receive(&mut self, rx_at: LocalTime, bytes: &[u8]) {
        let (stream, taken) = match self.take(rx_at, bytes) {
            Ok((stream, taken)) => (stream, Ok(taken)),
            Err((stream, reason)) => (stream, Err(reason)),
        };
        let tell = |base: &mut NodeBase<VecDeque<Event>>, kind, sequence| base.push(Event::of(kind, stream, sequence));
        match taken {
            Err(reason) => tell(&mut self.base, EventKind::Discarded(reason), 0),
            Ok(Taken { began, whole }) => {
                if let Some(sequence) = began {
                    tell(&mut self.base, EventKind::TransferBegan, sequence);
                }
                match whole {
                    Some(Ok(sequence)) => tell(&mut self.base, EventKind::Delivered, sequence),
                    Some(Err((sequence, reason))) => tell(&mut self.base, EventKind::Discarded(reason), sequence),
                    None => {}
                }
            }
        }
    }

    fn take(&mut self, rx_at: LocalTime, bytes: &[u8]) -> Result<(StreamId, Taken), (StreamId, DiscardReason)> {
        let of_none = |reason| (StreamId::NONE, reason);
        if let Some(message) = message(bytes) {
            return self.take_message(message);
        }
        let packet = Packet::in_frame(bytes).ok_or(of_none(DiscardReason::UnknownStream))?;
        let packet = packet.map_err(|error| of_none(error.into()))?;
        let is_its = |listener: &&mut Listener| {
            ends(listener.config.sender, listener.config.stream)
                == udp::Ends { source: packet.source, destination: packet.destination }
                && packet.protocol == PROTOCOL_UDP
        };
        let listener = self.listeners.iter_mut().find(is_its).ok_or(of_none(DiscardReason::UnknownStream))?;
        let stream = listener.config.stream;
        let collector = listener.collector.as_mut().ok_or((stream, DiscardReason::UnknownStream))?;
        let collected = collector.take(rx_at, &packet).map_err(|reason| (stream, reason))?;
        let began = (packet.offset == 0 && packet.more_fragments && collected != Collected::Nothing)
            .then(|| number(packet.data))
            .flatten();
        let whole = match collected {
            Collected::Whole(datagram) => Some(listener.open(&datagram)),
            Collected::Waits | Collected::Nothing => None,
        };
        Ok((stream, Taken { began, whole }))
    }

    /// A message that came whole over a connection.
    fn take_message(&mut self, message: &[u8]) -> Result<(StreamId, Taken), (StreamId, DiscardReason)> {
        let header = TestBedHeader::parse(message).map_err(|error| (StreamId::NONE, error.into()))?;
        let is_its = |listener: &&mut Listener| {
            listener.config.stream == header.stream && listener.config.framing == Framing::Message
        };
        let listener = self.listeners.iter_mut().find(is_its).ok_or((StreamId::NONE, DiscardReason::UnknownStream))?;
        Ok((header.stream, Taken { began: None, whole: Some(listener.number(header.sequence.into())) }))
    }

    /// Gives up what has waited too long. False if nothing has.
    fn give_up(&mut self, now: LocalTime) -> bool {
        let overdue = self.listeners.iter_mut().find_map(|listener| {
            let first = listener.collector.as_mut()?.give_up(now)?;
            Some((listener.config.stream, first.as_deref().and_then(number)))
        });
        // Of one whose first packet has not come nobody can say which it is; what lost that has told of it.
        if let Some((stream, Some(sequence))) = overdue {
            self.base.push(Event::of(EventKind::Discarded(DiscardReason::FrameMissing), stream, sequence));
        }
        overdue.is_some()
    }
}

/// What a packet did.
struct Taken {
    /// It is the first of several of this message.
    began: Option<u64>,
    /// It completes a message, which is delivered or not.
    whole: Option<Result<u64, (u64, DiscardReason)>>,
}

impl Listener {
    /// The number of a datagram that is all there, or why it is not delivered.
    fn open(&mut self, datagram: &[u8]) -> Result<u64, (u64, DiscardReason)> {
        let UdpListener { sender, stream, .. } = self.config;
        let claimed = number(datagram).unwrap_or_default();
        let data = udp::parse(datagram, ends(sender, stream), true).map_err(|error| (claimed, error.into()))?;
        let header = TestBedHeader::parse(data).map_err(|error| (claimed, error.into()))?;
        let sequence = u64::from(header.sequence);
        if header.stream != stream {
            return Err((sequence, DiscardReason::UnknownStream));
        }
        self.number(sequence)
    }

    /// The number of a message if it is the first of that number.
    fn number(&mut self, sequence: u64) -> Result<u64, (u64, DiscardReason)> {
        if self.seen.take(sequence) { Ok(sequence) } else { Err((sequence, DiscardReason::CopyEliminated)) }
    }
}

impl UdpTalker {
    /// What is sent of a message, the header of UDP included where it has one `[byte]`.
    fn len(&self) -> usize {
        match self.framing {
            Framing::Datagram(cut) => cut.datagram_len,
            Framing::Message => self.fill.len().max(TestBedHeader::LEN),
        }
    }
}

impl Talker {
    /// Writes the message as a frame of its own to the front of `buffer`; returns its length `[byte]`, 0 if there is no room.
    fn write_message(&mut self, node: NodeId, buffer: &mut [u8]) -> usize {
        self.next = self.datagram.len();
        let len = HEADER_LEN + self.datagram.len();
        let Some(frame) = buffer.get_mut(..len) else { return 0 };
        let header = Header {
            destination: virtual_link::stream_address(self.config.stream),
            source: virtual_link::station_address(node),
            type_or_length: TypeOrLength::EtherType(ETHERTYPE_BEST_EFFORT),
        };
        header.emit(frame);
        frame[HEADER_LEN..].copy_from_slice(&self.datagram);
        len
    }
}

/// The message in a frame of its own.
fn message(frame: &[u8]) -> Option<&[u8]> {
    let is_one = frame.get(HEADER_LEN - 2..HEADER_LEN)? == ETHERTYPE_BEST_EFFORT.to_be_bytes();
    is_one.then(|| &frame[HEADER_LEN..])
}

/// The number at the front of a datagram, checked or not.
fn number(datagram: &[u8]) -> Option<u64> {
    let header = TestBedHeader::parse(datagram.get(udp::HEADER_LEN..)?).ok()?;
    Some(header.sequence.into())
}

/// Writes the frame of a fragment to the front of `buffer`; returns its length `[byte]`.
fn write(
    header: Header,
    packet: ipv4::Header,
    (offset, more_fragments): (usize, bool),
    data: &[u8],
    buffer: &mut [u8],
) -> usize {
    header.emit(buffer);
    packet.emit((offset, data.len()), more_fragments, &mut buffer[HEADER_LEN..]);
    let front = HEADER_LEN + ipv4::HEADER_LEN;
    let len = front + data.len();
    buffer[front..len].copy_from_slice(data);
    // A short frame is padded (IEEE 802.3).
    if len < FRAME_LEN_MIN {
        buffer[len..FRAME_LEN_MIN].fill(0);
    }
    len.max(FRAME_LEN_MIN)
}

impl Node for UdpStation {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.base.admit(now, &input)?;
        match input {
            Input::Frame { rx_at, bytes, .. } if self.is_running => self.receive(rx_at, bytes),
            Input::Command(Command::Start) => {
                self.is_running = true;
                self.talkers.iter_mut().for_each(|talker| talker.due = now + talker.config.phase);
            }
            Input::Command(Command::Stop) => self.is_running = false,
            // A wake-up, perhaps early or twice: whether something is due is looked at when it is polled.
            _ => {}
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, buffer: &mut [u8]) -> Output {
        while self.is_running && self.give_up(now) {}
        if let Some(event) = self.base.next(now, buffer) {
            return event;
        }
        if !self.is_running {
            return Output::Timeout(None);
        }
        if let Some(output) = self.send(now, buffer) {
            // What is sent is told of before it leaves.
            return output;
        }
        let dues = self.talkers.iter().map(|talker| talker.due);
        let deadlines = self.listeners.iter().filter_map(|listener| listener.collector.as_ref()?.deadline());
        Output::Timeout(dues.chain(deadlines).min())
    }

    fn owed(&mut self, now: LocalTime) -> Option<(StreamId, LocalTime)> {
        let talkers = self.talkers.iter_mut().filter(|talker| talker.due <= now);
        let earliest = talkers.min_by_key(|talker| talker.due).filter(|_| self.is_running)?;
        let (stream, due) = (earliest.config.stream, earliest.due);
        earliest.due = due + earliest.pace.step();
        Some((stream, due))
    }
}

#[cfg(test)]
mod tests;
