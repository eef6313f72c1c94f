//! Attacks on clocks: what they become, and what a person sees for each thing that is wrong.

use chronoseal_core::{Duration, NodeId, Ppm};
use chronoseal_plan::Plan;
use chronoseal_plan::{AttackPlace, ClockThreat, RogueGrandmaster, ThreatKind};
use chronoseal_scenario::{Code, NoFiles, Problems, load};

const SEGMENT: &str = r#"
schema_version = 2
name = "clock-threats"
duration = "10s"
[segments.network.ethernet]
rate = "1Gbit/s"
cluster_cycle = "10ms"
precision = "10us"
class = { best_effort = {} }
sync = SYNC
[segments.bus.can]
bit_rate = "500kbit/s"
[[nodes]]
name = "a"
on = ["network"]
[[nodes]]
name = "b"
on = ["network"]
[[nodes]]
name = "c"
on = ["network"]
[[nodes]]
name = "d"
on = ["network", "bus"]
[[streams]]
name = "picture"
from = "a"
to = ["b"]
period = "10ms"
length = "100B"
"#;

const GPTP: &str = "{ gptp = { systems = [{ names = [\"a\"], priority1 = 100 }] } }";
const AS6802: &str = "{ as6802 = { masters = [\"a\", \"b\"] } }";
const BEACON: &str = "\"beacon\"";

/// The scenario with one threat.
fn loaded(sync: &str, threat: &str) -> Result<Plan, Problems> {
    let text = format!("{}\n[[threats]]\nname = \"threat\"\n{threat}\n", SEGMENT.replace("SYNC", sync));
    load("clock-threats.toml", text.as_bytes(), &[], &NoFiles)
}

fn only(sync: &str, threat: &str) -> (ThreatKind, AttackPlace, Duration, u32) {
    let plan = loaded(sync, threat).unwrap_or_else(|problems| panic!("{}", problems.render()));
    let [threat] = &plan.threats[..] else { panic!("{:?}", plan.threats) };
    (threat.kind, plan.attackers[usize::from(threat.attacker)].place, threat.every, threat.count)
}

const ROGUE: &str = "kind = { rogue_grandmaster = { offset = \"50us\" } }";
const FORGED: &str = "kind = { forged_time = { offset = \"50us\" } }";
const ALTERED: &str = "kind = { altered_time = { offset = \"50us\" } }";

/// What is wrong with a threat: name, code, how clocks are kept, its kind, the rest of it.
const CASES: &[(&str, Code, &str, &str, &str)] = &[
    ("rogue_of_a_cluster", Code::ThreatPlace, AS6802, ROGUE, "at = { node = \"a\" }"),
    ("rogue_beside_a_beacon", Code::ThreatPlace, BEACON, ROGUE, "at = { node = \"a\" }"),
    ("rogue_on_a_link", Code::ThreatPlace, GPTP, ROGUE, "at = { link = \"a\" }"),
    ("rogue_on_two_segments", Code::NotYet, GPTP, ROGUE, "at = { node = \"d\" }"),
    ("rogue_with_attempts", Code::ThreatPlace, GPTP, ROGUE, "at = { node = \"b\" }\ncount = 3"),
    ("rogue_with_a_stream", Code::ThreatPlace, GPTP, ROGUE, "at = { node = \"b\" }\nstream = \"picture\""),
    (
        "rogue_that_is_worse",
        Code::ThreatPlace,
        GPTP,
        "kind = { rogue_grandmaster = { priority1 = 120 } }",
        "at = { node = \"b\" }",
    ),
    (
        "rogue_that_drifts_too_fast",
        Code::OutOfRange,
        GPTP,
        "kind = { rogue_grandmaster = { drift = \"2000ppm\" } }",
        "at = { node = \"b\" }",
    ),
    ("forged_in_nobodys_name", Code::MissingKey, GPTP, FORGED, "at = { segment = \"network\" }"),
    (
        "forged_in_another_name_on_a_link",
        Code::ThreatPlace,
        GPTP,
        "kind = { forged_time = { offset = \"50us\", of = \"a\" } }",
        "at = { link = \"b\" }",
    ),
    (
        "forged_in_an_unknown_name",
        Code::UnknownName,
        GPTP,
        "kind = { forged_time = { offset = \"50us\", of = \"e\" } }",
        "at = { segment = \"network\" }",
    ),
    ("forged_in_a_node", Code::ThreatPlace, GPTP, FORGED, "at = { node = \"b\" }"),
    ("forged_of_no_master", Code::ThreatPlace, AS6802, FORGED, "at = { link = \"c\" }"),
    (
        "forged_by_too_much",
        Code::OutOfRange,
        GPTP,
        "kind = { forged_time = { offset = \"2s\" } }",
        "at = { link = \"b\" }",
    ),
    ("altered_at_a_port", Code::ThreatPlace, GPTP, ALTERED, "at = { segment = \"network\" }"),
    (
        "altered_to_be_younger",
        Code::OutOfRange,
        AS6802,
        "kind = { altered_time = { offset = \"-1us\" } }",
        "at = { link = \"a\" }",
    ),
    ("altered_on_a_bus", Code::ThreatPlace, GPTP, ALTERED, "at = { segment = \"bus\" }"),
];

#[test]
fn every_problem_of_threats_on_clocks_is_shown_with_its_place() {
    for (name, code, sync, kind, rest) in CASES {
        let problems = loaded(sync, &format!("{kind}\n{rest}")).expect_err(name);
        let found = problems.list().iter().find(|problem| problem.code == *code);
        let found = found.unwrap_or_else(|| panic!("{name}: {}", problems.render()));
        assert!(!found.labels.is_empty() && found.help.as_ref().is_some_and(|help| !help.is_empty()), "{name}");
        insta::assert_snapshot!(*name, problems.render());
    }
}

#[test]
fn a_rogue_grandmaster_is_a_node_that_claims_the_best_there_is() {
    let (kind, place, _, count) = only(GPTP, &format!("{ROGUE}\nat = {{ node = \"b\" }}"));
    let claimed = RogueGrandmaster { priority1: 0, clock_class: 6, offset: Duration::from_us(50), drift: Ppm(0) };
    assert_eq!(kind, ThreatKind::OnClocks(ClockThreat::RogueGrandmaster(claimed)));
    assert_eq!((place, count), (AttackPlace::AtNode(NodeId(1)), 1));
}

#[test]
fn messages_are_made_up_as_often_as_true_ones_come_and_changed_whenever_one_comes() {
    let (_, place, every, count) = only(GPTP, &format!("{FORGED}\nat = {{ link = \"b\" }}\nstart = \"9s\""));
    assert!(matches!(place, AttackPlace::OnLink(_, NodeId(1))));
    assert_eq!((every, count), (Duration::from_ms(125), 8));
    let (_, _, every, _) = only(GPTP, &format!("{ALTERED}\nat = {{ link = \"a\" }}"));
    assert_eq!(every, Duration::from_ns(672), "as fast as frames can come");
    let at_port = "kind = { forged_time = { offset = \"5us\", of = \"b\" } }\nat = { segment = \"network\" }";
    let (kind, _, every, _) = only(AS6802, at_port);
    let forged = ClockThreat::ForgedTime { offset: Duration::from_us(5), of: Some(NodeId(1)) };
    assert_eq!((kind, every), (ThreatKind::OnClocks(forged), Duration::from_ms(10)));
}
