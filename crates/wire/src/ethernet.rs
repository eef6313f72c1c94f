//! Ethernet frames without checksum, preamble and gap: IEEE 802.3-2022 clause 3.
//!
//! ```text
//! 0            6            12               14
//! +------------+------------+----------------+------------------------+---------+
//! | destination| source     | type or length | payload                | padding |
//! +------------+------------+----------------+------------------------+---------+
//! ```
//! A frame may carry one VLAN tag (IEEE 802.1Q-2022 clause 9) between the source address and the type or length:
//!
//! ```text
//! 12               14                          16               18
//! +----------------+---------------------------+----------------+---- - -
//! | 0x8100         | PCP 3, DEI 1, VID 12 bits | type or length | payload
//! +----------------+---------------------------+----------------+---- - -
//! ```
//! Behind the VLAN tag a redundancy tag may follow ([`crate::r_tag`]), and then the type or length.
//!
//! A sender pads a frame to [`FRAME_LEN_MIN`] with zeros ([`pad`]); a receiver takes a shorter one for a
//! fragment and refuses it. A length field tells payload from padding, an EtherType does not: there the payload's own
//! format has to.

use core::fmt;

use chronoseal_core::DiscardReason;

use crate::r_tag::{ETHERTYPE_R_TAG, R_TAG_LEN, RTag};

/// Destination, source, type or length `[byte]`.
pub const HEADER_LEN: usize = 14;
/// Shortest frame, without checksum `[byte]`.
pub const FRAME_LEN_MIN: usize = 60;
/// Longest frame, without checksum and without tags `[byte]`.
pub const FRAME_LEN_MAX: usize = 1514;
/// What a VLAN tag adds to a frame: IEEE 802.1Q-2022 §9.3 `[byte]`.
pub const VLAN_TAG_LEN: usize = 4;
/// Destination, source, VLAN tag, type or length `[byte]`.
pub const TAGGED_HEADER_LEN: usize = HEADER_LEN + VLAN_TAG_LEN;
/// Destination, source, VLAN tag, redundancy tag, type or length `[byte]`.
pub const REPLICATED_HEADER_LEN: usize = TAGGED_HEADER_LEN + R_TAG_LEN;
/// The EtherType of a VLAN tag: IEEE 802.1Q-2022 table 9-1.
pub const ETHERTYPE_VLAN: u16 = 0x8100;
/// Largest VLAN identifier; 4095 is reserved: IEEE 802.1Q-2022 table 9-2.
pub const VID_MAX: u16 = 4094;
/// Longest payload, and the largest value of a length field `[byte]`.
pub const PAYLOAD_LEN_MAX: usize = FRAME_LEN_MAX - HEADER_LEN;
/// Frame check sequence `[byte]`.
pub const FCS_LEN: usize = 4;
/// Preamble and start frame delimiter `[byte]`.
pub const PREAMBLE_AND_SFD_LEN: usize = 8;
/// Least gap between two frames `[byte]`.
pub const INTER_FRAME_GAP_LEN: usize = 12;
/// What every frame costs on the wire beyond its own bytes `[byte]`.
pub const ON_WIRE_OVERHEAD_LEN: usize = FCS_LEN + PREAMBLE_AND_SFD_LEN + INTER_FRAME_GAP_LEN;

/// Smallest EtherType: IEEE 802.3-2022 §3.2.6.
const ETHERTYPE_MIN: u16 = 0x0600;

/// A MAC address, first byte first on the wire.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// Everyone.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// True for group addresses, broadcast included.
    pub const fn is_multicast(self) -> bool {
        self.0[0] & 1 != 0
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// The two bytes after the addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeOrLength {
    /// Length of the payload `[byte]`, at most 1500. Critical traffic of AS6802 uses this.
    Length(u16),
    /// What the payload is, 0x0600 or above.
    EtherType(u16),
}

impl TypeOrLength {
    /// The meaning of `raw`; `None` for 1501..=1535, which IEEE 802.3 leaves undefined.
    pub const fn from_raw(raw: u16) -> Option<Self> {
        match raw {
            ..=1500 => Some(Self::Length(raw)),
            ETHERTYPE_MIN.. => Some(Self::EtherType(raw)),
            _ => None,
        }
    }

    /// As on the wire.
    pub const fn raw(self) -> u16 {
        match self {
            Self::Length(raw) | Self::EtherType(raw) => raw,
        }
    }
}

/// What a VLAN tag says of a frame: IEEE 802.1Q-2022 §9.6.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VlanTag {
    /// Priority code point, 0..=7.
    pub pcp: u8,
    /// The frame may be dropped before others.
    pub drop_eligible: bool,
    /// VLAN identifier, 0..=4095; 0: only the priority counts.
    pub vid: u16,
}

impl VlanTag {
    /// The meaning of a tag's control information.
    pub const fn from_raw(raw: u16) -> Self {
        Self { pcp: (raw >> 13) as u8, drop_eligible: raw & 0x1000 != 0, vid: raw & 0x0fff }
    }

    /// As on the wire; bits that a field has no room for are left out.
    pub const fn raw(self) -> u16 {
        (self.pcp as u16 & 7) << 13 | (self.drop_eligible as u16) << 12 | self.vid & 0x0fff
    }
}

/// Why bytes are no frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// Below [`FRAME_LEN_MIN`].
    #[error("a frame of {0} bytes is shorter than 60")]
    TooShort(usize),
    /// Above [`FRAME_LEN_MAX`] and the length of its tags.
    #[error(
        "a frame of {0} bytes is longer than 1514, or than 1518 with a VLAN tag, or than 1524 with a redundancy tag too"
    )]
    TooLong(usize),
    /// The length field claims more payload than there is.
    #[error("the length field says {claimed} bytes of payload, the frame holds {held}")]
    LengthBeyondFrame {
        /// By the length field `[byte]`.
        claimed: u16,
        /// After the header `[byte]`.
        held: usize,
    },
    /// Neither a length nor an EtherType.
    #[error("type or length field {0} is neither a length (up to 1500) nor an EtherType (from 1536)")]
    UndefinedTypeOrLength(u16),
}

impl From<FrameError> for DiscardReason {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::TooShort(_) => Self::TooShort,
            FrameError::TooLong(_) => Self::TooLong,
            FrameError::LengthBeyondFrame { .. } | FrameError::UndefinedTypeOrLength(_) => Self::Malformed,
        }
    }
}

/// A frame whose length and header have been checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame<'a> {
    bytes: &'a [u8],
    /// Its first bytes, read where they stand: a copy read back at once stalls the processor at every frame.
    head: &'a [u8; HEADER_LEN],
    tag: Option<VlanTag>,
    r_tag: Option<RTag>,
    type_or_length: TypeOrLength,
}

impl<'a> Frame<'a> {
    /// Checks `bytes`, from the first byte of the header to the last before the checksum.
    ///
    /// # Errors
    /// [`FrameError`] for anything else than one frame of 60..=1514 bytes, 4 more with a VLAN tag and again 6 more with a
    /// redundancy tag behind that, with a defined type or a fitting length.
    #[inline]
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, FrameError> {
        if bytes.len() < FRAME_LEN_MIN {
            return Err(FrameError::TooShort(bytes.len()));
        }
        let too_short = FrameError::TooShort(bytes.len());
        let head: &[u8; HEADER_LEN] = bytes.first_chunk().ok_or(too_short)?;
        let [.., high, low] = *head;
        let raw = u16::from_be_bytes([high, low]);
        if raw == ETHERTYPE_VLAN {
            return Self::tagged(bytes, head);
        }
        Self::behind(bytes, head, (None, None), raw)
    }

    #[inline]
    fn tagged(bytes: &'a [u8], head: &'a [u8; HEADER_LEN]) -> Result<Self, FrameError> {
        let too_short = FrameError::TooShort(bytes.len());
        let tag: &[u8; VLAN_TAG_LEN] = bytes[HEADER_LEN..].first_chunk().ok_or(too_short)?;
        let [tag_high, tag_low, high, low] = *tag;
        let tag = VlanTag::from_raw(u16::from_be_bytes([tag_high, tag_low]));
        let raw = u16::from_be_bytes([high, low]);
        if raw != ETHERTYPE_R_TAG {
            return Self::behind(bytes, head, (Some(tag), None), raw);
        }
        let r_tag: &[u8; R_TAG_LEN] = bytes[TAGGED_HEADER_LEN..].first_chunk().ok_or(too_short)?;
        let [a, b, c, d, high, low] = *r_tag;
        let r_tag = RTag::from_raw([a, b, c, d]);
        Self::behind(bytes, head, (Some(tag), Some(r_tag)), u16::from_be_bytes([high, low]))
    }

    /// Checks what follows the addresses and the tags.
    #[inline(always)]
    fn behind(
        bytes: &'a [u8],
        head: &'a [u8; HEADER_LEN],
        (tag, r_tag): (Option<VlanTag>, Option<RTag>),
        raw: u16,
    ) -> Result<Self, FrameError> {
        let tag_len = tags_len(tag, r_tag);
        if bytes.len() > FRAME_LEN_MAX + tag_len {
            return Err(FrameError::TooLong(bytes.len()));
        }
        let type_or_length = TypeOrLength::from_raw(raw).ok_or(FrameError::UndefinedTypeOrLength(raw))?;
        let held = bytes.len() - HEADER_LEN - tag_len;
        if let TypeOrLength::Length(claimed) = type_or_length
            && usize::from(claimed) > held
        {
            return Err(FrameError::LengthBeyondFrame { claimed, held });
        }
        Ok(Self { bytes, head, tag, r_tag, type_or_length })
    }

    /// To whom.
    #[inline]
    pub const fn destination(&self) -> MacAddress {
        let [a, b, c, d, e, f, ..] = *self.head;
        MacAddress([a, b, c, d, e, f])
    }

    /// From whom, if that can be believed.
    #[inline]
    pub const fn source(&self) -> MacAddress {
        let [_, _, _, _, _, _, a, b, c, d, e, f, ..] = *self.head;
        MacAddress([a, b, c, d, e, f])
    }

    /// Its VLAN tag.
    #[inline]
    pub const fn tag(&self) -> Option<VlanTag> {
        self.tag
    }

    /// Its redundancy tag.
    #[inline]
    pub const fn r_tag(&self) -> Option<RTag> {
        self.r_tag
    }

    /// What the payload is, or how long; behind the tags if there are any.
    #[inline]
    pub const fn type_or_length(&self) -> TypeOrLength {
        self.type_or_length
    }

    /// Addresses, and what the payload is, without the tag.
    pub const fn header(&self) -> Header {
        Header { destination: self.destination(), source: self.source(), type_or_length: self.type_or_length }
    }

    /// The payload: what the length field says, or with an EtherType everything after the header, padding included.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        let rest = &self.bytes[HEADER_LEN + tags_len(self.tag, self.r_tag)..];
        match self.type_or_length {
            TypeOrLength::Length(length) => &rest[..usize::from(length)],
            TypeOrLength::EtherType(_) => rest,
        }
    }

    /// The whole frame.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

/// What tags add to a header `[byte]`. A redundancy tag stands behind a VLAN tag only.
#[inline(always)]
const fn tags_len(tag: Option<VlanTag>, r_tag: Option<RTag>) -> usize {
    match (tag, r_tag) {
        (None, _) => 0,
        (Some(_), None) => VLAN_TAG_LEN,
        (Some(_), Some(_)) => VLAN_TAG_LEN + R_TAG_LEN,
    }
}

/// The first [`HEADER_LEN`] bytes of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// To whom.
    pub destination: MacAddress,
    /// From whom.
    pub source: MacAddress,
    /// What follows, or how long it is.
    pub type_or_length: TypeOrLength,
}

impl Header {
    /// Writes the header to the front of `buf`.
    ///
    /// # Panics
    /// If `buf` is shorter than [`HEADER_LEN`].
    pub fn emit(&self, buf: &mut [u8]) {
        buf[..6].copy_from_slice(&self.destination.0);
        buf[6..12].copy_from_slice(&self.source.0);
        buf[12..HEADER_LEN].copy_from_slice(&self.type_or_length.raw().to_be_bytes());
    }
}

impl Header {
    /// Writes the header with a VLAN tag to the front of `buf`.
    ///
    /// # Panics
    /// If `buf` is shorter than [`TAGGED_HEADER_LEN`].
    pub fn emit_tagged(&self, tag: VlanTag, buf: &mut [u8]) {
        Self { type_or_length: TypeOrLength::EtherType(ETHERTYPE_VLAN), ..*self }.emit(buf);
        buf[HEADER_LEN..HEADER_LEN + 2].copy_from_slice(&tag.raw().to_be_bytes());
        buf[HEADER_LEN + 2..TAGGED_HEADER_LEN].copy_from_slice(&self.type_or_length.raw().to_be_bytes());
    }

    /// Writes the header with a VLAN tag and a redundancy tag to the front of `buf`.
    ///
    /// # Panics
    /// If `buf` is shorter than [`REPLICATED_HEADER_LEN`].
    pub fn emit_replicated(&self, tag: VlanTag, r_tag: RTag, buf: &mut [u8]) {
        self.emit_tagged(tag, buf);
        buf[HEADER_LEN + 2..HEADER_LEN + 2 + R_TAG_LEN].copy_from_slice(&r_tag.raw());
        buf[REPLICATED_HEADER_LEN - 2..REPLICATED_HEADER_LEN].copy_from_slice(&self.type_or_length.raw().to_be_bytes());
    }
}

/// Fills a frame of `len` bytes at the front of `buf` with zeros up to [`FRAME_LEN_MIN`]; returns its length then.
///
/// # Panics
/// If `len` is below [`FRAME_LEN_MIN`] and `buf` shorter than that.
pub fn pad(buf: &mut [u8], len: usize) -> usize {
    if len >= FRAME_LEN_MIN {
        return len;
    }
    buf[len..FRAME_LEN_MIN].fill(0);
    FRAME_LEN_MIN
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame_of(raw: u16, len: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..len).map(|i| i as u8).collect();
        bytes[12..14].copy_from_slice(&raw.to_be_bytes());
        bytes
    }

    #[test]
    fn an_address_is_shown_as_usual() {
        assert_eq!(MacAddress([3, 4, 5, 6, 0x0f, 0xcb]).to_string(), "03:04:05:06:0f:cb");
        assert!(MacAddress::BROADCAST.is_multicast());
        assert!(!MacAddress([2, 0, 0, 0, 0, 1]).is_multicast());
    }

    #[test]
    fn a_length_field_tells_payload_from_padding() {
        let bytes = frame_of(10, 60);
        let frame = Frame::new_checked(&bytes).unwrap();
        assert_eq!(frame.type_or_length(), TypeOrLength::Length(10));
        assert_eq!(frame.payload(), &bytes[14..24]);
    }

    #[test]
    fn an_ethertype_leaves_padding_in_the_payload() {
        let bytes = frame_of(0x88b5, 60);
        assert_eq!(Frame::new_checked(&bytes).unwrap().payload(), &bytes[14..]);
    }

    #[test]
    fn refuses_what_is_no_frame_length() {
        for len in [14, 59] {
            assert_eq!(Frame::new_checked(&frame_of(0x88b5, len)), Err(FrameError::TooShort(len)));
        }
        assert_eq!(Frame::new_checked(&[]), Err(FrameError::TooShort(0)));
        assert!(Frame::new_checked(&frame_of(0x88b5, 60)).is_ok());
        assert!(Frame::new_checked(&frame_of(0x88b5, 1514)).is_ok());
        assert_eq!(Frame::new_checked(&frame_of(0x88b5, 1515)), Err(FrameError::TooLong(1515)));
    }

    #[test]
    fn a_tagged_frame_is_four_bytes_longer() {
        let tagged = |len: usize| {
            let mut bytes = frame_of(ETHERTYPE_VLAN, len);
            bytes[14..18].copy_from_slice(&[0xb0, 0x2a, 0x88, 0xb5]);
            bytes
        };
        let bytes = tagged(1518);
        let frame = Frame::new_checked(&bytes).unwrap();
        assert_eq!(frame.tag(), Some(VlanTag { pcp: 5, drop_eligible: true, vid: 42 }));
        assert_eq!(frame.type_or_length(), TypeOrLength::EtherType(0x88b5));
        assert_eq!(frame.payload(), &bytes[18..]);
        assert_eq!(Frame::new_checked(&tagged(1519)), Err(FrameError::TooLong(1519)));
        assert_eq!(Frame::new_checked(&tagged(59)), Err(FrameError::TooShort(59)));
        let mut bytes = tagged(60);
        bytes[16..18].copy_from_slice(&43u16.to_be_bytes());
        let error = FrameError::LengthBeyondFrame { claimed: 43, held: 42 };
        assert_eq!(Frame::new_checked(&bytes), Err(error));
    }

    #[test]
    fn a_redundancy_tag_stands_behind_a_vlan_tag() {
        let header = Header {
            destination: MacAddress([2, 0, 0, 0, 0, 9]),
            source: MacAddress([2, 0, 0, 0, 0, 1]),
            type_or_length: TypeOrLength::EtherType(0x88b5),
        };
        let tag = VlanTag { pcp: 6, drop_eligible: false, vid: 100 };
        let mut bytes = vec![0xaa; FRAME_LEN_MAX + VLAN_TAG_LEN + R_TAG_LEN];
        header.emit_replicated(tag, RTag { sequence: 0x1234 }, &mut bytes);
        assert_eq!(bytes[12..24], [0x81, 0, 0xc0, 100, 0xf1, 0xc1, 0, 0, 0x12, 0x34, 0x88, 0xb5]);
        let frame = Frame::new_checked(&bytes).unwrap();
        assert_eq!((frame.tag(), frame.r_tag()), (Some(tag), Some(RTag { sequence: 0x1234 })));
        assert_eq!((frame.header(), frame.payload().len()), (header, 1500));
        bytes.push(0);
        assert_eq!(Frame::new_checked(&bytes), Err(FrameError::TooLong(1525)));
        // Without a VLAN tag in front of it it is an EtherType like others.
        let alone = frame_of(ETHERTYPE_R_TAG, 100);
        let frame = Frame::new_checked(&alone).unwrap();
        assert_eq!((frame.r_tag(), frame.type_or_length()), (None, TypeOrLength::EtherType(ETHERTYPE_R_TAG)));
    }

    #[test]
    fn refuses_a_length_field_beyond_the_frame() {
        assert!(Frame::new_checked(&frame_of(46, 60)).is_ok());
        let error = FrameError::LengthBeyondFrame { claimed: 47, held: 46 };
        assert_eq!(Frame::new_checked(&frame_of(47, 60)), Err(error));
        assert!(Frame::new_checked(&frame_of(1500, 1514)).is_ok());
    }

    #[test]
    fn refuses_what_is_neither_length_nor_type() {
        for raw in [1501, 1518, 1535] {
            assert_eq!(Frame::new_checked(&frame_of(raw, 1514)), Err(FrameError::UndefinedTypeOrLength(raw)));
        }
        assert!(Frame::new_checked(&frame_of(1536, 60)).is_ok());
    }

    #[test]
    fn every_refusal_has_a_reason_to_count() {
        for (error, reason) in [
            (FrameError::TooShort(1), DiscardReason::TooShort),
            (FrameError::TooLong(1515), DiscardReason::TooLong),
            (FrameError::LengthBeyondFrame { claimed: 47, held: 46 }, DiscardReason::Malformed),
            (FrameError::UndefinedTypeOrLength(1501), DiscardReason::Malformed),
        ] {
            assert_eq!(DiscardReason::from(error), reason);
        }
    }

    #[test]
    fn padding_overwrites_what_the_buffer_held() {
        let mut buf = [0xaa; 64];
        assert_eq!(pad(&mut buf, 20), 60);
        assert!(buf[20..60].iter().all(|&byte| byte == 0));
        assert_eq!(buf[60..], [0xaa; 4]);
        assert_eq!(pad(&mut buf, 61), 61);
    }

    proptest! {
        #[test]
        fn an_emitted_frame_reads_back(
            destination: [u8; 6],
            source: [u8; 6],
            ethertype in proptest::option::of((ETHERTYPE_MIN..).prop_filter("a tag is no type", |raw| *raw != ETHERTYPE_VLAN)),
            tag in proptest::option::of(any::<u16>()),
            payload in proptest::collection::vec(any::<u8>(), 0..=PAYLOAD_LEN_MAX),
        ) {
            let header = Header {
                destination: MacAddress(destination),
                source: MacAddress(source),
                type_or_length: ethertype
                    .map_or(TypeOrLength::Length(payload.len() as u16), TypeOrLength::EtherType),
            };
            let mut buf = vec![0xaa; FRAME_LEN_MAX + VLAN_TAG_LEN];
            let tag = tag.map(VlanTag::from_raw);
            let header_len = match tag {
                Some(tag) => {
                    header.emit_tagged(tag, &mut buf);
                    TAGGED_HEADER_LEN
                }
                None => {
                    header.emit(&mut buf);
                    HEADER_LEN
                }
            };
            buf[header_len..][..payload.len()].copy_from_slice(&payload);
            let len = pad(&mut buf, header_len + payload.len());
            let frame = Frame::new_checked(&buf[..len]).unwrap();
            prop_assert_eq!((frame.header(), frame.tag()), (header, tag));
            prop_assert!(frame.payload().starts_with(&payload));
            if ethertype.is_none() {
                prop_assert_eq!(frame.payload().len(), payload.len());
            }
        }

        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..1600)) {
            if let Ok(frame) = Frame::new_checked(&bytes) {
                prop_assert!(frame.payload().len() <= PAYLOAD_LEN_MAX);
            }
        }
    }
}
