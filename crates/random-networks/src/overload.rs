//! Too much to do, and stations that do two things at once: recordings that fill a bus, senders whose processor has no time for them,
//! gateways that receive what they forward, and gateways that send streams of their own and reboot.
//!
//! Hardly any of these networks holds on paper. What is asked about them is whether each of their frames is accounted for.

use super::chance::Chance;
use super::{Kind, Network, Stream};

/// Adds such things to a few networks.
pub(super) fn overload(seed: u64, network: &mut Network) {
    let chance = |purpose: u64| Chance::new(seed, purpose);
    let (mut bus, mut sender, mut both, mut source) = (chance(80), chance(81), chance(82), chance(83));
    if bus.percent(20) {
        full_bus(&mut bus, network);
    }
    if sender.percent(10) {
        starved_sender(&mut sender, network);
    }
    if both.percent(20) {
        receiving_gateways(&mut both, network);
    }
    if source.percent(20) {
        sending_gateway(&mut source, network);
    }
}

/// A recording that needs more of a bus than there is, or nearly all of it.
fn full_bus(chance: &mut Chance, network: &mut Network) {
    let Some(on) = network.segments.iter().position(|segment| segment.kind != Kind::Ethernet) else { return };
    let Some(player) = network.nodes.iter().position(|node| node.on == [on]) else { return };
    let (slow, start) = (chance.one(&["100kbit/s", "125kbit/s", "125kbit/s", "250kbit/s"]), chance.range(0, 100));
    let table = &mut network.segments[on].table;
    for rate in ["250kbit/s", "500kbit/s", "1Mbit/s"] {
        *table = table.replace(&format!("\nbit_rate = \"{rate}\""), &format!("\nbit_rate = \"{slow}\""));
        if table.starts_with(&format!("bit_rate = \"{rate}\"")) {
            *table = table.replacen(rate, slow, 1);
        }
    }
    if network.threats.iter().any(|threat| threat.contains("name = \"car\"")) {
        return;
    }
    network.threats.push(format!(
        "[[recordings]]\nname = \"car\"\nfrom = \"n{player}\"\nsegment = \"s{on}\"\nstart = \"{start}ms\"\n\
         traffic = {{ builtin = \"car-synthetic\" }}\n"
    ));
}

/// A sender whose task, or whose tags, need all of its processor.
fn starved_sender(chance: &mut Chance, network: &mut Network) {
    let senders: Vec<usize> = network.streams.iter().map(|stream| stream.ends.0).collect();
    let index = chance.one(&senders);
    let is_by_task = chance.percent(60) && !network.nodes[index].table.contains("tasks = ");
    let node = &mut network.nodes[index];
    if is_by_task {
        let wcet = chance.one(&[4_900, 5_000, 5_000]);
        node.table += &format!("tasks = [{{ name = \"t\", period = \"5ms\", wcet = \"{wcet}us\" }}]\n");
    } else {
        node.mac_ns.0 = chance.one(&[2_000_000, 9_000_000, 30_000_000]);
    }
}

/// Gateways that also receive what they forward.
fn receiving_gateways(chance: &mut Chance, network: &mut Network) {
    for index in 0..network.streams.len() {
        let stream = &network.streams[index];
        // A long message on a bus has one receiver, and a deadline of each receiver names all of them.
        let is_apt = stream.tables.len() > 1
            && !stream.table.contains("deadline = {")
            && !stream.tables.values().any(|own| own.contains("segmented = "));
        let Some(to) = stream.table.lines().find(|line| line.starts_with("to = [")).filter(|_| is_apt) else {
            continue;
        };
        if !chance.percent(70) {
            continue;
        }
        // Those that forward it stand between its segments.
        let is_on_way = |on: &[usize]| on.len() > 1 && on.iter().all(|segment| stream.tables.contains_key(segment));
        let gateways: Vec<usize> = (0..network.nodes.len())
            .filter(|node| network.nodes[*node].is_gateway && is_on_way(&network.nodes[*node].on))
            .collect();
        if gateways.is_empty() {
            continue;
        }
        let more = format!("{}, \"n{}\"]", to.trim_end_matches(']'), chance.one(&gateways));
        network.streams[index].table = stream.table.replace(to, &more);
    }
}

/// A gateway that sends a stream of its own, and as often as not reboots.
fn sending_gateway(chance: &mut Chance, network: &mut Network) {
    let gateways: Vec<usize> = (0..network.nodes.len()).filter(|node| network.nodes[*node].is_gateway).collect();
    if gateways.is_empty() {
        return;
    }
    let gateway = chance.one(&gateways);
    let on = chance.one(&network.nodes[gateway].on);
    let receivers: Vec<usize> = (0..network.nodes.len()).filter(|node| network.nodes[*node].on == [on]).collect();
    if receivers.is_empty() {
        return;
    }
    let receiver = chance.one(&receivers);
    let index = network.streams.iter().map(|stream| stream.index).max().unwrap_or(0) + 1;
    let (period, length) = (chance.one(&[2_500, 10_000, 12_345, 40_000]), chance.range(4, 8));
    let class = match network.segments[on].kind {
        Kind::Can { .. } => format!("s{on} = {{ id = \"0x{:X}\" }}\n", 0x7D0 + index),
        Kind::Ethernet => {
            format!("s{on} = {{ class = {{ best_effort = {{ priority = {} }} }} }}\n", chance.range(0, 7))
        }
    };
    let table = format!(
        "[[streams]]\nname = \"m{index}\"\nfrom = \"n{gateway}\"\nto = [\"n{receiver}\"]\nlength = \"{length}B\"\nperiod = \"{period}us\"\n\
         offset = \"{}us\"\n",
        chance.range(0, period - 1)
    );
    network.streams.push(Stream {
        table,
        tables: [(on, class)].into(),
        index,
        period,
        is_slotted: false,
        from: on,
        to: vec![on],
        ends: (gateway, vec![receiver]),
        pdu_len: length,
        alone: Default::default(),
    });
    if let Some(keys) = network.nodes[gateway].gateway.as_mut().filter(|keys| !keys.contains("reboot = "))
        && chance.percent(60)
    {
        let (at, takes) = (chance.range(20, 350), chance.one(&[1, 5, 20, 100]));
        *keys += &format!(", reboot = {{ at = \"{at}ms\", takes = \"{takes}ms\" }}");
    }
}
