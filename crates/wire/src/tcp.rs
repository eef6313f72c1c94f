//! Which connection of a stream a packet belongs to, of TCP (RFC 9293) or, over UDP, of QUIC. Connections themselves are others' work.
//!
//! Each stream has a port of its own at both ends of its connections. On one of TCP a message is its length, 4 bytes
//! big-endian, and its data.

use chronoseal_core::StreamId;

use crate::ipv4::{PROTOCOL_UDP, Packet};
use crate::udp::PORT_TEST_BED;

/// In the header of an IPv4 packet.
pub const PROTOCOL_TCP: u8 = 6;
/// In front of a message on a connection `[byte]`.
pub const LENGTH_LEN: usize = 4;

/// The port of a stream at both ends; `None` beyond the last port that there is.
pub fn port_of(stream: StreamId) -> Option<u16> {
    PORT_TEST_BED.checked_add(1)?.checked_add(stream.0)
}

/// The stream whose connection a packet belongs to, in whichever direction it goes.
pub fn stream_of(packet: &Packet<'_>) -> Option<StreamId> {
    let is_first = [PROTOCOL_TCP, PROTOCOL_UDP].contains(&packet.protocol) && packet.offset == 0;
    let [s0, s1, d0, d1] = *packet.data.first_chunk().filter(|_| is_first)?;
    let port = u16::from_be_bytes([s0, s1]);
    let stream = port.checked_sub(PORT_TEST_BED + 1).map(StreamId);
    stream.filter(|_| [s0, s1] == [d0, d1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipv4::Header;

    fn packet(ports: [u16; 2], protocol: u8) -> Vec<u8> {
        let mut bytes = vec![0; 40];
        let header = Header { source: [10, 0, 0, 1], destination: [10, 0, 0, 2], identification: 1, protocol };
        header.emit((0, 20), false, &mut bytes);
        bytes[20..22].copy_from_slice(&ports[0].to_be_bytes());
        bytes[22..24].copy_from_slice(&ports[1].to_be_bytes());
        bytes
    }

    #[test]
    fn a_packet_belongs_to_the_stream_of_its_port() {
        let port = port_of(StreamId(7)).expect("there is one");
        for protocol in [PROTOCOL_TCP, PROTOCOL_UDP] {
            let bytes = packet([port; 2], protocol);
            assert_eq!(stream_of(&Packet::parse(&bytes).expect("a packet")), Some(StreamId(7)));
        }
        let of_datagrams = ([PORT_TEST_BED; 2], PROTOCOL_UDP);
        for (ports, protocol) in
            [([80, 80], PROTOCOL_TCP), ([40_000, port], PROTOCOL_TCP), ([port; 2], 1), of_datagrams]
        {
            let bytes = packet(ports, protocol);
            assert_eq!(stream_of(&Packet::parse(&bytes).expect("a packet")), None);
        }
        assert_eq!(port_of(StreamId(u16::MAX)), None);
    }
}
