//! Captures in.

use chronoseal_wire::can::{CanFrame, layout};

use super::{ERROR_FLAG, ERROR_MASK};
use crate::capture::{CaptureItem, CaptureReader, LINKTYPE_CAN_SOCKETCAN, LINKTYPE_LINUX_SLL, LINKTYPE_LINUX_SLL2};
use crate::collector::Collector;
use crate::error::{Place, Problem};
use crate::format::Format;
use crate::recording::RecordedError;

const HELP: &str = "capture a CAN interface, as `tcpdump -i can0 -w FILE` or `dumpcap -i can0` do";
/// What a recording says of packets in a capture that are something else, such as Ethernet.
pub const NOT_CAN: &str = "packets that are no CAN frames";
/// Identifier word, length, flags, two more bytes.
const HEADER_LEN: usize = 8;
/// `CAN_RTR_FLAG` in the identifier word: a length and no data.
const REMOTE_FLAG: u32 = 0x4000_0000;
/// `CANFD_FDF` in the flags.
const FDF_FLAG: u8 = 0x04;

/// Flag of a CAN XL frame, where the others have their length.
const XL_FLAG: u8 = 0x80;
/// `ETH_P_CAN` and `ETH_P_CANFD`, the protocols of frames captured on all interfaces at once.
const COOKED_CAN: [u16; 2] = [0x000c, 0x000d];

/// True if the bytes are a capture with CAN frames. Without any packet, the interface of link type 227 decides.
pub fn is_can_capture(bytes: &[u8]) -> bool {
    let Ok(capture) = CaptureReader::new(bytes) else { return false };
    let (mut has_interface, mut has_others) = (false, false);
    for item in capture.map_while(Result::ok) {
        match item {
            CaptureItem::Interface(interface) => has_interface |= interface.link_type == LINKTYPE_CAN_SOCKETCAN,
            CaptureItem::Packet(packet) => {
                if packet.link_type == LINKTYPE_CAN_SOCKETCAN || cooked(packet.link_type, &packet.data).is_some() {
                    return true;
                }
                has_others = true;
            }
        }
    }
    has_interface && !has_others
}

/// The frame in a packet captured on all interfaces, with the number of its interface if that is told. `None` for all but CAN.
///
/// Behind these headers the identifier is as the host had it, low byte first on all that have a CAN today, while a capture of
/// one interface has it high byte first. Wireshark reads them so, too.
fn cooked(link_type: u32, data: &[u8]) -> Option<(Option<u32>, Vec<u8>)> {
    let (protocol_at, frame_at) = match link_type {
        LINKTYPE_LINUX_SLL => (14, 16),
        LINKTYPE_LINUX_SLL2 => (0, 20),
        _ => return None,
    };
    let protocol = u16::from_be_bytes(*data.get(protocol_at..)?.first_chunk()?);
    let interface = data.get(4..8).filter(|_| link_type == LINKTYPE_LINUX_SLL2);
    let interface = interface.and_then(|number| number.first_chunk().copied()).map(u32::from_be_bytes);
    let mut frame = data.get(frame_at..)?.to_vec();
    frame.get_mut(..4)?.reverse();
    COOKED_CAN.contains(&protocol).then_some((interface, frame))
}

pub(crate) fn read(bytes: &[u8], to: &mut Collector) -> Result<(), Problem> {
    let capture = CaptureReader::new(bytes)?;
    let is_pcap = capture.format() == Format::Pcap;
    // Name and number of the channel of each interface; no number if it is no CAN.
    let mut channels: Vec<(String, Option<u16>)> = Vec::new();
    let mut is_found = false;
    for item in capture {
        match item? {
            CaptureItem::Interface(interface) => {
                let is_can = interface.link_type == LINKTYPE_CAN_SOCKETCAN;
                let is_cooked = matches!(interface.link_type, LINKTYPE_LINUX_SLL | LINKTYPE_LINUX_SLL2);
                if is_pcap && !is_can && !is_cooked {
                    let what = format_args!("link type {}", interface.link_type);
                    return Err(to.unsupported(interface.place, what, HELP));
                }
                let name = interface.name.unwrap_or_else(|| channels.len().to_string());
                let channel = if is_can { Some(to.channel(&name, interface.place)?) } else { None };
                is_found |= is_can;
                channels.push((name, channel));
            }
            CaptureItem::Packet(packet) => match (&channels[packet.interface], packet.at_ns) {
                (_, None) => to.leave_out("packets without a time", packet.place),
                ((_, Some(channel)), Some(at_ns)) => {
                    let outcome = take(packet.place, at_ns, *channel, &packet.data, to);
                    to.spare(outcome)?;
                }
                ((name, None), Some(at_ns)) => match cooked(packet.link_type, &packet.data) {
                    None => to.leave_out(NOT_CAN, packet.place),
                    Some((interface, frame)) => {
                        let name = interface.map_or(name.clone(), |number| format!("if{number}"));
                        let channel = to.channel(&name, packet.place)?;
                        is_found = true;
                        let outcome = take(packet.place, at_ns, channel, &frame, to);
                        to.spare(outcome)?;
                    }
                },
            },
        }
    }
    if !is_found {
        return Err(to.unsupported(Place::Byte(0), "a capture without an interface of link type 227", HELP));
    }
    Ok(())
}

/// One packet.
fn take(place: Place, at_ns: u64, channel: u16, packet: &[u8], to: &mut Collector) -> Result<(), Problem> {
    let wrong = |to: &Collector, found: &dyn std::fmt::Display| {
        Err(to.malformed(place, "a packet with a CAN frame", found, "another kind of packet may be in the capture"))
    };
    if packet.get(4).is_some_and(|flags| flags & XL_FLAG != 0) {
        to.leave_out("CAN XL frames, which are not read", place);
        return Ok(());
    }
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
