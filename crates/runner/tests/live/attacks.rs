//! Every attack of a bus scenario, simulated and live: who holds a key afterwards, and why not.

#![allow(clippy::disallowed_methods, reason = "it tells how long it took")]

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use chronoseal_core::{EventKind, NodeId};
use chronoseal_results::rows::{Outcome, RunRows};
use chronoseal_scenario::{NoFiles, Scenario};

use crate::engines::{self, Engine, load};
use crate::patience::{self, Needs};

/// The pairs of an exchange are on different buses and the attacker on the first: it is the first to answer, on any host.
const SCENARIO: &str = r#"
schema_version = 2
name = "under-attack"
duration = "4s"
[segments.front.can]
bit_rate = "1Mbit/s"
data_bit_rate = "2Mbit/s"
[segments.rear.can]
bit_rate = "1Mbit/s"
data_bit_rate = "2Mbit/s"
[keys.bus.group]
orchestrator = "gateway"
members = ["ecu1", "ecu2", "ecu3"]
scheme = "without-orchestrator"
start = "200ms"
[[platforms]]
name = "tc297"
builtin = "tc297"
costs = [{ operation = "cmac-aes-128", base = "0s" }]
[[protections]]
name = "sealed"
secoc = { profile = 3 }
[[nodes]]
platform = "tc297"
name = "gateway"
on = ["front"]
[[nodes]]
platform = "tc297"
name = "ecu1"
on = ["front"]
[[nodes]]
platform = "tc297"
name = "ecu2"
on = ["rear"]
[[nodes]]
platform = "tc297"
name = "ecu3"
on = ["rear"]
[[nodes]]
name = "zone"
on = ["front", "rear"]
gateway = { delay = "20ms", queue = "2048 frames", bridges = ["all"] }
[[streams]]
name = "speed"
from = "ecu1"
to = ["ecu2"]
front = { id = "0x100" }
rear = { id = "0x100" }
length = "4B"
period = "50ms"
offset = "5ms"
protection = "sealed"
"#;

/// An attack, and what has to come of it on either engine.
struct Attack {
    kind: &'static str,
    /// The rest of its table.
    more: &'static str,
    /// Whether the stations come to their key all the same.
    key_installed: bool,
    /// Why what the attacker said was refused; others may follow from it.
    reason: &'static str,
}

const fn attack(kind: &'static str, more: &'static str, key_installed: bool, reason: &'static str) -> Attack {
    Attack { kind, more, key_installed, reason }
}

#[rustfmt::skip]
const ATTACKS: [Attack; 11] = [
    attack("\"spoof\"\nstream = \"speed\"", "start = \"1s\"\ncount = 20", true, "tag-mismatch"),
    attack("\"replay\"\nstream = \"speed\"", "start = \"1s\"\ncount = 20", true, "replayed"),
    attack("\"babble\"", "every = \"50us\"\ncount = 1000000", false, "share-missing"),
    attack("{ replayed_orchestration = { after = \"50ms\" } }", "count = 3", true, "orchestration-replayed"),
    attack("\"swapped-addresses\"", "count = 1000", true, "wrong-addresses"),
    attack("\"reflected-share\"", "count = 1000", false, "reflected-share"),
    attack("\"small-order-share\"", "count = 1000", false, "small-order-share"),
    attack("\"truncated-confirmation\"", "count = 1000", false, "wrong-length"),
    attack("\"forged-confirmation\"", "count = 1000", false, "confirmation-refused"),
    attack("\"impersonated-orchestrator\"", "count = 3", true, "orchestration-refused"),
    attack("\"forged-commit\"", "count = 1000", true, "commit-refused"),
];
const STATIONS: u16 = 4;
/// After the stations and the gateway between the buses.
const ATTACKER: NodeId = NodeId(STATIONS + 1);
/// The attacker has to answer before a pair on the other bus can.
const NEEDS: Needs = Needs {
    stall_max: Duration::from_millis(10),
    because: "the gateway takes 20 ms, and the attacker has to be first",
};

/// What an attack came to.
#[derive(PartialEq, Eq, Debug)]
struct Consequence {
    was_tried: bool,
    /// Who took a key into use.
    installed: BTreeSet<u16>,
    /// Why exchanges and keys were given up, and frames of the attacker thrown away.
    reasons: BTreeSet<&'static str>,
    /// Frames of the attacker that somebody believed.
    believed: usize,
}

impl Consequence {
    fn of(rows: &RunRows) -> Self {
        let of_station = rows.events.iter().filter(|row| row.node.0 < STATIONS);
        let mut new = Self { was_tried: false, installed: BTreeSet::new(), reasons: BTreeSet::new(), believed: 0 };
        for row in of_station {
            match row.event.kind {
                EventKind::KeyInstalled => drop(new.installed.insert(row.node.0)),
                EventKind::ExchangeAborted(reason) | EventKind::KeyRefused(reason) => {
                    new.reasons.insert(reason.name());
                }
                _ => {}
            }
        }
        for row in rows.frames.iter().filter(|row| row.sender == ATTACKER) {
            match row.outcome {
                Outcome::Discarded(reason) => drop(new.reasons.insert(reason.name())),
                Outcome::Delivered | Outcome::Late => new.believed += 1,
                _ => {}
            }
        }
        new.was_tried = rows.events.iter().any(|row| matches!(row.event.kind, EventKind::Attacked(_)));
        new
    }

    fn is_as_expected(&self, attack: &Attack) -> bool {
        let all = if attack.key_installed { usize::from(STATIONS) } else { 0 };
        self.was_tried && self.installed.len() == all && self.reasons.contains(attack.reason) && self.believed == 0
    }
}

fn scenario(attack: &Attack) -> Scenario {
    let Attack { kind, more, .. } = attack;
    let at = "at = { segment = \"front\" }";
    let text = format!("{SCENARIO}[[threats]]\nname = \"mallory\"\nkind = {kind}\n{at}\n{more}\n");
    load(&text, &NoFiles)
}

pub(crate) fn run_all() {
    let began = Instant::now();
    // They mostly wait, so many run side by side.
    for some in ATTACKS.chunks(ATTACKS.len().div_ceil(2)) {
        thread::scope(|scope| some.iter().for_each(|attack| drop(scope.spawn(|| check(attack)))));
    }
    println!("{} attacks in {:.1} s", ATTACKS.len(), began.elapsed().as_secs_f64());
}

/// Runs one attack on both engines.
fn check(attack: &Attack) {
    let scenario = scenario(attack);
    let simulated = engines::run(Engine::Sim, &scenario).expect("simulated");
    let simulated = Consequence::of(&simulated.rows);
    assert!(simulated.is_as_expected(attack), "{} simulated: {simulated:?}", attack.kind);
    let live = patience::until(attack.kind, &scenario, NEEDS, |run| {
        let live = Consequence::of(&run.rows);
        // Nothing forgives a frame that was believed.
        assert_eq!(live.believed, 0, "{} live: {live:?}", attack.kind);
        if live.is_as_expected(attack) { Ok(live) } else { Err(format!("{live:?}, simulated {simulated:?}")) }
    });
    if let Some(live) = live {
        println!("{}: {} and {}, simulated and live", attack.kind, key(&live), attack.reason);
    }
}

fn key(of: &Consequence) -> &'static str {
    if of.installed.is_empty() { "no key" } else { "the key" }
}
