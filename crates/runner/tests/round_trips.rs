//! Streams that are answered: what is lost on which way, and how long a message and its answer take together.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use chronoseal_catalog::Prepared;
use chronoseal_results::{RoundTripSummary, RunSummary};
use chronoseal_runner::simulate;
use chronoseal_scenario::{NoFiles, load};

const SCENARIO: &str = r#"
schema_version = 2
name = "relay"
seed = 4
duration = "2s"
[segments.air.link]
LAWS
[[nodes]]
name = "robot"
clock = "ideal"
[[nodes]]
name = "station"
clock = "ideal"
[[streams]]
name = "laser"
from = "robot"
to = ["station"]
period = "10ms"
offset = "500us"
length = "3kB"
[[streams]]
name = "echo"
from = "station"
answers = "laser"
"#;

fn run(laws: &str, change: (&str, &str)) -> RunSummary {
    let text = SCENARIO.replace("LAWS", laws).replace(change.0, change.1);
    let plan =
        load("relay.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}", problems.render()));
    simulate(&Prepared::new(&plan).unwrap(), false, &mut |_| true).unwrap().summary
}

fn only(summary: &RunSummary) -> &RoundTripSummary {
    let [trip] = &summary.round_trips[..] else { panic!("{:?}", summary.round_trips) };
    let sum = trip.not_sent + trip.lost_out + trip.not_answered + trip.lost_back + trip.answered + trip.under_way;
    assert_eq!(trip.asked, sum, "{trip:?}");
    trip
}

/// Median and extremes `[us]`.
fn us(spread: &chronoseal_results::Spread) -> [f64; 3] {
    let all = spread.all.expect("some were answered");
    [all.min_ns, all.p50_ns.expect("enough"), all.max_ns].map(|ns| ns as f64 / 1e3)
}

#[test]
fn a_round_trip_takes_both_ways() {
    let summary = run("delay = { constant = \"2ms\" }", ("", ""));
    let trip = only(&summary);
    assert_eq!((trip.asked, trip.answered, trip.lost_out + trip.lost_back), (200, 200, 0));
    assert_eq!((us(&trip.from_due), us(&trip.from_sent)), ([4000.0; 3], [4000.0; 3]));
    assert_eq!((&*trip.stream, &*trip.answer, &*trip.relay, trip.closed_loop_ns), ("laser", "echo", "station", None));
}

#[test]
fn what_was_lost_on_the_way_out_is_not_answered_and_what_was_lost_on_the_way_back_is_counted_there() {
    let laws =
        "delay = { uniform = { min = \"1ms\", max = \"30ms\" } }\nloss = { independent = \"5%\" }\nduplicate = \"5%\"";
    let summary = run(laws, ("", ""));
    let (trip, [laser, echo]) = (only(&summary), &summary.streams[..]) else { panic!("two streams") };
    assert!(trip.lost_out > 5 && trip.lost_back > 5, "{trip:?}");
    // Whatever overtakes or comes twice: each that came is answered once.
    assert_eq!((laser.delivered, echo.delivered), (echo.sent, trip.answered));
    assert_eq!(trip.lost_out, laser.discarded["lost-on-link"]);
    assert_eq!(trip.lost_back, echo.discarded["lost-on-link"]);
    assert_eq!(trip.from_due.all.map(|all| all.n), Some(trip.answered));
    assert!(laser.receivers[0].reordered > 0 && laser.receivers[0].balance() == 0 && echo.receivers[0].balance() == 0);
}

#[test]
fn a_closed_loop_waits_for_each_answer_and_gives_up_at_its_timeout() {
    let closed = "period = \"1ms\"\nclosed_loop = { timeout = \"100ms\" }";
    let delayed = run("delay = { constant = \"2ms\" }", ("period = \"10ms\"", closed));
    let trip = only(&delayed);
    // One of 4 ms after the other, from 1 ms on.
    assert_eq!((trip.asked, trip.answered, trip.under_way, trip.closed_loop_ns), (500, 499, 1, Some(100_000_000)));
    assert_eq!(us(&trip.from_due), [4000.0; 3]);

    // Nothing delays them: the period is the least distance, and there is no busy loop.
    assert_eq!(only(&run("", ("period = \"10ms\"", closed))).answered, 2000);

    // Every loss costs a timeout.
    let lossy = run("delay = { constant = \"2ms\" }\nloss = { independent = \"2%\" }", ("period = \"10ms\"", closed));
    let trip = only(&lossy);
    let lost = trip.lost_out + trip.lost_back;
    let time_ms = 4 * trip.answered + 100 * lost;
    assert!(lost > 5 && (1890..=2000).contains(&time_ms), "{trip:?}");
}
