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

#[test]
fn what_a_killed_run_left_is_removed_by_the_next_and_a_run_at_work_keeps_what_it_has() {
    let bench = Bench::new();
    bench.write("long.toml", forty_frames().replace("duration = \"2s\"", "duration = \"86400s\""));
    bench.write("short.toml", forty_frames());
    let parts = |of: &str| {
        let names = std::fs::read_dir(bench.path(".")).unwrap().map(|entry| entry.unwrap().file_name());
        let names = names.map(|name| name.into_string().unwrap());
        names.filter(|name| name.starts_with(&format!(".{of}.partial-"))).collect::<Vec<_>>()
    };
    let begun = |of: &str| {
        let mut run = bench.command(&["run", "long.toml", "--out", of, "--quiet"]);
        let run = run.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        let is_marked = || parts(of).iter().any(|part| bench.path(part).join("UNFINISHED.txt").exists());
        while !is_marked() {
            std::thread::sleep(Duration::from_millis(5));
        }
        run
    };
    let (mut killed, mut at_work) = (begun("run"), begun("other"));
    killed.kill().unwrap();
    killed.wait().unwrap();
    let [left] = &parts("run")[..] else { panic!("a killed run leaves what it had") };
    assert_eq!(std::fs::read_dir(bench.path("run")).unwrap().count(), 0, "nothing is there as if it were whole");
    bench.say(&["report", "run"]).assert_code(2);
    bench.say(&["report", left]).assert_refused(&["not whole", "UNFINISHED.txt"]);

    bench.say(&["run", "short.toml", "--out", "run"]).assert_code(0).assert_says(&["removed", left]);
    assert!(parts("run").is_empty());
    bench.say(&["run", "short.toml", "--out", "other"]).assert_code(0);
    assert_eq!(parts("other").len(), 1, "a run at work keeps what it has");
    at_work.kill().unwrap();
    at_work.wait().unwrap();
}
