//! Ports of IEEE 802.1Q for an Ethernet, and VLAN tags for its streams.

use super::chance::Chance;
use super::{Network, Style};

/// What a port does, before it is written down.
#[derive(Default)]
struct Port {
    /// `traffic_classes` and `priorities`, which all ports of a segment have alike.
    map: String,
    /// By class: `shaper = …, preemptable = …`.
    own: Vec<(i64, Vec<String>)>,
    gates: Option<String>,
}

impl Port {
    fn give(&mut self, class: i64, what: String) {
        match self.own.iter_mut().find(|(own, _)| *own == class) {
            Some((_, has)) => has.push(what),
            None => self.own.push((class, vec![what])),
        }
    }

    /// As an inline table.
    fn text(&self) -> String {
        let entry = |(class, has): &(i64, Vec<String>)| format!("{{ class = {class}, {} }}", has.join(", "));
        let classes: Vec<String> = self.own.iter().map(entry).collect();
        let gates = self.gates.as_ref().map(|gates| format!(", gates = {gates}")).unwrap_or_default();
        format!("{{ {}classes = [{}]{gates} }}", self.map, classes.join(", "))
    }
}

/// Gives a segment ports, and streams that ports can carry: none in slots, no virtual links.
pub(super) fn ports(chance: &mut Chance, on: usize, network: &mut Network, style: Style) {
    let used = classes_of_streams(chance, on, network);
    let table = &mut network.segments[on].table;
    let slowest_mbit = slowest(table);
    // Frames are interrupted between the bytes that this counts.
    *table = table.replace("accounting = \"as-published\"", "accounting = \"on-wire\"");
    let (map, classes) = map(chance);
    let shared: Vec<i64> =
        chance.one(&[vec![], vec![0, 1], vec![0, 1, 2], vec![]].each_ref().map(Vec::as_slice)).to_vec();
    let preemptable: Vec<i64> = shared.into_iter().filter(|class| *class < classes).collect();
    let regulated: Vec<i64> = (0..classes).filter(|_| chance.percent(45)).collect();
    let regulated = if chance.percent(88) { regulated } else { Vec::new() };
    let port = |chance: &mut Chance, is_bridge: bool| {
        let mut port = Port { map: map.clone(), ..Port::default() };
        let is_shaped = chance.percent(40);
        let mut left = slowest_mbit * 1_000 * if style.is_wild { 100 } else { 80 } / 100;
        for class in 0..classes {
            let is_regulated = regulated.contains(&class) && (is_bridge || chance.percent(50));
            if is_regulated {
                port.give(class, "shaper = \"asynchronous\"".into());
            } else if is_shaped && chance.percent(50) {
                let slope =
                    (slowest_mbit * 1_000 * chance.range(if style.is_wild { 1 } else { 8 }, 40) / 100).min(left);
                left -= slope;
                if slope > 0 {
                    port.give(class, format!("shaper = {{ credit_based = {{ idle_slope = \"{slope}kbit/s\" }} }}"));
                }
            }
            if preemptable.contains(&class) && is_bridge {
                port.give(class, "preemptable = true".into());
            }
            if chance.percent(15) {
                let room = if style.is_wild { ["2kB", "4kB", "16kB"] } else { ["16kB", "64kB", "200kB"] };
                port.give(class, format!("queue_len_max = \"{}\"", chance.one(&room)));
            }
        }
        // Shapers and preemption under gates have no bound, with few exceptions.
        let is_free = !is_shaped && (preemptable.is_empty() || !is_bridge);
        if chance.percent(if is_free { 60 } else { 6 }) {
            // What a shaper earns is another slope under another list.
            let replaced = if is_shaped { 50 } else { 5 };
            let can_hold = !preemptable.is_empty() && is_bridge;
            port.gates = Some(gates(chance, (classes, slowest_mbit), can_hold, replaced, style));
        }
        port
    };
    let bridge = port(chance, true);
    *table += &format!("bridge_ports = {}\n", bridge.text());
    if chance.percent(65) {
        let station = port(chance, false);
        *table += &format!("station_ports = {}\n", station.text());
    }
    if chance.percent(46) {
        let own = port(chance, true);
        of_one_link(chance, on, network, &own.text());
    }
    let committed = chance.percent(if regulated.is_empty() { 30 } else { 90 }) && !used.is_empty();
    for stream in network.streams.iter_mut().filter(|_| committed) {
        // Two frames can come together where a driver makes one of them late.
        let (period, len) = (stream.period, stream.pdu_len + 90);
        let (more, burst) =
            (chance.range(if style.is_wild { 101 } else { 130 }, 250), 2 * len + chance.range(0, 1_500));
        let kbit = (len * 8_000 * more / 100 / period).max(1);
        if let Some(table) = stream.tables.get_mut(&on).filter(|_| chance.percent(90)) {
            let end = table.trim_end().trim_end_matches('}').trim_end().to_owned();
            *table = format!("{end}, committed = {{ rate = \"{kbit}kbit/s\", burst = \"{burst}B\" }} }}\n");
        }
    }
}

/// Gives every stream on a segment a tag or a priority; the priorities that are used.
fn classes_of_streams(chance: &mut Chance, on: usize, network: &mut Network) -> Vec<i64> {
    let few: Vec<i64> = (0..chance.range(1, 4)).map(|_| chance.range(0, 7)).collect();
    for stream in &mut network.streams {
        let Some(table) = stream.tables.get_mut(&on) else { continue };
        let (priority, vid) = (chance.one(&few), chance.one(&[1, 1, 2, 4_094]));
        let class = match chance.percent(75) {
            true => format!("vlan = {{ pcp = {priority}, vid = {vid} }}"),
            false => format!("best_effort = {{ priority = {priority} }}"),
        };
        *table = format!("s{on} = {{ class = {{ {class} }} }}\n");
        if stream.from == on && stream.is_slotted {
            stream.is_slotted = false;
            stream.table += &format!("offset = \"{}us\"\n", chance.range(0, stream.period - 1));
        }
    }
    few
}

/// How priorities become classes, and how many of these there are.
fn map(chance: &mut Chance) -> (String, i64) {
    let classes = chance.one(&[8, 8, 8, 4, 3, 2, 1]);
    let mut map = if classes == 8 { String::new() } else { format!("traffic_classes = {classes}, ") };
    if chance.percent(20) {
        let of: Vec<String> = (0..8).map(|_| chance.range(0, classes - 1).to_string()).collect();
        map += &format!("priorities = [{}], ", of.join(", "));
    }
    (map, classes)
}

/// A gate control list for so many classes and `[Mbit/s]`, in which, if nothing is wild, every class has a window that is long enough for
/// any frame; another one replaces it in so many cases of a hundred.
fn gates(chance: &mut Chance, (classes, mbit): (i64, i64), can_hold: bool, replaced: i64, style: Style) -> String {
    // A longest frame, twice.
    let needed = (2 * 1_600 * 8 / mbit).max(2);
    let count = chance.range(1, 4);
    let parts: Vec<i64> =
        (0..count).map(|_| needed * chance.range(if style.is_wild { 20 } else { 100 }, 400) / 100).collect();
    let cycle: i64 = parts.iter().sum::<i64>() + chance.one(&[0, 0, needed, 3 * needed]);
    let mut open: Vec<Vec<i64>> = (0..count).map(|_| (0..classes).filter(|_| chance.percent(40)).collect()).collect();
    for class in (0..classes).filter(|_| !style.is_wild) {
        let entry = chance.range(0, count - 1) as usize;
        if !open[entry].contains(&class) {
            open[entry].push(class);
        }
    }
    let mut entries = Vec::new();
    for (open, lasts) in open.iter().zip(&parts) {
        let hold = if can_hold && chance.percent(30) { ", hold = true" } else { "" };
        let open: Vec<String> = open.iter().map(i64::to_string).collect();
        entries.push(format!("{{ open = [{}], lasts = \"{lasts}us\"{hold} }}", open.join(", ")));
    }
    let base = if chance.percent(50) { chance.range(0, cycle) } else { 0 };
    let admin = if chance.percent(replaced) { admin(chance, cycle, &entries) } else { String::new() };
    format!("{{ cycle = \"{cycle}us\", base_time = \"{base}us\", entries = [{}]{admin} }}", entries.join(", "))
}

/// A list that replaces another one, with its entries in another order or a longer cycle.
fn admin(chance: &mut Chance, cycle: i64, entries: &[String]) -> String {
    let mut entries = entries.to_vec();
    let turns = chance.range(0, entries.len() as i64 - 1) as usize;
    entries.rotate_left(turns);
    let cycle = cycle + if chance.percent(30) { chance.range(1, cycle) } else { 0 };
    let request = if chance.percent(50) { chance.range(0, 20_000) } else { 0 };
    // A longest frame on the slowest link is over before it begins.
    let begins = request + chance.range(1_400, 40_000);
    let extension = if chance.percent(50) { chance.range(0, cycle) } else { 0 };
    format!(
        ", cycle_time_extension = \"{extension}us\", admin = {{ config_change = \"{request}us\", base_time = \"{begins}us\", \
         cycle_time = \"{cycle}us\", entries = [{}] }}",
        entries.join(", ")
    )
}

/// Writes what a port does at one end of one link; the links are written, if there are several switches.
fn of_one_link(chance: &mut Chance, on: usize, network: &mut Network, port: &str) {
    let stations: Vec<usize> = (0..network.nodes.len()).filter(|node| network.nodes[*node].on.contains(&on)).collect();
    let table = &mut network.segments[on].table;
    let links: Vec<String> =
        table.lines().filter(|line| line.starts_with("  { between = [")).map(str::to_owned).collect();
    if links.is_empty() {
        let (node, switch) = (chance.one(&stations), format!("s{on}w0"));
        let end = if chance.percent(50) { format!("n{node}") } else { switch.clone() };
        *table += &format!(
            "switches = [\"{switch}\"]\nlinks = [\n  {{ between = [\"n{node}\", \"{switch}\"], ports = {{ {end} = {port} }} }},\n]\n"
        );
        return;
    }
    let link = &links[chance.range(0, links.len() as i64 - 1) as usize];
    let ends: Vec<&str> = link.split('"').skip(1).step_by(2).take(2).collect();
    let end = chance.one(&ends);
    let with = link.replace(" },", &format!(", ports = {{ {end} = {port} }} }},"));
    *table = table.replace(link, &with);
}

/// The rate of the slowest link `[Mbit/s]`.
fn slowest(table: &str) -> i64 {
    let rates = [("10Mbit/s", 10), ("100Mbit/s", 100), ("1Gbit/s", 1_000)];
    let has = |rate: &str| table.contains(&format!("rate = \"{rate}\""));
    rates.iter().find(|(rate, _)| has(rate)).map_or(1_000, |(_, mbit)| *mbit)
}
