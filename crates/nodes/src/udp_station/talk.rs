//! The sender's end of a stream: messages made, sealed, and written packet by packet.

use chronoseal_core::random::{self, Purpose, Rng};
use chronoseal_core::{Event, EventKind, LocalTime, NodeId, StreamId, Work};
use chronoseal_frameauth::{Moment, Sealer};
use chronoseal_wire::ethernet::{FRAME_LEN_MIN, HEADER_LEN, Header, TypeOrLength};
use chronoseal_wire::ipv4::{self, Cut, ETHERTYPE_IPV4, PROTOCOL_UDP};
use chronoseal_wire::message_check::MessageCheck;
use chronoseal_wire::part_header::PartHeader;
use chronoseal_wire::test_bed_header::{ETHERTYPE_BEST_EFFORT, TestBedHeader};
use chronoseal_wire::{udp, virtual_link};

use super::trigger::Turn;
use super::{Framing, Payload, UdpTalker, check, ends};
use crate::protection::{Protection, ProtectionError};

/// Headers of Ethernet and IPv4 `[byte]`.
const FRONT_LEN: usize = HEADER_LEN + ipv4::HEADER_LEN;

pub(super) struct Talker {
    pub(super) config: UdpTalker,
    pub(super) turn: Turn,
    sealer: Option<Sealer>,
    /// The number of the message that is being sent.
    sequence: u64,
    /// What is being sent, behind a header of UDP if it is one datagram.
    bytes: Vec<u8>,
    /// Where its next piece begins in what is cut; behind its end if all of it has left.
    next: usize,
}

impl Talker {
    pub(super) fn new(config: UdpTalker) -> Result<Self, ProtectionError> {
        config.protection.check_on_link()?;
        let sealer = match &config.protection {
            Protection::Secured { profile, key: Some(key), data_id } => Some(Sealer::new(*profile, key, *data_id)?),
            Protection::Secured { key: None, .. } | Protection::None { .. } => None,
        };
        let front = config.front_len();
        let mut bytes = vec![0; front + config.len() + config.protection.overhead()];
        let from = front + TestBedHeader::LEN;
        let filled = config.fill.len().min(config.len() - TestBedHeader::LEN);
        bytes[from..from + filled].copy_from_slice(&config.fill[..filled]);
        let mut talker = Self {
            turn: Turn::new(config.trigger.clone(), config.stream),
            sequence: 0,
            next: 0,
            bytes,
            sealer,
            config,
        };
        talker.next = talker.end();
        Ok(talker)
    }

    /// The length of what is cut `[byte]`.
    fn end(&self) -> usize {
        match self.config.framing {
            Framing::Datagram(cut) | Framing::Parts(cut) => cut.datagram_len,
            Framing::Packet | Framing::Message => self.bytes.len(),
        }
    }

    /// True if a message has begun and not all of it has left.
    pub(super) fn has_begun(&self) -> bool {
        self.next < self.end()
    }

    /// True if its next message is due.
    pub(super) fn is_due(&self, now: LocalTime) -> bool {
        self.turn.due().is_some_and(|due| due <= now)
    }

    /// What sealing a message takes; `None` if there is nothing to seal.
    pub(super) fn work(&self) -> Option<Work> {
        self.sealer.as_ref().map(|sealer| sealer.work(self.config.len()))
    }

    /// Makes the next message, and says that it is sent, or that it is not, since its freshness values are used up. `None` if there is none.
    pub(super) fn begin(&mut self, now: LocalTime, node: NodeId) -> Option<Event> {
        let (due, sequence) = self.turn.step(now)?;
        let stream = self.config.stream;
        self.sequence = sequence;
        let front = self.config.front_len();
        if let Some(content) = self.turn.content(sequence) {
            self.bytes.truncate(front);
            self.bytes.extend_from_slice(content);
        }
        let len = self.config.len();
        let fresh = self.bytes.get_mut(front + TestBedHeader::LEN..front + len).unwrap_or_default();
        match self.config.payload {
            Payload::Same => {}
            Payload::Sequential => {
                let first = (MessageCheck::LEN as u8).wrapping_neg().wrapping_add(sequence as u8);
                (0..).zip(fresh).for_each(|(place, byte): (usize, _)| *byte = first.wrapping_add(place as u8));
            }
            // Below these numbers are the streams of whole streams.
            Payload::Random(seed) => {
                let index = (sequence + 1) << u16::BITS | u64::from(stream.0);
                random::stream(seed, Purpose::Payload, index).fill_bytes(fresh);
            }
        }
        if let Some(signal) = &self.config.signal {
            let held = signal.at(now - LocalTime::ZERO);
            let room = self.bytes[front..].iter_mut().skip(MessageCheck::END);
            room.zip(held).for_each(|(to, from)| *to = *from);
        }
        let message = &mut self.bytes[front..];
        TestBedHeader { stream, sequence: sequence as u32 }.emit(message);
        // A seal comes behind it.
        let covered = if self.sealer.is_some() { len.min(message.len()) } else { message.len() };
        check::write(&mut message[..covered], due);
        let sealed = self.sealer.as_mut().map(|sealer| sealer.seal_next(message, len, Moment::Unknown));
        let value = (now - due).as_ps();
        if matches!(sealed, Some(Err(_))) {
            return Some(Event { value, ..Event::of(EventKind::Withheld, stream, sequence) });
        }
        if matches!(self.config.framing, Framing::Datagram(_) | Framing::Packet) {
            udp::emit(&mut self.bytes);
            if !self.config.leaves_checksum_out {
                udp::fill_checksum(&mut self.bytes, ends(node, stream));
            }
        }
        self.next = 0;
        Some(Event { value, ..Event::of(EventKind::Sent, stream, sequence) })
    }

    /// Writes the next frame of the message to the front of `buffer`; returns its length `[byte]`, 0 if there is no room.
    pub(super) fn write(&mut self, node: NodeId, buffer: &mut [u8]) -> usize {
        let offset = self.next;
        match self.config.framing {
            Framing::Datagram(cut) => {
                self.next += cut.len_at(offset);
                self.write_fragment(node, (cut, offset), buffer)
            }
            Framing::Parts(cut) => {
                self.next += cut.len_at(offset);
                self.write_part(node, (cut, offset), buffer)
            }
            Framing::Packet => {
                self.next = self.bytes.len();
                let cut = Cut { datagram_len: self.bytes.len(), fragment_len: self.bytes.len() };
                self.write_fragment(node, (cut, 0), buffer)
            }
            Framing::Message => {
                self.next = self.bytes.len();
                let len = HEADER_LEN + self.bytes.len();
                let Some(frame) = buffer.get_mut(..len) else { return 0 };
                header(node, self.config.stream, ETHERTYPE_BEST_EFFORT).emit(frame);
                frame[HEADER_LEN..].copy_from_slice(&self.bytes);
                len
            }
        }
    }

    fn write_fragment(&self, node: NodeId, (cut, offset): (Cut, usize), buffer: &mut [u8]) -> usize {
        let data = &self.bytes[offset..][..cut.len_at(offset)];
        buffer[FRONT_LEN..FRONT_LEN + data.len()].copy_from_slice(data);
        self.write_headers(node, (offset, data.len()), !cut.is_last(offset), buffer)
    }

    /// A datagram of its own, in a packet of its own.
    fn write_part(&self, node: NodeId, (cut, offset): (Cut, usize), buffer: &mut [u8]) -> usize {
        let stream = self.config.stream;
        let data = &self.bytes[TestBedHeader::LEN + offset..][..cut.len_at(offset)];
        let datagram = &mut buffer[FRONT_LEN..][..udp::HEADER_LEN + PartHeader::LEN + data.len()];
        let header = PartHeader {
            stream,
            part: (offset / cut.fragment_len) as u16,
            more: !cut.is_last(offset),
            sequence: self.sequence as u32,
        };
        header.emit(&mut datagram[udp::HEADER_LEN..]);
        datagram[udp::HEADER_LEN + PartHeader::LEN..].copy_from_slice(data);
        udp::emit(datagram);
        if !self.config.leaves_checksum_out {
            udp::fill_checksum(datagram, ends(node, stream));
        }
        let len = datagram.len();
        self.write_headers(node, (0, len), false, buffer)
    }

    /// Writes the headers in front of a packet's data; returns the length of the frame `[byte]`.
    fn write_headers(
        &self,
        node: NodeId,
        (offset, data_len): (usize, usize),
        more_fragments: bool,
        buffer: &mut [u8],
    ) -> usize {
        let stream = self.config.stream;
        let udp::Ends { source, destination } = ends(node, stream);
        let identification = self.sequence as u16;
        header(node, stream, ETHERTYPE_IPV4).emit(buffer);
        let packet = ipv4::Header { source, destination, identification, protocol: PROTOCOL_UDP };
        packet.emit((offset, data_len), more_fragments, &mut buffer[HEADER_LEN..]);
        let len = FRONT_LEN + data_len;
        // A short frame is padded (IEEE 802.3).
        if len < FRAME_LEN_MIN {
            buffer[len..FRAME_LEN_MIN].fill(0);
        }
        len.max(FRAME_LEN_MIN)
    }
}

impl UdpTalker {
    /// A message before it is protected, its number included `[byte]`.
    fn len(&self) -> usize {
        self.fill.len().max(TestBedHeader::LEN)
    }

    /// What stands in front of a message in its datagram `[byte]`.
    const fn front_len(&self) -> usize {
        if matches!(self.framing, Framing::Datagram(_) | Framing::Packet) { udp::HEADER_LEN } else { 0 }
    }
}

fn header(node: NodeId, stream: StreamId, ethertype: u16) -> Header {
    Header {
        destination: virtual_link::stream_address(stream),
        source: virtual_link::station_address(node),
        type_or_length: TypeOrLength::EtherType(ethertype),
    }
}
