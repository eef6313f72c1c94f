//! Virtual links over networks A and B, and streams both ways round a ring, with links that fail: no frame is later than its bound, none is delivered twice or out of
//! order, and none is lost, unless the analysis says that this can be.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use chronoseal_analysis::segment::{BOUNDS, Cause, bounds};
use chronoseal_catalog::Prepared;
use chronoseal_core::random::{self, ChaCha8Rng, Purpose};
use chronoseal_core::{DiscardReason, Duration, Event, EventKind, NodeId, SimTime, StreamId};
use chronoseal_plan::{Copies, Ethernet, Plan, Sync};
use chronoseal_sim::{FrameContext, Observer};

use super::secured::secured;
use super::switched::{below, one_of, plan_of};
use super::watch::Watch;
use super::{from_environment, outcome};

/// So many networks are tried.
const NETWORKS: u64 = 40;
/// Of those with eight ways for each stream, which take their time to bound.
const LADDERS: u64 = 25;
/// Of those with slots.
const SLOTTED: u64 = 30;
/// Beside all else in every network, so that nothing else depends on them.
const HOSTS: [&str; 4] = [
    "",
    "",
    "host_interface = { base = \"20us\", per_byte = \"80ns\", buffer = \"80kB\" }\n",
    "host_interface = { base = \"90us\", per_byte = \"8ns\", buffer = \"16kB\" }\n",
];
/// Nothing is sent for so long before the end that it could still be under way.
const DURATION: Duration = Duration::from_ms(300);

/// What every network begins with, up to what its segment has of its own.
fn head(rng: &mut ChaCha8Rng, seed: u64, name: &str) -> String {
    format!(
        "schema_version = 2\nname = \"{name}\"\nseed = {seed}\nduration = \"{}ms\"\nfidelity = \"{}\"\n[segments.afdx.ethernet]\n\
         rate = \"100Mbit/s\"\ncluster_cycle = \"20ms\"\nsync = \"ideal\"\nforwarding_delay = \"{}us\"\n{}",
        DURATION.as_ms_f64(),
        one_of(rng, &["timing", "bytes"]),
        one_of(rng, &[0, 1, 16]),
        one_of(rng, &["", "forwarding_jitter = { min = \"0us\", mean = \"4us\", max = \"30us\" }\n"]),
    )
}

/// The end of a list of links, of which up to two fail.
fn failures(rng: &mut ChaCha8Rng, links: &[[String; 2]]) -> String {
    let mut text = "]\nfailures = [\n".to_owned();
    let (first, second) = (below(rng, links.len()), below(rng, links.len()));
    for (place, link) in [first, second].into_iter().take(below(rng, 3)).enumerate() {
        if place == 0 || link != first {
            let ([one, other], at_ms) = (&links[link], one_of(rng, &[0, 50, 133]));
            writeln!(text, "  {{ link = [\"{one}\", \"{other}\"], at = \"{at_ms}ms\" }},").expect("a text takes all");
        }
    }
    text + "]\n"
}

/// A protection, and nodes with drivers and what else they have.
fn nodes(rng: &mut ChaCha8Rng, count: usize, host: &mut dyn FnMut() -> &'static str) -> String {
    let mut text =
        "[[protections]]\nname = \"tagged\"\nhmac = { hash = \"sha-256\", tag = \"16B\", freshness = \"full\" }\n"
            .to_owned();
    for node in 0..count {
        let driver = one_of(rng, &["", "driver = { min = \"1us\", mean = \"5us\", max = \"40us\" }\n"]);
        write!(text, "[[nodes]]\nname = \"n{node}\"\n{driver}{}", host()).expect("a text takes all");
    }
    text
}

/// In some networks a message longer than a frame for a stream, each as one in three.
struct Longer(ChaCha8Rng, bool);

impl Longer {
    fn new(seed: u64, which: u64) -> Self {
        // Beside all else, so that nothing else depends on them.
        let mut rng = random::stream(seed, Purpose::Medium, which);
        let are_there = below(&mut rng, 2) == 0;
        Self(rng, are_there)
    }

    /// Length in bytes, and period in milliseconds.
    fn message(&mut self) -> Option<(u64, u64)> {
        let Self(rng, are_there) = self;
        let is_one = *are_there && below(rng, 3) == 0;
        is_one.then(|| (one_of(rng, &[1_600, 2_900, 4_000, 9_000]), one_of(rng, &[20, 40])))
    }
}

/// Two rows of one to three switches, four nodes with a link to each, and links that fail.
fn network(seed: u64) -> String {
    let rng = &mut random::stream(seed, Purpose::Medium, 3);
    let lengths = [1 + below(rng, 3), 1 + below(rng, 3)];
    let names = |network: usize| (0..lengths[network]).map(move |switch| format!("{}{switch}", ["A", "B"][network]));
    let quoted = |names: Vec<String>| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let [a, b] = [0, 1].map(|network| quoted(names(network).collect()));
    let own = format!(
        "virtual_links = {{ standard = false }}\nswitches = [{a}, {b}]\nnetworks = {{ a = [{a}], b = [{b}] }}\n"
    );
    let mut text = head(rng, seed, "redundant") + &own;
    let mut links: Vec<[String; 2]> = Vec::new();
    for network in 0..2 {
        let row: Vec<String> = names(network).collect();
        links.extend(row.windows(2).map(|pair| [pair[0].clone(), pair[1].clone()]));
        links.extend((0..4).map(|node| [format!("n{node}"), row[below(rng, row.len())].clone()]));
    }
    text += "links = [\n";
    for [one, other] in &links {
        let own = one_of(rng, &["", "", ", rate = \"10Mbit/s\"", ", rate = \"1Gbit/s\""]);
        writeln!(text, "  {{ between = [\"{one}\", \"{other}\"]{own} }},").expect("a text takes all");
    }
    text += &failures(rng, &links);
    let hosts = &mut random::stream(seed, Purpose::Medium, 12);
    text += &nodes(rng, 4, &mut || one_of(hosts, &HOSTS));
    let longer = &mut Longer::new(seed, 8);
    for stream in 0..3 + below(rng, 6) {
        let from = below(rng, 4);
        let to: Vec<String> = (1..2 + below(rng, 2)).map(|step| format!("\"n{}\"", (from + step) % 4)).collect();
        let period_ms = one_of(rng, &[2, 4, 5, 10]);
        let skew = one_of(rng, &["", ", skew_max = \"20us\"", ", skew_max = \"400us\"", ", skew_max = \"30ms\""]);
        let over = one_of(rng, &["", "", "", ", networks = [\"b\"]"]);
        let (length, message) = (one_of(rng, &[46, 100, 333, 800]), longer.message());
        let period_ms = message.map_or(period_ms, |(_, period_ms)| period_ms);
        write!(
            text,
            "[[streams]]\nname = \"s{stream}\"\nfrom = \"n{from}\"\nto = [{}]\nperiod = \"{period_ms}ms\"\nlength = \"{}B\"\n{}\
             afdx = {{ class = {{ rate_constrained = {{ bag = \"{}us\", jitter = \"9ms\"{skew} }} }}{over} }}\n",
            to.join(", "),
            message.map_or(length, |(length, _)| length),
            one_of(rng, &["", "protection = \"tagged\"\n"]),
            // A message of 9,000 bytes takes seven frames.
            if message.is_some() { period_ms * 1_000 / 8 } else { period_ms * one_of(rng, &[1_000, 900]) },
        )
        .expect("a text takes all");
    }
    secured(text, seed)
}

/// Two rows of one or two switches, four nodes with a link to each, streams of all classes of which some have slots, any integration
/// policy, and links that fail: with a beacon, which goes over A, only those of B.
pub(super) fn slotted(seed: u64) -> String {
    let rng = &mut random::stream(seed, Purpose::Medium, 7);
    let lengths = [1 + below(rng, 2), 1 + below(rng, 2)];
    let names = |network: usize| (0..lengths[network]).map(move |switch| format!("{}{switch}", ["A", "B"][network]));
    let quoted = |names: Vec<String>| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let [a, b] = [0, 1].map(|network| quoted(names(network).collect()));
    let own = format!(
        "access = \"{}\"\nguard_period = \"{}us\"\nprecision = \"2us\"\nintegration_policy = \"{}\"\n\
         virtual_links = {{ standard = false }}\nswitches = [{a}, {b}]\nnetworks = {{ a = [{a}], b = [{b}] }}\n",
        one_of(rng, &["per-link", "per-link", "shared-slots"]),
        one_of(rng, &[45, 60, 130]),
        one_of(rng, &["timely-block", "timely-block", "shuffling", "preemption"]),
    );
    let has_beacon = below(rng, 4) == 0;
    let mut text = head(rng, seed, "slotted") + &own;
    if has_beacon {
        text = text.replace("sync = \"ideal\"", "sync = \"beacon\"");
    }
    let mut links: Vec<[String; 2]> = Vec::new();
    let mut of_b = 0;
    for network in 0..2 {
        of_b = links.len();
        let row: Vec<String> = names(network).collect();
        links.extend(row.windows(2).map(|pair| [pair[0].clone(), pair[1].clone()]));
        links.extend((0..4).map(|node| [format!("n{node}"), row[below(rng, row.len())].clone()]));
    }
    text += "links = [\n";
    for [one, other] in &links {
        let own = one_of(rng, &["", "", ", rate = \"10Mbit/s\"", ", rate = \"1Gbit/s\""]);
        writeln!(text, "  {{ between = [\"{one}\", \"{other}\"]{own} }},").expect("a text takes all");
    }
    text += &failures(rng, if has_beacon { &links[of_b..] } else { &links });
    let hosts = &mut random::stream(seed, Purpose::Medium, 13);
    text += &nodes(rng, 4, &mut || one_of(hosts, &HOSTS));
    let exact = "clock = \"ideal\"\n";
    for node in 0..4 {
        let name = format!("name = \"n{node}\"\n");
        text = text.replace(&name, &format!("{name}{exact}"));
    }
    let longer = &mut Longer::new(seed, 15);
    for stream in 0..4 + below(rng, 7) {
        let from = below(rng, 4);
        let to: Vec<String> = (1..2 + below(rng, 2)).map(|step| format!("\"n{}\"", (from + step) % 4)).collect();
        let period_ms = one_of(rng, &[4, 5, 10, 20]);
        let skew = one_of(rng, &["", "", "", ", skew_max = \"400us\""]);
        let over = one_of(rng, &["", "", "", ", networks = [\"b\"]"]);
        let is_second = over.is_empty();
        let own = match if stream == 0 { 0 } else { below(rng, 5) } {
            0..2 => format!("class = \"time-triggered\"{over}{}", if is_second { skew } else { "" }),
            2..4 => format!(
                "class = {{ rate_constrained = {{ bag = \"{}us\", jitter = \"9ms\"{skew} }} }}{over}",
                period_ms * one_of(rng, &[1_000, 900])
            ),
            _ => format!("class = {{ best_effort = {{ priority = {} }} }}{over}", one_of(rng, &[0, 3, 7])),
        };
        let length = one_of(rng, &[46, 100, 333, 800]);
        // The period stays, since it divides the cycle.
        let message = longer.message().filter(|_| own.contains("time-triggered"));
        write!(
            text,
            "[[streams]]\nname = \"s{stream}\"\nfrom = \"n{from}\"\nto = [{}]\nperiod = \"{period_ms}ms\"\nlength = \"{}B\"\n{}\
             afdx = {{ {own} }}\n",
            to.join(", "),
            message.map_or(length, |(length, _)| length),
            one_of(rng, &["", "protection = \"tagged\"\n"]),
        )
        .expect("a text takes all");
    }
    secured(text, seed)
}

/// What receivers took of each stream, in order, and how far apart copies were.
#[derive(Default)]
struct Taken {
    sent: BTreeMap<StreamId, (u64, SimTime)>,
    sequences: BTreeMap<(StreamId, NodeId), Vec<u64>>,
    skew: BTreeMap<(StreamId, NodeId), Duration>,
    eliminated: u64,
}

impl Observer for Taken {
    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, _: Option<FrameContext<'_>>) {
        match event.kind {
            // What may still be under way at the end is left out.
            EventKind::Sent if at < SimTime::ZERO + DURATION - Duration::from_ms(60) => {
                *self.sent.entry(event.stream).or_default() = (event.sequence + 1, at);
            }
            EventKind::Delivered => self.sequences.entry((event.stream, node)).or_default().push(event.sequence),
            EventKind::Discarded(DiscardReason::CopyEliminated) => {
                self.eliminated += 1;
                let skew = self.skew.entry((event.stream, node)).or_default();
                *skew = (*skew).max(Duration::from_ps(event.value));
            }
            _ => {}
        }
    }
}

/// What was seen in all networks, so that none of it is a promise about nothing.
#[derive(Default, Debug)]
struct Seen {
    eliminated: u64,
    repeated: u64,
    lost: u64,
    cut_off: u64,
    whole_though_a_link_failed: u64,
    skew_at_risk: u64,
    /// Messages of several frames that came although a link failed over which copies of them went.
    long_though_a_link_failed: u64,
}

fn check(seed: u64, plan: &Plan, text: &str, seen: &mut Seen) {
    let prepared = Prepared::new(plan).expect("there is room for what has slots");
    let taken = chronoseal_sim::run(&prepared, Taken::default(), &mut |_| true).expect("it can be built").observer;
    let view = Ethernet::first(plan).expect("it is one");
    let tables: Vec<_> = plan.segment_ids().map(|id| prepared.schedule(id).cloned()).collect();
    let risks = bounds(plan, &tables, BOUNDS).risks;
    seen.eliminated += taken.eliminated;
    for stream in view.streams() {
        let of = |is_it: &dyn Fn(&Cause) -> bool| {
            risks.iter().any(|risk| risk.stream == Some(stream.id) && is_it(&risk.cause))
        };
        let can_be_apart = of(&|cause| matches!(cause, Cause::Skew { .. }));
        let can_be_cut_off = of(&|cause| matches!(cause, Cause::LinkFails { .. }));
        let can_be_thrown_away =
            of(&|cause| matches!(cause, Cause::LinkFull { .. } | Cause::HostBufferFull { .. } | Cause::Policed { .. }));
        let can_be_absent =
            stream.class.is_time_triggered() && risks.iter().any(|risk| risk.stream.is_none_or(|own| own == stream.id));
        // Two cycles for the clocks.
        let has_beacon = stream.class.is_time_triggered() && view.segment.sync == Sync::Beacon;
        let first =
            if has_beacon { (view.segment.cluster_cycle * 2).div_floor(stream.stream.period) as u64 } else { 0 };
        let is_single = matches!(stream.copies, Copies::One(_));
        let fails = view.segment.failures.iter().any(|failure| view.passes(&stream, failure.link));
        let (sent, _) = taken.sent[&stream.id];
        seen.skew_at_risk += u64::from(can_be_apart);
        seen.cut_off += u64::from(can_be_cut_off);
        for receiver in &stream.stream.receivers {
            let who = format!("seed {seed}, stream {} to node {}", stream.stream.name, receiver.0);
            let got = taken.sequences.get(&(stream.id, *receiver)).cloned().unwrap_or_default();
            // A frame that several ways bring may overtake another one with vector recovery, and never comes twice.
            let may_overtake = stream.copies.have_r_tag();
            let is_once = got.iter().collect::<BTreeSet<_>>().len() == got.len();
            let is_in_order = is_once && (may_overtake || got.windows(2).all(|pair| pair[0] < pair[1]));
            seen.repeated += u64::from(!is_in_order);
            assert!(is_in_order || can_be_apart, "{who}: twice or out of order: {got:?}\n{text}");
            assert!(is_in_order || !is_single, "{who}: {got:?}\n{text}");
            let lost = (first..sent).filter(|number| !got.contains(number)).count() as u64;
            seen.lost += u64::from(lost > 0);
            // Copies that come far apart can be held against the order of those that came in between.
            let is_told = can_be_cut_off || can_be_thrown_away || can_be_apart || can_be_absent;
            assert!(lost == 0 || is_told, "{who}: {lost} of {sent} are lost\n{text}");
            seen.whole_though_a_link_failed += u64::from(lost == 0 && fails && !is_single);
            let came = fails && !is_single && lost == 0 && !can_be_cut_off && !can_be_apart;
            seen.long_though_a_link_failed += if came && stream.datagram.is_some() { got.len() as u64 } else { 0 };
            let skew = taken.skew.get(&(stream.id, *receiver));
            if let (Copies::BothNetworks { skew_max }, Some(skew)) = (stream.copies, skew) {
                assert!(skew <= skew_max, "{who}: {skew} is no copy's");
            }
        }
    }
}

/// Rings of four to six switches with a node at each, some with a host interface, streams over one way or both, and links that fail.
fn ring(seed: u64) -> String {
    let rng = &mut random::stream(seed, Purpose::Medium, 4);
    // Beside all else, so that nothing else depends on them.
    let hosts = &mut random::stream(seed, Purpose::Medium, 6);
    let switches = 4 + below(rng, 3);
    let names: Vec<String> = (0..switches).map(|switch| format!("\"S{switch}\"")).collect();
    let own = format!("class = {{ vlan = {{ pcp = 3 }} }}\nswitches = [{}]\nlinks = [\n", names.join(", "));
    let mut text = head(rng, seed, "ring") + &own;
    let trunk = |switch: usize| [format!("S{switch}"), format!("S{}", (switch + 1) % switches)];
    for switch in 0..switches {
        let ([one, other], own) =
            (trunk(switch), one_of(rng, &["", "", ", rate = \"10Mbit/s\"", ", rate = \"1Gbit/s\""]));
        writeln!(text, "  {{ between = [\"{one}\", \"{other}\"]{own} }},").expect("a text takes all");
        writeln!(text, "  {{ between = [\"n{switch}\", \"S{switch}\"] }},").expect("a text takes all");
    }
    text += "]\nfailures = [\n";
    if below(rng, 3) > 0 {
        let ([one, other], at_ms) = (trunk(below(rng, switches)), one_of(rng, &[0, 50, 133]));
        writeln!(text, "  {{ link = [\"{one}\", \"{other}\"], at = \"{at_ms}ms\" }},").expect("a text takes all");
    }
    text += "]\n";
    text += &nodes(rng, switches, &mut || one_of(hosts, &HOSTS));
    let longer = &mut Longer::new(seed, 9);
    for stream in 0..3 + below(rng, 6) {
        let (from, steps) = (below(rng, switches), 2 + below(rng, switches - 3));
        let between = |steps: &mut dyn Iterator<Item = usize>| {
            steps.map(|step| format!("\"S{}\"", (from + step) % switches)).collect::<Vec<_>>().join(", ")
        };
        let (there, back) = (between(&mut (1..steps)), between(&mut (steps + 1..switches)));
        let period_ms = one_of(rng, &[2, 4, 5, 10]);
        let recovery = one_of(rng, &["", ", history = 64", ", recovery = \"match\"", ", reset_timeout = \"1ms\""]);
        let message = longer.message();
        let period_ms = message.map_or(period_ms, |(_, period_ms)| period_ms);
        let recovery =
            if message.is_some() { recovery.replace(", recovery = \"match\"", "") } else { recovery.to_owned() };
        // Never between neighbours, whose one link both ways would take as the shortest.
        let over = match (one_of(rng, &[true, true, false]), one_of(rng, &[true, false])) {
            (true, _) => format!("replication = {{ ways = [[{there}], [{back}]]{recovery} }}"),
            (false, true) => format!("switches = [{there}]"),
            (false, false) => format!("switches = [{back}]"),
        };
        write!(
            text,
            "[[streams]]\nname = \"s{stream}\"\nfrom = \"n{from}\"\nto = [\"n{}\"]\nperiod = \"{period_ms}ms\"\nlength = \"{}B\"\n{}\
             afdx = {{ class = {{ vlan = {{ pcp = {} }} }}, {over} }}\n",
            (from + steps) % switches,
            message.map_or(one_of(rng, &[46, 100, 333, 800]), |(length, _)| length),
            one_of(rng, &["", "protection = \"tagged\"\n"]),
            one_of(rng, &[1, 3, 6]),
        )
        .expect("a text takes all");
    }
    secured(text, seed)
}

/// Two rows of switches between the first and the last one, with rungs across over which copies go both ways and at whose ends they
/// become one, and links that fail.
fn ladder(seed: u64) -> String {
    let rng = &mut random::stream(seed, Purpose::Medium, 5);
    let rows = 1 + below(rng, 3);
    // Twice as many ways with each rung, and a stream may have eight.
    let first = below(rng, rows);
    let rungs: Vec<usize> =
        (0..rows).filter(|row| *row == first || (*row == (first + 1) % rows && below(rng, 2) == 0)).collect();
    let switch = |side: usize, row: usize| format!("{}{row}", ["L", "R"][side]);
    let mut names = vec!["start".to_owned(), "end".to_owned()];
    names.extend((0..rows).flat_map(|row| [switch(0, row), switch(1, row)]));
    let quoted = |names: &[String]| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let mut links = Vec::new();
    for side in 0..2 {
        let mut last = "start".to_owned();
        for next in (0..rows).map(|row| switch(side, row)).chain(["end".to_owned()]) {
            links.push([last, next.clone()]);
            last = next;
        }
    }
    links.extend(rungs.iter().map(|row| [switch(0, *row), switch(1, *row)]));
    let own = format!("class = {{ vlan = {{ pcp = 3 }} }}\nswitches = [{}]\nlinks = [\n", quoted(&names));
    let mut text = head(rng, seed, "ladder") + &own;
    for [one, other] in &links {
        let own = one_of(rng, &["", "", ", rate = \"10Mbit/s\"", ", rate = \"1Gbit/s\""]);
        writeln!(text, "  {{ between = [\"{one}\", \"{other}\"]{own} }},").expect("a text takes all");
    }
    for (node, at) in ["start", "end", "start", "end"].iter().enumerate() {
        writeln!(text, "  {{ between = [\"n{node}\", \"{at}\"] }},").expect("a text takes all");
    }
    text += &failures(rng, &links);
    text += &nodes(rng, 4, &mut || "");
    // By way: on which side it begins, and at which rungs it changes sides.
    let ways: Vec<String> = (0..2usize << rungs.len())
        .map(|way| {
            let mut side = way & 1;
            let mut over = Vec::new();
            for row in 0..rows {
                over.push(switch(side, row));
                let rung = rungs.iter().position(|rung| *rung == row);
                if rung.is_some_and(|rung| way >> (rung + 1) & 1 == 1) {
                    side = 1 - side;
                    over.push(switch(side, row));
                }
            }
            format!("[{}]", quoted(&over))
        })
        .collect();
    let mut eliminating: Vec<String> = rungs.iter().flat_map(|row| [switch(0, *row), switch(1, *row)]).collect();
    eliminating.extend((below(rng, 2) == 0).then(|| "end".to_owned()));
    for stream in 0..2 + below(rng, 4) {
        let period_ms = one_of(rng, &[2, 4, 5, 10]);
        let by_vector = one_of(rng, &["", ", history = 64", ", reset_timeout = \"1ms\""]);
        let recovery = if seed % 4 == 3 { ", recovery = \"match\"" } else { by_vector };
        write!(
            text,
            "[[streams]]\nname = \"s{stream}\"\nfrom = \"n{}\"\nto = [{}]\nperiod = \"{period_ms}ms\"\nlength = \"{}B\"\n{}\
             afdx = {{ class = {{ vlan = {{ pcp = {} }} }}, replication = {{ ways = [{}], eliminate_at = [{}]{recovery} }} }}\n",
            one_of(rng, &[0, 2]),
            one_of(rng, &["\"n1\"", "\"n3\"", "\"n1\", \"n3\""]),
            one_of(rng, &[46, 100, 333, 800]),
            one_of(rng, &["", "protection = \"tagged\"\n"]),
            one_of(rng, &[1, 3, 6]),
            ways.join(", "),
            quoted(&eliminating),
        )
        .expect("a text takes all");
    }
    text
}

fn try_all(network: fn(u64) -> String, count: u64, has_messages: bool) {
    let only = from_environment("REDUNDANT_SEED");
    let wanted = from_environment("REDUNDANT_NETWORKS").unwrap_or(count);
    let mut seen = Seen::default();
    for seed in only.map_or(0..wanted, |seed| seed..seed + 1) {
        let text = network(seed);
        let plan = plan_of(&text);
        let outcome = outcome(&plan).expect("nothing has slots");
        assert!(outcome.wrong.is_empty(), "seed {seed}:\n{}\n{text}", outcome.wrong.join("\n"));
        assert!(outcome.lost.is_empty(), "seed {seed}: {:?}\n{text}", outcome.lost);
        check(seed, &plan, &text, &mut seen);
    }
    if only.is_none() {
        let Seen { eliminated, repeated, lost, cut_off, whole_though_a_link_failed, skew_at_risk, .. } = seen;
        let counts = [eliminated, repeated, lost, cut_off, whole_though_a_link_failed, skew_at_risk];
        assert!(counts.iter().all(|count| *count > 0), "{seen:?} leaves something untried");
        assert_eq!(seen.long_though_a_link_failed > 0, has_messages, "{seen:?}");
    }
}

/// Slots, virtual links and best effort beside each other over both networks. `SLOTTED_SEED=17` tries that network alone,
/// `SLOTTED_NETWORKS=5000` more of them.
#[test]
fn slots_beside_all_else_over_two_networks_are_in_time_once_whatever_fails() {
    let only = from_environment("SLOTTED_SEED");
    let wanted = from_environment("SLOTTED_NETWORKS").unwrap_or(SLOTTED);
    let (mut seen, mut tried, mut held, mut bounded) = (Seen::default(), 0, 0, 0);
    for seed in only.map_or(0..wanted, |seed| seed..seed + 1) {
        let text = slotted(seed);
        let plan = plan_of(&text);
        // Not all of them have room for their slots.
        let Some(outcome) = outcome(&plan) else { continue };
        assert!(outcome.wrong.is_empty(), "seed {seed}:\n{}\n{text}", outcome.wrong.join("\n"));
        assert!(outcome.lost.is_empty(), "seed {seed}: {:?}\n{text}", outcome.lost);
        tried += 1;
        bounded += outcome.ratios.len();
        held += u64::from(!outcome.has_risk && outcome.unbounded.is_empty());
        check(seed, &plan, &text, &mut seen);
    }
    println!("{tried} networks of {wanted}, {held} of them held, {bounded} ends with a bound, {seen:?}");
    let Seen { eliminated, lost, cut_off, whole_though_a_link_failed, skew_at_risk, .. } = seen;
    let counts =
        [held, eliminated, lost, cut_off, whole_though_a_link_failed, skew_at_risk, seen.long_though_a_link_failed];
    assert!(only.is_some() || counts.iter().all(|count| *count > 0), "{seen:?} leaves something untried");
}

/// `REDUNDANT_SEED=17` tries that network alone, `REDUNDANT_NETWORKS=5000` more of them.
#[test]
fn a_virtual_link_over_two_networks_is_in_time_once_and_in_order_whatever_fails() {
    try_all(network, NETWORKS, true);
}

/// As above.
#[test]
fn a_stream_over_both_ways_round_a_ring_is_in_time_once_whatever_fails() {
    try_all(ring, NETWORKS, true);
}

/// As above.
#[test]
fn a_stream_whose_copies_meet_in_switches_is_in_time_once_whatever_fails() {
    try_all(ladder, LADDERS, false);
}

/// Both ways round a ring at once, and a stream of a neighbour whose frames come right behind the copies.
const BEHIND_COPIES: &str = r#"
schema_version = 2
name = "behind"
duration = "300ms"
fidelity = "timing"
[segments.ring.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
sync = "ideal"
class = { vlan = { pcp = 3 } }
switches = ["S0", "S1", "S2", "S3"]
links = [
  { between = ["S0", "S1"] }, { between = ["S1", "S2"] }, { between = ["S2", "S3"] }, { between = ["S3", "S0"] },
  { between = ["far", "S0"] }, { between = ["near", "S2"] }, { between = ["host", "S2"] },
]
[[nodes]]
name = "far"
clock = "ideal"
[[nodes]]
name = "near"
clock = "ideal"
[[nodes]]
name = "host"
clock = "ideal"
host_interface = { base = "100us", per_byte = "0ns", buffer = "80kB" }
[[streams]]
name = "twice"
from = "far"
to = ["host"]
period = "2ms"
offset = "0us"
length = "100B"
ring = { replication = { ways = [["S1"], ["S3"]] } }
[[streams]]
name = "once"
from = "near"
to = ["host"]
period = "2ms"
offset = "40us"
length = "100B"
"#;

/// One switch for each network, so that both copies of a frame come at once, and what is beside them right behind.
const BEHIND_NETWORKS: &str = r#"
schema_version = 2
name = "behind-networks"
duration = "100ms"
fidelity = "timing"
[segments.afdx.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
sync = "ideal"
virtual_links = { standard = false }
switches = ["A", "B"]
networks = { a = ["A"], b = ["B"] }
links = [
  { between = ["far", "A"] }, { between = ["near", "A"] }, { between = ["host", "A"] },
  { between = ["far", "B"] }, { between = ["near", "B"] }, { between = ["host", "B"] },
]
[[nodes]]
name = "far"
clock = "ideal"
[[nodes]]
name = "near"
clock = "ideal"
[[nodes]]
name = "host"
clock = "ideal"
host_interface = { base = "100us", per_byte = "0ns", buffer = "80kB" }
[[streams]]
name = "twice"
from = "far"
to = ["host"]
period = "2ms"
offset = "0us"
length = "100B"
afdx = { class = { rate_constrained = { bag = "2ms", skew_max = "1ms" } } }
[[streams]]
name = "once"
from = "near"
to = ["host"]
period = "2ms"
offset = "10us"
length = "100B"
afdx = { class = { rate_constrained = { bag = "2ms" } }, networks = ["b"] }
"#;

#[test]
fn a_host_interface_is_busy_with_every_copy_although_its_node_takes_one() {
    for text in [BEHIND_COPIES, BEHIND_NETWORKS] {
        let outcome = outcome(&plan_of(text)).expect("nothing has slots");
        assert_eq!((outcome.wrong, outcome.lost, outcome.unbounded), (Vec::new(), Vec::new(), Vec::new()));
    }
}

/// Both copies are copied out of the network interface, one behind the other, before one of them is eliminated.
#[test]
fn one_host_interface_is_behind_the_links_to_both_networks() {
    let plan = plan_of(BEHIND_NETWORKS);
    let prepared = Prepared::new(&plan).expect("nothing has slots");
    let watch = chronoseal_sim::run(&prepared, Watch::new(&prepared), &mut |_| true).expect("it can be built").observer;
    let [twice, once] = [0, 1].map(|stream| watch.seen(StreamId(stream), NodeId(2)).expect("its frames came").max);
    let service = Duration::from_us(100);
    assert!(twice > service && twice < service * 2, "{twice}");
    // It waits for both copies of the other frame.
    assert!(once > service * 3 - Duration::from_us(10) && once < service * 3 + Duration::from_us(20), "{once}");
}
