//! Filters, gates and meters of IEEE 802.1Qci, and threats on the wires of an Ethernet: floods, delays, and stations that babble.

use super::chance::Chance;
use super::{Network, Stream, Style};

/// Filters for streams of a segment, most of them so wide that they take nothing.
pub(super) fn filters(chance: &mut Chance, on: usize, network: &mut Network, style: Style) {
    let (mut filters, mut meters) = (Vec::new(), Vec::new());
    let has_gate = chance.percent(70);
    let switches = switches(&network.segments[on].table);
    for stream in &network.streams {
        if !stream.tables.contains_key(&on) || network.is_collected(stream, on) || !chance.percent(70) {
            continue;
        }
        let name = format!("f{}", stream.index);
        let mut filter = format!("name = \"{name}\", stream = \"m{}\"", stream.index);
        if chance.percent(70) {
            let more = chance.range(0, if style.is_wild { 20 } else { 200 });
            filter += &format!(", max_sdu = \"{}B\"", (sdu_len(stream, on) + more).min(1_500));
            filter += chance.one(&["", ", block_on_oversize = true"]);
        }
        if stream.from == on && chance.percent(25) {
            filter += &format!(", from = [\"n{}\"]", stream.ends.0);
        }
        if let Some(first) = switches.first().filter(|_| chance.percent(25)) {
            filter += &format!(", switches = [\"{first}\"]");
        }
        if has_gate && chance.percent(60) {
            filter += ", gate = \"any time\"";
        }
        if chance.percent(60) {
            filter += &format!(", meter = \"{name}\"");
            meters.push(format!("{{ name = \"{name}\", {} }}", meter(chance, stream, on, style)));
        }
        filters.push(filter);
    }
    if filters.is_empty() {
        return;
    }
    let table = &mut network.segments[on].table;
    let filters: Vec<String> = filters.iter().map(|filter| format!("  {{ {filter} }},\n")).collect();
    *table += &format!("stream_filters = [\n{}]\n", filters.concat());
    if filters.iter().any(|filter| filter.contains("gate = ")) {
        *table += &format!("stream_gates = [{{ name = \"any time\", {} }}]\n", gate(chance, style));
    }
    if !meters.is_empty() {
        *table += &format!("flow_meters = [{}]\n", meters.join(", "));
    }
}

/// A gate that is open as a rule.
fn gate(chance: &mut Chance, style: Style) -> String {
    let cycle = chance.one(&[500, 1_000, 10_000]);
    let closes = chance.percent(if style.is_wild { 30 } else { 3 });
    let mut entry = if closes { ", open = false" } else { "" }.to_owned();
    if !closes && chance.percent(40) {
        entry += &format!(", octets_max = \"{}B\"", chance.range(if style.is_wild { 300 } else { 20_000 }, 40_000));
    }
    if !closes && chance.percent(if style.is_wild { 10 } else { 2 }) {
        entry += &format!(", ipv = {}", chance.range(0, 7));
    }
    let flags = chance.one(&["", ", close_on_octets_exceeded = true", ", close_on_invalid_rx = true"]);
    let base = chance.range(0, cycle);
    format!(
        "cycle = \"{cycle}us\", base_time = \"{base}us\"{flags}, entries = [{{ lasts = \"{0}us\"{entry} }}, {{ lasts = \"{0}us\" }}]",
        cycle / 2
    )
}

/// What a meter lets through: what the stream brings, and as a rule more.
fn meter(chance: &mut Chance, stream: &Stream, on: usize, style: Style) -> String {
    let frames = if stream.table.contains("count = ") { 3 } else { 1 };
    let len = (sdu_len(stream, on) + 40) * frames;
    let more = chance.range(if style.is_wild { 101 } else { 130 }, 250);
    // What comes from elsewhere comes with jitter.
    let bursts = if stream.from == on { 2 } else { 5 };
    let kbit = (len * 8_000 * more / 100 / stream.period).max(1);
    let mut meter = format!("cir = \"{kbit}kbit/s\", cbs = \"{}B\"", bursts * len + chance.range(0, 1_500));
    if chance.percent(30) {
        meter += &format!(", eir = \"{kbit}kbit/s\", ebs = \"{}B\"", 1_522 * frames);
        meter += chance.one(&["", ", coupling = true", ", drop_on_yellow = true", ", color_aware = true"]);
    }
    meter += chance.one(&["", ", mark_all_frames_red = true"]);
    meter
}

/// An upper bound of what stands behind header and VLAN tag of a frame of the stream `[byte]`.
fn sdu_len(stream: &Stream, on: usize) -> i64 {
    let alone = if stream.alone.contains_key(&on) { 24 } else { 0 };
    (stream.pdu_len + alone + 8 + 7).max(46)
}

/// The names of a segment's switches, if they are written.
fn switches(table: &str) -> Vec<String> {
    let list = table.lines().find_map(|line| line.strip_prefix("switches = ["));
    list.map_or_else(Vec::new, |list| list.split('"').skip(1).step_by(2).map(str::to_owned).collect())
}

/// Who floods, delays or babbles on a segment.
pub(super) fn threats(chance: &mut Chance, on: usize, network: &mut Network) {
    let (start, count) = (chance.range(0, 300), chance.range(1, 400));
    // A cluster with an attacker has no bounds.
    if network.segments[on].table.contains("as6802 = ") && chance.percent(90) {
        return;
    }
    if chance.percent(18) {
        network.threats.push(format!(
            "[[threats]]\nname = \"flood-{on}\"\nkind = \"flood\"\nat = {{ segment = \"s{on}\" }}\nstart = \"{start}ms\"\n\
             count = 20000\n"
        ));
    }
    let begins_here = |stream: &&Stream| stream.from == on && !stream.is_slotted && !stream.table.contains("count = ");
    let victims: Vec<(i64, usize, i64)> =
        network.streams.iter().filter(begins_here).map(|one| (one.index, one.ends.0, one.period)).collect();
    if victims.is_empty() {
        return;
    }
    if network.segments[on].table.contains("gptp = ") {
        return on_stamped_link(on, &victims, network);
    }
    let (index, node, period) = chance.one(&victims);
    let mut slots = Chance::new(network.seed, 66);
    let in_slots = |stream: &&Stream| stream.from == on && stream.is_slotted && !stream.table.contains("count = ");
    let in_slots: Vec<(i64, usize, i64)> =
        network.streams.iter().filter(in_slots).map(|one| (one.index, one.ends.0, one.period)).collect();
    if !in_slots.is_empty() && slots.percent(8) {
        let (index, node, period) = slots.one(&in_slots);
        let by = slots.one(&[20, 50, 100, 200, 400, 1_000]);
        network.threats.push(format!(
            "[[threats]]\nname = \"late-{on}\"\nkind = {{ delay = {{ by = \"{by}us\" }} }}\nstream = \"m{index}\"\n\
             at = {{ link = \"n{node}\" }}\nstart = \"10ms\"\ncount = {}\n",
            count.min(300_000 / period).max(1)
        ));
    } else if chance.percent(40) {
        let (by, count) = (chance.one(&[20, 100, 300, 500, 1_000, 3_000]), count.min(300_000 / period).max(1));
        network.threats.push(format!(
            "[[threats]]\nname = \"delay-{on}\"\nkind = {{ delay = {{ by = \"{by}us\" }} }}\nstream = \"m{index}\"\n\
             at = {{ link = \"n{node}\" }}\nstart = \"10ms\"\ncount = {count}\n"
        ));
    } else if chance.percent(3) {
        network.threats.push(format!(
            "[[threats]]\nname = \"babble-{on}\"\nkind = \"babble\"\nstream = \"m{index}\"\nat = {{ link = \"n{node}\" }}\n\
             start = \"{start}ms\"\ncount = {count}\n"
        ));
    }
}

/// Who makes up frames on the link of a time-aware system, or delays them: nothing there is bounded then, and what is elsewhere stays so.
fn on_stamped_link(on: usize, victims: &[(i64, usize, i64)], network: &mut Network) {
    let mut chance = Chance::new(network.seed, 65);
    if !chance.percent(20) {
        return;
    }
    let (index, node, _) = chance.one(victims);
    let kind = chance.one(&["\"spoof\"", "\"spoof\"", "\"babble\"", "{ delay = { by = \"100us\" } }"]);
    let (start, count) = (chance.range(0, 300), chance.range(1, 20));
    network.threats.push(format!(
        "[[threats]]\nname = \"stamped-{on}\"\nkind = {kind}\nstream = \"m{index}\"\nat = {{ link = \"n{node}\" }}\n\
         start = \"{start}ms\"\nevery = \"1ms\"\ncount = {count}\n"
    ));
}
