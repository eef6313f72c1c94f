//! The word at the top: scenarios that once had the wrong one, each with the one it has to have.
//!
//! The files are of version 1 of the format and are upgraded first, as by anybody who still has one.

use std::path::Path;

use crate::integration::support::{Bench, scenario};

/// A scenario that once had a wrong word.
struct Case {
    file: &'static str,
    /// Further arguments of the run.
    with: &'static [&'static str],
    /// What `check` says: `held`, `not-checked`, `not-proven` or `broken`.
    check: &'static str,
    /// What a simulated run says: `yes`, `no` or `mixed`.
    run: &'static str,
    /// Part of the verdict of the run.
    says: &'static str,
}

const fn case(file: &'static str, check: &'static str, run: &'static str, says: &'static str) -> Case {
    Case { file, with: &[], check, run, says }
}

const CASES: &[Case] = &[
    // The schedule keeps a task away from the instant at which a frame is made, whatever the frame costs.
    case("mask", "not-checked", "held", "Every deadline held, and none of 40 attacks was accepted"),
    case("sendblock", "held", "held", "Every deadline held"),
    // What an attacker on the link changes or replaces is in the account of its victim.
    case(
        "fdt2",
        "not-checked",
        "failed",
        "50 of 199 frames were late or lost, or replaced by an attack, and none of 50 attacks",
    ),
    case("fd", "not-checked", "failed", "50 of 199 frames were late or lost, or replaced by an attack, and 50 forged"),
    Case {
        with: &["--set", "streams.0.protection=sha256-16"],
        ..case(
            "fd",
            "not-checked",
            "failed",
            "50 of 199 frames were late or lost, or replaced by an attack, and none of 50 attacks",
        )
    },
    // A frame that arrived is not missing, however busy its receiver was when the window closed.
    case("miss", "held", "held", "Every deadline held"),
    Case {
        with: &["--set", "segments.network.ethernet.sync=ideal"],
        ..case("miss", "held", "held", "Every deadline held")
    },
    case("miss3", "held", "held", "Every deadline held"),
    case("miss4", "held", "held", "Every deadline held"),
    case("r9_233", "not-proven", "held", "Every deadline held"),
    // A frame without a deadline that a full queue loses is lost.
    case("qfull", "broken", "failed", "858 of"),
    // A clock that drifts out of the precision between two beacons.
    case("cyc200", "broken", "failed", "the clock of a was lost"),
    case("r1_16", "not-proven", "failed", "was lost"),
    // Jitter of a driver against the window, and a long frame in the way behind the switch.
    case("imm", "not-proven", "failed", "98 of 999 frames were late or lost"),
    case("doc", "not-proven", "failed", "were late or lost"),
    // The protection that is recommended can be used.
    case("fc", "held", "held", "Every deadline held"),
];

/// The exit status that belongs to a word.
fn exit_of(word: &str) -> i32 {
    match word {
        "held" => 0,
        "not-checked" | "not-proven" => 3,
        _ => 1,
    }
}

fn upgraded(bench: &Bench, file: &str) -> String {
    let name = format!("{file}.toml");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/defects").join(&name);
    bench.write(&name, std::fs::read_to_string(source).unwrap());
    bench.say(&["scenario", "upgrade", &name]).assert_code(0);
    name
}

#[test]
fn every_run_says_the_right_word() {
    for case in CASES {
        let bench = Bench::new();
        let name = upgraded(&bench, case.file);
        let check = [&["check", &name, "--format", "json"], case.with].concat();
        let checked = bench.say(&check).assert_code(exit_of(case.check)).json();
        assert_eq!(checked["word"], case.check, "{}: {}", case.file, checked["verdict"]);
        let arguments = [&["run", &name, "--no-store", "--quiet", "--format", "json"], case.with].concat();
        let code = exit_of(case.run);
        let run = bench.say(&arguments).assert_code(code).json();
        let verdict = run["verdict"].as_str().unwrap();
        assert!(run["word"] == case.run && verdict.contains(case.says), "{}: {} {verdict}", case.file, run["word"]);
        for stream in run["summary"]["streams"].as_array().unwrap() {
            for account in stream["receivers"].as_array().unwrap() {
                let count = |name: &str| account[name].as_u64().unwrap_or(0);
                let discarded: u64 =
                    account["discarded"].as_object().unwrap().values().filter_map(|n| n.as_u64()).sum();
                let ends = [
                    "in_time",
                    "late",
                    "overdue",
                    "missing",
                    "replaced",
                    "unaccounted",
                    "startup",
                    "in_flight",
                    "not_sent",
                ];
                let sum = discarded + ends.iter().map(|name| count(name)).sum::<u64>();
                assert_eq!(count("due"), sum, "{}: {account}", case.file);
            }
        }
    }
}

#[test]
fn a_harmless_attack_excuses_no_loss() {
    let bench = Bench::new();
    let name = upgraded(&bench, "imm");
    let text = std::fs::read_to_string(bench.path(&name)).unwrap();
    let attack = "\n[[threats]]\nname = \"harmless\"\nkind = \"spoof\"\nstream = \"tt\"\nat = { segment = \"network\" }\ncount = 900\n";
    bench.write("attacked.toml", format!("{text}{attack}"));
    let run = bench.say(&["run", "attacked.toml", "--no-store", "--quiet", "--format", "json"]).assert_code(1).json();
    assert_eq!(run["word"], "failed", "{}", run["verdict"]);
    assert_eq!(run["summary"]["streams"][0]["replaced"], 0);
}

/// A sensor on CAN, a gateway that was taken over, and a controller on Ethernet.
const TAKEN_OVER: &str = r#"schema_version = 2
name = "withheld"
duration = "2s"

[segments.bus.can]
bit_rate = "500kbit/s"

[segments.net.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
class = { best_effort = { priority = 3 } }

[[protections]]
name = "cmac-4"
mac = { algorithm = "cmac-aes-128", tag = "3B", freshness = { truncated = "1B" } }

[[nodes]]
name = "sensor"
on = ["bus"]
[[nodes]]
name = "gate"
on = ["bus", "net"]
gateway = { delay = "20us", queue = "16 frames" }
[[nodes]]
name = "ecu"
on = ["net"]

[[streams]]
name = "speed"
from = "sensor"
to = ["ecu"]
period = "10ms"
length = "4B"
deadline = "5ms"
protection = PROTECTION
bus = { id = "0x100" }

[[threats]]
name = "taken"
kind = "KIND"
stream = "speed"
at = { node = "gate" }
start = "500ms"
count = 20
"#;

/// What was kept back is missed or lost, since nothing took its place; what was changed is replaced. Neither is counted twice.
#[test]
fn a_frame_that_a_gateway_keeps_back_or_changes_is_counted_once() {
    let bench = Bench::new();
    for protection in ["{ end_to_end = \"cmac-4\" }", "{ bus = \"cmac-4\", net = \"cmac-4\" }"] {
        for (kind, [kept_back, replaced]) in [("withhold", [20, 0]), ("tamper", [0, 20])] {
            bench.write("taken.toml", TAKEN_OVER.replace("PROTECTION", protection).replace("KIND", kind));
            let run = bench.say(&["run", "taken.toml", "--no-store", "--quiet", "--format", "json"]).json();
            let account = &run["summary"]["streams"][0]["receivers"][0];
            let count = |name: &str| account[name].as_u64().unwrap();
            assert_eq!((count("sent"), count("in_time"), count("not_sent")), (200, 180, 0), "{kind}: {account}");
            assert_eq!(count("missing") + count("unaccounted"), kept_back, "{kind}: {account}");
            assert_eq!(count("replaced"), replaced, "{kind}: {account}");
            assert_eq!(run["word"], "failed", "{kind}: {}", run["verdict"]);
        }
    }
}

#[test]
fn the_bound_of_a_run_with_another_seed_is_not_exceeded_under_a_held() {
    let bench = Bench::new();
    let name = upgraded(&bench, "r1_16");
    let arguments = ["run", &name, "--seed", "17", "--no-store", "--quiet", "--format", "json"];
    assert_eq!(bench.say(&arguments).assert_code(1).json()["word"], "failed");
    assert_eq!(bench.say(&["check", &name, "--format", "json"]).assert_code(3).json()["word"], "not-proven");
}

#[test]
fn the_protection_that_a_check_recommends_holds_where_it_is_used() {
    let bench = Bench::new();
    let name = upgraded(&bench, "fc");
    let checked = bench.say(&["check", &name, "--format", "json"]).assert_code(0).json();
    let lightest = checked["lightest"].as_str().unwrap().to_owned();
    let candidates = checked["candidates"].as_array().unwrap();
    let kept = &candidates.iter().find(|one| one["protection"] == *lightest).unwrap()["kept"];
    let text = std::fs::read_to_string(bench.path(&name)).unwrap();
    // Streams for which it is not keep what they have.
    let mut parts = text.split("[[streams]]");
    let mut changed = parts.next().unwrap().to_owned();
    for part in parts {
        let own = part.lines().find_map(|line| line.strip_prefix("name = ")).unwrap().trim_matches('"');
        let is_kept = kept.as_array().unwrap().iter().any(|name| name == own);
        let lines = part.lines().filter(|line| is_kept || !line.starts_with("protection = "));
        let protection = if is_kept { String::new() } else { format!("\nprotection = \"{lightest}\"") };
        changed += &format!("[[streams]]{protection}{}\n", lines.collect::<Vec<_>>().join("\n"));
    }
    bench.write("recommended.toml", &changed);
    let said = bench.say(&["check", "recommended.toml", "--format", "json"]);
    assert_eq!(said.assert_code(0).json()["word"], "held", "{changed}");
}

#[test]
fn a_scenario_without_deadlines_does_not_say_that_they_hold() {
    let bench = Bench::new();
    let said = bench.say(&["check", &scenario("star-hmac.toml")]);
    let text = &said.assert_code(0).out;
    assert!(text.contains("HELD") && text.contains("No stream has a deadline to hold"), "{text}");
}

/// Found by the contradiction hunter, which made them as small as they are.
#[test]
fn what_once_held_on_paper_and_failed_in_the_simulator_does_not_any_more() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/integration/contradictions");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path().display().to_string();
        let checked = Bench::new().json(&["check", &path]);
        let is_held = checked["word"] == "held";
        // What is at risk only beside an attack that bounds count with is not later than its bound either.
        let text = std::fs::read_to_string(&path).unwrap();
        let is_counted = ["kind = { delay", "kind = \"babble\""].iter().any(|kind| text.contains(kind));
        let ends: Vec<(&str, bool, Option<f64>)> = (checked["judged"].as_array().unwrap().iter())
            .map(|end| (end["stream"].as_str().unwrap(), end["by_bound"] == "held", end["bound_ns"].as_f64()))
            .collect();
        for seed in ["1", "2", "17"] {
            let run = ["run", &path, "--seed", seed, "--no-store", "--quiet"];
            let run = Bench::new().json(&run);
            assert!(!is_held || run["word"] == "held", "{path} with seed {seed}: {}", run["verdict"]);
            for stream in run["summary"]["streams"].as_array().unwrap() {
                let name = stream["name"].as_str().unwrap();
                let own: Vec<_> = ends.iter().filter(|(of, ..)| *of == name).collect();
                let holds = !own.is_empty() && own.iter().all(|(_, holds, _)| *holds);
                let bounds: Option<Vec<f64>> = own.iter().map(|(.., bound)| *bound).collect();
                let bounds = bounds.filter(|_| holds || is_counted).into_iter().flatten();
                if let Some(bound) = bounds.reduce(f64::max) {
                    let seen = stream["end_to_end"]["all"]["max_ns"].as_f64().unwrap_or(0.0);
                    assert!(seen <= bound + 1.0, "{path} with seed {seed}: {name} took {seen} ns of {bound}");
                }
                assert!(
                    stream["is_lossy"] == true || stream["unaccounted"] == 0,
                    "{path} with seed {seed}: {name} is nowhere: {stream}"
                );
                if !holds {
                    continue;
                }
                let discarded = stream["discarded"].as_object().unwrap().values().filter_map(|count| count.as_u64());
                let lost = ["missing", "not_sent", "unaccounted", "late"].iter().filter_map(|key| stream[key].as_u64());
                assert_eq!(lost.chain(discarded).sum::<u64>(), 0, "{path} with seed {seed}: {name} loses {stream}");
            }
        }
        count += 1;
    }
    assert!(count >= 14, "{count} scenarios");
}

#[test]
fn each_stream_is_named_with_its_own_reason() {
    let file = "tests/integration/contradictions/babbled-to-a-processor-on-two-segments.toml";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file).display().to_string();
    let said = Bench::new().json(&["check", &path]);
    let verdict = said["verdict"]["text"].as_str().unwrap();
    assert!(verdict.starts_with("Not proven for `x` at `g`: threat `babble-0` fills the link of `a`"), "{verdict}");
    assert!(verdict.contains("; nor for `y` at `g`, for another reason below."), "{verdict}");
    let text = Bench::new().say(&["check", &path]).out;
    assert!(text.contains("- NOT PROVEN `y` at `g`: receiver `g`: made-up frames"), "{text}");
}

#[test]
fn an_allowance_stands_in_the_verdict_line() {
    let bench = Bench::new();
    let name = upgraded(&bench, "qfull");
    let text = std::fs::read_to_string(bench.path(&name)).unwrap();
    let allow = |frames: u32, code: i32| {
        let allowance = |stream: &str, frames: u32| {
            format!("\n[[allowances]]\nstream = \"{stream}\"\nreason = \"queue-full\"\nframes = {frames}\n")
        };
        bench.write("allowed.toml", format!("{text}{}{}", allowance("flood", frames), allowance("flood2", 358)));
        bench.say(&["run", "allowed.toml", "--no-store", "--quiet", "--format", "json"]).assert_code(code).json()
    };
    let within = allow(500, 0);
    assert_eq!(within["word"], "held");
    let says = "858 losses that the scenario allows (flood queue-full: 500 of 500, flood2 queue-full: 358 of 358)";
    assert!(within["verdict"].as_str().unwrap().contains(says), "{}", within["verdict"]);
    let beyond = allow(499, 1);
    assert_eq!(beyond["word"], "failed", "{}", beyond["verdict"]);
}
