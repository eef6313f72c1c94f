//! The first bytes of every payload of the test bed: which stream, and which of its frames.
//!
//! ```text
//! 0        2        4                 8
//! +--------+--------+-----------------+
//! | stream | flags  | sequence number |   big-endian; flags are reserved and 0
//! +--------+--------+-----------------+
//! ```

use chronoseal_core::{DiscardReason, StreamId};

use crate::field;

/// EtherType of best-effort frames: IEEE 802 local experimental EtherType 1 (IEEE 802-2014 §9.2.4).
pub const ETHERTYPE_BEST_EFFORT: u16 = 0x88b5;

/// What every payload of the test bed begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TestBedHeader {
    /// Which stream.
    pub stream: StreamId,
    /// Which frame of the stream, counted by its sender from 0.
    pub sequence: u32,
}

/// Why a payload does not begin with a test-bed header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// Shorter than [`TestBedHeader::LEN`].
    #[error("a payload of {0} bytes is shorter than the 8 bytes of a test-bed header")]
    TooShort(usize),
    /// A reserved flag is set.
    #[error("flags {0:#06x} are set, but all are reserved")]
    ReservedFlags(u16),
}

impl From<HeaderError> for DiscardReason {
    fn from(error: HeaderError) -> Self {
        match error {
            HeaderError::TooShort(_) => Self::TooShort,
            HeaderError::ReservedFlags(_) => Self::Malformed,
        }
    }
}

impl TestBedHeader {
    /// Length on the wire `[byte]`.
    pub const LEN: usize = 8;

    /// Reads the header at the front of `payload`.
    ///
    /// # Errors
    /// [`HeaderError`] if the payload is too short or a reserved flag is set.
    #[inline]
    pub fn parse(payload: &[u8]) -> Result<Self, HeaderError> {
        let bytes: [u8; Self::LEN] = field::read(payload, 0).ok_or(HeaderError::TooShort(payload.len()))?;
        let [s0, s1, f0, f1, sequence @ ..] = bytes;
        match u16::from_be_bytes([f0, f1]) {
            0 => Ok(Self { stream: StreamId(u16::from_be_bytes([s0, s1])), sequence: u32::from_be_bytes(sequence) }),
            flags => Err(HeaderError::ReservedFlags(flags)),
        }
    }

    /// Writes the header to the front of `buf`.
    ///
    /// # Panics
    /// If `buf` is shorter than [`Self::LEN`].
    #[inline]
    pub fn emit(&self, buf: &mut [u8]) {
        // Stream, flags and sequence as one word: written in pieces, whoever reads more of it at once waits for each of them.
        let word = u64::from(self.stream.0) << 48 | u64::from(self.sequence);
        buf[..Self::LEN].copy_from_slice(&word.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_bytes_are_the_documented_ones() {
        let mut buf = [0xaa; 9];
        TestBedHeader { stream: StreamId(0x0102), sequence: 0x0304_0506 }.emit(&mut buf);
        assert_eq!(buf, [1, 2, 0, 0, 3, 4, 5, 6, 0xaa]);
    }

    #[test]
    fn refuses_short_payloads_and_reserved_flags() {
        assert_eq!(TestBedHeader::parse(&[0; 7]), Err(HeaderError::TooShort(7)));
        for bit in 0..16 {
            let flags = 1u16 << bit;
            let [f0, f1] = flags.to_be_bytes();
            assert_eq!(TestBedHeader::parse(&[0, 0, f0, f1, 0, 0, 0, 0]), Err(HeaderError::ReservedFlags(flags)));
        }
        assert_eq!(DiscardReason::from(HeaderError::TooShort(7)), DiscardReason::TooShort);
        assert_eq!(DiscardReason::from(HeaderError::ReservedFlags(1)), DiscardReason::Malformed);
    }

    proptest! {
        #[test]
        fn an_emitted_header_reads_back(stream: u16, sequence: u32) {
            let header = TestBedHeader { stream: StreamId(stream), sequence };
            let mut buf = [0xaa; TestBedHeader::LEN];
            header.emit(&mut buf);
            prop_assert_eq!(TestBedHeader::parse(&buf), Ok(header));
        }

        #[test]
        fn what_is_accepted_is_written_back_unchanged(bytes: [u8; TestBedHeader::LEN]) {
            if let Ok(header) = TestBedHeader::parse(&bytes) {
                let mut buf = [0xaa; TestBedHeader::LEN];
                header.emit(&mut buf);
                prop_assert_eq!(buf, bytes);
            }
        }
    }
}
