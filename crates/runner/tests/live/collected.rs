//! Three streams over CAN, Ethernet and CAN whose PDUs share frames on the backbone, simulated and live: what arrives, in how many
//! frames, and what a gateway that was taken over gets through of one of them.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::{EventKind, StreamId};
use chronoseal_results::rows::{Direction, FrameRow, Outcome, RunRows};
use chronoseal_scenario::NoFiles;
use chronoseal_wire::test_bed_header::ETHERTYPE_BEST_EFFORT;

use crate::engines::{self, Engine, load};
use crate::zones::{END_TO_END, HOP_BY_HOP, ZONES, is_accepted, liar};

/// Gateways and streams between [`ZONES`].
const GATEWAYS: &str = r#"
[[nodes]]
name = "zone-front"
on = ["front", "backbone"]
[nodes.gateway]
delay = "40us"
collect = [{ streams = ["request", "speed"], on = "backbone", within = "2ms" }]
REBOOT
[[nodes]]
name = "zone-rear"
on = ["backbone", "rear"]
[nodes.gateway]
delay = "40us"
REAR
[[streams]]
name = "request"
from = "pedal"
to = ["brake", "cluster"]
period = "10ms"
offset = "1ms"
length = "8B"
deadline = "9ms"
protection = PROTECTION
front = { id = "0x0A0", format = "fd-brs" }
ALONE
[[streams]]
name = "speed"
count = 2
from = "pedal"
to = ["brake"]
period = "10ms"
offset = "1ms"
length = "12B"
deadline = "9ms"
protection = PROTECTION
front = { id = "0x0B0", format = "fd-brs" }
SPEED
"#;

/// The rear gateway sends each PDU on alone, or collects them again.
const ALONE: [&str; 3] =
    ["", "rear = { id = \"0x0A0\", format = \"fd-brs\" }", "rear = { id = \"0x0B0\", format = \"fd-brs\" }"];
const AGAIN: [&str; 3] = [
    "collect = [{ streams = [\"request\", \"speed\"], on = \"rear\", within = \"2ms\", \
     rear = { id = \"0x090\", format = \"fd-brs\" } }]",
    "",
    "",
];
const REQUEST: StreamId = StreamId(0);

fn text(protection: &str, [rear, alone, speed]: [&str; 3], reboot: &str) -> String {
    let gateways = GATEWAYS
        .replace("PROTECTION", protection)
        .replace("REBOOT", reboot)
        .replace("REAR", rear)
        .replace("ALONE", alone)
        .replace("SPEED", speed);
    ZONES.to_owned() + &gateways
}

/// Runs a scenario; `None` where the host refuses.
fn run(engine: Engine, text: &str) -> Option<RunRows> {
    Some(engines::run(engine, &load(text, &NoFiles))?.rows)
}

fn count(rows: &RunRows, which: impl Fn(&FrameRow) -> bool) -> usize {
    rows.frames.iter().filter(|row| which(row)).count()
}

pub(crate) fn run_all() {
    for engine in [Engine::Sim, Engine::Live] {
        everything_arrives_in_fewer_frames(engine);
        a_liar_is_believed_hop_by_hop_only_and_of_one_stream(engine);
        a_reboot_loses_what_is_collected(engine);
    }
}

/// Each PDU has its row at each receiver, and the frames that they share are there once.
fn everything_arrives_in_fewer_frames(engine: Engine) {
    for protection in [END_TO_END, HOP_BY_HOP] {
        for rear in [ALONE, AGAIN] {
            // Three PDUs with a tag each are too long for one frame of the bus.
            if protection == END_TO_END && rear == AGAIN {
                continue;
            }
            let Some(rows) = run(engine, &text(protection, rear, "")) else { return };
            let sent = rows.events.iter().filter(|row| row.event.kind == EventKind::Sent).count();
            let accepted = count(&rows, is_accepted);
            let late = count(&rows, |row| row.outcome == Outcome::Late);
            let open = count(&rows, |row| row.outcome == Outcome::Unaccounted);
            assert_eq!(rows.frames.len(), accepted + open, "{engine:?} {protection}: nothing is thrown away");
            // Live, a host that is held up ends the run a period late.
            let most = if engine == Engine::Sim { 450 } else { 456 };
            assert!((447..=most).contains(&sent), "{engine:?}: {sent} of 450 sent");
            assert!(accepted >= 588 && open <= 8, "{engine:?} {protection}: {accepted} of 600, {open} under way");
            assert!(late == 0 || engine == Engine::Live, "{late} late");
            let received = |row: &FrameRow| Some(row.received_at? - row.sent_at?);
            let worst = rows.frames.iter().filter_map(received).max();
            println!(
                "{engine:?} {protection}: {accepted} accepted, {late} late, at most {:?}",
                worst.map(|at| at.as_ns())
            );
            // Three PDUs a frame, as they come together; live they may come apart.
            let frames: BTreeSet<u64> = rows.hops.iter().filter(|hop| hop.segment == 1).map(|hop| hop.frame).collect();
            let captured = rows.captures.iter().filter(|row| row.segment == 1 && row.direction == Direction::Arrival);
            // The others are beacons.
            let captured = captured.filter(|row| row.bytes[12..14] == ETHERTYPE_BEST_EFFORT.to_be_bytes()).count();
            println!("{engine:?} {protection}: {} frames on the backbone, {captured} captured", frames.len());
            assert!(frames.len() >= 148 && (engine == Engine::Live || frames.len() <= 150), "{}", frames.len());
            assert!(captured.abs_diff(frames.len()) <= 2, "{engine:?}: each frame is captured once");
            ways_lead_back(engine, &rows);
        }
    }
}

/// Each hop but the first names the transmission that brought this very PDU.
fn ways_lead_back(engine: Engine, rows: &RunRows) {
    let streams_of = |frame: u64| -> BTreeSet<StreamId> {
        rows.hops.iter().filter(|hop| hop.frame == frame).map(|hop| hop.stream).collect()
    };
    let of: BTreeMap<u64, BTreeSet<StreamId>> =
        rows.hops.iter().map(|hop| (hop.frame, streams_of(hop.frame))).collect();
    let behind = rows.hops.iter().filter(|hop| hop.segment > 0 && hop.stream.0 < 3);
    let mut told = 0;
    for hop in behind {
        let [origin] = hop.origins[..] else { panic!("{engine:?}: {hop:?}") };
        assert!(of.get(&origin).is_none_or(|streams| streams.contains(&hop.stream)), "{engine:?}: {hop:?}");
        told += 1;
    }
    assert!(told > 800, "{engine:?}: {told} hops behind the first");
}

fn a_liar_is_believed_hop_by_hop_only_and_of_one_stream(engine: Engine) {
    for kind in ["tamper", "spoof", "replay", "withhold"] {
        for (protection, is_believed) in [(END_TO_END, false), (HOP_BY_HOP, true)] {
            let Some(rows) = run(engine, &(text(protection, ALONE, "") + &liar(kind))) else { return };
            let told = rows.events.iter().filter(|row| matches!(row.event.kind, EventKind::Attacked(_))).count();
            let accepted = count(&rows, |row| row.attack.is_some() && is_accepted(row));
            let refused = count(&rows, |row| row.attack.is_some() && matches!(row.outcome, Outcome::Discarded(_)));
            let others = count(&rows, |row| row.stream != REQUEST && row.attack.is_none() && is_accepted(row));
            println!("{engine:?} {kind} {protection}: {told} attempts, {accepted} accepted, {refused} refused");
            assert_eq!(told, 20, "{engine:?} {kind}");
            assert!(others >= 294, "{engine:?} {kind} {protection}: {others} of 300 that nobody touched");
            assert_eq!(count(&rows, |row| row.stream != REQUEST && row.attack.is_some()), 0, "{engine:?} {kind}");
            if kind == "withhold" {
                let absent = count(&rows, |row| matches!(row.outcome, Outcome::Missing | Outcome::Unaccounted));
                assert!(absent >= 40 && accepted == 0, "{engine:?} {protection}: {absent} of 40 are missed");
                continue;
            }
            assert_eq!((accepted > 0, refused > 0), (is_believed, !is_believed), "{engine:?} {kind} {protection}");
        }
    }
}

fn a_reboot_loses_what_is_collected(engine: Engine) {
    let reboot = "reboot = { at = \"502ms\", takes = \"200ms\" }";
    let Some(rows) = run(engine, &text(END_TO_END, ALONE, reboot)) else { return };
    let told = rows.events.iter().filter(|row| row.event.kind == EventKind::Rebooted).count();
    let absent = count(&rows, |row| matches!(row.outcome, Outcome::Missing | Outcome::Unaccounted));
    println!("{engine:?} reboot: {absent} absent");
    // 200 ms without 20 frames of three PDUs, one of which has two receivers.
    assert_eq!((told, absent >= 68), (1, true), "{engine:?}: {absent} absent");
}
