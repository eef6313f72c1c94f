//! Secured packets in recorded frames: EN 302 636-4-1 clause 9, over Ethernet or the frames of ITS-G5.

/// EtherType of GeoNetworking.
const ETHERTYPE_GN: u16 = 0x8947;
const VLAN: u16 = 0x8100;
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
        /// Its bytes; more may follow that belong to no field.
        bytes: &'a [u8],
    },
    /// GeoNetworking without security.
    Unsecured,
    /// Something else.
    Other,
}

/// Looks into a frame with an Ethernet header.
pub fn secured_packet(frame: &[u8]) -> SecuredPacket<'_> {
    let type_at = |at: usize| frame.get(at..at + 2).map(|octets| u16::from_be_bytes([octets[0], octets[1]]));
    let payload = match type_at(12) {
        Some(VLAN) if type_at(16) == Some(ETHERTYPE_GN) => 18,
        Some(ETHERTYPE_GN) => 14,
        _ => return SecuredPacket::Other,
    };
    let Some(first) = frame.get(payload) else { return SecuredPacket::Other };
    let offset = payload + BASIC_HEADER_LEN;
    match (first & 0x0f, frame.get(offset..)) {
        (NEXT_SECURED, Some(bytes)) => SecuredPacket::Secured { offset, bytes },
        _ => SecuredPacket::Unsecured,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(ethertype: &[u8], gn: &[u8]) -> Vec<u8> {
        [&[0xff; 12][..], ethertype, gn].concat()
    }

    #[test]
    fn finds_the_secured_packet_behind_one_or_two_headers() {
        let gn = [0x12, 0, 0x1a, 1, 3, 0x81];
        let plain = frame(&[0x89, 0x47], &gn);
        assert_eq!(secured_packet(&plain), SecuredPacket::Secured { offset: 18, bytes: &[3, 0x81] });
        let tagged = frame(&[0x81, 0, 0, 5, 0x89, 0x47], &gn);
        assert_eq!(secured_packet(&tagged), SecuredPacket::Secured { offset: 22, bytes: &[3, 0x81] });
    }

    #[test]
    fn leaves_other_frames_and_torn_ones_alone() {
        assert_eq!(secured_packet(&frame(&[0x89, 0x47], &[0x11, 0, 0, 0, 0])), SecuredPacket::Unsecured);
        assert_eq!(secured_packet(&frame(&[0x08, 0x00], &[0x12])), SecuredPacket::Other);
        let whole = frame(&[0x89, 0x47], &[0x12, 0, 0, 0]);
        for len in 0..whole.len() {
            assert!(!matches!(secured_packet(&whole[..len]), SecuredPacket::Secured { .. }), "{len}");
        }
    }
}
