//! Messages of a station that are longer than a frame: UDP datagrams in fragments of IPv4 (RFC 768, RFC 791).
//!
//! What protects a message covers the whole of it: it is sealed before it is cut, and opened when all of it is there. Its sender
//! makes all of its frames at once, one behind the other; those of a virtual link go one in each bandwidth allocation gap.

use std::ops::Range;

use chronoseal_core::{DiscardReason, Event, EventKind, LocalTime, Output, PortId, StreamId, TransferFault, Transmit};
use chronoseal_wire::ethernet::{FRAME_LEN_MIN, Frame, HEADER_LEN, TypeOrLength};
use chronoseal_wire::ipv4::{self, Cut, ETHERTYPE_IPV4, PROTOCOL_UDP, Packet};
use chronoseal_wire::test_bed_header::TestBedHeader;
use chronoseal_wire::udp;
use chronoseal_wire::virtual_link::SequenceNumber;

use super::receive::Admitted;
use super::talker::Regulation;
use super::{EndSystem, Sealing};
use crate::gateway::Mark;
use crate::reassembly::{Reassembly, ReassemblyConfig, Taken};

/// A stream whose messages are datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DatagramConfig {
    /// The addresses of its packets.
    pub ends: udp::Ends,
    /// How they are cut, and how long a receiver waits for the rest of one.
    pub reassembly: ReassemblyConfig,
}

/// Makes the frames of one message after the other.
pub(super) struct Fragmenter {
    config: DatagramConfig,
    /// Of every frame, tags included.
    header: Vec<u8>,
    /// The message as a frame would have it that has room for it: its data begin behind a header, of which the datagram's own takes
    /// the place. Only the front is written if only headers are.
    pub(super) bytes: Vec<u8>,
    identification: u16,
    /// Where the next fragment begins; behind the datagram if none is on its way.
    next: usize,
    /// Where the message comes from, if a gateway passes it on.
    mark: Option<Mark>,
}

impl Fragmenter {
    /// For a stream of which this would be a frame, had it room for a message. Its header has so many bytes.
    pub(super) fn new(config: DatagramConfig, template: &[u8], header_len: usize) -> Self {
        let mut header = template[..header_len].to_vec();
        header[header_len - 2..].copy_from_slice(&ETHERTYPE_IPV4.to_be_bytes());
        let next = config.reassembly.cut.datagram_len;
        Self { config, header, bytes: vec![0; template.len()], identification: 0, next, mark: None }
    }

    const fn cut(&self) -> Cut {
        self.config.reassembly.cut
    }

    /// The message in [`Self::bytes`] is complete, and this is where it comes from.
    pub(super) fn begin(&mut self, sequence: u64, mark: Option<Mark>, real_bytes: bool) {
        self.mark = mark;
        let datagram = self.datagram();
        udp::emit(&mut self.bytes[datagram.clone()]);
        if real_bytes {
            udp::fill_checksum(&mut self.bytes[datagram], self.config.ends);
        }
        // Of a number that grows by one the low bits are another one for 65,536 messages.
        (self.identification, self.next) = (sequence as u16, 0);
    }

    /// Where it stands in [`Self::bytes`].
    fn datagram(&self) -> Range<usize> {
        let from = self.header.len() - udp::HEADER_LEN;
        from..from + self.cut().datagram_len
    }

    /// True if a message is on its way.
    pub(super) const fn is_on_its_way(&self) -> bool {
        self.next < self.cut().datagram_len
    }

    /// Writes the next frame, in front of a trailer of so many bytes, and returns its length.
    fn write(&mut self, frame: &mut [u8], trailer_len: usize, real_bytes: bool) -> usize {
        let (cut, offset) = (self.cut(), self.next);
        let (header_len, len) = (self.header.len(), cut.len_at(offset));
        let data_at = header_len + ipv4::HEADER_LEN;
        let least = FRAME_LEN_MIN + header_len - HEADER_LEN;
        let datagram = self.datagram();
        let frame_len = (data_at + len + trailer_len).max(least);
        frame[..header_len].copy_from_slice(&self.header);
        let udp::Ends { source, destination } = self.config.ends;
        let header = ipv4::Header { source, destination, identification: self.identification, protocol: PROTOCOL_UDP };
        header.emit((offset, len), !cut.is_last(offset), &mut frame[header_len..]);
        if real_bytes {
            frame[data_at..frame_len].fill(0);
            frame[data_at..data_at + len].copy_from_slice(&self.bytes[datagram][offset..offset + len]);
        } else if offset == 0 {
            let front = udp::HEADER_LEN + TestBedHeader::LEN;
            frame[data_at..data_at + front].copy_from_slice(&self.bytes[datagram][..front]);
        }
        self.next += len;
        frame_len
    }
}

/// What a listener has of a message.
pub(super) struct Collecting {
    config: DatagramConfig,
    reassembly: Reassembly,
    /// The number at the front of the message.
    sequence: u64,
    /// On a virtual link: the numbers of its first frame and of the last that has come.
    numbers: Option<(SequenceNumber, SequenceNumber)>,
}

/// A message of which all frames have come.
struct Whole {
    datagram: Vec<u8>,
    sequence: u64,
    numbers: Option<(SequenceNumber, SequenceNumber)>,
}

impl Collecting {
    pub(super) const fn new(config: DatagramConfig) -> Self {
        Self { config, reassembly: Reassembly::new(config.reassembly), sequence: 0, numbers: None }
    }

    /// When it gives up what it has.
    pub(super) fn deadline(&self) -> Option<LocalTime> {
        self.reassembly.deadline()
    }

    /// Takes a packet, which has a number on a virtual link. The numbers of a message's frames follow each other; whether it
    /// follows the one before is asked when it can be believed.
    fn take(&mut self, rx_at: LocalTime, packet: &Packet<'_>, number: Option<SequenceNumber>) -> Taken {
        let taken = self.reassembly.take(rx_at, packet);
        match &taken {
            Taken::Began => {
                let header = packet.data.get(udp::HEADER_LEN..).and_then(|data| TestBedHeader::parse(data).ok());
                self.sequence = header.map_or(0, |header| u64::from(header.sequence));
                self.numbers = number.map(|number| (number, number));
            }
            Taken::GoesOn | Taken::Whole(_) => {
                if let (Some((_, last)), Some(number)) = (&mut self.numbers, number) {
                    if number != last.next() {
                        self.reassembly.give_up();
                        return Taken::Ended(DiscardReason::OutOfSequence);
                    }
                    *last = number;
                }
            }
            Taken::Ended(_) | Taken::Nothing => {}
        }
        taken
    }

    /// The packet in a frame, if it is one of the stream.
    fn packet<'a>(&self, frame: &Frame<'_>, payload: &'a [u8]) -> Result<Packet<'a>, DiscardReason> {
        if frame.type_or_length() != TypeOrLength::EtherType(ETHERTYPE_IPV4) {
            return Err(DiscardReason::Malformed);
        }
        let packet = Packet::parse(payload)?;
        let udp::Ends { source, destination } = self.config.ends;
        let is_its = (packet.source, packet.destination, packet.protocol) == (source, destination, PROTOCOL_UDP);
        if is_its { Ok(packet) } else { Err(DiscardReason::Malformed) }
    }
}

impl EndSystem {
    /// The next frame of the message that a talker has on its way.
    pub(super) fn send_fragment(&mut self, sealing: Sealing, frame: &mut [u8]) -> Option<Output> {
        let real_bytes = self.config.real_bytes;
        let talker = &mut self.talkers[sealing.talker];
        let trailer_len = if talker.config.virtual_link.is_some() { SequenceNumber::LEN } else { 0 };
        let fragmenter = talker.fragmenter.as_mut()?;
        self.sent = fragmenter.mark;
        // What an attacker did to the message is told of one of its frames.
        fragmenter.mark = fragmenter.mark.map(|mark| Mark { attack: None, ..mark });
        let len = fragmenter.write(frame, trailer_len, real_bytes);
        let is_last = !fragmenter.is_on_its_way();
        let mut launch_at = sealing.launch_at;
        if let Regulation::Own(regulator) = &mut talker.regulation {
            launch_at = regulator.release(sealing.launch_at);
            let number = regulator.number();
            if real_bytes {
                frame[len - SequenceNumber::LEN] = number.0;
            }
        }
        let priority = talker.priority;
        self.in_fragments = (!is_last).then_some(sealing);
        self.due_at = self.next_wake();
        Some(Output::Transmit(Transmit { port: PortId(0), priority, launch_at, len, token: None }))
    }

    /// Takes a frame of a stream whose messages have several.
    pub(super) fn receive_fragment(&mut self, rx_at: LocalTime, index: usize, frame: &Frame<'_>, payload: &[u8]) {
        let Some(whole) = self.take_fragment(rx_at, index, frame, payload) else { return };
        let Whole { datagram, sequence, numbers } = whole;
        let config = &self.listeners[index].config;
        let stream = config.stream;
        let ends = config.datagram.map(|datagram| datagram.ends);
        let data = ends.ok_or(DiscardReason::Malformed);
        let data = data.and_then(|ends| Ok(udp::parse(&datagram, ends, self.config.real_bytes)?));
        match data {
            Ok(data) => self.begin_open(rx_at, index, data, Admitted { sequence, numbers, ..Admitted::default() }),
            Err(reason) => self.tell(EventKind::Discarded(reason), stream, sequence),
        }
        self.due_at = self.next_wake();
    }

    /// The message that a frame completes.
    fn take_fragment(&mut self, rx_at: LocalTime, index: usize, frame: &Frame<'_>, payload: &[u8]) -> Option<Whole> {
        let listener = &mut self.listeners[index];
        // What is noted of a stream without numbers is of another one's last frame.
        let numbered = if listener.is_numbered { self.numbered.take() } else { None };
        let number = numbered.map(|numbered| SequenceNumber(numbered.number as u8));
        let stream = listener.config.stream;
        let collecting = listener.collecting.as_mut()?;
        let packet = match collecting.packet(frame, payload) {
            Ok(packet) => packet,
            Err(reason) => {
                self.discard(reason, stream);
                return None;
            }
        };
        let before = collecting.sequence;
        let is_interrupted = collecting.reassembly.is_first(&packet) && collecting.reassembly.give_up();
        let taken = collecting.take(rx_at, &packet, number);
        let (sequence, numbers) = (collecting.sequence, collecting.numbers);
        if is_interrupted {
            self.tell(EventKind::Discarded(DiscardReason::Interrupted), stream, before);
        }
        match taken {
            Taken::Began => self.tell(EventKind::TransferBegan, stream, sequence),
            Taken::GoesOn => {}
            Taken::Whole(datagram) => return Some(Whole { datagram, sequence, numbers }),
            Taken::Ended(reason) => self.tell(EventKind::Discarded(reason), stream, sequence),
            Taken::Nothing => self.tell(UNEXPECTED, stream, 0),
        }
        None
    }

    /// Gives up the first message whose time is over. False if there is none.
    pub(super) fn give_up_overdue(&mut self, now: LocalTime) -> bool {
        let overdue = self.listeners.iter_mut().find_map(|listener| {
            let stream = listener.config.stream;
            let collecting = listener.collecting.as_mut()?;
            let is_over = collecting.deadline().is_some_and(|deadline| deadline <= now);
            (is_over && collecting.reassembly.give_up()).then_some((stream, collecting.sequence))
        });
        if let Some((stream, sequence)) = overdue {
            self.tell(EventKind::Discarded(DiscardReason::FrameMissing), stream, sequence);
        }
        overdue.is_some()
    }

    fn tell(&mut self, kind: EventKind, stream: StreamId, sequence: u64) {
        self.base.push(Event::of(kind, stream, sequence));
        self.due_at = self.next_wake();
    }
}

const UNEXPECTED: EventKind = EventKind::TransferFault(TransferFault::UnexpectedFrame);
