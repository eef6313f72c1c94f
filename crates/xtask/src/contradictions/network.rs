//! Networks drawn from a seed, with all that makes frames late or loses them.
//!
//! Two things draw from here: the test of `chronoseal-sim` that holds simulated latencies against their bounds, and the
//! contradiction hunter, which asks a binary. This file needs neither of them, and nothing but the standard library.

use std::collections::BTreeMap;

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

/// Numbers from a seed: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
struct Chance(u64);

impl Chance {
    /// What is drawn for one purpose does not depend on how much is drawn for others.
    fn new(seed: u64, purpose: u64) -> Self {
        let mut chance = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ purpose.rotate_left(48));
        chance.next();
        chance
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn range(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1).unsigned_abs()) as i64
    }

    /// True so often `[%]`.
    fn percent(&mut self, percent: i64) -> bool {
        self.range(1, 100) <= percent
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.range(0, of.len() as i64 - 1) as usize]
    }
}

/// Periods `[us]`: what collides often, and what hardly ever keeps its phase.
const PERIODS_US: [i64; 8] = [2_000, 2_500, 4_000, 5_000, 7_919, 10_000, 12_345, 20_000];
/// Of messages that take many frames `[us]`.
const LONG_PERIODS_US: [i64; 4] = [50_000, 77_777, 100_000, 150_000];
const CYCLE_US: i64 = 10_000;

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
        // How much there is to do, and whether all begin at once.
        let most = if everything && !style.is_wild { 9 } else { 14 };
        let (count, together) = (chance.range(1, most), chance.percent(50));
        // What is sent in several frames is drawn beside the rest, so that nothing else depends on it.
        let mut cut = Chance::new(seed, 1);
        let streams = (0..count)
            .map(|index| any_stream([&mut chance, &mut cut], index, together, &segments, &nodes, style))
            .collect();
        let mut network = Self { seed, segments, nodes, streams, collects: Vec::new(), threats: Vec::new() };
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
        }
        network
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

/// Attacks that must do nothing: from a port of their own, where the switch lets no frame of the stream in.
fn threats(chance: &mut Chance, network: &Network) -> Vec<String> {
    let mut threats = Vec::new();
    for stream in network.streams.iter().filter(|stream| stream.is_slotted) {
        if !chance.percent(40) {
            continue;
        }
        let kind = chance.one(&["spoof", "spoof", "replay"]);
        let (start, count) = (chance.range(0, 100), chance.range(1, 20));
        threats.push(format!(
            "[[threats]]\nname = \"t{0}\"\nkind = \"{kind}\"\nstream = \"m{0}\"\nat = {{ segment = \"s{1}\" }}\nstart = \"{start}ms\"\n\
             count = {count}\n",
            stream.index, stream.from
        ));
    }
    threats
}

fn segment(chance: &mut Chance, style: Style) -> Segment {
    if chance.percent(50) {
        let fd = chance.percent(40);
        let mut table = format!("bit_rate = \"{}\"\n", chance.one(&["250kbit/s", "500kbit/s", "1Mbit/s"]));
        if fd {
            table += "data_bit_rate = \"2Mbit/s\"\n";
        }
        if chance.percent(25) {
            table += "mailboxes = \"fifo\"\n";
        }
        return Segment { table, kind: Kind::Can { fd }, has_ideal_clocks: false };
    }
    let Style { everything, is_wild } = style;
    let mut table = format!("cluster_cycle = \"{CYCLE_US}us\"\n");
    let mut key = |name: &str, value: String| table += &format!("{name} = \"{value}\"\n");
    key("rate", chance.one(&["100Mbit/s", "100Mbit/s", "100Mbit/s", "1Gbit/s", "1Gbit/s", "10Mbit/s"]).into());
    let sync = chance.one(&["beacon", "beacon", "ideal"]);
    key("sync", sync.into());
    key("access", chance.one(&["shared-slots", "per-link"]).into());
    key("dispatch", chance.one(&["scheduled", "immediate"]).into());
    key("accounting", chance.one(&["on-wire", "as-published"]).into());
    let guard = match style {
        Style { is_wild: true, .. } => chance.range(0, 150),
        Style { everything: true, .. } => chance.range(150, 600),
        _ => chance.range(20, 200),
    };
    key("guard_period", format!("{guard}us"));
    key("forwarding_delay", format!("{}us", chance.range(0, 20)));
    key("propagation_delay", format!("{}ns", chance.range(0, 500)));
    if everything {
        let precisions = if is_wild { [200, 500, 1_000, 2_000, 5_000] } else { [1_500, 2_000, 3_000, 5_000, 10_000] };
        key("precision", format!("{}ns", chance.one(&precisions)));
        key("integration_cycle", chance.one(&["10ms", "10ms", "5ms", "2500us"]).into());
        if chance.percent(25) {
            let queues = if is_wild { ["2kB", "4kB", "8kB"] } else { ["16kB", "64kB", "200kB"] };
            key("queue_len_max", chance.one(&queues).into());
        }
    } else {
        key("precision", format!("{}us", chance.range(2, 10)));
    }
    if chance.percent(30) {
        table += &format!("forwarding_jitter = {}\n", jitter(chance, 30));
    }
    Segment { table, kind: Kind::Ethernet, has_ideal_clocks: sync == "ideal" }
}

/// A random time of up to so many microseconds.
fn jitter(chance: &mut Chance, max_us: i64) -> String {
    let max = chance.range(1, max_us);
    let min = chance.range(0, max);
    // Most draws beyond the cut: the greatest is common.
    format!("{{ min = \"{min}us\", mean = \"{}us\", max = \"{max}us\" }}", (min + max + 1) / 2)
}

fn node(chance: &mut Chance, on: Vec<usize>, segments: &[Segment], own: &Segment, style: Style) -> Node {
    let is_gateway = on.len() > 1;
    let drift = chance.one(&[0, 100, -100, 1000, -1000]);
    // A clock that is corrected once a cycle keeps its precision only if it does not drift far in one.
    let is_synchronised = on.iter().any(|segment| segments[*segment].kind == Kind::Ethernet);
    let drift = if is_synchronised { drift.clamp(-100, 100) } else { drift };
    let offset = chance.range(-2000, 2000);
    let Style { everything, is_wild } = style;
    let mut table = match everything && chance.percent(40) {
        true => "clock = { seeded = { offset_max = \"2ms\", drift_max = \"50ppm\" } }\n".to_owned(),
        false => format!("clock = {{ fixed = {{ offset = \"{offset}us\", drift = \"{drift}ppm\" }} }}\n"),
    };
    if on.iter().any(|segment| segments[*segment].has_ideal_clocks) && !is_wild {
        table = "clock = \"ideal\"\n".to_owned();
    }
    let queue = if is_wild { chance.one(&[1, 2, 4, 100]) } else { 1_000 };
    let gateway = is_gateway.then(|| format!("delay = \"{}us\", queue = \"{queue} frames\"", chance.range(0, 80)));
    if chance.percent(40) {
        let small = if is_wild { chance.one(&[15, 60, 150]) } else { 15 };
        table += &format!("driver = {}\n", jitter(chance, if own.kind == Kind::Ethernet { small } else { 400 }));
    }
    if own.kind == Kind::Ethernet && !is_gateway && chance.percent(30) {
        let wcet = chance.range(10, if is_wild { 1_500 } else { 400 });
        table += &format!("tasks = [{{ name = \"t\", period = \"{}us\", wcet = \"{wcet}us\" }}]\n", CYCLE_US / 2);
    }
    let mac_most = if everything && !is_wild { 25_000 } else { 60_000 };
    let mac_ns = if chance.percent(70) { (chance.range(500, mac_most), chance.range(0, 100)) } else { (0, 0) };
    Node { on, is_gateway, gateway, table, mac_ns }
}

/// How a stream is cut into frames on one bus.
fn segmented(cut: &mut Chance, index: i64) -> String {
    let flow_control = 0x100 * cut.range(1, 6) + 0x40 + index;
    let block_size = cut.one(&[0, 0, 1, 2, 5, 20]);
    let st_min = cut.one(&["0us", "0us", "100us", "500us", "1ms", "2ms"]);
    format!(
        ", segmented = {{ flow_control = \"0x{flow_control:X}\", block_size = {block_size}, st_min = \"{st_min}\" }}"
    )
}

fn any_stream(
    [chance, cut]: [&mut Chance; 2],
    index: i64,
    together: bool,
    segments: &[Segment],
    nodes: &[Node],
    style: Style,
) -> Stream {
    let Style { everything, is_wild } = style;
    let station = |chance: &mut Chance| loop {
        let node = chance.range(0, nodes.len() as i64 - 1) as usize;
        if !nodes[node].is_gateway {
            return node;
        }
    };
    let from = station(chance);
    let mut to = Vec::new();
    for _ in 0..chance.one(&[1, 1, 2]) {
        let node = station(chance);
        if node != from && !to.contains(&node) {
            to.push(node);
        }
    }
    if to.is_empty() {
        let other = |node: &usize| *node != from && !nodes[*node].is_gateway;
        to.push((0..nodes.len()).find(other).expect("a segment has two stations"));
    }
    let ends = to.iter().chain([&from]).map(|node| nodes[*node].on[0]);
    let (first, last) = ends.fold((usize::MAX, 0), |(first, last), on| (first.min(on), last.max(on)));
    let crossed = &segments[first..=last];
    let over_can = crossed.iter().any(|segment| segment.kind != Kind::Ethernet);
    let only_fd = crossed.iter().all(|segment| segment.kind != Kind::Can { fd: false });
    let begins_in_slots = segments[nodes[from].on[0]].kind == Kind::Ethernet;
    let length = match (over_can, only_fd) {
        (false, _) => chance.range(46, 1400),
        (true, true) => chance.range(4, 32),
        (true, false) => 4,
    };
    let period = match is_wild && !over_can && chance.percent(15) {
        true => chance.one(&[125, 300, 700, 1_300]),
        false => chance.one(&PERIODS_US),
    };
    // One receiver, so that there is one on each bus of the way.
    let is_cut = over_can && to.len() == 1 && cut.percent(12);
    let (length, period) = match is_cut {
        true => (if cut.percent(30) { cut.range(5, 150) } else { cut.range(5, 70) }, cut.one(&LONG_PERIODS_US)),
        false => (length, period),
    };
    let names: Vec<String> = to.iter().map(|node| format!("\"n{node}\"")).collect();
    let mut table = format!("[[streams]]\nname = \"m{index}\"\nfrom = \"n{from}\"\nto = [{}]\n", names.join(", "));
    table += &format!("length = \"{length}B\"\n");
    let protections: &[&'static str] = if only_fd || is_cut { &["short", "long"] } else { &["short"] };
    let (mut pdu_len, mut alone) = (length, BTreeMap::new());
    match chance.range(0, 3) {
        0 => {}
        1 | 2 => {
            let protection = chance.one(protections);
            pdu_len += overhead(protection);
            table += &format!("protection = \"{protection}\"\n");
        }
        _ => {
            let on: Vec<usize> = (first..=last).filter(|_| chance.percent(70)).collect();
            alone = on.iter().map(|on| (*on, chance.one(protections))).collect();
            let each: Vec<String> = alone.iter().map(|(on, name)| format!("s{on} = \"{name}\"")).collect();
            if !each.is_empty() {
                table += &format!("protection = {{ {} }}\n", each.join(", "));
            }
        }
    }
    let (mut is_slotted, mut tables) = (false, BTreeMap::new());
    for (offset, segment) in crossed.iter().enumerate() {
        let on = first + offset;
        match segment.kind {
            Kind::Can { fd } => {
                let format = if fd && only_fd { "fd-brs" } else { "classical" };
                // Some are urgent, wherever they come from.
                let id = 0x100 * chance.range(1, 6) + index;
                let segmented = if is_cut { segmented(cut, index) } else { String::new() };
                let table = format!("s{on} = {{ id = \"0x{id:X}\", format = \"{format}\"{segmented} }}\n");
                tables.insert(on, table);
            }
            Kind::Ethernet if CYCLE_US % period == 0 && chance.percent(40) => {
                is_slotted |= on == nodes[from].on[0];
                tables.insert(on, format!("s{on} = {{ class = \"time-triggered\" }}\n"));
            }
            Kind::Ethernet => {
                let priority = chance.range(0, 7);
                let class = format!("s{on} = {{ class = {{ best_effort = {{ priority = {priority} }} }} }}\n");
                tables.insert(on, class);
            }
        }
    }
    table += &format!("period = \"{period}us\"\n");
    if everything && chance.percent(20) {
        let least = if is_wild { 10 } else { 60 };
        table += &format!("deadline = \"{}us\"\n", period * chance.range(least, 100) / 100);
    }
    if !(begins_in_slots && is_slotted) {
        let offset = if together { 0 } else { chance.range(0, period - 1) };
        table += &format!("offset = \"{offset}us\"\n");
    }
    let from = nodes[from].on[0];
    let to = to.iter().map(|node| nodes[*node].on[0]).collect();
    Stream { table, tables, index, is_slotted, from, to, pdu_len, alone }
}

/// What a protection adds `[byte]`.
fn overhead(protection: &str) -> i64 {
    if protection == "long" { 16 + 8 } else { 4 }
}

/// Frames in which a gateway puts PDUs of streams that it sends on a segment, if it does and there are some that can be in one.
fn collect(chance: &mut Chance, network: &Network, gateway: usize, on: usize) -> Option<Collect> {
    if network.segments[on].kind == (Kind::Can { fd: false }) || !chance.percent(80) {
        return None;
    }
    let other = network.nodes[gateway].on.iter().copied().find(|segment| *segment != on)?;
    let leaves = |stream: &Stream| {
        let (comes_from, goes_to) = match other < on {
            true => (stream.from <= other, stream.to.iter().any(|to| *to >= on)),
            false => (stream.from >= other, stream.to.iter().any(|to| *to <= on)),
        };
        comes_from && goes_to
    };
    let mut streams: Vec<&Stream> = network.streams.iter().filter(|stream| leaves(stream)).collect();
    // Of those with one protection there.
    let protection = streams.get(chance.range(0, streams.len().max(1) as i64 - 1) as usize)?.alone.get(&on).copied();
    streams.retain(|stream| stream.alone.get(&on).copied() == protection);
    let header = if chance.percent(30) || streams.iter().any(|stream| stream.pdu_len > 255) { 8 } else { 4 };
    let room = if network.segments[on].kind == Kind::Ethernet { 1492 } else { 64 } - protection.map_or(0, overhead);
    streams.retain(|stream| 2 * (header + stream.pdu_len) <= room);
    while streams.len() > 2 && chance.percent(30) {
        streams.remove(chance.range(0, streams.len() as i64 - 1) as usize);
    }
    if streams.len() < 2 {
        return None;
    }
    let longest = streams.iter().map(|stream| header + stream.pdu_len).max()?;
    let within = chance.one(&[20, 100, 500, 1_000, 2_000, 5_000, 11_000]);
    let mut keys = format!("within = \"{within}us\", header = \"{}\"", if header == 8 { "long" } else { "short" });
    if chance.percent(30) {
        keys += &format!(", length = \"{}B\"", chance.range(2 * longest, room));
    }
    keys += &match network.segments[on].kind {
        Kind::Can { .. } => {
            // Not among those of streams, nor of their flow control.
            let id = 0x100 * chance.range(1, 6) + 0x80 + gateway as i64;
            format!(", s{on} = {{ id = \"0x{id:X}\", format = \"fd-brs\" }}")
        }
        Kind::Ethernet => {
            format!(", s{on} = {{ class = {{ best_effort = {{ priority = {} }} }} }}", chance.range(0, 7))
        }
    };
    Some(Collect { gateway, on, streams: streams.iter().map(|stream| stream.index).collect(), keys })
}
