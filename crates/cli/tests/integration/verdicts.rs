//! The word at the top: scenarios that once had the wrong one, each with the one it has to have.
//!
//! The files are of version 1 of the format and are upgraded first, as by anybody who still has one.

use std::path::Path;

use crate::support::Bench;

/// A scenario that once had a wrong word.
struct Case {
    file: &'static str,
    /// Further arguments of the run.
    with: &'static [&'static str],
    /// What a simulated run says: `yes`, `no` or `mixed`.
    run: &'static str,
    /// Part of the verdict of the run.
    says: &'static str,
}

const fn case(file: &'static str, run: &'static str, says: &'static str) -> Case {
    Case { file, with: &[], run, says }
}

const CASES: &[Case] = &[
    // A loss in the cycle of an attack that was stopped at another port is a loss.
    case("mask", "no", "39 of 40 frames were late or lost"),
    case("sendblock", "no", "39 of 40 frames were late or lost"),
    // What an attacker on the link changes or replaces is in the account of its victim.
    case("fdt2", "mixed", "but for 50 frames that attacks kept from their receivers"),
    case("fd", "mixed", "but for 50 frames that attacks kept from their receivers, but 50 forged"),
    Case {
        with: &["--set", "streams.0.protection=sha256-16"],
        ..case("fd", "mixed", "but for 50 frames that attacks kept from their receivers, and none of 50 attacks")
    },
    // A frame that arrived is not missing, however busy its receiver was when the window closed.
    case("miss", "yes", "Every deadline held"),
    Case { with: &["--set", "segments.network.ethernet.sync=ideal"], ..case("miss", "yes", "Every deadline held") },
    case("miss3", "yes", "Every deadline held"),
    case("miss4", "yes", "Every deadline held"),
    case("r9_233", "yes", "Every deadline held"),
    // A frame without a deadline that a full queue loses is lost.
    case("qfull", "no", "858 of"),
];

fn upgraded(bench: &Bench, file: &str) -> String {
    let name = format!("{file}.toml");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/defects").join(&name);
    bench.write(&name, &std::fs::read_to_string(source).unwrap());
    bench.say(&["scenario", "upgrade", &name]).assert_code(0);
    name
}

#[test]
fn every_run_says_the_right_word() {
    for case in CASES {
        let bench = Bench::new();
        let name = upgraded(&bench, case.file);
        let arguments = [&["run", &name, "--no-store", "--quiet", "--format", "json"], case.with].concat();
        let code = i32::from(case.run != "yes");
        let run = bench.say(&arguments).assert_code(code).json();
        let verdict = run["verdict"].as_str().unwrap();
        assert!(run["held"] == case.run && verdict.contains(case.says), "{}: {} {verdict}", case.file, run["held"]);
        for stream in run["summary"]["streams"].as_array().unwrap() {
            for account in stream["receivers"].as_array().unwrap() {
                let count = |name: &str| account[name].as_u64().unwrap();
                let discarded: u64 =
                    account["discarded"].as_object().unwrap().values().filter_map(|n| n.as_u64()).sum();
                let ends = ["in_time", "late", "missing", "replaced", "unaccounted", "startup", "in_flight"];
                let sum = discarded + ends.iter().map(|name| count(name)).sum::<u64>();
                assert_eq!(count("sent"), sum, "{}: {account}", case.file);
            }
        }
    }
}

#[test]
fn an_allowance_stands_in_the_verdict_line_and_never_holds() {
    let bench = Bench::new();
    let name = upgraded(&bench, "qfull");
    let text = std::fs::read_to_string(bench.path(&name)).unwrap();
    let allow = |frames: u32| {
        let allowance = |stream: &str, frames: u32| {
            format!("\n[[allowances]]\nstream = \"{stream}\"\nreason = \"queue-full\"\nframes = {frames}\n")
        };
        bench.write("allowed.toml", &format!("{text}{}{}", allowance("flood", frames), allowance("flood2", 358)));
        bench.say(&["run", "allowed.toml", "--no-store", "--quiet", "--format", "json"]).assert_code(1).json()
    };
    let within = allow(500);
    assert_eq!(within["held"], "mixed");
    let says = "858 losses that the scenario allows (flood queue-full: 500 of 500, flood2 queue-full: 358 of 358)";
    assert!(within["verdict"].as_str().unwrap().contains(says), "{}", within["verdict"]);
    let beyond = allow(499);
    assert_eq!(beyond["held"], "no", "{}", beyond["verdict"]);
}
