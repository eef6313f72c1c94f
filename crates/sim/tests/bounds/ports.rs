//! No frame of any network whose ports shape, gate and interrupt is later than its bound: rows of one to three switches.
//!
//! Every other network has all its streams due at once on exact clocks; the others have phases from the seed and clocks that
//! drift.

use std::fmt::Write as _;

use chronoseal_core::random::{self, ChaCha8Rng, Purpose};
use chronoseal_core::statistics;

use super::secured::secured;
use super::switched::{below, one_of, plan_of};
use super::{from_environment, outcome};

/// So many networks are tried.
const NETWORKS: u64 = 48;

/// Ports of every kind, and those that have gates.
pub(super) const ALL: [usize; 6] = [0, 1, 2, 3, 4, 5];
pub(super) const GATED: [usize; 4] = [3, 4, 6, 6];

/// What ports of one of these kinds do, and whether a station's frames are held to its bucket.
fn ports(rng: &mut ChaCha8Rng, kinds: &[usize]) -> String {
    let kind = one_of(rng, kinds);
    let mut classes: Vec<String> = Vec::new();
    let mut gates = String::new();
    let preemptable = |below: usize| -> Vec<String> {
        (0..below).map(|class| format!("{{ class = {class}, preemptable = true }}")).collect()
    };
    let shaped = |class: usize, rate: usize| {
        format!("{{ class = {class}, shaper = {{ credit_based = {{ idle_slope = \"{rate}Mbit/s\" }} }} }}")
    };
    match kind {
        0 => classes.extend([shaped(7, one_of(rng, &[2, 5, 20])), shaped(5, one_of(rng, &[2, 5, 15]))]),
        1 => classes = preemptable(one_of(rng, &[1, 2, 6, 8])),
        2 => {
            classes = preemptable(one_of(rng, &[1, 2, 5]));
            classes.push(shaped(7, one_of(rng, &[5, 20])));
            classes.push(shaped(5, one_of(rng, &[5, 15])));
        }
        3 => {
            // Windows of their own for the highest, the others between them or whenever they like.
            let others = one_of(rng, &["0, 1, 2, 3, 4, 5, 6", "0, 1, 2, 3, 4, 5, 6, 7"]);
            let first = one_of(rng, &[150, 300, 900]);
            let second = one_of(rng, &[200, 700]);
            gates = format!(
                "gates = {{ cycle = \"4ms\", base_time = \"{}us\", entries = [{{ open = [7], lasts = \"{first}us\" }}, {{ open = [{others}], lasts = \"2ms\" }}, {{ open = [7], lasts = \"{second}us\" }}, {{ open = [0, 1, 2, 3, 4, 5, 6], lasts = \"100us\" }}] }}\n",
                below(rng, 4000)
            );
        }
        4 => {
            classes = preemptable(one_of(rng, &[2, 6]));
            gates = "gates = { cycle = \"2ms\", entries = [{ open = [0, 1, 2, 3, 4, 5, 6, 7], lasts = \"400us\", hold = true }, { open = [0, 1, 2, 3, 4, 5, 6, 7], lasts = \"1600us\" }] }\n".to_owned();
        }
        6 => {
            // Windows that overlap for some classes, in a cycle that fits into no other.
            let open = |rng: &mut ChaCha8Rng| one_of(rng, &["7", "5, 7", "0, 1", "0, 1, 5", "0, 1, 5, 7", "1"]);
            let cycle = one_of(rng, &["1700us", "3333333ns", "900us"]);
            let entries: Vec<String> = (0..3)
                .map(|_| format!("{{ open = [{}], lasts = \"{}us\" }}", open(rng), one_of(rng, &[150, 180, 250])))
                .collect();
            gates = format!(
                "gates = {{ cycle = \"{cycle}\", base_time = \"{}us\", entries = [{}, {{ open = [0, 1, 5, 7], lasts = \"{}us\" }}] }}\n",
                below(rng, 4000),
                entries.join(", "),
                one_of(rng, &[145, 150]),
            );
        }
        _ => classes.extend([5, 7].map(|class| format!("{{ class = {class}, shaper = \"asynchronous\" }}"))),
    }
    let traffic_classes = if kind == 0 { one_of(rng, &["", "priorities = [0, 0, 2, 3, 4, 5, 6, 7]\n"]) } else { "" };
    let classes = if classes.is_empty() { String::new() } else { format!("classes = [{}]\n", classes.join(", ")) };
    format!("{traffic_classes}{classes}{gates}")
}

/// A network as a scenario, with ports of one of these kinds.
pub(super) fn network(seed: u64, kinds: &[usize]) -> String {
    let rng = &mut random::stream(seed, Purpose::Medium, 2);
    let switches = 1 + below(rng, 3);
    let nodes: Vec<usize> = (0..switches + 1 + below(rng, 4)).map(|node| node % switches).collect();
    let is_adverse = seed.is_multiple_of(2);
    let list: Vec<String> = (0..switches).map(|switch| format!("\"S{switch}\"")).collect();
    let sync = one_of(rng, &["beacon", "ideal"]);
    let jitter = one_of(rng, &["", "forwarding_jitter = { min = \"0us\", mean = \"1us\", max = \"6us\" }\n"]);
    let mut text = format!(
        "schema_version = 2\nname = \"ports\"\nseed = {seed}\nduration = \"60ms\"\nfidelity = \"timing\"\n\
         [segments.network.ethernet]\nrate = \"100Mbit/s\"\ncluster_cycle = \"20ms\"\nintegration_cycle = \"5ms\"\n\
         sync = \"{sync}\"\nprecision = \"30us\"\nforwarding_delay = \"{}us\"\n{jitter}\
         class = {{ best_effort = {{}} }}\nswitches = [{}]\n",
        one_of(rng, &[0, 1, 8]),
        list.join(", "),
    );
    if switches > 1 {
        text += "links = [\n";
        for switch in 1..switches {
            let own = one_of(rng, &["", ", rate = \"1Gbit/s\", propagation_delay = \"400ns\""]);
            writeln!(text, "  {{ between = [\"S{}\", \"S{switch}\"]{own} }},", switch - 1).expect("a text takes all");
        }
        for (node, switch) in nodes.iter().enumerate() {
            writeln!(text, "  {{ between = [\"n{node}\", \"S{switch}\"] }},").expect("a text takes all");
        }
        text += "]\n";
    }
    let ports = ports(rng, kinds);
    let both = one_of(rng, &[true, false]) && !ports.contains("asynchronous");
    write!(text, "[segments.network.ethernet.bridge_ports]\n{ports}").expect("a text takes all");
    if both {
        write!(text, "[segments.network.ethernet.station_ports]\n{ports}").expect("a text takes all");
    }
    for node in 0..nodes.len() {
        let clock = if is_adverse { "clock = \"ideal\"\n" } else { "" };
        write!(text, "[[nodes]]\nname = \"n{node}\"\n{clock}").expect("a text takes all");
    }
    for stream in 0..3 + below(rng, 10) {
        let from = below(rng, nodes.len());
        let mut to: Vec<usize> =
            (0..1 + below(rng, 3)).map(|_| below(rng, nodes.len())).filter(|to| *to != from).collect();
        to.sort_unstable();
        to.dedup();
        if to.is_empty() {
            to.push((from + 1) % nodes.len());
        }
        let to: Vec<String> = to.iter().map(|node| format!("\"n{node}\"")).collect();
        let priority = one_of(rng, &[0, 1, 1, 5, 5, 7, 7]);
        let class = one_of(rng, &["best_effort = { priority = ", "vlan = { pcp = "]);
        let offset = if is_adverse { "offset = \"0s\"\n" } else { "" };
        // Half of them with room for late frames.
        let committed = one_of(rng, &["", ", committed = { rate = \"6Mbit/s\", burst = \"3300B\" }"]);
        write!(
            text,
            "[[streams]]\nname = \"s{stream}\"\nfrom = \"n{from}\"\nto = [{}]\nperiod = \"{}\"\nlength = \"{}B\"\n{offset}network = {{ class = {{ {class}{priority} }} }}{committed} }}\n",
            to.join(", "),
            one_of(rng, &["4ms", "5ms", "10ms", "20ms"]),
            one_of(rng, &[46, 100, 333, 800, 1500]),
        )
        .expect("a text takes all");
    }
    secured(text, seed)
}

/// The network with a port at one link whose shapers stand under gates of one list and then under those of another, in which the gates are
/// open for another share of the time. Networks of one switch write down no links, and stay as they are.
fn with_replaced_list(text: &str, seed: u64) -> String {
    let rng = &mut random::stream(seed, Purpose::Medium, 14);
    let links: Vec<&str> = text.lines().filter(|line| line.starts_with("  { between = [")).collect();
    if links.is_empty() {
        return text.to_owned();
    }
    let link = one_of(rng, &links);
    let end = link.split('"').nth(one_of(rng, &[1, 3])).expect("a link has two ends");
    // Classes as all ports of this network have them.
    let mut classes = vec![5, 7];
    classes.truncate(one_of(rng, &[1, 2]));
    let is_preemptable = |class: usize| text.contains(&format!("{{ class = {class}, preemptable = true }}"));
    let is_asynchronous = text.contains("asynchronous");
    let entries = |rng: &mut ChaCha8Rng| {
        let mut entries: Vec<String> = (0..2 + below(rng, 2))
            .map(|_| {
                let open = one_of(rng, &["7", "5, 7", "0, 1", "0, 1, 5", "0, 1, 5, 7", "1"]);
                format!("{{ open = [{open}], lasts = \"{}us\" }}", 150 + below(rng, 600))
            })
            .collect();
        entries.push("{ open = [0, 1, 2, 3, 4, 5, 6, 7], lasts = \"150us\" }".to_owned());
        entries.join(", ")
    };
    let shaper = |class: usize| match is_asynchronous {
        true => "shaper = \"asynchronous\"".to_owned(),
        false => format!("shaper = {{ credit_based = {{ idle_slope = \"{}Mbit/s\" }} }}", 3 + class),
    };
    let mut own: Vec<String> = Vec::new();
    for class in 0..8 {
        let mut has: Vec<String> = Vec::new();
        has.extend(classes.contains(&class).then(|| shaper(class)));
        has.extend(is_preemptable(class).then(|| "preemptable = true".to_owned()));
        if !has.is_empty() {
            own.push(format!("{{ class = {class}, {} }}", has.join(", ")));
        }
    }
    let priorities = text.lines().find(|line| line.starts_with("priorities = ")).map(|line| format!("{line}, "));
    let (old, new) = (entries(rng), entries(rng));
    let (requested, after) = (below(rng, 30_000), 1_500 + below(rng, 20_000));
    let gates = format!(
        "{{ cycle = \"{}us\", base_time = \"{}us\", cycle_time_extension = \"{}us\", entries = [{old}], admin = {{ config_change = \
         \"{requested}us\", base_time = \"{}us\", cycle_time = \"{}us\", entries = [{new}] }} }}",
        2_600 + below(rng, 900),
        below(rng, 2_000),
        one_of(rng, &[0, 400, 2_000]),
        requested + after,
        2_600 + below(rng, 2_000),
    );
    let port = format!("{{ {}classes = [{}], gates = {gates} }}", priorities.unwrap_or_default(), own.join(", "));
    let body = link.strip_suffix(" },").expect("a link ends so");
    text.replacen(link, &format!("{body}, ports = {{ {end} = {port} }} }},"), 1)
}

/// `PORTS_SEED=17` tries that network alone, `PORTS_NETWORKS=2000` more of them.
#[test]
fn no_frame_behind_ports_that_shape_gate_and_interrupt_is_later_than_its_bound() {
    let only = from_environment("PORTS_SEED");
    let wanted = from_environment("PORTS_NETWORKS").unwrap_or(NETWORKS);
    let (mut ratios, mut unbounded, mut lossy, mut replaced) = (Vec::new(), Vec::new(), 0, 0);
    for seed in only.map_or(0..wanted, |seed| seed..seed + 1) {
        let mut text = network(seed, &ALL);
        if seed % 3 == 2 {
            text = with_replaced_list(&text, seed);
        }
        let is_replaced = text.contains("admin = ");
        let outcome = outcome(&plan_of(&text)).expect("streams without slots need no schedule");
        assert!(outcome.wrong.is_empty(), "seed {seed}:\n{}\n{text}", outcome.wrong.join("\n"));
        assert!(
            outcome.lost.is_empty(),
            "seed {seed}: frames of {:?} are lost, and nothing says that they can be\n{text}",
            outcome.lost
        );
        lossy += u64::from(outcome.is_at_risk);
        replaced += if is_replaced { outcome.ratios.len() } else { 0 };
        ratios.extend(outcome.ratios);
        unbounded.extend(outcome.unbounded.into_iter().map(|end| format!("seed {seed}: {end}")));
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "{} networks of ports, {lossy} with queues that may be too short: {} ends, bound over simulated maximum: median {:.2}, \
         worst {:.2}; {} ends without a bound; {replaced} ends beside a port whose list is replaced",
        only.map_or(wanted, |_| 1),
        ratios.len(),
        statistics::median(&ratios).unwrap_or_default(),
        ratios.last().copied().unwrap_or_default(),
        unbounded.len()
    );
    if only.is_none() {
        assert!(unbounded.len() <= ratios.len(), "{}", unbounded.join("\n"));
        assert!(replaced > 10, "{replaced} ends beside a list that is replaced are too few to tell");
    } else {
        unbounded.iter().for_each(|end| println!("{end}"));
    }
}
