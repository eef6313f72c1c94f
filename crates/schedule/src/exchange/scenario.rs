//! A schedule as a scenario, to be run or to be taken from: its network, its streams in one traffic class of IEEE 802.1Q, and
//! the gate control lists of all ports.
//!
//! Clocks are ideal there, and what processors do before and after a frame is left out: a stream's offset is when its
//! frame leaves the talker. Bytes of protection are part of a stream's length.

use std::collections::BTreeSet;
use std::fmt::Write;

use chronoseal_core::Duration;

use super::Refusal;
use crate::change::Change;
use crate::gates::{GateEntry, GateList};
use crate::network::{LinkProtection, Network, Stream, WIRE_OVERHEAD};
use crate::replay::Told;
use crate::schedule::{Planned, Schedule};

/// Bytes of an Ethernet header with a VLAN tag.
const HEADER: u32 = 18;
/// What a frame with a tag carries at least and at most `[byte]`.
const PAYLOAD: std::ops::RangeInclusive<u32> = 46..=1500;
/// Entries that a port has room for unless the scenario says more.
const ENTRIES: usize = 1024;
/// Cycles that the scenario lasts.
const CYCLES: i64 = 10;
/// The scenario, in a refusal.
const SOURCE: &str = "the scenario";

/// A stream as the scenario has it.
struct Sent<'a> {
    stream: &'a Stream,
    name: String,
    period: Duration,
    offset: Duration,
    route: &'a [usize],
}

/// Writes a schedule whose gates are those of `class`.
///
/// # Errors
/// What a scenario has no place for: a station with several links, directions of a link that differ, bridges that take
/// different times, frames that are none of Ethernet, frames that are not strictly periodic, and a way that its switches do not
/// tell from a shorter one.
pub fn write(schedule: &Schedule, class: u8) -> Result<String, Refusal> {
    let planned: Vec<(&Stream, Planned)> =
        schedule.streams().filter_map(|stream| Some((stream, schedule.planned(&stream.name)?))).collect();
    let mut all = Vec::new();
    for (stream, planned) in &planned {
        let offset = planned.starts.first().copied().unwrap_or(Duration::ZERO);
        let mut starts = planned.starts.iter().zip(0..);
        if !starts.all(|(start, number)| *start == offset + stream.period * number) {
            let message = format!("stream `{}`: its frames are not a period apart", stream.name);
            return Err(refuse(message, "schedule it without jitter"));
        }
        all.push(Sent { stream, name: stream.name.clone(), period: stream.period, offset, route: &planned.route });
    }
    let lists: Vec<PortGates> = schedule.gates(class).into_iter().map(|list| PortGates { list, admin: None }).collect();
    written(schedule.network(), &lists, [schedule.cycle(), schedule.cycle() * CYCLES], &all, class)
}

/// Writes what happens around a change, once: each frame is a stream of its own, and each port has the list of the old schedule, which that
/// of the new one replaces. The scenario begins with the first of the frames' cycles.
///
/// # Errors
/// As [`write()`].
pub fn write_change(network: &Network, change: &Change, class: u8) -> Result<String, Refusal> {
    let sends = || change.told.iter().flat_map(|told| told.sends.iter().map(move |send| (told, send)));
    let latest = |told: &Told| told.stream.deadline.max(told.stream.period);
    let from = change.from;
    let until = sends().map(|(told, (_, at))| *at + latest(told)).max().unwrap_or(from) + Duration::from_ms(1);
    // A whole number of microseconds.
    let lasts = Duration::from_us((until - from).as_ps() / 1_000_000 + 1);
    let mut all = Vec::new();
    for (index, (told, (_, at))) in sends().enumerate() {
        let name = format!("{}.{index}", told.stream.name);
        all.push(Sent { stream: &told.stream, name, period: lasts, offset: *at - from, route: &told.route });
    }
    let since = |list: &GateList| {
        let base = (list.base - from).as_ps().rem_euclid(list.cycle.as_ps().max(1));
        GateList { base: Duration::from_ps(base), ..list.clone() }
    };
    let lists: Vec<PortGates> = (change.lists.values())
        .filter_map(|lists| {
            let (_, first) = lists.first()?;
            let admin = lists.get(1).map(|(begins, list)| begun_at(&since(list), *begins - from));
            Some(PortGates { list: since(first), admin })
        })
        .collect();
    written(network, &lists, [lasts, lasts], &all, class)
}

/// The gates of a port: its list, and the one that replaces it from its base time on.
struct PortGates {
    list: GateList,
    admin: Option<GateList>,
}

/// A list that is in its cycle at an instant, as one whose cycle begins then.
fn begun_at(list: &GateList, at: Duration) -> GateList {
    let phase = (at - list.base).as_ps().rem_euclid(list.cycle.as_ps().max(1));
    let (mut before, mut after, mut from) = (Vec::new(), Vec::new(), 0);
    for entry in &list.entries {
        let until = from + entry.interval.as_ps();
        let part = |from: i64, until: i64| GateEntry { interval: Duration::from_ps(until - from), ..*entry };
        if from < phase {
            before.push(part(from, until.min(phase)));
        }
        if until > phase {
            after.push(part(from.max(phase), until));
        }
        from = until;
    }
    after.extend(before);
    GateList { base: at, entries: after, ..list.clone() }
}

/// The scenario with a cycle, and how long it lasts.
fn written(
    network: &Network,
    lists: &[PortGates],
    [cycle, lasts]: [Duration; 2],
    sent: &[Sent<'_>],
    class: u8,
) -> Result<String, Refusal> {
    let name = |node: usize| quoted(&network.nodes()[node].name);
    let bridges: Vec<usize> = (0..network.nodes().len()).filter(|node| network.nodes()[*node].is_bridge).collect();
    let names: Vec<String> = bridges.iter().map(|node| name(*node)).collect();
    let mut text = format!(
        "schema_version = 2\nname = \"scheduled\"\nduration = \"{lasts}\"\n\n[segments.network.ethernet]\nrate = \"1Gbit/s\"\n\
         cluster_cycle = \"{cycle}\"\nsync = \"ideal\"\nforwarding_delay = \"{}\"\nclass = {{ vlan = {{ pcp = {} }} }}\n\
         switches = [{}]\nlinks = [\n",
        forwarding(network, sent)?,
        class & 7,
        names.join(", "),
    );
    for (number, link) in network.links().iter().enumerate() {
        let back = network.link(link.to, link.from);
        let reverse = back.map(|back| &network.links()[back]);
        let is_same = reverse.is_some_and(|back| (back.rate, back.propagation) == (link.rate, link.propagation));
        let (Some(back), true) = (back, is_same) else {
            let message = format!("the two directions of the link {} differ", network.link_name(number));
            return Err(refuse(
                message,
                "give both the same rate and propagation, since a link of a scenario has one of each",
            ));
        };
        if link.protection != LinkProtection::default() {
            let message = format!("the link {} has a protection of its own", network.link_name(number));
            return Err(refuse(message, "schedule it without, and write the `macsec` of the segment yourself"));
        }
        if link.from > link.to {
            continue;
        }
        let ports = [number, back].into_iter().filter_map(|link| {
            let list = lists.iter().find(|gates| gates.list.link == link)?;
            Some(format!("{} = {{ {} }}", name(network.links()[link].from), gates(network, list)))
        });
        let ports: Vec<String> = ports.collect();
        let ports = if ports.is_empty() { String::new() } else { format!(", ports = {{ {} }}", ports.join(", ")) };
        let (rate, propagation) = (link.rate.0, link.propagation);
        let (from, to) = (name(link.from), name(link.to));
        add(
            &mut text,
            format_args!(
                "  {{ between = [{from}, {to}], rate = \"{rate}bit/s\", propagation_delay = \"{propagation}\"{ports} }},\n"
            ),
        );
    }
    text += "]\n";
    for (number, node) in network.nodes().iter().enumerate().filter(|(_, node)| !node.is_bridge) {
        let ends: Vec<usize> = network.leaving(number).iter().map(|link| network.links()[*link].to).collect();
        if !matches!(ends.as_slice(), [only] if network.nodes()[*only].is_bridge) {
            let message = format!("the station {} has {} links, or one to a station", node.name, ends.len());
            return Err(refuse(message, "join each station with one bridge"));
        }
        add(&mut text, format_args!("\n[[nodes]]\nname = {}\nclock = \"ideal\"\n", quoted(&node.name)));
    }
    sent.iter().try_for_each(|sent| stream_table(&mut text, network, sent))?;
    Ok(text)
}

fn stream_table(text: &mut String, network: &Network, sent: &Sent<'_>) -> Result<(), Refusal> {
    let Sent { stream, name: own_name, period, offset, route } = sent;
    let own = |message: String, help: &str| Err(refuse(format!("stream `{}`: {message}", stream.name), help));
    let name = |node: &usize| quoted(&network.nodes()[*node].name);
    let on_wire = stream.secured_len().saturating_add(network.overhead);
    let Some(payload) = on_wire.checked_sub(WIRE_OVERHEAD + HEADER).filter(|payload| PAYLOAD.contains(payload)) else {
        let [least, most] = [PAYLOAD.start(), PAYLOAD.end()].map(|payload| payload + WIRE_OVERHEAD + HEADER);
        let message = format!(
            "its frames take {on_wire} bytes on the wire, and with a VLAN tag they take from {least} to {most}"
        );
        return own(message, "write a size that counts preamble, header, VLAN tag, checksum and gap");
    };
    let Some(over) = over(network, route) else {
        let message = "its switches are joined by a way that is shorter than its own".to_owned();
        return own(message, "give it the way with the fewest links as its route, or join the switches in another way");
    };
    let to: Vec<String> = stream.to.iter().map(name).collect();
    let over: Vec<String> = over.iter().map(name).collect();
    let switches =
        if over.len() > 2 { format!("network = {{ switches = [{}] }}\n", over.join(", ")) } else { String::new() };
    let (own_name, from, to, deadline) = (quoted(own_name), name(&stream.from), to.join(", "), stream.deadline);
    add(
        text,
        format_args!(
            "\n[[streams]]\nname = {own_name}\nfrom = {from}\nto = [{to}]\nperiod = \"{period}\"\noffset = \"{offset}\"\n\
             deadline = \"{deadline}\"\nlength = \"{payload}B\"\n{switches}"
        ),
    );
    Ok(())
}

/// The bridges on a way; nothing if links between them lead along another one too.
fn over(network: &Network, route: &[usize]) -> Option<BTreeSet<usize>> {
    let links = network.links();
    let is_bridge = |node: &usize| network.nodes()[*node].is_bridge;
    let on_way: BTreeSet<usize> =
        route.iter().flat_map(|link| [links[*link].from, links[*link].to]).filter(is_bridge).collect();
    let joins = |link: &usize| on_way.contains(&links[*link].from) && on_way.contains(&links[*link].to);
    let taken = route.iter().filter(|link| joins(link)).count();
    // Each of them both ways.
    let there = (0..links.len()).filter(joins).count() / 2;
    (taken == there).then_some(on_way)
}

/// What every bridge takes.
fn forwarding(network: &Network, sent: &[Sent<'_>]) -> Result<Duration, Refusal> {
    const HELP: &str = "give all of them the same time, since a segment of a scenario has one `forwarding_delay`";
    let into_bridges = network.links().iter().filter(|link| network.nodes()[link.to].is_bridge);
    let times: BTreeSet<Duration> = into_bridges.map(|link| link.processing).collect();
    let hops: BTreeSet<Duration> = sent.iter().map(|sent| sent.stream.security.per_hop).collect();
    if times.len() > 1 || hops.len() > 1 {
        return Err(refuse("bridges take different times for different frames".into(), HELP));
    }
    let one = |times: BTreeSet<Duration>| times.into_iter().next().unwrap_or(Duration::ZERO);
    Ok(one(times) + one(hops))
}

/// The keys of a port that follows a list.
fn gates(network: &Network, gates: &PortGates) -> String {
    let table = gates_table(&gates.list, gates.admin.as_ref(), network.granularity);
    format!("priorities = [0, 1, 2, 3, 4, 5, 6, 7], gates = {table}")
}

/// The `gates` of a port in a scenario, as a table in one line; all times are whole multiples of `granularity`.
pub fn gate_table(list: &GateList, granularity: Duration) -> String {
    gates_table(list, None, granularity)
}

/// The same with the list that replaces it from its base time on.
pub fn gates_table(list: &GateList, admin: Option<&GateList>, granularity: Duration) -> String {
    let entries = |list: &GateList| {
        let entries = list.entries.iter().map(|entry| {
            let open = (0..8u8).filter(|class| entry.gates >> class & 1 == 1).map(|class| class.to_string());
            format!("{{ open = [{}], lasts = \"{}\" }}", open.collect::<Vec<_>>().join(", "), entry.interval)
        });
        entries.collect::<Vec<_>>().join(", ")
    };
    let most = admin.map_or(0, |admin| admin.entries.len()).max(list.entries.len());
    let room = if most > ENTRIES { format!(", list_len_max = {most}") } else { String::new() };
    let admin = admin.map(|admin| {
        let (base, cycle) = (admin.base, admin.cycle);
        format!(", admin = {{ base_time = \"{base}\", cycle_time = \"{cycle}\", entries = [{}] }}", entries(admin))
    });
    format!(
        "{{ cycle = \"{}\", base_time = \"{}\", granularity = \"{granularity}\"{room}, entries = [{}]{} }}",
        list.cycle,
        list.base,
        entries(list),
        admin.unwrap_or_default()
    )
}

/// A name between quotes.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

fn add(text: &mut String, more: std::fmt::Arguments<'_>) {
    text.write_fmt(more).expect("a text takes all");
}

fn refuse(message: String, help: &str) -> Refusal {
    Refusal::new(SOURCE, None, message, help)
}
