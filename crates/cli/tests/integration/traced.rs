//! Runs that are drawn over time: what `docs/guide/seeing-a-run.md` promises.

use crate::integration::support::{Bench, SMALL};

#[test]
fn a_trace_is_the_same_each_time_and_changes_nothing_that_the_run_says() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let plain = bench.json(&["run", "small.toml", "--no-store"]);
    for file in ["one.pftrace", "two.pftrace"] {
        let drawn = bench.json(&["run", "small.toml", "--no-store", "--trace", file]);
        assert_eq!(drawn["fingerprint"], plain["fingerprint"]);
        assert_eq!(drawn["summary"], plain["summary"]);
    }
    let [one, two] = ["one.pftrace", "two.pftrace"].map(|file| std::fs::read(bench.path(file)).unwrap());
    assert_eq!(one, two);
    let said =
        bench.say(&["run", "small.toml", "--no-store", "--trace", "part.pftrace", "--trace-window", "0ms..20ms"]);
    said.assert_says(&["trace: ", " slices and ", " MB in part.pftrace"]);
    let part = std::fs::read(bench.path("part.pftrace")).unwrap();
    assert!(!part.is_empty() && part.len() < one.len(), "{} of {}", part.len(), one.len());
}

#[test]
fn what_cannot_be_drawn_is_refused_before_anything_runs() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let refused = |more: &[&str], words: &[&str]| {
        let said = bench.say(&[&["run", "small.toml", "--no-store", "--trace", "run.pftrace"], more].concat());
        said.assert_refused(words);
        assert!(!bench.path("run.pftrace").exists(), "{more:?}");
    };
    refused(&["--engine", "live"], &["this run is live", "leave --engine away"]);
    refused(&["--repeat", "2"], &["draws one run", "--seed"]);
    refused(&["--set", "fidelity=timing"], &["keeps none", "--set fidelity=bytes"]);
    refused(&["--trace-window", "100s..200s"], &["begins after 100s", "nothing was run"]);
    refused(&["--trace-window", "2ms..1ms"], &["the earlier time first"]);
    refused(&["--trace-window", "5"], &["FROM..TO"]);
    refused(&["--count"], &["cannot be used with"]);
    let said = bench.say(&["run", "small.toml", "--no-store", "--trace", "nowhere/run.pftrace"]);
    said.assert_refused(&["nowhere/run.pftrace", "give --trace the path of a file"]);
    bench.say(&["run", "small.toml", "--trace-window", "0ms..1ms"]).assert_refused(&["--trace"]);
}
