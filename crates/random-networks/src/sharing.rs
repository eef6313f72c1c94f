//! Streams that take turns in the gaps of one virtual link (ARINC 664 part 7), each with a queue of its own.

use std::collections::{BTreeMap, BTreeSet};

use super::chance::Chance;
use super::redundancy::quoted;
use super::{Collect, Network, Stream, Style};

/// Most streams of one virtual link.
const SHARERS_MAX: i64 = 4;

/// Gives a stream of a segment companions that share its virtual link, if there is a stream that can have some.
pub(super) fn share(chance: &mut Chance, on: usize, network: &mut Network, style: Style) {
    if !chance.percent(60) {
        return;
    }
    let can_share: Vec<usize> = (0..network.streams.len()).filter(|index| leads(network, *index, on)).collect();
    if can_share.is_empty() {
        return;
    }
    let leader = chance.one(&can_share);
    let count = chance.range(1, SHARERS_MAX - 1);
    let mut next = network.streams.iter().map(|stream| stream.index).max().unwrap_or(0) + 1;
    let mut left = count;
    let mut sharers = Vec::new();
    while left > 0 {
        let several = if left > 1 && chance.percent(25) { 2 } else { 1 };
        sharers.push((companion(chance, &network.streams[leader], (next, on), several, style), several));
        left -= several;
        next += 1;
    }
    let periods = sharers.iter().map(|(sharer, _)| sharer.period).chain([network.streams[leader].period]);
    let turn = periods.min().unwrap_or(0) / (count + 1);
    let written = chance.percent(40);
    let (least, most) = if style.is_wild { (50, 130) } else { (70, 95) };
    let bag = turn * chance.range(least, most) / 100;
    if let Some(own) = network.streams[leader].tables.get_mut(&on) {
        *own = virtual_link(own, written.then_some(bag), on);
    }
    network.streams.extend(sharers.into_iter().map(|(sharer, _)| sharer));
}

/// True of a stream that others can share a virtual link with: alone in its frames there, and on Ethernet all the way.
fn leads(network: &Network, index: usize, on: usize) -> bool {
    let stream = &network.streams[index];
    let is_ethernet = stream.tables.values().all(|table| !table.contains("id = \"0x"));
    let is_one = !stream.table.contains("count = ") && !network.is_collected(stream, on);
    let is_apt = |own: &String| {
        (own.contains("rate_constrained") || own.contains("best_effort")) && !own.contains("replication = ")
    };
    is_ethernet && is_one && stream.tables.get(&on).is_some_and(is_apt)
}

/// The class of a virtual link with another gap, or that of best effort made one.
fn virtual_link(own: &str, bag: Option<i64>, on: usize) -> String {
    let key = bag.map(|bag| format!("bag = \"{bag}us\", ")).unwrap_or_default();
    if let Some((before, rest)) = own.split_once("rate_constrained = { ") {
        let rest = match rest.split_once("bag = \"").and_then(|(start, rest)| Some((start, rest.split_once("\", ")?.1)))
        {
            Some((start, behind)) => format!("{start}{key}{behind}"),
            None => format!("{key}{rest}"),
        };
        return format!("{before}rate_constrained = {{ {rest}");
    }
    // What stands behind the class stays: the networks and switches that frames go over.
    let behind = own.split_once("} }").map_or(" }\n", |(_, behind)| behind);
    format!("s{on} = {{ class = {{ rate_constrained = {{ {key}jitter = \"10ms\" }} }}{behind}")
}

/// A stream from and to the same nodes, in the virtual link of the first on this segment and of best effort on all others.
fn companion(chance: &mut Chance, leader: &Stream, (index, on): (i64, usize), several: i64, style: Style) -> Stream {
    let period = leader.period * chance.one(&[1, 1, 2, 3]) + chance.one(&[0, 0, 0, 345]);
    let most = chance.one(&[200, 1_400]);
    let length = chance.range(46, most);
    let line = |key: &str| leader.table.lines().find(|line| line.starts_with(key)).unwrap_or_default();
    let mut table =
        format!("[[streams]]\nname = \"m{index}\"\n{}\n{}\nlength = \"{length}B\"\n", line("from = "), line("to = "));
    if several > 1 {
        table += &format!("count = {several}\n");
    }
    let protection = line("protection = \"");
    let is_secured = !protection.is_empty() && chance.percent(50);
    if is_secured {
        table += &format!("{protection}\n");
    }
    table += &format!("period = \"{period}us\"\n");
    if chance.percent(25) {
        let least = if style.is_wild { 10 } else { 70 };
        table += &format!("deadline = \"{}us\"\n", period * chance.range(least, 100) / 100);
    }
    let offset = if chance.percent(50) { 0 } else { chance.range(0, period - 1) };
    table += &format!("offset = \"{offset}us\"\n");
    let other = |segment: &usize| match *segment == on {
        true => format!("s{on} = {{ sub_virtual_link_of = \"m{}\" }}\n", leader.index),
        false => format!("s{segment} = {{ class = {{ best_effort = {{ priority = 3 }} }} }}\n"),
    };
    let tables: BTreeMap<usize, String> = leader.tables.keys().map(|segment| (*segment, other(segment))).collect();
    Stream {
        table,
        tables,
        index,
        period,
        is_slotted: false,
        from: leader.from,
        to: leader.to.clone(),
        ends: leader.ends.clone(),
        pdu_len: length + if is_secured { 24 } else { 0 },
        alone: BTreeMap::new(),
    }
}

/// Lets a stream of the gateway's own say of what class the frames are in which it collects, and gives how they share its virtual link.
pub(super) fn lead(chance: &mut Chance, network: &mut Network, collect: usize, class: &str) -> Option<String> {
    let Collect { gateway, on, streams, .. } = &network.collects[collect];
    let (gateway, on) = (*gateway, *on);
    let in_it = network.streams.iter().filter(|stream| streams.contains(&stream.index));
    let ends: Vec<usize> = in_it.filter_map(|stream| Some(network.ends(stream, on)?.1)).flatten().collect();
    let to: Vec<usize> = ends.into_iter().collect::<BTreeSet<usize>>().into_iter().collect();
    if to.iter().any(|node| network.nodes[*node].on != [on]) || !chance.percent(60) {
        return None;
    }
    // Its gap is left to be found: that of the frames alone is too long for both.
    let class = match class.split_once("bag = \"").and_then(|(before, rest)| Some((before, rest.split_once("\", ")?.1)))
    {
        Some((before, behind)) => format!("{before}{behind}"),
        None => class.to_owned(),
    };
    let index = network.streams.iter().map(|stream| stream.index).max().unwrap_or(0) + 1;
    let (period, length) = (chance.one(&[2_500, 5_000, 10_000, 12_345]), chance.range(46, 400));
    let names: Vec<String> = to.iter().map(|node| format!("n{node}")).collect();
    let table = format!(
        "[[streams]]\nname = \"m{index}\"\nfrom = \"n{gateway}\"\nto = [{}]\nlength = \"{length}B\"\nperiod = \"{period}us\"\n\
         offset = \"{}us\"\n",
        quoted(&names),
        chance.range(0, period - 1)
    );
    network.streams.push(Stream {
        table,
        tables: BTreeMap::from([(on, format!("s{on} = {{ {class}\n"))]),
        index,
        period,
        is_slotted: false,
        from: on,
        to: vec![on],
        ends: (gateway, to),
        pdu_len: length,
        alone: BTreeMap::new(),
    });
    Some(format!("sub_virtual_link_of = \"m{index}\" }}"))
}
