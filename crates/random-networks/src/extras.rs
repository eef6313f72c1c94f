//! The rest of the language: keys that few scenarios need, each written here and there. Each has chance of its own, so that a new one
//! moves no other.

use super::chance::Chance;
use super::policing::{filters, threats};
use super::sharing::share;
use super::{Family, Kind, Network, Stream, Style};

/// How streams are protected that others of the same length protect as `short` does: name, table, and whether a bus can have it.
pub(super) const PROTECTIONS: &[(&str, &str)] = &[
    ("bare", "none = {}"),
    ("sized", "size_only = { overhead = \"4B\" }"),
    (
        "cmac",
        "mac = { algorithm = \"cmac-aes-128\", tag = \"3B\", freshness = { truncated = \"1B\" }, replay_window = 16 }",
    ),
    (
        "rising",
        "mac = { algorithm = \"cmac-aes-128\", tag = \"3B\", freshness = { rising = { counter = \"4B\", sent = \"1B\" } } }",
    ),
    ("wide", "mac = { algorithm = \"hmac-sha-512\", tag = \"3B\", freshness = { truncated = \"1B\" } }"),
    ("replayable", "hmac = { hash = \"sha3-256\", tag = \"4B\", freshness = \"none\" }"),
    ("second", "secoc = { profile = 2, key = \"pre-shared\" }"),
    ("third", "secoc = { profile = 3, key = \"pre-shared\" }"),
];
/// The same for a stream in slots alone.
pub(super) const BY_CYCLE: (&str, &str) = ("cycle", "hmac = { hash = \"sha-1\", tag = \"4B\" }");

/// All of it.
pub(super) fn extras(network: &mut Network, style: Style) {
    let seed = network.seed;
    let chance = |purpose: u64| Chance::new(seed, purpose);
    for (on, chance) in [chance(20), chance(21), chance(22)].iter_mut().enumerate().take(network.segments.len()) {
        match network.segments[on].kind {
            Kind::Can { fd } => bus(chance, on, fd, network),
            Kind::Ethernet => ethernet(chance, on, network, style),
        }
    }
    for (on, chance) in [chance(34), chance(35), chance(36)].iter_mut().enumerate().take(network.segments.len()) {
        integration(chance, on, network);
    }
    protections(&mut chance(23), network);
    let (mut alike, mut ages, mut each, mut ways) = (chance(24), chance(25), chance(26), chance(27));
    for index in 0..network.streams.len() {
        let one_segment = network.streams[index].tables.len() == 1;
        let stream = &mut network.streams[index];
        let is_can = stream.tables.values().any(|table| table.contains("id = "));
        if alike.percent(18) && !is_can && !stream.is_slotted {
            several_alike(&mut alike, stream);
        }
        if ages.percent(8) {
            aged(stream);
        }
        if each.percent(10) {
            for_each_receiver(stream);
        }
        if ways.percent(30) && !one_segment {
            written_way(network, index);
        }
    }
    gateways(&mut chance(29), network);
    recordings(&mut chance(30), network, style);
    let (mut filter, mut attack, mut class, mut sharing, mut keys) =
        (chance(31), chance(32), chance(33), chance(37), chance(40));
    for on in 0..network.segments.len() {
        let table = &network.segments[on].table;
        let has_copies = |stream: &Stream| stream.tables.get(&on).is_some_and(|own| own.contains("replication = "));
        let is_twice = table.contains("networks = ") || network.streams.iter().any(has_copies);
        // What both have has no bound.
        if network.segments[on].kind == Kind::Ethernet && !table.contains("\"immediate\"") && !is_twice {
            if filter.percent(40) {
                filters(&mut filter, on, network, style);
            }
            threats(&mut attack, on, network);
        }
        if network.segments[on].kind == Kind::Ethernet {
            share(&mut sharing, on, network, style);
        }
        if class.percent(20) {
            classes(on, network);
        }
        // Attackers on protected links have tests of their own.
        if network.segments[on].kind == Kind::Ethernet && network.threats.is_empty() && keys.percent(26) {
            macsec(&mut keys, on, network);
        }
    }
    let mut chance = chance(28);
    let is_ethernet = network.segments.iter().all(|segment| segment.kind == Kind::Ethernet);
    if is_ethernet && chance.percent(30) {
        network.head += "candidates = [\"short\", \"none\"]\n";
    }
    network.is_timing = is_ethernet && chance.percent(45) && network.threats.is_empty();
    let is_one = network.streams.first().is_some_and(|stream| !stream.table.contains("count = "));
    if chance.percent(10) && is_one {
        let frames = chance.range(1, 5);
        network.threats.push(format!("[[allowances]]\nstream = \"m0\"\nreason = \"late\"\nframes = {frames}\n"));
    }
}

/// What gateways pass on beside streams, and one that starts anew.
fn gateways(chance: &mut Chance, network: &mut Network) {
    for node in &mut network.nodes {
        let Some(keys) = &mut node.gateway else { continue };
        let is_between_buses = node.on.iter().all(|on| network.segments[*on].kind != Kind::Ethernet);
        if is_between_buses && chance.percent(80) {
            *keys += chance
                .one(&[", bridges = [\"all\"]", ", bridges = [{ frames = { id = \"0x700\", mask = \"0x7F0\" } }]"]);
        }
        if chance.percent(4) {
            *keys += &format!(", reboot = {{ at = \"{}ms\", takes = \"20ms\" }}", chance.range(50, 300));
        }
    }
}

/// Recorded traffic on a bus, recorded signals in streams, and streams that are sent when those change.
fn recordings(chance: &mut Chance, network: &mut Network, style: Style) {
    let often = if style.family == Family::Bus { 85 } else { 5 };
    let bus = (0..network.segments.len()).find(|on| network.segments[*on].kind != Kind::Ethernet);
    let player = |on: usize| network.nodes.iter().position(|node| node.on == [on]);
    if let Some((on, node)) = bus.and_then(|on| Some((on, player(on)?))).filter(|_| chance.percent(often)) {
        let start = chance.range(0, 30);
        network.threats.push(format!(
            "[[recordings]]\nname = \"car\"\nfrom = \"n{node}\"\nsegment = \"s{on}\"\nstart = \"{start}ms\"\n\
             traffic = {{ builtin = \"car-synthetic\" }}\n"
        ));
    }
    let (mut is_recorded, mut is_raw, mut raw) = (false, false, Chance::new(network.seed, 39));
    let has_room = |stream: &&mut Stream| {
        // Eight bytes of a sample, and as many before it.
        let written = stream.table.lines().find_map(|line| line.strip_prefix("length = \"")?.strip_suffix("B\""));
        written.and_then(|written| written.parse::<i64>().ok()).is_some_and(|len| len >= 16)
            && stream.tables.values().all(|own| !own.contains("\"time-triggered\""))
    };
    for stream in network.streams.iter_mut().filter(has_room) {
        if !chance.percent(20) {
            continue;
        }
        let name = if raw.percent(35) { "raw" } else { "heading" };
        (is_recorded, is_raw) = (is_recorded || name == "heading", is_raw || name == "raw");
        stream.table += &format!("payload = {{ recording = \"{name}\" }}\n");
        if chance.percent(60) {
            let lines =
                stream.table.lines().filter(|line| !line.starts_with("offset = ") && !line.starts_with("count = "));
            let lines: Vec<&str> = lines.collect();
            let period = format!("period = \"{}us\"", stream.period);
            let distance = format!("on_change = {{ min_distance = \"{}us\" }}", stream.period);
            stream.table = lines.join("\n").replace(&period, &distance) + "\n";
        }
    }
    if is_raw {
        let of = raw.one(&["", ", can_id = \"0x116\""]);
        network.threats.push(format!("[[recordings]]\nname = \"raw\"\nframes = {{ builtin = \"car-frames\"{of} }}\n"));
    }
    if is_recorded {
        network.threats.push(
            "[[recordings]]\nname = \"heading\"\nsignal = { builtin = \"vessel-nmea2000\", name = \"heading\" }\n"
                .into(),
        );
    }
}

fn bus(chance: &mut Chance, on: usize, fd: bool, network: &mut Network) {
    if chance.percent(35) {
        network.segments[on].table += "sample_point = \"75%\"\ndata_sample_point = \"70%\"\n";
    }
    // All of them or none, so that no segmented stream has another length than its answers.
    let has_extended = chance.percent(30);
    let (at_one_rate, waits) = (fd && chance.percent(60), chance.percent(92));
    for stream in &mut network.streams {
        let Some(table) = stream.tables.get_mut(&on) else { continue };
        if has_extended && chance.percent(70) {
            *table = extended(table, on);
        }
        if at_one_rate {
            *table = table.replace("\"fd-brs\"", "\"fd\"");
        }
        if waits {
            *table = table.replace(", st_min", ", n_bs = \"150ms\", n_cr = \"120ms\", st_min");
        }
    }
}

/// The same with identifiers of 29 bits that begin as those of 11 bits did.
fn extended(table: &str, on: usize) -> String {
    let mut with = table.replace(&format!("s{on} = {{ "), &format!("s{on} = {{ extended = true, "));
    for key in [" id = \"0x", "flow_control = \"0x"] {
        let Some((before, rest)) = with.split_once(key) else { continue };
        let Some((digits, rest)) = rest.split_once('"') else { continue };
        let base = u32::from_str_radix(digits, 16).unwrap_or(0);
        with = format!("{before}{key}{:X}\"{rest}", base << 18 | 5);
    }
    with
}

fn ethernet(chance: &mut Chance, on: usize, network: &mut Network, style: Style) {
    let table = &mut network.segments[on].table;
    // That of a beacon.
    if chance.percent(20) && !table.contains("gptp = ") && !table.contains("max_transmission_delay") {
        *table += "max_transmission_delay = \"9ms\"\n";
    }
    if chance.percent(15) {
        *table += "sniffing_switch = true\n";
    }
    if chance.percent(20) {
        *table += "sync_id = 77\nct_marker = \"03:00:00:00\"\n";
    }
    let policing = chance.one(&["", ", policing = \"frames\"", ", clock_tolerance = \"300ppm\""]);
    *table = table.replace("standard = false", &format!("standard = false{policing}"));
    let (ids, lengths) = (chance.percent(30), chance.percent(40));
    let default = chance.percent(25);
    if default {
        *table += "class = { best_effort = { priority = 2 } }\n";
    }
    for stream in &mut network.streams {
        let Some(own) = stream.tables.get_mut(&on) else { continue };
        if ids && (own.contains("time-triggered") || own.contains("rate_constrained")) {
            *own = own.replace(&format!("s{on} = {{ "), &format!("s{on} = {{ ct_id = {}, ", 100 + stream.index));
        }
        if lengths && !style.is_wild {
            *own = own.replace("rate_constrained = { ", "rate_constrained = { lmax = \"1518B\", lmin = \"64B\", ");
        }
        if default && own.contains("best_effort") {
            *own = String::new();
        }
    }
    if chance.percent(75) {
        ring(chance, on, network);
    }
}

/// Keys on the links of a segment, or of most of them.
fn macsec(chance: &mut Chance, on: usize, network: &mut Network) {
    let table = &mut network.segments[on].table;
    let suite = chance.one(&["", "cipher_suite = \"gcm-aes-256\", ", "include_sci = false, "]);
    let (base, check) = (chance.one(&["0us", "1us", "4us"]), chance.one(&["0us", "700ns"]));
    let per_byte = chance.one(&["0ps", "100ps"]);
    *table += &format!(
        "macsec = {{ {suite}protect = {{ base = \"{base}\", per_byte = \"{per_byte}\" }}, check = {{ base = \"{check}\" }} }}\n"
    );
    if chance.percent(30) {
        // The first link that is written.
        let link =
            table.lines().find(|line| line.starts_with("  { between = [") && line.ends_with("] },")).map(str::to_owned);
        if let Some(link) = link {
            *table = table.replacen(&link, &link.replace("] },", "], macsec = false },"), 1);
        }
    }
}

/// How frames in slots share the wires with others, where there are both or could be.
fn integration(chance: &mut Chance, on: usize, network: &mut Network) {
    let has_slot = |stream: &Stream| stream.tables.get(&on).is_some_and(|own| own.contains("\"time-triggered\""));
    if !network.streams.iter().any(has_slot) || !chance.percent(69) {
        return;
    }
    let policy =
        chance.one(&["shuffling", "shuffling", "shuffling", "shuffling", "preemption", "preemption", "preemption"]);
    let table = &mut network.segments[on].table;
    if policy != "timely-block" {
        // A switch that does not wait would pass delays on.
        *table = table.replace("dispatch = \"immediate\"", "dispatch = \"scheduled\"");
    }
    if policy == "preemption" {
        // A frame that is cut off is followed by a gap.
        *table = table.replace("accounting = \"as-published\"", "accounting = \"on-wire\"");
    }
    *table += &format!("integration_policy = \"{policy}\"\n");
}

/// Writes the classes of streams into the table of their segment, where they say nothing else of it.
fn classes(on: usize, network: &mut Network) {
    let mut entries = Vec::new();
    for index in 0..network.streams.len() {
        let stream = &network.streams[index];
        let own = stream.tables.get(&on).and_then(|own| own.strip_prefix(&format!("s{on} = {{ class = ")));
        // A class is a word, or a table of one key.
        let says_more = |class: &str| class.contains("}, ") || class.starts_with('"') && class.contains(", ");
        let class = own.and_then(|own| own.strip_suffix(" }\n")).filter(|class| !says_more(class));
        let Some(class) = class.filter(|_| !network.is_collected(stream, on)) else { continue };
        entries.push(format!("{{ streams = [\"m{}\"], class = {class} }}", stream.index));
        network.streams[index].tables.insert(on, String::new());
    }
    if !entries.is_empty() {
        network.segments[on].table += &format!("classes = [{}]\n", entries.join(", "));
    }
}

/// Joins the ends of a way over three switches, so that they stand in a ring.
fn ring(chance: &mut Chance, on: usize, network: &mut Network) {
    let table = &mut network.segments[on].table;
    let names = [0, 1, 2].map(|switch| format!("\"s{on}w{switch}\""));
    if !table.contains(&format!("switches = [{}]", names.join(", "))) {
        return;
    }
    let joined = |one: &str, other: &str| {
        [(one, other), (other, one)].iter().any(|(one, other)| table.contains(&format!("between = [{one}, {other}]")))
    };
    let pairs = [(0, 1), (0, 2), (1, 2)];
    let Some((one, other)) = pairs.into_iter().find(|(one, other)| !joined(&names[*one], &names[*other])) else {
        return;
    };
    let link = format!("links = [\n  {{ between = [{}, {}] }},", names[one], names[other]);
    *table = table.replace("links = [", &link);
    let all = names.join(", ");
    for stream in network.streams.iter_mut().filter(|_| chance.percent(40)) {
        if let Some(own) = stream.tables.get_mut(&on).filter(|own| !own.is_empty()) {
            *own = own.replace(&format!("s{on} = {{ "), &format!("s{on} = {{ switches = [{all}], "));
        }
    }
}

/// Other protections of the same length.
fn protections(chance: &mut Chance, network: &mut Network) {
    let can_count = network.segments.iter().all(|segment| segment.kind != Kind::Ethernet);
    for stream in network.streams.iter_mut().filter(|stream| stream.table.contains("protection = \"short\"")) {
        if !chance.percent(60) {
            continue;
        }
        let (mut name, _) = chance.one(PROTECTIONS);
        if can_count && chance.percent(40) {
            name = "third";
        }
        if name == "third" && !can_count {
            name = "cmac";
        }
        let stays_in_slots = stream.is_slotted && stream.tables.len() == 1;
        if stays_in_slots && chance.percent(40) {
            name = BY_CYCLE.0;
        }
        let written = if chance.percent(40) { format!("{{ end_to_end = \"{name}\" }}") } else { format!("\"{name}\"") };
        stream.table = stream.table.replace("protection = \"short\"", &format!("protection = {written}"));
    }
    let is_counted = network.streams.iter().any(|stream| stream.table.contains("\"third\""));
    if is_counted {
        let master = network.nodes.iter().position(|node| !node.is_gateway).unwrap_or(0);
        let period = chance.one(&[20, 50, 100, 200]);
        network.head_tables += &format!("[freshness]\nmaster = \"n{master}\"\nperiod = \"{period}ms\"\n");
        if chance.percent(50) {
            network.head_tables += chance.one(&["id = \"0x011\"\n", "id = \"0x7EF\"\n"]);
        }
        network.head_tables += chance.one(&["", "key = \"pre-shared\"\n"]);
    }
}

fn several_alike(chance: &mut Chance, stream: &mut Stream) {
    let count = chance.range(2, 3);
    stream.table += &format!("count = {count}\n");
    for table in stream.tables.values_mut() {
        *table = table.replace("ct_id = ", "ct_id = 1");
    }
}

/// The deadline limits how old the receiver's value becomes: a period more.
fn aged(stream: &mut Stream) {
    let mut lines: Vec<String> = stream.table.lines().map(str::to_owned).collect();
    let is_can = stream.tables.values().any(|table| table.contains("id = "));
    let written = lines.iter().position(|line| line.starts_with("deadline = "));
    if let Some(at) = written {
        lines.remove(at);
    } else if !is_can {
        return;
    }
    let deadline = stream.period * 5 / 2;
    lines.push(format!("deadline = \"{deadline}us\"\ndeadline_kind = \"age\""));
    stream.table = lines.join("\n") + "\n";
}

/// A deadline for each of the receivers.
fn for_each_receiver(stream: &mut Stream) {
    let Some(to) = stream.table.lines().find_map(|line| line.strip_prefix("to = [")) else { return };
    let names: Vec<String> = to.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    let Some(line) = stream.table.lines().find(|line| line.starts_with("deadline = \"")) else { return };
    let value = line.trim_start_matches("deadline = ");
    let each: Vec<String> = names.iter().map(|name| format!("{name} = {value}")).collect();
    let with = format!("deadline = {{ {} }}", each.join(", "));
    stream.table = stream.table.replace(line, &with);
}

/// The gateways that a stream passes, in order, if it has one receiver.
fn written_way(network: &mut Network, index: usize) {
    let stream = &network.streams[index];
    let [to] = stream.to[..] else { return };
    let (low, high) = (stream.from.min(to), stream.from.max(to));
    let gateway =
        |between: usize| network.nodes.iter().position(|node| node.is_gateway && node.on == [between, between + 1]);
    let mut names: Vec<String> = (low..high).filter_map(gateway).map(|node| format!("\"n{node}\"")).collect();
    if stream.from > to {
        names.reverse();
    }
    let via = format!("via = [{}]\n", names.join(", "));
    network.streams[index].table += &via;
}
