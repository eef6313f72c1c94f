//! The parts of a network, each drawn alone.

use std::collections::BTreeMap;

use super::chance::Chance;
use super::{Collect, Family, Kind, Network, Node, Segment, Stream, Style, sharing};

/// Periods `[us]`: what collides often, and what hardly ever keeps its phase.
const PERIODS_US: [i64; 8] = [2_000, 2_500, 4_000, 5_000, 7_919, 10_000, 12_345, 20_000];
/// Of messages that take many frames `[us]`.
const LONG_PERIODS_US: [i64; 4] = [50_000, 77_777, 100_000, 150_000];
const CYCLE_US: i64 = 10_000;

/// Attacks that must do nothing: from a port of their own, where the switch lets no frame of the stream in.
pub(super) fn threats(chance: &mut Chance, network: &Network) -> Vec<String> {
    let mut threats = Vec::new();
    for stream in network.streams.iter().filter(|stream| stream.is_slotted) {
        if !chance.percent(40) {
            continue;
        }
        let kind = chance.one(&["spoof", "spoof", "replay"]);
        let (start, count) = (chance.range(0, 100), chance.range(1, 20));
        // Beside all else, so that nothing else depends on them.
        let mut beside = Chance::new(network.seed, 1_000 + stream.index as u64);
        let mut more =
            if beside.percent(30) { format!("every = \"{}us\"\n", beside.range(1_000, 20_000)) } else { String::new() };
        if beside.percent(60) {
            more += &format!("s{} = {{ at_slot_offset = \"{}us\" }}\n", stream.from, beside.range(-400, 400));
        }
        threats.push(format!(
            "[[threats]]\nname = \"t{0}\"\nkind = \"{kind}\"\nstream = \"m{0}\"\nat = {{ segment = \"s{1}\" }}\nstart = \"{start}ms\"\n\
             count = {count}\n{more}",
            stream.index, stream.from
        ));
    }
    threats
}

pub(super) fn segment(chance: &mut Chance, style: Style) -> Segment {
    if chance.percent(style.family.buses()) {
        let fd = chance.percent(if style.family == Family::Gateways { 95 } else { 40 });
        let mut table = format!("bit_rate = \"{}\"\n", chance.one(&["250kbit/s", "500kbit/s", "1Mbit/s"]));
        if style.family == Family::Bus {
            table = "bit_rate = \"1Mbit/s\"\n".into();
        }
        if fd {
            table += "data_bit_rate = \"2Mbit/s\"\n";
        }
        if chance.percent(25) {
            table += "mailboxes = \"fifo\"\n";
        }
        return Segment { table, kind: Kind::Can { fd }, has_ideal_clocks: false };
    }
    let Style { everything, is_wild, .. } = style;
    let mut table = format!("cluster_cycle = \"{CYCLE_US}us\"\n");
    let mut key = |name: &str, value: String| table += &format!("{name} = \"{value}\"\n");
    key("rate", chance.one(&["100Mbit/s", "100Mbit/s", "100Mbit/s", "1Gbit/s", "1Gbit/s", "10Mbit/s"]).into());
    let sync = chance.one(&["beacon", "beacon", "ideal"]);
    key("sync", sync.into());
    key("access", chance.one(&["shared-slots", "per-link"]).into());
    key("dispatch", chance.one(&["scheduled", "scheduled", "immediate"]).into());
    key("accounting", chance.one(&["on-wire", "as-published"]).into());
    let guard = match style {
        Style { is_wild: true, .. } => chance.range(0, 150),
        Style { family: Family::Timers | Family::Slots, .. } => chance.range(500, 1_000),
        Style { everything: true, .. } => chance.range(300, 900),
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
    table += "virtual_links = { standard = false }\n";
    Segment { table, kind: Kind::Ethernet, has_ideal_clocks: sync == "ideal" }
}

/// Switches in a tree, each node at one of them, for an Ethernet: the lines that say so, and the way its streams must then be
/// passed on, if there are several.
pub(super) fn wiring(chance: &mut Chance, segment: usize, nodes: &[Node], table: &mut String) {
    let own = nodes.iter().enumerate().filter(|(_, node)| node.on.contains(&segment)).map(|(index, _)| index);
    // Three can stand in a ring.
    let switches = chance.one(&[2, 3, 3, 3, 4]);
    let name = |switch: i64| format!("\"s{segment}w{switch}\"");
    let mut links = String::new();
    let mut link = |chance: &mut Chance, one: String, other: String| {
        let own = chance.one(&[
            "",
            "",
            "",
            ", rate = \"100Mbit/s\"",
            ", rate = \"1Gbit/s\"",
            ", propagation_delay = \"300ns\"",
        ]);
        links += &format!("  {{ between = [{one}, {other}]{own} }},\n");
    };
    for switch in 1..switches {
        let before = chance.range(0, switch - 1);
        link(chance, name(before), name(switch));
    }
    for node in own {
        let switch = chance.range(0, switches - 1);
        link(chance, format!("\"n{node}\""), name(switch));
    }
    let names: Vec<String> = (0..switches).map(name).collect();
    // Slots over several switches are by table alone.
    *table = table.replace("dispatch = \"immediate\"", "dispatch = \"scheduled\"");
    *table += &format!("switches = [{}]\nlinks = [\n{links}]\n", names.join(", "));
}

/// A random time of up to so many microseconds.
fn jitter(chance: &mut Chance, max_us: i64) -> String {
    let max = chance.range(1, max_us);
    let min = chance.range(0, max);
    // Most draws beyond the cut: the greatest is common.
    format!("{{ min = \"{min}us\", mean = \"{}us\", max = \"{max}us\" }}", (min + max + 1) / 2)
}

/// The host interface of a node, if it has one: of any speed from one that nobody notices to one that a long frame keeps busy for
/// as long as a slow link.
pub(super) fn host_interface(chance: &mut Chance, on: &[usize], segments: &[Segment], style: Style) -> String {
    if !on.iter().any(|segment| segments[*segment].kind == Kind::Ethernet) || !chance.percent(30) {
        return String::new();
    }
    let (base, per_byte) = (chance.range(0, 40), chance.one(&[0, 8, 80, 270]));
    let buffer =
        if style.is_wild { chance.one(&["1514B", "4kB", "16kB"]) } else { chance.one(&["16kB", "80kB", "80kB"]) };
    format!("host_interface = {{ base = \"{base}us\", per_byte = \"{per_byte}ns\", buffer = \"{buffer}\" }}\n")
}

/// Gives a stream in slots an application with a timer of its own, if it has one: mostly so slow that no data are replaced. What
/// waits for a slot can be as late as two of them are apart, which is what a deadline has to leave.
pub(super) fn application(chance: &mut Chance, stream: &mut Stream, style: Style) {
    if !chance.percent(if style.family == Family::Timers { 60 } else { 15 }) {
        return;
    }
    let periods: &[i64] = if style.is_wild { &[2_000, 5_000, 12_345] } else { &[12_345, 20_001, 30_000] };
    let (period, drift) = (chance.one(periods), chance.one(&[0, 500, -500, 1_000]));
    let phase = chance.range(0, period - 1);
    let deadline = stream.period * chance.range(if style.is_wild { 10 } else { 15 }, 40) / 10;
    let mut lines: Vec<&str> = stream.table.lines().collect();
    lines.retain(|line| !line.starts_with("deadline = "));
    let own = format!("application = {{ period = \"{period}us\", phase = \"{phase}us\", drift = \"{drift}ppm\" }}");
    stream.table = format!("{}\n{own}\ndeadline = \"{deadline}us\"\n", lines.join("\n"));
}

pub(super) fn node(chance: &mut Chance, on: Vec<usize>, segments: &[Segment], own: &Segment, style: Style) -> Node {
    let is_gateway = on.len() > 1;
    let drift = chance.one(&[0, 100, -100, 1000, -1000]);
    // A clock that is corrected once a cycle keeps its precision only if it does not drift far in one.
    let is_synchronised = on.iter().any(|segment| segments[*segment].kind == Kind::Ethernet);
    let drift = if is_synchronised { drift.clamp(-100, 100) } else { drift };
    let offset = chance.range(-2000, 2000);
    let Style { everything, is_wild, .. } = style;
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

pub(super) fn any_stream(
    [chance, cut]: [&mut Chance; 2],
    index: i64,
    together: bool,
    segments: &[Segment],
    nodes: &[Node],
    style: Style,
) -> Stream {
    let Style { everything, is_wild, .. } = style;
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
        false if matches!(style.family, Family::Timers | Family::Slots | Family::Cluster) => {
            chance.one(&[2_500, 5_000, 10_000, 10_000, 12_345])
        }
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
    let slots = match style.family {
        Family::Timers => 85,
        Family::Slots | Family::Cluster => 70,
        _ => 46,
    };
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
            Kind::Ethernet if CYCLE_US % period == 0 && chance.percent(slots) => {
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
    // A bus gives each stream its period, which is little for a way over several segments.
    if everything && !is_wild && over_can && crossed.len() > 1 && chance.percent(90) {
        table += &format!("deadline = \"{}us\"\n", period * chance.range(20, 60) / 10);
    } else if everything && chance.percent(if over_can && !is_wild { 40 } else { 20 }) {
        let (least, most) = if is_wild { (10, 100) } else { (90, 220) };
        table += &format!("deadline = \"{}us\"\n", period * chance.range(least, most) / 100);
    }
    if !(begins_in_slots && is_slotted) {
        let offset = if together { 0 } else { chance.range(0, period - 1) };
        table += &format!("offset = \"{offset}us\"\n");
    }
    let ends = (from, to);
    let from = nodes[ends.0].on[0];
    let to = ends.1.iter().map(|node| nodes[*node].on[0]).collect();
    Stream { table, tables, index, period, is_slotted, from, to, ends, pdu_len, alone }
}

/// Makes a stream a virtual link on some of the segments where it is best effort.
pub(super) fn regulate(chance: &mut Chance, stream: &mut Stream) {
    for (on, table) in stream.tables.iter_mut().filter(|(_, table)| table.contains("best_effort")) {
        let is_regulated = chance.percent(35);
        // What comes from elsewhere comes by another clock.
        let most = if *on == stream.from { 100 } else { 95 };
        let bag = stream.period * chance.one(&[100, 95, 90, 50, 25]).min(most) / 100;
        let priority = chance.one(&["high", "low", "low"]);
        let jitter = chance.one(&[200, 500, 2_000, 10_000]);
        if is_regulated {
            *table = format!(
                "s{on} = {{ class = {{ rate_constrained = {{ bag = \"{bag}us\", priority = \"{priority}\", jitter = \"{jitter}us\" \
                 }} }} }}\n"
            );
        }
    }
}

/// What a protection adds `[byte]`.
fn overhead(protection: &str) -> i64 {
    if protection == "long" { 16 + 8 } else { 4 }
}

/// Frames in which a gateway puts PDUs of streams that it sends on a segment, if it does and there are some that can be in one.
pub(super) fn collect(chance: &mut Chance, network: &Network, gateway: usize, on: usize) -> Option<Collect> {
    if network.segments[on].kind == (Kind::Can { fd: false }) || !chance.percent(80) {
        return None;
    }
    let mut streams: Vec<&Stream> = network.leaving(gateway, on).collect();
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

/// Makes virtual links of the frames in which gateways collect, or sends copies of them where streams have some.
pub(super) fn collect_with_numbers(chance: &mut Chance, network: &mut Network) {
    for index in 0..network.collects.len() {
        let Collect { on, keys, streams, .. } = &network.collects[index];
        let on = *on;
        let Some(at) = keys.find("class = { best_effort") else { continue };
        let table = &network.segments[on].table;
        let has_ports = ["bridge_ports", "station_ports", ", ports = { "].iter().any(|key| table.contains(key));
        let periods = network.streams.iter().filter(|stream| streams.contains(&stream.index)).map(|one| one.period);
        // Frames come no more often than their PDUs; some gaps are left to be found.
        let rate: f64 = periods.map(|period| 1.0 / period.max(1) as f64).sum();
        let bag = (chance.range(20, 95) as f64 / 100.0 / rate) as i64;
        let (gap, priority) = (chance.percent(70), chance.one(&["high", "low"]));
        let jitter = chance.one(&["10ms", "10ms", "2ms"]);
        let ways = replicated(network, on, &network.collects[index]);
        if let Some(ways) = ways.filter(|_| chance.percent(75)) {
            let class = format!("class = {{ vlan = {{ pcp = {} }} }}, {ways} }}", chance.range(0, 7));
            network.collects[index].keys.replace_range(at.., &class);
        } else if !has_ports && chance.percent(65) && bag > 0 {
            let gap = if gap { format!("bag = \"{bag}us\", ") } else { String::new() };
            let class = format!(
                "class = {{ rate_constrained = {{ {gap}priority = \"{priority}\", jitter = \"{jitter}\" }} }} }}"
            );
            let shared = sharing::lead(chance, network, index, &class);
            network.collects[index].keys.replace_range(at.., &shared.unwrap_or(class));
        }
    }
}

/// How the copies of what a gateway collects go, as a stream says that it sends between the same nodes.
fn replicated(network: &Network, on: usize, collect: &Collect) -> Option<String> {
    let in_it = network.streams.iter().filter(|stream| collect.streams.contains(&stream.index));
    let table = in_it.filter_map(|stream| stream.tables.get(&on)).find(|table| table.contains("replication = "))?;
    let (_, keys) = table.split_once("replication = ")?;
    Some(format!("replication = {}", keys.trim_end().strip_suffix('}')?.trim_end()))
}
