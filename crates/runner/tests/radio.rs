//! Radio segments of scenarios: simulated and attacked, and what of them is refused live.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::street::{STREET, beyond_the_street};
use chronoseal_catalog::Prepared;
use chronoseal_core::{AttackKind, DiscardReason, EventKind};
use chronoseal_plan::{Plan, RadioSegment};
use chronoseal_results::Outcome;
use chronoseal_runner::{LiveOptions, MeasureError, Run, fingerprint, measure, simulate};
use chronoseal_scenario::{NoFiles, Scenario};

const ATTACKS: &str = r#"
[[threats]]
name = "echo"
kind = "replay"
stream = "awareness"
start = "1500ms"
every = "100ms"
count = 4
[[threats]]
name = "ghost"
kind = "spoof"
stream = "awareness"
start = "2s"
every = "200ms"
count = 3
"#;

fn scenario(text: &str) -> Scenario {
    Scenario::load("street.toml", text.as_bytes(), &[], &NoFiles)
        .unwrap_or_else(|problems| panic!("{}", problems.render()))
}

fn run_of(plan: &Plan) -> Run {
    let prepared = Prepared::new(plan).expect("a radio segment needs no schedule");
    simulate(&prepared, false, &mut |_| true).expect("every part can be built")
}

#[test]
fn vehicles_hear_each_other_at_the_price_of_their_processors() {
    let run = run_of(&scenario(STREET).plan);
    let [cam, denm] = &run.summary.streams[..] else { panic!("two streams") };
    assert!(cam.sent > 40 && cam.delivered > 3 * cam.sent, "{cam:?}");
    // Who has just come knows nobody's certificate for up to a second.
    assert_eq!(cam.discarded.keys().collect::<Vec<_>>(), ["unknown-signer"], "{cam:?}");
    assert!(denm.delivered >= 3 && denm.held(), "{denm:?}");
    let least = cam.end_to_end.all.expect("some were received").min_ns;
    assert!(least > 400_000, "airtime and a check: {least}");
    assert!(run.summary.work.iter().any(|work| work.node == "roadside" && work.operation == "p256-verify"));
    assert_eq!(run.meta.streams[0].protection, "ieee-1609.2");
    assert_eq!(run.meta.streams[0].unbounded.as_deref(), Some("not bounded: radio"));
    let frames = run.rows.segments.iter().find(|series| series.name == "frames").expect("the channel counts");
    assert_eq!(frames.values[0] as u64, cam.sent + denm.sent);
}

#[test]
fn a_repeated_message_is_replayed_and_a_made_up_one_has_no_root() {
    let run = run_of(&scenario(&(STREET.to_owned() + ATTACKS)).plan);
    let reasons = |attack: AttackKind| {
        let of_attack = run.rows.frames.iter().filter(move |row| row.attack == Some(attack));
        of_attack.map(|row| row.outcome).collect::<Vec<_>>()
    };
    let replayed = reasons(AttackKind::Replay);
    assert!(replayed.len() >= 4 * 4, "{}", replayed.len());
    let newcomers = replayed.iter().filter(|outcome| **outcome != Outcome::Discarded(DiscardReason::Replayed)).count();
    assert!(newcomers * 4 < replayed.len(), "only who knew nobody yet says another reason: {replayed:?}");
    assert!(!replayed.contains(&Outcome::Discarded(DiscardReason::TagMismatch)));
    let forged = reasons(AttackKind::Spoof);
    assert!(forged.len() >= 3 * 4, "{}", forged.len());
    // Its certificate goes along once a second; what comes between names one that nobody has learned.
    let refused = [DiscardReason::IncompleteChain, DiscardReason::UnknownSigner].map(Outcome::Discarded);
    assert!(forged.iter().all(|outcome| refused.contains(outcome)) && forged.contains(&refused[0]), "{forged:?}");
    let [spoof, replay] = &run.summary.attacks[..] else { panic!("two attacks: {:?}", run.summary.attacks) };
    assert_eq!((spoof.attempts, spoof.accepted, spoof.stopped_by_tag), (3, 0, forged.len() as u64));
    assert_eq!((replay.attempts, replay.accepted), (4, 0));
    assert_eq!(run.summary.streams[0].replaced, 0);
}

#[test]
fn unsigned_messages_are_believed_whoever_makes_them_up() {
    let text = STREET.replacen("path_loss", "security = \"none\"\npath_loss", 1) + ATTACKS;
    let run = run_of(&scenario(&text).plan);
    assert!(run.summary.attacks.iter().all(|attack| attack.accepted > 0), "{:?}", run.summary.attacks);
    assert_eq!(run.meta.streams[0].protection, "none");
}

#[test]
fn a_station_under_another_root_is_believed_by_nobody() {
    let text = STREET.replacen("station = {}", "station = { trust = \"foreign\" }", 1);
    let text = text.replacen("from = \"street\"", "from = \"roadside\"", 1);
    let run = run_of(&scenario(&text).plan);
    let cam = &run.summary.streams[0];
    assert!(cam.sent > 1 && cam.delivered == 0, "{cam:?}");
    let reasons: Vec<_> = cam.discarded.keys().map(String::as_str).collect();
    assert!(reasons.contains(&"incomplete-chain"), "{reasons:?}");
}

const SERVICES: &str = r#"
[[nodes]]
name = "walker"
platform = "unit"
clock = "ideal"
station = { x = "150m", y = "-8m", speed = "2m/s" }
[[streams]]
name = "perception"
from = "street"
period = "100ms"
street = { message = "cpm", range = "150m" }
[[streams]]
name = "pedestrian"
from = "walker"
period = "100ms"
street = { message = "vam" }
"#;

#[test]
fn time_on_the_air_is_counted_by_kind_of_message() {
    let run = run_of(&scenario(&(STREET.to_owned() + SERVICES)).plan);
    let street = run.summary.segment("street").expect("there is one");
    let of = |name: &str| street.series(name).map(|series| series.total);
    let by_kind = ["cam", "cpm", "denm", "vam"].map(|kind| of(&format!("on the air: {kind}")).expect("it was sent"));
    assert_eq!(Some(by_kind.iter().sum()), of("on the air"));
    assert_eq!(of("on the air: none of these"), None);
    // 40 us before the first symbol, and 8 us each; no message signed here is shorter than 150 bytes or longer than 1,000.
    let symbols = |len: i64| (8 * len + 22 + 47) / 48;
    for (stream, airtime_ns) in [0, 2, 1, 3].map(|at| &run.summary.streams[at]).into_iter().zip(by_kind) {
        let of_each = [150, 1_000].map(|len| stream.sent as i64 * 1_000 * (40 + 8 * symbols(len)));
        assert!(of_each[0] < airtime_ns && airtime_ns < of_each[1], "{}: {airtime_ns} of {of_each:?}", stream.sent);
    }
    let without = run_of(&scenario(STREET).plan);
    let street = without.summary.segment("street").expect("there is one");
    assert!(street.series("on the air: vam").is_none() && street.series("on the air: denm").is_some());
}

/// How often the roadside unit did something.
fn of_roadside(run: &Run, operation: &str) -> u64 {
    let at_it = run.summary.work.iter().filter(|work| work.node == "roadside" && work.operation == operation);
    at_it.map(|work| work.duration.n).sum()
}

#[test]
fn what_is_perceived_and_who_walks_is_signed_heard_and_paid_for() {
    let without = run_of(&scenario(STREET).plan);
    let run = run_of(&scenario(&(STREET.to_owned() + SERVICES)).plan);
    let [cam, denm, cpm, vam] = &run.summary.streams[..] else { panic!("four streams") };
    assert!(cpm.sent > 40 && cpm.delivered > 3 * cpm.sent, "{cpm:?}");
    // 2 m/s: more than 4 m after 2.1 s.
    assert!(vam.sent == 2 && vam.delivered >= vam.sent * 6, "{vam:?}");
    for stream in [cam, cpm, vam] {
        assert!(stream.discarded.keys().all(|reason| reason == "unknown-signer"), "{stream:?}");
    }
    assert!(denm.held(), "{denm:?}");
    let classes: Vec<_> = run.meta.streams.iter().map(|stream| stream.class.as_str()).collect();
    assert_eq!(classes, ["cam", "denm", "cpm", "vam"]);
    // The channel carries them, and processors verify them.
    let series = |run: &Run, name: &str| {
        let found = run.rows.segments.iter().find(|series| series.name == name);
        found.expect("the channel counts").values.iter().sum::<i64>()
    };
    assert_eq!(series(&run, "frames") as u64, cam.sent + denm.sent + cpm.sent + vam.sent);
    assert!(of_roadside(&run, "p256-verify") > 3 * of_roadside(&without, "p256-verify") / 2);
}

#[test]
fn made_up_perceptions_are_refused_and_the_rest_is_the_same_each_time() {
    let attacks = ATTACKS.replace("stream = \"awareness\"", "stream = \"perception\"");
    let plan = scenario(&(STREET.to_owned() + SERVICES + &attacks)).plan;
    let (with, without) = (run_of(&plan), run_of(&without_table(&plan)));
    assert_eq!(with.meta.fingerprint, without.meta.fingerprint);
    assert_eq!(with.rows.frames, without.rows.frames);
    for attack in &with.summary.attacks {
        assert_eq!((attack.attempts, attack.accepted), (if attack.attack == "spoof" { 3 } else { 4 }, 0), "{attack:?}");
    }
}

#[test]
fn what_is_perceived_goes_on_behind_a_gateway() {
    let text = beyond_the_street().replacen("message = \"denm\" }", "message = \"cpm\" }", 1);
    let text = text.replacen(
        "to = [\"cluster\", \"lamps\"]\nbody = { id = \"0x120\", format = \"fd\" }",
        "to = [\"cluster\"]",
        1,
    );
    let run = run_of(&scenario(&text).plan);
    let cpm = &run.summary.streams[1];
    assert!(cpm.delivered > 10, "{cpm:?}");
}

/// The same plan, every message taken apart and verified by each of its receivers.
fn without_table(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    let radio: &mut RadioSegment = plan.segments[0].facet.get_mut().expect("a radio segment");
    Arc::make_mut(&mut radio.fleet).shares_verification = false;
    plan
}

#[test]
fn without_the_table_of_frames_a_run_gives_the_same_bytes() {
    let text = STREET.replacen("platform = \"unit\"", "platform = \"unit\", pseudonyms = { policy = \"together\" }", 1);
    let plan = scenario(&(text + ATTACKS)).plan;
    let (with, without) = (run_of(&plan), run_of(&without_table(&plan)));
    assert_eq!(with.meta.fingerprint, without.meta.fingerprint);
    assert_eq!(with.rows.frames, without.rows.frames);
    assert!(with.rows.events.iter().any(|row| row.event.kind == EventKind::Delivered));
}

#[test]
fn one_prepared_plan_runs_the_same_again_and_other_seeds_do_not() {
    let text = STREET.replacen("platform = \"unit\"", "pseudonyms = { policy = \"swap\" }", 1);
    let scenario = scenario(&text.replace("duration = \"3s\"", "duration = \"4s\""));
    let prepared = Prepared::new(&scenario.plan).expect("a radio segment needs no schedule");
    let first = fingerprint(&prepared).expect("every part can be built");
    assert_eq!(fingerprint(&prepared).expect("every part can be built"), first);
    let other = scenario.with(&[("seed", "2")]).expect("another seed");
    let other = Prepared::new(&other.plan).expect("a radio segment needs no schedule");
    assert_ne!(fingerprint(&other).expect("every part can be built"), first);
}

/// Nobody hears all others: what is on the air at once is more than one channel carries.
#[test]
fn a_town_of_a_thousand_vehicles_is_simulated() {
    let (few, many) = ("length = \"300m\", lanes = 2, vehicles = 8", "length = \"4km\", lanes = 5, vehicles = 1000");
    let text = STREET
        .replacen(few, &format!("{many}, speed = \"14m/s\""), 1)
        .replacen("warm_up = \"20s\"", "warm_up = \"300s\"", 1)
        .replacen("path_loss = { disc = { range = \"2km\" } }", "", 1)
        .replacen("duration = \"3s\"", "duration = \"1200ms\"", 1)
        .replacen("street = { message = \"denm\" }", "street = { message = \"denm\", at = \"200ms\" }", 1);
    let plan = scenario(&text).plan;
    let vehicles = plan.node_ids().count() - 1;
    assert!((1_000..1_200).contains(&vehicles), "{vehicles}");
    let run = run_of(&plan);
    let [cam, denm] = &run.summary.streams[..] else { panic!("two streams") };
    // Each tells where it is within its first second.
    assert!(cam.sent >= 1_000 && cam.delivered >= 20 * cam.sent, "{} sent, {} received", cam.sent, cam.delivered);
    assert!(cam.delivered <= 400 * cam.sent && denm.sent == 2, "{} received, {denm:?}", cam.delivered);
    let overlapped = run.rows.segments.iter().find(|series| series.name == "lost to others at the same time");
    assert!(overlapped.expect("the channel counts").values[0] > 10_000);
}

#[test]
fn more_stations_than_a_live_run_has_room_for_are_refused_with_the_limit() {
    let (few, many) = ("length = \"300m\", lanes = 2, vehicles = 8", "length = \"2km\", lanes = 4, vehicles = 300");
    let text = STREET.replacen(few, many, 1).replacen("warm_up = \"20s\"", "warm_up = \"60s\"", 1);
    let many = scenario(&text);
    let prepared = Prepared::new(&many.plan).expect("a radio segment needs no schedule");
    let refused =
        measure(&prepared, many.texts(), &LiveOptions::default(), &AtomicBool::new(false)).expect_err("too many");
    assert!(matches!(refused, MeasureError::NotLive { .. }));
    let (said, stations) = (refused.to_string(), many.plan.node_ids().count());
    assert!(said.starts_with(&format!("segment street: {stations} stations")), "{said}");
    assert!(stations > 200 && said.contains("room for 200") && said.contains("--engine sim"), "{said}");
}

#[test]
fn a_warning_heard_by_radio_goes_on_over_ethernet_and_can() {
    let run = run_of(&scenario(&beyond_the_street()).plan);
    let denm = &run.summary.streams[1];
    assert!(denm.delivered >= 6, "{denm:?}");
    assert_eq!((denm.discarded_total(), denm.late), (0, 0), "{denm:?}");
    let came_to = |name: &str| {
        let rows = run.rows.frames.iter().filter(|row| row.stream.0 == 1 && row.outcome == Outcome::Delivered);
        rows.filter(|row| run.meta.node_name(row.at.0) == name).count() as u64
    };
    assert_eq!(
        (came_to("cluster"), came_to("lamps"), came_to("roadside")),
        (denm.delivered / 2, denm.delivered / 2, 0)
    );
    let least = denm.end_to_end.all.expect("some came").min_ns;
    assert!(least > 1_000_000, "the air, a check of 800 us with its certificate, a gateway and a link: {least}");
    let hops: Vec<_> = run.rows.hops.iter().filter(|hop| hop.stream.0 == 1).map(|hop| hop.segment).collect();
    assert!([0, 1, 2].iter().all(|segment| hops.contains(segment)), "{hops:?}");
}
