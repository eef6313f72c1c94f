//! A capture of datagrams, made for tests.

use chronoseal_scenario::{FileError, Files};
use chronoseal_wire::ethernet::HEADER_LEN;
use chronoseal_wire::ipv4::{self, PROTOCOL_UDP};
use chronoseal_wire::udp;

/// One file, whatever it is called.
pub(crate) struct One(pub(crate) Vec<u8>);

impl Files for One {
    fn read(&self, _: &str) -> Result<Vec<u8>, FileError> {
        Ok(self.0.clone())
    }
}

/// A pcap with times in nanoseconds of datagrams from 10.0.0.1 to this last byte of an address, each with its time `[ns]` and data.
pub(crate) fn capture(datagrams: &[(u64, u8, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [0xa1b2_3c4d_u32, 4 << 16 | 2, 0, 0, 65_535, 1] {
        bytes.extend(word.to_le_bytes());
    }
    for (at_ns, to, data) in datagrams {
        let packet = frame(*to, data);
        let len = packet.len() as u32;
        for word in [1_700_000_000 + (at_ns / 1_000_000_000) as u32, (at_ns % 1_000_000_000) as u32, len, len] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(packet);
    }
    bytes
}

/// The Ethernet frame of a datagram, padded as short ones are.
fn frame(to: u8, data: &[u8]) -> Vec<u8> {
    let front = HEADER_LEN + ipv4::HEADER_LEN;
    let mut frame = vec![0; front + udp::HEADER_LEN + data.len()];
    frame[HEADER_LEN - 2..HEADER_LEN].copy_from_slice(&ipv4::ETHERTYPE_IPV4.to_be_bytes());
    frame[front + udp::HEADER_LEN..].copy_from_slice(data);
    udp::emit(&mut frame[front..]);
    let header =
        ipv4::Header { source: [10, 0, 0, 1], destination: [10, 0, 0, to], identification: 7, protocol: PROTOCOL_UDP };
    header.emit((0, udp::HEADER_LEN + data.len()), false, &mut frame[HEADER_LEN..]);
    frame.resize(frame.len().max(60), 0);
    frame
}

/// Datagrams of many lengths at uneven times, for about a second.
pub(crate) fn uneven() -> Vec<(u64, u8, Vec<u8>)> {
    let mut at_ns = 0;
    (0..150u64)
        .map(|i| {
            at_ns += 1_000_000 + i * i * 7_919 % 11_000_000;
            (at_ns, 2, (0..20 + (i * 131 % 1_400)).map(|byte| (byte * 31 + i) as u8).collect())
        })
        .collect()
}

/// A scenario that replays the file over a link.
pub(crate) const REPLAY: &str = r#"
schema_version = 2
name = "replay"
duration = "3s"
[segments.air.link]
delay = { constant = "2ms" }
[[nodes]]
name = "robot"
clock = "ideal"
[[nodes]]
name = "station"
clock = "ideal"
[[recordings]]
name = "lidar"
traffic = { file = "lidar.pcap" }
from = "robot"
to = ["station"]
"#;
