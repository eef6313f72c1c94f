//! The SecTAG of MACsec: what stands in front of the data of a protected frame (IEEE 802.1AE-2018 clause 9).
//!
//! ```text
//!  0       6        12        14       15       16              20             28
//! +-------+--------+---------+--------+--------+---------------+-------------+---- - - --+----------+
//! | dest. | source | 0x88e5  | TCI AN | SL     | packet number | SCI, if SC  | user data | ICV 16   |
//! +-------+--------+---------+--------+--------+---------------+-------------+---- - - --+----------+
//! ```
//! The user data are all that followed the addresses before: VLAN tag, type or length, payload. They follow in clear, or
//! encrypted.

use chronoseal_core::DiscardReason;

/// The EtherType of a SecTAG: IEEE 802.1AE-2018 table 9-1.
pub const ETHERTYPE_MACSEC: u16 = 0x88e5;
/// The two addresses in front of a SecTAG, which it leaves as they are `[byte]`.
pub const ADDRESSES_LEN: usize = 12;
/// Integrity check value behind the data `[byte]`.
pub const ICV_LEN: usize = 16;
/// EtherType, TCI and AN, SL, packet number `[byte]`.
pub const SECTAG_LEN: usize = 8;
/// A secure channel identifier `[byte]`.
pub const SCI_LEN: usize = 8;
/// User data that are shorter have their length in the SecTAG: IEEE 802.1AE-2018 §9.7 `[byte]`.
pub const SHORT_LENGTH_END: usize = 48;

/// What MACsec adds to a frame, with or without an explicit SCI `[byte]`: 32 or 24.
pub const fn overhead_len(has_sci: bool) -> usize {
    SECTAG_LEN + if has_sci { SCI_LEN } else { 0 } + ICV_LEN
}

/// A secure channel identifier: the address of the sender's SecY, and a port number (IEEE 802.1AE-2018 §9.9).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Sci(pub [u8; SCI_LEN]);

impl Sci {
    /// Of a SecY with this address and port number.
    pub const fn new(address: [u8; 6], port: u16) -> Self {
        let ([a, b, c, d, e, f], [high, low]) = (address, port.to_be_bytes());
        Self([a, b, c, d, e, f, high, low])
    }
}

/// What a SecTAG says of its frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SecTag {
    /// ES: the sender is an end station, whose SCI is the source address and port 1 if none is written.
    pub end_station: bool,
    /// SCB: the frame is a single copy broadcast of an EPON.
    pub single_copy_broadcast: bool,
    /// E: the user data are encrypted.
    pub encrypted: bool,
    /// C: the user data are not as they were, by encryption or otherwise.
    pub changed: bool,
    /// Association number: which of four keys of the channel, 0..=3.
    pub association: u8,
    /// SL: length of the user data if below [`SHORT_LENGTH_END`], else 0 `[byte]`.
    pub short_length: u8,
    /// Packet number; of an extended one (XPN) the lower half. Never 0 without XPN.
    pub packet_number: u32,
    /// SC: the channel, if it is written.
    pub sci: Option<Sci>,
}

/// Why bytes are no frame with a SecTAG: IEEE 802.1AE-2018 §9.12.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecTagError {
    /// The type behind the addresses is another one.
    #[error("the frame has no SecTAG: its type is not 0x88e5")]
    Untagged,
    /// The frame ends before its SecTAG and check value do.
    #[error("a frame of {0} bytes is shorter than its SecTAG and check value")]
    TooShort(usize),
    /// The version bit is set.
    #[error("the version of the SecTAG is not 0")]
    Version,
    /// SC with ES or SCB.
    #[error("the SecTAG has an SCI and says that it has none (SC with ES or SCB)")]
    Channel,
    /// SL is 48 or more, or not the length of what there is.
    #[error("the SecTAG says {0} bytes of data (SL), which is not what the frame holds")]
    ShortLength(u8),
    /// The packet number is 0.
    #[error("the packet number is 0")]
    PacketNumber,
}

impl From<SecTagError> for DiscardReason {
    fn from(error: SecTagError) -> Self {
        match error {
            SecTagError::Untagged => Self::Untagged,
            SecTagError::TooShort(_) => Self::TooShort,
            SecTagError::Version | SecTagError::Channel | SecTagError::ShortLength(_) | SecTagError::PacketNumber => {
                Self::Malformed
            }
        }
    }
}

impl SecTag {
    /// Its length on the wire, EtherType included `[byte]`.
    pub const fn emitted_len(&self) -> usize {
        SECTAG_LEN + if self.sci.is_some() { SCI_LEN } else { 0 }
    }

    /// Reads the SecTAG of a frame, given from its destination to its check value, and checks it against the frame's length.
    ///
    /// # Errors
    /// [`SecTagError`] for what IEEE 802.1AE-2018 §9.12 has a receiver refuse.
    pub fn parse(frame: &[u8]) -> Result<Self, SecTagError> {
        let too_short = SecTagError::TooShort(frame.len());
        let tag = frame.get(ADDRESSES_LEN..).ok_or(too_short)?;
        let ether_type: &[u8; 2] = tag.first_chunk().ok_or(too_short)?;
        if u16::from_be_bytes(*ether_type) != ETHERTYPE_MACSEC {
            return Err(SecTagError::Untagged);
        }
        let [_, _, control, short_length, packet_number @ ..]: [u8; SECTAG_LEN] =
            *tag.first_chunk().ok_or(too_short)?;
        let bit = |bit: u8| control & bit != 0;
        let (end_station, single_copy_broadcast, has_sci) = (bit(0x40), bit(0x10), bit(0x20));
        if bit(0x80) {
            return Err(SecTagError::Version);
        }
        if has_sci && (end_station || single_copy_broadcast) {
            return Err(SecTagError::Channel);
        }
        let sci = match has_sci {
            true => Some(Sci(*tag.get(SECTAG_LEN..).and_then(|rest| rest.first_chunk()).ok_or(too_short)?)),
            false => None,
        };
        let parsed = Self {
            end_station,
            single_copy_broadcast,
            encrypted: bit(0x08),
            changed: bit(0x04),
            association: control & 0x03,
            short_length,
            packet_number: u32::from_be_bytes(packet_number),
            sci,
        };
        let data = tag.len().checked_sub(parsed.emitted_len() + ICV_LEN).ok_or(too_short)?;
        let fits = match usize::from(short_length) {
            0 => data >= SHORT_LENGTH_END,
            short => short < SHORT_LENGTH_END && short == data,
        };
        if !fits {
            return Err(SecTagError::ShortLength(short_length));
        }
        if parsed.packet_number == 0 {
            return Err(SecTagError::PacketNumber);
        }
        Ok(parsed)
    }

    /// Writes it as on the wire, EtherType first, and returns its length. Bits that a field has no room for are left out.
    ///
    /// # Panics
    /// If `out` has no room for [`Self::emitted_len`] bytes.
    pub fn emit(&self, out: &mut [u8]) -> usize {
        let bit = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        let control = bit(self.end_station, 0x40)
            | bit(self.sci.is_some(), 0x20)
            | bit(self.single_copy_broadcast, 0x10)
            | bit(self.encrypted, 0x08)
            | bit(self.changed, 0x04)
            | self.association & 0x03;
        out[..2].copy_from_slice(&ETHERTYPE_MACSEC.to_be_bytes());
        out[2..4].copy_from_slice(&[control, self.short_length]);
        out[4..SECTAG_LEN].copy_from_slice(&self.packet_number.to_be_bytes());
        if let Some(Sci(sci)) = self.sci {
            out[SECTAG_LEN..SECTAG_LEN + SCI_LEN].copy_from_slice(&sci);
        }
        self.emitted_len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAG: SecTag = SecTag {
        end_station: false,
        single_copy_broadcast: false,
        encrypted: true,
        changed: true,
        association: 2,
        short_length: 0,
        packet_number: 0xb2c2_8465,
        sci: Some(Sci([0x12, 0x15, 0x35, 0x24, 0xc0, 0x89, 0x5e, 0x81])),
    };

    fn frame(tag: &SecTag, data: usize) -> Vec<u8> {
        let mut frame = vec![0; ADDRESSES_LEN + tag.emitted_len() + data + ICV_LEN];
        tag.emit(&mut frame[ADDRESSES_LEN..]);
        frame
    }

    #[test]
    fn it_adds_24_or_32_bytes() {
        assert_eq!((overhead_len(false), overhead_len(true)), (24, 32));
    }

    #[test]
    fn what_is_emitted_is_read_again() {
        let own = SecTag { end_station: true, encrypted: false, changed: false, sci: None, association: 3, ..TAG };
        let short = SecTag { short_length: 47, ..own };
        for (tag, data) in [(TAG, 48), (own, 1500), (short, 47)] {
            assert_eq!(SecTag::parse(&frame(&tag, data)), Ok(tag));
        }
        // As in IEEE 802.1AE-2018 annex C, 60 bytes with confidentiality.
        assert_eq!(
            frame(&TAG, 48)[12..28],
            [0x88, 0xe5, 0x2e, 0x00, 0xb2, 0xc2, 0x84, 0x65, 0x12, 0x15, 0x35, 0x24, 0xc0, 0x89, 0x5e, 0x81]
        );
    }

    #[test]
    fn refuses_what_the_standard_has_a_receiver_refuse() {
        let refused = |change: fn(&mut Vec<u8>)| {
            let mut frame = frame(&TAG, 48);
            change(&mut frame);
            SecTag::parse(&frame).unwrap_err()
        };
        assert_eq!(refused(|frame| frame[13] = 0x00), SecTagError::Untagged);
        assert_eq!(refused(|frame| frame[14] |= 0x80), SecTagError::Version);
        assert_eq!(refused(|frame| frame[14] |= 0x40), SecTagError::Channel);
        assert_eq!(refused(|frame| frame[14] |= 0x10), SecTagError::Channel);
        assert_eq!(refused(|frame| frame[15] = 48), SecTagError::ShortLength(48));
        assert_eq!(refused(|frame| frame[15] = 47), SecTagError::ShortLength(47));
        assert_eq!(refused(|frame| frame.truncate(frame.len() - 1)), SecTagError::ShortLength(0));
        assert_eq!(refused(|frame| frame[16..20].fill(0)), SecTagError::PacketNumber);
        assert_eq!(refused(|frame| frame.truncate(43)), SecTagError::TooShort(43));
    }

    #[test]
    fn no_prefix_of_a_frame_makes_it_panic() {
        let frame = frame(&TAG, 48);
        for len in 0..frame.len() {
            assert!(SecTag::parse(&frame[..len]).is_err(), "{len}");
        }
    }
}
