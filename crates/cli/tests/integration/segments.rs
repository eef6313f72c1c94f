//! A run over segments of different kinds has one verdict, which looks at all of them.

use crate::integration::support::{Bench, SIDE_BY_SIDE};

#[test]
fn a_lost_clock_on_one_segment_fails_a_run_whose_bus_is_healthy() {
    let bench = Bench::new();
    // Nothing else goes by a clock there.
    let in_slots = SIDE_BY_SIDE.replace("{ best_effort = { priority = 0 } }", "\"time-triggered\"");
    bench.write("two.toml", in_slots.replace("cluster_cycle = \"10ms\"", "cluster_cycle = \"20ms\""));
    let arguments = ["run", "two.toml", "--no-store", "--format", "json"];
    let run = bench.say(&arguments).assert_code(0).json();
    assert_eq!(run["word"], "held", "{}", run["verdict"]);

    // From one beacon to the next it gains 20 us, twice what the window allows.
    let slow = [&arguments[..], &["--set", "segments.backbone.ethernet.cluster_cycle=200ms"]].concat();
    let run = bench.say(&slow).assert_code(1).json();
    assert_eq!(run["word"], "failed");
    let verdict = run["verdict"].as_str().unwrap();
    assert!(verdict.contains("the clock of camera was lost") && verdict.contains("on segment backbone"), "{verdict}");
    let streams = run["summary"]["streams"].as_array().unwrap();
    let light = streams.iter().find(|stream| stream["name"] == "light").unwrap();
    assert_eq!((&light["delivered"], &light["late"], &light["startup"]), (&200.into(), &0.into(), &0.into()));
}

#[test]
fn each_segment_has_its_section_in_the_report() {
    let bench = Bench::new();
    bench.write("two.toml", SIDE_BY_SIDE);
    bench.say(&["run", "two.toml", "--out", "run", "--quiet"]).assert_code(0);
    let report = bench.say(&["report", "run", "--format", "json"]).assert_code(0).json();
    let sections = report["sections"].as_array().unwrap();
    let titles: Vec<&str> = sections.iter().map(|section| section["title"].as_str().unwrap()).collect();
    assert!(titles.contains(&"Segment backbone") && titles.contains(&"Segment body"), "{titles:?}");
    let facts = report["environment"].as_array().unwrap();
    let body = facts.iter().find(|fact| fact[0] == "segment body").unwrap();
    assert!(body[1].as_str().unwrap().starts_with("Kind: can; bit rate: 500 kbit/s; "), "{body}");
}
