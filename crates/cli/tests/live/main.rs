//! Live runs through the command line: real processes, namespaces and frames, one run at a time.
//!
//! Where the host refuses, each test says so and passes; `CHRONOSEAL_REQUIRE_LIVE=1` makes that a failure. A machine
//! that is stopped now and then gets three tries, each with its reason printed; never forgiven is what is left behind.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

mod parity;
#[path = "../integration/support.rs"]
#[allow(dead_code, reason = "shared with the other tests, which use more of it")]
mod support;

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use chronoseal_recordings::CaptureItem;
use support::{Bench, SIDE_BY_SIDE, STARTED_BY, forty_frames, interrupted, scenario};

/// Tries a shared machine gets.
const TRIES: usize = 3;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The right to run live; `None`, with the reason printed, where the host refuses.
fn live_host() -> Option<MutexGuard<'static, ()>> {
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let report = Bench::new().say(&["doctor", "--format", "json"]).json();
    let Some(reason) = report["live_refused"].as_str() else { return Some(guard) };
    assert_ne!(std::env::var("CHRONOSEAL_REQUIRE_LIVE").as_deref(), Ok("1"), "this host refuses live runs: {reason}");
    println!("skipped, this host refuses live runs: {reason}");
    None
}

/// Interfaces of this network namespace, and processes of this binary that runs of this test program started: the binary
/// may serve other tests beside.
fn left_behind() -> BTreeSet<String> {
    let devices = std::fs::read_to_string("/proc/net/dev").unwrap();
    let devices = devices.lines().filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned()));
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let folder = entry.ok()?.path();
        let program = std::fs::read_link(folder.join("exe")).ok()?;
        let environment = String::from_utf8_lossy(&std::fs::read(folder.join("environ")).ok()?).into_owned();
        let is_ours =
            environment.split('\0').any(|variable| variable == format!("{STARTED_BY}={}", std::process::id()));
        (is_ours && program.starts_with(env!("CARGO_BIN_EXE_chronoseal"))).then(|| folder.display().to_string())
    });
    devices.chain(processes).collect()
}

#[test]
fn the_first_scenario_runs_live_and_leaves_nothing_behind() {
    let Some(_guard) = live_host() else { return };
    let before = left_behind();
    let bench = Bench::new();
    let file = scenario("first.toml");
    let arguments = ["run", &file, "--engine", "live", "--set", "duration=500ms", "--out", "run", "--capture"];
    let run = bench.json(&arguments);
    assert_eq!(left_behind(), before);

    assert_eq!((&run["engine"], &run["fingerprint"]), (&"live".into(), &serde_json::Value::Null));
    let stream = &run["summary"]["streams"][0];
    assert!(stream["sent"].as_u64().unwrap() >= 40, "50 cycles of 10 ms, start-up included: {stream}");
    assert!(stream["delivered"].as_u64().unwrap() > 0, "{stream}");
    let latency = &stream["end_to_end"]["all"];
    assert!(latency["n"].as_u64().unwrap() > 0, "figures carry their n: {latency}");
    assert!(run["summary"]["release_error"]["n"].as_u64().unwrap() > 0, "the emulator tells its own error");
    assert!(std::fs::metadata(bench.path("run/capture.pcapng")).unwrap().len() > 1000);
    println!("{}: {}", run["word"], run["verdict"]);
}

/// Forty frames of 60 bytes from four nodes with 0.2 ms between them. Whether every slot is kept is the host's affair, and
/// told; that every frame is accounted for is ours.
#[test]
fn the_example_of_the_guide_runs_live() {
    let Some(_guard) = live_host() else { return };
    let bench = Bench::new();
    bench.write("forty.toml", forty_frames());
    let run = bench.json(&["run", "forty.toml", "--engine", "live", "--set", "duration=500ms", "--no-store"]);
    let streams = run["summary"]["streams"].as_array().unwrap();
    assert_eq!(streams.len(), 40);
    let mut delivered = 0;
    for stream in streams {
        let count = |name: &str| stream[name].as_u64().unwrap();
        // 50 cycles of 10 ms, start-up included.
        assert!(count("sent") >= 30, "a sender fell silent: {stream}");
        delivered += count("delivered");
        let discarded: u64 = stream["discarded"].as_object().unwrap().values().filter_map(|n| n.as_u64()).sum();
        let ends = ["delivered", "late", "missing", "unaccounted", "in_flight", "startup", "replaced"];
        // One row for each of three receivers, or one for a frame refused at the switch.
        let rows = discarded + ends.iter().map(|name| count(name)).sum::<u64>();
        assert!(rows >= count("sent"), "frames without an end: {stream}");
    }
    assert!(delivered > 0, "no frame arrived in its slot: {}", run["verdict"]);
    println!("{}: {}", run["word"], run["verdict"]);
}

/// Tags are made and checked for real: what the simulated forger gets through is what the live one gets through.
#[test]
fn a_live_forger_gets_no_further_than_a_simulated_one() {
    let Some(_guard) = live_host() else { return };
    let bench = Bench::new();
    let file = scenario("forger.toml");
    for attempt in 1..=TRIES {
        let run = bench.json(&["run", &file, "--engine", "live", "--no-store"]);
        for row in run["summary"]["attacks"].as_array().unwrap() {
            let accepted = row["accepted"].as_u64().unwrap();
            let open = row["authenticated"] == false || (row["replayable"] == true && row["attack"] == "replay");
            assert!(open || accepted == 0, "an attack that must be stopped was accepted: {row}");
        }
        let accepted = |row: &&serde_json::Value| row["accepted"].as_u64().unwrap() > 0;
        let through = run["summary"]["attacks"].as_array().unwrap().iter().filter(accepted).count();
        // Spoofed and changed frames without a tag, repeated ones without freshness.
        if through == 3 {
            return;
        }
        println!("try {attempt}: {through} of 3 open attacks got through: {}", run["summary"]["stalls"]);
    }
    panic!("an attack that nothing stops never got through in {TRIES} tries");
}

#[test]
fn both_engines_run_in_one_command_and_share_a_report() {
    let Some(_guard) = live_host() else { return };
    let bench = Bench::new();
    let file = scenario("first.toml");
    let arguments = ["run", &file, "--engine", "both", "--set", "duration=500ms", "--out", "both"];
    let run = bench.json(&arguments);
    assert_eq!(run["engine"], "both");
    let runs = run["runs"].as_array().unwrap();
    let of = |name: &str| runs.iter().map(|run| run[name].as_str().unwrap_or("none").to_owned()).collect::<Vec<_>>();
    assert_eq!(
        (of("engine"), of("results")),
        (vec!["sim".into(), "live".into()], vec!["both/sim".into(), "both/live".into()])
    );
    assert!(runs[0]["fingerprint"].is_string() && runs[1]["fingerprint"].is_null());
    // The simulated run of the pair is the one that is made alone.
    let alone = bench.json(&["run", &file, "--set", "duration=500ms", "--no-store"]);
    assert_eq!(runs[0]["fingerprint"], alone["fingerprint"]);

    let page = std::fs::read_to_string(bench.path("both/report.html")).unwrap();
    assert!(page.contains("rg-simulated") && page.contains("rg-measured"), "one picture with both ranges");
    for part in ["sim/manifest.json", "sim/report.html", "live/manifest.json", "live/report.html"] {
        assert!(bench.path("both").join(part).is_file(), "{part}");
    }
    let report = bench.say(&["report", "both", "--format", "json"]).assert_code(0).json();
    assert_eq!(report["verdict"]["text"], run["verdict"]);
    let refused = bench.say(&["compare", "both", "both"]);
    refused.assert_refused(&["measured and simulated", "both/live"]);
}

/// Vehicles share a process; the roadside unit and the attackers have their own. Nothing of all that needs a namespace.
#[test]
fn a_street_runs_with_its_attackers_in_both_engines() {
    let Some(_guard) = live_host() else { return };
    let before = left_behind();
    let bench = Bench::new();
    let run = bench.json(&["run", &scenario("its-street.toml"), "--engine", "both", "--capture", "--out", "both"]);
    assert_eq!(left_behind(), before);
    let [simulated, live] = [0, 1].map(|number| &run["runs"][number]["summary"]);
    let awareness = |summary: &serde_json::Value, key: &str| summary["streams"][0][key].as_u64().unwrap();
    for key in ["sent", "delivered"] {
        let (of_live, of_sim) = (awareness(live, key), awareness(simulated, key));
        println!("{key}: {of_live} live, {of_sim} simulated");
        assert!(10 * of_live >= 9 * of_sim && 10 * of_live <= 11 * of_sim, "{key}: {of_live} live, {of_sim} simulated");
    }
    for attack in live["attacks"].as_array().unwrap() {
        assert_eq!((&attack["attempts"], &attack["accepted"]), (&5.into(), &0.into()), "{attack}");
    }
    let read = |file: &str| std::fs::read_to_string(bench.path("both/live").join(file)).unwrap();
    assert!(read("manifest.json").contains("nodes, street-0 to street-19"), "who shares a process is said");
    assert!(std::fs::metadata(bench.path("both/live/capture.pcapng")).unwrap().len() > 100_000);
}

/// Simulated and live: the project's own reader of CAN recordings takes the bus and leaves the packets of the network out.
#[test]
fn the_capture_of_a_bus_beside_a_network_has_an_interface_for_each() {
    let Some(_guard) = live_host() else { return };
    let bench = Bench::new();
    bench.write("two.toml", SIDE_BY_SIDE);
    let run = bench.json(&["run", "two.toml", "--engine", "both", "--capture", "--out", "both"]);
    for (number, engine) in ["sim", "live"].into_iter().enumerate() {
        let bytes = std::fs::read(bench.path("both").join(engine).join("capture.pcapng")).unwrap();
        let recording = chronoseal_recordings::read(&bytes).unwrap();
        assert_eq!(recording.channels, ["body"], "{engine}");
        let segments = run["runs"][number]["summary"]["segments"].as_array().unwrap();
        let body = segments[1]["series"].as_array().unwrap();
        let frames = body.iter().find(|series| series["name"] == "frames").unwrap()["total"].as_u64().unwrap() as usize;
        assert!(frames >= 190 && recording.frames.len() == frames, "{engine}: {} of {frames}", recording.frames.len());
        assert!(recording.frames.iter().all(|frame| frame.frame.id().raw() == 0x123), "{engine}");
        let (mut links, mut on_network) = (Vec::new(), 0);
        for item in chronoseal_recordings::CaptureReader::new(&bytes).unwrap().map(Result::unwrap) {
            match item {
                CaptureItem::Interface(interface) => links.push((interface.name.unwrap(), interface.link_type)),
                CaptureItem::Packet(packet) => on_network += usize::from(packet.interface == 0),
            }
        }
        assert_eq!(links, [("backbone".to_owned(), 1), ("body".to_owned(), 227)], "{engine}");
        // Each picture on its way in and out.
        assert!(on_network >= 190, "{engine}: {on_network}");
    }
}

#[test]
fn an_interrupted_live_run_keeps_what_there_is() {
    let Some(_guard) = live_host() else { return };
    let before = left_behind();
    let bench = Bench::new();
    let file = scenario("first.toml");
    let arguments = ["run", &file, "--engine", "live", "--set", "duration=60s", "--out", "part", "--format", "json"];
    let during = std::thread::spawn(|| {
        std::thread::sleep(Duration::from_secs(1));
        left_behind()
    });
    let said = interrupted(bench.command(&arguments), Duration::from_secs(2));
    assert_eq!(left_behind(), before);
    let during = during.join().unwrap();
    assert!(during.len() >= before.len() + 2, "a run and its stations are seen while they are there: {during:?}");
    // The rest was not checked; on a busy host something may have failed before.
    assert!(matches!(said.code, Some(1 | 3)), "{:?}: {}", said.code, said.err);
    let run = said.assert_says(&["interrupted"]).json();
    assert_eq!(run["interrupted"], true);
    assert!(run["frames_delivered"].as_u64().unwrap() > 0, "{run}");
    let manifest = std::fs::read_to_string(bench.path("part/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["run"]["interrupted"], true);
}

#[test]
fn what_cannot_run_live_is_refused_with_what_to_do() {
    // Even a refused run is a process that `left_behind` would see.
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let bench = Bench::new();
    let star = scenario("star.toml");
    bench.say(&["run", &star, "--engine", "live"]).assert_refused(&["fidelity", "--engine sim"]);
    let star = scenario("star-hmac.toml");
    bench.say(&["run", &star, "--engine", "live"]).assert_refused(&["sync = \"beacon\"", "--engine sim"]);
    assert!(!bench.path("results/star-hmac-live-s1").exists(), "a refused run left a folder");
    let many = "segments.street.radio.road.highway.length=8km";
    let lanes = ["segments.street.radio.road.highway.lanes=4", "segments.street.radio.road.highway.vehicles=500"];
    let warm_up = "segments.street.radio.road.highway.warm_up=400s";
    let street = scenario("its-street.toml");
    let sets = [many, lanes[0], lanes[1], warm_up].into_iter().flat_map(|set| ["--set", set]);
    let arguments: Vec<&str> = ["run", &street, "--engine", "live"].into_iter().chain(sets).collect();
    bench.say(&arguments).assert_refused(&["segment street", "room for 200", "--engine sim"]);
}
