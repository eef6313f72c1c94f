//! A capture of Ethernet frames, as pcap or pcapng.
//!
//! First an observation: streams by VLAN, priority, EtherType and addresses with ports, how many frames, how long, at which
//! rate, in which bursts. Then a scenario in which every value that the capture does not show is marked as assumed.

mod clocks;
mod dissect;
mod left_out;
mod observation;
mod rate;
mod recorded;
mod stream;
mod text;

use std::collections::BTreeMap;

use dissect::{Key, Station};
use observation::{Observation, show_ip, show_mac};
pub(super) use rate::round_period_us;

use super::{Imported, plain_name};
use crate::kinds::KINDS;
use crate::limits::{NODES_MAX, SEGMENTS_MAX, STREAMS_MAX};
use crate::load::load;
use crate::problem::{Code, Problem, Problems};
use crate::schema::Schema;

/// A frame that nobody receives is sent again and again.
const LISTENER: &str = "listener";
/// Usual rates of links `[bit/s]`.
const RATES: [u64; 4] = [100_000_000, 1_000_000_000, 10_000_000_000, 100_000_000_000];
/// Preamble, checksum and gap `[byte]`.
const OVERHEAD: f64 = chronoseal_wire::ethernet::ON_WIRE_OVERHEAD_LEN as f64;

/// A segment as it is written.
struct Network {
    name: String,
    /// `[bit/s]`
    rate: u64,
    nodes: Vec<(Option<Station>, String)>,
    clocks: Option<clocks::Clocks>,
    /// MACsec, and the stations whose frames have it.
    macsec: Option<(dissect::Secured, Vec<String>)>,
    virtual_links: bool,
    streams: Vec<stream::Stream>,
    recordings: Vec<recorded::Recorded>,
    /// Bytes that may wait at a port `[byte]`.
    queue: u64,
}

/// What is sent: by whom, to whom, how much.
type Sent<'s> = (&'s String, &'s Vec<String>, &'s rate::Rate);

impl Network {
    /// Nothing is sent there.
    fn is_idle(&self) -> bool {
        self.streams.is_empty() && self.recordings.is_empty()
    }
}

/// A scenario from a capture, without recordings of what no period and no burst describes.
///
/// # Errors
/// If the bytes are no capture of Ethernet, or nothing in it has two frames.
pub fn from_capture(source_name: &str, bytes: &[u8]) -> Result<String, Problems> {
    Ok(imported(source_name, bytes, false)?.text)
}

/// A scenario from a capture. Streams are told apart by VLAN, priority, EtherType, addresses and ports; each interface becomes
/// a segment. The rate of a stream comes from the count of its bytes, its burst from the curve that bounds them.
///
/// Messages of IEEE 802.1AS become clocks, virtual links of ARINC 664 keep their identifier and have a gap, frames under MACsec
/// bring it to the links of their stations, datagrams in fragments are messages. What no period and no burst describes becomes a
/// recording, or is left out with a warning if none is to be written. Comments say what was seen, what was assumed, and how to replace it.
///
/// # Errors
/// If the bytes are no capture of Ethernet, or nothing in it has two frames.
pub(super) fn imported(source_name: &str, bytes: &[u8], writes_recordings: bool) -> Result<Imported, Problems> {
    let fail = |message: String, help: &str| {
        Problems::one(source_name, "", Problem::new(Code::ImportCapture, message).help(help))
    };
    let seen = Observation::of(bytes).map_err(|error| {
        fail(format!("this is no capture of Ethernet: {error}"), "give a pcap or pcapng file of Ethernet frames")
    })?;
    let described = stream::describe(&seen, writes_recordings);
    if described.networks.iter().all(Network::is_idle) {
        if seen.frames > 1 && seen.length_ns() == 0 {
            let message = format!("all {} frames have the same time, so nothing says how often they come", seen.frames);
            return Err(fail(message, "capture with the time of each frame, as tcpdump and dumpcap do"));
        }
        let reason = seen.damage.map_or(String::new(), |damage| format!(" ({damage})"));
        let message = match described.warnings.first() {
            None => format!("no flow with two frames is in the {} frames read{reason}", seen.frames),
            Some(warning) => format!("no stream is left of the {} frames read{reason}: {warning}", seen.frames),
        };
        return Err(fail(message, described.help));
    }
    let networks: Vec<&Network> = described.networks.iter().filter(|network| !network.is_idle()).collect();
    let nodes: usize = networks.iter().map(|network| network.nodes.len()).sum();
    let streams: u64 = networks.iter().flat_map(|network| &network.streams).map(|stream| stream.rate.count).sum();
    for (count, max, what) in [
        (networks.len() as u64, u64::from(SEGMENTS_MAX), "interfaces with streams"),
        (nodes as u64, u64::from(NODES_MAX), "stations"),
        (streams, u64::from(STREAMS_MAX), "streams, those of bursts counted one by one"),
    ] {
        if count > max {
            let message = format!("the capture has {count} {what}; a scenario has at most {max}");
            return Err(fail(message, "keep a part of it, as `tshark -r FILE -Y 'vlan' -w part.pcapng` does"));
        }
    }
    let text = text::write(source_name, &seen, &networks, &described.warnings);
    let recordings = networks.iter().flat_map(|network| &network.recordings);
    let file = |recorded: &recorded::Recorded| (text::file_name(source_name, recorded), recorded.bytes.clone());
    let imported = Imported { text, recordings: recordings.map(file).collect() };
    load(&format!("{source_name} (as a scenario)"), imported.text.as_bytes(), &[], &imported)?;
    Ok(imported)
}

/// Names of the segments: those of interfaces, or `network` if there is one.
fn segment_names(seen: &Observation) -> Vec<String> {
    let schema = Schema::of(KINDS);
    let mut names: Vec<String> = Vec::new();
    let is_only = seen.segments.len() == 1;
    for (i, interface) in seen.segments.iter().enumerate() {
        let mut name = match interface {
            Some(name) if !is_only => plain_name(&format!("{}.if", name.replace('.', "-"))),
            _ if is_only => "network".into(),
            _ => format!("network-{}", i + 1),
        };
        if schema.has_key_beside_segments(&name).is_some() {
            name += "-net";
        }
        if names.contains(&name) {
            name = format!("{name}-{}", i + 1);
        }
        names.push(name);
    }
    names
}

/// Nodes of each segment: stations by number, and somebody to listen where there is one alone.
fn nodes(seen: &Observation) -> Vec<Vec<(Option<Station>, String)>> {
    let mut number = 0;
    let mut all = Vec::new();
    for segment in 0..seen.segments.len() {
        let mut nodes: Vec<(Option<Station>, String)> = Vec::new();
        for station in seen.stations(segment) {
            number += 1;
            let name = if station == Station::Host { "host".into() } else { format!("station-{number}") };
            let name = if nodes_have(&all, &name) { format!("{name}-{}", segment + 1) } else { name };
            nodes.push((Some(station), name));
        }
        // Of a source that the link does not name.
        if seen.flows.keys().any(|key| key.segment == segment && key.source == Station::Group) {
            let name = if segment == 0 { "unknown".into() } else { format!("unknown-{}", segment + 1) };
            nodes.push((Some(Station::Group), name));
        }
        if nodes.len() == 1 {
            let name = if segment == 0 { LISTENER.into() } else { format!("{LISTENER}-{}", segment + 1) };
            nodes.push((None, name));
        }
        all.push(nodes);
    }
    all
}

fn nodes_have(all: &[Vec<(Option<Station>, String)>], name: &str) -> bool {
    all.iter().flatten().any(|(_, known)| known == name)
}

fn node_of(nodes: &[(Option<Station>, String)], station: Station) -> Option<&str> {
    nodes.iter().find(|(known, _)| *known == Some(station)).map(|(_, name)| name.as_str())
}

/// Which frames a stream is made of, for a comment.
fn show_key(key: &Key) -> String {
    let station = |station: Station, group: Option<dissect::Mac>| match (station, group) {
        (_, Some(group)) => show_mac(&group),
        (Station::Mac(mac), None) => show_mac(&mac),
        (Station::Ip(ip), None) => show_ip(&ip),
        (Station::Host, None) => "the host that captured".into(),
        (Station::Group, None) => "several or unknown".into(),
    };
    let mut text = format!("{} to {}", station(key.source, None), station(key.destination, key.group));
    if let Some(vlan) = key.vlan {
        text += &format!(", VLAN {} priority {}", vlan.vid, vlan.pcp);
    }
    for vlan in key.inner.iter().flatten() {
        text += &format!(", in it VLAN {} priority {}", vlan.vid, vlan.pcp);
    }
    text += &format!(", type {:#06x}", key.ethertype);
    if let Some(ip) = key.ip {
        let protocol = match ip.protocol {
            6 => "TCP".into(),
            dissect::PROTOCOL_UDP => "UDP".into(),
            1 => "ICMP".into(),
            2 => "IGMP".into(),
            other => format!("protocol {other}"),
        };
        let ports = if (ip.from_port, ip.to_port) == (0, 0) {
            String::new()
        } else {
            format!(" ports {} to {}", ip.from_port, ip.to_port)
        };
        text += &format!(", {protocol}{ports} {} to {}", show_ip(&ip.source), show_ip(&ip.destination));
    }
    text
}

/// The smallest usual rate at which no link is busy for more than half of the time with these streams `[bit/s]`.
fn link_rate(sent: &[Sent<'_>]) -> u64 {
    let mut links: BTreeMap<(&str, bool), f64> = BTreeMap::new();
    for (from, to, rate) in sent {
        let bytes_per_s = rate.bytes_per_s * (1.0 + OVERHEAD / rate.longest as f64);
        *links.entry((from, true)).or_default() += bytes_per_s * 8.0;
        for receiver in *to {
            *links.entry((receiver, false)).or_default() += bytes_per_s * 8.0;
        }
    }
    let busiest = links.values().copied().fold(0.0, f64::max);
    RATES.into_iter().find(|rate| busiest * 2.0 <= *rate as f64).unwrap_or(RATES[3])
}
