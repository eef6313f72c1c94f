//! Container I-PDUs: several PDUs in one frame, each behind a header with its identifier and its length.
//!
//! ```text
//! short header                       long header
//! 0              3      4            0                4                8
//! +--------------+------+---------   +----------------+----------------+---------
//! | identifier   | len. | PDU ...    | identifier     | length         | PDU ...     big-endian
//! +--------------+------+---------   +----------------+----------------+---------
//! ```
//!
//! Behind the last PDU a container is filled up with zeros, as far as its frame needs: no PDU has the identifier 0.
//!
//! Names and headers are those of the dynamic container layout in AUTOSAR Classic Platform, *Specification of I-PDU
//! Multiplexer* (document 182, release R21-11), "Multiple-PDU-to-Container handling". Which identifiers a container may
//! hold, and how long each PDU is, both ends agree on beforehand; it is not this module's business.

use chronoseal_core::DiscardReason;

/// What stands before each PDU of a container.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HeaderType {
    /// 24 bits of identifier and 8 bits of length.
    #[default]
    Short,
    /// 32 bits each.
    Long,
}

/// A PDU of a container.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ContainedPdu<'a> {
    /// Its identifier, never 0.
    pub id: u32,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// A container whose headers have been found to fit its length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Container<'a> {
    header: HeaderType,
    bytes: &'a [u8],
}

/// Why bytes are no container.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContainerError {
    /// A header says that its PDU is longer than what follows.
    #[error("the header at byte {at} tells of {len} bytes, and {left} follow")]
    LengthBeyondEnd {
        /// Where the header begins `[byte]`.
        at: usize,
        /// What it says `[byte]`.
        len: usize,
        /// What there is behind it `[byte]`.
        left: usize,
    },
    /// Behind the last PDU stands something else than zeros.
    #[error("behind the last PDU, at byte {at}, stands something else than zeros")]
    TrailingBytes {
        /// Where the zeros should begin `[byte]`.
        at: usize,
    },
}

impl From<ContainerError> for DiscardReason {
    fn from(_: ContainerError) -> Self {
        Self::Malformed
    }
}

/// A PDU that finds no place in a container.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// No PDU has this identifier, or the header has no room for it.
    #[error("{0} is no identifier for this header")]
    Id(u32),
    /// The PDU is longer than the header can say, or than the room that is left.
    #[error("a PDU of {len} bytes does not fit, its header included: {left} bytes are left")]
    NoRoom {
        /// Of the PDU `[byte]`.
        len: usize,
        /// What there is for header and PDU `[byte]`.
        left: usize,
    },
}

impl HeaderType {
    /// Length on the wire `[byte]`.
    pub const fn wire_len(self) -> usize {
        match self {
            Self::Short => 4,
            Self::Long => 8,
        }
    }

    /// The longest PDU it can stand before `[byte]`.
    pub const fn pdu_len_max(self) -> usize {
        match self {
            Self::Short => 0xff,
            Self::Long => 0xffff_ffff,
        }
    }

    /// The largest identifier it can hold.
    pub const fn id_max(self) -> u32 {
        match self {
            Self::Short => 0x00ff_ffff,
            Self::Long => u32::MAX,
        }
    }

    /// Identifier and length at the front of `bytes`; `None` if they are too short.
    fn parse(self, bytes: &[u8]) -> Option<(u32, usize)> {
        match *bytes {
            [a, b, c, len, ..] if self == Self::Short => Some((u32::from_be_bytes([0, a, b, c]), usize::from(len))),
            [a, b, c, d, e, f, g, h, ..] if self == Self::Long => {
                let len = u32::from_be_bytes([e, f, g, h]);
                Some((u32::from_be_bytes([a, b, c, d]), usize::try_from(len).unwrap_or(usize::MAX)))
            }
            _ => None,
        }
    }

    /// Writes header and PDU to the front of `room`, and returns how many bytes that took.
    ///
    /// # Errors
    /// [`EmitError`] if the identifier or the PDU does not fit.
    pub fn emit(self, pdu: ContainedPdu<'_>, room: &mut [u8]) -> Result<usize, EmitError> {
        let (header_len, len) = (self.wire_len(), pdu.bytes.len());
        if pdu.id == 0 || pdu.id > self.id_max() {
            return Err(EmitError::Id(pdu.id));
        }
        let no_room = EmitError::NoRoom { len, left: room.len() };
        if len > self.pdu_len_max() || room.len() < header_len || room.len() - header_len < len {
            return Err(no_room);
        }
        let (id, written) = (pdu.id.to_be_bytes(), (len as u32).to_be_bytes());
        match self {
            Self::Short => {
                room[..3].copy_from_slice(&id[1..]);
                room[3] = written[3];
            }
            Self::Long => {
                room[..4].copy_from_slice(&id);
                room[4..8].copy_from_slice(&written);
            }
        }
        room[header_len..header_len + len].copy_from_slice(pdu.bytes);
        Ok(header_len + len)
    }
}

impl<'a> Container<'a> {
    /// A container whose every header fits, or none of it.
    ///
    /// # Errors
    /// [`ContainerError`] if a length leads beyond the end, or what fills it up is not zero.
    pub fn new_checked(header: HeaderType, bytes: &'a [u8]) -> Result<Self, ContainerError> {
        let mut at = 0;
        while let Some((id, len)) = header.parse(&bytes[at..]).filter(|(id, _)| *id != 0) {
            debug_assert!(id <= header.id_max(), "as many bits as it has");
            let left = bytes.len() - at - header.wire_len();
            if len > left {
                return Err(ContainerError::LengthBeyondEnd { at, len, left });
            }
            at += header.wire_len() + len;
        }
        match bytes[at..].iter().all(|byte| *byte == 0) {
            true => Ok(Self { header, bytes: &bytes[..at] }),
            false => Err(ContainerError::TrailingBytes { at }),
        }
    }

    /// Its PDUs, in order.
    pub fn pdus(&self) -> impl Iterator<Item = ContainedPdu<'a>> + use<'a> {
        let (header, mut rest) = (self.header, self.bytes);
        core::iter::from_fn(move || {
            let (id, len) = header.parse(rest)?;
            let (bytes, behind) = rest.get(header.wire_len()..)?.split_at_checked(len)?;
            rest = behind;
            Some(ContainedPdu { id, bytes })
        })
    }

    /// How long it is without what fills it up `[byte]`.
    pub const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// True if it holds no PDU.
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn emitted(header: HeaderType, pdus: &[(u32, Vec<u8>)], filled_up: usize) -> Vec<u8> {
        let mut bytes = vec![0xee; 2000];
        let mut len = 0;
        for (id, pdu) in pdus {
            len += header.emit(ContainedPdu { id: *id, bytes: pdu }, &mut bytes[len..]).expect("there is room");
        }
        bytes.truncate(len);
        bytes.extend(std::iter::repeat_n(0, filled_up));
        bytes
    }

    #[test]
    fn the_bytes_are_the_documented_ones() {
        let pdus = [(0x01_0203, vec![7, 8]), (9, vec![])];
        assert_eq!(emitted(HeaderType::Short, &pdus, 3), [1, 2, 3, 2, 7, 8, 0, 0, 9, 0, 0, 0, 0]);
        let pdus = [(0x0102_0304, vec![7])];
        assert_eq!(emitted(HeaderType::Long, &pdus, 0), [1, 2, 3, 4, 0, 0, 0, 1, 7]);
    }

    #[test]
    fn a_length_that_lies_and_bytes_behind_the_last_pdu_are_refused() {
        let parse = |bytes: &[u8]| Container::new_checked(HeaderType::Short, bytes).map(|container| container.len());
        assert_eq!(parse(&[0, 0, 1, 2, 7, 8]), Ok(6));
        let lies = ContainerError::LengthBeyondEnd { at: 0, len: 3, left: 2 };
        assert_eq!(parse(&[0, 0, 1, 3, 7, 8]), Err(lies));
        assert_eq!(parse(&[0, 0, 1, 2, 7, 8, 0, 0, 0, 0, 0]), Ok(6));
        assert_eq!(parse(&[0, 0, 1, 2, 7, 8, 0, 0, 0, 0, 1]), Err(ContainerError::TrailingBytes { at: 6 }));
        // Too short for a header, and not zero.
        assert_eq!(parse(&[0, 0, 1, 2, 7, 8, 1]), Err(ContainerError::TrailingBytes { at: 6 }));
        // A length behind no identifier is none.
        assert_eq!(parse(&[0, 0, 0, 2, 7, 8]), Err(ContainerError::TrailingBytes { at: 0 }));
        assert_eq!((parse(&[]), parse(&[0; 9])), (Ok(0), Ok(0)));
        assert_eq!(DiscardReason::from(lies), DiscardReason::Malformed);
    }

    #[test]
    fn what_a_header_has_no_bits_for_is_not_written() {
        let mut room = [0; 300];
        let mut emit = |header: HeaderType, id: u32, len: usize| {
            header.emit(ContainedPdu { id, bytes: &[1; 300][..len] }, &mut room)
        };
        assert_eq!(emit(HeaderType::Short, 0, 1), Err(EmitError::Id(0)));
        assert_eq!(emit(HeaderType::Short, 0x0100_0000, 1), Err(EmitError::Id(0x0100_0000)));
        assert_eq!(emit(HeaderType::Short, 1, 256), Err(EmitError::NoRoom { len: 256, left: 300 }));
        assert_eq!(emit(HeaderType::Short, 0x00ff_ffff, 255), Ok(259));
        assert_eq!(emit(HeaderType::Long, u32::MAX, 292), Ok(300));
        assert_eq!(emit(HeaderType::Long, 1, 293), Err(EmitError::NoRoom { len: 293, left: 300 }));
    }

    proptest! {
        #[test]
        fn what_is_emitted_reads_back(
            long: bool,
            pdus in proptest::collection::vec((1u32..=0x00ff_ffff, proptest::collection::vec(any::<u8>(), 0..40)), 0..8),
            filled_up in 0usize..70,
        ) {
            let header = if long { HeaderType::Long } else { HeaderType::Short };
            let bytes = emitted(header, &pdus, filled_up);
            let container = Container::new_checked(header, &bytes).unwrap();
            let read: Vec<(u32, Vec<u8>)> = container.pdus().map(|pdu| (pdu.id, pdu.bytes.to_vec())).collect();
            prop_assert_eq!(container.is_empty(), pdus.is_empty());
            prop_assert_eq!(container.len() + filled_up, bytes.len());
            prop_assert_eq!(read, pdus);
        }

        #[test]
        fn what_is_accepted_is_written_back_unchanged(
            long: bool,
            bytes in proptest::collection::vec(prop_oneof![Just(0u8), 0u8..6, any::<u8>()], 0..60),
        ) {
            let header = if long { HeaderType::Long } else { HeaderType::Short };
            if let Ok(container) = Container::new_checked(header, &bytes) {
                let pdus: Vec<(u32, Vec<u8>)> = container.pdus().map(|pdu| (pdu.id, pdu.bytes.to_vec())).collect();
                prop_assert_eq!(emitted(header, &pdus, bytes.len() - container.len()), bytes);
            }
        }
    }
}
