//! The redundancy tag: a sequence number by which receivers of a frame over several ways tell its copies apart (IEEE 802.1CB-2017
//! §7.8).
//!
//! ```text
//!  0                2          4                 6
//! +----------------+----------+-----------------+----------------+---- - -
//! | 0xf1c1         | reserved | sequence number | type or length | payload
//! +----------------+----------+-----------------+----------------+---- - -
//! ```
//! It stands behind the addresses and a VLAN tag, if there is one.

/// The EtherType of a redundancy tag: IEEE 802.1CB-2017 table 7-1.
pub const ETHERTYPE_R_TAG: u16 = 0xf1c1;
/// What a redundancy tag adds to a frame: EtherType, two reserved bytes, sequence number `[byte]`.
pub const R_TAG_LEN: usize = 6;

/// What a redundancy tag says of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RTag {
    /// That of the frame; all its copies have the same.
    pub sequence: u16,
}

impl RTag {
    /// Reads what follows the EtherType. The reserved bytes are passed over, as the standard says of receivers.
    pub const fn from_raw(raw: [u8; R_TAG_LEN - 2]) -> Self {
        let [_, _, high, low] = raw;
        Self { sequence: u16::from_be_bytes([high, low]) }
    }

    /// As on the wire, EtherType included.
    pub const fn raw(self) -> [u8; R_TAG_LEN] {
        let [type_high, type_low] = ETHERTYPE_R_TAG.to_be_bytes();
        let [high, low] = self.sequence.to_be_bytes();
        [type_high, type_low, 0, 0, high, low]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_its_type_two_zeros_and_the_number() {
        assert_eq!(RTag { sequence: 0x1234 }.raw(), [0xf1, 0xc1, 0, 0, 0x12, 0x34]);
        assert_eq!(RTag::from_raw([0xff, 0xff, 0x12, 0x34]), RTag { sequence: 0x1234 });
    }
}
