//! Streams on Ethernet whose messages are longer than a frame: UDP datagrams in fragments of IPv4.

use super::chance::Chance;
use super::{Kind, Network, Stream};

/// What a frame has room for of a message, roughly: enough to say how many frames that takes.
const FRAGMENT_LEN: i64 = 1_472;

/// Makes messages of some streams longer than a frame, and their periods as much longer, so that links carry about as much as before.
pub(super) fn lengthen(chance: &mut Chance, network: &mut Network, everything: bool) {
    if !chance.percent(if everything { 55 } else { 35 }) {
        return;
    }
    let most = if everything { chance.one(&[3_000, 6_000, 6_000, 20_000, 60_000]) } else { 4_500 };
    let apt: Vec<usize> = (0..network.streams.len()).filter(|index| is_apt(network, *index)).collect();
    for (place, index) in apt.into_iter().enumerate() {
        if place > 0 && !chance.percent(40) {
            continue;
        }
        let length = chance.range(1_480, most);
        let timeout = chance.percent(20).then(|| chance.one(&[1, 5, 50, 2_000]));
        let stream = &mut network.streams[index];
        let frames = length / FRAGMENT_LEN + 1;
        stream.table = stream.table.lines().map(|line| longer(line, length, frames) + "\n").collect();
        stream.period *= frames;
        if let Some(timeout) = timeout {
            for table in stream.tables.values_mut() {
                *table = table.replacen("= { ", &format!("= {{ reassembly_timeout = \"{timeout}ms\", "), 1);
            }
        }
    }
}

/// A line of a stream's table for messages of another length with so many frames.
fn longer(line: &str, length: i64, frames: i64) -> String {
    let us = |key: &str| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix("us\"")?.parse::<i64>().ok();
    if line.starts_with("length = ") {
        return format!("length = \"{length}B\"");
    }
    let scaled = ["period", "deadline"].into_iter().find_map(|key| Some((key, us(key)?)));
    scaled.map_or_else(|| line.to_owned(), |(key, us)| format!("{key} = \"{}us\"", us * frames))
}

/// True of a stream that stays on one Ethernet segment in frames of its own, of one copy each, and that nobody attacks.
fn is_apt(network: &Network, index: usize) -> bool {
    let stream = &network.streams[index];
    let [(on, own)] = &stream.tables.iter().collect::<Vec<_>>()[..] else { return false };
    let segment = &network.segments[**on];
    let is_of_class = ["rate_constrained", "best_effort", "vlan"].iter().any(|class| own.contains(class));
    let is_plain = !["replication = ", "sub_virtual_link_of = ", "lmax = ", "lmin = ", "committed = "]
        .iter()
        .any(|key| own.contains(key));
    let is_over_both = segment.table.contains("networks = {") && own.contains("rate_constrained");
    let name = format!("\"m{}\"", stream.index);
    let leads = |other: &Stream| other.tables.values().any(|table| table.contains(&format!("link_of = {name}")));
    segment.kind == Kind::Ethernet
        && is_of_class
        && is_plain
        && !is_over_both
        && !stream.table.contains("payload = ")
        && !network.streams.iter().any(leads)
        && !network.threats.iter().any(|threat| threat.contains(&name))
}
