//! Who a frame is for: virtual links of critical traffic, addresses of stations and of best-effort streams.
//!
//! Critical traffic (SAE AS6802, and with the marker 03:00:00:00 also ARINC 664 part 7) is addressed to a virtual link,
//! not to a station: four marker bytes common to the cluster, then the identifier, high byte first. Best-effort
//! streams of the test bed have a destination address each, which is how IEEE 802.1CB tells streams apart that carry
//! nothing else (null stream identification, IEEE 802.1CB-2017 §6.4).

use chronoseal_core::{NodeId, StreamId};

use crate::ethernet::MacAddress;
use crate::ipv4;

/// The marker of critical traffic unless a scenario chooses another: a locally administered group address that no
/// ARINC 664 network (03:00:00:00) uses.
///
/// Wireshark has to be told the marker to recognise such frames:
/// `tshark -o tte.ct_mask_value:0xffffffff -o tte.ct_marker_value:0x03040506 -r capture.pcapng`.
pub const DEFAULT_CT_MARKER: [u8; 4] = [0x03, 0x04, 0x05, 0x06];

/// Unicast, locally administered.
const STATION_PREFIX: [u8; 4] = [0x02, 0x00, 0x00, 0x00];
/// Unicast, locally administered; no station has it.
const STREAM_PREFIX: [u8; 4] = [0x02, 0xbe, 0x00, 0x00];

const fn join(prefix: [u8; 4], number: u16) -> MacAddress {
    let [a, b, c, d] = prefix;
    let [high, low] = number.to_be_bytes();
    MacAddress([a, b, c, d, high, low])
}

fn split(address: MacAddress, prefix: [u8; 4]) -> Option<u16> {
    let [a, b, c, d, high, low] = address.0;
    ([a, b, c, d] == prefix).then_some(u16::from_be_bytes([high, low]))
}

/// The destination address of virtual link `ct_id`.
pub const fn critical_traffic_address(marker: [u8; 4], ct_id: u16) -> MacAddress {
    join(marker, ct_id)
}

/// The virtual link that `address` names, if it carries the marker.
pub fn ct_id(address: MacAddress, marker: [u8; 4]) -> Option<u16> {
    split(address, marker)
}

/// The address of a station: 02:00:00:00, then its number.
pub const fn station_address(node: NodeId) -> MacAddress {
    join(STATION_PREFIX, node.0)
}

/// The station that has `address`.
pub fn station(address: MacAddress) -> Option<NodeId> {
    split(address, STATION_PREFIX).map(NodeId)
}

/// The destination address of a best-effort stream: 02:be:00:00, then its number.
pub const fn stream_address(stream: StreamId) -> MacAddress {
    join(STREAM_PREFIX, stream.0)
}

/// The best-effort stream that `address` names.
pub fn stream(address: MacAddress) -> Option<StreamId> {
    split(address, STREAM_PREFIX).map(StreamId)
}

/// The IPv4 address of a station in the private network 10.0.0.0/8: the first station has 10.0.0.1.
pub const fn station_ip(node: NodeId) -> ipv4::Address {
    (0x0a00_0001 + node.0 as u32).to_be_bytes()
}

/// The IPv4 address of a stream: 239.192, which is for groups within one organisation (RFC 2365 §6.2), then its number.
pub const fn stream_ip(stream: StreamId) -> ipv4::Address {
    let [high, low] = stream.0.to_be_bytes();
    [239, 192, high, low]
}

/// The IPv4 address of virtual link `ct_id`: 224.224, then its identifier (ARINC 664 part 7).
pub const fn critical_traffic_ip(ct_id: u16) -> ipv4::Address {
    let [high, low] = ct_id.to_be_bytes();
    [224, 224, high, low]
}

/// The number behind the payload of a virtual link's frame, its last byte before the checksum (ARINC 664 part 7).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SequenceNumber(pub u8);

impl SequenceNumber {
    /// Length on the wire `[byte]`.
    pub const LEN: usize = 1;
    /// That of the first frame after a reset of its sender. It does not come again.
    pub const RESET: Self = Self(0);

    /// That of the next frame: 1 to 255, and 1 again.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(if self.0 == u8::MAX { 1 } else { self.0 + 1 })
    }

    /// True if it is one of the 127 numbers behind another in the order in which they are sent.
    pub const fn is_ahead_of(self, other: Self) -> bool {
        // 0 stands where 255 does: before 1.
        let distance = (self.0 as u16 + 2 * 255 - other.0 as u16) % 255;
        distance >= 1 && distance <= 127
    }

    /// What stands before the number, and the number. `None` if there is nothing.
    pub fn split(payload: &[u8]) -> Option<(&[u8], Self)> {
        payload.split_last().map(|(number, before)| (before, Self(*number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_identifier_is_in_the_last_two_bytes_high_byte_first() {
        let address = critical_traffic_address(DEFAULT_CT_MARKER, 4043);
        assert_eq!(address.to_string(), "03:04:05:06:0f:cb");
        assert!(address.is_multicast());
        assert_eq!(station_address(NodeId(0x0102)).to_string(), "02:00:00:00:01:02");
        assert_eq!(stream_address(StreamId(0x0102)).to_string(), "02:be:00:00:01:02");
    }

    #[test]
    fn another_marker_is_no_virtual_link() {
        for byte in 0..4 {
            let mut address = critical_traffic_address(DEFAULT_CT_MARKER, 4043);
            address.0[byte] ^= 0x80;
            assert_eq!(ct_id(address, DEFAULT_CT_MARKER), None);
        }
    }

    #[test]
    fn sequence_numbers_begin_at_0_and_return_to_1() {
        let mut number = SequenceNumber::RESET;
        let numbers: [u8; 257] = core::array::from_fn(|_| {
            let this = number.0;
            number = number.next();
            this
        });
        assert_eq!((numbers[0], numbers[1], numbers[255], numbers[256]), (0, 1, 255, 1));
        let ahead = |number, other| SequenceNumber(number).is_ahead_of(SequenceNumber(other));
        assert!(ahead(1, 0) && ahead(1, 255) && ahead(2, 254) && ahead(128, 1) && ahead(1, 129));
        assert!(!ahead(7, 7) && !ahead(255, 1) && !ahead(129, 1) && !ahead(254, 2));
        assert_eq!(SequenceNumber::split(&[7, 8, 9]), Some((&[7, 8][..], SequenceNumber(9))));
        assert_eq!(SequenceNumber::split(&[]), None);
    }

    proptest! {
        #[test]
        fn every_number_reads_back_from_its_own_kind_only(number: u16) {
            let link = critical_traffic_address(DEFAULT_CT_MARKER, number);
            prop_assert_eq!(ct_id(link, DEFAULT_CT_MARKER), Some(number));
            prop_assert_eq!((station(link), stream(link)), (None, None));
            let node = station_address(NodeId(number));
            prop_assert_eq!(station(node), Some(NodeId(number)));
            prop_assert_eq!((ct_id(node, DEFAULT_CT_MARKER), stream(node)), (None, None));
            let best_effort = stream_address(StreamId(number));
            prop_assert_eq!(stream(best_effort), Some(StreamId(number)));
            prop_assert_eq!((ct_id(best_effort, DEFAULT_CT_MARKER), station(best_effort)), (None, None));
        }
    }
}
