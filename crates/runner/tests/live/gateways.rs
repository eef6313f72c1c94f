//! A request over two CAN buses and an Ethernet between them, simulated and live: what arrives, when, and what a gateway that was
//! taken over gets through.

use chronoseal_core::{DiscardReason, EventKind, StoppedBy};
use chronoseal_results::rows::{FrameRow, Outcome, RunRows};
use chronoseal_scenario::NoFiles;

use crate::engines::{self, Engine, load};
use crate::zones::{END_TO_END, HOP_BY_HOP, ZONES, is_accepted, liar};

/// Gateways and a stream between [`ZONES`].
const GATEWAYS: &str = r#"
[[nodes]]
name = "zone-front"
on = ["front", "backbone"]
[nodes.gateway]
delay = "40us"
REBOOT
[[nodes]]
name = "zone-rear"
on = ["backbone", "rear"]
gateway = { delay = "40us" }
[[streams]]
name = "request"
from = "pedal"
to = ["brake", "cluster"]
period = "10ms"
length = "8B"
deadline = "9ms"
protection = PROTECTION
front = { id = "0x0A0", format = "fd-brs" }
backbone = { class = CLASS }
rear = { id = "0x0A0", format = "fd-brs" }
"#;

const BEST_EFFORT: &str = "{ best_effort = { priority = 5 } }";
const IN_SLOTS: &str = "\"time-triggered\"";
/// Windows as wide as an emulated switch needs that shares its host with others.
const LIVE_SLOTS: &str = "guard_period = \"1ms\"\nprecision = \"400us\"";
/// Tries a shared machine gets where it may not be late.
const TRIES: usize = 3;

fn text(protection: &str, class: &str, reboot: &str, more: &str) -> String {
    let gateways = GATEWAYS.replace("PROTECTION", protection).replace("REBOOT", reboot).replace("CLASS", class);
    ZONES.to_owned() + &gateways + more
}

/// Runs a scenario; `None` where the host refuses.
fn run(engine: Engine, protection: &str, class: &str, reboot: &str, more: &str) -> Option<RunRows> {
    Some(engines::run(engine, &load(&text(protection, class, reboot, more), &NoFiles))?.rows)
}

fn count(rows: &RunRows, which: impl Fn(&FrameRow) -> bool) -> usize {
    rows.frames.iter().filter(|row| row.stream.0 == 0 && which(row)).count()
}

/// A PDU of one byte has 256 numbers, and a run has more frames.
fn short_pdus_are_told_apart() {
    let text =
        text(END_TO_END, BEST_EFFORT, "", "").replace("length = \"8B\"", "length = \"1B\"").replace("1500ms", "6s");
    let rows = engines::run(Engine::Sim, &load(&text, &NoFiles)).expect("simulated").rows;
    let accepted = count(&rows, |row| row.outcome == Outcome::Delivered);
    assert_eq!((accepted, count(&rows, |_| true)), (1200, 1200));
    let numbers: std::collections::BTreeSet<u64> = rows.frames.iter().map(|row| row.sequence).collect();
    assert_eq!(numbers.len(), 600);
}

pub(crate) fn run_all() {
    short_pdus_are_told_apart();
    for engine in [Engine::Sim, Engine::Live] {
        everything_arrives_in_time(engine);
        a_liar_is_believed_hop_by_hop_only(engine);
        a_reboot_is_seen(engine);
        slots_sample(engine);
    }
}

/// Live, a machine that others use too may be late; it may not lose anything.
fn everything_arrives_in_time(engine: Engine) {
    for protection in [END_TO_END, HOP_BY_HOP] {
        let mut late = 0;
        for _ in 0..TRIES {
            let Some(rows) = run(engine, protection, BEST_EFFORT, "", "") else { return };
            let accepted = count(&rows, is_accepted);
            late = count(&rows, |row| row.outcome == Outcome::Late);
            let open = count(&rows, |row| row.outcome == Outcome::Unaccounted);
            assert_eq!(count(&rows, |_| true), accepted + open, "{engine:?} {protection}: nothing is thrown away");
            assert!(accepted >= 298 && open <= 4, "{engine:?} {protection}: {accepted} of 300, {open} under way");
            if engine == Engine::Sim {
                let hops = rows.hops.iter().filter(|row| row.origins.is_empty()).count();
                assert_eq!(
                    (rows.hops.len(), hops),
                    (accepted / 2 * 4, accepted / 2),
                    "the first of each way has no origin"
                );
            }
            if late == 0 {
                let received = |row: &FrameRow| Some(row.received_at? - row.sent_at?);
                let worst = rows.frames.iter().filter_map(received).max();
                println!("{engine:?} {protection}: {accepted} accepted, at most {:?}", worst.map(|at| at.as_ns()));
                break;
            }
        }
        // A host that others use too may be late each time; the model may not.
        assert!(late == 0 || engine == Engine::Live, "{engine:?} {protection}: {late} late");
        if late > 0 {
            println!("{engine:?} {protection}: {late} late on this host in the last of {TRIES} tries");
        }
    }
}

fn a_liar_is_believed_hop_by_hop_only(engine: Engine) {
    for kind in ["tamper", "spoof", "replay"] {
        for (protection, is_believed) in [(END_TO_END, false), (HOP_BY_HOP, true)] {
            let Some(rows) = run(engine, protection, BEST_EFFORT, "", &liar(kind)) else { return };
            let told = rows.events.iter().filter(|row| matches!(row.event.kind, EventKind::Attacked(_))).count();
            let accepted = count(&rows, |row| row.attack.is_some() && is_accepted(row));
            let refused = count(&rows, |row| row.attack.is_some() && matches!(row.outcome, Outcome::Discarded(_)));
            println!("{engine:?} {kind} {protection}: {told} attempts, {accepted} accepted, {refused} refused");
            assert_eq!(told, 20, "{engine:?} {kind}");
            assert_eq!((accepted > 0, refused > 0), (is_believed, !is_believed), "{engine:?} {kind} {protection}");
        }
    }
}

/// Hop by hop the gateway's freshness begins again, and what it sends is taken for a replay; from end to end it has none.
fn a_reboot_is_seen(engine: Engine) {
    for (protection, is_refused) in [(END_TO_END, false), (HOP_BY_HOP, true)] {
        let reboot = "reboot = { at = \"500ms\", takes = \"200ms\" }";
        let Some(rows) = run(engine, protection, BEST_EFFORT, reboot, "") else { return };
        let told = rows.events.iter().filter(|row| row.event.kind == EventKind::Rebooted).count();
        let missing = count(&rows, |row| matches!(row.outcome, Outcome::Missing | Outcome::Unaccounted));
        let refused = |row: &FrameRow| {
            let reasons = [DiscardReason::Replayed, DiscardReason::FreshnessTooOld, DiscardReason::TagMismatch];
            matches!(row.outcome, Outcome::Discarded(reason) if reasons.contains(&reason))
        };
        let refused = count(&rows, refused);
        println!("{engine:?} reboot {protection}: {missing} absent, {refused} refused");
        assert_eq!(told, 1, "{engine:?}");
        // 200 ms without 20 frames to two receivers.
        assert!(missing >= 34, "{engine:?} {protection}: {missing} absent");
        assert_eq!(refused > 0, is_refused, "{engine:?} {protection}: {refused} refused");
    }
}

/// In slots, each carries the newest there is. A host that others use too misses slots, and gets several tries.
fn slots_sample(engine: Engine) {
    let (tries, least) = if engine == Engine::Sim { (1, 280) } else { (TRIES, 50) };
    let mut accepted = 0;
    for _ in 0..tries {
        let text = text(END_TO_END, IN_SLOTS, "", "").replace("guard_period = \"100us\"", LIVE_SLOTS);
        let Some(rows) = engines::run(engine, &load(&text, &NoFiles)).map(|run| run.rows) else { return };
        accepted = count(&rows, is_accepted);
        let other = count(&rows, |row| {
            let Outcome::Discarded(reason) = row.outcome else { return false };
            reason != DiscardReason::Superseded && (engine == Engine::Sim || reason.stopped_by() != StoppedBy::Schedule)
        });
        println!("{engine:?} in slots: {accepted} accepted, {other} thrown away for another reason than its slot");
        assert_eq!(other, 0, "{engine:?}");
        if accepted >= least {
            return;
        }
    }
    panic!("{engine:?}: {accepted} of 300");
}
