//! What one captured packet is: who sent it to whom, and by what its stream is known.

use chronoseal_recordings::{CapturedPacket, LINKTYPE_ETHERNET, LINKTYPE_LINUX_SLL, LINKTYPE_LINUX_SLL2};
use chronoseal_wire::ethernet::{ETHERTYPE_VLAN, HEADER_LEN};
use chronoseal_wire::macsec::{ETHERTYPE_MACSEC, SecTag, overhead_len};
use chronoseal_wire::protocol_control_frame::ETHERTYPE_PROTOCOL_CONTROL;

pub(super) const ETHERTYPE_IPV4: u16 = 0x0800;
pub(super) const ETHERTYPE_IPV6: u16 = 0x86dd;
/// Of IEEE 802.1AS and IEEE 1588.
pub(super) const ETHERTYPE_PTP: u16 = 0x88f7;
/// Outer tag of IEEE 802.1ad.
const ETHERTYPE_SERVICE_VLAN: u16 = 0x88a8;
/// Redundancy tag of IEEE 802.1CB.
const ETHERTYPE_R_TAG: u16 = 0xf1c1;
const PROTOCOL_TCP: u8 = 6;
pub(super) const PROTOCOL_UDP: u8 = 17;
/// The first four bytes of the destination of a virtual link (ARINC 664 part 7, §3.2.2).
const VIRTUAL_LINK: [u8; 4] = [3, 0, 0, 0];
/// VLAN tags in one another that are looked behind.
const TAGS_MAX: usize = 4;

pub(super) type Mac = [u8; 6];

/// Who sends or receives, as far as the link tells.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Station {
    Mac(Mac),
    /// On links whose header has one address alone; IPv4 as the last four bytes.
    Ip([u8; 16]),
    /// The host that captured.
    Host,
    /// Several, or nobody knows whom.
    Group,
}

/// What the frames of a stream have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Key {
    /// By its place among the segments.
    pub(super) segment: usize,
    pub(super) source: Station,
    pub(super) destination: Station,
    /// The group address, where it is one.
    pub(super) group: Option<Mac>,
    pub(super) vlan: Option<Vlan>,
    /// Tags within that, as customers' are within a provider's (IEEE 802.1ad).
    pub(super) inner: [Option<Vlan>; TAGS_MAX - 1],
    /// 0 for a length.
    pub(super) ethertype: u16,
    /// It has a redundancy tag.
    pub(super) redundant: bool,
    pub(super) secured: Option<Secured>,
    pub(super) ip: Option<Flow>,
    /// The kind of a message of IEEE 802.1AS.
    pub(super) clock: Option<u8>,
    /// A virtual link's identifier.
    pub(super) virtual_link: Option<u16>,
    /// Datagrams in fragments.
    pub(super) fragmented: bool,
}

/// The outer tag of IEEE 802.1Q.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Vlan {
    pub(super) pcp: u8,
    pub(super) vid: u16,
}

/// How MACsec protects a frame.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Secured {
    pub(super) has_sci: bool,
    pub(super) encrypted: bool,
}

/// The 5-tuple; ports are 0 where the protocol has none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Flow {
    pub(super) protocol: u8,
    pub(super) source: [u8; 16],
    pub(super) destination: [u8; 16],
    pub(super) from_port: u16,
    pub(super) to_port: u16,
}

/// One fragment of a datagram of IPv4.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragment {
    pub(super) identification: u16,
    /// Where its data begin in the datagram `[byte]`.
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) more: bool,
}

/// A packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dissected<'a> {
    pub(super) key: Key,
    /// As an Ethernet frame without its checksum `[byte]`.
    pub(super) len: u64,
    pub(super) fragment: Option<Fragment>,
    /// Service and method, if the data of a datagram are a message of SOME/IP.
    pub(super) some_ip: Option<(u16, u16)>,
    /// Number in the redundancy tag.
    pub(super) sequence: Option<u16>,
    /// Behind the EtherType, for messages of clocks.
    pub(super) body: &'a [u8],
    pub(super) is_protocol_control: bool,
    /// Interface of the host, where the link says it and the file does not.
    pub(super) host_interface: Option<u32>,
    pub(super) is_outbound: bool,
}

/// What the header of the link says.
struct Link {
    source: Station,
    destination: Station,
    group: Option<Mac>,
    ethertype: u16,
    /// Where the EtherType stands.
    type_at: usize,
    /// Where the data behind the EtherType begin.
    data_at: usize,
    host_interface: Option<u32>,
    is_outbound: bool,
}

/// Reads what is there of a packet. `None` if not even its link's header is whole.
pub(super) fn dissect<'a>(packet: &'a CapturedPacket<'_>, segment: usize) -> Option<Dissected<'a>> {
    let data: &[u8] = &packet.data;
    let link = link(packet.link_type, data)?;
    let original_len = u64::from(packet.original_len);
    let mut at = link.data_at;
    let mut ethertype = link.ethertype;
    let mut tags = [None; TAGS_MAX];
    for place in &mut tags {
        if !matches!(ethertype, ETHERTYPE_VLAN | ETHERTYPE_SERVICE_VLAN) {
            break;
        }
        let tag = u16_at(data, at)?;
        *place = Some(Vlan { pcp: (tag >> 13) as u8, vid: tag & 0xfff });
        ethertype = u16_at(data, at + 2)?;
        at += 4;
    }
    let mut sequence = None;
    if ethertype == ETHERTYPE_R_TAG {
        sequence = Some(u16_at(data, at + 2)?);
        ethertype = u16_at(data, at + 4)?;
        at += 6;
    }
    let secured = (ethertype == ETHERTYPE_MACSEC).then(|| secured(packet, &link)).flatten();
    // Below this it is a length; frames that differ in it belong together.
    let ethertype = if ethertype < 0x0600 { 0 } else { ethertype };
    let body = data.get(at..).unwrap_or(&[]);
    let virtual_link = link.group.filter(|group| group.starts_with(&VIRTUAL_LINK));
    let virtual_link = virtual_link.map(|group| u16::from_be_bytes([group[4], group[5]]));
    let (ip, mut fragment, some_ip) = ip(ethertype, body);
    if virtual_link.is_some() {
        fragment = None;
    }
    let (mut source, mut destination) = (link.source, link.destination);
    // On a loopback interface both addresses are zeros.
    let has_stations = packet.link_type == LINKTYPE_ETHERNET && source != destination;
    if let (false, Some(ip)) = (has_stations, &ip) {
        source = Station::Ip(ip.source);
        let is_group = if ethertype == ETHERTYPE_IPV4 { ip.destination[12] >= 224 } else { ip.destination[0] == 0xff };
        destination = if is_group { Station::Group } else { Station::Ip(ip.destination) };
    }
    if source == destination {
        // Somebody who is not the sender has to receive.
        destination = Station::Group;
    }
    let [vlan, inner @ ..] = tags;
    let key = Key {
        segment,
        source,
        destination,
        group: link.group,
        vlan,
        inner,
        ethertype,
        redundant: sequence.is_some(),
        secured,
        ip: ip.filter(|_| virtual_link.is_none()),
        clock: (ethertype == ETHERTYPE_PTP).then(|| body.first().map_or(0, |byte| byte & 0xf)),
        virtual_link,
        fragmented: fragment.is_some(),
    };
    Some(Dissected {
        key,
        len: (original_len + HEADER_LEN as u64).saturating_sub(link.type_at as u64 + 2),
        fragment,
        some_ip,
        sequence,
        body,
        is_protocol_control: ethertype == ETHERTYPE_PROTOCOL_CONTROL,
        host_interface: link.host_interface,
        is_outbound: packet.is_outbound || link.is_outbound,
    })
}

/// The header of a link; sources are <https://www.tcpdump.org/linktypes/LINKTYPE_LINUX_SLL.html> and `…_SLL2.html`.
fn link(link_type: u32, data: &[u8]) -> Option<Link> {
    let mac = |at: usize| data.get(at..)?.first_chunk::<6>().copied();
    // Packet type 4 left the host that captured, 1 and 2 went to several, 0 to this host.
    let cooked = |type_at, packet_type: u16, address: Option<Mac>, data_at, host_interface| {
        let source = if packet_type == 4 { Station::Host } else { address.map_or(Station::Group, Station::Mac) };
        let destination = if packet_type == 0 { Station::Host } else { Station::Group };
        let ethertype = u16_at(data, type_at)?;
        Some(Link {
            source,
            destination,
            group: None,
            ethertype,
            // As if the header ended with its EtherType.
            type_at: data_at - 2,
            data_at,
            host_interface,
            is_outbound: packet_type == 4,
        })
    };
    match link_type {
        LINKTYPE_ETHERNET => {
            let (destination, source) = (mac(0)?, mac(6)?);
            let group = (destination[0] & 1 == 1).then_some(destination);
            Some(Link {
                source: Station::Mac(source),
                destination: group.map_or(Station::Mac(destination), |_| Station::Group),
                group,
                ethertype: u16_at(data, 12)?,
                type_at: 12,
                data_at: 14,
                host_interface: None,
                is_outbound: false,
            })
        }
        LINKTYPE_LINUX_SLL => {
            let address = mac(6).filter(|_| u16_at(data, 4) == Some(6));
            cooked(14, u16_at(data, 0)?, address, 16, None)
        }
        LINKTYPE_LINUX_SLL2 => {
            let interface = data.get(4..)?.first_chunk().copied().map(u32::from_be_bytes);
            let [packet_type, address_len] = *data.get(10..)?.first_chunk()?;
            cooked(0, packet_type.into(), mac(12).filter(|_| address_len == 6), 20, interface)
        }
        _ => None,
    }
}

/// What a SecTAG says. Of a packet that was cut, the tag is read for itself.
fn secured(packet: &CapturedPacket<'_>, link: &Link) -> Option<Secured> {
    if packet.link_type == LINKTYPE_ETHERNET
        && let Ok(tag) = SecTag::parse(&packet.data)
    {
        return Some(Secured { has_sci: tag.sci.is_some(), encrypted: tag.encrypted });
    }
    let control = *packet.data.get(link.data_at)?;
    Some(Secured { has_sci: control & 0x20 != 0, encrypted: control & 0x08 != 0 })
}

impl Secured {
    /// What MACsec adds to a frame `[byte]`.
    pub(super) const fn overhead(self) -> u64 {
        overhead_len(self.has_sci) as u64
    }
}

/// The 5-tuple, what a fragment is of its datagram, and service and method of SOME/IP.
type Ip = (Option<Flow>, Option<Fragment>, Option<(u16, u16)>);

fn ip(ethertype: u16, body: &[u8]) -> Ip {
    match ethertype {
        ETHERTYPE_IPV4 => ipv4(body).unwrap_or_default(),
        ETHERTYPE_IPV6 => (ipv6(body), None, None),
        _ => (None, None, None),
    }
}

/// RFC 791. Checksums are not asked: many hosts let their interface fill them in, behind the capture.
fn ipv4(body: &[u8]) -> Option<Ip> {
    let first = *body.first()?;
    let header_len = usize::from(first & 0xf) * 4;
    if first >> 4 != 4 || header_len < 20 {
        return None;
    }
    let address = |at: usize| {
        let mut wide = [0; 16];
        wide[12..].copy_from_slice(body.get(at..)?.first_chunk::<4>()?);
        Some(wide)
    };
    let (total, flags) = (usize::from(u16_at(body, 2)?), u16_at(body, 6)?);
    let (offset, more) = (u64::from(flags & 0x1fff) * 8, flags & 0x2000 != 0);
    let fragment = (offset > 0 || more).then_some(Fragment {
        identification: u16_at(body, 4)?,
        offset,
        len: total.saturating_sub(header_len) as u64,
        more,
    });
    let (protocol, data) = (*body.get(9)?, body.get(header_len..).unwrap_or(&[]));
    let (from_port, to_port) = if offset == 0 { ports(protocol, data) } else { (0, 0) };
    let flow = Flow { protocol, source: address(12)?, destination: address(16)?, from_port, to_port };
    let some_ip = (protocol == PROTOCOL_UDP && fragment.is_none()).then(|| some_ip(data)).flatten();
    Some((Some(flow), fragment, some_ip))
}

/// RFC 8200, without extension headers.
fn ipv6(body: &[u8]) -> Option<Flow> {
    let protocol = *body.get(6).filter(|_| body[0] >> 4 == 6)?;
    let address = |at: usize| body.get(at..)?.first_chunk::<16>().copied();
    let (from_port, to_port) = ports(protocol, body.get(40..).unwrap_or(&[]));
    Some(Flow { protocol, source: address(8)?, destination: address(24)?, from_port, to_port })
}

fn ports(protocol: u8, data: &[u8]) -> (u16, u16) {
    match (protocol, u16_at(data, 0), u16_at(data, 2)) {
        (PROTOCOL_TCP | PROTOCOL_UDP, Some(from), Some(to)) => (from, to),
        _ => (0, 0),
    }
}

/// The header of SOME/IP (AUTOSAR PRS SOME/IP, §4.1.4) behind that of UDP: its length is that of what follows, its version
/// is 1 and its type is one of those that exist.
fn some_ip(udp: &[u8]) -> Option<(u16, u16)> {
    let message = udp.get(8..)?;
    let len = u32::from_be_bytes(*message.get(4..)?.first_chunk()?) as usize;
    let udp_len = usize::from(u16_at(udp, 4)?);
    let is_type = matches!(message.get(14)?, 0x00..=0x02 | 0x20..=0x22 | 0x80 | 0x81 | 0xa0 | 0xa1);
    let fits = *message.get(12)? == 1 && is_type && len >= 8 && len + 8 + 8 <= udp_len;
    fits.then_some((u16_at(message, 0)?, u16_at(message, 2)?))
}

fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    data.get(at..)?.first_chunk().copied().map(u16::from_be_bytes)
}
