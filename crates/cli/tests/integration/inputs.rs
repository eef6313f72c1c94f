//! Two runs are of the same scenario only if all that it was made from is the same.

use serde_json::Value;

use super::support::Bench;

const RECORDED: &str = r#"
schema_version = 2
name = "recorded"
duration = "100ms"
[segments.network.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
guard_period = "50us"
[[recordings]]
name = "wheel"
signal = { file = "drive.csv", name = "wheel_speed", unit = "m/s" }
[[nodes]]
name = "a"
[[nodes]]
name = "b"
[[streams]]
name = "s"
from = "a"
to = ["b"]
period = "10ms"
length = "46B"
payload = { recording = "wheel" }
"#;

const SLOW: &str = "time_us,name,value\n0,wheel_speed,1.0\n10000,wheel_speed,2.0\n20000,wheel_speed,3.0\n";
const FAST: &str = "time_us,name,value\n0,wheel_speed,9.0\n10000,wheel_speed,8.0\n20000,wheel_speed,7.0\n";

fn described(bench: &Bench, folder: &str) -> Value {
    let text = std::fs::read_to_string(bench.path(folder).join("manifest.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["run"].take()
}

#[test]
fn another_recording_under_the_same_name_is_another_scenario() {
    let bench = Bench::new();
    bench.write("s.toml", RECORDED);
    for (folder, drive) in [("slow", SLOW), ("fast", FAST), ("slow-again", SLOW)] {
        bench.write("drive.csv", drive);
        bench.say(&["run", "s.toml", "--repeat", "2", "--out", folder, "--quiet"]).assert_code(0);
    }
    let of = |run: &str| described(&bench, run);
    let (slow, fast) = (of("slow/run-000"), of("fast/run-000"));
    assert_ne!(slow["fingerprint"], fast["fingerprint"], "the recording is in the frames");
    assert_ne!(slow["scenario_hash"], fast["scenario_hash"]);
    assert_eq!(slow["scenario_hash"], of("slow-again/run-000")["scenario_hash"]);

    let different = bench.say(&["compare", "slow", "fast"]).out;
    let different = different.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = "slow and fast are not runs of the same scenario: they differ in the file drive.csv.";
    assert!(different.contains(says), "{different}");
    let same = bench.say(&["compare", "slow", "slow-again"]).out;
    assert!(!same.contains("scenario"), "{same}");
}

#[test]
fn a_manifest_names_files_and_overrides_and_the_report_shows_them() {
    let bench = Bench::new();
    bench.write("s.toml", RECORDED);
    bench.write("drive.csv", SLOW);
    let set = ["--set", "duration=200ms", "--seed", "5"];
    bench.say(&[&["run", "s.toml", "--out", "run"][..], &set[..]].concat()).assert_code(0);
    let run = described(&bench, "run");
    assert_eq!(run["overrides"], serde_json::json!([["duration", "200ms"], ["seed", "5"]]));
    let hash = run["files"][0]["hash"].as_str().unwrap();
    assert_eq!(run["files"], serde_json::json!([{ "name": "drive.csv", "len": SLOW.len(), "hash": hash }]));
    let page = std::fs::read_to_string(bench.path("run/report.html")).unwrap();
    for shown in [run["scenario_hash"].as_str().unwrap(), "override duration", "file drive.csv", hash] {
        assert!(page.contains(shown), "{shown}");
    }
}

#[test]
fn the_folder_of_a_scenario_plays_no_part() {
    let bench = Bench::new();
    for folder in ["here", "there"] {
        std::fs::create_dir(bench.path(folder)).unwrap();
        bench.write(&format!("{folder}/s.toml"), RECORDED);
        bench.write(&format!("{folder}/drive.csv"), SLOW);
    }
    let there = bench.path("there/s.toml").display().to_string();
    bench.say(&["run", "here/s.toml", "--out", "a", "--quiet"]).assert_code(0);
    bench.say(&["run", &there, "--out", "b", "--quiet"]).assert_code(0);
    let (a, b) = (described(&bench, "a"), described(&bench, "b"));
    assert_eq!((&a["scenario_hash"], &a["files"]), (&b["scenario_hash"], &b["files"]));
}

#[test]
fn a_run_that_was_stored_without_its_inputs_is_still_reported_and_compared() {
    let bench = Bench::new();
    bench.write("s.toml", RECORDED);
    bench.write("drive.csv", SLOW);
    for folder in ["old", "new"] {
        bench.say(&["run", "s.toml", "--out", folder, "--quiet"]).assert_code(0);
    }
    let path = bench.path("old/manifest.json");
    let mut manifest: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    for key in ["text_hash", "files"] {
        assert!(manifest["run"].as_object_mut().unwrap().remove(key).is_some(), "{key}");
    }
    std::fs::write(&path, manifest.to_string()).unwrap();
    bench.say(&["report", "old"]).assert_code(0);
    let said = bench.say(&["compare", "old", "new"]);
    assert!(said.out.contains("is not known"), "{}", said.out);
}
