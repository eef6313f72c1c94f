//! What a packet on a lossy link is.

use chronoseal_core::{Duration, MessagePart, NodeId, SimTime, StreamId};
use chronoseal_media::link::LinkLaws;
use chronoseal_plan::Link;
use chronoseal_wire::ipv4::{Address, PROTOCOL_UDP, Packet};
use chronoseal_wire::part_header::PartHeader;
use chronoseal_wire::{tcp, udp, virtual_link};

use crate::{Describe, Description};

/// Knows the packets of a link by the group that they are sent to.
#[derive(Clone, Debug)]
pub(super) struct Describer {
    /// The group, the stream and who sends it.
    known: Vec<(Address, StreamId, NodeId)>,
    /// Packets may come twice, and one of the two altered.
    doubles: bool,
    laws: LinkLaws,
}

impl Describer {
    pub(super) fn new(view: Link<'_>) -> Self {
        let known = view.streams().map(|(id, _, hop, _)| (virtual_link::stream_ip(id), id, hop.from));
        let laws = &view.segment.laws;
        Self { known: known.collect(), doubles: laws.duplicate > 0.0, laws: laws.clone() }
    }

    fn known(&self, packet: &Packet<'_>) -> Option<(StreamId, NodeId)> {
        let is_it = |(group, ..): &&(Address, _, _)| *group == packet.destination;
        self.known.iter().find(is_it).map(|(_, stream, sender)| (*stream, *sender))
    }
}

/// The packet of a datagram in a frame.
fn packet(bytes: &[u8]) -> Option<Packet<'_>> {
    let is_datagram = |packet: &Packet<'_>| packet.protocol == PROTOCOL_UDP && tcp::stream_of(packet).is_none();
    Packet::in_frame(bytes).and_then(Result::ok).filter(is_datagram)
}

/// What a datagram begins with, in its first packet.
fn header(packet: &Packet<'_>) -> Option<PartHeader> {
    let is_first = packet.offset == 0;
    PartHeader::parse(packet.data.get(udp::HEADER_LEN..).filter(|_| is_first)?).ok()
}

/// The stream of a frame that is part of a connection.
fn connected(bytes: &[u8]) -> Option<StreamId> {
    tcp::stream_of(&Packet::in_frame(bytes).and_then(Result::ok)?)
}

impl Describe for Describer {
    fn stream_of(&self, bytes: &[u8]) -> StreamId {
        let known = packet(bytes).and_then(|packet| self.known(&packet)).map(|(stream, _)| stream);
        known.or_else(|| connected(bytes)).unwrap_or(StreamId::NONE)
    }

    fn part(&self, bytes: &[u8]) -> MessagePart {
        match packet(bytes) {
            Some(packet) if packet.is_whole() => match self.known(&packet).and_then(|_| header(&packet)) {
                Some(header) if header.part > 0 => MessagePart::Continues,
                Some(header) if header.more => MessagePart::Begins,
                _ => MessagePart::Whole,
            },
            Some(packet) if packet.offset == 0 => MessagePart::Begins,
            Some(_) => MessagePart::Continues,
            // Messages on a connection have ends of their own.
            None if connected(bytes).is_some() => MessagePart::Continues,
            None => MessagePart::Whole,
        }
    }

    fn overtakes(&self) -> bool {
        true
    }

    fn sending_time_before_delay(&self, frame_len: u64) -> Option<Duration> {
        Some(self.laws.sending_time(frame_len))
    }

    fn describe(&self, bytes: &[u8], sent_at: SimTime) -> Description {
        let packet = packet(bytes);
        let known = packet.as_ref().and_then(|packet| self.known(packet));
        let sequence = packet.as_ref().and_then(header).map(|header| header.sequence.into());
        Description {
            stream: known.map(|(stream, _)| stream).or_else(|| connected(bytes)).unwrap_or(StreamId::NONE),
            sequence,
            sender: known.map(|(_, sender)| sender),
            cycle_start: sent_at,
            slot_start: None,
            leaves_by: None,
            received_by: None,
            is_received_when_checked: true,
        }
    }

    fn payload_len(&self, bytes: &[u8]) -> u64 {
        packet(bytes).map_or(0, |packet| packet.data.len() as u64)
    }

    fn is_judged(&self, _: StreamId) -> bool {
        false
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn is_replicated(&self, _: StreamId) -> bool {
        self.doubles
    }
}
