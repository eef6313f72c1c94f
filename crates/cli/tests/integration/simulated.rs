//! `run --engine sim`: the same scenario and seed give the same run.

use serde_json::Value;

use crate::integration::support::{Bench, SMALL, forty_frames, scenario, shipped_scenarios};

fn simulate(bench: &Bench, file: &str, seed: &str) -> Value {
    bench.json(&["run", file, "--engine", "sim", "--seed", seed, "--no-store"])
}

#[test]
fn same_seed_same_fingerprint_another_seed_another() {
    let bench = Bench::new();
    for name in ["first.toml", "brake-by-wire.toml", "forger.toml", "star.toml"] {
        let file = scenario(name);
        let fingerprint = |seed| {
            let run = simulate(&bench, &file, seed);
            assert_eq!((&run["engine"], &run["seed"].to_string()), (&"sim".into(), &seed.to_owned()));
            let text = run["fingerprint"].as_str().unwrap().to_owned();
            assert!(text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit()), "{text}");
            text
        };
        assert_eq!(fingerprint("7"), fingerprint("7"), "{name}");
        assert_ne!(fingerprint("7"), fingerprint("8"), "{name}");
    }
}

/// A shipped scenario ends with status 0, except those in which attacks get through, or keep frames of their
/// own stream from arriving.
#[test]
fn every_shipped_scenario_runs_and_ends_as_documented() {
    let bench = Bench::new();
    for path in shipped_scenarios() {
        let said = bench.say(&["run", &path.display().to_string(), "--no-store", "--format", "json"]);
        let fails = [
            "attacked-clock.toml",
            "babbler.toml",
            "forger.toml",
            "grandmasters.toml",
            "group-key.toml",
            "noisy-mesh.toml",
        ]
        .iter()
        .any(|file| path.ends_with(file));
        // Without bytes nothing is judged.
        let is_counted = std::fs::read_to_string(&path).unwrap().contains("fidelity = \"timing\"");
        let expected = if fails { 1 } else { 3 * i32::from(is_counted) };
        let run = said.assert_code(expected).json();
        assert!(run["frames_delivered"].as_u64().unwrap() > 0, "{}: {run}", path.display());
        assert_eq!(run["interrupted"], false);
    }
}

#[test]
fn the_example_of_the_guide_runs() {
    let bench = Bench::new();
    bench.write("forty.toml", forty_frames());
    let run = bench.say(&["run", "forty.toml", "--format", "json"]).assert_code(0).json();
    assert_eq!(run["word"], "held");
    let streams = run["summary"]["streams"].as_array().unwrap();
    assert_eq!(streams.len(), 40);
    for stream in streams {
        let count = |name: &str| stream[name].as_u64().unwrap();
        assert_eq!((count("late"), count("missing"), count("unaccounted")), (0, 0, 0), "{stream}");
        // 2 s of 10 ms cycles, three receivers; the last cycle may be on its way when the run ends.
        assert!(count("delivered") >= 3 * 199, "{stream}");
    }
}

#[test]
fn brake_by_wire_holds_every_deadline() {
    let bench = Bench::new();
    let file = scenario("brake-by-wire.toml");
    let run = bench.say(&["run", &file, "--no-store", "--format", "json"]).assert_code(0).json();
    assert_eq!(run["word"], "held", "{}", run["verdict"]);
    for clock in run["summary"]["clocks"].as_array().unwrap() {
        assert!(clock["acquired_cycles"].as_u64().unwrap() <= 3, "a clock joins within three cycles: {clock}");
        assert_eq!(clock["lost"], 0);
    }
}

#[test]
fn results_are_stored_named_and_never_overwritten() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let said = bench.say(&["run", "small.toml", "--seed", "5"]);
    said.assert_code(0).assert_says(&["results: results/small-sim-s5", "report.html", "seed: 5"]);
    for file in ["manifest.json", "frames.parquet", "events.parquet", "report.html"] {
        assert!(bench.path("results/small-sim-s5").join(file).is_file(), "{file}");
    }
    assert!(!bench.path("results/small-sim-s5/capture.pcapng").exists(), "an empty capture");
    bench.say(&["run", "small.toml", "--seed", "5"]).assert_says(&["results: results/small-sim-s5-2"]);
    // Refused before it runs, not after.
    let occupied = bench.say(&["run", "small.toml", "--out", "results/small-sim-s5"]);
    occupied.assert_refused(&["is not empty", "help: name another folder"]);
    bench.say(&["run", "small.toml", "--out", "small.toml/run"]).assert_refused(&["cannot create", "help:"]);

    bench.say(&["run", "small.toml", "--no-store", "--quiet"]).assert_code(0);
    assert_eq!(std::fs::read_dir(bench.path("results")).unwrap().count(), 2, "--no-store stored something");
}

#[test]
fn quiet_leaves_only_data() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let said = bench.say(&["run", "small.toml", "--quiet", "--format", "csv"]);
    assert_eq!(said.assert_code(0).err, "");
    assert!(said.out.lines().any(|line| line.starts_with("stream,")), "{}", said.out);
}

/// Counts are what a scenario of lengths and times has; the rest is left out and said.
#[test]
fn timing_only_runs_count_and_store_nothing() {
    let bench = Bench::new();
    let said = bench.say(&["run", &scenario("star.toml"), "--set", "duration=10ms"]);
    said.assert_code(3).assert_says(&["fingerprint", "nothing is stored", "NOT CHECKED", "`fidelity = \"timing\"`"]);
    assert!(!said.err.contains("--count"), "nobody gave it: {}", said.err);
    let lines: Vec<_> = said.out.lines().collect();
    assert_eq!(lines[0], "stream,delivered,discarded,latency_mean_ns,latency_max_ns");
    assert_eq!(lines.len(), 1 + 14);
    assert!(!bench.path("results").exists());
    let counted =
        bench.say(&["run", &scenario("star.toml"), "--set", "duration=10ms", "--set", "fidelity=bytes", "--count"]);
    counted.assert_code(3).assert_says(&["NOT CHECKED", "as `--count` asks"]);
    assert!(!counted.err.contains("fidelity"), "nobody wrote it: {}", counted.err);
    let json = bench.json(&["run", &scenario("star.toml"), "--set", "duration=10ms"]);
    assert_eq!(json["word"], "not-checked", "{json}");
    let allowed = bench.say(&["run", &scenario("star.toml"), "--set", "duration=10ms", "--allow-unchecked"]);
    allowed.assert_code(0);
    let asked = bench.say(&["run", &scenario("star.toml"), "--set", "duration=10ms", "--out", "kept"]);
    asked.assert_refused(&["fidelity", "--out"]);
}
