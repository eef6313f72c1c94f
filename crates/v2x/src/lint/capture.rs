//! Secured packets in captured frames: EN 302 636-4-1 clause 9, over Ethernet or the frames of ITS-G5.

use core::fmt;

/// EtherType of GeoNetworking.
const ETHERTYPE_GN: u16 = 0x8947;
const VLAN: u16 = 0x8100;
/// Logical link control with a subnetwork access protocol of no organisation; an EtherType follows (IEEE 802).
const LLC_SNAP: &[u8] = &[0xaa, 0xaa, 3, 0, 0, 0];
/// Next header of the basic header: a secured packet.
const NEXT_SECURED: u8 = 2;
const BASIC_HEADER_LEN: usize = 4;

/// What a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecuredPacket<'a> {
    /// A secured packet, from the first byte of its `Ieee1609Dot2Data`.
    Secured {
        /// Its place in the frame.
        offset: usize,
        /// Its bytes, and what follows in the frame: padding, a check sequence.
        bytes: &'a [u8],
    },
    /// Something else.
    Other(Other),
    /// Frames of this link type are not looked into.
    UnknownLink,
}

/// What a frame without a secured packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Other {
    /// GeoNetworking, and its basic header says that no secured packet follows.
    Unsecured,
    /// A frame of another protocol.
    Protocol,
    /// A frame of IEEE 802.11 that carries no data, such as a beacon.
    NoData,
    /// A frame of IEEE 802.11 whose data is ciphertext.
    Enciphered,
    /// It ends within its headers.
    Short,
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unsecured => "of GeoNetworking without security",
            Self::Protocol => "of other protocols",
            Self::NoData => "of IEEE 802.11 without data, such as beacons",
            Self::Enciphered => "of IEEE 802.11 that are enciphered",
            Self::Short => "that end within their headers",
        })
    }
}

/// The link types that [`secured_packet`] looks into, for a person.
pub const LINKS: &str =
    "Ethernet (1), IEEE 802.11 (105; with radiotap 127, in PPI 192) and Linux' any interface (113, 276)";

/// Looks into a frame of a capture. Of the link types of <https://www.tcpdump.org/linktypes.html> it knows 1 (Ethernet),
/// 105 and 127 (IEEE 802.11 without and with radiotap, as ITS-G5 is captured), 192 (per-packet information with such a frame in it), 113
/// and 276 (any interface of Linux).
pub fn secured_packet(link_type: u32, frame: &[u8]) -> SecuredPacket<'_> {
    let payload = match link_type {
        1 => ethernet(frame),
        105 => wlan(frame),
        // `LINKTYPE_LINUX_SLL` and `LINKTYPE_LINUX_SLL2`.
        113 => behind_type(frame, 14, 16),
        127 => radiotap(frame),
        192 => return per_packet_information(frame),
        276 => behind_type(frame, 0, 20),
        _ => return SecuredPacket::UnknownLink,
    };
    let payload = match payload {
        Ok(payload) => payload,
        Err(other) => return SecuredPacket::Other(other),
    };
    let offset = payload + BASIC_HEADER_LEN;
    match (frame.get(payload).map(|first| first & 0x0f), frame.get(offset..)) {
        (Some(NEXT_SECURED), Some(bytes)) => SecuredPacket::Secured { offset, bytes },
        (_, None) => SecuredPacket::Other(Other::Short),
        _ => SecuredPacket::Other(Other::Unsecured),
    }
}

/// The header of `LINKTYPE_PPI` has its length and the link type of the frame behind it, low byte first.
fn per_packet_information(frame: &[u8]) -> SecuredPacket<'_> {
    const LINK_TYPES: [u32; 3] = [1, 105, 127];
    let Some((head, [a, b, c, d])) =
        frame.first_chunk::<4>().zip(frame.get(4..).and_then(|rest| rest.first_chunk::<4>()))
    else {
        return SecuredPacket::Other(Other::Short);
    };
    let len = usize::from(u16::from_le_bytes([head[2], head[3]]));
    let link_type = u32::from_le_bytes([*a, *b, *c, *d]);
    if !LINK_TYPES.contains(&link_type) {
        return SecuredPacket::UnknownLink;
    }
    match frame.get(len..).map(|inner| secured_packet(link_type, inner)) {
        Some(SecuredPacket::Secured { offset, bytes }) => SecuredPacket::Secured { offset: len + offset, bytes },
        Some(other) => other,
        None => SecuredPacket::Other(Other::Short),
    }
}

/// `payload` if the EtherType at `at` is that of GeoNetworking.
fn behind_type(frame: &[u8], at: usize, payload: usize) -> Result<usize, Other> {
    match frame.get(at..at + 2) {
        None => Err(Other::Short),
        Some(found) if found == ETHERTYPE_GN.to_be_bytes() => Ok(payload),
        Some(_) => Err(Other::Protocol),
    }
}

/// Where GeoNetworking begins in an Ethernet frame.
fn ethernet(frame: &[u8]) -> Result<usize, Other> {
    let is_tagged = frame.get(12..14) == Some(&VLAN.to_be_bytes());
    let at = if is_tagged { 16 } else { 12 };
    behind_type(frame, at, at + 2)
}

/// Where GeoNetworking begins in a frame of IEEE 802.11, which has to be a data frame and no ciphertext.
fn wlan(frame: &[u8]) -> Result<usize, Other> {
    behind_mac_header(frame, mac_header_len(frame)?)
}

/// The same behind a radiotap header, <https://www.radiotap.org>.
fn radiotap(frame: &[u8]) -> Result<usize, Other> {
    const PADDED: u8 = 0x20;
    let len = frame.get(2..).and_then(|rest| rest.first_chunk()).ok_or(Other::Short)?;
    let len = usize::from(u16::from_le_bytes(*len));
    let frame_802_11 = frame.get(len..).ok_or(Other::Short)?;
    let mut header_len = mac_header_len(frame_802_11)?;
    if radiotap_flags(&frame[..len]).is_some_and(|flags| flags & PADDED != 0) {
        header_len = header_len.next_multiple_of(4);
    }
    Ok(len + behind_mac_header(frame_802_11, header_len)?)
}

/// The field `Flags` of a radiotap header, if it has it. Its fields stand behind all words that say which there are.
fn radiotap_flags(header: &[u8]) -> Option<u8> {
    const TIME: u32 = 1;
    const FLAGS: u32 = 2;
    const MORE_WORDS: u32 = 1 << 31;
    let word = |at: usize| Some(u32::from_le_bytes(*header.get(at..)?.first_chunk()?));
    let present = word(4)?;
    let mut at = 4;
    while word(at)? & MORE_WORDS != 0 {
        at += 4;
    }
    at += 4;
    if present & TIME != 0 {
        at = at.next_multiple_of(8) + 8;
    }
    if present & FLAGS != 0 { header.get(at).copied() } else { None }
}

/// Length of the MAC header of a data frame `[byte]`, IEEE 802.11-2016 clauses 9.2.4 and 9.3.2.1.
fn mac_header_len(frame: &[u8]) -> Result<usize, Other> {
    let [first, flags] = *frame.first_chunk().ok_or(Other::Short)?;
    let is_data = first & 0x0f == 0x08;
    let (is_null, has_qos) = (first & 0x40 != 0, first & 0x80 != 0);
    let (is_between_stations, is_protected, has_ht) = (flags & 3 == 3, flags & 0x40 != 0, flags & 0x80 != 0);
    if !is_data || is_null {
        return Err(Other::NoData);
    }
    if is_protected {
        return Err(Other::Enciphered);
    }
    let optional = [(is_between_stations, 6), (has_qos, 2), (has_qos && has_ht, 4)];
    Ok(24 + optional.iter().map(|(is_there, len)| if *is_there { *len } else { 0 }).sum::<usize>())
}

/// By EtherType protocol discrimination, which IEEE 802.11-2016 has for 5.9 GHz, the type stands alone; other radios send LLC
/// before it.
fn behind_mac_header(frame: &[u8], at: usize) -> Result<usize, Other> {
    let at = if frame.get(at..).ok_or(Other::Short)?.starts_with(LLC_SNAP) { at + LLC_SNAP.len() } else { at };
    behind_type(frame, at, at + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GN: &[u8] = &[0x12, 0, 0x1a, 1, 3, 0x81];
    const ETHERTYPE: &[u8] = &[0x89, 0x47];
    /// Quality of service, outside a BSS, to all.
    const QOS_HEADER: &[u8] = &[
        0x88, 0, 0, 0, 255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 1, 255, 255, 255, 255, 255, 255, 0x10, 0, 0x23, 0,
    ];

    fn ethernet_frame(ethertype: &[u8], gn: &[u8]) -> Vec<u8> {
        [&[0xff; 12][..], ethertype, gn].concat()
    }

    fn assert_secured(link_type: u32, headers: &[&[u8]]) {
        let head = headers.concat();
        let offset = head.len() + BASIC_HEADER_LEN;
        let whole = [&head[..], GN].concat();
        assert_eq!(secured_packet(link_type, &whole), SecuredPacket::Secured { offset, bytes: &[3, 0x81] });
        for len in 0..offset {
            assert!(!matches!(secured_packet(link_type, &whole[..len]), SecuredPacket::Secured { .. }), "{len}");
        }
    }

    #[test]
    fn finds_the_secured_packet_behind_headers_of_ethernet() {
        assert_secured(1, &[&[0xff; 12], ETHERTYPE]);
        assert_secured(1, &[&[0xff; 12], &[0x81, 0, 0, 5], ETHERTYPE]);
        assert_secured(113, &[&[0, 1, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0], ETHERTYPE]);
        assert_secured(276, &[ETHERTYPE, &[0; 18]]);
    }

    #[test]
    fn finds_the_secured_packet_behind_headers_of_its_g5() {
        assert_secured(105, &[QOS_HEADER, ETHERTYPE]);
        assert_secured(105, &[QOS_HEADER, LLC_SNAP, ETHERTYPE]);
        let plain = [&[0x08][..], &QOS_HEADER[1..24]].concat();
        assert_secured(105, &[&plain, LLC_SNAP, ETHERTYPE]);
        // Per-packet information: no flags, 12 bytes with one field of 0 bytes, IEEE 802.11.
        let ppi = [0, 0, 12, 0, 105, 0, 0, 0, 2, 0, 0, 0];
        assert_secured(192, &[&ppi, QOS_HEADER, LLC_SNAP, ETHERTYPE]);
        // Flags and rate; two words of presence, a time aligned to 8 bytes, flags that tell of padding.
        assert_secured(127, &[&[0, 0, 10, 0, 6, 0, 0, 0, 0x10, 12], QOS_HEADER, LLC_SNAP, ETHERTYPE]);
        let padded = [0, 0, 25, 0, 3, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0x20];
        assert_secured(127, &[&padded, QOS_HEADER, &[0, 0], LLC_SNAP, ETHERTYPE]);
    }

    #[test]
    fn leaves_other_frames_and_links_alone() {
        let other = |other| SecuredPacket::Other(other);
        assert_eq!(secured_packet(1, &ethernet_frame(ETHERTYPE, &[0x11, 0, 0, 0, 0])), other(Other::Unsecured));
        assert_eq!(secured_packet(1, &ethernet_frame(&[0x08, 0x00], &[0x12])), other(Other::Protocol));
        assert_eq!(secured_packet(1, &ethernet_frame(ETHERTYPE, &[0x12, 0])), other(Other::Short));
        let wlan = |first: u8, flags: u8| [&[first, flags], &QOS_HEADER[2..], ETHERTYPE, GN].concat();
        assert!(matches!(secured_packet(105, &wlan(0x88, 0)), SecuredPacket::Secured { .. }));
        // A beacon, one without data, one encrypted.
        for (first, flags, what) in
            [(0x80, 0, Other::NoData), (0xc8, 0, Other::NoData), (0x88, 0x40, Other::Enciphered)]
        {
            assert_eq!(secured_packet(105, &wlan(first, flags)), other(what));
        }
        // Per-packet information with a link that is not looked into.
        assert_eq!(secured_packet(192, &[0, 0, 8, 0, 227, 0, 0, 0, 1, 2]), SecuredPacket::UnknownLink);
        assert_eq!(secured_packet(192, &[0, 0, 200, 0, 105, 0, 0, 0, 1, 2]), other(Other::Short));
        assert_eq!(secured_packet(227, &ethernet_frame(ETHERTYPE, GN)), SecuredPacket::UnknownLink);
    }

    #[test]
    fn presence_words_without_an_end_are_bounded_by_the_header() {
        let endless = [&[0, 0, 16, 0][..], &[0xff; 12], QOS_HEADER, ETHERTYPE, GN].concat();
        assert!(matches!(secured_packet(127, &endless), SecuredPacket::Secured { offset: 48, .. }));
    }
}
