//! The same scenario, simulated and live: every node says the same things in the same order, times excluded.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::{DiscardReason, EventKind};
use chronoseal_results::{RunRows, StallRow, store};

use crate::support::Bench;
use crate::{TRIES, live_host};

/// Three stations and slots far apart, so that no order hangs on a jitter: what a node hears within one slot comes
/// milliseconds before what it hears in the next.
const SCENARIO: &str = r#"schema_version = 2
name = "parity"
duration = "600ms"

[segments.network.ethernet]
rate = "100Mbit/s"
cluster_cycle = "20ms"
guard_period = "2ms"
precision = "500us"

[[protections]]
name = "sha256-16"
hmac = { hash = "sha-256", tag = "16B", freshness = "cycle-counter" }

[[nodes]]
name = "one"
clock = { fixed = { offset = "3ms", drift = "100ppm" } }
[[nodes]]
name = "two"
clock = { fixed = { offset = "-2ms", drift = "-50ppm" } }
[[nodes]]
name = "three"

[[streams]]
name = "from-one"
from = "one"
to = ["two", "three"]
period = "20ms"
offset = "4ms"
length = "46B"
protection = "sha256-16"

[[streams]]
name = "from-two"
from = "two"
to = ["one"]
period = "20ms"
offset = "9ms"
length = "186B"

[[streams]]
name = "from-three"
from = "three"
to = ["one", "two"]
period = "20ms"
offset = "14ms"
length = "986B"
protection = "sha256-16"
"#;

/// What a node says in one integration cycle, in its order: kind and stream.
type Cycle = Vec<(EventKind, u16)>;

#[test]
fn a_live_run_says_what_a_simulated_one_says_in_the_same_order() {
    let Some(_guard) = live_host() else { return };
    let bench = Bench::new();
    bench.write("parity.toml", SCENARIO);
    bench.say(&["run", "parity.toml", "--out", "sim", "--quiet"]).assert_code(0);
    let simulated = cycles(&store::read_rows(&bench.path("sim")).unwrap(), &[]);
    let nodes: Vec<u16> = simulated.keys().copied().collect();
    assert!(nodes.len() >= 4, "three stations and their switch: {nodes:?}");
    // In a clean run every full cycle is like any other.
    let expected: BTreeMap<u16, &Cycle> = simulated.iter().map(|(node, cycles)| (*node, &cycles[&SETTLED])).collect();
    for (node, cycles) in &simulated {
        for (number, cycle) in cycles.range(SETTLED..) {
            assert_eq!(&cycle, &expected[node], "simulated, node {node}, cycle {number}");
        }
    }

    for attempt in 1..=TRIES {
        let out = format!("live-{attempt}");
        let run = bench.json(&["run", "parity.toml", "--engine", "live", "--out", &out, "--quiet"]);
        let rows = store::read_rows(&bench.path(&out)).unwrap();
        let live = cycles(&rows, &rows.stalls);
        let mut compared = 0;
        let mut differences = Vec::new();
        for (node, cycles) in &live {
            for (number, cycle) in cycles.range(SETTLED..) {
                compared += 1;
                if Some(&cycle) != expected.get(node) {
                    differences
                        .push(format!("node {node}, cycle {number}: {cycle:?}, simulated {:?}", expected.get(node)));
                }
            }
        }
        println!(
            "try {attempt}: {compared} cycles of {} nodes compared, {} differ; {}",
            live.len(),
            differences.len(),
            run["summary"]["stalls"]
        );
        if differences.is_empty() && live.keys().eq(simulated.keys()) && compared >= 12 * nodes.len() {
            return;
        }
        differences.iter().take(5).for_each(|difference| println!("  {difference}"));
    }
    panic!("in {TRIES} tries no live run agreed with the simulation");
}

/// By then every clock has joined, in either engine `[cycle]`.
const SETTLED: i64 = 5;
/// The cycle in which the scenario ends; a live run's beacons go on a little longer.
const END: i64 = 29;
const CYCLE_NS: i64 = 20_000_000;

/// What tells of a frame that missed its slot.
const TOO_LATE: [EventKind; 3] =
    [EventKind::SentLate, EventKind::Missing, EventKind::Discarded(DiscardReason::OutsideWindow)];

/// Events by node and whole integration cycle. Those cycles are left out that one of `stalls`, stays of the host off its
/// processor, overlaps, or in which a frame was too late for its slot: what happens then is the host's doing.
fn cycles(rows: &RunRows, stalls: &[StallRow]) -> BTreeMap<u16, BTreeMap<i64, Cycle>> {
    let mut nodes: BTreeMap<u16, BTreeMap<i64, Cycle>> = BTreeMap::new();
    for row in &rows.events {
        let number = cycle_of(row.time.since_zero().as_ns());
        if number < END {
            let event = (row.event.kind, row.event.stream.0);
            nodes.entry(row.node.0).or_default().entry(number).or_default().push(event);
        }
    }
    let late = |cycle: &Cycle| cycle.iter().any(|(kind, _)| TOO_LATE.contains(kind));
    let numbers: BTreeSet<i64> =
        nodes.values().flatten().filter(|(_, cycle)| late(cycle)).map(|(number, _)| *number).collect();
    nodes.values_mut().for_each(|cycles| cycles.retain(|number, _| !numbers.contains(number)));
    for stall in stalls {
        let from = stall.time.since_zero().as_ns();
        for number in cycle_of(from)..=cycle_of(from + stall.duration.as_ns()) {
            nodes.values_mut().for_each(|cycles| drop(cycles.remove(&number)));
        }
    }
    nodes
}

/// Events of a cycle lie between a little before its beacon and well before the next: sending ahead of a slot is the
/// earliest of them, and the last slot ends milliseconds before the cycle does.
fn cycle_of(ns: i64) -> i64 {
    (ns + 1_000_000).div_euclid(CYCLE_NS)
}
