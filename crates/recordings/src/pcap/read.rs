//! Captures in.

use chronoseal_wire::can::{CanFrame, layout};

use super::{ERROR_FLAG, ERROR_MASK};
use crate::capture::{CaptureItem, CaptureReader, LINKTYPE_CAN_SOCKETCAN};
use crate::collector::Collector;
use crate::error::{Place, Problem};
use crate::format::Format;
use crate::recording::RecordedError;

const HELP: &str = "capture a CAN interface, as `tcpdump -i can0 -w FILE` or `dumpcap -i can0` do";
const NOT_CAN: &str = "packets of other link types than 227";
/// Identifier word, length, flags, two more bytes.
const HEADER_LEN: usize = 8;
/// `CAN_RTR_FLAG` in the identifier word: a length and no data.
const REMOTE_FLAG: u32 = 0x4000_0000;
/// `CANFD_FDF` in the flags.
const FDF_FLAG: u8 = 0x04;

/// True if the bytes are a pcap with link type 227, or a pcapng in which an interface has it.
pub fn is_can_capture(bytes: &[u8]) -> bool {
    CaptureReader::new(bytes).is_ok_and(|capture| {
        capture.map_while(Result::ok).any(
            |item| matches!(item, CaptureItem::Interface(interface) if interface.link_type == LINKTYPE_CAN_SOCKETCAN),
        )
    })
}

pub(crate) fn read(bytes: &[u8], to: &mut Collector) -> Result<(), Problem> {
    let capture = CaptureReader::new(bytes)?;
    let is_pcap = capture.format() == Format::Pcap;
    // Number of the channel of each interface; `None` if it is no CAN.
    let mut channels: Vec<Option<u16>> = Vec::new();
    for item in capture {
        match item? {
            CaptureItem::Interface(interface) => {
                let is_can = interface.link_type == LINKTYPE_CAN_SOCKETCAN;
                if is_pcap && !is_can {
                    let what = format_args!("link type {}", interface.link_type);
                    return Err(to.unsupported(interface.place, what, HELP));
                }
                let name = interface.name.unwrap_or_else(|| channels.len().to_string());
                channels.push(if is_can { Some(to.channel(&name, interface.place)?) } else { None });
            }
            CaptureItem::Packet(packet) => match (channels[packet.interface], packet.at_ns) {
                (_, None) => to.leave_out("packets without a time", packet.place),
                (None, Some(_)) => to.leave_out(NOT_CAN, packet.place),
                (Some(channel), Some(at_ns)) => take(packet.place, at_ns, channel, &packet.data, to)?,
            },
        }
    }
    if !channels.iter().any(Option::is_some) {
        return Err(to.unsupported(Place::Byte(0), "a capture without an interface of link type 227", HELP));
    }
    Ok(())
}

/// One packet.
fn take(place: Place, at_ns: u64, channel: u16, packet: &[u8], to: &mut Collector) -> Result<(), Problem> {
    let wrong = |to: &Collector, found: &dyn std::fmt::Display| {
        Err(to.malformed(place, "a packet with a CAN frame", found, "another kind of packet may be in the capture"))
    };
    if packet.len() < HEADER_LEN || packet.len() > layout::FD_LEN {
        return wrong(to, &format_args!("{} bytes", packet.len()));
    }
    let word = u32::from_be_bytes([packet[0], packet[1], packet[2], packet[3]]);
    let (len, flags) = (usize::from(packet[4]), packet[5]);
    if packet.len() < HEADER_LEN + len && word & REMOTE_FLAG == 0 {
        let found = format_args!("{} of {len} bytes", packet.len() - HEADER_LEN);
        return Err(to.malformed(place, "a frame's whole data", found, "capture with a snap length of 72 or more"));
    }
    // A capture may hold less than the kernel's structure, which the frame codec wants whole.
    let mut whole = [0; layout::FD_LEN];
    whole[..packet.len()].copy_from_slice(packet);
    if word & ERROR_FLAG != 0 {
        let details = whole[HEADER_LEN..].first_chunk().copied().unwrap_or_default();
        return to.push_error(place, RecordedError { at_ns, channel, class: word & ERROR_MASK, details });
    }
    let is_fd = flags & FDF_FLAG != 0 || packet.len() == layout::FD_LEN || len > 8;
    let len = if is_fd { layout::FD_LEN } else { layout::CLASSICAL_LEN };
    match CanFrame::parse(&whole[..len]) {
        Ok(frame) => to.push(place, at_ns, channel, frame),
        Err(error) => wrong(to, &error),
    }
}
