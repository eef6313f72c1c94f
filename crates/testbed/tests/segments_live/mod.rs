//! One live run on a CAN bus and an Ethernet network at once, with a gateway that is on both.

mod network;
pub(crate) mod nodes;

use std::process::{Command, ExitCode};
use std::sync::atomic::AtomicBool;

use chronoseal_core::{Duration, EventKind, NodeId, StreamId};
use chronoseal_media::topology::{Absent, Topology};
use chronoseal_results::{HopRow, Outcome, RunRows};
use chronoseal_testbed::{LiveError, LiveOutcome, PortLink, probe, run};

use network::{BUS, LINKS, RECORDER, SWITCHED, Streams, config, topology};
use nodes::{ANSWERS, GATEWAY, PAIRS, READINGS, REPLIES, SENSOR, STATION};

/// Exit status where the host grants no user namespaces.
const REFUSED: u8 = 77;

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("frames_cross_a_gateway_and_their_way_is_known", frames_cross_a_gateway_and_their_way_is_known),
    ("each_port_is_told_what_its_medium_tells", each_port_is_told_what_its_medium_tells),
    ("a_port_that_leads_nowhere_takes_nothing_along", a_port_that_leads_nowhere_takes_nothing_along),
    ("runs_on_both_kinds_without_a_privilege", runs_on_both_kinds_without_a_privilege),
];

/// Why the host refuses them, if it does.
pub(crate) fn refusal() -> Option<String> {
    probe(&config()).live_refused
}

fn go() -> LiveOutcome {
    run(&config(), &mut topology(), &Streams, &AtomicBool::new(false)).unwrap_or_else(|error| panic!("{error}"))
}

/// What a node said of a stream, by sequence.
fn told(rows: &RunRows, node: NodeId, kind: EventKind, stream: StreamId) -> Vec<u64> {
    let is_it =
        |row: &&chronoseal_results::EventRow| row.node == node && row.event.kind == kind && row.event.stream == stream;
    rows.events.iter().filter(is_it).map(|row| row.event.sequence).collect()
}

fn frames_cross_a_gateway_and_their_way_is_known() {
    let outcome = go();
    let rows = &outcome.rows;
    let back = told(rows, SENSOR, EventKind::Delivered, REPLIES);
    // The sensor sends a reading every 2 ms for 200 ms; two go into one frame, and each of those is answered.
    assert!(back.len() >= 20, "{} came back", back.len());
    assert_eq!(back, (0..back.len() as u64).collect::<Vec<_>>(), "in order, and none is missing");
    for sequence in back {
        check_way(&rows.hops, sequence);
    }
    let outcomes = |at: NodeId, stream| {
        let of_it = rows.frames.iter().filter(move |row| row.at == at && row.stream == stream);
        of_it.map(|row| row.outcome).collect::<Vec<_>>()
    };
    assert!(outcomes(STATION, PAIRS).contains(&Outcome::Delivered));
    assert!(outcomes(SENSOR, REPLIES).contains(&Outcome::Delivered));
    assert!(outcomes(GATEWAY, READINGS).is_empty(), "the gateway only passes them on");
    for count in &outcome.counts {
        assert_eq!((count.lost, count.refused), (0, 0), "{count:?}");
    }
    let by_segment = |segment| rows.hops.iter().filter(|hop| hop.segment == segment).count();
    println!(
        "  {} transmissions on the bus, {} over the switch; release errors {}, warnings {:?}",
        by_segment(BUS),
        by_segment(SWITCHED),
        rows.releases.len(),
        outcome.warnings
    );
}

/// A reply comes from an answer, that from a pair, and that from two readings.
fn check_way(hops: &[HopRow], sequence: u64) {
    let find = |frame: u64, to: NodeId| {
        hops.iter().find(|hop| (hop.frame, hop.to) == (frame, to)).unwrap_or_else(|| panic!("{frame} at {to:?}"))
    };
    let reply = hops.iter().find(|hop| (hop.stream, hop.sequence, hop.to) == (REPLIES, sequence, SENSOR)).unwrap();
    assert_eq!((reply.segment, reply.from, reply.origins.len()), (BUS, GATEWAY, 1));
    let answer = find(reply.origins[0], GATEWAY);
    assert_eq!((answer.stream, answer.sequence, answer.segment, answer.from), (ANSWERS, sequence, SWITCHED, STATION));
    assert_eq!(answer.origins.len(), 1);
    let pair = find(answer.origins[0], STATION);
    assert_eq!((pair.stream, pair.sequence, pair.segment, pair.from), (PAIRS, sequence, SWITCHED, GATEWAY));
    let readings: Vec<&HopRow> = pair.origins.iter().map(|frame| find(*frame, GATEWAY)).collect();
    let numbers: Vec<u64> = readings.iter().map(|hop| hop.sequence).collect();
    assert_eq!(numbers, [2 * sequence, 2 * sequence + 1]);
    assert!(readings.iter().all(|hop| (hop.stream, hop.segment, hop.from) == (READINGS, BUS, SENSOR)));
    assert!(readings.iter().all(|hop| hop.origins.is_empty()), "they are made, not passed on");
    // Everybody on the bus hears a frame, and it is one transmission.
    assert_eq!(find(readings[0].frame, RECORDER).sequence, 2 * sequence);
    let way = readings.into_iter().map(|reading| [reading, pair]).chain([[pair, answer], [answer, reply]]);
    for [before, after] in way {
        // A kernel's stamp comes from another clock, read within a microsecond of this one.
        let received = before.received_at.unwrap() - Duration::from_us(1);
        assert!(received <= after.sent_at.unwrap(), "{before:?} {after:?}");
    }
    for hop in [pair, answer] {
        assert!(hop.sent_at <= hop.arrived_at && hop.arrived_at <= hop.departed_at, "{hop:?}");
    }
    // On a bus, what comes in is what goes out, and it is over before anybody has it.
    for before in [reply.departed_at, reply.arrived_at] {
        assert!(reply.sent_at <= before && before <= reply.received_at, "{reply:?}");
    }
}

fn each_port_is_told_what_its_medium_tells() {
    let outcome = go();
    let said = |stream| told(&outcome.rows, GATEWAY, EventKind::Sent, stream).len();
    let handed_over =
        |stream: StreamId| outcome.rows.hops.iter().filter(|hop| hop.stream == stream && hop.from == GATEWAY).count();
    // Of a frame on the bus when the bus has carried it, of one to the switch when it left.
    assert!(said(PAIRS) >= 20 && said(PAIRS) >= handed_over(PAIRS));
    // The sensor and the recorder hear each.
    assert!(said(REPLIES) >= 20 && 2 * said(REPLIES) >= handed_over(REPLIES), "{}", said(REPLIES));
}

fn a_port_that_leads_nowhere_takes_nothing_along() {
    let mut medium = Topology::new();
    let on_bus = LINKS.iter().filter(|(_, link)| *link == PortLink::Pair).map(|(attachment, _)| *attachment);
    medium.add(network::bus(), on_bus.chain([network::at(RECORDER, 0)])).unwrap();
    let others = LINKS.iter().filter(|(_, link)| *link == PortLink::Tap).map(|(attachment, _)| *attachment);
    medium.add(Box::new(Absent), others).unwrap();
    let outcome = run(&config(), &mut medium, &Streams, &AtomicBool::new(false)).unwrap();
    let rows = &outcome.rows;
    assert!(rows.hops.iter().filter(|hop| hop.stream == READINGS).count() > 40, "the bus goes on");
    assert!(rows.hops.iter().all(|hop| hop.segment == BUS));
    // It was sent and read, and nobody got it.
    let pairs: Vec<_> = rows.frames.iter().filter(|row| row.stream == PAIRS).collect();
    assert!(pairs.len() >= 20 && pairs.iter().all(|row| row.outcome == Outcome::Unaccounted), "{}", pairs.len());
    assert!(told(rows, STATION, EventKind::Delivered, PAIRS).is_empty());
}

/// With what `unshare` needs of a user without privileges: no capability but the one to map root to root.
fn runs_on_both_kinds_without_a_privilege() {
    let with_less = |program: &str| {
        let mut command = Command::new("setpriv");
        command.args(["--bounding-set=-all,+setfcap", "--inh-caps=-all", "--ambient-caps=-all", program]);
        command
    };
    if !with_less("true").status().is_ok_and(|status| status.success()) {
        return println!("  skipped: there is no `setpriv` that works here");
    }
    let executable = std::env::current_exe().unwrap();
    let status = with_less(executable.to_str().unwrap()).arg("unprivileged").status().unwrap();
    match status.code() {
        Some(code) if code == i32::from(REFUSED) => println!("  skipped: this host refuses user namespaces"),
        code => assert_eq!(code, Some(0)),
    }
}

/// In a process of its own.
pub(crate) fn run_unprivileged() -> ExitCode {
    let before = crate::left_behind();
    let outcome = match run(&config(), &mut topology(), &Streams, &AtomicBool::new(false)) {
        Err(error @ (LiveError::NamespaceRefused { .. } | LiveError::TapRefused { .. })) => {
            println!("  {error}");
            return ExitCode::from(REFUSED);
        }
        outcome => outcome.unwrap(),
    };
    let in_user_namespace: Vec<bool> = outcome.host.agents.iter().map(|facts| facts.user_namespace).collect();
    assert_eq!(in_user_namespace, [false, true, true], "only those with a TAP interface need one");
    let back = told(&outcome.rows, SENSOR, EventKind::Delivered, REPLIES);
    assert!(back.len() >= 20, "{} came back", back.len());
    for sequence in back {
        check_way(&outcome.rows.hops, sequence);
    }
    assert_eq!(crate::left_behind(), before);
    ExitCode::SUCCESS
}
