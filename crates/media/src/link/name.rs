//! Which packet a packet is.

use std::collections::VecDeque;

use chronoseal_core::StreamId;
use chronoseal_wire::ipv4::{self, Address, PROTOCOL_UDP, Packet};
use chronoseal_wire::part_header::PartHeader;
use chronoseal_wire::udp;

/// What a packet is called by chance: the same name, the same draw.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Name {
    /// Its stream; [`StreamId::NONE`] for what says nothing of itself.
    pub stream: StreamId,
    /// Which message of the stream; of what says nothing, how many came before.
    pub sequence: u64,
    /// Where in the message it begins, in units of 8 bytes; of a message in several datagrams, which of them it is.
    pub fragment: u16,
}

/// Messages of one sender of which fragments may be on their way: the first one says what it is, the others only that they belong to it.
const MESSAGES_KEPT: usize = 1024;

/// Tells the packets of one sender apart.
#[derive(Default)]
pub struct Namer {
    foreign: u64,
    /// Of messages in several packets: between whom, with which identification, and what the first one said.
    begun: VecDeque<(Address, Address, u16, Name)>,
}

impl Namer {
    /// The name of a frame.
    pub fn name(&mut self, frame: &[u8]) -> Name {
        let packet = Packet::in_frame(frame).and_then(Result::ok).filter(|packet| packet.protocol == PROTOCOL_UDP);
        let found = packet.and_then(|packet| self.of_packet(&packet));
        found.unwrap_or_else(|| {
            self.foreign += 1;
            Name { stream: StreamId::NONE, sequence: self.foreign - 1, fragment: 0 }
        })
    }

    fn of_packet(&mut self, packet: &Packet<'_>) -> Option<Name> {
        let Packet { source, destination, identification, .. } = *packet;
        if packet.offset > 0 {
            let is_it = |(from, to, id, _): &&(Address, Address, u16, Name)| {
                (*from, *to, *id) == (source, destination, identification)
            };
            let (.., first) = self.begun.iter().rev().find(is_it)?;
            return Some(Name { fragment: (packet.offset / ipv4::FRAGMENT_UNIT) as u16, ..*first });
        }
        let name = message(packet)?;
        if packet.more_fragments {
            if self.begun.len() == MESSAGES_KEPT {
                self.begun.pop_front();
            }
            self.begun.push_back((source, destination, identification, name));
        }
        Some(name)
    }
}

/// What the front of a message of the test bed says of it.
fn message(packet: &Packet<'_>) -> Option<Name> {
    let [_, _, d0, d1] = *packet.data.first_chunk()?;
    if u16::from_be_bytes([d0, d1]) != udp::PORT_TEST_BED {
        return None;
    }
    let header = PartHeader::parse(packet.data.get(udp::HEADER_LEN..)?).ok()?;
    Some(Name { stream: header.stream, sequence: header.sequence.into(), fragment: header.part })
}
