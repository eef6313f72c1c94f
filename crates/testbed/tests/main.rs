//! Live runs for real, on every kind of segment.
//!
//! A main of its own, since its executable is also the agents' program, and because two live runs at a time would disturb each
//! other. Where the host refuses, it says so and skips; `CHRONOSEAL_REQUIRE_LIVE=1` makes that a failure.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a test with a main of its own")]

mod can_live;
mod live;
mod radio_live;
mod segments_live;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Instant;

use chronoseal_testbed::{AgentCommand, agent_main};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["agent"] => return agent_main(live::build),
        ["agent", "can_live"] => return agent_main(can_live::stations::build),
        ["agent", "radio_live"] => return agent_main(radio_live::build),
        ["agent", "segments_live"] => return agent_main(segments_live::nodes::build),
        ["controller"] => return live::controller(),
        ["unprivileged"] => return segments_live::run_unprivileged(),
        ["multicast", test] => return can_live::multicast::run_in_namespace(test),
        ["socketcan", interface, folder] => return can_live::socketcan::run(interface, folder),
        ["candump", capture] => return can_live::socketcan::print_as_candump(capture),
        _ => {}
    }
    // Frames of CAN go through socket pairs and multicast, which nobody refuses.
    let suites = [
        ("can_live", can_live::TESTS, None),
        ("live", live::TESTS, live::refusal()),
        ("radio_live", radio_live::TESTS, live::refusal()),
        ("segments_live", segments_live::TESTS, segments_live::refusal()),
    ];
    let wanted = words.first().filter(|word| !word.starts_with('-')).copied().unwrap_or_default();
    let before = left_behind();
    let (mut passed, mut left, mut skipped) = (0, 0, false);
    for (suite, tests, refusal) in suites {
        let named = tests.iter().map(|(name, test)| (format!("{suite}::{name}"), test));
        let (chosen, others): (Vec<_>, Vec<_>) = named.partition(|(name, _)| name.contains(wanted));
        left += others.len();
        if let Some(reason) = refusal.filter(|_| !chosen.is_empty()) {
            println!("{suite} skipped: {reason}");
            skipped = true;
            continue;
        }
        println!("\nrunning {} tests", chosen.len());
        for (name, test) in &chosen {
            let began = Instant::now();
            test();
            assert_eq!(left_behind(), before, "{name} left a process or an interface behind");
            println!("test {name} ... ok ({:.1} s)", began.elapsed().as_secs_f64());
        }
        passed += chosen.len();
    }
    if skipped && std::env::var("CHRONOSEAL_REQUIRE_LIVE").is_ok_and(|value| value == "1") {
        return ExitCode::FAILURE;
    }
    // A test that fails panics, so whoever gets here has seen none.
    println!("\ntest result: ok. {passed} passed; 0 failed; 0 ignored; 0 measured; {left} filtered out\n");
    ExitCode::SUCCESS
}

/// How agents of a suite are started.
fn agents(suite: &str) -> AgentCommand {
    AgentCommand { program: std::env::current_exe().unwrap(), arguments: vec!["agent".into(), suite.into()] }
}

/// Interfaces of this namespace and children of this process.
fn left_behind() -> BTreeSet<String> {
    let devices = std::fs::read_to_string("/proc/net/dev").unwrap();
    let devices = devices.lines().filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned()));
    let children = std::fs::read_to_string(format!("/proc/self/task/{}/children", std::process::id())).unwrap();
    devices.chain(children.split_whitespace().map(|pid| format!("process {pid}"))).collect()
}
