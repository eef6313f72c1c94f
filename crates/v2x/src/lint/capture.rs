//! Secured packets in captured frames: EN 302 636-4-1 clause 9, over Ethernet or the frames of ITS-G5.

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
    /// GeoNetworking without security.
    Unsecured,
    /// Something else.
    Other,
    /// Frames of this link type are not looked into.
    UnknownLink,
}

/// Looks into a frame of a capture. Of the link types of <https://www.tcpdump.org/linktypes.html> it knows 1 (Ethernet),
/// 105 and 127 (IEEE 802.11 without and with radiotap, as ITS-G5 is captured), 113 and 276 (any interface of Linux).
pub fn secured_packet(link_type: u32, frame: &[u8]) -> SecuredPacket<'_> {
    let payload = match link_type {
        1 => ethernet(frame),
        105 => wlan(frame),
        // `LINKTYPE_LINUX_SLL` and `LINKTYPE_LINUX_SLL2`.
        113 => type_is_gn(frame, 14).then_some(16),
        127 => radiotap(frame),
        276 => type_is_gn(frame, 0).then_some(20),
        _ => return SecuredPacket::UnknownLink,
    };
    let Some((payload, first)) = payload.and_then(|payload| Some((payload, frame.get(payload)?))) else {
        return SecuredPacket::Other;
    };
    let offset = payload + BASIC_HEADER_LEN;
    match (first & 0x0f, frame.get(offset..)) {
        (NEXT_SECURED, Some(bytes)) => SecuredPacket::Secured { offset, bytes },
        _ => SecuredPacket::Unsecured,
    }
}

fn type_is_gn(frame: &[u8], at: usize) -> bool {
    frame.get(at..at + 2) == Some(&ETHERTYPE_GN.to_be_bytes())
}

/// Where GeoNetworking begins in an Ethernet frame.
fn ethernet(frame: &[u8]) -> Option<usize> {
    let is_tagged = frame.get(12..14) == Some(&VLAN.to_be_bytes());
    let at = if is_tagged { 16 } else { 12 };
    type_is_gn(frame, at).then_some(at + 2)
}

/// Where GeoNetworking begins in a frame of IEEE 802.11, which has to be a data frame and no ciphertext.
fn wlan(frame: &[u8]) -> Option<usize> {
    behind_mac_header(frame, mac_header_len(frame)?)
}

/// The same behind a radiotap header, <https://www.radiotap.org>.
fn radiotap(frame: &[u8]) -> Option<usize> {
    const PADDED: u8 = 0x20;
    let len = usize::from(u16::from_le_bytes(*frame.get(2..)?.first_chunk()?));
    let frame_802_11 = frame.get(len..)?;
    let mut header_len = mac_header_len(frame_802_11)?;
    if radiotap_flags(&frame[..len]).is_some_and(|flags| flags & PADDED != 0) {
        header_len = header_len.next_multiple_of(4);
    }
    Some(len + behind_mac_header(frame_802_11, header_len)?)
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
fn mac_header_len(frame: &[u8]) -> Option<usize> {
    let [first, flags] = *frame.first_chunk()?;
    let is_data = first & 0x0f == 0x08;
    let (is_null, has_qos) = (first & 0x40 != 0, first & 0x80 != 0);
    let (is_between_stations, is_protected, has_ht) = (flags & 3 == 3, flags & 0x40 != 0, flags & 0x80 != 0);
    if !is_data || is_null || is_protected {
        return None;
    }
    let optional = [(is_between_stations, 6), (has_qos, 2), (has_qos && has_ht, 4)];
    Some(24 + optional.iter().map(|(is_there, len)| if *is_there { *len } else { 0 }).sum::<usize>())
}

/// By EtherType protocol discrimination, which IEEE 802.11-2016 has for 5.9 GHz, the type stands alone; other radios send LLC
/// before it.
fn behind_mac_header(frame: &[u8], at: usize) -> Option<usize> {
    let at = if frame.get(at..)?.starts_with(LLC_SNAP) { at + LLC_SNAP.len() } else { at };
    type_is_gn(frame, at).then_some(at + 2)
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
        // Flags and rate; two words of presence, a time aligned to 8 bytes, flags that tell of padding.
        assert_secured(127, &[&[0, 0, 10, 0, 6, 0, 0, 0, 0x10, 12], QOS_HEADER, LLC_SNAP, ETHERTYPE]);
        let padded = [0, 0, 25, 0, 3, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0x20];
        assert_secured(127, &[&padded, QOS_HEADER, &[0, 0], LLC_SNAP, ETHERTYPE]);
    }

    #[test]
    fn leaves_other_frames_and_links_alone() {
        assert_eq!(secured_packet(1, &ethernet_frame(ETHERTYPE, &[0x11, 0, 0, 0, 0])), SecuredPacket::Unsecured);
        assert_eq!(secured_packet(1, &ethernet_frame(&[0x08, 0x00], &[0x12])), SecuredPacket::Other);
        let wlan = |first: u8, flags: u8| [&[first, flags], &QOS_HEADER[2..], ETHERTYPE, GN].concat();
        assert!(matches!(secured_packet(105, &wlan(0x88, 0)), SecuredPacket::Secured { .. }));
        // A beacon, one without data, one encrypted.
        for (first, flags) in [(0x80, 0), (0xc8, 0), (0x88, 0x40)] {
            assert_eq!(secured_packet(105, &wlan(first, flags)), SecuredPacket::Other);
        }
        assert_eq!(secured_packet(227, &ethernet_frame(ETHERTYPE, GN)), SecuredPacket::UnknownLink);
    }

    #[test]
    fn presence_words_without_an_end_are_bounded_by_the_header() {
        let endless = [&[0, 0, 16, 0][..], &[0xff; 12], QOS_HEADER, ETHERTYPE, GN].concat();
        assert!(matches!(secured_packet(127, &endless), SecuredPacket::Secured { offset: 48, .. }));
    }
}
