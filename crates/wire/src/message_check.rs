//! What stands behind the test-bed header of a message on a lossy link, if the message is long enough for it: when it was due, and a
//! checksum over all of it.
//!
//! ```text
//! 0        2        4                 8                         16       20
//! +--------+--------+-----------------+-------------------------+--------+------
//! | stream | flags  | sequence number | due [ns]                | CRC-32 | data      big-endian
//! +--------+--------+-----------------+-------------------------+--------+------
//! ```
//! `due` counts from the start of the run by the clock of the sender, two's complement. The checksum is that of IEEE 802.3-2018 §3.2.9 over all of the
//! message but itself. A message of fewer than 20 bytes has the test-bed header alone.

use crate::field;
use crate::test_bed_header::TestBedHeader;

/// What a message says of itself behind its test-bed header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageCheck {
    /// When its sender was to send it, by the sender's clock `[ns]`.
    pub due_ns: i64,
    /// CRC-32 of the message.
    pub crc: u32,
}

impl MessageCheck {
    /// Where it begins in a message `[byte]`.
    pub const AT: usize = TestBedHeader::LEN;
    /// Length on the wire `[byte]`.
    pub const LEN: usize = 12;
    /// Where it ends: the shortest message that has one `[byte]`.
    pub const END: usize = Self::AT + Self::LEN;
    /// Where in a message the checksum stands `[byte]`.
    const CRC_AT: usize = Self::END - 4;

    /// Reads that of a message; `None` if the message is too short to have one.
    #[inline]
    pub fn read(message: &[u8]) -> Option<Self> {
        let due = field::read(message, Self::AT)?;
        let crc = field::read(message, Self::CRC_AT)?;
        Some(Self { due_ns: i64::from_be_bytes(due), crc: u32::from_be_bytes(crc) })
    }

    /// Writes that of a message; false if the message is too short to have one.
    #[inline]
    pub fn emit(&self, message: &mut [u8]) -> bool {
        let Some(room) = message.get_mut(Self::AT..Self::END) else { return false };
        let (due, crc) = room.split_at_mut(Self::CRC_AT - Self::AT);
        due.copy_from_slice(&self.due_ns.to_be_bytes());
        crc.copy_from_slice(&self.crc.to_be_bytes());
        true
    }

    /// What the checksum covers of a message: what stands before it, and what behind. `None` if the message is too short to have one.
    pub fn covered(message: &[u8]) -> Option<(&[u8], &[u8])> {
        Some((message.get(..Self::CRC_AT)?, message.get(Self::END..)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_bytes_are_the_documented_ones() {
        let mut message: [u8; 22] = core::array::from_fn(|at| at as u8);
        assert!(MessageCheck { due_ns: -2, crc: 0x0102_0304 }.emit(&mut message));
        let [before, due, crc, behind] = [&message[..8], &message[8..16], &message[16..20], &message[20..]];
        assert_eq!([before, behind], [&[0, 1, 2, 3, 4, 5, 6, 7][..], &[20, 21]]);
        assert_eq!([due, crc], [&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe][..], &[1, 2, 3, 4]]);
        assert_eq!(MessageCheck::covered(&message), Some((&message[..16], behind)));
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_and_a_short_message_has_none(due_ns: i64, crc: u32, len in 0usize..40) {
            let mut message = vec![0xaa; len];
            let written = MessageCheck { due_ns, crc };
            let is_there = len >= MessageCheck::END;
            prop_assert_eq!(written.emit(&mut message), is_there);
            prop_assert_eq!(MessageCheck::read(&message), is_there.then_some(written));
            prop_assert_eq!(MessageCheck::covered(&message).is_some(), is_there);
            prop_assert!(is_there || message.iter().all(|byte| *byte == 0xaa));
        }
    }
}
