//! Messages longer than a CAN frame over two buses and an Ethernet between them, simulated and live: one row each, from its
//! first frame to the check at its receiver, and what becomes of one that somebody disturbs.

use std::collections::BTreeSet;

use chronoseal_core::{AttackKind, Duration, EventKind, NodeId, TransferFault};
use chronoseal_results::rows::{FrameRow, Outcome, RunRows};
use chronoseal_scenario::NoFiles;

use crate::engines::{self, Engine, load};

/// Tries a shared machine gets.
const TRIES: usize = 3;
const SCENARIO: &str = include_str!("../../../../scenarios/calibration-block.toml");

/// Runs the scenario with more in it; `None` where the host refuses.
fn run(engine: Engine, changes: &[(&str, &str)], more: &str) -> Option<RunRows> {
    let mut text = SCENARIO.to_owned() + more;
    for (old, new) in changes {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    Some(engines::run(engine, &load(&text, &NoFiles))?.rows)
}

fn of_stream(rows: &RunRows, stream: u16) -> Vec<FrameRow> {
    rows.frames.iter().filter(|row| row.stream.0 == stream).copied().collect()
}

fn is_accepted(row: &FrameRow) -> bool {
    matches!(row.outcome, Outcome::Delivered | Outcome::Late)
}

pub(crate) fn run_all() {
    for engine in [Engine::Sim, Engine::Live] {
        hold(engine, "one row", a_message_has_one_row);
        hold(engine, "made up", a_message_that_is_made_up_is_stopped_by_its_tag);
        hold(engine, "in a gateway", a_gateway_that_lies_is_stopped_by_the_tag);
        hold(engine, "away", a_receiver_that_is_away_is_noticed);
    }
}

/// What is wrong with a run.
type Wrong = String;

/// A shared machine may hold a process up for so long that an end of a message gives up; so it gets some tries.
fn hold(engine: Engine, name: &str, check: fn(Engine) -> Result<(), Wrong>) {
    let tries = if engine == Engine::Live { TRIES } else { 1 };
    let mut wrong = Vec::new();
    for _ in 0..tries {
        match check(engine) {
            Ok(()) => return,
            Err(reason) => wrong.push(reason),
        }
    }
    panic!("{engine:?}, {name}: {}", wrong.join("\n"));
}

/// `Err` with what is wrong unless it holds.
fn ensure(holds: bool, wrong: impl FnOnce() -> Wrong) -> Result<(), Wrong> {
    if holds { Ok(()) } else { Err(wrong()) }
}

/// Of 2 s: 40 blocks and 20 records, each with one row at its one receiver.
fn a_message_has_one_row(engine: Engine) -> Result<(), Wrong> {
    let Some(rows) = run(engine, &[], "") else { return Ok(()) };
    for (stream, count, least) in [(0, 40, Duration::from_us(1300)), (1, 20, Duration::from_ms(8))] {
        let told = of_stream(&rows, stream);
        let accepted: Vec<&FrameRow> = told.iter().filter(|row| is_accepted(row)).collect();
        let is_open = |row: &&FrameRow| matches!(row.outcome, Outcome::Unaccounted | Outcome::Missing);
        let open = told.iter().filter(is_open).count();
        let latency = |row: &&FrameRow| row.received_at.unwrap() - row.sent_at.unwrap();
        let most = accepted.iter().map(latency).max();
        println!(
            "{engine:?} stream {stream}: {} rows, {} accepted, {open} open, at most {most:?}",
            told.len(),
            accepted.len()
        );
        ensure(told.len() == accepted.len() + open && open <= 1, || format!("{told:?}"))?;
        ensure(told.len() + 1 >= count && told.len() <= count, || format!("{} rows", told.len()))?;
        let numbers: BTreeSet<u64> = told.iter().map(|row| row.sequence).collect();
        ensure(numbers.len() == told.len(), || "a message has several rows".into())?;
        // From the first bit of the first frame: all others come later.
        ensure(accepted.iter().all(|row| latency(row) >= least), || format!("stream {stream}: below {least}"))?;
        assert!(accepted.iter().all(|row| row.sender == NodeId(0)));
        // A message is one transmission on each segment, and the last of them came from the first.
        let hops = || rows.hops.iter().filter(|row| row.stream.0 == stream);
        let begun = hops().filter(|row| row.origins.is_empty()).count();
        ensure(hops().count() >= 2 * accepted.len() && begun <= count, || format!("{} hops", hops().count()))?;
    }
    let faults = rows.events.iter().filter(|row| matches!(row.event.kind, EventKind::TransferFault(_))).count();
    ensure(faults == 0, || format!("{faults} faults"))
}

fn threat(kind: &str, place: &str) -> String {
    format!(
        "[[threats]]\nname = \"mallory\"\nkind = \"{kind}\"\nstream = \"calibration block\"\nat = {{ {place} }}\n\
         start = \"340ms\"\nevery = \"50ms\"\ncount = 10\n"
    )
}

/// Who sends whole messages of its own gets nothing through against a tag, and everything without one.
fn a_message_that_is_made_up_is_stopped_by_its_tag(engine: Engine) -> Result<(), Wrong> {
    let unprotected = ("protection = \"sealed\"\nfront = { id = \"0x6A0\"", "front = { id = \"0x6A0\"");
    for (changes, is_believed) in [(&[][..], false), (&[unprotected][..], true)] {
        for (kind, attack) in [("spoof", AttackKind::Spoof), ("replay", AttackKind::Replay)] {
            let Some(rows) = run(engine, changes, &threat(kind, "segment = \"front\"")) else { return Ok(()) };
            let told = rows.events.iter().filter(|row| row.event.kind == EventKind::Attacked(attack)).count();
            let (of_attack, genuine): (Vec<FrameRow>, Vec<FrameRow>) =
                of_stream(&rows, 0).into_iter().partition(|row| row.attack == Some(attack));
            let accepted = of_attack.iter().filter(|row| is_accepted(row)).count();
            let refused = of_attack.iter().filter(|row| matches!(row.outcome, Outcome::Discarded(_))).count();
            let genuine = genuine.iter().filter(|row| is_accepted(row)).count();
            println!("{engine:?} {kind}: {told} attempts, {accepted} accepted, {refused} refused; {genuine} genuine");
            assert!(is_believed || accepted == 0, "{engine:?} {kind}: {of_attack:?}");
            assert!(of_attack.iter().all(|row| row.sender != NodeId(0)), "{engine:?} {kind}");
            // Half a period away from genuine messages, an attempt meets none of them.
            let expected = if is_believed { (10, 10, 0, 40) } else { (10, 0, 10, 40) };
            ensure((told, accepted, refused, genuine) == expected, || format!("{kind}: {of_attack:?}"))?;
        }
    }
    Ok(())
}

/// A gateway has whole messages in its hands, and what it does to one is one attempt.
fn a_gateway_that_lies_is_stopped_by_the_tag(engine: Engine) -> Result<(), Wrong> {
    for (kind, attack) in [("tamper", AttackKind::Tamper), ("withhold", AttackKind::Withhold)] {
        let Some(rows) = run(engine, &[], &threat(kind, "node = \"zone\"")) else { return Ok(()) };
        let told = rows.events.iter().filter(|row| row.event.kind == EventKind::Attacked(attack)).count();
        let rows = of_stream(&rows, 0);
        let refused = rows.iter().filter(|row| row.attack.is_some() && !is_accepted(row)).count();
        let lost = rows.iter().filter(|row| matches!(row.outcome, Outcome::Missing | Outcome::Unaccounted)).count();
        println!("{engine:?} {kind} in the gateway: {told} attempts, {refused} refused, {lost} lost");
        let expected = if attack == AttackKind::Tamper { (10, 10) } else { (10, 0) };
        ensure((told, refused) == expected && lost >= 10, || format!("{kind}: {told} attempts, {refused} refused"))?;
    }
    Ok(())
}

/// Where the other end of a message is not there, its sender says so, message by message.
fn a_receiver_that_is_away_is_noticed(engine: Engine) -> Result<(), Wrong> {
    let away = ("queue = \"32 frames\" }", "queue = \"32 frames\", reboot = { at = \"500ms\", takes = \"400ms\" } }");
    let quick = ("flow_control = \"0x6A8\"", "flow_control = \"0x6A8\", n_bs = \"20ms\"");
    let Some(rows) = run(engine, &[away, quick], "") else { return Ok(()) };
    let missing = EventKind::TransferFault(TransferFault::FlowControlMissing);
    let told = rows.events.iter().filter(|row| row.event.kind == missing && row.event.stream.0 == 0).count();
    let accepted = of_stream(&rows, 0).iter().filter(|row| is_accepted(row)).count();
    println!("{engine:?} reboot: {told} given up, {accepted} accepted");
    // Eight are due while nobody answers.
    ensure((7..=9).contains(&told) && (31..=33).contains(&accepted), || format!("{told} given up, {accepted} accepted"))
}
