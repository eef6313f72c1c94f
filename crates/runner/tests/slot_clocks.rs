//! Frames in slots by the clocks of a cluster of AS6802, or by those of IEEE 802.1AS: started from cold, with clocks that drift, and when
//! something is wrong with the clocks.
#![allow(clippy::unwrap_used, reason = "tests")]

use chronoseal_catalog::Prepared;
use chronoseal_core::{DiscardReason, EventKind, NodeId, StreamId};
use chronoseal_results::{StreamSummary, rows::EventRow};
use chronoseal_runner::{Run, simulate};
use chronoseal_scenario::{NoFiles, Scenario};

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
    simulate(&Prepared::new(&scenario.plan).unwrap(), false, &mut |_| true).unwrap()
}

/// The same with clocks of IEEE 802.1AS, the best of which drifts.
fn with_grandmaster() -> String {
    let sync =
        "sync = { as6802 = { masters = [\"a\", \"b\", \"c\", \"d\"], compression_masters = [\"left\", \"right\"] } }";
    let of_gptp = "sync = { gptp = { systems = [{ names = [\"a\"], priority1 = 100 }] } }";
    SCENARIO
        .replace(sync, of_gptp)
        .replace("max_transmission_delay = \"800us\"\n", "")
        .replace("duration = \"1s\"", "duration = \"8s\"")
}

fn attacked(text: &str, threat: &str) -> Run {
    run(&format!("{text}\n[[threats]]\nname = \"attack\"\n{threat}\n"))
}

fn stream<'r>(run: &'r Run, name: &str) -> &'r StreamSummary {
    run.summary.streams.iter().find(|stream| stream.name == name).unwrap()
}

/// The streams of which all frames came in time once the clocks had joined.
fn held(run: &Run) -> Vec<&str> {
    run.summary.streams.iter().filter(|stream| stream.held()).map(|stream| stream.name.as_str()).collect()
}

fn first(run: &Run, is_it: impl Fn(&EventRow) -> bool) -> i64 {
    run.rows.events.iter().find(|row| is_it(row)).map(|row| row.time.since_zero().as_ns() / 1_000).unwrap()
}

const ALL: [&str; 4] = ["across", "back", "from-the-middle", "picture"];

#[test]
fn nothing_in_slots_is_lost_once_the_clocks_have_joined() {
    for text in [SCENARIO.to_owned(), with_grandmaster()] {
        let run = run(&text);
        assert_eq!(run.summary.clocks.len(), 8, "switches have clocks too");
        assert!(run.summary.clocks.iter().all(|clock| clock.held()), "{:?}", run.summary.clocks);
        let precision = run.summary.segments[0].precision.unwrap();
        assert!(precision.measured_ns <= precision.allowed_ns, "{precision:?}");
        assert_eq!(held(&run), ALL, "{:#?}", run.summary.streams);
        assert!(stream(&run, "across").delivered > 150 && run.summary.deadlines_held());
        // What a station sends in slots it sends by a clock that has joined.
        for (node, of) in [(0, 0), (3, 1), (4, 2)] {
            let joined = first(&run, |row| row.node == NodeId(node) && row.event.kind == EventKind::SyncAcquired);
            let is_its = |row: &EventRow| row.event.kind == EventKind::Sent && row.event.stream == StreamId(of);
            assert!(first(&run, is_its) > joined, "node {node}");
        }
    }
}

#[test]
fn the_same_scenario_gives_the_same_bytes() {
    let [one, again] = [0, 1].map(|_| format!("{:?}", run(SCENARIO).rows.frames));
    assert_eq!(one, again);
}

/// A run that is counted by the time of the run would find each frame in another slot: the cluster drifts by 70 ppm and began late.
#[test]
fn latencies_count_from_the_slots_of_the_cluster() {
    let run = run(SCENARIO);
    let latency = stream(&run, "across").end_to_end.all.unwrap();
    // Two links and the wait for the dispatch, of a frame of 100 B, give or take the precision.
    assert!(latency.min_ns > 10_000 && latency.max_ns < 200_000, "{latency:?}");
    assert!(latency.max_ns - latency.min_ns < 120_000, "{latency:?}");
}

#[test]
fn a_node_that_has_lost_its_clock_sends_nothing_in_slots() {
    let text = SCENARIO.replace("[[nodes]]\nname = \"a\"", "[[nodes]]\nname = \"f\"\n[[nodes]]\nname = \"a\"").replace(
        "links = [",
        "failures = [{ link = [\"e\", \"middle\"], at = \"500ms\" }]\nlinks = [\n    { between = [\"f\", \"middle\"] },",
    );
    let run = run(&text);
    let node = NodeId(5);
    let lost = first(&run, |row| row.node == node && row.event.kind == EventKind::SyncLost);
    assert!((500_000..550_000).contains(&lost), "{lost} us");
    let of_it = |row: &&EventRow| row.event.kind == EventKind::Sent && row.event.stream == StreamId(2);
    let last = run.rows.events.iter().rfind(of_it).unwrap().time.since_zero().as_ns() / 1_000;
    assert!(last <= lost, "{last} us, {lost} us");
    let from_it = stream(&run, "from-the-middle");
    assert!(from_it.not_sent > 80, "{from_it:#?}");
    assert!(held(&run).contains(&"back") && !held(&run).contains(&"from-the-middle"), "{:?}", held(&run));
}

#[test]
fn a_master_whose_control_frames_are_forged_or_changed_is_outvoted_and_slots_go_on() {
    for kind in ["{ forged_time = { offset = \"50us\" } }", "{ altered_time = { offset = \"3us\" } }"] {
        let run = attacked(SCENARIO, &format!("kind = {kind}\nat = {{ link = \"b\" }}\nstart = \"400ms\""));
        let precision = run.summary.segments[0].precision.unwrap();
        assert!(precision.measured_ns <= precision.allowed_ns, "{kind}: {precision:?}");
        assert_eq!(held(&run), ALL, "{kind}: {:#?}", run.summary.streams);
        assert!(run.summary.attacks[0].attempts > 40, "{kind}: {:?}", run.summary.attacks);
    }
}

#[test]
fn a_box_that_delays_a_node_puts_its_frames_out_of_their_slots() {
    let run = attacked(SCENARIO, "kind = { delay = { by = \"200us\" } }\nat = { link = \"d\" }\nstart = \"400ms\"");
    let back = stream(&run, "back");
    assert_eq!(back.discarded.keys().collect::<Vec<_>>(), [DiscardReason::OutsideWindow.name()], "{back:#?}");
    assert!(back.discarded_total() > 50, "{back:#?}");
    assert_eq!(held(&run), ["across", "from-the-middle", "picture"], "its clock is outvoted");
}

#[test]
fn a_rogue_grandmaster_moves_all_slots_and_the_run_says_so() {
    let threat = "kind = { rogue_grandmaster = { offset = \"300us\" } }\nat = { node = \"e\" }\nstart = \"6s\"";
    let run = attacked(&with_grandmaster(), threat);
    let lost: u64 = ALL.iter().map(|name| stream(&run, name).failed()).sum();
    assert!(lost < 20, "all move at nearly the same time: {:#?}", run.summary.streams);
    let precision = run.summary.segments[0].precision.unwrap();
    assert!(precision.measured_ns > 290_000, "{precision:?}");
    assert!(!run.summary.deadlines_held());
    // They agree again, by another time.
    let settled = |row: &&EventRow| row.time.since_zero().as_ms_f64() > 7_000.0;
    let is_loss = |kind: EventKind| kind == EventKind::Missing || matches!(kind, EventKind::Discarded(_));
    let late: Vec<_> = run.rows.events.iter().filter(settled).filter(|row| is_loss(row.event.kind)).take(3).collect();
    assert!(late.is_empty(), "{late:?}");
}

/// The time of these segments begins late and drifts by many microseconds in a run: true time is in no slot.
#[test]
fn an_attacker_with_a_port_of_its_own_hits_the_slots_that_these_clocks_say() {
    for (text, start_ms, joined_ms) in [(SCENARIO.to_owned(), 0, 300), (with_grandmaster(), 4_500, 5_500)] {
        for (kind, offset_us) in [("spoof", 0), ("spoof", 40), ("spoof", -30), ("replay", 0)] {
            let place = format!("at = {{ segment = \"network\" }}\nnetwork = {{ at_slot_offset = \"{offset_us}us\" }}");
            // What it repeats it has to have heard.
            let start_ms = if kind == "replay" { joined_ms } else { start_ms };
            let often = format!("start = \"{start_ms}ms\"\nevery = \"11ms\"\ncount = 60");
            let run = attacked(&text, &format!("kind = \"{kind}\"\nstream = \"across\"\n{place}\n{often}"));
            let [attack] = &run.summary.attacks[..] else { panic!("{kind} {offset_us} {:?}", run.summary.attacks) };
            assert_eq!((attack.attempts, attack.stopped_by_schedule), (60, 60), "{kind} {offset_us}: {attack:?}");
            assert_eq!(held(&run), ALL, "{kind} {offset_us}: {:#?}", run.summary.streams);
            assert_eq!(run.summary.clocks.len(), 8, "the clock of an attacker is none that keeps the time");
            let precision = run.summary.segments[0].precision.unwrap();
            assert!(precision.measured_ns <= precision.allowed_ns, "{precision:?}");
            let rows: Vec<_> = run.rows.frames.iter().filter(|row| row.attack.is_some()).collect();
            assert_eq!(rows.len(), 60);
            let mut last = None;
            for row in rows {
                let (sent, slot) = (row.sent_at.unwrap(), row.slot_start.unwrap());
                let into = (sent - slot).as_ns() - offset_us * 1_000;
                assert!(into.abs() < 10_000, "{kind} {offset_us}: {into} ns off at {sent:?}");
                assert!(last.replace(slot).is_none_or(|last| last < slot), "{kind} {offset_us}: two in a slot");
            }
        }
    }
}

#[test]
fn a_forged_frame_on_the_wire_takes_the_slot_of_the_genuine_one() {
    let threat = |stream, node| {
        let place = format!("at = {{ link = \"{node}\" }}");
        format!("kind = \"spoof\"\nstream = \"{stream}\"\n{place}\nstart = \"6s\"\ncount = 60")
    };
    let run = attacked(&with_grandmaster(), &threat("back", "d"));
    let [attack] = &run.summary.attacks[..] else { panic!("{:?}", run.summary.attacks) };
    assert_eq!((attack.attempts, attack.accepted), (60, 60), "{attack:?}");
    let back = stream(&run, "back");
    assert_eq!((back.replaced, back.discarded_total()), (60, 0), "{back:#?}");
    assert_eq!(held(&run), ["across", "from-the-middle", "picture"], "{:#?}", run.summary.streams);

    // On the link of the grandmaster messages wait for forged frames behind their stamps, and with the clocks slots move.
    let run = attacked(&with_grandmaster(), &threat("across", "a"));
    let [attack] = &run.summary.attacks[..] else { panic!("{:?}", run.summary.attacks) };
    assert!(attack.stopped_by_schedule > 0, "{attack:?}");
    assert_eq!(2 * (attack.attempts - attack.stopped_by_schedule), attack.accepted, "two receivers: {attack:?}");
    let precision = run.summary.segments[0].precision.unwrap();
    assert!(precision.measured_ns > 5_000, "{precision:?}");
}
