//! Frames in slots by the clocks of a cluster of AS6802: started from cold, with clocks that drift, and when the cluster fails.
#![allow(clippy::unwrap_used, reason = "tests")]

use chronoseal_runner::{Run, Scenario, simulate};
use chronoseal_scenario::NoFiles;

const SCENARIO: &str = r#"
schema_version = 2
name = "cluster-slots"
duration = "1s"
[segments.network.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
guard_period = "30us"
precision = "10us"
access = "per-link"
forwarding_delay = "3us"
max_transmission_delay = "800us"
switches = ["left", "middle", "right"]
sync = { as6802 = { masters = ["a", "b", "c", "d"], compression_masters = ["left", "right"] } }
links = [
    { between = ["left", "middle"] }, { between = ["middle", "right"] },
    { between = ["a", "left"] }, { between = ["b", "left"] },
    { between = ["c", "right"] }, { between = ["d", "right"] }, { between = ["e", "middle"] },
]
[[nodes]]
name = "a"
clock = { fixed = { offset = "5ms", drift = "100ppm" } }
[[nodes]]
name = "b"
clock = { fixed = { offset = "1s", drift = "80ppm" } }
[[nodes]]
name = "c"
clock = { fixed = { offset = "0s", drift = "30ppm" } }
[[nodes]]
name = "d"
clock = { fixed = { offset = "40us", drift = "70ppm" } }
[[nodes]]
name = "e"
clock = { fixed = { offset = "0s", drift = "-100ppm" } }
[[streams]]
name = "across"
from = "a"
to = ["d", "e"]
period = "5ms"
length = "100B"
[[streams]]
name = "back"
from = "d"
to = ["a"]
period = "10ms"
length = "900B"
[[streams]]
name = "from-the-middle"
from = "e"
to = ["b", "c"]
period = "10ms"
length = "46B"
[[streams]]
name = "picture"
from = "a"
to = ["c"]
period = "900us"
length = "1400B"
network = { class = { best_effort = {} } }
"#;

fn run(text: &str) -> Run {
    let scenario = Scenario::load("cluster.toml", text.as_bytes(), &[], &NoFiles)
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    simulate(&scenario.prepare().unwrap(), false, &mut |_| true).unwrap()
}

#[test]
fn nothing_in_slots_is_lost_once_the_cluster_has_started() {
    let run = run(SCENARIO);
    for clock in &run.summary.clocks { println!("{clock:?}"); }
    for stream in &run.summary.streams { println!("{stream:#?}"); }
    println!("{:?}", run.summary.segments[0].precision);
    assert!(run.summary.deadlines_held());
}
