//! The receiver's end of a stream: pieces put together, seals opened, copies told apart.

use std::borrow::Cow;

use chronoseal_core::random::{self, ChaCha8Rng, Purpose, Rng};
use chronoseal_core::{DiscardReason, Duration, LocalTime, Work};
use chronoseal_frameauth::{Moment, Opener};
use chronoseal_wire::ipv4::{Cut, PROTOCOL_UDP, Packet};
use chronoseal_wire::part_header::PartHeader;
use chronoseal_wire::test_bed_header::TestBedHeader;
use chronoseal_wire::udp::{self, DatagramError};

use super::collect::{Collected, Collector, Piece, Seen};
use super::{Framing, UdpListener, check, ends};
use crate::protection::{Protection, ProtectionError};

pub(super) struct Listener {
    pub(super) config: UdpListener,
    /// Of what comes in packets.
    collector: Option<Collector>,
    opener: Option<Opener>,
    seen: Seen,
    /// Of what its program takes.
    rng: Option<ChaCha8Rng>,
}

/// A message that is delivered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accepted {
    pub(super) sequence: u64,
    /// When it was due by its sender's clock, if it says so.
    pub(super) due: Option<LocalTime>,
}

/// What a packet did.
pub(super) struct Taken {
    /// It is the first of several of this message.
    pub(super) began: Option<u64>,
    /// It completes a message.
    pub(super) whole: Option<Whole>,
}

/// A message that is there.
pub(super) enum Whole {
    /// Which it is, or its number and why it is not delivered.
    Judged(Result<Accepted, (u64, DiscardReason)>),
    /// Its seal has to be opened first: the message is what stands in these bytes from so many on.
    Sealed(Vec<u8>, usize),
}

impl Listener {
    pub(super) fn new(config: UdpListener) -> Result<Self, ProtectionError> {
        config.protection.check_on_link()?;
        let opener = match &config.protection {
            Protection::Secured { profile, key: Some(key), data_id } => Some(Opener::new(*profile, key, *data_id)?),
            Protection::Secured { key: None, .. } | Protection::None { .. } => None,
        };
        let collector = match config.framing {
            Framing::Datagram(cut) => Some(Collector::new(cut, 0, config.timeout)),
            Framing::Parts(cut) => Some(Collector::new(cut, TestBedHeader::LEN, config.timeout)),
            Framing::Packet | Framing::Message => None,
        };
        let rng =
            config.takes.as_ref().map(|takes| random::stream(takes.seed, Purpose::Program, u64::from(config.stream.0)));
        Ok(Self { collector, opener, seen: Seen::default(), rng, config })
    }

    /// What its program takes of the next message; `None` for nothing.
    pub(super) fn program_time(&mut self) -> Option<Duration> {
        let (takes, rng) = (self.config.takes.as_ref()?, self.rng.as_mut()?);
        let place = (u128::from(rng.next_u64()) * takes.times.len() as u128) >> 64;
        takes.times.get(place as usize).copied()
    }

    /// True if a packet is of its stream.
    pub(super) fn is_its(&self, packet: &Packet<'_>) -> bool {
        let udp::Ends { source, destination } = ends(self.config.sender, self.config.stream);
        (source, destination) == (packet.source, packet.destination) && packet.protocol == PROTOCOL_UDP
    }

    /// Takes a packet of the stream.
    pub(super) fn take(&mut self, rx_at: LocalTime, packet: &Packet<'_>) -> Result<Taken, DiscardReason> {
        if self.config.framing == Framing::Packet {
            let datagram = packet.is_whole().then_some(packet.data).ok_or(DiscardReason::Malformed)?;
            return Ok(Taken { began: None, whole: Some(self.open_datagram(datagram.into())) });
        }
        let collector = self.collector.as_mut().ok_or(DiscardReason::UnknownStream)?;
        match self.config.framing {
            Framing::Datagram(_) => {
                let collected = collector.take(rx_at, &Piece::from(packet))?;
                let begins = packet.offset == 0 && packet.more_fragments && collected != Collected::Nothing;
                let began = begins.then(|| datagram_number(packet.data)).flatten();
                Ok(Taken { began, whole: whole(collected).map(|(datagram, _)| self.open_datagram(datagram)) })
            }
            Framing::Parts(cut) => {
                let part = Part::read(packet, &self.config)?;
                let collected = collector.take(rx_at, &part.piece(cut))?;
                let number = u64::from(part.header.sequence);
                let began = (part.header.part == 0 && collected != Collected::Nothing).then_some(number);
                let judged = |(message, is_intact)| match is_intact {
                    true => self.judge(message, 0),
                    false => Whole::Judged(Err((number, DiscardReason::Malformed))),
                };
                Ok(Taken { began, whole: whole(collected).map(judged) })
            }
            Framing::Packet | Framing::Message => Err(DiscardReason::UnknownStream),
        }
    }

    /// A message that came whole over a connection.
    pub(super) fn take_message(&mut self, message: &[u8]) -> Taken {
        Taken { began: None, whole: Some(self.judge(message.into(), 0)) }
    }

    fn open_datagram(&mut self, datagram: Cow<'_, [u8]>) -> Whole {
        let claimed = datagram_number(&datagram).unwrap_or_default();
        match udp::parse(&datagram, ends(self.config.sender, self.config.stream), true) {
            Ok(_) => self.judge(datagram, udp::HEADER_LEN),
            Err(error) => Whole::Judged(Err((claimed, error.into()))),
        }
    }

    /// A message that stands in these bytes from so many on. They are kept only if its seal has to be opened.
    fn judge(&mut self, bytes: Cow<'_, [u8]>, from: usize) -> Whole {
        let message = &bytes[from..];
        if self.opener.is_none() {
            return Whole::Judged(self.number(message));
        }
        // What is there already need not be opened, whoever sends it again.
        match TestBedHeader::parse(message).map(|header| u64::from(header.sequence)) {
            Ok(sequence) if self.seen.has(sequence) => Whole::Judged(Err((sequence, DiscardReason::CopyEliminated))),
            _ => Whole::Sealed(bytes.into_owned(), from),
        }
    }

    /// What opening a message of so many bytes takes.
    pub(super) fn work(&self, len: usize) -> Option<Work> {
        let opener = self.opener.as_ref()?;
        Some(opener.work(opener.profile().payload_len(len)?))
    }

    /// Which message it is if its seal fits, and why it is not delivered otherwise.
    pub(super) fn open(&mut self, message: &[u8]) -> Result<Accepted, (u64, DiscardReason)> {
        let Some(opener) = &mut self.opener else { return self.number(message) };
        let claimed = TestBedHeader::parse(message).map_or(0, |header| header.sequence.into());
        let opened = opener.open(message, Moment::Unknown).map_err(|reason| (claimed, reason))?;
        self.number(opened.payload)
    }

    /// Which message it is, if it is as it was sent and the first of its number.
    fn number(&mut self, message: &[u8]) -> Result<Accepted, (u64, DiscardReason)> {
        let header = TestBedHeader::parse(message).map_err(|error| (0, error.into()))?;
        let sequence = u64::from(header.sequence);
        if header.stream != self.config.stream {
            return Err((sequence, DiscardReason::UnknownStream));
        }
        let due = check::due(message).map_err(|check::Altered| (sequence, DiscardReason::ChecksumMismatch))?;
        match self.seen.take(sequence) {
            true => Ok(Accepted { sequence, due }),
            false => Err((sequence, DiscardReason::CopyEliminated)),
        }
    }

    /// When its oldest message is given up.
    pub(super) fn deadline(&self) -> Option<LocalTime> {
        self.collector.as_ref()?.deadline()
    }

    /// Gives up a message that has waited too long, or has no room: its number, if its first packet has come. `None` if none has.
    pub(super) fn give_up(&mut self, now: LocalTime) -> Option<Option<u64>> {
        let first = self.collector.as_mut()?.give_up(now)?;
        Some(first.and_then(|bytes| match self.config.framing {
            Framing::Parts(_) => TestBedHeader::parse(&bytes).ok().map(|header| header.sequence.into()),
            Framing::Datagram(_) | Framing::Packet | Framing::Message => datagram_number(&bytes),
        }))
    }
}

/// A part of a message, read from its packet.
struct Part<'a> {
    header: PartHeader,
    /// What the message begins with.
    front: [u8; TestBedHeader::LEN],
    data: &'a [u8],
    is_intact: bool,
}

impl<'a> Part<'a> {
    fn read(packet: &Packet<'a>, config: &UdpListener) -> Result<Self, DiscardReason> {
        if !packet.is_whole() {
            return Err(DiscardReason::Malformed);
        }
        let (data, is_intact) = match udp::parse(packet.data, ends(config.sender, config.stream), true) {
            Ok(data) => (data, true),
            // Its message is given up when all of it is there, as one is whose datagram is altered.
            Err(DatagramError::Checksum) => (&packet.data[udp::HEADER_LEN..], false),
            Err(error) => return Err(error.into()),
        };
        let header = PartHeader::parse(data)?;
        if header.stream != config.stream {
            return Err(DiscardReason::UnknownStream);
        }
        let mut front = [0; TestBedHeader::LEN];
        TestBedHeader { stream: header.stream, sequence: header.sequence }.emit(&mut front);
        Ok(Self { header, front, data: &data[PartHeader::LEN..], is_intact })
    }

    fn piece(&self, cut: Cut) -> Piece<'_> {
        Piece {
            number: self.header.sequence,
            offset: usize::from(self.header.part) * cut.fragment_len,
            more: self.header.more,
            data: self.data,
            front: &self.front,
            is_intact: self.is_intact,
        }
    }
}

fn whole(collected: Collected<'_>) -> Option<(Cow<'_, [u8]>, bool)> {
    match collected {
        Collected::Whole { bytes, is_intact } => Some((bytes, is_intact)),
        Collected::Waits | Collected::Nothing => None,
    }
}

/// The number at the front of the message in a datagram, checked or not.
fn datagram_number(datagram: &[u8]) -> Option<u64> {
    let header = TestBedHeader::parse(datagram.get(udp::HEADER_LEN..)?).ok()?;
    Some(header.sequence.into())
}
