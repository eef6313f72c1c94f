//! Scenarios whose clocks are kept together by a cluster of AS6802: started from cold, measured against the stated precision.
#![allow(clippy::unwrap_used, reason = "tests")]

use chronoseal_catalog::Prepared;
use chronoseal_runner::{Run, simulate};
use chronoseal_scenario::{NoFiles, Scenario};

const SCENARIO: &str = r#"
schema_version = 2
name = "cluster"
duration = "2s"
[segments.network.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
precision = "10us"
class = { best_effort = {} }
switches = ["left", "right"]
sync = { as6802 = { masters = ["a", "b", "c", "d"], compression_masters = ["left", "right"] } }
links = [
    { between = ["left", "right"] },
    { between = ["a", "left"] }, { between = ["b", "left"] },
    { between = ["c", "right"] }, { between = ["d", "right"] }, { between = ["e", "right"] },
]
[[nodes]]
name = "a"
clock = { fixed = { offset = "5ms", drift = "100ppm" } }
[[nodes]]
name = "b"
clock = { fixed = { offset = "1s", drift = "-100ppm" } }
[[nodes]]
name = "c"
clock = { fixed = { offset = "0s", drift = "30ppm" } }
[[nodes]]
name = "d"
clock = { fixed = { offset = "40us", drift = "-70ppm" } }
[[nodes]]
name = "e"
clock = { fixed = { offset = "0s", drift = "100ppm" } }
[[streams]]
name = "camera"
from = "a"
to = ["e"]
period = "1ms"
length = "1400B"
[[streams]]
name = "back"
from = "e"
to = ["a", "b"]
period = "700us"
length = "900B"
"#;

fn run(text: &str) -> Run {
    let scenario = Scenario::load("cluster.toml", text.as_bytes(), &[], &NoFiles).unwrap();
    simulate(&Prepared::new(&scenario.plan).unwrap(), false, &mut |_| true).unwrap()
}

/// The largest difference of clocks over the run, or by window `[ns]`.
fn differences(run: &Run, by_window: bool) -> Vec<i64> {
    let is_it = |series: &&chronoseal_results::rows::SegmentSeries| {
        series.name == "largest difference of clocks" && series.window.is_some() == by_window
    };
    run.rows.segments.iter().find(is_it).map(|series| series.values.clone()).unwrap_or_default()
}

#[test]
fn a_cluster_over_two_switches_starts_from_cold_and_keeps_its_precision_beside_other_traffic() {
    let run = run(SCENARIO);
    assert_eq!(run.summary.clocks.len(), 5);
    for clock in &run.summary.clocks {
        assert!(clock.acquired_ns.unwrap() > 10_000_000, "everybody listens first: {clock:?}");
        // Listen time-out, coldstart time-out and three integration cycles, in cycles.
        assert!(clock.held() && clock.startup_cycles.is_some_and(|cycles| (4..10).contains(&cycles)), "{clock:?}");
        assert_eq!((clock.lost, clock.beacons_rejected), (0, 0), "{clock:?}");
        assert!(clock.corrections > 150, "{clock:?}");
    }
    let [largest] = differences(&run, false)[..] else { panic!("there is one") };
    // 200 ppm in a cycle of 10 ms are 2 us.
    assert!(largest > 500 && largest < 10_000, "{largest} ns");
    assert!(differences(&run, true).iter().all(|window| *window <= largest));
}

#[test]
fn clocks_further_apart_than_the_stated_precision_fail_the_run() {
    let fine = run(SCENARIO);
    let precision = fine.summary.segments[0].precision.unwrap();
    let [largest] = differences(&fine, false)[..] else { panic!("there is one") };
    assert_eq!((precision.measured_ns, precision.allowed_ns), (largest, 10_000));
    assert!(fine.summary.segments[0].kept_precision() && fine.summary.deadlines_held());
    let strict = run(&SCENARIO.replace("precision = \"10us\"", "precision = \"2us\""));
    let precision = strict.summary.segments[0].precision.unwrap();
    assert!(precision.measured_ns > precision.allowed_ns, "{precision:?}");
    assert!(!strict.summary.deadlines_held());
}

#[test]
fn the_same_scenario_gives_the_same_differences_and_another_seed_need_not() {
    assert_eq!(differences(&run(SCENARIO), true), differences(&run(SCENARIO), true));
}

#[test]
fn a_run_whose_cluster_never_starts_says_so() {
    // A frame from the other switch is under way for 11 us and too old to be used: each switch hears two of four masters.
    let text = SCENARIO.replace("rate = \"100Mbit/s\"", "rate = \"100Mbit/s\"\nmax_transmission_delay = \"10us\"");
    let run = run(&text);
    assert!(run.summary.clocks.iter().all(|clock| clock.acquired_ns.is_none() && !clock.held()));
    assert!(differences(&run, false).is_empty());
}

/// Faster oscillators than the cluster is built for: the clocks are further apart than the precision, and the measured series
/// says so, as the analysis did.
#[test]
fn clocks_that_drift_too_fast_for_the_precision_are_seen() {
    let text = SCENARIO.replace("precision = \"10us\"", "precision = \"1us\"");
    let scenario = Scenario::load("cluster.toml", text.as_bytes(), &[], &NoFiles).unwrap();
    let prepared = Prepared::new(&scenario.plan).unwrap();
    let tables: Vec<_> = scenario.plan.segment_ids().map(|id| prepared.schedule(id).cloned()).collect();
    let bounds = chronoseal_analysis::segment::bounds(&scenario.plan, &tables, chronoseal_analysis::segment::BOUNDS);
    let risks: Vec<String> = bounds.risks.iter().map(|risk| risk.cause.text(&scenario.plan)).collect();
    assert!(risks.iter().any(|text| text.contains("write a precision of at least")), "{risks:?}");
    let run = run(&text);
    let largest = differences(&run, false).first().copied();
    let is_lost = run.summary.clocks.iter().any(|clock| clock.lost > 0 || clock.acquired_ns.is_none());
    assert!(is_lost || largest.is_some_and(|ns| ns > 1_000), "{largest:?}");
}
