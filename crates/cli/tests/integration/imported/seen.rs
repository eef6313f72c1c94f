//! What a log or a capture has of each class, counted from its frames.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use chronoseal_recordings::{CaptureItem, CaptureReader, CapturedPacket, LINKTYPE_ETHERNET, Recording};

/// The frames of one class, by time.
#[derive(Default)]
pub(super) struct Class {
    pub(super) frames: u64,
    bytes: u64,
    longest: u64,
    times_ns: Vec<u64>,
}

impl Class {
    fn add(&mut self, at_ns: u64, bytes: u64) {
        self.frames += 1;
        self.bytes += bytes;
        self.longest = self.longest.max(bytes);
        self.times_ns.push(at_ns);
    }

    /// Its longest frame `[byte]`.
    pub(super) fn longest(&self) -> u64 {
        self.longest
    }

    /// From the first frame to the last `[ns]`.
    pub(super) fn span_ns(&self) -> u64 {
        let (first, last) = self.times_ns();
        last - first
    }

    /// Of the first frame and of the last `[ns]`.
    pub(super) fn times_ns(&self) -> (u64, u64) {
        let (first, last) = (self.times_ns.iter().min(), self.times_ns.iter().max());
        (first.copied().unwrap_or(0), last.copied().unwrap_or(0))
    }

    /// How many of its frames came within so long of this time `[ns]`.
    pub(super) fn frames_within(&self, begin_ns: u64, length_s: f64) -> u64 {
        let is_within = |at: &&u64| (*at - begin_ns) as f64 * 1e-9 < length_s;
        self.times_ns.iter().filter(is_within).count() as u64
    }

    /// As if it had come within this time `[byte/s]`.
    pub(super) fn bytes_over(&self, ns: u64) -> f64 {
        self.bytes as f64 / (ns.max(1) as f64 * 1e-9)
    }

    /// Between which its rate is `[byte/s]`: what came, with the longest pause behind the last frame and with none.
    pub(super) fn bytes_per_s(&self) -> (f64, f64) {
        let mut times = self.times_ns.clone();
        times.sort_unstable();
        let pause = times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        (self.bytes_over(self.span_ns() + pause), self.bytes_over(self.span_ns()))
    }
}

/// Of the data frames of a log, by segment and identifier.
pub(super) fn on_buses(recording: &Recording, text: &str) -> BTreeMap<String, Class> {
    let segments: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("[segments.")?.strip_suffix(".can]")).collect();
    let mut classes: BTreeMap<String, Class> = BTreeMap::new();
    for recorded in recording.frames.iter().filter(|recorded| !recorded.frame.kind().is_remote()) {
        let channel = &recording.channels[usize::from(recorded.channel)];
        let plain: String =
            channel.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
        let names = [plain.clone(), format!("channel-{plain}"), format!("{plain}-bus")];
        let segment = segments.iter().find(|segment| segments.len() == 1 || names.iter().any(|name| name == **segment));
        let id = recorded.frame.id();
        let extended = if id.is_extended() { "x" } else { "" };
        let key = format!("{}:{:#x}{extended}", segment.unwrap_or(&"nowhere"), id.raw());
        classes.entry(key).or_default().add(recorded.at_ns, recorded.frame.data().len() as u64);
    }
    classes
}

/// Of the frames of a capture, by what a stream is made of. One that passed a bridge, or was seen at two interfaces, counts once.
pub(super) fn on_links(bytes: &[u8]) -> BTreeMap<String, Class> {
    let mut places: BTreeMap<(String, usize, bool), Class> = BTreeMap::new();
    let mut ports = BTreeMap::new();
    let Ok(reader) = CaptureReader::new(bytes) else { return BTreeMap::new() };
    for item in reader {
        let Ok(CaptureItem::Packet(packet)) = item else { continue };
        let Some(at_ns) = packet.at_ns else { continue };
        if let Some((key, len)) = class(&packet, &mut ports) {
            places.entry((key, packet.interface, packet.is_outbound)).or_default().add(at_ns, len);
        }
    }
    let mut classes: BTreeMap<String, Class> = BTreeMap::new();
    let inbound: Vec<(String, usize)> = places
        .keys()
        .filter(|(.., is_outbound)| !is_outbound)
        .map(|(key, interface, _)| (key.clone(), *interface))
        .collect();
    for ((key, interface, is_outbound), class) in places {
        if is_outbound && inbound.contains(&(key.clone(), interface)) {
            continue;
        }
        let known = classes.entry(key).or_default();
        if class.frames > known.frames {
            *known = class;
        }
    }
    classes
}

/// Ports of the datagrams in fragments, by addresses, protocol and number.
type Ports = BTreeMap<(Vec<u8>, u16), (u16, u16)>;

/// What a comment of the importer calls the class, and the length without MACsec `[byte]`. `None` of links that are not Ethernet, and of
/// control frames of AS6802.
fn class(packet: &CapturedPacket<'_>, ports: &mut Ports) -> Option<(String, u64)> {
    if packet.link_type != LINKTYPE_ETHERNET {
        return None;
    }
    let data = &packet.data;
    let word = |at: usize| data.get(at..at + 2).map(|two| u16::from_be_bytes([two[0], two[1]]));
    let mac = |mac: &[u8]| mac.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":");
    let (destination, source) = (data.get(..6)?, data.get(6..12)?);
    let (mut at, mut what, mut len) = (12, String::new(), u64::from(packet.original_len));
    while matches!(word(at)?, 0x8100 | 0x88a8) {
        let tag = word(at + 2)?;
        let within = if at == 12 { "" } else { "in it " };
        what += &format!(", {within}VLAN {} priority {}", tag & 0xfff, tag >> 13);
        at += 4;
    }
    if word(at)? == 0xf1c1 {
        at += 6;
    }
    let ethertype = word(at)?;
    match ethertype {
        0x891d => return None,
        // Tag, integrity check value, and an identifier if there is one.
        0x88e5 => len -= if data.get(at + 2)? & 0x20 != 0 { 32 } else { 24 },
        _ => {}
    }
    what += &format!(", type {:#06x}", if ethertype < 0x600 { 0 } else { ethertype });
    let is_link = destination.starts_with(&[3, 0, 0, 0]);
    let mut ends = (mac(source), mac(destination));
    if let Some((addresses, shown)) = ip(ethertype, data.get(at + 2..)?, ports)
        && !is_link
    {
        what += &shown;
        if source == destination {
            // On a loopback interface; somebody else has to receive.
            let is_alone = addresses.0 == addresses.1 || is_group(&addresses.1);
            ends = (addresses.0, if is_alone { "several or unknown".into() } else { addresses.1 });
        }
    }
    Some((format!("{} to {}{what}", ends.0, ends.1), len.max(60)))
}

fn is_group(address: &str) -> bool {
    address.parse::<IpAddr>().is_ok_and(|address| match address {
        IpAddr::V4(address) => address.octets()[0] >= 224,
        IpAddr::V6(address) => address.is_multicast(),
    })
}

/// The two addresses, and all that is said of a packet of IP.
fn ip(ethertype: u16, data: &[u8], ports: &mut Ports) -> Option<((String, String), String)> {
    let (from, to, protocol, next);
    let mut fragment = None;
    match ethertype {
        0x0800 if data.first()? >> 4 == 4 && data.first()? & 0xf >= 5 => {
            let address = |at: usize| data.get(at..at + 4)?.first_chunk::<4>().copied().map(Ipv4Addr::from);
            (from, to, protocol) = (address(12)?.to_string(), address(16)?.to_string(), *data.get(9)?);
            let header_len = usize::from(data[0] & 0xf) * 4;
            let flags = u16::from_be_bytes([*data.get(6)?, *data.get(7)?]);
            if flags & 0x3fff != 0 {
                let id = u16::from_be_bytes([data[4], data[5]]);
                fragment =
                    Some(((data[9..10].iter().chain(&data[12..20]).copied().collect(), id), flags & 0x1fff == 0));
            }
            next = data.get(header_len..).unwrap_or(&[]);
        }
        0x86dd if data.first()? >> 4 == 6 => {
            let address = |at: usize| data.get(at..at + 16)?.first_chunk::<16>().copied().map(Ipv6Addr::from);
            (from, to, protocol) = (address(8)?.to_string(), address(24)?.to_string(), *data.get(6)?);
            next = data.get(40..).unwrap_or(&[]);
        }
        _ => return None,
    }
    let mut of_ports = match next {
        [a, b, c, d, ..] if matches!(protocol, 6 | 17) => (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])),
        _ => (0, 0),
    };
    match fragment {
        Some((id, true)) => drop(ports.insert(id, of_ports)),
        Some((id, false)) => of_ports = ports.get(&id).copied().unwrap_or((0, 0)),
        None => {}
    }
    let protocol = match protocol {
        6 => "TCP".to_owned(),
        17 => "UDP".to_owned(),
        1 => "ICMP".to_owned(),
        2 => "IGMP".to_owned(),
        other => format!("protocol {other}"),
    };
    let shown = if of_ports == (0, 0) { String::new() } else { format!(" ports {} to {}", of_ports.0, of_ports.1) };
    let shown = format!(", {protocol}{shown} {from} to {to}");
    Some(((from, to), shown))
}
