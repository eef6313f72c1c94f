//! Ethernets over which frames go twice: networks A and B of ARINC 664, and rings of switches for IEEE 802.1CB.

use super::chance::Chance;
use super::{Network, Stream, Style};

/// Gives a segment the networks A and B, each a line of switches, and streams that these can carry: in every other network slots
/// are left, in switches that wait for them.
pub(super) fn networks(chance: &mut Chance, on: usize, network: &mut Network) {
    // Beside the rest, so that nothing else depends on it.
    let mut slots = Chance::new(network.seed, 45);
    if slots.percent(50) {
        without_slots(chance, on, network);
    } else {
        let table = &mut network.segments[on].table;
        *table = table.replace("dispatch = \"immediate\"", "dispatch = \"scheduled\"");
    }
    // A host interface has every copy to serve; with them few of these networks hold.
    if Chance::new(network.seed, 48).percent(50) {
        without_host_interfaces(on, network);
    }
    let stations: Vec<usize> = (0..network.nodes.len()).filter(|node| network.nodes[*node].on.contains(&on)).collect();
    let mut links = Vec::new();
    let mut of = |chance: &mut Chance, letter: char| {
        let names: Vec<String> = (0..chance.range(1, 2)).map(|switch| format!("s{on}{letter}{switch}")).collect();
        links.extend(names.windows(2).map(|pair| pair.to_vec()));
        for node in &stations {
            let switch = &names[chance.range(0, names.len() as i64 - 1) as usize];
            links.push(vec![format!("n{node}"), switch.clone()]);
        }
        names
    };
    let (a, b) = (of(chance, 'a'), of(chance, 'b'));
    let all: Vec<String> = a.iter().chain(&b).cloned().collect();
    // A cluster has compression masters in both, and nothing is bounded where a link of it fails.
    let mut compressing = Chance::new(network.seed, 47);
    let is_cluster = network.segments[on].table.contains("as6802 = {");
    if is_cluster && compressing.percent(60) {
        let mut one = |names: &[String]| names[compressing.range(0, names.len() as i64 - 1) as usize].clone();
        let of_each = quoted(&[one(&b), one(&a)]);
        let table = &mut network.segments[on].table;
        *table = table.replace("as6802 = { ", &format!("as6802 = {{ compression_masters = [{of_each}], "));
    }
    // Clocks of IEEE 802.1AS go over both, too.
    let is_time_aware = network.segments[on].table.contains("gptp = {");
    let is_ideal = is_cluster || is_time_aware || network.segments[on].has_ideal_clocks;
    let fails = if is_cluster { 5 } else { 40 };
    let table = &mut network.segments[on].table;
    *table += &format!(
        "switches = [{}]\nnetworks = {{ a = [{}], b = [{}] }}\nlinks = [\n",
        quoted(&all),
        quoted(&a),
        quoted(&b)
    );
    links.iter().for_each(|ends| *table += &format!("  {{ between = [{}] }},\n", quoted(ends)));
    *table += "]\n";
    // The beacon goes over A, and without it clocks are lost.
    let in_b = |ends: &&Vec<String>| ends.iter().any(|end| b.contains(end));
    let can_fail: Vec<&Vec<String>> = links.iter().filter(|ends| is_ideal || in_b(ends)).collect();
    if chance.percent(fails) {
        let link = chance.one(&can_fail);
        let at = chance.range(0, 380);
        network.segments[on].table += &format!("failures = [{{ link = [{}], at = \"{at}ms\" }}]\n", quoted(link));
    }
    for stream in &mut network.streams {
        let period = stream.period;
        let Some(own) = stream.tables.get_mut(&on) else { continue };
        if own.contains("best_effort") && chance.percent(65) {
            let bag = period * chance.one(&[95, 90, 50]) / 100;
            let skew = match chance.percent(98) {
                true => format!(", skew_max = \"{}us\"", bag * chance.range(40, 100) / 100),
                false => String::new(),
            };
            *own = format!(
                "s{on} = {{ class = {{ rate_constrained = {{ bag = \"{bag}us\", jitter = \"10ms\"{skew} }} }} }}\n"
            );
        }
        if chance.percent(15) {
            let one = chance.one(&["a", "b"]);
            also(own, &format!("networks = [\"{one}\"]"));
        } else if own.contains("\"time-triggered\"") && slots.percent(20) {
            also(own, &format!("skew_max = \"{}us\"", period * slots.range(20, 150) / 100));
        }
    }
}

/// Makes a segment a ring of switches, and sends streams with a VLAN tag over both ways of it.
pub(super) fn ring(chance: &mut Chance, on: usize, network: &mut Network, style: Style) {
    without_slots(chance, on, network);
    let stations: Vec<usize> = (0..network.nodes.len()).filter(|node| network.nodes[*node].on.contains(&on)).collect();
    let count = chance.one(&[4_usize, 5, 6]);
    let name = |switch: usize| format!("s{on}w{}", switch % count);
    // Most of them far from each other: between neighbours there is no other way than the link that joins them.
    let any = |chance: &mut Chance| chance.range(0, count as i64 - 1) as usize;
    let at: Vec<usize> = stations.iter().map(|_| [0, count / 2, any(chance)][chance.range(0, 2) as usize]).collect();
    let names: Vec<String> = (0..count).map(name).collect();
    let table = &mut network.segments[on].table;
    *table += &format!("switches = [{}]\nlinks = [\n", quoted(&names));
    (0..count)
        .for_each(|switch| *table += &format!("  {{ between = [\"{}\", \"{}\"] }},\n", name(switch), name(switch + 1)));
    for (node, switch) in stations.iter().zip(&at) {
        *table += &format!("  {{ between = [\"n{node}\", \"{}\"] }},\n", name(*switch));
    }
    *table += "]\n";
    if network.segments[on].has_ideal_clocks && chance.percent(30) {
        let (switch, at) = (chance.range(0, count as i64 - 1) as usize, chance.range(0, 380));
        let (one, other) = (name(switch), name(switch + 1));
        network.segments[on].table += &format!("failures = [{{ link = [\"{one}\", \"{other}\"], at = \"{at}ms\" }}]\n");
    }
    if network.segments[on].has_ideal_clocks && chance.percent(12) {
        let switch = chance.range(0, count as i64 - 1) as usize;
        let (one, other) = (name(switch), name(switch + 1));
        network.segments[on].table +=
            &format!("frame_losses = [{{ link = [\"{one}\", \"{other}\"], ratio = 0.01 }}]\n");
    }
    let place = |node: usize| stations.iter().position(|station| *station == node).map_or(0, |position| at[position]);
    for index in 0..network.streams.len() {
        let Some((sender, receivers)) = network.ends(&network.streams[index], on) else { continue };
        let Stream { tables, period, .. } = &mut network.streams[index];
        let Some(own) = tables.get_mut(&on) else { continue };
        // One way round, and the other.
        let (from, to) = (place(sender), receivers.first().map_or(0, |node| place(*node)));
        let forth: Vec<String> = (from + 1..from + (to + count - from) % count).map(name).collect();
        let back: Vec<String> = (to + 1..to + (from + count - to) % count).map(name).collect();
        let are_ways = !forth.is_empty() && !back.is_empty() && from != to;
        if are_ways && receivers.len() == 1 && chance.percent(80) {
            let pcp = chance.range(0, 7);
            *own = format!("s{on} = {{ class = {{ vlan = {{ pcp = {pcp} }} }} }}\n");
            // Where switches eliminate copies, ways are written in their order.
            if chance.percent(70) {
                let back: Vec<String> = back.iter().rev().cloned().collect();
                let keys = replication(chance, *period, style);
                let own_switch = name(to);
                also(
                    own,
                    &format!(
                        "replication = {{ ways = [[{}], [{}]], eliminate_at = [\"{own_switch}\"]{keys} }}",
                        quoted(&forth),
                        quoted(&back)
                    ),
                );
                continue;
            }
            let keys = replication(chance, *period, style);
            also(own, &format!("replication = {{ ways = [[{}], [{}]]{keys} }}", quoted(&forth), quoted(&back)));
        } else if are_ways && forth.len() == back.len() {
            also(own, &format!("switches = [{}]", quoted(&forth)));
        }
    }
}

/// How receivers tell copies apart.
fn replication(chance: &mut Chance, period_us: i64, style: Style) -> String {
    let mut keys = String::new();
    if chance.percent(25) {
        keys += ", recovery = \"match\"";
    } else if chance.percent(40) {
        keys += &format!(", history = {}", chance.one(&[2, 4, 16, 64]));
    }
    if chance.percent(30) {
        let least = if style.is_wild { 1 } else { 3 };
        keys += &format!(", reset_timeout = \"{}us\"", (period_us * chance.range(least, 20)).max(1_000));
    }
    if chance.percent(25) {
        keys += &format!(
            ", latent_errors = {{ difference = {}, period = \"{}ms\" }}",
            chance.range(1, 10),
            chance.one(&[20, 100, 2_000])
        );
    }
    keys
}

/// Makes best effort of what is in slots, for switches that carry none.
pub(super) fn without_slots(chance: &mut Chance, on: usize, network: &mut Network) {
    for stream in &mut network.streams {
        let Some(own) = stream.tables.get_mut(&on).filter(|own| own.contains("\"time-triggered\"")) else { continue };
        *own = format!("s{on} = {{ class = {{ best_effort = {{ priority = {} }} }} }}\n", chance.range(0, 7));
        if stream.from == on {
            stream.is_slotted = false;
            stream.table += &format!("offset = \"{}us\"\n", chance.range(0, stream.period - 1));
        }
    }
}

/// Takes the host interfaces of the nodes on a segment away.
fn without_host_interfaces(on: usize, network: &mut Network) {
    for node in network.nodes.iter_mut().filter(|node| node.on.contains(&on)) {
        let lines = node.table.lines().filter(|line| !line.starts_with("host_interface = "));
        node.table = lines.map(|line| format!("{line}\n")).collect();
    }
}

/// Writes a further key into a stream's table of a segment.
pub(super) fn also(own: &mut String, key: &str) {
    let end = own.trim_end().trim_end_matches('}').trim_end().to_owned();
    *own = format!("{end}, {key} }}\n");
}

pub(super) fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}
