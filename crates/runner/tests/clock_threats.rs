//! Attacks on clocks: what they do to the difference of clocks, and what stops them.
#![allow(clippy::unwrap_used, reason = "tests")]

use chronoseal_catalog::Prepared;
use chronoseal_core::{EventKind, NodeId};
use chronoseal_results::AttackSummary;
use chronoseal_runner::{Run, simulate};
use chronoseal_scenario::{NoFiles, Scenario};

/// A star of IEEE 802.1AS without an attack.
const STAR: &str = r#"
schema_version = 2
name = "star"
duration = "12s"
[segments.network.ethernet]
rate = "1Gbit/s"
cluster_cycle = "10ms"
precision = "1us"
propagation_delay = "100ns"
class = { best_effort = {} }
sync = { gptp = { systems = [{ names = ["gm"], priority1 = 100 }] } }
[[nodes]]
name = "gm"
clock = { fixed = { offset = "5ms", drift = "100ppm" } }
[[nodes]]
name = "a"
clock = { fixed = { offset = "-40us", drift = "-100ppm" } }
[[nodes]]
name = "b"
clock = { fixed = { offset = "1s", drift = "30ppm" } }
[[streams]]
name = "camera"
from = "gm"
to = ["b", "a"]
period = "1ms"
length = "1400B"
"#;

/// A cluster of AS6802 without an attack.
const CLUSTER: &str = r#"
schema_version = 2
name = "cluster"
duration = "2s"
[segments.network.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
precision = "10us"
class = { best_effort = {} }
sync = { as6802 = { masters = ["a", "b", "c", "d"] } }
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
"#;

fn attacked(text: &str, threat: &str) -> Run {
    let text = format!("{text}\n[[threats]]\nname = \"attack\"\n{threat}\n");
    let scenario = Scenario::load("attacked.toml", text.as_bytes(), &[], &NoFiles)
        .unwrap_or_else(|problems| panic!("{problems:?}"));
    simulate(&Prepared::new(&scenario.plan).unwrap(), false, &mut |_| true).unwrap()
}

/// The largest difference of clocks over the run `[ns]`.
fn difference(run: &Run) -> i64 {
    run.summary.segments[0].precision.unwrap().measured_ns
}

/// The same in the last second, when every link has been measured again `[ns]`.
fn difference_in_the_end(run: &Run) -> i64 {
    let is_it = |series: &&chronoseal_results::rows::SegmentSeries| {
        series.name == "largest difference of clocks" && series.window.is_some()
    };
    let series = run.rows.segments.iter().find(is_it).unwrap();
    assert_eq!(series.window.unwrap().as_ns(), 10_000_000);
    *series.values.iter().rev().take(100).max().unwrap()
}

fn lost(run: &Run, node: &str) -> u64 {
    run.summary.clocks.iter().find(|clock| clock.node == node).unwrap().lost
}

fn attack(run: &Run) -> &AttackSummary {
    let [attack] = &run.summary.attacks[..] else { panic!("{:?}", run.summary.attacks) };
    attack
}

/// IEEE 802.1AS-2020 §11.1.2: the delay of a link counts as the same in both directions. Until it is measured again, it counts as it was,
/// and clocks are off by all that the box adds.
#[test]
fn a_box_that_delays_one_direction_shifts_the_clocks_behind_it_by_half_the_delay() {
    for (by_ns, precision) in [(400, "1us"), (1_200, "500ns")] {
        let threat = format!("kind = {{ delay = {{ by = \"{by_ns}ns\" }} }}\nat = {{ link = \"gm\" }}\nstart = \"6s\"");
        let text = STAR.replace("precision = \"1us\"", &format!("precision = \"{precision}\""));
        // What is measured of the link is an average of many times.
        let run = attacked(&text.replace("duration = \"12s\"", "duration = \"40s\""), &threat);
        let (at_first, in_the_end) = (difference(&run), difference_in_the_end(&run));
        assert!((by_ns..by_ns * 5 / 4).contains(&at_first), "{by_ns} ns: {at_first} ns");
        assert!((by_ns / 2 - 40..by_ns / 2 + 40).contains(&in_the_end), "{by_ns} ns: {in_the_end} ns");
        assert_eq!(run.summary.deadlines_held(), precision == "1us", "above the precision the run has failed");
        assert!(attack(&run).attempts > 30_000, "every frame is delayed: {:?}", attack(&run));
        assert_eq!(lost(&run, "gm"), 0);
    }
}

#[test]
fn over_a_link_that_a_box_makes_too_long_no_time_is_taken() {
    let text = STAR.replace("duration = \"12s\"", "duration = \"20s\"");
    let run = attacked(&text, "kind = { delay = { by = \"3us\" } }\nat = { link = \"gm\" }\nstart = \"6s\"");
    assert_eq!(lost(&run, "gm"), 1, "its port is not asCapable any more");
    let follows = |node: u16| {
        let mut changes = run.rows.events.iter().filter(|row| row.event.kind == EventKind::GrandmasterChanged);
        changes.rfind(|row| row.node == NodeId(node)).unwrap().event.sequence
    };
    assert_ne!(follows(1), 0, "the others choose another one");
    assert_eq!(follows(1), follows(2));
    assert!(!run.summary.deadlines_held());
}

#[test]
fn whoever_claims_to_be_the_best_clock_is_followed_and_is_seen_against_the_time_before() {
    let claim = |more: &str| {
        let kind = format!("kind = {{ rogue_grandmaster = {{ {more} }} }}");
        attacked(STAR, &format!("{kind}\nat = {{ node = \"a\" }}\nstart = \"6s\""))
    };
    let off = claim("offset = \"50us\"");
    assert!((50_000..51_000).contains(&difference(&off)), "{} ns", difference(&off));
    let mut followed = off.rows.events.iter().filter(|row| row.event.kind == EventKind::GrandmasterChanged);
    assert_eq!(followed.rfind(|row| row.node == NodeId(2)).unwrap().event.sequence, 1);
    assert_eq!((attack(&off).attack.as_str(), attack(&off).attempts), ("rogue-grandmaster", 1));
    assert_eq!(attack(&off).accepted, 3, "the switch and two stations follow it");
    assert!(!off.summary.deadlines_held());
    // 2 ppm in 6 s are 12 us.
    let drifting = claim("drift = \"2ppm\"");
    assert!((11_000..13_000).contains(&difference(&drifting)), "{} ns", difference(&drifting));
    let honest = claim("");
    assert!(difference(&honest) < 1_000, "who claims and does not lie goes on where the other left off");
}

#[test]
fn a_follow_up_that_is_changed_on_its_way_shifts_all_clocks_behind_it() {
    let run = attacked(STAR, "kind = { altered_time = { offset = \"20us\" } }\nat = { link = \"gm\" }\nstart = \"6s\"");
    assert!((19_900..20_200).contains(&difference(&run)), "{} ns", difference(&run));
    assert!((40..=48).contains(&attack(&run).accepted), "one in 125 ms: {:?}", attack(&run));
    assert!(!run.summary.deadlines_held());
    // Nothing of it comes by where no grandmaster is.
    let run = attacked(STAR, "kind = { altered_time = { offset = \"20us\" } }\nat = { link = \"a\" }\nstart = \"6s\"");
    assert!(difference(&run) < 1_000 && run.summary.attack_attempts() == 0);
}

#[test]
fn messages_made_up_on_a_link_are_believed_and_from_a_port_of_its_own_they_are_not() {
    let kind = "kind = { forged_time = { offset = \"30us\" } }";
    let on_link = attacked(STAR, &format!("{kind}\nat = {{ link = \"a\" }}\nstart = \"6s\""));
    // The forger serves true time and 30 us, and the grandmaster's clock began 5 ms ahead of that.
    assert!(difference(&on_link) > 1_000_000, "{} ns", difference(&on_link));
    assert!(attack(&on_link).accepted > 100, "{:?}", attack(&on_link));
    let kind = "kind = { forged_time = { offset = \"30us\", of = \"gm\" } }";
    let at_port = attacked(STAR, &format!("{kind}\nat = {{ segment = \"network\" }}\nstart = \"6s\""));
    assert!(difference(&at_port) < 1_000, "{} ns", difference(&at_port));
    let summary = attack(&at_port);
    assert!(summary.accepted == 0 && summary.stopped_by_schedule > 100, "no delay is known there: {summary:?}");
    assert!(at_port.summary.deadlines_held());
}

/// A Sync that is made up takes its time on the link, as the one does that it stands for: what it tells is off by no more than was meant.
#[test]
fn a_forged_time_is_ahead_by_what_it_says() {
    // While clocks choose between the true and the forged one they would drift apart.
    let drifts = ["100ppm", "-100ppm", "30ppm"];
    let text = drifts.iter().fold(STAR.replace("5ms", "0s"), |text, drift| text.replace(drift, "0ppm"));
    let forged = "kind = { forged_time = { offset = \"30us\" } }\nat = { link = \"a\" }\nstart = \"6050ms\"";
    let run = attacked(&text, forged);
    assert!((29_900..30_100).contains(&difference(&run)), "{} ns", difference(&run));
}

/// The defence of a cluster of AS6802: of four masters one may be faulty, whatever it or somebody on its link says.
#[test]
fn one_master_whose_control_frames_are_attacked_is_outvoted() {
    let calm = attacked(CLUSTER, "kind = \"tamper\"\nstream = \"camera\"\nat = { link = \"a\" }\nstart = \"1s\"");
    for kind in [
        "{ delay = { by = \"3us\" } }",
        "{ delay = { by = \"200us\" } }",
        "{ altered_time = { offset = \"3us\" } }",
        "{ altered_time = { offset = \"50us\" } }",
        "{ forged_time = { offset = \"2us\" } }",
        "{ forged_time = { offset = \"50us\" } }",
    ] {
        let threat = format!("kind = {kind}\nat = {{ link = \"b\" }}\nstart = \"1s\"");
        let run = attacked(CLUSTER, &threat);
        let others = run.summary.clocks.iter().filter(|clock| clock.node != "b");
        assert!(others.clone().all(|clock| clock.lost == 0), "{kind}: {:?}", run.summary.clocks);
        assert!(difference(&run) <= 10_000, "{kind}: {} ns, and {} ns without", difference(&run), difference(&calm));
        assert!(attack(&run).attempts > 80, "{kind}: {:?}", attack(&run));
    }
}

#[test]
fn control_frames_from_a_port_that_is_no_masters_are_refused() {
    let kind = "kind = { forged_time = { offset = \"5us\", of = \"a\" } }";
    let run = attacked(CLUSTER, &format!("{kind}\nat = {{ segment = \"network\" }}\nstart = \"1s\""));
    let summary = attack(&run);
    assert!(summary.accepted == 0 && summary.stopped_by_schedule > 90, "{summary:?}");
    assert!(run.summary.deadlines_held());
}

#[test]
fn the_same_attack_gives_the_same_bytes() {
    let threat = "kind = { forged_time = { offset = \"30us\" } }\nat = { link = \"a\" }\nstart = \"6s\"";
    let [first, again] = [0, 1].map(|_| format!("{:?}", attacked(STAR, threat).rows.events));
    assert_eq!(first, again);
}
