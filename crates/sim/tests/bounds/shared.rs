//! Streams that share virtual links: no frame is later than its bound, none is lost or out of order unless the analysis says that this
//! can be, and a virtual link sends no more than one frame in each gap.
//!
//! Some of the streams send more often than their turns come, and some nodes take long to seal a frame.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use chronoseal_catalog::Prepared;
use chronoseal_core::random::{self, Purpose};
use chronoseal_core::{Event, EventKind, NodeId, SimTime, StreamId};
use chronoseal_plan::{Ethernet, Plan};
use chronoseal_sim::{FrameContext, Observer};

use super::secured::secured;
use super::switched::{below, one_of, plan_of};
use super::{from_environment, outcome};

/// So many networks are tried.
const NETWORKS: u64 = 15;

/// One or two rows of switches, and four nodes of which each has a virtual link or two.
fn network(seed: u64) -> String {
    let rng = &mut random::stream(seed, Purpose::Medium, 5);
    let has_networks = below(rng, 3) == 0;
    let rows: Vec<Vec<String>> = ["A", "B"][..1 + usize::from(has_networks)]
        .iter()
        .map(|row| (0..1 + below(rng, 3)).map(|switch| format!("{row}{switch}")).collect())
        .collect();
    let quoted = |row: &Vec<String>| row.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let all = rows.iter().map(quoted).collect::<Vec<_>>().join(", ");
    let mut text = format!(
        "schema_version = 2\nname = \"shared\"\nseed = {seed}\nduration = \"400ms\"\nfidelity = \"{}\"\n[segments.afdx.ethernet]\n\
         rate = \"100Mbit/s\"\ncluster_cycle = \"20ms\"\nsync = \"ideal\"\nforwarding_delay = \"{}us\"\n\
         virtual_links = {{ standard = false, policing = \"{}\", clock_tolerance = \"1000ppm\" }}\n\
         class = {{ best_effort = {{}} }}\nswitches = [{all}]\n",
        one_of(rng, &["timing", "bytes"]),
        one_of(rng, &[0, 1, 16]),
        one_of(rng, &["bytes", "frames"]),
    );
    if let [a, b] = &rows[..] {
        writeln!(text, "networks = {{ a = [{}], b = [{}] }}", quoted(a), quoted(b)).expect("a text takes all");
    }
    text += "links = [\n";
    for row in &rows {
        let between = row.windows(2).map(|pair| [pair[0].clone(), pair[1].clone()]);
        let nodes: Vec<_> = (0..4).map(|node| [format!("n{node}"), row[below(rng, row.len())].clone()]).collect();
        for [one, other] in between.chain(nodes) {
            let own = one_of(rng, &["", "", ", rate = \"10Mbit/s\""]);
            writeln!(text, "  {{ between = [\"{one}\", \"{other}\"]{own} }},").expect("a text takes all");
        }
    }
    text += "]\n[[platforms]]\nname = \"slow\"\ncosts = [\n  { operation = \"hmac-sha-256\", base = \"300us\", per_byte = \"500ns\" },\n]\n\
             [[protections]]\nname = \"tagged\"\nhmac = { hash = \"sha-256\", tag = \"16B\", freshness = \"full\" }\n";
    let is_adverse = seed.is_multiple_of(2);
    for node in 0..4 {
        let clock = one_of(rng, &["", "clock = { fixed = { offset = \"0us\", drift = \"500ppm\" } }\n"]);
        let clock = if is_adverse { "clock = \"ideal\"\n" } else { clock };
        let driver = one_of(rng, &["", "driver = { min = \"1us\", mean = \"5us\", max = \"40us\" }\n"]);
        let platform = one_of(rng, &["", "platform = \"slow\"\n"]);
        write!(text, "[[nodes]]\nname = \"n{node}\"\n{platform}{clock}{driver}").expect("a text takes all");
    }
    let (mut number, mut links) = (0, Vec::new());
    for link in 0..3 + below(rng, 4) {
        let from = below(rng, 4);
        let to: Vec<String> = (1..2 + below(rng, 2)).map(|step| format!("\"n{}\"", (from + step) % 4)).collect();
        let sharers = 1 + below(rng, 4);
        let periods: Vec<usize> = (0..sharers).map(|_| one_of(rng, &[4, 5, 8, 10, 20, 40])).collect();
        // As long as all frames have room, or so that each has its turn in time.
        let frames_in_40 = periods.iter().map(|period| 40_000_000 / (period * 1_000)).sum::<usize>();
        let longest_ns = 40_000_000_usize / frames_in_40.max(1) * 1_000;
        let bag = match below(rng, 4) {
            0 => String::new(),
            1 => format!("bag = \"{}ns\", ", longest_ns),
            2 => format!("bag = \"{}ns\", ", longest_ns / 10 * 9),
            _ => format!("bag = \"{}ns\", ", longest_ns / 2),
        };
        let jitter = one_of(rng, &["500us", "2ms", "9ms"]);
        let priority = one_of(rng, &["high", "low"]);
        let mut lengths = Vec::new();
        for (place, period) in periods.iter().enumerate() {
            let length = one_of(rng, &[46, 100, 333, 800]);
            let class =
                format!("class = {{ rate_constrained = {{ {bag}jitter = \"{jitter}\", priority = \"{priority}\" }} }}");
            let own = if place == 0 { class } else { format!("sub_virtual_link_of = \"v{link}.0\"") };
            let name = format!("v{link}.{place}");
            write!(
                text,
                "[[streams]]\nname = \"{name}\"\nfrom = \"n{from}\"\nto = [{}]\nperiod = \"{period}ms\"\nlength = \"{length}B\"\n{}{}\
                 afdx = {{ {own} }}\n",
                to.join(", "),
                one_of(rng, &["", "protection = \"tagged\"\n"]),
                if is_adverse { "offset = \"0s\"\n" } else { "" },
            )
            .expect("a text takes all");
            number += 1;
            lengths.push(length);
        }
        links.push(Shared { lengths, frames: frames_in_40 });
    }
    assert!(number > 0);
    if !has_networks {
        let filters = filters(seed, &links);
        text = text.replacen("[[platforms]]", &format!("{filters}[[platforms]]"), 1);
    }
    secured(text, seed)
}

/// A virtual link: the lengths of its streams' payloads, and how many of their frames come in 40 ms `[byte]`.
struct Shared {
    lengths: Vec<usize>,
    frames: usize,
}

/// Filters of every other network for some of its virtual links, with meters, gates and longest SDUs that some of them keep to.
fn filters(seed: u64, links: &[Shared]) -> String {
    let rng = &mut random::stream(seed, Purpose::Medium, 6);
    let (mut filters, mut meters) = (String::new(), String::new());
    let meter = |rng: &mut _, name: &str, link: &Shared| {
        let longest = link.lengths.iter().max().copied().unwrap_or(46) + 70;
        let rate = longest * link.frames * 8 * 25 * one_of(rng, &[1, 2, 4, 20]) / 1_000;
        let burst = longest * one_of(rng, &[1, 2, 3, 6]);
        format!("  {{ name = \"{name}\", cir = \"{rate}kbit/s\", cbs = \"{burst}B\" }},\n")
    };
    for (index, link) in links.iter().enumerate() {
        if below(rng, 2) == 0 {
            continue;
        }
        let name = format!("f{index}");
        let (least, most) = (link.lengths.iter().min(), link.lengths.iter().max());
        let room = one_of(rng, &[None, most, most, least]).map(|len| format!(", max_sdu = \"{}B\"", len + 45));
        let blocks = if room.is_some() { one_of(rng, &["", ", block_on_oversize = true"]) } else { "" };
        let gate = one_of(rng, &["", ", gate = \"open\""]);
        let own = below(rng, 2) == 0;
        let metered = if own { format!(", meter = \"{name}\"") } else { String::new() };
        let room = room.unwrap_or_default();
        writeln!(filters, "  {{ name = \"{name}\", stream = \"v{index}.0\"{room}{blocks}{gate}{metered} }},")
            .expect("a text takes all");
        if own {
            meters += &meter(rng, &name, link);
        }
    }
    if below(rng, 2) == 0 || filters.is_empty() {
        return String::new();
    }
    let octets = one_of(rng, &["", ", octets_max = \"900B\"", ", octets_max = \"20000B\""]);
    format!(
        "stream_filters = [\n{filters}]\nflow_meters = [\n{meters}]\nstream_gates = [{{ name = \"open\", cycle = \"1ms\", entries = [\
         {{ lasts = \"1ms\"{octets} }}] }}]\n"
    )
}

/// What receivers took of each stream, in order.
#[derive(Default)]
struct Taken {
    sent: BTreeMap<StreamId, u64>,
    sequences: BTreeMap<(StreamId, NodeId), Vec<u64>>,
}

impl Observer for Taken {
    fn event(&mut self, _: SimTime, node: NodeId, event: &Event, _: Option<FrameContext<'_>>) {
        match event.kind {
            EventKind::Sent => *self.sent.entry(event.stream).or_default() += 1,
            EventKind::Delivered => self.sequences.entry((event.stream, node)).or_default().push(event.sequence),
            _ => {}
        }
    }
}

/// Every stream is delivered in order, without a gap; what is still under way at the end is left out. How many streams share a link.
fn check(seed: u64, plan: &Plan, can_lose_any: bool, filtered: &BTreeSet<StreamId>, text: &str) -> u64 {
    let prepared = Prepared::new(plan).expect("virtual links need no schedule");
    let taken = chronoseal_sim::run(&prepared, Taken::default(), &mut |_| true).expect("it can be built").observer;
    let view = Ethernet::first(plan).expect("it is one");
    let mut shared = 0;
    for stream in view.streams() {
        let sharers = view.sub_virtual_links(&stream).count() as u64;
        shared += u64::from(sharers > 1);
        let can_lose = can_lose_any || filtered.contains(&stream.id);
        for receiver in &stream.stream.receivers {
            let who = format!("seed {seed}, stream {} to node {}", stream.stream.name, receiver.0);
            let got = taken.sequences.get(&(stream.id, *receiver)).cloned().unwrap_or_default();
            let is_whole = got.iter().copied().eq(0..got.len() as u64);
            assert!(is_whole || can_lose, "{who}: {got:?}\n{text}");
            // Its queue holds no more than what comes in a few rounds.
            let sent = taken.sent.get(&stream.id).copied().unwrap_or_default();
            assert!(got.len() as u64 + 20 >= sent || can_lose, "{who}: {} of {sent}\n{text}", got.len());
        }
    }
    shared
}

/// `SHARED_SEED=17` tries that network alone, `SHARED_NETWORKS=5000` more of them.
#[test]
fn streams_that_share_a_virtual_link_are_in_time_and_in_order() {
    let only = from_environment("SHARED_SEED");
    let wanted = from_environment("SHARED_NETWORKS").unwrap_or(NETWORKS);
    let (mut shared, mut bounded, mut unbounded, mut taken, mut kept) = (0, 0, 0, 0, 0);
    for seed in only.map_or(0..wanted, |seed| seed..seed + 1) {
        let text = network(seed);
        let plan = plan_of(&text);
        let outcome = outcome(&plan).expect("nothing has slots");
        assert!(outcome.wrong.is_empty(), "seed {seed}:\n{}\n{text}", outcome.wrong.join("\n"));
        assert!(outcome.lost.is_empty(), "seed {seed}: {:?}\n{text}", outcome.lost);
        bounded += outcome.ratios.len();
        unbounded += outcome.unbounded.len();
        let can_lose = outcome.is_at_risk || outcome.can_be_policed || !outcome.unbounded.is_empty();
        taken += outcome.filtered.len();
        kept += if text.contains("stream_filters") {
            outcome.ratios.len().saturating_sub(outcome.filtered.len())
        } else {
            0
        };
        shared += check(seed, &plan, can_lose, &outcome.filtered, &text);
    }
    println!("{shared} streams share a virtual link; {bounded} ends have a bound, {unbounded} none");
    println!("filters can take frames of {taken} streams, and leave those of {kept} ends in their networks");
    assert!(only.is_some() || taken > 0 && kept > 0, "{taken} and {kept}");
    assert!(
        only.is_some() || shared > 0 && bounded > 2 * unbounded,
        "{shared} shared, {bounded} bounded, {unbounded} not"
    );
}
