//! Ctrl-C in a simulated run: what there is is kept and marked.

use std::time::Duration;

use crate::integration::support::{Bench, forty_frames, interrupted, scenario};

/// Long enough for some frames, even on a slow machine.
const SOON: Duration = Duration::from_millis(700);

#[test]
fn an_interrupted_simulation_keeps_what_there_is() {
    let bench = Bench::new();
    bench.write("long.toml", forty_frames().replace("duration = \"2s\"", "duration = \"86400s\""));
    let said = interrupted(bench.command(&["run", "long.toml", "--out", "part", "--format", "json"]), SOON);
    let run = said.assert_code(3).assert_says(&["interrupted", "results: part"]).json();
    assert_eq!(run["interrupted"], true);
    assert!(run["frames_delivered"].as_u64().unwrap() > 0);

    let manifest = std::fs::read_to_string(bench.path("part/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["run"]["interrupted"], true, "the stored run is marked");
    let again = bench.say(&["report", "part"]);
    assert!(again.assert_code(0).out.contains("The run was interrupted"), "{}", again.out);
}

#[test]
fn an_interrupted_series_ends_with_the_run_it_was_in() {
    let bench = Bench::new();
    bench.write("long.toml", forty_frames().replace("duration = \"2s\"", "duration = \"86400s\""));
    interrupted(bench.command(&["run", "long.toml", "--out", "series", "--repeat", "3", "--quiet"]), SOON)
        .assert_code(3);
    assert_eq!(std::fs::read_dir(bench.path("series")).unwrap().count(), 1);
}

#[test]
fn an_interrupted_timing_run_says_so() {
    let bench = Bench::new();
    let file = scenario("star.toml");
    let said = interrupted(bench.command(&["run", &file, "--set", "duration=10000s", "--format", "json"]), SOON);
    assert_eq!(said.assert_code(3).assert_says(&["interrupted"]).json()["interrupted"], true);
}
