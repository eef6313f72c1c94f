//! `compare` compares runs, not packets.

use crate::integration::support::{Bench, SMALL};

#[test]
fn fewer_than_ten_runs_a_side_are_insufficient() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    bench.say(&["run", "small.toml", "--out", "a", "--quiet"]).assert_code(0);
    bench.say(&["run", "small.toml", "--repeat", "9", "--out", "b", "--quiet"]).assert_code(0);
    let said = bench.say(&["compare", "a", "b"]);
    said.assert_code(0).assert_says(&["next: ", "--repeat 10"]);
    assert!(said.out.contains("Insufficient"), "{}", said.out);
}

#[test]
fn ten_runs_against_themselves_repeated_are_the_same() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    for folder in ["a", "b"] {
        bench.say(&["run", "small.toml", "--repeat", "10", "--out", folder, "--quiet"]).assert_code(0);
        assert!(bench.path(folder).join("run-009/manifest.json").is_file());
    }
    let seeds = |run: &str| -> serde_json::Value {
        let text = std::fs::read_to_string(bench.path(run).join("manifest.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["run"]["seed"].clone()
    };
    assert_eq!((seeds("a/run-000"), seeds("a/run-009")), (1.into(), 10.into()), "simulated runs count the seed up");
    let said = bench.say(&["compare", "a", "b"]);
    said.assert_code(0);
    assert!(said.out.contains("No difference worth telling"), "{}", said.out);
    assert!(said.out.contains("10 / 10  same"), "{}", said.out);
}

#[test]
fn a_slower_side_is_worse_and_fails() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let slow = "segments.network.ethernet.guard_period=400us";
    bench.say(&["run", "small.toml", "--repeat", "10", "--out", "a", "--quiet"]).assert_code(0);
    bench.say(&["run", "small.toml", "--repeat", "10", "--out", "b", "--quiet", "--set", slow]).assert_code(0);
    bench.say(&["compare", "a", "b"]).assert_code(1);
    bench.say(&["compare", "b", "a"]).assert_code(0);
}

#[test]
fn folders_without_runs_are_refused_with_what_to_do() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("empty")).unwrap();
    bench.say(&["compare", "empty", "empty"]).assert_refused(&["holds no run", "help:", "--repeat 10"]);
    bench.say(&["compare", "nowhere", "empty"]).assert_refused(&["nowhere", "help:"]);
}
