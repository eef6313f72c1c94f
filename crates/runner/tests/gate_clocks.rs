//! Gates of ports by clocks that drift: those of a cluster of AS6802 and those of IEEE 802.1AS, from cold on, and what a grandmaster that
//! lies does to a stream in a window.
#![allow(clippy::unwrap_used, reason = "tests")]

use chronoseal_catalog::Prepared;
use chronoseal_core::{EventKind, NodeId};
use chronoseal_results::StreamSummary;
use chronoseal_runner::{Run, simulate};
use chronoseal_scenario::{NoFiles, Scenario};

/// The class of `brake` has two of ten milliseconds for itself, in which its frames are due by the clock of the grandmaster.
const SCENARIO: &str = r#"
schema_version = 2
name = "gates"
duration = "12s"
[segments.network.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
precision = "20us"
class = { vlan = { pcp = 0 } }
switches = ["left", "right"]
sync = { gptp = { systems = [{ names = ["clock"], priority1 = 100 }] } }
links = [
    { between = ["left", "right"] }, { between = ["clock", "left"] },
    { between = ["liar", "left"] }, { between = ["wheel", "right"] },
]
[segments.network.ethernet.bridge_ports.gates]
cycle = "10ms"
entries = [
    { open = [7], lasts = "2ms" },
    { open = [0, 1, 2, 3, 4, 5, 6], lasts = "8ms" },
]
[[nodes]]
name = "clock"
clock = "ideal"
[[nodes]]
name = "liar"
clock = { fixed = { offset = "3ms", drift = "20ppm" } }
[[nodes]]
name = "wheel"
clock = { fixed = { offset = "1s", drift = "-80ppm" } }
[[streams]]
name = "brake"
from = "clock"
to = ["wheel"]
period = "10ms"
length = "100B"
offset = "500us"
deadline = "1ms"
network = { class = { vlan = { pcp = 7 } } }
[[streams]]
name = "picture"
from = "liar"
to = ["wheel"]
period = "2ms"
length = "1400B"
deadline = "20ms"
"#;

fn run(text: &str) -> Run {
    let scenario = Scenario::load("gates.toml", text.as_bytes(), &[], &NoFiles)
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    simulate(&Prepared::new(&scenario.plan).unwrap(), false, &mut |_| true).unwrap()
}

fn stream<'r>(run: &'r Run, name: &str) -> &'r StreamSummary {
    run.summary.streams.iter().find(|stream| stream.name == name).unwrap()
}

#[test]
fn a_grandmaster_that_lies_makes_a_gated_stream_late_and_a_true_one_does_not() {
    let true_time = run(SCENARIO);
    let brake = stream(&true_time, "brake");
    assert!(brake.held() && stream(&true_time, "picture").held(), "{:#?}", true_time.summary.streams);
    let why = true_time.meta.streams[0].unbounded.as_ref().expect("nothing bounds such clocks on paper");
    assert!(why.contains("IEEE 802.1AS"), "{why}");
    let latency = brake.end_to_end.all.unwrap();
    assert!(latency.max_ns < 60_000, "it finds its gates open: {latency:?}");
    assert_eq!(true_time.summary.clocks.len(), 5, "switches have clocks too");
    let threat = "kind = { rogue_grandmaster = { offset = \"4ms\" } }\nat = { node = \"liar\" }\nstart = \"8s\"";
    let attacked = run(&format!("{SCENARIO}\n[[threats]]\nname = \"lie\"\n{threat}\n"));
    let brake = stream(&attacked, "brake");
    // Its gates open 4 ms earlier, so its frames wait for the next cycle.
    assert!(brake.late > 200, "{brake:#?}");
    assert!(brake.end_to_end.all.unwrap().max_ns > 5_000_000, "{brake:#?}");
    assert!(!attacked.summary.deadlines_held());
    let early = attacked
        .rows
        .frames
        .iter()
        .filter(|row| row.received_at.is_some_and(|at| at.since_zero().as_ns() < 8_000_000_000));
    assert!(
        early
            .filter(|row| row.stream.0 == 0 && row.sent_at.is_some_and(|at| at.since_zero().as_ns() > 4_000_000_000))
            .all(|row| {
                row.received_at.zip(row.sent_at).is_some_and(|(received, sent)| (received - sent).as_ns() < 60_000)
            })
    );
}

/// The gate of the sender goes by the sender's own clock.
#[test]
fn the_gates_of_a_station_go_by_its_clock() {
    let bridges = "[segments.network.ethernet.bridge_ports.gates]";
    let stations = SCENARIO.replace(bridges, "[segments.network.ethernet.station_ports.gates]");
    let true_time = run(&stations);
    assert!(stream(&true_time, "brake").held(), "{:#?}", stream(&true_time, "brake"));
    let threat = "kind = { rogue_grandmaster = { offset = \"4ms\" } }\nat = { node = \"liar\" }\nstart = \"8s\"";
    let attacked = run(&format!("{stations}\n[[threats]]\nname = \"lie\"\n{threat}\n"));
    assert!(stream(&attacked, "brake").late > 200, "{:#?}", stream(&attacked, "brake"));
}

/// The cluster begins its time late and drifts, and gates follow it: what is due by an oscillator that is none of the cluster's comes to
/// every phase of their cycle.
#[test]
fn gates_follow_the_time_of_a_cluster() {
    let gptp = "sync = { gptp = { systems = [{ names = [\"clock\"], priority1 = 100 }] } }";
    let text = SCENARIO
        .replace(gptp, "sync = { as6802 = { masters = [\"liar\", \"wheel\"], compression_masters = [\"left\"] } }")
        .replace("duration = \"12s\"", "duration = \"2s\"")
        .replace("period = \"10ms\"", "period = \"9900us\"")
        .replace("deadline = \"1ms\"", "deadline = \"20ms\"");
    let run = run(&text);
    let joined = |node: u16| {
        let of_it =
            run.rows.events.iter().find(|row| row.node == NodeId(node) && row.event.kind == EventKind::SyncAcquired);
        of_it.unwrap().time
    };
    let last = (0..5).map(joined).max().unwrap();
    assert_eq!(run.summary.clocks.len(), 5, "switches have clocks too");
    assert!(run.summary.clocks.iter().all(|clock| clock.held()), "{:?}", run.summary.clocks);
    let brake = stream(&run, "brake");
    assert!(brake.held() && stream(&run, "picture").held(), "{:#?}", run.summary.streams);
    assert_eq!(
        brake.ready_ns,
        last.since_zero().as_ns(),
        "start-up ends when the last of stations and switches has joined"
    );
    let latency = |joined: bool| {
        let own = run.rows.frames.iter().filter(move |row| row.stream.0 == 0);
        let own = own.filter_map(|row| row.sent_at.zip(row.received_at));
        let own = own.filter(move |(sent, received)| if joined { *sent > last } else { *received < last });
        own.map(|(sent, received)| (received - sent).as_ns()).max().unwrap()
    };
    let bound = run.meta.streams[0].bound.as_ref().expect("check bounds it").total_ns;
    assert!(latency(false) < bound && latency(true) < bound, "{} {} {bound}", latency(false), latency(true));
    // The time for which the gates of both switches are closed, and not much more.
    assert!((8_000_000..20_000_000).contains(&bound) && latency(true) > 7_000_000, "{} {bound}", latency(true));
}
