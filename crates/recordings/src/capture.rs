//! Packets of pcap and pcapng files, whatever link they were captured on.
//!
//! Sources: <https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-04.html> and
//! <https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-02.html>.

use std::borrow::Cow;

use pcap_file::pcap::{PcapParser, RawPcapPacket};
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::{Block, PcapNgParser};
use pcap_file::{Endianness, PcapError, TsResolution};

use crate::bytes::array;
use crate::collector::shortened;
use crate::error::{Place, Problem};
use crate::format::Format;

/// `LINKTYPE_ETHERNET` of <https://www.tcpdump.org/linktypes.html>.
pub const LINKTYPE_ETHERNET: u32 = 1;
/// `LINKTYPE_LINUX_SLL`, of all interfaces at once.
pub const LINKTYPE_LINUX_SLL: u32 = 113;
/// `LINKTYPE_LINUX_SLL2`, which says the interface.
pub const LINKTYPE_LINUX_SLL2: u32 = 276;
/// `LINKTYPE_CAN_SOCKETCAN`.
pub const LINKTYPE_CAN_SOCKETCAN: u32 = 227;

/// How the header of a section begins, in either order.
const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

const HELP: &str = "capture again, or repair the file with `pcapfix`";

/// What a capture consists of.
#[derive(Clone, Debug)]
pub enum CaptureItem<'a> {
    /// An interface, before the packets that were seen at it. A pcap has one.
    Interface(CaptureInterface),
    /// A packet.
    Packet(CapturedPacket<'a>),
}

/// Where packets were captured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CaptureInterface {
    /// Where the file tells of it.
    pub place: Place,
    /// By the numbers of <https://www.tcpdump.org/linktypes.html>.
    pub link_type: u32,
    /// Its name, if the file has it.
    pub name: Option<String>,
    /// `if_tsresol`.
    time_resolution: u8,
}

/// One captured packet.
#[derive(Clone, Debug)]
pub struct CapturedPacket<'a> {
    /// Where it begins.
    pub place: Place,
    /// Its interface, by order in the whole file.
    pub interface: usize,
    /// Of its interface.
    pub link_type: u32,
    /// Since 1970 `[ns]`. Simple packets have no time, and that of the obsolete packet block is not read.
    pub at_ns: Option<u64>,
    /// True if the file says that it left by its interface. Most captures do not say where a packet went.
    pub is_outbound: bool,
    /// On the wire `[byte]`; `data` is shorter if the packet was cut.
    pub original_len: u32,
    /// What was captured.
    pub data: Cow<'a, [u8]>,
}

/// Reads interfaces and packets in the order of the file. The first error ends it.
pub struct CaptureReader<'a> {
    whole_len: usize,
    rest: &'a [u8],
    parser: Parser,
    /// Those of this section; pcapng counts from 0 in each.
    interfaces: Vec<CaptureInterface>,
    interfaces_before: usize,
    is_over: bool,
}

enum Parser {
    /// The interface, until it is handed out.
    Pcap(PcapParser, Option<CaptureInterface>),
    Pcapng(PcapNgParser),
}

impl<'a> CaptureReader<'a> {
    /// Reads the beginning of a capture.
    ///
    /// # Errors
    /// If `bytes` begin like neither format, or end within the beginning.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Problem> {
        let (rest, parser) = match Format::detect(bytes) {
            Some(Format::Pcap) => {
                let (rest, parser) = PcapParser::new(bytes).map_err(|error| problem(Format::Pcap, 0, &error))?;
                // The upper half has flags and the length of the frame check sequence.
                let link_type = u32::from(parser.header().datalink) & 0xffff;
                let interface = CaptureInterface { place: Place::Byte(20), link_type, name: None, time_resolution: 9 };
                (rest, Parser::Pcap(parser, Some(interface)))
            }
            Some(Format::Pcapng) => {
                let (rest, parser) = match PcapNgParser::new(bytes) {
                    Ok(read) => read,
                    Err(error) => {
                        let (block, rest) =
                            ended(bytes, &error, false).ok_or_else(|| problem(Format::Pcapng, 0, &error))?;
                        let read = PcapNgParser::new(&block).map_err(|error| problem(Format::Pcapng, 0, &error))?;
                        (rest, read.1)
                    }
                };
                (rest, Parser::Pcapng(parser))
            }
            _ => {
                return Err(Problem::Malformed {
                    format: Format::Pcap,
                    place: Place::Byte(0),
                    expected: "the beginning of a pcap or pcapng file",
                    found: shortened(&String::from_utf8_lossy(&bytes[..bytes.len().min(16)])),
                    help: "give a file of tcpdump, dumpcap or Wireshark",
                });
            }
        };
        let whole_len = bytes.len();
        Ok(Self { whole_len, rest, parser, interfaces: Vec::new(), interfaces_before: 0, is_over: false })
    }

    /// pcap or pcapng.
    pub fn format(&self) -> Format {
        match self.parser {
            Parser::Pcap(..) => Format::Pcap,
            Parser::Pcapng(_) => Format::Pcapng,
        }
    }

    /// The next block or packet; `None` for a block that is neither interface nor packet.
    fn read(&mut self) -> Result<Option<CaptureItem<'a>>, Problem> {
        let at = self.whole_len - self.rest.len();
        let format = self.format();
        match &mut self.parser {
            Parser::Pcap(parser, interface) => {
                if let Some(interface) = interface.take() {
                    self.interfaces.push(interface.clone());
                    return Ok(Some(CaptureItem::Interface(interface)));
                }
                // Raw: the library refuses packets that were longer than the snap length, which is what cuts them.
                let (rest, packet) = parser.next_raw_packet(self.rest).map_err(|error| problem(format, at, &error))?;
                self.rest = rest;
                let at_ns = pcap_time_ns(&packet, parser.header().ts_resolution);
                self.packet(at, 0, Some(u128::from(at_ns)), packet.orig_len, packet.data).map(Some)
            }
            Parser::Pcapng(parser) => {
                let (rest, block) = match parser.next_block(self.rest) {
                    Ok(read) => read,
                    Err(error) => {
                        let is_big = parser.section().endianness == Endianness::Big;
                        let (block, rest) =
                            ended(self.rest, &error, is_big).ok_or_else(|| problem(format, at, &error))?;
                        let read = parser.next_block(&block).map_err(|error| problem(format, at, &error))?;
                        (rest, read.1.into_owned())
                    }
                };
                self.rest = rest;
                self.block(at, block)
            }
        }
    }

    fn block(&mut self, at: usize, block: Block<'a>) -> Result<Option<CaptureItem<'a>>, Problem> {
        Ok(Some(match block {
            Block::SectionHeader(_) => {
                self.interfaces_before += self.interfaces.len();
                self.interfaces.clear();
                return Ok(None);
            }
            Block::InterfaceDescription(block) => {
                let interface = described(at, &block);
                self.interfaces.push(interface.clone());
                CaptureItem::Interface(interface)
            }
            // The library hands out the bare count of units as if they were nanoseconds.
            Block::EnhancedPacket(packet) => {
                let units = packet.timestamp.as_nanos();
                let is_outbound = packet.options.iter().any(says_outbound);
                let mut item =
                    self.packet(at, packet.interface_id as usize, Some(units), packet.original_len, packet.data)?;
                if let CaptureItem::Packet(packet) = &mut item {
                    packet.is_outbound = is_outbound;
                }
                item
            }
            Block::SimplePacket(packet) => {
                let data = without_padding(packet.data, packet.original_len as usize);
                self.packet(at, 0, None, packet.original_len, data)?
            }
            Block::Packet(packet) => {
                self.packet(at, usize::from(packet.interface_id), None, packet.original_len, packet.data)?
            }
            _ => return Ok(None),
        }))
    }

    /// A packet of an interface of this section; its time in units of the interface's resolution.
    fn packet(
        &self,
        at: usize,
        interface: usize,
        time_units: Option<u128>,
        original_len: u32,
        data: Cow<'a, [u8]>,
    ) -> Result<CaptureItem<'a>, Problem> {
        let place = Place::Byte(at as u64);
        let Some(seen_at) = self.interfaces.get(interface) else {
            return Err(Problem::Malformed {
                format: self.format(),
                place,
                expected: "a packet of an interface described before it",
                found: format!("interface {interface} of {}", self.interfaces.len()),
                help: HELP,
            });
        };
        Ok(CaptureItem::Packet(CapturedPacket {
            place,
            interface: self.interfaces_before + interface,
            link_type: seen_at.link_type,
            at_ns: time_units.map(|units| time_ns(units, seen_at.time_resolution)),
            is_outbound: false,
            original_len,
            data,
        }))
    }
}

impl<'a> Iterator for CaptureReader<'a> {
    type Item = Result<CaptureItem<'a>, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let is_interface_left = matches!(self.parser, Parser::Pcap(_, Some(_)));
            if self.is_over || self.rest.is_empty() && !is_interface_left {
                return None;
            }
            let item = self.read().transpose();
            self.is_over = matches!(item, Some(Err(_)));
            if item.is_some() {
                return item;
            }
        }
    }
}

/// The first block, with an end of its options, and what is behind it, if the library misses that end. It need not be there (pcapng
/// section 3.5).
fn ended<'a>(bytes: &'a [u8], error: &PcapError, is_big: bool) -> Option<(Vec<u8>, &'a [u8])> {
    if !matches!(error, PcapError::InvalidField("Invalid option")) {
        return None;
    }
    // The header of a section says its own order.
    let is_big = match array(bytes, 8)? {
        magic if bytes.starts_with(&SECTION) => magic == [0x1a, 0x2b, 0x3c, 0x4d],
        _ => is_big,
    };
    let len = array(bytes, 4).map(|len| if is_big { u32::from_be_bytes(len) } else { u32::from_le_bytes(len) })?;
    let (block, rest) = bytes.split_at_checked(len as usize)?;
    let longer = len.checked_add(4)?;
    let longer = if is_big { longer.to_be_bytes() } else { longer.to_le_bytes() };
    let body = block.get(8..block.len().checked_sub(4)?)?;
    Some(([&block[..4], &longer, body, &[0; 4], &longer].concat(), rest))
}

/// pcapng section 4.3.1: of the flags, the two lowest bits are the direction, and 2 is outbound.
fn says_outbound(option: &EnhancedPacketOption<'_>) -> bool {
    matches!(option, EnhancedPacketOption::Flags(flags) if flags & 3 == 2)
}

fn described(at: usize, block: &InterfaceDescriptionBlock<'_>) -> CaptureInterface {
    // pcapng section 4.2: without the option, times are in microseconds.
    let (mut name, mut time_resolution) = (None, 6);
    for option in &block.options {
        match option {
            InterfaceDescriptionOption::IfName(given) => name = Some(given.to_string()),
            InterfaceDescriptionOption::IfTsResol(given) => time_resolution = *given,
            _ => {}
        }
    }
    CaptureInterface { place: Place::Byte(at as u64), link_type: u32::from(block.linktype), name, time_resolution }
}

/// A simple packet fills its block, whose length is a multiple of four.
fn without_padding(data: Cow<'_, [u8]>, original_len: usize) -> Cow<'_, [u8]> {
    match data {
        Cow::Borrowed(data) => Cow::Borrowed(&data[..original_len.min(data.len())]),
        Cow::Owned(mut data) => {
            data.truncate(original_len);
            Cow::Owned(data)
        }
    }
}

/// What the library's error means at byte `at`.
fn problem(format: Format, at: usize, error: &PcapError) -> Problem {
    let place = Place::Byte(at as u64);
    match error {
        PcapError::IncompleteBuffer => Problem::Truncated { format, place, expected: "a packet" },
        other => Problem::Malformed {
            format,
            place,
            expected: "a sound packet",
            found: shortened(&other.to_string()),
            help: HELP,
        },
    }
}

/// A pcap's time `[ns]`: seconds, and a fraction in micro- or nanoseconds.
fn pcap_time_ns(packet: &RawPcapPacket<'_>, resolution: TsResolution) -> u64 {
    let unit_ns = match resolution {
        TsResolution::MicroSecond => 1_000,
        TsResolution::NanoSecond => 1,
    };
    u64::from(packet.ts_sec) * 1_000_000_000 + u64::from(packet.ts_frac) * unit_ns
}

/// `units` of a pcapng time stamp `[ns]` (pcapng, section 4.2, `if_tsresol`): the resolution is a negative power of ten, or
/// of two if its top bit is set. Times that do not fit are the latest that does.
fn time_ns(units: u128, resolution: u8) -> u64 {
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
