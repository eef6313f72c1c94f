//! A box on a wire that passes frames on later: their latency counts from when their sender had to send them, however many others were sent
//! meanwhile.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use chronoseal_catalog::Prepared;
use chronoseal_results::StreamSummary;
use chronoseal_runner::simulate;
use chronoseal_scenario::{NoFiles, load};

const NETWORK: &str = r#"
schema_version = 2
name = "held"
duration = "1s"
[segments.s.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
[[nodes]]
name = "a"
on = ["s"]
[[nodes]]
name = "b"
on = ["s"]
[[threats]]
name = "box"
kind = { delay = { by = "3ms" } }
at = { link = "a" }
[[streams]]
name = "m"
from = "a"
to = ["b"]
length = "54B"
"#;

const THROUGH_A_GATEWAY: &str = r#"
[segments.t.ethernet]
rate = "100Mbit/s"
[[nodes]]
name = "g"
on = ["s", "t"]
gateway = { delay = "20us", queue = "1000 frames" }
"#;

fn stream(text: &str) -> StreamSummary {
    let plan =
        load("held.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}", problems.render()));
    let run = simulate(&Prepared::new(&plan).unwrap(), false, &mut |_| true).unwrap();
    assert_eq!(run.summary.unbalanced(), None);
    run.summary.streams.into_iter().next().unwrap()
}

fn longest_us(stream: &StreamSummary) -> [i64; 2] {
    let latency = stream.end_to_end.all.unwrap();
    [latency.min_ns / 1_000, latency.max_ns / 1_000]
}

#[test]
fn a_frame_that_is_held_longer_than_a_period_is_late() {
    let held =
        stream(&format!("{NETWORK}period = \"2ms\"\ndeadline = \"1ms\"\ns = {{ class = {{ best_effort = {{}} }} }}\n"));
    // Of the last two, which the box has when the run ends, one has its deadline behind it.
    assert_eq!((held.due, held.late, held.overdue, held.in_flight), (500, 499, 1, 0), "{held:?}");
    assert_eq!(longest_us(&held), [3_012, 3_012]);
}

#[test]
fn a_frame_that_comes_in_the_slot_of_the_next_one_is_late() {
    let text = format!("{NETWORK}period = \"10ms\"\ns = {{ class = \"time-triggered\" }}\n").replace("3ms", "10ms");
    let held = stream(&text.replace("kind =", "stream = \"m\"\nevery = \"10ms\"\ncount = 99\nkind ="));
    assert_eq!((held.delivered, held.late), (0, 98), "{held:?}");
    assert_eq!(longest_us(&held), [10_013, 10_013]);
}

#[test]
fn a_frame_that_is_held_before_a_gateway_is_late() {
    let hops = "period = \"2ms\"\ndeadline = \"1ms\"\ns = { class = { best_effort = {} } }\nt = { class = { best_effort = {} } }\n";
    let text = format!("{NETWORK}{hops}{THROUGH_A_GATEWAY}")
        .replace("name = \"b\"\non = [\"s\"]", "name = \"b\"\non = [\"t\"]");
    let held = stream(&text);
    assert_eq!((held.due, held.late, held.overdue, held.in_flight), (500, 499, 1, 0), "{held:?}");
    assert_eq!(longest_us(&held), [3_048, 3_048]);
}
