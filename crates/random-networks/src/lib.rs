//! Networks drawn from a seed, with all that makes frames late or loses them.
//!
//! Two things draw from here: the test of `chronoseal-sim` that holds simulated latencies against their bounds, and the
//! contradiction hunter, which asks a binary. This crate needs neither of them, and nothing but the standard library: a network is
//! the text of a scenario, and what that means is not known here.
//!
//! ```
//! use chronoseal_random_networks::{Network, Scope};
//! let network = Network::of(7, Scope::Lossless);
//! assert_eq!(network.text(), Network::of(7, Scope::Lossless).text());
//! ```

mod air;
mod chance;
mod draw;
mod extras;
mod groups;
mod messages;
mod overload;
mod policing;
mod ports;
mod redundancy;
mod sharing;

use std::collections::BTreeMap;

use self::air::air;
use self::chance::{Chance, mixed};
use self::draw::{
    any_stream, application, collect, collect_with_numbers, host_interface, node, regulate, segment, threats, wiring,
};
use self::extras::{BY_CYCLE, PROTECTIONS, extras};
use self::groups::{cluster, failure, group, time_aware};
use self::messages::{attack_on_links, lengthen, lengthen_in_slots};
use self::overload::overload;
use self::ports::ports;
use self::redundancy::{networks, ring};

/// What a key exchange computes, and stations of a street.
const EXCHANGE: [&str; 13] = [
    "aes-128-ctr",
    "fourq-share",
    "fourq-agree",
    "fourq-sign",
    "fourq-verify",
    "p256-share",
    "p256-agree",
    "p256-sign",
    "p256-verify",
    "x25519-share",
    "x25519-agree",
    "ed25519-sign",
    "ed25519-verify",
];

/// A network, before it is written down as a scenario.
#[derive(Clone, Debug)]
pub struct Network {
    /// What it was asked for by, and what its numbers are drawn from.
    number: u64,
    seed: u64,
    /// Its segments.
    pub segments: Vec<Segment>,
    /// One platform a node: what a MAC takes on it, for any length and for each byte `[ns]`.
    nodes: Vec<Node>,
    /// Its streams. Fewer of them are a network as well.
    pub streams: Vec<Stream>,
    collects: Vec<Collect>,
    threats: Vec<String>,
    /// The table of a group key, if there is one.
    keys: String,
    /// Further lines above all tables, and tables that stand before those of segments.
    head: String,
    head_tables: String,
    /// Frames are counted and not made.
    is_timing: bool,
}

/// What is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Networks in which no frame is lost as a rule, so that all latencies can be compared.
    Lossless,
    /// Anything the language has, mostly with room enough that it can hold.
    Everything,
}

/// How a network is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Style {
    everything: bool,
    family: Family,
    /// Too little of anything, more often than not.
    is_wild: bool,
}

/// What a network is drawn for. Some parts of the language hold on paper in small networks of their own only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    Any,
    /// An Ethernet with ports of IEEE 802.1Q.
    Ports,
    /// Applications with timers of their own.
    Timers,
    /// An Ethernet with frames in slots beside others, with room for both.
    Slots,
    /// Stations of a bus that agree on a key.
    Group,
    /// An Ethernet that makes its own time.
    Cluster,
    /// An Ethernet whose clocks follow a grandmaster.
    TimeAware,
    /// Segments that carry long frames, so that gateways can put several PDUs into one.
    Gateways,
    /// A fast bus with few streams, so that there is room for what else is on it.
    Bus,
    /// An Ethernet with the networks A and B.
    Networks,
    /// An Ethernet whose switches stand in a ring.
    Ring,
    /// A street beside the rest.
    Air,
}

impl Family {
    fn of(seed: u64) -> Self {
        match Chance::new(seed, 8).range(0, 99) {
            0..21 => Self::Ports,
            21..29 => Self::Timers,
            29..30 => Self::Group,
            30..41 => Self::Cluster,
            41..49 => Self::Bus,
            49..60 => Self::Gateways,
            60..71 => Self::Networks,
            71..84 => Self::Ring,
            84..85 => Self::Air,
            85..89 => Self::TimeAware,
            89..99 => Self::Slots,
            _ => Self::Any,
        }
    }

    /// So many segments are buses `[%]`.
    fn buses(self) -> i64 {
        match self {
            Self::Any | Self::Gateways | Self::Air => 50,
            Self::Ports
            | Self::Timers
            | Self::Slots
            | Self::Cluster
            | Self::TimeAware
            | Self::Networks
            | Self::Ring => 12,
            Self::Group => 90,
            Self::Bus => 100,
        }
    }
}

/// A bus, or an Ethernet.
#[derive(Clone, Debug)]
pub struct Segment {
    table: String,
    kind: Kind,
    /// Its stations have the switch's time by themselves.
    has_ideal_clocks: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Can { fd: bool },
    Ethernet,
}

#[derive(Clone, Debug)]
struct Node {
    on: Vec<usize>,
    is_gateway: bool,
    /// Its keys as a gateway.
    gateway: Option<String>,
    table: String,
    mac_ns: (i64, i64),
}

/// What one node sends to others.
#[derive(Clone, Debug)]
pub struct Stream {
    /// All but the tables of segments.
    table: String,
    /// By segment.
    tables: BTreeMap<usize, String>,
    index: i64,
    /// `[us]`
    period: i64,
    /// It begins in slots.
    is_slotted: bool,
    /// The segments it begins and ends on.
    from: usize,
    to: Vec<usize>,
    /// Its sender, and its receivers.
    ends: (usize, Vec<usize>),
    /// Its PDU, with what protects it from end to end `[byte]`.
    pdu_len: i64,
    /// The protections of single segments.
    alone: BTreeMap<usize, &'static str>,
}

/// Frames in which a gateway puts PDUs of several streams.
#[derive(Clone, Debug)]
struct Collect {
    gateway: usize,
    on: usize,
    /// By the streams' own numbers.
    streams: Vec<i64>,
    /// All but the streams.
    keys: String,
}

/// Adds a node at which no stream begins or ends, so that its link can fail, to some networks: the segment and the node.
fn idle(seed: u64, segments: &[Segment], nodes: &mut Vec<Node>, style: Style) -> Option<(usize, usize)> {
    let mut chance = Chance::new(seed, 12);
    let on = segments.iter().position(|segment| segment.kind == Kind::Ethernet).filter(|_| chance.percent(35))?;
    let mut node = node(&mut chance, vec![on], segments, &segments[on], style);
    node.mac_ns = (0, 0);
    nodes.push(node);
    Some((on, nodes.len() - 1))
}

impl Network {
    /// The network of a seed.
    pub fn of(number: u64, scope: Scope) -> Self {
        let everything = scope == Scope::Everything;
        let seed = if everything { mixed(number) } else { number };
        let mut chance = Chance::new(seed, 0);
        let family = if everything { Family::of(seed) } else { Family::Any };
        let style = Style { everything, family, is_wild: everything && chance.percent(6) };
        // Most defects need one segment alone, and that is what an older version of the format has.
        let several = !everything || chance.percent(50);
        let count = if several { chance.range(1, 3) } else { 1 };
        let count = match family {
            Family::Any => count,
            Family::Gateways => count.clamp(2, 3),
            Family::Bus => 1 + i64::from(chance.percent(75)),
            _ => count.min(2),
        };
        let segments: Vec<Segment> = (0..count).map(|_| segment(&mut chance, style)).collect();
        let mut nodes = Vec::new();
        for (index, segment) in segments.iter().enumerate() {
            for _ in 0..chance.range(2, 4) {
                nodes.push(node(&mut chance, vec![index], &segments, segment, style));
            }
        }
        for index in 1..segments.len() {
            nodes.push(node(&mut chance, vec![index - 1, index], &segments, &segments[index], style));
        }
        // Host interfaces have numbers of their own, so that nothing else depends on them.
        let mut hosts = Chance::new(seed, 7);
        for node in &mut nodes {
            node.table += &host_interface(&mut hosts, &node.on, &segments, style);
        }
        // How much there is to do, and whether all begin at once.
        let most = if everything && !style.is_wild { 9 } else { 14 };
        let most = match family {
            Family::Ports | Family::Gateways | Family::Networks | Family::Ring => 6,
            Family::Timers | Family::Bus => 3,
            Family::Slots | Family::Cluster | Family::TimeAware => 4,
            _ => most,
        };
        let (count, together) = (chance.range(1, most), chance.percent(50));
        // What is sent in several frames is drawn beside the rest, so that nothing else depends on it.
        let mut cut = Chance::new(seed, 1);
        let streams: Vec<Stream> = (0..count)
            .map(|index| any_stream([&mut chance, &mut cut], index, together, &segments, &nodes, style))
            .collect();
        let idle = style.everything.then(|| idle(seed, &segments, &mut nodes, style)).flatten();
        let mut network = Self {
            number,
            seed,
            segments,
            nodes,
            streams,
            collects: Vec::new(),
            threats: Vec::new(),
            keys: String::new(),
            head: String::new(),
            head_tables: String::new(),
            is_timing: false,
        };
        if everything {
            // Few networks have two streams by chance that a gateway can put into one frame.
            let mut chance = Chance::new(seed, 4);
            if chance.percent(80) {
                network.accompany(&mut chance, &mut cut, count, style);
            }
        }
        // So is which of best effort are virtual links instead.
        let mut regulated = Chance::new(seed, 6);
        for stream in &mut network.streams {
            regulate(&mut regulated, stream);
        }
        // What is collected has numbers of its own, too.
        let mut chance = Chance::new(seed, 2);
        for gateway in (0..network.nodes.len()).filter(|index| network.nodes[*index].is_gateway) {
            for on in network.nodes[gateway].on.clone() {
                network.collects.extend(collect(&mut chance, &network, gateway, on));
            }
        }
        if everything {
            let mut chance = Chance::new(seed, 3);
            network.threats = threats(&mut chance, &network);
            // Several switches are drawn beside the rest as well.
            let mut chance = Chance::new(seed, 5);
            let Self { segments, nodes, .. } = &mut network;
            for (index, segment) in segments.iter_mut().enumerate() {
                let has_own = matches!(style.family, Family::Networks | Family::Ring);
                if segment.kind == Kind::Ethernet && chance.percent(36) && !has_own {
                    wiring(&mut chance, index, nodes, &mut segment.table);
                }
            }
            network.embellish(style);
            if let Some((on, node)) = idle.filter(|_| !matches!(style.family, Family::Networks | Family::Ring)) {
                failure(&mut Chance::new(seed, 12), on, node, &mut network);
            }
        } else {
            network.applications(style);
        }
        collect_with_numbers(&mut Chance::new(seed, 62), &mut network);
        lengthen(&mut Chance::new(seed, 40), &mut network, everything);
        lengthen_in_slots(&mut Chance::new(seed, 61), &mut network);
        if everything {
            attack_on_links(&mut Chance::new(seed, 63), &mut network);
            overload(seed, &mut network);
        }
        network
    }

    /// Applications with timers of their own, for streams that begin in slots.
    fn applications(&mut self, style: Style) {
        let mut chance = Chance::new(self.seed, 10);
        for stream in self.streams.iter_mut().filter(|stream| stream.is_slotted) {
            application(&mut chance, stream, style);
        }
    }

    /// What was given numbers of its own after the rest, so that networks of before stay as they were.
    fn embellish(&mut self, style: Style) {
        let seed = self.seed;
        let ethernets: Vec<usize> =
            (0..self.segments.len()).filter(|on| self.segments[*on].kind == Kind::Ethernet).collect();
        if style.family == Family::Cluster {
            let mut chance = Chance::new(seed, 40);
            ethernets.iter().for_each(|on| cluster(&mut chance, *on, self));
        }
        if style.family == Family::TimeAware {
            let mut chance = Chance::new(seed, 38);
            ethernets.iter().for_each(|on| time_aware(&mut chance, *on, self));
        }
        let mut chance = Chance::new(seed, 9);
        for on in ethernets.iter().copied() {
            match style.family {
                Family::Ports if chance.percent(95) => ports(&mut chance, on, self, style),
                Family::Networks => {
                    // Beside the rest, as above.
                    let mut own = Chance::new(seed, 46);
                    if own.percent(55) {
                        cluster(&mut own, on, self);
                    } else if Chance::new(seed, 70).percent(20) {
                        time_aware(&mut Chance::new(seed, 71), on, self);
                    }
                    networks(&mut chance, on, self);
                }
                Family::Ring => ring(&mut chance, on, self, style),
                _ => {}
            }
        }
        // Gates by the clocks of a cluster.
        let mut chance = Chance::new(seed, 44);
        if style.family == Family::Ports && chance.percent(12) {
            ethernets.iter().for_each(|on| cluster(&mut chance, *on, self));
        }
        self.applications(style);
        let slotted: Vec<i64> =
            self.streams.iter().filter(|stream| stream.is_slotted).map(|stream| stream.index).collect();
        self.threats.retain(|threat| slotted.iter().any(|index| threat.contains(&format!("\"m{index}\""))));
        extras(self, style);
        if style.family == Family::Group {
            self.keys = group(&mut Chance::new(seed, 11), self).unwrap_or_default();
        }
        if style.family == Family::Air {
            air(&mut Chance::new(seed, 13), self);
        }
    }

    /// Adds streams until some gateway has three to put into frames, or as many as a network may have have been tried.
    fn accompany(&mut self, chance: &mut Chance, cut: &mut Chance, count: i64, style: Style) {
        let gateways = (0..self.nodes.len()).filter(|index| self.nodes[*index].is_gateway);
        let ways: Vec<(usize, usize)> =
            gateways.flat_map(|gateway| self.nodes[gateway].on.iter().map(move |on| (gateway, *on))).collect();
        if ways.is_empty() {
            return;
        }
        let (gateway, on) = chance.one(&ways);
        let mut index = count;
        for _ in 0..40 {
            if self.leaving(gateway, on).count() > 2 {
                return;
            }
            let stream = any_stream([&mut *chance, &mut *cut], index, false, &self.segments, &self.nodes, style);
            self.streams.push(stream);
            let is_apt = |stream: &Stream| stream.index == index && stream.alone.is_empty() && stream.pdu_len < 30;
            if self.leaving(gateway, on).any(is_apt) {
                index += 1;
            } else {
                self.streams.pop();
            }
        }
    }

    /// The streams that a gateway sends on a segment.
    fn leaving(&self, gateway: usize, on: usize) -> impl Iterator<Item = &Stream> {
        let other = self.nodes[gateway].on.iter().copied().find(|segment| *segment != on);
        self.streams.iter().filter(move |stream| match other {
            Some(other) if other < on => stream.from <= other && stream.to.iter().any(|to| *to >= on),
            Some(other) => stream.from >= other && stream.to.iter().any(|to| *to <= on),
            None => false,
        })
    }

    /// Who sends a stream on a segment, and who receives it there.
    fn ends(&self, stream: &Stream, on: usize) -> Option<(usize, Vec<usize>)> {
        let gateway = |one: usize, other: usize| {
            self.nodes.iter().position(|node| node.is_gateway && node.on == [one.min(other), one.max(other)])
        };
        let from = match stream.from {
            from if from == on => stream.ends.0,
            from => gateway(on, if from < on { on - 1 } else { on + 1 })?,
        };
        let own = stream.ends.1.iter().copied().filter(|node| self.nodes[*node].on == [on]);
        let mut to: Vec<usize> = own.collect();
        if stream.from <= on && stream.to.iter().any(|to| *to > on) {
            to.push(gateway(on, on + 1)?);
        }
        if stream.from >= on && stream.to.iter().any(|to| *to < on) {
            to.push(gateway(on, on - 1)?);
        }
        Some((from, to))
    }

    /// True if PDUs of a stream travel with others on a segment.
    fn is_collected(&self, stream: &Stream, on: usize) -> bool {
        let mut all = (0..self.nodes.len()).flat_map(|gateway| self.collects_of(gateway));
        all.any(|(collect, streams)| collect.on == on && streams.iter().any(|one| one.index == stream.index))
    }

    /// The entries of a gateway, and what is collected in them of the streams that are there.
    fn collects_of(&self, gateway: usize) -> impl Iterator<Item = (&Collect, Vec<&Stream>)> {
        let own = self.collects.iter().filter(move |collect| collect.gateway == gateway);
        let all = own.map(|collect| {
            let is_in = |stream: &&Stream| collect.streams.contains(&stream.index);
            (collect, self.streams.iter().filter(is_in).collect::<Vec<_>>())
        });
        all.filter(|(_, streams)| streams.len() > 1)
    }

    /// True if gateways put several PDUs into one frame.
    pub fn collects(&self) -> bool {
        (0..self.nodes.len()).any(|gateway| self.collects_of(gateway).next().is_some())
    }

    /// The scenario.
    pub fn text(&self) -> String {
        let mut text = format!(
            "schema_version = 2\nname = \"any\"\nduration = \"400ms\"\nfidelity = \"{}\"\nseed = {}\n{}\
             [[protections]]\nname = \"long\"\nhmac = {{ hash = \"sha-256\", tag = \"16B\", freshness = \"full\" }}\n\
             [[protections]]\nname = \"short\"\nsecoc = {{ profile = 1 }}\n",
            if self.is_timing { "timing" } else { "bytes" },
            self.number,
            self.head,
        );
        for (name, table) in PROTECTIONS.iter().chain([&BY_CYCLE]) {
            if self.streams.iter().any(|stream| stream.table.contains(&format!("\"{name}\""))) {
                text += &format!("[[protections]]\nname = \"{name}\"\n{table}\n");
            }
        }
        text += &self.head_tables;
        for (index, segment) in self.segments.iter().enumerate() {
            let kind = if segment.kind == Kind::Ethernet { "ethernet" } else { "can" };
            text += &format!("[segments.s{index}.{kind}]\n{}", segment.table);
        }
        text += &self.keys;
        for (index, Node { mac_ns: (base, byte), .. }) in self.nodes.iter().enumerate() {
            text += &format!("[[platforms]]\nname = \"p{index}\"\ncosts = [\n");
            for operation in ["hmac-sha-256", "cmac-aes-128", "hmac-sha-1", "hmac-sha3-256", "hmac-sha-512"] {
                text +=
                    &format!("  {{ operation = \"{operation}\", base = \"{base}ns\", per_byte = \"{byte}ns\" }},\n");
            }
            // What an exchange of keys and signed messages take is not what is asked about.
            let is_free = !self.keys.is_empty() || self.head_tables.contains("radio");
            for operation in EXCHANGE.iter().filter(|_| is_free) {
                text += &format!("  {{ operation = \"{operation}\", base = \"0s\" }},\n");
            }
            text += "]\n";
        }
        for (index, node) in self.nodes.iter().enumerate() {
            let on: Vec<String> = node.on.iter().map(|segment| format!("\"s{segment}\"")).collect();
            text += &format!("[[nodes]]\nname = \"n{index}\"\non = [{}]\nplatform = \"p{index}\"\n", on.join(", "));
            text += &node.table;
            if let Some(gateway) = &node.gateway {
                let entry = |(collect, streams): (&Collect, Vec<&Stream>)| {
                    let names: Vec<String> = streams.iter().map(|stream| format!("\"m{}\"", stream.index)).collect();
                    format!("{{ streams = [{}], on = \"s{}\", {} }}", names.join(", "), collect.on, collect.keys)
                };
                let entries: Vec<String> = self.collects_of(index).map(entry).collect();
                text += &format!("gateway = {{ {gateway}, collect = [{}] }}\n", entries.join(", "));
            }
        }
        for stream in &self.streams {
            text += &stream.table;
            for (_, table) in stream.tables.iter().filter(|(on, _)| !self.is_collected(stream, **on)) {
                text += table;
            }
        }
        for threat in &self.threats {
            text += threat;
        }
        text
    }
}
