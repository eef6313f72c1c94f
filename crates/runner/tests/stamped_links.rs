//! Attackers that make up frames on a link whose messages of IEEE 802.1AS are stamped: their frames take their time there, and what comes
//! behind the stamps shows in the clocks.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;

use chronoseal_catalog::Prepared;
use chronoseal_core::EventKind;
use chronoseal_results::{AttackSummary, StreamSummary};
use chronoseal_runner::{Run, simulate};
use chronoseal_scenario::{NoFiles, Scenario};

const STAR: &str = r#"
schema_version = 2
name = "star"
duration = "7s"
[segments.network.ethernet]
rate = "1Gbit/s"
cluster_cycle = "10ms"
precision = "1us"
propagation_delay = "100ns"
class = { best_effort = {} }
sync = { gptp = { systems = [{ names = ["gm"], priority1 = 100 }] } }
[[nodes]]
name = "gm"
clock = { fixed = { offset = "0s", drift = "100ppm" } }
[[nodes]]
name = "a"
clock = { fixed = { offset = "-40us", drift = "-100ppm" } }
[[nodes]]
name = "b"
clock = { fixed = { offset = "1s", drift = "30ppm" } }
[[streams]]
name = "camera"
from = "gm"
to = ["b"]
period = "1ms"
offset = "300us"
length = "1400B"
[[streams]]
name = "radar"
from = "a"
to = ["gm"]
period = "1ms"
length = "1400B"
"#;

fn run(text: &str) -> Run {
    let scenario = Scenario::load("star.toml", text.as_bytes(), &[], &NoFiles)
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    simulate(&Prepared::new(&scenario.plan).unwrap(), false, &mut |_| true).unwrap()
}

fn attacked(text: &str, threat: &str) -> Run {
    run(&format!("{text}\n[[threats]]\nname = \"attack\"\n{threat}\n"))
}

/// The largest difference of clocks over the run `[ns]`.
fn difference(run: &Run) -> i64 {
    run.summary.segments[0].precision.unwrap().measured_ns
}

fn stream<'r>(run: &'r Run, name: &str) -> &'r StreamSummary {
    run.summary.streams.iter().find(|stream| stream.name == name).unwrap()
}

/// The only attack, all of whose frames are in one column.
fn attack(run: &Run) -> &AttackSummary {
    let [attack] = &run.summary.attacks[..] else { panic!("{:?}", run.summary.attacks) };
    let told = attack.stopped() + attack.in_flight + attack.accepted;
    assert!((told..told + 100).contains(&attack.attempts), "what was sent last is still on its way: {attack:?}");
    attack
}

/// What the longest way took, less the shortest `[ns]`.
fn spread(run: &Run, name: &str) -> i64 {
    let latency = stream(run, name).end_to_end.all.unwrap();
    latency.max_ns - latency.min_ns
}

/// 1424 bytes with header, tag and what the test bed puts before, and 24 more on the wire.
const FRAME_NS: i64 = 11_500;

#[test]
fn a_genuine_frame_waits_for_the_forged_one_before_it_as_with_any_other_clocks() {
    let spoof = "kind = \"spoof\"\nstream = \"camera\"\nat = { link = \"gm\" }\nstart = \"6s\"\ncount = 1000";
    let (calm, stamped) = (run(STAR), attacked(STAR, spoof));
    let gptp = "sync = { gptp = { systems = [{ names = [\"gm\"], priority1 = 100 }] } }";
    let plain = attacked(&STAR.replace(gptp, "sync = \"beacon\""), spoof);
    for run in [&stamped, &plain] {
        let summary = attack(run);
        assert_eq!((summary.attempts, summary.accepted), (1_000, 1_000), "nothing protects the stream: {summary:?}");
        assert_eq!(stream(run, "camera").failed(), 0);
    }
    assert!(spread(&calm, "camera") < 2_000, "{} ns", spread(&calm, "camera"));
    for run in [&stamped, &plain] {
        let waits = spread(run, "camera") - spread(&calm, "camera");
        assert!((waits - FRAME_NS).abs() < 1_000, "{waits} ns");
    }
}

/// The attacker sits behind the stamps: a message that waits for its frames counts as one that the wire made late.
#[test]
fn frames_put_in_behind_the_stamps_make_messages_late_and_the_clocks_show_it() {
    let text = STAR.replacen(
        "length = \"1400B\"",
        "length = \"1400B\"\nnetwork = { class = { rate_constrained = { bag = \"1ms\" } } }",
        1,
    );
    let calm = run(&text);
    assert!(difference(&calm) < 500, "{} ns", difference(&calm));
    // More than half of the link is in use by these frames, of which the switch lets hardly any pass.
    let run = attacked(
        &text,
        "kind = \"spoof\"\nstream = \"camera\"\nat = { link = \"gm\" }\nstart = \"6s\"\nevery = \"20us\"\ncount = 20000",
    );
    let summary = attack(&run);
    assert!(summary.attempts == 20_000 && summary.stopped_by_capacity > 18_000, "{summary:?}");
    assert!((1_000..FRAME_NS + 500).contains(&difference(&run)), "{} ns", difference(&run));
    assert!(!run.summary.deadlines_held(), "clocks are further apart than the precision");
}

/// A node that babbles does so in front of its stamps: a message that waits there is stamped when it leaves.
#[test]
fn what_a_node_babbles_leaves_before_its_stamps() {
    let run = attacked(
        STAR,
        "kind = \"babble\"\nstream = \"radar\"\nat = { link = \"a\" }\nstart = \"6s\"\nevery = \"20us\"\ncount = 20000",
    );
    let summary = attack(&run);
    assert_eq!((summary.attempts, summary.accepted), (20_000, 20_000), "{summary:?}");
    assert!(difference(&run) < 500, "{} ns", difference(&run));
    let lost: u64 = run.summary.clocks.iter().map(|clock| clock.lost).sum();
    assert_eq!(lost, 0, "{:?}", run.summary.clocks);
    assert!(spread(&run, "radar") > FRAME_NS / 2, "its own frames wait: {} ns", spread(&run, "radar"));

    // At the rate of its link it leaves no room for its own frames, and its messages wait.
    let run = attacked(STAR, "kind = \"babble\"\nstream = \"radar\"\nat = { link = \"a\" }\nstart = \"6700ms\"");
    let summary = attack(&run);
    assert!(summary.attempts > 20_000 && summary.in_flight < 100, "{summary:?}");
    assert!(stream(&run, "radar").failed() > 100, "{:?}", stream(&run, "radar"));
    assert!(difference(&run) < 500, "what is stamped late is stamped right: {} ns", difference(&run));
}

/// With MACsec on its links, whose processing takes time on both sides.
fn secured() -> String {
    let macsec = "macsec = { protect = { base = \"2us\", per_byte = \"100ps\" }, check = { base = \"1us\" } }\nsync = ";
    STAR.replace("sync = ", macsec).replace("period = \"1ms\"", "period = \"10ms\"")
}

/// Messages of IEEE 802.1AS go through the SecY of their station, as all frames do.
#[test]
fn messages_that_are_really_protected_keep_clocks_as_those_that_are_not() {
    let calm = run(&secured());
    // It gets every frame into its hands, and its only attempt comes when the run is over.
    let watched =
        attacked(&secured(), "kind = \"withhold\"\nstream = \"camera\"\nat = { link = \"gm\" }\nstart = \"6999999us\"");
    assert!(difference(&calm) < 500, "{} ns", difference(&calm));
    assert_eq!(difference(&watched), difference(&calm));
    assert_eq!(format!("{:?}", watched.summary.clocks), format!("{:?}", calm.summary.clocks));
    for name in ["camera", "radar"] {
        let [calm, watched] = [&calm, &watched].map(|run| stream(run, name).end_to_end.all.unwrap());
        assert_eq!((calm.min_ns, calm.max_ns), (watched.min_ns, watched.max_ns), "{name}");
    }
}

#[test]
fn nothing_that_is_made_up_or_changed_on_a_protected_link_is_believed() {
    let cases = [
        ("\"spoof\"\nstream = \"camera\"\ncount = 100", "untagged"),
        ("\"tamper\"\nstream = \"camera\"\ncount = 100", "tag-mismatch"),
        ("\"replay\"\nstream = \"camera\"\ncount = 100", "freshness-too-old"),
        ("{ forged_time = { offset = \"30us\" } }", "untagged"),
    ];
    for (kind, reason) in cases {
        let run = attacked(&secured(), &format!("kind = {kind}\nat = {{ link = \"gm\" }}\nstart = \"6s\""));
        let summary = attack(&run);
        let stopped = summary.stopped_by_tag + summary.stopped_by_freshness;
        assert!(summary.attempts >= 24 && stopped == summary.attempts, "{kind}: {summary:?}");
        let ended = run.rows.events.iter().filter(|row| matches!(row.event.kind, EventKind::Discarded(_)));
        let reasons: BTreeSet<&str> = ended
            .filter_map(|row| match row.event.kind {
                EventKind::Discarded(reason) => Some(reason.name()),
                _ => None,
            })
            .collect();
        assert_eq!(reasons, BTreeSet::from([reason]), "{kind}");
        let lost: u64 = run.summary.clocks.iter().map(|clock| clock.lost).sum();
        assert_eq!(lost, 0, "{kind}: {:?}", run.summary.clocks);
        // What is put in makes messages wait, though nobody believes it.
        assert!(difference(&run) < FRAME_NS + 500, "{kind}: {} ns", difference(&run));
    }
    // Nobody but who has the key can read which message tells the time.
    let altered =
        attacked(&secured(), "kind = { altered_time = { offset = \"20us\" } }\nat = { link = \"gm\" }\nstart = \"6s\"");
    assert!(altered.summary.attack_attempts() == 0 && difference(&altered) < 500, "{:?}", altered.summary.attacks);
    // A box in the way of protected messages makes them late, as it does all others.
    let delayed = attacked(&secured(), "kind = { delay = { by = \"400ns\" } }\nat = { link = \"gm\" }\nstart = \"6s\"");
    assert!((400..600).contains(&difference(&delayed)), "{} ns", difference(&delayed));
}
