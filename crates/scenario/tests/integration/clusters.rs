//! Segments whose clocks a cluster of AS6802 keeps together: what they become, and what is refused.

use crate::support::{changed, plan, refused};
use chronoseal_core::{Duration, NodeId};
use chronoseal_plan::Ethernet;
use chronoseal_plan::Sync;
use chronoseal_scenario::Code;

const CLUSTER: &str = r#"
schema_version = 2
name = "cluster"
duration = "1s"
[segments.network.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
integration_cycle = "5ms"
class = { best_effort = {} }
switches = ["left", "right"]
sync = { as6802 = { masters = ["a", "b", "c"], compression_masters = ["right"] } }
links = [
  { between = ["left", "right"] },
  { between = ["a", "left"] },
  { between = ["b", "left"] },
  { between = ["c", "right"] },
  { between = ["d", "right"] },
]
[[nodes]]
name = "a"
[[nodes]]
name = "b"
[[nodes]]
name = "c"
[[nodes]]
name = "d"
[[streams]]
name = "picture"
from = "a"
to = ["d"]
period = "10ms"
length = "100B"
"#;

const MASTERS: &str = "masters = [\"a\", \"b\", \"c\"]";
const COMPRESSION: &str = "compression_masters = [\"right\"]";

/// The changes that bring about one kind of problem each: name, code, old text, new text.
pub(crate) const CASES: &[(&str, Code, &str, &str)] = &[
    ("cluster_without_master", Code::BadClockTree, MASTERS, "masters = []"),
    ("cluster_master_unknown", Code::UnknownName, MASTERS, "masters = [\"a\", \"e\", \"c\"]"),
    ("cluster_master_is_a_switch", Code::UnknownName, MASTERS, "masters = [\"a\", \"left\"]"),
    ("cluster_master_twice", Code::DuplicateName, MASTERS, "masters = [\"a\", \"b\", \"a\"]"),
    ("cluster_without_compression", Code::BadClockTree, COMPRESSION, "compression_masters = []"),
    ("cluster_compression_unknown", Code::UnknownName, COMPRESSION, "compression_masters = [\"a\"]"),
    ("cluster_compression_twice", Code::DuplicateName, COMPRESSION, "compression_masters = [\"left\", \"left\"]"),
    ("cluster_too_many_faults", Code::BadClockTree, COMPRESSION, "faults_tolerated = 2"),
    ("cluster_cycle_too_short", Code::BadClockTree, "\"5ms\"", "\"500us\""),
    ("cluster_without_precision", Code::BadClockTree, "\"5ms\"", "\"5ms\"\nprecision = \"0s\""),
    ("cluster_attack_in_slot", Code::NotYet, "class = { best_effort = {} }\nswitches", "macsec = {}\nswitches"),
];

#[test]
fn every_problem_of_a_cluster_is_shown_with_its_place() {
    for (name, code, old, new) in CASES {
        let mut text = changed(name, CLUSTER, old, new);
        if *name == "cluster_attack_in_slot" {
            text += "[[threats]]\nname = \"forged\"\nkind = \"spoof\"\nstream = \"picture\"\nat = { segment = \"network\" }\n";
        }
        let problems = refused(name, "cluster.toml", &text, *code);
        insta::assert_snapshot!(*name, problems.render());
    }
}

#[test]
fn nodes_are_masters_or_clients_and_switches_compress_or_relay() {
    let plan = plan(CLUSTER);
    let segment = Ethernet::first(&plan).expect("it is one").segment;
    assert_eq!(segment.sync, Sync::As6802);
    let cluster = segment.cluster.as_ref().expect("it has one");
    assert_eq!(cluster.masters, [0, 1, 2].map(NodeId));
    assert_eq!(cluster.compression_masters, [1]);
    assert_eq!(cluster.parameters.cluster.faults_tolerated, 1, "of three one may fail");
    assert_eq!(cluster.parameters.cluster.integration_cycle, Duration::from_ms(5));
    assert_eq!(cluster.parameters.cluster.precision, segment.precision);
}

#[test]
fn defaults_are_the_first_switch_and_the_faults_that_so_many_masters_tolerate() {
    let plan = plan(&CLUSTER.replace(", \"c\"]", "]").replace(", compression_masters = [\"right\"]", ""));
    let cluster = Ethernet::first(&plan).and_then(|view| view.segment.cluster.clone()).expect("it has one");
    assert_eq!(cluster.compression_masters, [0]);
    assert_eq!(cluster.parameters.cluster.faults_tolerated, 0);
}

#[test]
fn a_cluster_has_slots_over_several_switches() {
    let plan = plan(&CLUSTER.replacen("class = { best_effort = {} }\n", "", 1));
    let view = Ethernet::first(&plan).expect("it is one");
    assert!(view.streams().all(|stream| stream.class.is_time_triggered()));
}

/// Over two links and through one switch: a longest frame, and one control frame of each of the four sources, in front of each.
#[test]
fn a_control_frame_may_take_as_long_as_its_longest_way() {
    let plan = plan(CLUSTER);
    let segment = Ethernet::first(&plan).expect("it is one").segment;
    let over_a_link = Duration::from_ns((1514 + 24) * 80) + Duration::from_ns((60 + 24) * 80) * 4;
    assert_eq!(segment.max_transmission_delay, over_a_link * 2);
    let given = CLUSTER.replacen("rate =", "max_transmission_delay = \"1ms\"\nrate =", 1);
    let plan = self::plan(&given);
    let segment = Ethernet::first(&plan).expect("it is one").segment;
    assert_eq!(segment.max_transmission_delay, Duration::from_ms(1));
    let cluster = segment.cluster.as_ref().expect("it has one");
    assert_eq!(cluster.parameters.cluster.max_transmission_delay, Duration::from_ms(1));
    assert_eq!(cluster.control_delay_max, over_a_link * 2, "what the network needs is kept beside it");
}
