//! What switches and end systems do beyond passing frames on, simulated and live: copies that meet in switches, noise, stream filters, gates and
//! meters, shaped and gated ports, sub-virtual links, and the integration policies of AS6802. The same frames come through on both
//! engines, and others are stopped for the same reasons.

use std::collections::BTreeMap;

use chronoseal_core::{DiscardReason, StreamId};
use chronoseal_results::rows::Outcome;
use chronoseal_scenario::NoFiles;

use crate::engines::{self, Engine, load};

/// Tries a shared machine gets.
const TRIES: usize = 3;

/// A network, and what of its streams is as certain live as in the simulator.
struct Case {
    name: &'static str,
    text: String,
    /// By stream: the least and the largest share of what the simulator accepts that comes live.
    accepted: &'static [(f64, f64)],
    /// Reasons of which as many frames are stopped live as simulated, within a fifth of them.
    alike: &'static [DiscardReason],
}

const SEGMENT: &str = r#"
schema_version = 2
name = "classes"
duration = "1500ms"
[segments.net.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
guard_period = "1ms"
precision = "400us"
"#;

const ENDS: &str = r#"
[[nodes]]
name = "front"
[[nodes]]
name = "rear"
"#;

/// A stream of `front` to `rear` each 10 ms.
fn stream(name: &str, length: u32, hop: &str) -> String {
    format!(
        "[[streams]]\nname = \"{name}\"\nfrom = \"front\"\nto = [\"rear\"]\nperiod = \"10ms\"\nlength = \"{length}B\"\nnet = {hop}\n"
    )
}

fn mesh(more: &str) -> String {
    let links = "class = { vlan = { pcp = 6 } }\nswitches = [\"s1\", \"a\", \"b\", \"s4\"]\nlinks = [\n  { between = [\"front\", \"s1\"] }, \
                 { between = [\"rear\", \"s4\"] },\n  { between = [\"s1\", \"a\"] }, { between = [\"s1\", \"b\"] }, { between = [\"a\", \"b\"] }, \
                 { between = [\"a\", \"s4\"] }, { between = [\"b\", \"s4\"] },\n]\n";
    let hop = "{ replication = { ways = [[\"a\"], [\"b\"], [\"a\", \"b\"], [\"b\", \"a\"]], eliminate_at = [\"a\", \"b\"], history = 64 } }";
    format!("{SEGMENT}{links}{more}{ENDS}{}", stream("copied", 100, hop))
}

fn cases() -> Vec<Case> {
    let vlan = |pcp: u8| format!("{{ class = {{ vlan = {{ pcp = {pcp} }} }} }}");
    let filtered = |filters: &str| {
        format!(
            "{SEGMENT}class = {{ vlan = {{ pcp = 1 }} }}\n{filters}\n{ENDS}{}{}",
            stream("one", 1000, "{}"),
            stream("other", 100, &vlan(5))
        )
    };
    let linked = |own: &str| {
        format!(
            "{SEGMENT}class = {{ rate_constrained = {{ bag = \"4ms\", jitter = \"9ms\" }} }}\nvirtual_links = {{ standard = false }}\n{ENDS}{}{}",
            stream("link", 200, "{}"),
            stream("sub", 300, own)
        )
    };
    let scheduled = |policy: &str| {
        let frames = stream("slots", 100, "{ class = \"time-triggered\" }");
        format!(
            "{SEGMENT}integration_policy = \"{policy}\"\n{ENDS}{frames}{}",
            stream("other", 1000, "{ class = { best_effort = {} } }")
        )
    };
    let whole: &[(f64, f64)] = &[(0.9, 1.01), (0.9, 1.01)];
    // A host that others use too misses slots.
    let in_slots: &[(f64, f64)] = &[(0.3, 1.01), (0.9, 1.01)];
    vec![
        Case {
            name: "copies that meet in switches, with two links that fail",
            text: mesh(
                "failures = [{ link = [\"s1\", \"a\"], at = \"700ms\" }, { link = [\"b\", \"s4\"], at = \"700ms\" }]\n",
            ),
            accepted: &whole[..1],
            alike: &[DiscardReason::CopyEliminated, DiscardReason::LinkDown],
        },
        Case {
            name: "copies and noise",
            text: mesh(
                "frame_losses = [{ link = [\"s1\", \"a\"], ratio = 0.5 }, { link = [\"b\", \"s4\"], ratio = 0.5 }]\n",
            ),
            accepted: &whole[..1],
            alike: &[],
        },
        Case {
            name: "a filter blocks a stream whose frames are too long",
            text: filtered(
                "stream_filters = [{ name = \"f\", stream = \"one\", max_sdu = \"500B\", block_on_oversize = true }]",
            ),
            accepted: &[(0.0, 0.0), (0.9, 1.01)],
            alike: &[DiscardReason::StreamBlocked],
        },
        Case {
            name: "a stream gate is closed",
            text: filtered(
                "stream_filters = [{ name = \"f\", priority = 5, gate = \"g\" }]\nstream_gates = [{ name = \"g\", cycle = \"1ms\", \
                 entries = [{ lasts = \"1ms\", open = false }] }]",
            ),
            accepted: &[(0.9, 1.01), (0.0, 0.0)],
            alike: &[DiscardReason::StreamGateClosed],
        },
        Case {
            name: "a meter lets half of a stream through",
            text: filtered(
                "stream_filters = [{ name = \"f\", stream = \"one\", meter = \"m\" }]\nflow_meters = [{ name = \"m\", cir = \"409kbit/s\", \
                 cbs = \"1100B\" }]",
            ),
            accepted: &[(0.8, 1.2), (0.9, 1.01)],
            alike: &[DiscardReason::MeteredRed],
        },
        Case {
            name: "ports with credit, gates and preemption",
            text: filtered(
                "[segments.net.ethernet.bridge_ports]\nclasses = [{ class = 1, shaper = { credit_based = { idle_slope = \"20Mbit/s\" } } }, \
                 { class = 0, preemptable = true }]\ngates = { cycle = \"1ms\", entries = [{ open = [5], lasts = \"400us\" }, \
                 { open = [0, 1, 2, 3, 4, 6, 7], lasts = \"600us\" }] }",
            ),
            accepted: whole,
            alike: &[],
        },
        Case {
            name: "asynchronous shapers",
            text: filtered(
                "[segments.net.ethernet.bridge_ports]\nclasses = [{ class = 1, shaper = \"asynchronous\" }, { class = 5, shaper = \"asynchronous\" }]",
            ),
            accepted: whole,
            alike: &[],
        },
        Case {
            name: "a sub-virtual link",
            text: linked("{ sub_virtual_link_of = \"link\" }"),
            accepted: whole,
            alike: &[],
        },
        Case { name: "shuffling", text: scheduled("shuffling"), accepted: in_slots, alike: &[] },
        Case { name: "preemption", text: scheduled("preemption"), accepted: in_slots, alike: &[] },
    ]
}

/// What became of a run's frames: how many were accepted, by stream, and how many were stopped, by reason.
#[derive(Debug, Default)]
struct Told {
    accepted: BTreeMap<u16, u64>,
    stopped: BTreeMap<DiscardReason, u64>,
}

/// `None` where the host refuses.
fn run(engine: Engine, text: &str) -> Option<Told> {
    let rows = engines::run(engine, &load(text, &NoFiles))?.rows;
    let mut told = Told::default();
    // Beacons are of no stream, and a simulated switch alone tells what becomes of them.
    for row in rows.frames.iter().filter(|row| row.stream != StreamId::NONE) {
        match row.outcome {
            Outcome::Delivered | Outcome::Late => *told.accepted.entry(row.stream.0).or_default() += 1,
            Outcome::Discarded(reason) => *told.stopped.entry(reason).or_default() += 1,
            Outcome::Missing | Outcome::Unaccounted => {}
        }
    }
    Some(told)
}

/// What is wrong with a live run, if anything is.
fn wrong(case: &Case, simulated: &Told, live: &Told) -> Result<(), String> {
    for (stream, (least, most)) in (0..).zip(case.accepted) {
        let of = |told: &Told| told.accepted.get(&stream).copied().unwrap_or(0) as f64;
        let (expected, came) = (of(simulated), of(live));
        if came < least * expected || came > most * expected {
            return Err(format!("of stream {stream} {came} frames came, and {expected} in the simulator"));
        }
    }
    for reason in case.alike {
        let of = |told: &Told| told.stopped.get(reason).copied().unwrap_or(0) as f64;
        let (expected, came) = (of(simulated), of(live));
        if expected == 0.0 || (came - expected).abs() > 0.2 * expected {
            return Err(format!("{}: {came}, and {expected} in the simulator", reason.name()));
        }
    }
    // A host that others use too can be too late for a slot, and for nothing else.
    let others = live.stopped.keys().filter(|reason| !simulated.stopped.contains_key(reason));
    let excused = [DiscardReason::OutsideWindow, DiscardReason::NotSynchronised, DiscardReason::Superseded];
    match others.into_iter().find(|reason| !excused.contains(reason)) {
        Some(reason) => Err(format!("frames were stopped for `{}`, and none in the simulator", reason.name())),
        None => Ok(()),
    }
}

pub(crate) fn run_all() {
    for case in cases() {
        let simulated = run(Engine::Sim, &case.text).expect("the simulator takes all");
        println!("Sim {}: {simulated:?}", case.name);
        let mut found = Vec::new();
        for _ in 0..TRIES {
            let Some(live) = run(Engine::Live, &case.text) else { return };
            println!("Live {}: {live:?}", case.name);
            match wrong(&case, &simulated, &live) {
                Ok(()) => break,
                Err(reason) => found.push(reason),
            }
        }
        assert!(found.len() < TRIES, "{}: {}", case.name, found.join("; "));
    }
}
