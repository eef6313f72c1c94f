//! No frame of any network of switches is later than its bound: trees and rings of two to five switches, with virtual links, and
//! with and without streams in slots.
//!
//! Every other network has all its streams due at once on exact clocks, in an order of its own; the others have phases from
//! the seed and clocks that drift.

use std::fmt::Write as _;

use chronoseal_core::random::{self, ChaCha8Rng, Purpose, Rng};
use chronoseal_core::statistics;
use chronoseal_plan::Plan;
use chronoseal_scenario::{NoFiles, load};

use super::secured::secured;
use super::{from_environment, outcome};

/// So many networks are tried.
const NETWORKS: u64 = 50;

pub(super) fn one_of<T: Copy>(rng: &mut ChaCha8Rng, all: &[T]) -> T {
    all[(rng.next_u64() % all.len() as u64) as usize]
}

pub(super) fn below(rng: &mut ChaCha8Rng, end: usize) -> usize {
    (rng.next_u64() % end as u64) as usize
}

/// A network as a scenario.
pub(super) fn network(seed: u64) -> String {
    let rng = &mut random::stream(seed, Purpose::Medium, 1);
    // Beside all else, so that nothing else depends on them.
    let hosts = &mut random::stream(seed, Purpose::Medium, 2);
    let switches = 2 + below(rng, 4);
    // A ring of four has two ways of one length across, one of five none.
    let is_ring = switches >= 3 && below(rng, 3) == 0;
    let nodes: Vec<usize> = (0..switches + 1 + below(rng, 4)).map(|node| node % switches).collect();
    let is_adverse = seed.is_multiple_of(2);
    let list: Vec<String> = (0..switches).map(|switch| format!("\"S{switch}\"")).collect();
    let sync = one_of(rng, &["beacon", "ideal"]);
    let jitter = one_of(rng, &["", "forwarding_jitter = { min = \"0us\", mean = \"1us\", max = \"6us\" }\n"]);
    let accounting = one_of(rng, &["on-wire", "on-wire", "as-published"]);
    let policing = one_of(rng, &["bytes", "frames"]);
    let room = one_of(rng, &["", "", "", "queue_len_max = \"3000B\"\n"]);
    let has_slots = below(rng, 2) == 0;
    let access = one_of(rng, &["shared-slots", "per-link"]);
    let guard_us = one_of(rng, &[0, 20, 120]);
    let mut text = format!(
        "schema_version = 2\nname = \"switched\"\nseed = {seed}\nduration = \"80ms\"\nfidelity = \"timing\"\n\
         [segments.network.ethernet]\nrate = \"100Mbit/s\"\ncluster_cycle = \"20ms\"\nintegration_cycle = \"{}\"\n\
         sync = \"{sync}\"\naccounting = \"{accounting}\"\nprecision = \"30us\"\nforwarding_delay = \"{}us\"\n{jitter}{room}\
         access = \"{access}\"\nguard_period = \"{guard_us}us\"\n\
         virtual_links = {{ standard = false, policing = \"{policing}\" }}\n\
         class = {{ best_effort = {{}} }}\nswitches = [{}]\nlinks = [\n",
        one_of(rng, &["1ms", "5ms", "20ms"]),
        one_of(rng, &[0, 1, 8]),
        list.join(", "),
    );
    let mut link = |one: String, other: String, rng: &mut ChaCha8Rng| {
        let own = one_of(
            rng,
            &[
                "",
                "",
                ", rate = \"10Mbit/s\"",
                ", rate = \"30Mbit/s\"",
                ", rate = \"1Gbit/s\", propagation_delay = \"400ns\"",
            ],
        );
        writeln!(text, "  {{ between = [\"{one}\", \"{other}\"]{own} }},").expect("a text takes all");
    };
    for switch in 1..switches {
        let before = if is_ring { switch - 1 } else { below(rng, switch) };
        link(format!("S{before}"), format!("S{switch}"), rng);
    }
    if is_ring {
        link(format!("S{}", switches - 1), "S0".to_owned(), rng);
    }
    for (node, switch) in nodes.iter().enumerate() {
        link(format!("n{node}"), format!("S{switch}"), rng);
    }
    text += "]\n";
    for node in 0..nodes.len() {
        let clock = if is_adverse { "clock = \"ideal\"\n" } else { "" };
        let driver = one_of(rng, &["", "driver = { min = \"1us\", mean = \"5us\", max = \"40us\" }\n"]);
        write!(text, "[[nodes]]\nname = \"n{node}\"\n{clock}{driver}").expect("a text takes all");
        let host = one_of(
            hosts,
            &["", "base = \"20us\", per_byte = \"80ns\"", "per_byte = \"270ns\", buffer = \"6kB\"", "base = \"3us\""],
        );
        if !host.is_empty() {
            writeln!(text, "host_interface = {{ {host} }}").expect("a text takes all");
        }
    }
    let count = 3 + below(rng, 10);
    for stream in 0..count {
        let from = below(rng, nodes.len());
        let mut to: Vec<usize> =
            (0..1 + below(rng, 3)).map(|_| below(rng, nodes.len())).filter(|to| *to != from).collect();
        to.sort_unstable();
        to.dedup();
        if to.is_empty() {
            to.push((from + 1) % nodes.len());
        }
        let in_slots = has_slots && below(rng, 3) == 0;
        let period_ms = one_of(rng, &[2, 4, 5, 10, 20]);
        let mut class = if in_slots {
            "class = \"time-triggered\"".to_owned()
        } else if one_of(rng, &[true, false, false]) {
            let bag_us = period_ms * one_of(rng, &[1_000, 500, 900]);
            let (priority, jitter_us) =
                (one_of(rng, &["high", "low", "low"]), one_of(rng, &[100, 500, 2_000, 2_000, 9_000]));
            format!(
                "class = {{ rate_constrained = {{ bag = \"{bag_us}us\", priority = \"{priority}\", jitter = \"{jitter_us}us\" }} }}"
            )
        } else {
            format!("class = {{ best_effort = {{ priority = {} }} }}", one_of(rng, &[0, 1, 1, 5, 7]))
        };
        if is_ring && switches == 4 {
            // Across there are two ways of one length: over the next switch, or the one before.
            let across = |to: &&usize| (nodes[**to] + 2) % 4 == nodes[from];
            if to.iter().any(|to| across(&to)) {
                let over = (nodes[from] + one_of(rng, &[1, 3])) % 4;
                write!(class, ", switches = [\"S{over}\"]").expect("a text takes all");
                let is_beside =
                    |to: &usize| (nodes[*to] + 2) % 4 == nodes[from] || nodes[*to] == over || nodes[*to] == nodes[from];
                to.retain(is_beside);
            }
        }
        let to: Vec<String> = to.iter().map(|node| format!("\"n{node}\"")).collect();
        let offset = if is_adverse && !in_slots { "offset = \"0s\"\n" } else { "" };
        write!(
            text,
            "[[streams]]\nname = \"s{stream}\"\nfrom = \"n{from}\"\nto = [{}]\nperiod = \"{period_ms}ms\"\nlength = \"{}B\"\n{offset}network = {{ {class} }}\n",
            to.join(", "),
            one_of(rng, &[46, 100, 333, 800, 1499]),
        )
        .expect("a text takes all");
    }
    secured(text, seed)
}

pub(super) fn plan_of(text: &str) -> Plan {
    load("any.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}\n{text}", problems.render()))
}

/// `SWITCHED_SEED=17` tries that network alone, `SWITCHED_NETWORKS=5000` more of them.
#[test]
fn no_frame_over_several_switches_is_later_than_its_bound() {
    let only = from_environment("SWITCHED_SEED");
    let wanted = from_environment("SWITCHED_NETWORKS").unwrap_or(NETWORKS);
    let (mut ratios, mut unbounded) = (Vec::new(), Vec::new());
    let (mut lossy, mut policed, mut unscheduled) = (0, 0, 0);
    for seed in only.map_or(0..wanted, |seed| seed..seed + 1) {
        let text = network(seed);
        let Some(outcome) = outcome(&plan_of(&text)) else {
            unscheduled += 1;
            continue;
        };
        assert!(outcome.wrong.is_empty(), "seed {seed}:\n{}\n{text}", outcome.wrong.join("\n"));
        assert!(
            outcome.lost.is_empty(),
            "seed {seed}: frames of {:?} are lost, and nothing says that they can be\n{text}",
            outcome.lost
        );
        lossy += u64::from(outcome.is_at_risk);
        policed += u64::from(outcome.can_be_policed);
        ratios.extend(outcome.ratios);
        unbounded.extend(outcome.unbounded.into_iter().map(|end| format!("seed {seed}: {end}")));
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "{} networks of several switches, {unscheduled} whose slots do not fit, {lossy} with queues that may be too short, {policed} in which \
         frames may be policed: {} ends, bound over simulated maximum: \
         median {:.2}, worst {:.2}; {} ends without a bound",
        only.map_or(wanted, |_| 1),
        ratios.len(),
        statistics::median(&ratios).unwrap_or_default(),
        ratios.last().copied().unwrap_or_default(),
        unbounded.len()
    );
    if only.is_none() {
        assert!(unscheduled * 5 <= wanted, "the slots of {unscheduled} of {wanted} do not fit");
        assert!(unbounded.len() <= ratios.len(), "{}", unbounded.join("\n"));
        assert!(lossy > 0 && lossy < wanted, "queues are too short in {lossy} of {wanted}");
        assert!(policed > 0 && policed < wanted, "frames may be policed in {policed} of {wanted}");
    }
}
