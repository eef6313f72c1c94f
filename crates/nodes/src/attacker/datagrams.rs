//! Which frame of a message in several an attacker changes or repeats: the first one.
//!
//! The value that a controller acts on stands at the beginning of a message, and so does its number. A first frame that was changed
//! or repeated is where a receiver begins with a message, so whatever ends that message is what became of the attack.

use chronoseal_core::AttackKind;
use chronoseal_wire::ethernet::{Frame, TypeOrLength};
use chronoseal_wire::ipv4::{self, ETHERTYPE_IPV4, Packet};
use chronoseal_wire::macsec::SecTag;
use chronoseal_wire::udp;

use super::Attack;
use crate::end_system::{DatagramConfig, sub_link_of};

/// What a campaign has heard of the messages of its stream.
pub(super) struct Beginnings {
    /// How messages are cut, if it is an attack on their first frames alone.
    datagram: Option<DatagramConfig>,
    /// Frames that it could not read.
    unread: usize,
    /// First frames.
    heard: u64,
}

impl Beginnings {
    pub(super) fn of(attack: &Attack) -> Self {
        let is_on_firsts = matches!(attack.kind, AttackKind::Tamper | AttackKind::Replay);
        Self { datagram: attack.datagram.filter(|_| is_on_firsts), unread: 0, heard: 0 }
    }

    /// True if a frame that comes by is one to record, to change or to put another in the place of.
    pub(super) fn takes(&mut self, bytes: &[u8]) -> bool {
        let Some(datagram) = self.datagram else { return true };
        let is_first = match SecTag::parse(bytes) {
            // Of frames under MACsec it counts how many a message has: they pass one behind the other.
            Ok(_) => {
                let place = self.unread % datagram.reassembly.cut.fragments();
                self.unread += 1;
                place == 0
            }
            Err(_) => packet(bytes).is_some_and(|(_, packet)| is_first_of(&datagram, &packet)),
        };
        self.heard += u64::from(is_first);
        is_first
    }

    /// True if the message whose first frame was recorded is over: another one has begun. Repeated earlier, the frame would stand for
    /// itself, and the rest that follows would make the genuine message of it.
    pub(super) const fn is_first_over(&self) -> bool {
        self.datagram.is_none() || self.heard > 1
    }
}

/// The packet in a frame, and where in the frame it begins.
fn packet(bytes: &[u8]) -> Option<(usize, Packet<'_>)> {
    let frame = Frame::new_checked(bytes).ok()?;
    let payload = frame.payload();
    let is_ipv4 = frame.type_or_length() == TypeOrLength::EtherType(ETHERTYPE_IPV4);
    is_ipv4.then_some(())?;
    Some((bytes.len() - payload.len(), Packet::parse(payload).ok()?))
}

/// True if a packet is the first fragment of a message of the stream, of those that share its virtual link.
fn is_first_of(datagram: &DatagramConfig, packet: &Packet<'_>) -> bool {
    let is_its = datagram.sub_link.is_none_or(|own| sub_link_of(packet.identification) == own);
    packet.offset == 0 && !packet.is_whole() && is_its
}

/// Has the checksum of a datagram of which the byte of the value was inverted fit again, so that it is no more in the way than it is
/// in the way of anybody who means it (RFC 1624). It stays if it is 0, which says that there is none.
pub(super) fn mend_checksum(frame: &mut [u8], attack: &Attack) {
    if attack.datagram.is_none() || SecTag::parse(frame).is_ok() {
        return;
    }
    let Some((at, _)) = packet(frame) else { return };
    let data_at = at + ipv4::HEADER_LEN;
    let Some(offset) = attack.value_at.checked_sub(data_at).filter(|offset| *offset >= udp::HEADER_LEN) else { return };
    let Some(changed) = frame.get(attack.value_at).copied() else { return };
    let place = data_at + udp::CHECKSUM_AT;
    let Some(Ok(old)) = frame.get(place..place + 2).map(<[u8; 2]>::try_from) else { return };
    if old != [0, 0] {
        let word = |byte: u8| if offset % 2 == 0 { [byte, 0] } else { [0, byte] };
        let sum = udp::changed_checksum(u16::from_be_bytes(old), word(!changed), word(changed));
        frame[place..place + 2].copy_from_slice(&sum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use chronoseal_core::{Duration, StreamId};
    use chronoseal_wire::ethernet::{HEADER_LEN, MacAddress};
    use chronoseal_wire::ipv4::Cut;
    use chronoseal_wire::test_bed_header::TestBedHeader;

    use super::*;
    use crate::reassembly::ReassemblyConfig;

    const ENDS: udp::Ends = udp::Ends { source: [10, 0, 0, 0], destination: [239, 192, 0, 1] };
    const CUT: Cut = Cut { datagram_len: 100, fragment_len: 40 };
    const ETHER_TYPE_MACSEC: [u8; 2] = [0x88, 0xe5];

    fn attack(kind: AttackKind, sub_link: Option<u8>) -> Attack {
        let reassembly = ReassemblyConfig { cut: CUT, timeout: Duration::from_ms(1) };
        Attack {
            kind,
            stream: StreamId(0),
            destination: MacAddress([3, 4, 5, 6, 0, 1]),
            source: MacAddress([2, 0, 0, 0, 0, 1]),
            frame_len: HEADER_LEN + ipv4::HEADER_LEN + 40,
            tag: None,
            has_r_tag: false,
            ether_type: Some(ETHERTYPE_IPV4),
            datagram: Some(DatagramConfig { ends: ENDS, reassembly, sub_link }),
            value_at: HEADER_LEN + ipv4::HEADER_LEN + udp::HEADER_LEN + TestBedHeader::LEN,
            slot_start: Duration::ZERO,
            period: Duration::from_ms(10),
            first: Duration::ZERO,
            every: Duration::from_ms(10),
            count: 1,
            at_slot_offset: Duration::ZERO,
            is_timed: false,
            delay: Duration::ZERO,
        }
    }

    fn datagram() -> Vec<u8> {
        let mut datagram: Vec<u8> = (0..100).collect();
        udp::emit(&mut datagram);
        udp::fill_checksum(&mut datagram, ENDS);
        datagram
    }

    fn fragment(identification: u16, offset: usize) -> Vec<u8> {
        let len = CUT.len_at(offset);
        let mut frame = vec![0; HEADER_LEN + ipv4::HEADER_LEN + len];
        frame[12..14].copy_from_slice(&ETHERTYPE_IPV4.to_be_bytes());
        let udp::Ends { source, destination } = ENDS;
        let header = ipv4::Header { source, destination, identification, protocol: ipv4::PROTOCOL_UDP };
        header.emit((offset, len), !CUT.is_last(offset), &mut frame[HEADER_LEN..]);
        frame[HEADER_LEN + ipv4::HEADER_LEN..].copy_from_slice(&datagram()[offset..offset + len]);
        frame
    }

    #[test]
    fn it_changes_and_repeats_first_frames_of_its_own_stream_alone() {
        let taken = |kind, sub_link| {
            let mut beginnings = Beginnings::of(&attack(kind, sub_link));
            [(0, 0), (0, 40), (0, 80), (0x4000, 0), (1, 0)].map(|(number, at)| beginnings.takes(&fragment(number, at)))
        };
        assert_eq!(taken(AttackKind::Tamper, None), [true, false, false, true, true]);
        assert_eq!(taken(AttackKind::Replay, Some(1)), [false, false, false, true, false]);
        assert_eq!(taken(AttackKind::Withhold, None), [true; 5], "any frame is kept back");
    }

    #[test]
    fn what_was_recorded_is_repeated_when_the_next_message_has_begun() {
        let mut beginnings = Beginnings::of(&attack(AttackKind::Replay, None));
        let over = [(0, 0), (0, 40), (0, 80), (1, 0)].map(|(number, at)| {
            beginnings.takes(&fragment(number, at));
            beginnings.is_first_over()
        });
        assert_eq!(over, [false, false, false, true]);
    }

    #[test]
    fn under_macsec_it_counts_the_frames_of_a_message() {
        let mut beginnings = Beginnings::of(&attack(AttackKind::Tamper, None));
        let mut frame = fragment(0, 0);
        frame[12..14].copy_from_slice(&ETHER_TYPE_MACSEC);
        // No SCI, not a short one, the first packet number.
        frame[14..20].copy_from_slice(&[0, 0, 0, 0, 0, 1]);
        frame.resize(120, 0);
        assert!(SecTag::parse(&frame).is_ok());
        let taken: Vec<bool> = (0..7).map(|_| beginnings.takes(&frame)).collect();
        assert_eq!(taken, [true, false, false, true, false, false, true]);
    }

    #[test]
    fn a_changed_datagram_has_a_checksum_that_fits() {
        for odd in [0, 1] {
            let attack = Attack {
                value_at: attack(AttackKind::Tamper, None).value_at + odd,
                ..attack(AttackKind::Tamper, None)
            };
            let mut frame = fragment(0, 0);
            super::super::tamper(&mut frame, &attack);
            let first = &frame[HEADER_LEN + ipv4::HEADER_LEN..];
            let changed = [first, &datagram()[40..]].concat();
            assert_ne!(changed[udp::HEADER_LEN..], datagram()[udp::HEADER_LEN..]);
            assert!(udp::parse(&changed, ENDS, true).is_ok(), "{odd}");
        }
    }
}
