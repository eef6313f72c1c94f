//! Frames of several PDUs that are virtual links, over one network or two, or are replicated: no PDU is later than its bound, each comes
//! once, and none is lost unless the analysis says that this can be.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chronoseal_catalog::Prepared;
use chronoseal_core::random::{self, Purpose};
use chronoseal_core::{Event, EventKind, NodeId, SimTime, StreamId};
use chronoseal_plan::{Ethernet, Plan};
use chronoseal_sim::{FrameContext, Observer};

use super::switched::{below, one_of, plan_of};
use super::{from_environment, outcome};

/// So many networks are tried.
const NETWORKS: u64 = 60;

/// How a frame of several PDUs travels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sent {
    /// A virtual link over one network, or over both.
    Link { has_networks: bool },
    /// A virtual link that it shares with a stream of the gateway.
    Shared { has_networks: bool },
    /// Copies over the two ways of a ring.
    Copies { at_switch: bool },
}

/// A bus, a gateway that collects, and an Ethernet with two receivers and a stream of its own.
fn network(seed: u64) -> (Sent, String) {
    let rng = &mut random::stream(seed, Purpose::Medium, 62);
    let sent = one_of(
        rng,
        &[
            Sent::Link { has_networks: false },
            Sent::Link { has_networks: true },
            Sent::Shared { has_networks: false },
            Sent::Shared { has_networks: true },
            Sent::Copies { at_switch: false },
            Sent::Copies { at_switch: true },
        ],
    );
    let wiring = match sent {
        Sent::Link { has_networks: false } | Sent::Shared { has_networks: false } => String::new(),
        Sent::Link { has_networks: true } | Sent::Shared { has_networks: true } => {
            let links = ["gate", "one", "other", "source"].map(|node| {
                format!("  {{ between = [\"{node}\", \"a\"] }},\n  {{ between = [\"{node}\", \"b\"] }},\n")
            });
            format!(
                "switches = [\"a\", \"b\"]\nnetworks = {{ a = [\"a\"], b = [\"b\"] }}\nlinks = [\n{}]\n",
                links.concat()
            )
        }
        Sent::Copies { .. } => "switches = [\"w\", \"x\", \"y\", \"z\"]\nlinks = [\n  { between = [\"w\", \"x\"] },\n  { between = [\"x\", \
             \"y\"] },\n  { between = [\"y\", \"z\"], rate = \"10Mbit/s\" },\n  { between = [\"z\", \"w\"] },\n  { between = [\"gate\", \
             \"w\"] },\n  { between = [\"source\", \"x\"] },\n  { between = [\"one\", \"y\"] },\n  { between = [\"other\", \"y\"] },\n]\n"
            .to_owned(),
    };
    let rate = one_of(rng, &["100Mbit/s", "10Mbit/s"]);
    let mut text = format!(
        "schema_version = 2\nname = \"collected\"\nseed = {seed}\nduration = \"400ms\"\n\
         [[protections]]\nname = \"tagged\"\nhmac = {{ hash = \"sha-256\", tag = \"8B\", freshness = \"full\" }}\n\
         [segments.bus.can]\nbit_rate = \"1Mbit/s\"\n\
         [segments.net.ethernet]\nrate = \"{rate}\"\ncluster_cycle = \"20ms\"\nsync = \"ideal\"\n\
         virtual_links = {{ standard = false, policing = \"{}\" }}\nclass = {{ best_effort = {{}} }}\n{wiring}\
         [[platforms]]\nname = \"slow\"\ncosts = [{{ operation = \"hmac-sha-256\", base = \"60us\", per_byte = \"20ns\" }}]\n",
        one_of(rng, &["bytes", "frames"]),
    );
    let count = 2 + below(rng, 4);
    let periods: Vec<usize> = (0..count).map(|_| one_of(rng, &[2_500, 4_000, 5_000, 10_000, 20_000])).collect();
    let within = one_of(rng, &[500, 2_000, 6_000]);
    // Frames can come nearer together than that, as often as not.
    let gap_us = 1_000_000 / periods.iter().map(|period| 1_000_000 / period + 1).sum::<usize>();
    let is_shared = matches!(sent, Sent::Shared { .. });
    let class = match sent {
        Sent::Link { .. } | Sent::Shared { .. } => {
            let bag = match below(rng, 3) {
                0 => String::new(),
                1 if !is_shared => format!("bag = \"{}us\", ", gap_us * 9 / 10),
                1 => format!("bag = \"{}us\", ", gap_us / 2),
                _ => format!("bag = \"{}us\", ", gap_us / 3),
            };
            let priority = one_of(rng, &["high", "low"]);
            format!(
                "class = {{ rate_constrained = {{ {bag}priority = \"{priority}\", jitter = \"{}us\" }} }}",
                one_of(rng, &[500, 20_000])
            )
        }
        Sent::Copies { at_switch } => format!(
            "class = {{ vlan = {{ pcp = 5 }} }}, replication = {{ ways = [[\"x\"], [\"z\"]]{} }}",
            if at_switch { ", eliminate_at = [\"y\"]" } else { "" },
        ),
    };
    let (class, of_leader) =
        if is_shared { ("sub_virtual_link_of = \"lead\"".to_owned(), class) } else { (class, String::new()) };
    let is_alone = below(rng, 2) == 0;
    let length = if below(rng, 2) == 0 { format!(", length = \"{}B\"", 40 + below(rng, 30)) } else { String::new() };
    let names: Vec<String> = (0..count).map(|stream| format!("\"m{stream}\"")).collect();
    let drift = one_of(rng, &["\"ideal\"", "{ fixed = { offset = \"0us\", drift = \"400ppm\" } }"]);
    write!(
        text,
        "[[nodes]]\nname = \"sensor\"\non = [\"bus\"]\nclock = {drift}\n\
         [[nodes]]\nname = \"gate\"\non = [\"bus\", \"net\"]\nplatform = \"slow\"\n\
         driver = {{ min = \"1us\", mean = \"5us\", max = \"40us\" }}\n\
         gateway = {{ delay = \"20us\", collect = [{{ streams = [{}], on = \"net\", within = \"{within}us\"{length}, net = {{ {class} }} }}] }}\n\
         [[nodes]]\nname = \"one\"\non = [\"net\"]\n[[nodes]]\nname = \"other\"\non = [\"net\"]\nplatform = \"slow\"\n\
         [[nodes]]\nname = \"source\"\non = [\"net\"]\n\
         [[streams]]\nname = \"beside\"\nfrom = \"source\"\nto = [\"one\"]\nperiod = \"5ms\"\nlength = \"900B\"\n",
        names.join(", ")
    )
    .expect("a text takes all");
    let to: Vec<&str> = periods.iter().map(|_| one_of(rng, &["\"one\"", "\"other\"", "\"one\", \"other\""])).collect();
    if is_shared {
        let all: Vec<&str> =
            ["\"one\"", "\"other\""].into_iter().filter(|name| to.iter().any(|to| to.contains(name))).collect();
        write!(
            text,
            "[[streams]]\nname = \"lead\"\nfrom = \"gate\"\nto = [{}]\nperiod = \"{}us\"\nlength = \"{}B\"\nnet = {{ {of_leader} }}\n{}",
            all.join(", "),
            one_of(rng, &[20, 40]) * gap_us / 10,
            one_of(rng, &[50, 400]),
            one_of(rng, &["", "protection = \"tagged\"\n"]),
        )
        .expect("a text takes all");
    }
    for (stream, (period, to)) in periods.iter().zip(&to).enumerate() {
        let protection = if is_alone { "protection = { net = \"tagged\" }\n" } else { "" };
        write!(
            text,
            "[[streams]]\nname = \"m{stream}\"\nfrom = \"sensor\"\nto = [{to}]\nperiod = \"{period}us\"\nlength = \"8B\"\n{protection}\
             bus = {{ id = \"0x{:X}\" }}\n",
            0x100 + stream
        )
        .expect("a text takes all");
    }
    (sent, text)
}

/// How often each PDU is delivered.
#[derive(Default)]
struct Counts {
    delivered: BTreeMap<(NodeId, StreamId, u64), u64>,
}

impl Observer for Counts {
    fn event(&mut self, _: SimTime, node: NodeId, event: &Event, _: Option<FrameContext<'_>>) {
        if event.kind == EventKind::Delivered {
            *self.delivered.entry((node, event.stream, event.sequence)).or_default() += 1;
        }
    }
}

/// Each PDU comes to each of its receivers once, but for those that are under way when the run ends; how many do.
fn delivered(plan: &Plan, text: &str) -> usize {
    let prepared = Prepared::new(plan).expect("nothing has slots");
    let finished = chronoseal_sim::run(&prepared, Counts::default(), &mut |_| true).expect("every part can be built");
    let counts = finished.observer.delivered;
    for ((node, stream, sequence), count) in &counts {
        let name = &plan.streams[stream.index()].name;
        assert_eq!(*count, 1, "PDU {sequence} of {name} comes {count} times to {}\n{text}", plan.node_name(*node));
    }
    for (id, stream) in plan.stream_ids().zip(&plan.streams).filter(|(_, stream)| stream.is_relayed()) {
        for receiver in &stream.receivers {
            let own = counts.keys().filter(|(node, stream, _)| (*node, *stream) == (*receiver, id)).count() as i64;
            let least = (plan.duration.as_ps() / stream.period.as_ps()) - 30_000_000_000 / stream.period.as_ps() - 2;
            assert!(own >= least, "{own} of {} come to {}\n{text}", stream.name, plan.node_name(*receiver));
        }
    }
    counts.len()
}

#[test]
fn no_pdu_in_a_numbered_frame_is_later_than_its_bound() {
    let only = from_environment("BOUNDS_SEED");
    let wanted = from_environment("BOUNDS_NETWORKS").unwrap_or(NETWORKS);
    let (mut ratios, mut unbounded, mut of) = (Vec::new(), 0, BTreeMap::<String, u64>::new());
    for seed in only.map_or(0..wanted, |seed| seed..seed + 1) {
        let (sent, text) = network(seed);
        let plan = plan_of(&text);
        let container = plan.stream_ids().zip(&plan.streams).find(|(_, stream)| stream.collected().is_some());
        let (id, stream) = container.expect("a gateway collects");
        let view = Ethernet::of(&plan, stream.hops[0].segment).expect("it leaves on Ethernet");
        let own = view.stream(id).expect("it is there");
        assert_eq!(own.class.virtual_link().is_some(), !matches!(sent, Sent::Copies { .. }));
        assert_eq!(view.sub_virtual_links(&own).count() == 2, matches!(sent, Sent::Shared { .. }));
        let goes_once = matches!(sent, Sent::Link { has_networks: false } | Sent::Shared { has_networks: false });
        assert_eq!(own.copies.are_several(), !goes_once);
        let outcome = outcome(&plan).expect("nothing has slots");
        assert!(outcome.wrong.is_empty(), "seed {seed}:\n{}\n{text}", outcome.wrong.join("\n"));
        assert!(outcome.lost.is_empty(), "seed {seed}: {:?}\n{text}", outcome.lost);
        if !outcome.has_risk && outcome.unbounded.is_empty() {
            *of.entry(format!("{sent:?}")).or_default() += u64::from(delivered(&plan, &text) > 0);
        }
        ratios.extend(outcome.ratios);
        unbounded += outcome.unbounded.len();
    }
    ratios.sort_by(f64::total_cmp);
    let median = chronoseal_core::statistics::median(&ratios).unwrap_or_default();
    println!(
        "{} ends have a bound, {unbounded} none; bound over simulated maximum: median {median:.2}; {of:?}",
        ratios.len()
    );
    assert!(
        only.is_some() || of.len() == 6 && ratios.len() > 3 * unbounded,
        "{of:?}, {unbounded} ends without a bound"
    );
}
