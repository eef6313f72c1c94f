//! Streams over Ethernet whose messages are longer than a frame: UDP datagrams in fragments of IPv4.

use super::chance::Chance;
use super::{Kind, Network, Stream};

/// The classes of streams without slots.
const WITHOUT_SLOTS: [&str; 4] = ["rate_constrained", "best_effort", "vlan", "sub_virtual_link_of"];
/// What a frame has room for of a message at least, whatever protects it and whoever carries it.
const FRAGMENT_LEN: i64 = 1_440;

/// Makes messages of some streams longer than a frame, and their periods as much longer, so that links carry about as much as before.
pub(super) fn lengthen(chance: &mut Chance, network: &mut Network, everything: bool) {
    if !chance.percent(if everything { 70 } else { 60 }) {
        return;
    }
    let most = if everything { chance.one(&[2_900, 2_900, 4_400, 6_000, 20_000, 60_000]) } else { 4_500 };
    // Links carry less than before as often as not, so that there is room for what comes at once.
    let slower = if everything { chance.one(&[1, 2, 2, 4]) } else { 1 };
    let mut apt: Vec<usize> =
        (0..network.streams.len()).filter(|index| is_apt(network, *index, &WITHOUT_SLOTS)).collect();
    if everything {
        // Where little is in the way, so that it can hold: few streams keep to filters of shorter frames, or to slots behind longer ones.
        let is_in_the_way = |index: &usize| {
            let stream = &network.streams[*index];
            let is_beside = |other: &Stream| other.is_slotted && other.tables.keys().eq(stream.tables.keys());
            let is_filtered = |on: &usize| network.segments[*on].table.contains("stream_filters = ");
            stream.tables.keys().any(is_filtered) || network.streams.iter().any(is_beside)
        };
        let is_kept: Vec<bool> = apt.iter().map(|index| !is_in_the_way(index) || chance.percent(20)).collect();
        let mut kept = is_kept.into_iter();
        apt.retain(|_| kept.next().unwrap_or(false));
    }
    let mut is_any = false;
    for (place, index) in apt.into_iter().enumerate() {
        let has_copies = network.streams[index].tables.values().any(|own| own.contains("replication = "));
        if place > 0 && !chance.percent(if has_copies { 75 } else { 30 }) {
            continue;
        }
        let length = chance.range(1_501, most);
        let timeout = chance.percent(12).then(|| chance.one(&[1, 20, 200, 2_000]));
        let stream = &mut network.streams[index];
        let frames = length / FRAGMENT_LEN + 1;
        stream.table = stream.table.lines().map(|line| longer(line, length, frames * slower) + "\n").collect();
        stream.period *= frames * slower;
        for on in stream.tables.keys() {
            // Switches that pass frames in slots on at once are bounded beside messages of one frame alone.
            let table = &mut network.segments[*on].table;
            *table = table.replace("dispatch = \"immediate\"", "dispatch = \"scheduled\"");
        }
        if let Some(timeout) = timeout {
            for table in stream.tables.values_mut() {
                *table = table.replacen("= { ", &format!("= {{ reassembly_timeout = \"{timeout}ms\", "), 1);
            }
        }
        is_any = true;
    }
    if everything && !is_any {
        network.streams.extend(another(chance, network, most));
    }
}

/// Makes messages of a few streams in slots longer than a frame; their periods stay, since they divide the cycle.
pub(super) fn lengthen_in_slots(chance: &mut Chance, network: &mut Network) {
    if !chance.percent(50) {
        return;
    }
    let is_in_slots = |stream: &Stream| stream.tables.values().any(|own| own.contains("\"time-triggered\""));
    let apt = (0..network.streams.len())
        .filter(|index| is_in_slots(&network.streams[*index]) && is_apt(network, *index, &["\"time-triggered\""]));
    for (place, index) in apt.collect::<Vec<_>>().into_iter().enumerate() {
        if place > 0 && !chance.percent(25) {
            continue;
        }
        let most = chance.one(&[2_900, 4_400, 9_000]);
        let length = chance.range(1_501, most);
        let timeout = chance.percent(12).then(|| chance.one(&[1, 20, 200, 2_000]));
        let stream = &mut network.streams[index];
        stream.table = stream.table.lines().map(|line| longer(line, length, 1) + "\n").collect();
        for own in stream.tables.values_mut().filter(|_| timeout.is_some()) {
            *own = own.replacen("= { ", &format!("= {{ reassembly_timeout = \"{}ms\", ", timeout.unwrap_or(1)), 1);
        }
        let on = stream.tables.keys().copied().collect::<Vec<_>>();
        on.iter().filter(|_| chance.percent(80)).for_each(|on| {
            let table = &mut network.segments[*on].table;
            *table = table.replace("dispatch = \"immediate\"", "dispatch = \"scheduled\"");
        });
    }
}

/// A further stream of such messages, where an Ethernet has no more to it than frames of best effort and virtual links.
fn another(chance: &mut Chance, network: &Network, most: i64) -> Option<Stream> {
    let keys = ["gates = ", "stream_filters = ", "networks = {", "as6802 = ", "gptp = ", "committed = "];
    let is_quiet = |on: &usize| {
        let segment = &network.segments[*on];
        let has_slots = network.streams.iter().any(|stream| stream.is_slotted && stream.tables.contains_key(on));
        segment.kind == Kind::Ethernet && !has_slots && !keys.iter().any(|key| segment.table.contains(key))
    };
    let on = (0..network.segments.len()).find(is_quiet)?;
    let nodes: Vec<usize> = (0..network.nodes.len()).filter(|node| network.nodes[*node].on == [on]).collect();
    let [from, to] = *nodes.first_chunk()?;
    let index = network.streams.iter().map(|stream| stream.index).max().unwrap_or(0) + 1;
    let (length, period) = (chance.range(1_501, most.min(6_000)), chance.one(&[20_000, 50_000, 123_000]));
    let table = format!(
        "[[streams]]\nname = \"m{index}\"\nfrom = \"n{from}\"\nto = [\"n{to}\"]\nlength = \"{length}B\"\nperiod = \"{period}us\"\n"
    );
    let class = format!("s{on} = {{ class = {{ best_effort = {{ priority = {} }} }} }}\n", chance.range(0, 7));
    Some(Stream {
        table,
        tables: [(on, class)].into(),
        index,
        period,
        is_slotted: false,
        from: on,
        to: vec![on],
        ends: (from, vec![to]),
        pdu_len: length,
        alone: Default::default(),
    })
}

/// Attacks that change or repeat first frames of such messages on the link of their sender. Each costs a message, which is no
/// contradiction; that an attempt is not accounted for is one.
pub(super) fn attack_on_links(chance: &mut Chance, network: &mut Network) {
    if !network.threats.is_empty() || !chance.percent(50) {
        return;
    }
    let length = |stream: &Stream| {
        let written = stream.table.lines().find_map(|line| line.strip_prefix("length = \"")?.strip_suffix("B\""));
        written.and_then(|len| len.parse::<i64>().ok()).unwrap_or(0)
    };
    let is_apt = |stream: &&Stream| {
        let on_ethernet = network.segments[stream.from].kind == Kind::Ethernet && stream.tables.len() == 1;
        on_ethernet && length(stream) > 1_500 && !network.segments[stream.from].table.contains("networks = {")
    };
    let Some(stream) = network.streams.iter().find(is_apt) else { return };
    let kind = chance.one(&["tamper", "replay"]);
    let (start, count) = (chance.range(0, 100), chance.range(1, 8));
    let every = chance.range(1_000, 60_000);
    network.threats.push(format!(
        "[[threats]]\nname = \"changer\"\nkind = \"{kind}\"\nstream = \"m{}\"\nat = {{ link = \"n{}\" }}\nstart = \"{start}ms\"\n\
         every = \"{every}us\"\ncount = {count}\n",
        stream.index, stream.ends.0
    ));
}

/// A line of a stream's table for messages of another length, so many times as far apart.
fn longer(line: &str, length: i64, times: i64) -> String {
    let us = |key: &str| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix("us\"")?.parse::<i64>().ok();
    if line.starts_with("length = ") {
        return format!("length = \"{length}B\"");
    }
    let scaled = ["period", "deadline"].into_iter().find_map(|key| Some((key, us(key)?)));
    scaled.map_or_else(|| line.to_owned(), |(key, us)| format!("{key} = \"{}us\"", us * times))
}

/// True of a stream that travels over Ethernet alone in frames of its own, whose copies stay on one segment.
fn is_apt(network: &Network, index: usize, classes: &[&str]) -> bool {
    let stream = &network.streams[index];
    stream.tables.iter().all(|(on, own)| is_apt_on(network, stream, (*on, own), classes))
        && !stream.table.contains("payload = ")
}

/// True if it is such a stream on one segment of its way.
fn is_apt_on(network: &Network, stream: &Stream, (on, own): (usize, &str), classes: &[&str]) -> bool {
    let segment = &network.segments[on];
    let is_of_class = classes.iter().any(|class| own.contains(class));
    let keys = ["\"match\"", "lmax = ", "lmin = ", "committed = "];
    let is_plain = !keys.iter().any(|key| own.contains(key));
    segment.kind == Kind::Ethernet && is_of_class && is_plain && !network.is_collected(stream, on)
}
