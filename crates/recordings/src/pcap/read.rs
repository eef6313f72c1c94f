//! Captures in.

use chronoseal_wire::can::{CanFrame, layout};
use pcap_file::pcap::PcapParser;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::{Block, PcapNgParser};
use pcap_file::{DataLink, PcapError};

use super::{ERROR_FLAG, ERROR_MASK, LINK_TYPE};
use crate::collector::Collector;
use crate::error::{Place, Problem};
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
    if let Ok((_, parser)) = PcapParser::new(bytes) {
        return u32::from(parser.header().datalink) == LINK_TYPE;
    }
    let Ok((mut rest, mut parser)) = PcapNgParser::new(bytes) else { return false };
    while let Ok((behind, block)) = parser.next_block(rest) {
        if matches!(block, Block::InterfaceDescription(interface) if u32::from(interface.linktype) == LINK_TYPE) {
            return true;
        }
        rest = behind;
    }
    false
}

/// What a library's error means at `at`.
fn problem(error: &PcapError, at: usize, to: &Collector) -> Problem {
    let place = Place::Byte(at as u64);
    match error {
        PcapError::IncompleteBuffer => to.truncated(place, "a packet"),
        other => to.malformed(place, "a sound packet", other, "capture again, or repair the file with `pcapfix`"),
    }
}

pub(crate) fn read_pcap(bytes: &[u8], to: &mut Collector) -> Result<(), Problem> {
    let (mut rest, parser) = PcapParser::new(bytes).map_err(|error| problem(&error, 0, to))?;
    let link_type = u32::from(parser.header().datalink);
    if link_type != LINK_TYPE {
        return Err(to.unsupported(Place::Byte(20), format_args!("link type {link_type}"), HELP));
    }
    let channel = to.channel("0", Place::Byte(0))?;
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        let (behind, packet) = parser.next_packet(rest).map_err(|error| problem(&error, at, to))?;
        let at_ns = u64::try_from(packet.timestamp.as_nanos()).unwrap_or(u64::MAX);
        take(Place::Byte(at as u64), at_ns, channel, &packet.data, to)?;
        rest = behind;
    }
    Ok(())
}

pub(crate) fn read_pcapng(bytes: &[u8], to: &mut Collector) -> Result<(), Problem> {
    let (mut rest, mut parser) = PcapNgParser::new(bytes).map_err(|error| problem(&error, 0, to))?;
    // Number of the channel and resolution of times, of the interfaces of this section; `None` if it is no CAN.
    let mut interfaces: Vec<Option<(u16, u8)>> = Vec::new();
    let mut interface_count = 0;
    let mut can_count = 0;
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        let place = Place::Byte(at as u64);
        let (behind, block) = parser.next_block(rest).map_err(|error| problem(&error, at, to))?;
        match block {
            Block::SectionHeader(_) => interfaces.clear(),
            Block::InterfaceDescription(interface) => {
                let mut name = interface_count.to_string();
                // pcapng section 4.2: without the option, times are in microseconds.
                let mut resolution = 6;
                for option in &interface.options {
                    match option {
                        InterfaceDescriptionOption::IfName(given) => name = given.to_string(),
                        InterfaceDescriptionOption::IfTsResol(given) => resolution = *given,
                        _ => {}
                    }
                }
                interface_count += 1;
                let is_can = interface.linktype == DataLink::from(LINK_TYPE);
                can_count += usize::from(is_can);
                interfaces.push(if is_can { Some((to.channel(&name, place)?, resolution)) } else { None });
            }
            Block::EnhancedPacket(packet) => match interfaces.get(packet.interface_id as usize) {
                Some(Some((channel, resolution))) => {
                    // The library hands out the bare count of units as if they were nanoseconds.
                    let at_ns = pcapng_time_ns(packet.timestamp.as_nanos(), *resolution);
                    take(place, at_ns, *channel, &packet.data, to)?;
                }
                _ => to.leave_out(NOT_CAN, place),
            },
            Block::SimplePacket(_) | Block::Packet(_) => to.leave_out("packets without a time", place),
            _ => {}
        }
        rest = behind;
    }
    if can_count == 0 {
        return Err(to.unsupported(Place::Byte(0), "a capture without an interface of link type 227", HELP));
    }
    Ok(())
}

/// `units` of a pcapng time stamp [ns] (pcapng, section 4.2, `if_tsresol`): the resolution is a negative power of ten, or
/// of two if its top bit is set. Times that do not fit are the latest that does.
pub fn pcapng_time_ns(units: u128, resolution: u8) -> u64 {
    let exponent = u32::from(resolution & 0x7f);
    let ns = if resolution & 0x80 != 0 {
        units.checked_mul(1_000_000_000).map(|units| units.checked_shr(exponent).unwrap_or(0))
    } else if exponent <= 9 {
        units.checked_mul(10u128.pow(9 - exponent))
    } else {
        Some(10u128.checked_pow(exponent - 9).map_or(0, |divisor| units / divisor))
    };
    ns.and_then(|ns| u64::try_from(ns).ok()).unwrap_or(u64::MAX)
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
