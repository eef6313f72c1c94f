//! Replication of frames (IEEE 802.1CB): what it becomes, and what a person sees for each thing that is wrong.

use std::collections::BTreeSet;

use crate::support::{changed, plan, refused};
use chronoseal_core::{Duration, NodeId};
use chronoseal_plan::Ethernet;
use chronoseal_plan::{Copies, FailingLink, LatentErrors, RecoveryAlgorithm, RecoveryConfig};
use chronoseal_scenario::Code;

const RING: &str = include_str!("replication.toml");

const WAYS: &str = "ways = [[\"left\"], [\"right\"]]";

/// The changes that bring about one kind of problem each: name, code, old text, new text.
pub(crate) const CASES: &[(&str, Code, &str, &str)] = &[
    ("replication_one_way", Code::BadReplication, WAYS, "ways = [[\"left\"]]"),
    ("replication_shared_link", Code::BadReplication, WAYS, "ways = [[\"left\"], [\"left\"]]"),
    ("replication_unknown_switch", Code::UnknownName, WAYS, "ways = [[\"left\"], [\"rigth\"]]"),
    ("replication_no_way", Code::NoWay, WAYS, "ways = [[\"left\"], []]"),
    (
        "replication_without_vlan_tag",
        Code::BadReplication,
        "ring = { replication",
        "ring = { class = { best_effort = {} }, replication",
    ),
    (
        "replication_of_virtual_link",
        Code::BadReplication,
        "ring = { replication",
        "ring = { class = { rate_constrained = {} }, replication",
    ),
    (
        "replication_and_switches",
        Code::BadReplication,
        "ring = { replication",
        "ring = { switches = [\"left\"], replication",
    ),
    ("replication_history", Code::OutOfRange, WAYS, "ways = [[\"left\"], [\"right\"]], history = 1"),
    ("replication_reset", Code::OutOfRange, WAYS, "ways = [[\"left\"], [\"right\"]], reset_timeout = \"0s\""),
    (
        "elimination_unknown_switch",
        Code::UnknownName,
        WAYS,
        "ways = [[\"left\"], [\"right\"]], eliminate_at = [\"reer\"]",
    ),
    ("elimination_on_no_way", Code::BadReplication, WAYS, "ways = [[\"left\"]], eliminate_at = [\"right\"]"),
    (
        "elimination_not_joined",
        Code::NoWay,
        WAYS,
        "ways = [[\"left\"], [\"rear\", \"right\"]], eliminate_at = [\"rear\"]",
    ),
    (
        "elimination_at_one_of_two",
        Code::BadReplication,
        WAYS,
        "ways = [[\"left\"], [\"right\"], [\"left\", \"right\"], [\"right\", \"left\"]], eliminate_at = [\"left\"]",
    ),
    (
        "elimination_way_not_written",
        Code::BadReplication,
        WAYS,
        "ways = [[\"left\"], [\"left\", \"right\"], [\"right\", \"left\"]], eliminate_at = [\"left\", \"right\"]",
    ),
    ("elimination_way_twice", Code::BadReplication, WAYS, "ways = [[\"left\"], [\"left\"]], eliminate_at = [\"rear\"]"),
    (
        "elimination_loop",
        Code::BadReplication,
        WAYS,
        "ways = [[\"left\"], [\"left\", \"right\", \"front\", \"left\"]], eliminate_at = [\"rear\"]",
    ),
    (
        "elimination_and_latent_errors",
        Code::BadReplication,
        WAYS,
        "ways = [[\"left\"], [\"right\"], [\"left\", \"right\"], [\"right\", \"left\"]], eliminate_at = [\"left\", \"right\"], \
         latent_errors = { difference = 3 }",
    ),
    (
        "frame_losses_of_no_link",
        Code::BadLink,
        "switches = [\"front\"",
        "frame_losses = [{ link = [\"front\", \"rear\"], ratio = 0.1 }]\nswitches = [\"front\"",
    ),
    (
        "frame_losses_twice",
        Code::BadLink,
        "switches = [\"front\"",
        "frame_losses = [{ link = [\"front\", \"left\"], ratio = 0.1 }, { link = [\"left\", \"front\"], ratio = 0.2 }]\nswitches = [\"front\"",
    ),
    (
        "frame_losses_of_nothing",
        Code::OutOfRange,
        "switches = [\"front\"",
        "frame_losses = [{ link = [\"front\", \"left\"], ratio = 0 }]\nswitches = [\"front\"",
    ),
    (
        "replication_before_asynchronous_shapers",
        Code::BadReplication,
        "switches = [\"front\"",
        "bridge_ports = { classes = [{ class = 6, shaper = \"asynchronous\" }] }\nswitches = [\"front\"",
    ),
];

#[test]
fn every_problem_of_replication_is_shown_with_its_place() {
    for (name, code, old, new) in CASES {
        let problems = refused(name, "ring.toml", &changed(name, RING, old, new), *code);
        insta::assert_snapshot!(*name, problems.render());
    }
}

#[test]
fn each_copy_has_the_way_that_it_names_and_frames_a_tag_more() {
    let plan = plan(RING);
    let view = Ethernet::first(&plan).expect("it has such a segment");
    let streams: Vec<_> = view.streams().collect();
    let [brake, dim] = &streams[..] else { panic!("there are two") };
    let ways = view.ways(brake).expect("each copy has one way");
    let switches: Vec<Vec<u16>> = ways.iter().map(|way| way.hops.iter().map(|hop| hop.switch).collect()).collect();
    assert_eq!(switches, [[0, 1, 2], [0, 3, 2]]);
    assert_eq!(view.ways(dim).map(|ways| ways.len()), Ok(1));
    // 14 of header, 4 of VLAN tag, 6 of redundancy tag.
    assert_eq!((view.secured_len(brake), brake.tag_len()), (124, 10));
    assert_eq!((view.secured_len(dim), dim.tag_len()), (68, 4));
    let recovery = RecoveryConfig {
        algorithm: RecoveryAlgorithm::Vector { history: 8 },
        reset: Duration::from_s(1),
        ways: 2,
        latent: None,
    };
    assert_eq!(*brake.copies, Copies::Ways { ways: vec![vec![1], vec![3]], recovering: BTreeSet::new(), recovery });
}

#[test]
fn recovery_is_what_is_written() {
    let text = RING.replace(
        WAYS,
        &format!("{WAYS}, recovery = \"match\", reset_timeout = \"40ms\", latent_errors = {{ difference = 5, reset = \"9s\" }}"),
    );
    let plan = plan(&text);
    let view = Ethernet::first(&plan).expect("it has such a segment");
    let brake = view.streams().next().expect("it has streams");
    let Copies::Ways { recovery, .. } = brake.copies else { panic!("it is replicated") };
    let latent = LatentErrors { period: Duration::from_s(2), reset: Duration::from_s(9), difference: 5 };
    let expected = RecoveryConfig {
        algorithm: RecoveryAlgorithm::Match,
        reset: Duration::from_ms(40),
        ways: 2,
        latent: Some(latent),
    };
    assert_eq!(*recovery, expected);
}

#[test]
fn a_link_of_the_ring_may_fail_and_that_of_an_end_may_not() {
    let with = |link: &str| {
        let failures = format!("failures = [{{ link = [{link}], at = \"1ms\" }}]\nswitches = [\"front\"");
        plan(&RING.replacen("switches = [\"front\"", &failures, 1))
    };
    for (link, expected) in [("\"left\", \"rear\"", false), ("\"wheel\", \"rear\"", true)] {
        let plan = with(link);
        let view = Ethernet::first(&plan).expect("it has such a segment");
        let brake = view.streams().next().expect("it has streams");
        assert!(view.passes(&brake, view.segment.failures[0].link));
        assert_eq!(view.is_cut_off(&brake), expected, "{link}");
        assert!(!view.passes(&brake, FailingLink::Station(NodeId(2))));
    }
}
