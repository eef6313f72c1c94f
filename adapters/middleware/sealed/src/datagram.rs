//! What is in a datagram: a part of a message, or a greeting.
//!
//! ```text
//! 0            8              16           20         n      n + 8     n + 24
//! +------------+--------------+------------+----------+-----------+---------+
//! | part header| number       | checksum   | data     | freshness | tag     |    big-endian
//! +------------+--------------+------------+----------+-----------+---------+
//! ```
//! The [part header](chronoseal_wire::part_header) is that of messages on links; freshness value and tag are those of
//! `chronoseal_frameauth`. All data of a message but the last have the length that the greeting said.

use chronoseal_core::StreamId;
use chronoseal_frameauth::{Freshness, MacAlgorithm, Profile, ProfileError};
use chronoseal_wire::part_header::PartHeader;

/// What stands before the data `[byte]`.
pub(crate) const FRONT_LEN: usize = PartHeader::LEN + 12;

/// What stands behind the data `[byte]`: 64 bits of freshness value, and a tag of 128 bits.
pub(crate) const TRAILER_LEN: usize = 8 + TAG_LEN;
const TAG_LEN: usize = 16;

/// The longest datagram of UDP over IPv4 `[byte]`.
pub(crate) const DATAGRAM_MAX: usize = 65_507;

/// How every datagram is sealed. The freshness value is whole, and judged by what was received: parts of one message overtake each
/// other by more than a replay window holds.
pub(crate) fn profile(mac: MacAlgorithm) -> Result<Profile, ProfileError> {
    Profile::new(mac, 8 * TAG_LEN as u16, Freshness::Full, 1)
}

/// What a datagram says of its data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Front {
    pub(crate) stream: u16,
    pub(crate) part: u16,
    pub(crate) more: bool,
    /// Of the message.
    pub(crate) number: u64,
    /// Of the message, as the contract has it.
    pub(crate) checksum: u32,
}

impl Front {
    pub(crate) fn bytes(&self) -> [u8; FRONT_LEN] {
        let mut bytes = [0; FRONT_LEN];
        let Self { stream, part, more, number, checksum } = *self;
        PartHeader { stream: StreamId(stream), part, more, sequence: number as u32 }.emit(&mut bytes);
        bytes[PartHeader::LEN..][..8].copy_from_slice(&number.to_be_bytes());
        bytes[PartHeader::LEN + 8..].copy_from_slice(&checksum.to_be_bytes());
        bytes
    }

    /// Front and data of what was sealed.
    pub(crate) fn read(payload: &[u8]) -> Option<(Self, &[u8])> {
        let (front, data) = payload.split_first_chunk::<FRONT_LEN>()?;
        let header = PartHeader::parse(front).ok()?;
        let (_, rest) = front.split_at(PartHeader::LEN);
        let (number, checksum) = rest.split_first_chunk::<8>()?;
        let front = Self {
            stream: header.stream.0,
            part: header.part,
            more: header.more,
            number: u64::from_be_bytes(*number),
            checksum: u32::from_be_bytes(checksum.try_into().ok()?),
        };
        Some((front, data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_front_reads_back() {
        let front = Front { stream: 3, part: 0x1234, more: true, number: 0x0102_0304_0506_0708, checksum: 0xdead_beef };
        let bytes = [&front.bytes()[..], b"data"].concat();
        assert_eq!(Front::read(&bytes), Some((front, &b"data"[..])));
        assert_eq!(Front::read(&bytes[..FRONT_LEN - 1]), None);
    }
}
