//! Messages that are answered: the same are lost on the same way live, and each round trip takes what it took there and what the host adds.

use std::collections::BTreeMap;

use chronoseal_core::StreamId;
use chronoseal_results::RoundTripSummary;
use chronoseal_results::rows::Outcome;
use chronoseal_runner::Run;
use chronoseal_scenario::NoFiles;

use crate::engines::{self, Engine, load};
use crate::recorded::{One, REPLAY, capture, uneven};

const SCENARIO: &str = r#"
schema_version = 2
name = "relay"
seed = 9
duration = "1s"
[segments.air.link]
profile = "wifi"
loss = { independent = "4%" }
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
length = "4kB"
[[streams]]
name = "echo"
from = "station"
answers = "laser"
length = "200B"
"#;

pub(crate) fn run_all() {
    round_trips_are_those_of_the_simulator();
    a_closed_loop_goes_as_fast_as_its_answers_come();
    messages_on_a_connection_are_answered();
    without_tun_every_message_has_the_same_fate();
    a_recording_is_replayed_as_it_was();
}

fn ends(run: &Run) -> BTreeMap<(StreamId, u64), Outcome> {
    // What was sent late in the run may be under way.
    let early = run.rows.frames.iter().filter(|row| row.sequence < 75);
    early.map(|row| ((row.stream, row.sequence), row.outcome)).collect()
}

fn only(run: &Run) -> &RoundTripSummary {
    let [trip] = &run.summary.round_trips[..] else { panic!("{:?}", run.summary.round_trips) };
    let sum = trip.not_sent + trip.lost_out + trip.not_answered + trip.lost_back + trip.answered + trip.under_way;
    assert_eq!(trip.asked, sum, "{trip:?}");
    trip
}

fn round_trips_are_those_of_the_simulator() {
    let scenario = load(SCENARIO, &NoFiles);
    let simulated = engines::run(Engine::Sim, &scenario).expect("simulated");
    let Some(live) = engines::run(Engine::Live, &scenario) else { return };
    assert_eq!(ends(&simulated), ends(&live));
    let lost = ends(&simulated).into_iter().filter(|(_, outcome)| !matches!(outcome, Outcome::Delivered));
    let [out, back] = lost.fold([0, 0], |[out, back], ((stream, _), _)| match stream {
        StreamId(0) => [out + 1, back],
        _ => [out, back + 1],
    });
    assert!(out > 3 && back > 0, "{out} and {back} are lost");
    let median = |trip: &RoundTripSummary| trip.from_due.all.and_then(|all| all.p50_ns).expect("enough") as f64 / 1e6;
    let (planned, measured) = (median(only(&simulated)), median(only(&live)));
    assert!(measured > planned - 3.0 && measured < planned + 15.0, "{planned} and {measured} ms");
    let trip = only(&live);
    let mean = |spread: &chronoseal_results::Spread| spread.all.expect("some").mean_ns;
    assert!(mean(&trip.from_due) >= mean(&trip.from_sent), "{trip:?}");
}

fn a_closed_loop_goes_as_fast_as_its_answers_come() {
    let text = SCENARIO
        .replace("profile = \"wifi\"\nloss = { independent = \"4%\" }", "delay = { constant = \"5ms\" }")
        .replace("period = \"10ms\"", "period = \"1ms\"\nclosed_loop = { timeout = \"200ms\" }");
    let scenario = load(&text, &NoFiles);
    let simulated = engines::run(Engine::Sim, &scenario).expect("simulated");
    assert_eq!((only(&simulated).asked, only(&simulated).answered), (100, 99));
    let Some(live) = engines::run(Engine::Live, &scenario) else { return };
    let trip = only(&live);
    // A busy host makes it slower, and nothing makes it faster.
    assert!(trip.asked > 20 && trip.asked <= 100 && trip.answered + 1 >= trip.asked, "{trip:?}");
    assert!(trip.from_due.all.is_some_and(|all| all.min_ns >= 10_000_000), "{trip:?}");
}

fn messages_on_a_connection_are_answered() {
    let text = SCENARIO
        .replace("profile = \"wifi\"\nloss = { independent = \"4%\" }", "delay = { constant = \"1ms\" }")
        .replace("length = \"4kB\"", "length = \"4kB\"\nair = { transport = \"tcp\" }")
        .replace("length = \"200B\"", "length = \"200B\"\nair = { transport = \"tcp\" }");
    let Some(live) = engines::run(Engine::Live, &load(&text, &NoFiles)) else { return };
    let trip = only(&live);
    assert!(trip.answered >= 90 && trip.lost_out + trip.lost_back + trip.not_answered == 0, "{trip:?}");
    assert_eq!(trip.from_due.all.map(|all| all.n), Some(trip.answered), "{trip:?}");
}

/// Over pairs of virtual interfaces as over TAP interfaces: the fate of each message is the same, of datagrams in fragments and in parts, and a
/// recording goes out as it was.
fn without_tun_every_message_has_the_same_fate() {
    let image = "[[streams]]\nname = \"image\"\nfrom = \"robot\"\nto = [\"station\"]\nperiod = \"50ms\"\noffset = \"2ms\"\nlength = \"100kB\"\n\
                 air = { reassembly_timeout = \"100ms\" }\n";
    let scenario = load(&(SCENARIO.to_owned() + image), &NoFiles);
    let simulated = engines::run(Engine::Sim, &scenario).expect("simulated");
    let Some(tap) = engines::run(Engine::Live, &scenario) else { return };
    let Some(veth) = engines::run_with(&scenario, |options| options.no_tun = true) else { return };
    let images = |run: &Run| {
        let early = run.rows.frames.iter().filter(|row| row.stream == StreamId(2) && row.sequence < 14);
        early.map(|row| (row.sequence, row.outcome)).collect::<BTreeMap<_, _>>()
    };
    let small =
        |run: &Run| ends(run).into_iter().filter(|((stream, _), _)| *stream != StreamId(2)).collect::<BTreeMap<_, _>>();
    assert_eq!((small(&tap), images(&tap)), (small(&veth), images(&veth)));
    assert_eq!((small(&simulated), images(&simulated)), (small(&veth), images(&veth)));
    let wires = |run: &Run| run.meta.host.iter().find(|(name, _)| name == "wires").map(|(_, wires)| wires.clone());
    assert!(wires(&tap).is_some_and(|wires| wires.starts_with("TAP")), "{:?}", wires(&tap));
    assert!(wires(&veth).is_some_and(|wires| wires.starts_with("veth")), "{:?}", wires(&veth));
}

fn a_recording_is_replayed_as_it_was() {
    // The last message comes 10 ms before the end, and the next would have been due then: a host that is late by less changes nothing.
    let text = REPLAY.replace("duration = \"3s\"", "duration = \"2879ms\"");
    let scenario = load(&text, &One(capture(&uneven())));
    let simulated = engines::run(Engine::Sim, &scenario).expect("simulated");
    let Some(live) = engines::run(Engine::Live, &scenario) else { return };
    let sent = |run: &Run| {
        let rows = run.rows.frames.iter().filter(|row| row.outcome == Outcome::Delivered);
        rows.map(|row| (row.sequence, row.len)).collect::<BTreeMap<_, _>>()
    };
    let (planned, measured) = (sent(&simulated), sent(&live));
    assert!(planned.len() > 400, "{}", planned.len());
    assert_eq!(planned, measured);
}
