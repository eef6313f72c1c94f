//! The clocks of a cluster of AS6802 over the networks A and B, and frames in slots by them: one network that fails, or a part of it, takes
//! no clock and no slot from any station.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fmt::Write as _;

use chronoseal_catalog::Prepared;
use chronoseal_core::random::{self, ChaCha8Rng, Purpose, Rng};
use chronoseal_core::{EventKind, NodeId};
use chronoseal_results::StreamSummary;
use chronoseal_runner::{Run, simulate};
use chronoseal_scenario::{NoFiles, Scenario};

const SCENARIO: &str = r#"
schema_version = 2
name = "two-networks"
duration = "1s"
[segments.network.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
guard_period = "30us"
precision = "10us"
access = "per-link"
forwarding_delay = "3us"
max_transmission_delay = "800us"
switches = ["a1", "a2", "b1", "b2", "b3"]
networks = { a = ["a1", "a2"], b = ["b1", "b2", "b3"] }
sync = { as6802 = { masters = ["a", "b", "c", "d"], compression_masters = ["a1", "b2"] } }
links = [
    { between = ["a1", "a2"] }, { between = ["b1", "b2"] }, { between = ["b2", "b3"] },
    { between = ["a", "a1"] }, { between = ["b", "a1"] }, { between = ["c", "a2"] }, { between = ["d", "a2"] }, { between = ["e", "a2"] },
    { between = ["a", "b1"] }, { between = ["b", "b3"] }, { between = ["c", "b2"] }, { between = ["d", "b1"] }, { between = ["e", "b3"] },
]
[[nodes]]
name = "a"
clock = { fixed = { offset = "5ms", drift = "100ppm" } }
[[nodes]]
name = "b"
clock = { fixed = { offset = "1s", drift = "80ppm" } }
[[nodes]]
name = "c"
clock = { fixed = { offset = "0s", drift = "30ppm" } }
[[nodes]]
name = "d"
clock = { fixed = { offset = "40us", drift = "70ppm" } }
[[nodes]]
name = "e"
clock = { fixed = { offset = "0s", drift = "-100ppm" } }
[[streams]]
name = "across"
from = "a"
to = ["d", "e"]
period = "5ms"
length = "100B"
[[streams]]
name = "back"
from = "d"
to = ["a"]
period = "10ms"
length = "900B"
[[streams]]
name = "from-a-client"
from = "e"
to = ["b", "c"]
period = "10ms"
length = "46B"
[[streams]]
name = "picture"
from = "a"
to = ["c"]
period = "900us"
length = "1400B"
network = { class = { best_effort = {} } }
"#;

/// The streams in slots.
const SLOTS: [&str; 3] = ["across", "back", "from-a-client"];

fn run(text: &str) -> Run {
    let scenario = Scenario::load("two.toml", text.as_bytes(), &[], &NoFiles)
        .unwrap_or_else(|problems| panic!("{}\n{text}", problems.render()));
    simulate(&Prepared::new(&scenario.plan).unwrap(), false, &mut |_| true).unwrap()
}

fn failing(text: &str, failures: &[(&str, &str, &str)]) -> String {
    let link = |(one, other, at): &(&str, &str, &str)| format!("{{ link = [\"{one}\", \"{other}\"], at = \"{at}\" }}");
    let failures = failures.iter().map(link).collect::<Vec<_>>().join(", ");
    text.replacen("links = [\n", &format!("failures = [{failures}]\nlinks = [\n"), 1)
}

fn attacked(text: &str, threat: &str) -> Run {
    run(&format!("{text}\n[[threats]]\nname = \"attack\"\n{threat}\n"))
}

fn stream<'r>(run: &'r Run, name: &str) -> &'r StreamSummary {
    run.summary.streams.iter().find(|stream| stream.name == name).unwrap()
}

/// The nodes below a number that lost their clocks.
fn lost_clocks(run: &Run, nodes: u16) -> Vec<NodeId> {
    let is_it = |kind: EventKind, node: NodeId| kind == EventKind::SyncLost && node.0 < nodes;
    run.rows.events.iter().filter(|row| is_it(row.event.kind, row.node)).map(|row| row.node).collect()
}

/// Every slot once all had joined brought its frame to all receivers, and no station lost its clock.
fn assert_nothing_is_missed(run: &Run, nodes: u16, streams: &[&str], what: &str) {
    assert_eq!(lost_clocks(run, nodes), [], "{what}");
    for name in streams {
        let stream = stream(run, name);
        assert!(stream.held(), "{what}: {stream:#?}");
        assert_eq!((stream.failed(), stream.not_sent), (0, 0), "{what}: {stream:#?}");
        assert!(stream.delivered > 50, "{what}: {stream:#?}");
    }
}

#[test]
fn a_cluster_starts_from_cold_over_both_networks() {
    let run = run(SCENARIO);
    assert_eq!(run.summary.clocks.len(), 10, "five nodes and five switches");
    assert!(run.summary.clocks.iter().all(|clock| clock.held()), "{:?}", run.summary.clocks);
    let precision = run.summary.segments[0].precision.unwrap();
    assert!(precision.measured_ns <= precision.allowed_ns, "{precision:?}");
    assert_nothing_is_missed(&run, 5, &SLOTS, "with both");
    assert!(run.summary.deadlines_held());
    // Each frame has come over both, and one of the two is thrown away.
    let copies = run
        .rows
        .events
        .iter()
        .filter(|row| row.event.kind == EventKind::Discarded(chronoseal_core::DiscardReason::CopyEliminated));
    assert!(copies.count() > 500);
}

#[test]
fn the_same_scenario_gives_the_same_bytes() {
    let [one, again] = [0, 1].map(|_| format!("{:?}", run(SCENARIO).rows.frames));
    assert_eq!(one, again);
}

/// All links of the compression master of one network at once, which is what its failure is to all others.
#[test]
fn a_compression_master_that_fails_leaves_the_cluster_to_that_of_the_other_network() {
    let of_a = [("a1", "a2"), ("a", "a1"), ("b", "a1")];
    let of_b = [("b1", "b2"), ("b2", "b3"), ("c", "b2")];
    // The stream of best effort goes over the network that is left.
    for (links, cut_off, left) in [(of_a, ["a1", "a2"], "b"), (of_b, ["b2", "b3"], "a")] {
        let text = SCENARIO.replace("{} } }", &format!("{{}} }}, networks = [\"{left}\"] }}"));
        let failures = links.map(|(one, other)| (one, other, "500ms"));
        let run = run(&failing(&text, &failures));
        assert_nothing_is_missed(&run, 5, &SLOTS, cut_off[0]);
        let precision = run.summary.segments[0].precision.unwrap();
        assert!(precision.measured_ns <= precision.allowed_ns, "{precision:?}");
        // What hangs on it alone has no clock any more, on which nobody relies.
        assert!(run.summary.deadlines_held(), "{:?}", run.summary.clocks);
        for name in cut_off {
            let clock = run.summary.clocks.iter().find(|clock| clock.node == name).unwrap();
            assert_eq!((clock.lost, clock.spared, clock.held()), (1, 1, true), "{clock:?}");
        }
    }
}

#[test]
fn a_link_that_fails_in_one_network_takes_no_clock_and_no_slot() {
    for (one, other) in [("a", "a1"), ("d", "a2"), ("c", "b2"), ("e", "b3"), ("a1", "a2"), ("b1", "b2"), ("e", "a2")] {
        for at in ["0us", "7ms", "403ms"] {
            let run = run(&failing(SCENARIO, &[(one, other, at)]));
            assert_nothing_is_missed(&run, 5, &SLOTS, &format!("{one} to {other} at {at}"));
        }
    }
}

/// A cluster starts over one network alone.
#[test]
fn a_cluster_starts_over_one_network_if_the_other_one_never_works() {
    let links = [("a", "a1"), ("b", "a1"), ("c", "a2"), ("d", "a2"), ("e", "a2"), ("a1", "a2")];
    let run = run(&failing(SCENARIO, &links.map(|(one, other)| (one, other, "0us"))));
    assert_eq!(lost_clocks(&run, 5), []);
    for name in SLOTS {
        // The switches of A never have a clock, so that to the run all of it is start-up.
        assert!(stream(&run, name).delivered + stream(&run, name).startup > 90, "{:#?}", stream(&run, name));
    }
}

#[test]
fn a_master_whose_control_frames_are_forged_changed_or_late_in_one_network_is_outvoted() {
    for kind in [
        "{ forged_time = { offset = \"50us\" } }",
        "{ altered_time = { offset = \"3us\" } }",
        "{ delay = { by = \"200us\" } }",
    ] {
        for node in ["b", "d"] {
            let run = attacked(SCENARIO, &format!("kind = {kind}\nat = {{ link = \"{node}\" }}\nstart = \"400ms\""));
            let precision = run.summary.segments[0].precision.unwrap();
            assert!(precision.measured_ns <= precision.allowed_ns, "{kind} at {node}: {precision:?}");
            assert_nothing_is_missed(&run, 5, &SLOTS, &format!("{kind} at {node}"));
            assert!(run.summary.attacks[0].attempts > 40, "{kind}: {:?}", run.summary.attacks);
        }
    }
}

#[test]
fn who_makes_up_control_frames_from_a_port_of_its_own_is_refused_and_who_babbles_or_floods_stops_no_clock() {
    for (threat, is_on_slots) in [
        ("kind = { forged_time = { offset = \"50us\", of = \"a\" } }\nat = { segment = \"network\" }", false),
        ("kind = \"babble\"\nat = { link = \"b\" }\nstream = \"beside\"", true),
        ("kind = \"flood\"\nat = { segment = \"network\" }\nstream = \"picture\"", true),
    ] {
        let text = format!(
            "{SCENARIO}[[streams]]\nname = \"beside\"\nfrom = \"b\"\nto = [\"e\"]\nperiod = \"10ms\"\nlength = \"200B\"\nnetwork = \
             {{ class = {{ best_effort = {{}} }} }}\n"
        );
        let run = attacked(&text, &format!("{threat}\nstart = \"400ms\""));
        assert_nothing_is_missed(&run, 5, &SLOTS, threat);
        assert!(run.summary.attacks[0].attempts > 40, "{:?}", run.summary.attacks);
        assert!(is_on_slots || run.summary.attacks[0].accepted == 0, "{:?}", run.summary.attacks);
    }
}

fn below(rng: &mut ChaCha8Rng, end: usize) -> usize {
    (rng.next_u64() % end as u64) as usize
}

/// Two networks of one to three switches each, of which one loses a link or all links of a switch, at any time.
fn drawn(seed: u64) -> (String, u16) {
    let rng = &mut random::stream(seed, Purpose::Medium, 40);
    let nodes = 3 + below(rng, 4);
    let masters = (3 + below(rng, 3)).min(nodes);
    let (mut links, mut of_network, mut compressing) = (Vec::new(), Vec::new(), Vec::new());
    let mut switches = Vec::new();
    for letter in ["A", "B"] {
        let count = 1 + below(rng, 3);
        let names: Vec<String> = (0..count).map(|number| format!("{letter}{number}")).collect();
        let mut own: Vec<(String, String)> = names.windows(2).map(|two| (two[0].clone(), two[1].clone())).collect();
        own.extend((0..nodes).map(|node| (format!("n{node}"), names[below(rng, count)].clone())));
        let first = below(rng, count);
        compressing.push(names[first].clone());
        if count > 1 && below(rng, 4) == 0 {
            compressing.push(names[(first + 1) % count].clone());
        }
        switches.extend(names.clone());
        links.extend(own.clone());
        of_network.push((names, own));
    }
    let quoted = |names: &[String]| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    // One network fails.
    let (names, own) = &of_network[below(rng, 2)];
    let failed: Vec<&(String, String)> = match below(rng, 3) {
        0 => {
            let switch = &names[below(rng, names.len())];
            own.iter().filter(|(one, other)| one == switch || other == switch).collect()
        }
        1 => (0..1 + below(rng, 3)).map(|_| &own[below(rng, own.len())]).collect(),
        _ => vec![&own[below(rng, own.len())]],
    };
    let mut failures: Vec<String> = Vec::new();
    let together = below(rng, 2) == 0;
    let mut at = 30_000 + below(rng, 300_000);
    for (one, other) in failed {
        let name = format!("[\"{one}\", \"{other}\"]");
        if failures.iter().any(|known| known.contains(&name)) {
            continue;
        }
        failures.push(format!("{{ link = {name}, at = \"{at}us\" }}"));
        at = if together { at } else { 30_000 + below(rng, 300_000) };
    }
    let mut text = format!(
        "schema_version = 2\nname = \"drawn\"\nduration = \"600ms\"\nseed = {seed}\n[segments.network.ethernet]\nrate = \
         \"100Mbit/s\"\ncluster_cycle = \"10ms\"\nguard_period = \"60us\"\nprecision = \"20us\"\naccess = \"per-link\"\nforwarding_delay = \
         \"3us\"\nmax_transmission_delay = \"1ms\"\nswitches = [{}]\nnetworks = {{ a = [{}], b = [{}] }}\nsync = {{ as6802 = {{ masters = \
         [{}], compression_masters = [{}] }} }}\nfailures = [{}]\nlinks = [{}]\n",
        quoted(&switches),
        quoted(&of_network[0].0),
        quoted(&of_network[1].0),
        (0..masters).map(|node| format!("\"n{node}\"")).collect::<Vec<_>>().join(", "),
        quoted(&compressing),
        failures.join(", "),
        links
            .iter()
            .map(|(one, other)| format!("{{ between = [\"{one}\", \"{other}\"] }}"))
            .collect::<Vec<_>>()
            .join(", "),
    );
    for node in 0..nodes {
        let drift = below(rng, 201) as i64 - 100;
        let offset = below(rng, 20_000);
        writeln!(
            text,
            "[[nodes]]\nname = \"n{node}\"\nclock = {{ fixed = {{ offset = \"{offset}us\", drift = \"{drift}ppm\" }} }}"
        )
        .unwrap();
    }
    for stream in 0..2 + below(rng, 3) {
        let from = below(rng, nodes);
        let to = (from + 1 + below(rng, nodes - 1)) % nodes;
        let (period, length) = (["5ms", "10ms"][below(rng, 2)], 46 + below(rng, 800));
        writeln!(text, "[[streams]]\nname = \"s{stream}\"\nfrom = \"n{from}\"\nto = [\"n{to}\"]").unwrap();
        writeln!(text, "period = \"{period}\"\nlength = \"{length}B\"").unwrap();
    }
    let from = below(rng, nodes);
    let to = (from + 1) % nodes;
    writeln!(text, "[[streams]]\nname = \"flood\"\nfrom = \"n{from}\"\nto = [\"n{to}\"]\nperiod = \"200us\"").unwrap();
    writeln!(text, "length = \"1400B\"\nnetwork = {{ class = {{ best_effort = {{}} }} }}").unwrap();
    (text, nodes as u16)
}

/// `NETWORK_CLOCKS_SEED=17` tries that one alone, `NETWORK_CLOCKS=2000` more of them.
#[test]
fn whatever_fails_in_one_network_no_slot_is_missed() {
    let from_environment = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let only = from_environment("NETWORK_CLOCKS_SEED");
    let wanted = from_environment("NETWORK_CLOCKS").unwrap_or(40);
    for seed in only.map_or(0..wanted, |seed| seed..seed + 1) {
        let (text, nodes) = drawn(seed);
        let run = run(&text);
        let names: Vec<&str> =
            ["s0", "s1", "s2", "s3"].into_iter().filter(|name| text.contains(&format!("\"{name}\""))).collect();
        let what = format!("seed {seed}\n{text}");
        assert_eq!(lost_clocks(&run, nodes), [], "{what}");
        for name in names {
            let stream = stream(&run, name);
            assert!(stream.held(), "{stream:#?}\n{what}");
            assert_eq!(stream.failed(), 0, "{stream:#?}\n{what}");
        }
        let precision = run.summary.segments[0].precision.unwrap();
        assert!(precision.measured_ns <= precision.allowed_ns, "{precision:?}\n{what}");
    }
}
