//! UDP datagrams (RFC 768).
//!
//! ```text
//! 0             2                  4        6          8
//! +-------------+------------------+--------+----------+------
//! | source port | destination port | length | checksum | data
//! +-------------+------------------+--------+----------+------
//! ```

use chronoseal_core::DiscardReason;

use crate::field;
use crate::ipv4::{self, Address, PROTOCOL_UDP, checksum};

/// Header `[byte]`.
pub const HEADER_LEN: usize = 8;
/// Where in it the checksum stands `[byte]`.
pub const CHECKSUM_AT: usize = 6;
/// Most data of a datagram over IPv4 without options `[byte]`.
pub const DATA_LEN_MAX: usize = ipv4::TOTAL_LEN_MAX - ipv4::HEADER_LEN - HEADER_LEN;
/// The port that streams of the test bed use at both ends: the first of those that nobody can have registered (RFC 6335 §6).
pub const PORT_TEST_BED: u16 = 49_152;

/// Who speaks with whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ends {
    /// Of the packet it comes in.
    pub source: Address,
    /// Of the packet it comes in.
    pub destination: Address,
}

/// Why bytes are no datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatagramError {
    /// Shorter than a header.
    #[error("a datagram of {0} bytes is shorter than its header of 8")]
    TooShort(usize),
    /// Its length is not that of the packet's data.
    #[error("the header says {claimed} bytes, and there are {held}")]
    Length {
        /// By the header, itself included `[byte]`.
        claimed: u16,
        /// In the packet `[byte]`.
        held: usize,
    },
    /// For another port than the test bed's.
    #[error("it is for port {0}, and streams have port 49152")]
    Port(u16),
    /// Its checksum does not fit.
    #[error("its checksum does not fit")]
    Checksum,
}

impl From<DatagramError> for DiscardReason {
    fn from(error: DatagramError) -> Self {
        match error {
            DatagramError::TooShort(_) => Self::TooShort,
            _ => Self::Malformed,
        }
    }
}

/// The data of the datagram in `bytes`, which are all of a packet's data. `is_whole` says that all its bytes were written, so that a
/// checksum has to fit if there is one.
///
/// # Errors
/// [`DatagramError`] if it is none, or not one of the test bed.
pub fn parse(bytes: &[u8], ends: Ends, is_whole: bool) -> Result<&[u8], DatagramError> {
    let [_, _, d0, d1, l0, l1, c0, c1] = field::read(bytes, 0).ok_or(DatagramError::TooShort(bytes.len()))?;
    let (port, claimed) = (u16::from_be_bytes([d0, d1]), u16::from_be_bytes([l0, l1]));
    if usize::from(claimed) != bytes.len() {
        return Err(DatagramError::Length { claimed, held: bytes.len() });
    }
    if port != PORT_TEST_BED {
        return Err(DatagramError::Port(port));
    }
    if is_whole && [c0, c1] != [0, 0] && checksum(&[&pseudo_header(ends, claimed), bytes]) != 0 {
        return Err(DatagramError::Checksum);
    }
    Ok(&bytes[HEADER_LEN..])
}

/// Writes the header of a datagram that is all of `buf`, with no checksum yet: none is what 0 means.
///
/// # Panics
/// If `buf` is shorter than [`HEADER_LEN`] or longer than a datagram over IPv4 can be.
pub fn emit(buf: &mut [u8]) {
    let len = u16::try_from(buf.len()).expect("a datagram has at most 65,515 bytes");
    buf[..2].copy_from_slice(&PORT_TEST_BED.to_be_bytes());
    buf[2..4].copy_from_slice(&PORT_TEST_BED.to_be_bytes());
    buf[4..6].copy_from_slice(&len.to_be_bytes());
    buf[6..8].fill(0);
}

/// Writes the checksum of a datagram that is all of `buf`.
///
/// # Panics
/// As [`emit`].
pub fn fill_checksum(buf: &mut [u8], ends: Ends) {
    let len = u16::try_from(buf.len()).expect("a datagram has at most 65,515 bytes");
    buf[6..8].fill(0);
    let sum = match checksum(&[&pseudo_header(ends, len), buf]) {
        // 0 would say that there is none.
        0 => u16::MAX,
        sum => sum,
    };
    buf[CHECKSUM_AT..HEADER_LEN].copy_from_slice(&sum.to_be_bytes());
}

/// The checksum of a datagram in which one word of 16 bits became another (RFC 1624).
pub fn changed_checksum(old: u16, from: [u8; 2], to: [u8; 2]) -> u16 {
    let from = u16::from_be_bytes(from);
    match checksum(&[&(!old).to_be_bytes(), &(!from).to_be_bytes(), &to]) {
        // 0 would say that there is none.
        0 => u16::MAX,
        sum => sum,
    }
}

/// What the checksum covers of the packet's header.
fn pseudo_header(ends: Ends, len: u16) -> [u8; 12] {
    let ([s0, s1, s2, s3], [d0, d1, d2, d3]) = (ends.source, ends.destination);
    let [l0, l1] = len.to_be_bytes();
    [s0, s1, s2, s3, d0, d1, d2, d3, 0, PROTOCOL_UDP, l0, l1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ENDS: Ends = Ends { source: [10, 0, 0, 1], destination: [239, 192, 0, 7] };

    fn datagram() -> [u8; 21] {
        let mut bytes = core::array::from_fn(|at| at as u8);
        emit(&mut bytes);
        fill_checksum(&mut bytes, ENDS);
        bytes
    }

    #[test]
    fn a_datagram_reads_back_and_one_that_was_changed_does_not() {
        let bytes = datagram();
        assert_eq!(parse(&bytes, ENDS, true), Ok(&bytes[8..]));
        for at in 8..21 {
            let mut changed = bytes;
            changed[at] ^= 0x10;
            assert_eq!(parse(&changed, ENDS, true), Err(DatagramError::Checksum));
        }
        assert_eq!(parse(&bytes, Ends { source: [10, 0, 0, 2], ..ENDS }, true), Err(DatagramError::Checksum));
    }

    #[test]
    fn refuses_other_lengths_and_ports_and_takes_one_without_a_checksum() {
        let bytes = datagram();
        assert_eq!(parse(&bytes[..7], ENDS, true), Err(DatagramError::TooShort(7)));
        assert_eq!(parse(&bytes[..20], ENDS, true), Err(DatagramError::Length { claimed: 21, held: 20 }));
        let mut other = bytes;
        other[3] ^= 1;
        assert_eq!(parse(&other, ENDS, true), Err(DatagramError::Port(49_153)));
        let mut without = bytes;
        without[6..8].fill(0);
        without[20] ^= 1;
        assert_eq!(parse(&without, ENDS, true), Ok(&without[8..]));
        assert_eq!(DiscardReason::from(DatagramError::TooShort(7)), DiscardReason::TooShort);
        assert_eq!(DiscardReason::from(DatagramError::Checksum), DiscardReason::Malformed);
    }

    proptest! {
        /// A datagram in which a word was changed has the checksum that it would have had from the beginning.
        #[test]
        fn a_changed_checksum_is_that_of_the_changed_datagram(
            data in proptest::collection::vec(any::<u8>(), 2..60),
            place in 0usize..29,
            to in any::<[u8; 2]>(),
        ) {
            let ends = Ends { source: [10, 0, 0, 1], destination: [239, 192, 0, 1] };
            let mut bytes = [&[0; HEADER_LEN][..], &data].concat();
            emit(&mut bytes);
            fill_checksum(&mut bytes, ends);
            let at = HEADER_LEN + place * 2 % (data.len() - 1) / 2 * 2;
            let from = [bytes[at], bytes[at + 1]];
            let old = u16::from_be_bytes([bytes[CHECKSUM_AT], bytes[CHECKSUM_AT + 1]]);
            bytes[at..at + 2].copy_from_slice(&to);
            let sum = changed_checksum(old, from, to);
            bytes[CHECKSUM_AT..HEADER_LEN].copy_from_slice(&sum.to_be_bytes());
            prop_assert!(parse(&bytes, ends, true).is_ok());
        }

        #[test]
        fn any_data_read_back(data in proptest::collection::vec(any::<u8>(), 8..300)) {
            let mut bytes = data.clone();
            emit(&mut bytes);
            fill_checksum(&mut bytes, ENDS);
            prop_assert_eq!(parse(&bytes, ENDS, true), Ok(&data[8..]));
        }
    }
}
