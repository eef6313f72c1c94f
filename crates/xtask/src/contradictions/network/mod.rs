//! Networks drawn from a seed, with all that makes frames late or loses them.
//!
//! Two things draw from here: the test of `chronoseal-sim` that holds simulated latencies against their bounds, and the
//! contradiction hunter, which asks a binary. This file needs neither of them, and nothing but the standard library.

mod chance;
mod draw;

use std::collections::BTreeMap;

use self::chance::Chance;
use self::draw::{any_stream, application, collect, host_interface, node, regulate, segment, threats, wiring};

/// A network, before it is written down as a scenario.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    seed: u64,
    pub(crate) segments: Vec<Segment>,
    /// One platform a node: what a MAC takes on it, for any length and for each byte `[ns]`.
    nodes: Vec<Node>,
    pub(crate) streams: Vec<Stream>,
    collects: Vec<Collect>,
    threats: Vec<String>,
}

/// What is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(dead_code, reason = "each of the two that draw from here asks for one of them")]
pub(crate) enum Scope {
    /// Networks in which no frame is lost as a rule, so that all latencies can be compared.
    Lossless,
    /// Anything the language has, mostly with room enough that it can hold.
    Everything,
}

/// How a network is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Style {
    everything: bool,
    /// Too little of anything, more often than not.
    is_wild: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Segment {
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

#[derive(Clone, Debug)]
pub(crate) struct Stream {
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

impl Network {
    /// The network of a seed.
    pub(crate) fn of(seed: u64, scope: Scope) -> Self {
        let mut chance = Chance::new(seed, 0);
        let everything = scope == Scope::Everything;
        let style = Style { everything, is_wild: everything && chance.percent(25) };
        // Most defects need one segment alone, and that is what an older version of the format has.
        let several = !everything || chance.percent(50);
        let count = if several { chance.range(1, 3) } else { 1 };
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
        let (count, together) = (chance.range(1, most), chance.percent(50));
        // What is sent in several frames is drawn beside the rest, so that nothing else depends on it.
        let mut cut = Chance::new(seed, 1);
        let streams: Vec<Stream> = (0..count)
            .map(|index| any_stream([&mut chance, &mut cut], index, together, &segments, &nodes, style))
            .collect();
        let mut network = Self { seed, segments, nodes, streams, collects: Vec::new(), threats: Vec::new() };
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
        let mut applications = Chance::new(seed, 6);
        for stream in network.streams.iter_mut().filter(|stream| stream.is_slotted) {
            stream.table += &application(&mut applications, style);
        }
        if everything {
            let mut chance = Chance::new(seed, 3);
            network.threats = threats(&mut chance, &network);
            // Several switches are drawn beside the rest as well.
            let mut chance = Chance::new(seed, 5);
            let Self { segments, nodes, .. } = &mut network;
            for (index, segment) in segments.iter_mut().enumerate() {
                if segment.kind == Kind::Ethernet && chance.percent(30) {
                    wiring(&mut chance, index, nodes, &mut segment.table);
                }
            }
        }
        network
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
    #[allow(dead_code, reason = "only one of the two that draw from here counts them")]
    pub(crate) fn collects(&self) -> bool {
        (0..self.nodes.len()).any(|gateway| self.collects_of(gateway).next().is_some())
    }

    /// The scenario.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "schema_version = 2\nname = \"any\"\nduration = \"400ms\"\nfidelity = \"bytes\"\nseed = {}\n\
             [[protections]]\nname = \"long\"\nhmac = {{ hash = \"sha-256\", tag = \"16B\", freshness = \"full\" }}\n\
             [[protections]]\nname = \"short\"\nsecoc = {{ profile = 1 }}\n",
            self.seed
        );
        for (index, segment) in self.segments.iter().enumerate() {
            let kind = if segment.kind == Kind::Ethernet { "ethernet" } else { "can" };
            text += &format!("[segments.s{index}.{kind}]\n{}", segment.table);
        }
        for (index, Node { mac_ns: (base, byte), .. }) in self.nodes.iter().enumerate() {
            text += &format!("[[platforms]]\nname = \"p{index}\"\ncosts = [\n");
            for operation in ["hmac-sha-256", "cmac-aes-128"] {
                text +=
                    &format!("  {{ operation = \"{operation}\", base = \"{base}ns\", per_byte = \"{byte}ns\" }},\n");
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
            let is_collected = |on: usize| {
                let mut all = (0..self.nodes.len()).flat_map(|gateway| self.collects_of(gateway));
                all.any(|(collect, streams)| collect.on == on && streams.iter().any(|one| one.index == stream.index))
            };
            for (_, table) in stream.tables.iter().filter(|(on, _)| !is_collected(**on)) {
                text += table;
            }
        }
        for threat in &self.threats {
            text += threat;
        }
        text
    }
}
