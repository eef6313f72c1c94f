//! A recording as a capture, and packets of any link.

use chronoseal_wire::can::layout;

use super::ERROR_FLAG;
use crate::capture::LINKTYPE_CAN_SOCKETCAN;
use crate::recording::Recording;

/// pcap with times in nanoseconds, low byte first.
const MAGIC_NS: u32 = 0xa1b2_3c4d;

/// The recording as a pcap with link type 227, which Wireshark, tshark and tcpdump read. Its times are exact; its channels
/// are not told apart, for pcap has no place for them.
///
/// Frames after 2106 wrap around: the format has 32 bits for seconds.
pub fn write(recording: &Recording) -> Vec<u8> {
    let mut bytes = begin(LINKTYPE_CAN_SOCKETCAN, layout::FD_LEN as u32, recording.frames.len() * 32);
    let mut errors = recording.errors.iter().peekable();
    for recorded in &recording.frames {
        while let Some(error) = errors.next_if(|error| error.at_ns < recorded.at_ns) {
            packet(&mut bytes, recording.start_ns, error.at_ns, &error_message(error.class, error.details));
        }
        let mut frame = [0; layout::FRAME_LEN_MAX];
        let len = recorded.frame.emit(&mut frame);
        packet(&mut bytes, recording.start_ns, recorded.at_ns, &frame[..len]);
    }
    for error in errors {
        packet(&mut bytes, recording.start_ns, error.at_ns, &error_message(error.class, error.details));
    }
    bytes
}

/// Packets as a pcap of a link type: when since 1970 `[ns]`, how long on the wire `[byte]`, and what is there of each.
///
/// Packets after 2106 wrap around: the format has 32 bits for seconds.
pub fn write_capture<'a>(link_type: u32, packets: impl IntoIterator<Item = (u64, u32, &'a [u8])>) -> Vec<u8> {
    let mut bytes = begin(link_type, 0x4_0000, 0);
    for (at_ns, len, data) in packets {
        captured(&mut bytes, at_ns, len, data);
    }
    bytes
}

/// The header of a file whose packets have at most `snap_len` bytes each.
fn begin(link_type: u32, snap_len: u32, room: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(24 + room);
    for word in [MAGIC_NS, 4 << 16 | 2, 0, 0, snap_len, link_type] {
        bytes.extend(word.to_le_bytes());
    }
    bytes
}

fn packet(bytes: &mut Vec<u8>, start_ns: u64, at_ns: u64, data: &[u8]) {
    captured(bytes, start_ns.saturating_add(at_ns), data.len() as u32, data);
}

fn captured(bytes: &mut Vec<u8>, time_ns: u64, len: u32, data: &[u8]) {
    for word in [(time_ns / 1_000_000_000) as u32, (time_ns % 1_000_000_000) as u32, data.len() as u32, len] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(data);
}

fn error_message(class: u32, details: [u8; 8]) -> [u8; layout::CLASSICAL_LEN] {
    let mut message = [0; layout::CLASSICAL_LEN];
    message[..4].copy_from_slice(&(ERROR_FLAG | class).to_be_bytes());
    message[4] = details.len() as u8;
    message[8..].copy_from_slice(&details);
    message
}
