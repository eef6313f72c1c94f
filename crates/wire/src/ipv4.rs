//! IPv4 packets and their fragments (RFC 791), as far as datagrams need them that are longer than a frame.
//!
//! ```text
//! 0         1        2            4                6                     8     9          10         12       16            20
//! +---------+--------+------------+----------------+---------------------+-----+----------+----------+--------+-------------+------
//! | 4 and 5 | TOS    | total len  | identification | flags, offset / 8   | TTL | protocol | checksum | source | destination | data
//! +---------+--------+------------+----------------+---------------------+-----+----------+----------+--------+-------------+------
//! ```
//! No packet here has options, so a header has [`HEADER_LEN`] bytes. What follows the total length is padding of the frame.
//!
//! A fragment says where its data belong in the datagram. What a receiver takes of fragments is its own business; here it is
//! refused only what is no fragment of any datagram: one that is empty, that would end behind the longest datagram, or that is
//! not the last and does not end where another can begin.

use chronoseal_core::DiscardReason;

use crate::{ethernet, field};

/// EtherType of IPv4.
pub const ETHERTYPE_IPV4: u16 = 0x0800;
/// A header without options `[byte]`.
pub const HEADER_LEN: usize = 20;
/// Longest packet, and what the longest datagram and its header have together `[byte]`.
pub const TOTAL_LEN_MAX: usize = 65_535;
/// Data of every fragment but the last are a multiple of this `[byte]`.
pub const FRAGMENT_UNIT: usize = 8;
/// The protocol number of UDP.
pub const PROTOCOL_UDP: u8 = 17;

/// Version 4 and five words of header.
const VERSION_AND_LEN: u8 = 0x45;
/// What a packet may still pass of routers; here there is none.
const TIME_TO_LIVE: u8 = 64;
const RESERVED: u16 = 0x8000;
const DONT_FRAGMENT: u16 = 0x4000;
const MORE_FRAGMENTS: u16 = 0x2000;
const OFFSET_MASK: u16 = 0x1fff;

/// An address.
pub type Address = [u8; 4];

/// A packet: a whole datagram, or a fragment of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// From whom, if that can be believed.
    pub source: Address,
    /// To whom.
    pub destination: Address,
    /// The same for all fragments of a datagram.
    pub identification: u16,
    /// Where its data begin in the datagram `[byte]`.
    pub offset: usize,
    /// True unless it is the last fragment, or whole.
    pub more_fragments: bool,
    /// Whose the data of the datagram are.
    pub protocol: u8,
    /// Behind the header.
    pub data: &'a [u8],
}

/// Why bytes are no packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PacketError {
    /// Shorter than a header, or than its own total length.
    #[error("a packet of {0} bytes is shorter than its header, or than its total length says")]
    TooShort(usize),
    /// Not version 4, or with options.
    #[error("version and header length are {0:#04x}, but only 0x45 is taken: IPv4 without options")]
    Version(u8),
    /// The total length has no room for a header.
    #[error("a total length of {0} has no room for a header of 20 bytes")]
    TotalLen(u16),
    /// The header's checksum does not fit.
    #[error("the header's checksum does not fit")]
    Checksum,
    /// The reserved flag is set, or a fragment says that it must not be one.
    #[error("flags and offset {0:#06x} have the reserved flag, or forbid fragments and are those of one")]
    Flags(u16),
    /// A fragment without data.
    #[error("a fragment at {0} has no data")]
    Empty(usize),
    /// Data that are not the last and do not end where others can begin.
    #[error("a fragment of {0} bytes is not the last and no multiple of 8")]
    Uneven(usize),
    /// It would end behind the longest datagram.
    #[error("a fragment of {len} bytes at {offset} would end behind the longest datagram")]
    TooLong {
        /// Where its data begin `[byte]`.
        offset: usize,
        /// Of its data `[byte]`.
        len: usize,
    },
}

impl From<PacketError> for DiscardReason {
    fn from(error: PacketError) -> Self {
        match error {
            PacketError::TooShort(_) => Self::TooShort,
            PacketError::TooLong { .. } => Self::TooLong,
            _ => Self::Malformed,
        }
    }
}

impl<'a> Packet<'a> {
    /// Reads the packet at the front of `bytes`; what is behind its total length is padding.
    ///
    /// # Errors
    /// [`PacketError`] for anything but one packet without options whose checksum fits and which can be a fragment or a datagram.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, PacketError> {
        let too_short = PacketError::TooShort(bytes.len());
        let header: [u8; HEADER_LEN] = field::read(bytes, 0).ok_or(too_short)?;
        let [version, _, total @ ..] = header;
        let [t0, t1, i0, i1, f0, f1, _, protocol, _, _, s0, s1, s2, s3, d0, d1, d2, d3] = total;
        if version != VERSION_AND_LEN {
            return Err(PacketError::Version(version));
        }
        let total_len = u16::from_be_bytes([t0, t1]);
        if usize::from(total_len) < HEADER_LEN {
            return Err(PacketError::TotalLen(total_len));
        }
        let data = bytes.get(HEADER_LEN..usize::from(total_len)).ok_or(too_short)?;
        if checksum(&[&header]) != 0 {
            return Err(PacketError::Checksum);
        }
        let flags = u16::from_be_bytes([f0, f1]);
        let (offset, more_fragments) = (usize::from(flags & OFFSET_MASK) * FRAGMENT_UNIT, flags & MORE_FRAGMENTS != 0);
        let is_fragment = offset > 0 || more_fragments;
        if flags & RESERVED != 0 || is_fragment && flags & DONT_FRAGMENT != 0 {
            return Err(PacketError::Flags(flags));
        }
        if is_fragment && data.is_empty() {
            return Err(PacketError::Empty(offset));
        }
        if more_fragments && !data.len().is_multiple_of(FRAGMENT_UNIT) {
            return Err(PacketError::Uneven(data.len()));
        }
        if HEADER_LEN + offset + data.len() > TOTAL_LEN_MAX {
            return Err(PacketError::TooLong { offset, len: data.len() });
        }
        let (source, destination) = ([s0, s1, s2, s3], [d0, d1, d2, d3]);
        let identification = u16::from_be_bytes([i0, i1]);
        Ok(Self { source, destination, identification, offset, more_fragments, protocol, data })
    }

    /// Reads the packet in an Ethernet frame without tags, however long it is; `None` if the frame holds none.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn in_frame(frame: &'a [u8]) -> Option<Result<Self, PacketError>> {
        let (header, payload) = frame.split_at_checked(ethernet::HEADER_LEN)?;
        header.ends_with(&ETHERTYPE_IPV4.to_be_bytes()).then(|| Self::parse(payload))
    }

    /// True if it is a whole datagram.
    pub const fn is_whole(&self) -> bool {
        self.offset == 0 && !self.more_fragments
    }
}

/// What every fragment of a datagram has alike in its header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// From whom.
    pub source: Address,
    /// To whom.
    pub destination: Address,
    /// The same for all fragments of a datagram, and another one for each datagram that may be on its way beside it.
    pub identification: u16,
    /// Whose the data are.
    pub protocol: u8,
}

impl Header {
    /// Writes the header of the fragment with `data_len` bytes of data at `offset` to the front of `buf`.
    ///
    /// # Panics
    /// If `buf` is shorter than [`HEADER_LEN`], or the fragment ends behind the longest datagram, or `offset` is no multiple of
    /// [`FRAGMENT_UNIT`].
    pub fn emit(&self, (offset, data_len): (usize, usize), more_fragments: bool, buf: &mut [u8]) {
        assert!(offset.is_multiple_of(FRAGMENT_UNIT) && HEADER_LEN + offset + data_len <= TOTAL_LEN_MAX);
        let more = if more_fragments { MORE_FRAGMENTS } else { 0 };
        // Both fit, as was asserted.
        let (total_len, units) = ((HEADER_LEN + data_len) as u16, (offset / FRAGMENT_UNIT) as u16);
        let header = &mut buf[..HEADER_LEN];
        header.fill(0);
        header[0] = VERSION_AND_LEN;
        header[2..4].copy_from_slice(&total_len.to_be_bytes());
        header[4..6].copy_from_slice(&self.identification.to_be_bytes());
        header[6..8].copy_from_slice(&(more | units).to_be_bytes());
        header[8] = TIME_TO_LIVE;
        header[9] = self.protocol;
        header[12..16].copy_from_slice(&self.source);
        header[16..20].copy_from_slice(&self.destination);
        let sum = checksum(&[header]);
        header[10..12].copy_from_slice(&sum.to_be_bytes());
    }
}

/// How a datagram is cut: fragments with so much data each, and one with the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// What all fragments have together, the header of the protocol above included `[byte]`.
    pub datagram_len: usize,
    /// Data of every fragment but the last `[byte]`.
    pub fragment_len: usize,
}

impl Cut {
    /// A datagram over links whose packets have at most `mtu` bytes, headers included.
    ///
    /// # Panics
    /// If packets have no room for a header and one unit of data.
    pub const fn new(datagram_len: usize, mtu: usize) -> Self {
        assert!(mtu >= HEADER_LEN + FRAGMENT_UNIT);
        Self { datagram_len, fragment_len: (mtu - HEADER_LEN) / FRAGMENT_UNIT * FRAGMENT_UNIT }
    }

    /// How many fragments there are, one at least.
    pub const fn fragments(&self) -> usize {
        let fragments = self.datagram_len.div_ceil(self.fragment_len);
        if fragments == 0 { 1 } else { fragments }
    }

    /// Data of the fragment at `offset` `[byte]`; 0 where none begins.
    pub const fn len_at(&self, offset: usize) -> usize {
        if offset >= self.datagram_len || !offset.is_multiple_of(self.fragment_len) {
            return 0;
        }
        let left = self.datagram_len - offset;
        if left < self.fragment_len { left } else { self.fragment_len }
    }

    /// Data of the last fragment `[byte]`.
    pub const fn last_len(&self) -> usize {
        self.len_at((self.fragments() - 1) * self.fragment_len)
    }

    /// True if no fragment follows the one at `offset`.
    pub const fn is_last(&self, offset: usize) -> bool {
        offset + self.fragment_len >= self.datagram_len
    }
}

/// The Internet checksum over parts of which only the last may have an odd length (RFC 1071); 0 over what holds one that fits.
pub fn checksum(parts: &[&[u8]]) -> u16 {
    // The order of bytes does not matter until the end, and 2^16 counts as 1: words of 32 bits are added, many at a time.
    let mut sum = 0u64;
    for part in parts {
        let words = part.chunks_exact(4);
        let mut last = [0; 4];
        last[..words.remainder().len()].copy_from_slice(words.remainder());
        sum += u64::from(u32::from_le_bytes(last));
        sum += words.map(|word| u64::from(u32::from_le_bytes([word[0], word[1], word[2], word[3]]))).sum::<u64>();
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16).swap_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADER: Header =
        Header { source: [10, 0, 0, 1], destination: [239, 192, 1, 2], identification: 0xabcd, protocol: PROTOCOL_UDP };

    /// The example of <https://en.wikipedia.org/wiki/Internet_checksum>, a UDP packet from 192.168.0.1 to 192.168.0.199.
    #[test]
    fn the_checksum_of_a_known_header_fits() {
        let header = [0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7];
        assert_eq!(checksum(&[&header]), 0);
        let mut without = header;
        without[10..12].fill(0);
        assert_eq!(checksum(&[&without]), 0xb861);
        assert_eq!(checksum(&[&[1]]), !0x0100);
    }

    /// Word by word, as RFC 1071 has it.
    fn plain_checksum(parts: &[&[u8]]) -> u16 {
        let pairs = parts.iter().flat_map(|part| part.chunks(2));
        let words = pairs.map(|pair| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0)));
        !words.fold(0, |sum, word| (sum + word) % 0x1_0000 + (sum + word) / 0x1_0000) as u16
    }

    fn fragment(offset: usize, len: usize, more: bool) -> [u8; 200] {
        let mut bytes = [0x5a; 200];
        HEADER.emit((offset, len), more, &mut bytes);
        bytes
    }

    #[test]
    fn a_fragment_says_where_it_belongs_and_ends_before_the_padding() {
        let bytes = fragment(1_480, 40, true);
        let packet = Packet::parse(&bytes).unwrap();
        assert_eq!((packet.offset, packet.more_fragments, packet.data.len()), (1_480, true, 40));
        assert_eq!((packet.source, packet.destination), (HEADER.source, HEADER.destination));
        assert_eq!((packet.identification, packet.protocol, packet.is_whole()), (0xabcd, PROTOCOL_UDP, false));
        assert!(Packet::parse(&fragment(0, 7, false)).unwrap().is_whole());
    }

    /// Writes a field, with a checksum that fits.
    fn with(mut bytes: [u8; 200], at: usize, value: &[u8]) -> [u8; 200] {
        bytes[at..at + value.len()].copy_from_slice(value);
        bytes[10..12].fill(0);
        let sum = checksum(&[&bytes[..HEADER_LEN]]);
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    #[test]
    fn what_is_no_fragment_of_any_datagram_is_refused() {
        let whole = fragment(0, 40, false);
        let refused = |bytes: &[u8]| Packet::parse(bytes).unwrap_err();
        assert_eq!(refused(&whole[..19]), PacketError::TooShort(19));
        assert_eq!(refused(&whole[..59]), PacketError::TooShort(59));
        assert_eq!(refused(&with(whole, 0, &[0x46])), PacketError::Version(0x46));
        assert_eq!(refused(&with(whole, 0, &[0x65])), PacketError::Version(0x65));
        assert_eq!(refused(&with(whole, 2, &[0, 19])), PacketError::TotalLen(19));
        assert_eq!(refused(&with(whole, 6, &[0x80, 0])), PacketError::Flags(0x8000));
        assert_eq!(refused(&with(whole, 6, &[0x60, 0])), PacketError::Flags(0x6000));
        assert_eq!(refused(&with(whole, 6, &[0x40, 1])), PacketError::Flags(0x4001));
        assert_eq!(refused(&with(fragment(8, 0, false), 6, &[0, 1])), PacketError::Empty(8));
        assert_eq!(refused(&fragment(0, 41, true)), PacketError::Uneven(41));
        // The ping of death: 65,528 bytes on, and 8 bytes are too many.
        assert_eq!(refused(&with(whole, 6, &[0x1f, 0xff])), PacketError::TooLong { offset: 65_528, len: 40 });
        let mut changed = whole;
        changed[5] ^= 1;
        assert_eq!(refused(&changed), PacketError::Checksum);
        assert_eq!(DiscardReason::from(PacketError::Checksum), DiscardReason::Malformed);
        assert_eq!(DiscardReason::from(PacketError::TooShort(1)), DiscardReason::TooShort);
        assert_eq!(DiscardReason::from(PacketError::TooLong { offset: 8, len: 1 }), DiscardReason::TooLong);
    }

    #[test]
    fn fragments_are_as_long_as_the_link_lets_them_be_in_units_of_eight() {
        let cut = Cut::new(60_008, 1_500);
        assert_eq!((cut.fragment_len, cut.fragments(), cut.last_len()), (1_480, 41, 808));
        assert_eq!(Cut::new(60_008, 1_499).fragment_len, 1_472);
        let even = Cut::new(2_960, 1_500);
        assert_eq!((even.fragments(), even.last_len()), (2, 1_480));
        assert!(even.is_last(1_480) && !even.is_last(0));
        assert_eq!((even.len_at(8), even.len_at(2_960)), (0, 0));
        assert_eq!((Cut::new(8, 1_500).fragments(), Cut::new(8, 1_500).last_len()), (1, 8));
    }

    proptest! {
        #[test]
        fn the_checksum_is_that_of_one_word_at_a_time(
            first in prop::collection::vec(any::<[u8; 2]>(), 0..20),
            rest in prop::collection::vec(prop_oneof![any::<u8>(), Just(0xff)], 0..1_600),
        ) {
            let parts = [first.as_flattened(), &rest];
            prop_assert_eq!(checksum(&parts), plain_checksum(&parts));
        }

        #[test]
        fn the_fragments_of_a_datagram_cover_it_once(len in 1usize..65_516, mtu in 28usize..1_600) {
            let cut = Cut::new(len, mtu);
            let mut at = 0;
            let mut count = 0;
            while cut.len_at(at) > 0 {
                prop_assert_eq!(cut.is_last(at), at + cut.len_at(at) == len);
                at += cut.len_at(at);
                count += 1;
                if at < len {
                    prop_assert!(at.is_multiple_of(FRAGMENT_UNIT));
                }
            }
            prop_assert_eq!((at, count), (len, cut.fragments()));
        }

        #[test]
        fn an_emitted_header_reads_back(units in 0usize..8_000, len in 1usize..22, more: bool, identification: u16) {
            let (offset, len) = (units * FRAGMENT_UNIT, len * FRAGMENT_UNIT);
            prop_assume!(HEADER_LEN + offset + len <= TOTAL_LEN_MAX);
            let mut bytes = [0; 200];
            Header { identification, ..HEADER }.emit((offset, len), more, &mut bytes);
            let packet = Packet::parse(&bytes).unwrap();
            prop_assert_eq!((packet.offset, packet.data.len(), packet.more_fragments), (offset, len, more));
            prop_assert_eq!(packet.identification, identification);
        }

        #[test]
        fn any_bytes_are_a_packet_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(packet) = Packet::parse(&bytes) {
                prop_assert!(HEADER_LEN + packet.data.len() <= bytes.len());
            }
        }
    }
}
