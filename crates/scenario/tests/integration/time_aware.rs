//! Segments whose clocks follow a grandmaster (IEEE 802.1AS): what they become, and what is refused.

use crate::support::{changed, plan, refused};
use chronoseal_core::{Duration, NodeId};
use chronoseal_plan::Ethernet;
use chronoseal_plan::{GrandmasterQuality, Sync};
use chronoseal_scenario::Code;
use chronoseal_wire::gptp::ClockIdentity;

const TWO_SWITCHES: &str = r#"
schema_version = 2
name = "time-aware"
duration = "1s"
[segments.network.ethernet]
rate = "1Gbit/s"
cluster_cycle = "10ms"
propagation_delay = "500ns"
class = { best_effort = {} }
switches = ["left", "right"]
sync = { gptp = { systems = [{ names = ["a"], priority1 = 100, clock_class = 6 }, { names = ["right"], priority1 = 255 }] } }
links = [
  { between = ["left", "right"] },
  { between = ["a", "left"] },
  { between = ["b", "right"] },
]
[[nodes]]
name = "a"
[[nodes]]
name = "b"
[[streams]]
name = "picture"
from = "a"
to = ["b"]
period = "10ms"
length = "100B"
"#;

const GPTP: &str = "{ gptp = { ";
const SEGMENT: &str = "class = { best_effort = {} }\n";
const STREAM: &str = "[[streams]]";

/// The changes that bring about one kind of problem each: name, code, old text, new text.
pub(crate) const CASES: &[(&str, Code, &str, &str)] = &[
    ("gptp_sync_interval", Code::OutOfRange, GPTP, "{ gptp = { sync_interval = \"100ms\", "),
    ("gptp_announce_interval", Code::OutOfRange, GPTP, "{ gptp = { announce_interval = \"2000s\", "),
    ("gptp_pdelay_interval", Code::OutOfRange, GPTP, "{ gptp = { pdelay_interval = \"0s\", "),
    ("gptp_sync_receipt_timeout", Code::OutOfRange, GPTP, "{ gptp = { sync_receipt_timeout = 1, "),
    ("gptp_announce_receipt_timeout", Code::OutOfRange, GPTP, "{ gptp = { announce_receipt_timeout = 0, "),
    ("gptp_threshold", Code::OutOfRange, GPTP, "{ gptp = { mean_link_delay_thresh = \"2s\", "),
    ("gptp_granularity", Code::OutOfRange, GPTP, "{ gptp = { granularity = \"2us\", "),
    ("gptp_bridge_drift", Code::OutOfRange, GPTP, "{ gptp = { bridge_drift = \"2000ppm\", "),
    ("gptp_link_beyond_threshold", Code::BadClockTree, "\"500ns\"", "\"2us\""),
    ("gptp_system_unknown", Code::UnknownName, "[\"a\"]", "[\"left\", \"c\"]"),
    ("gptp_system_twice", Code::DuplicateName, "[\"right\"]", "[\"right\", \"a\"]"),
    (
        "gptp_without_grandmaster",
        Code::BadClockTree,
        "[\"right\"], priority1",
        "[\"right\", \"left\", \"b\"], priority1",
    ),
    (
        "gptp_with_integration_cycle",
        Code::BadClockTree,
        SEGMENT,
        "class = { best_effort = {} }\nintegration_cycle = \"5ms\"\n",
    ),
    (
        "gptp_with_transmission_delay",
        Code::BadClockTree,
        SEGMENT,
        "class = { best_effort = {} }\nmax_transmission_delay = \"1ms\"\n",
    ),
    (
        "gptp_attack_in_slot_and_on_clocks",
        Code::NotYet,
        STREAM,
        "[[threats]]\nname = \"forged\"\nkind = \"spoof\"\nstream = \"picture\"\nat = { segment = \"network\" }\n\
         [[threats]]\nname = \"claim\"\nkind = { forged_time = { offset = \"1us\", of = \"a\" } }\nat = { segment = \"network\" }\n\
         [[streams]]",
    ),
    (
        "gptp_long_link_to_b",
        Code::BadClockTree,
        "  { between = [\"left\", \"right\"] },\n  { between = [\"a\", \"left\"] },\n",
        "  { between = [\"a\", \"left\"] }, { between = [\"b\", \"left\"] },\n  { between = [\"a\", \"right\"], propagation_delay = \"5us\"          },\n",
    ),
    (
        "gptp_attackers_on_both_sides_of_stamps",
        Code::NotYet,
        STREAM,
        "[[threats]]\nname = \"change\"\nkind = \"spoof\"\nstream = \"picture\"\nat = { link = \"a\" }\n\
         [[threats]]\nname = \"more\"\nkind = \"babble\"\nstream = \"picture\"\nat = { link = \"a\" }\n[[streams]]",
    ),
];

#[test]
fn every_problem_of_time_aware_clocks_is_shown_with_its_place() {
    for (name, code, old, new) in CASES {
        let mut text = changed(name, TWO_SWITCHES, old, new);
        match *name {
            // One system alone may be the grandmaster, and then none.
            "gptp_without_grandmaster" => text = text.replacen("priority1 = 100", "priority1 = 255", 1),
            "gptp_long_link_to_b" => {
                text = text.replacen(
                    SEGMENT,
                    "class = { best_effort = {} }\nnetworks = { a = [\"left\"], b = [\"right\"] }\n",
                    1,
                );
            }
            "gptp_attack_in_slot_and_on_clocks" => text = text.replacen(SEGMENT, "", 1),
            _ => {}
        }
        let problems = refused(name, "time-aware.toml", &text, *code);
        insta::assert_snapshot!(*name, problems.render());
    }
}

#[test]
fn streams_have_slots_by_the_clocks_of_a_grandmaster() {
    let plan = plan(&TWO_SWITCHES.replacen(SEGMENT, "", 1));
    let view = Ethernet::first(&plan).expect("it is one");
    assert!(view.streams().all(|stream| stream.class.is_time_triggered()));
}

#[test]
fn defaults_are_those_of_the_standard() {
    let plan = plan(&TWO_SWITCHES.replacen(
        "systems = [{ names = [\"a\"], priority1 = 100, clock_class = 6 }, { names = [\"right\"], priority1 = 255 }]",
        "",
        1,
    ));
    let segment = Ethernet::first(&plan).expect("it is one").segment;
    assert_eq!(segment.sync, Sync::Gptp);
    let clocks = segment.time_aware.as_ref().expect("it has some");
    assert_eq!(clocks.sync_interval(), Duration::from_ms(125));
    assert_eq!((clocks.parameters.log_announce_interval, clocks.parameters.log_pdelay_req_interval), (0, 0));
    assert_eq!((clocks.parameters.sync_receipt_timeout, clocks.parameters.announce_receipt_timeout), (3, 3));
    assert_eq!(
        (clocks.granularity, clocks.port.mean_link_delay_thresh),
        (Duration::from_ns(8), Duration::from_ns(800))
    );
    assert_eq!(clocks.bridges.iter().map(|(quality, _)| quality.priority1).collect::<Vec<_>>(), [246, 246]);
    assert!(clocks.stations.values().all(|quality| quality.priority1 == 248));
    let drifts: Vec<_> = clocks.bridges.iter().map(|(_, drift)| drift.0).collect();
    assert!(drifts[0] != drifts[1] && drifts.iter().all(|drift| drift.abs() <= 100_000), "{drifts:?}");
}

#[test]
fn systems_have_the_qualities_that_are_written() {
    let plan = plan(TWO_SWITCHES);
    let clocks = Ethernet::first(&plan).and_then(|view| view.segment.time_aware.clone()).expect("it has some");
    let written = GrandmasterQuality { priority1: 100, clock_class: 6, priority2: 248 };
    assert_eq!(clocks.stations[&NodeId(0)], written);
    assert_eq!(clocks.bridges[1].0.priority1, 255);
    let parameters = clocks.parameters_of(ClockIdentity([7; 8]), written);
    assert_eq!((parameters.identity.clock, parameters.identity.priority1), (ClockIdentity([7; 8]), 100));
    assert_eq!(parameters.identity.quality.class, 6);
}
