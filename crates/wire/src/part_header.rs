//! The first bytes of a datagram that carries a part of a message of the test bed: a message that is longer than a datagram travels
//! in several, each in a packet of its own.
//!
//! ```text
//! 0        2               4                 8
//! +--------+---------------+-----------------+------
//! | stream | more, part    | sequence number | data     big-endian; `more` is the highest bit
//! +--------+---------------+-----------------+------
//! ```
//! A message that is whole in its datagram is part 0 with none behind it, and has a [test-bed header](crate::test_bed_header). What
//! the receiver puts together is that header and the data of all parts.

use chronoseal_core::StreamId;

use crate::field;
use crate::test_bed_header::{HeaderError, TestBedHeader};

/// Most parts of a message.
pub const PARTS_MAX: usize = 1 << 15;

/// Set while more parts follow.
const MORE: u16 = 1 << 15;

/// What a datagram with a part of a message begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartHeader {
    /// Of which stream.
    pub stream: StreamId,
    /// Which part, counted from 0, up to 32,767.
    pub part: u16,
    /// True unless it is the last.
    pub more: bool,
    /// Of which message of the stream.
    pub sequence: u32,
}

impl PartHeader {
    /// Length on the wire `[byte]`.
    pub const LEN: usize = TestBedHeader::LEN;

    /// Reads the header at the front of `data`.
    ///
    /// # Errors
    /// [`HeaderError`] if there is no room for one.
    pub fn parse(data: &[u8]) -> Result<Self, HeaderError> {
        let [s0, s1, p0, p1, sequence @ ..]: [u8; Self::LEN] =
            field::read(data, 0).ok_or(HeaderError::TooShort(data.len()))?;
        let word = u16::from_be_bytes([p0, p1]);
        Ok(Self {
            stream: StreamId(u16::from_be_bytes([s0, s1])),
            part: word & !MORE,
            more: word & MORE != 0,
            sequence: u32::from_be_bytes(sequence),
        })
    }

    /// Writes the header to the front of `buf`.
    ///
    /// # Panics
    /// If `buf` is shorter than [`Self::LEN`].
    pub fn emit(&self, buf: &mut [u8]) {
        let word = self.part & !MORE | if self.more { MORE } else { 0 };
        TestBedHeader { stream: self.stream, sequence: self.sequence }.emit(buf);
        buf[2..4].copy_from_slice(&word.to_be_bytes());
    }

    /// True if the whole message is in its datagram.
    pub const fn is_whole(&self) -> bool {
        self.part == 0 && !self.more
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_bytes_are_the_documented_ones() {
        let mut buf = [0xaa; 9];
        let header = PartHeader { stream: StreamId(0x0102), part: 0x0304, more: true, sequence: 0x0506_0708 };
        header.emit(&mut buf);
        assert_eq!(buf, [1, 2, 0x83, 4, 5, 6, 7, 8, 0xaa]);
        assert_eq!(PartHeader::parse(&buf[..7]), Err(HeaderError::TooShort(7)));
    }

    proptest! {
        #[test]
        fn an_emitted_header_reads_back(stream: u16, part in 0u16..1 << 15, more: bool, sequence: u32) {
            let header = PartHeader { stream: StreamId(stream), part, more, sequence };
            let mut buf = [0; PartHeader::LEN];
            header.emit(&mut buf);
            prop_assert_eq!(PartHeader::parse(&buf), Ok(header));
            // A test-bed header is the part that is all of its message, and nothing else is one.
            let whole = TestBedHeader { stream: header.stream, sequence };
            prop_assert_eq!(TestBedHeader::parse(&buf).ok(), header.is_whole().then_some(whole));
        }
    }
}
