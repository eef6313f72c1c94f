//! Stations that babble, floods and delays: what they become, and what a person sees for each thing that is wrong.

use chronoseal_core::Duration;
use chronoseal_plan::Plan;
use chronoseal_plan::{AttackPlace, ThreatKind, ThreatPlan};
use chronoseal_scenario::{Code, NoFiles, load};

const FILTERS: &str = include_str!("stream_filters.toml");

/// The scenario with one threat.
fn text(threat: &str) -> String {
    format!("{FILTERS}\n[[threats]]\nname = \"threat\"\n{threat}\n")
}

fn plan(threat: &str) -> Plan {
    load("threats.toml", text(threat).as_bytes(), &[], &NoFiles)
        .unwrap_or_else(|problems| panic!("{}", problems.render()))
}

/// What is wrong with a threat: name, code, threat, part of the message.
const CASES: &[(&str, Code, &str, &str)] = &[
    ("babble_at_no_node", Code::ThreatPlace, "kind = \"babble\"\nat = { segment = \"backbone\" }", "at its own port"),
    ("babble_of_a_receiver", Code::ThreatPlace, "kind = \"babble\"\nat = { link = \"brain\" }", "sends no stream"),
    (
        "babble_in_anothers_name",
        Code::ThreatPlace,
        "kind = \"babble\"\nstream = \"echo\"\nat = { link = \"camera\" }",
        "does not enter",
    ),
    ("babble_of_no_stream", Code::UnknownName, "kind = \"babble\"\nstream = \"eco\"\nat = { link = \"radar\" }", "eco"),
    ("flood_on_a_link", Code::ThreatPlace, "kind = \"flood\"\nat = { link = \"radar\" }", "port of its own"),
    (
        "delay_of_all_at_a_port",
        Code::ThreatPlace,
        "kind = { delay = { by = \"1ms\" } }\nat = { segment = \"backbone\" }",
        "no node's frames pass",
    ),
    (
        "delay_at_a_port",
        Code::ThreatPlace,
        "kind = { delay = { by = \"1ms\" } }\nstream = \"echo\"\nat = { segment = \"backbone\" }",
        "not delay what others send",
    ),
    (
        "delay_too_long",
        Code::OutOfRange,
        "kind = { delay = { by = \"11s\" } }\nstream = \"echo\"\nat = { link = \"radar\" }",
        "the delay",
    ),
];

#[test]
fn every_problem_of_threats_on_the_wires_is_shown_with_its_place() {
    for (name, code, threat, part) in CASES {
        let problems = load("threats.toml", text(threat).as_bytes(), &[], &NoFiles).expect_err(name);
        let found = problems.list().iter().find(|problem| problem.code == *code && problem.message.contains(part));
        let found = found.unwrap_or_else(|| panic!("{name}: {}", problems.render()));
        assert!(!found.labels.is_empty() && found.help.as_ref().is_some_and(|help| !help.is_empty()), "{name}");
        insta::assert_snapshot!(*name, problems.render());
    }
}

fn only(plan: &Plan) -> (&ThreatPlan, AttackPlace) {
    let [threat] = &plan.threats[..] else { panic!("{:?}", plan.threats) };
    (threat, plan.attackers[usize::from(threat.attacker)].place)
}

#[test]
fn what_babbles_sends_at_the_rate_of_its_link_until_the_end_of_the_run() {
    // An echo has 14 + 4 + 100 bytes, and 24 beyond these, on a link of 1 Gbit/s.
    let of_one = plan("kind = \"babble\"\nstream = \"echo\"\nat = { link = \"radar\" }\nstart = \"999ms\"");
    let (threat, place) = only(&of_one);
    assert!(matches!(threat.kind, ThreatKind::Babble(Some(_))) && matches!(place, AttackPlace::OnLink(..)));
    assert_eq!(threat.every, Duration::from_ns(8 * (118 + 24)));
    assert_eq!(threat.count, 881, "as many begin in the last millisecond");
    // Of several in turn the shortest frame there is.
    let of_all = plan("kind = \"flood\"\nat = { segment = \"backbone\" }\ncount = 7");
    let (threat, place) = only(&of_all);
    assert!(matches!(threat.kind, ThreatKind::Flood(None)) && matches!(place, AttackPlace::OnSegment(_)));
    assert_eq!((threat.every, threat.count), (Duration::from_ns(672), 7));
    let written = plan("kind = \"babble\"\nat = { link = \"radar\" }\nevery = \"1ms\"\nstart = \"500ms\"");
    assert_eq!((only(&written).0.every, only(&written).0.count), (Duration::from_ms(1), 500));
}

#[test]
fn a_delay_is_one_attempt_a_period_unless_more_is_said() {
    let plan = plan("kind = { delay = { by = \"3ms\" } }\nstream = \"echo\"\nat = { link = \"radar\" }");
    let (threat, _) = only(&plan);
    assert!(matches!(threat.kind, ThreatKind::Delay(_, by) if by == Duration::from_ms(3)));
    assert_eq!((threat.every, threat.count), (Duration::from_ms(1), 1));
}

#[test]
fn a_box_delays_all_frames_of_a_node_from_its_start_on() {
    let plan = plan("kind = { delay = { by = \"300ns\" } }\nat = { link = \"radar\" }\nstart = \"999ms\"");
    let (threat, _) = only(&plan);
    assert!(matches!(threat.kind, ThreatKind::Delay(None, by) if by == Duration::from_ns(300)));
    assert_eq!((threat.every, threat.count), (Duration::from_ns(672), 1489), "no frame comes by that is not delayed");
}
