//! Networks A and B: what they become, and what a person sees for each thing that is wrong.

use chronoseal_core::{Duration, NodeId};
use chronoseal_plan::{Copies, FailingLink, NetworkName};
use chronoseal_plan::{Ethernet, Plan};
use chronoseal_scenario::{Code, NoFiles, Problems, load};

const COCKPIT: &str = include_str!("networks.toml");

fn plan(text: &str) -> Plan {
    load("cockpit.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}", problems.render()))
}

fn problems(name: &str, text: &str) -> Problems {
    load("cockpit.toml", text.as_bytes(), &[], &NoFiles).expect_err(name)
}

/// The changes that bring about one kind of problem each: name, code, old text, new text.
pub(crate) const CASES: &[(&str, Code, &str, &str)] = &[
    ("networks_unknown_switch", Code::UnknownName, "b = [\"b1\", \"b2\"]", "b = [\"b1\", \"b2\", \"b3\"]"),
    ("networks_switch_in_both", Code::BadNetworks, "b = [\"b1\", \"b2\"]", "b = [\"b1\", \"b2\", \"a2\"]"),
    ("networks_switch_in_none", Code::BadNetworks, "b = [\"b1\", \"b2\"]", "b = [\"b1\"]"),
    (
        "networks_begin_with_b",
        Code::BadNetworks,
        "{ a = [\"a1\", \"a2\"], b = [\"b1\", \"b2\"] }",
        "{ b = [\"a1\", \"a2\"], a = [\"b1\", \"b2\"] }",
    ),
    (
        "networks_joined",
        Code::BadNetworks,
        "{ between = [\"a1\", \"a2\"] },",
        "{ between = [\"a1\", \"a2\"] },\n  { between = [\"a1\", \"b1\"] },",
    ),
    ("networks_one_link_missing", Code::BadLink, "  { between = [\"air-data\", \"b1\"] },\n", ""),
    ("networks_apart", Code::BadLink, "  { between = [\"b1\", \"b2\"] },\n", ""),
    (
        "networks_of_best_effort",
        Code::BadNetworks,
        "{ best_effort = {} } }",
        "{ best_effort = {} }, networks = [\"a\", \"b\"] }",
    ),
    ("networks_twice", Code::BadNetworks, "networks = [\"b\"]", "networks = [\"b\", \"b\"]"),
    ("networks_of_no_segment", Code::BadNetworks, "networks = { a = [\"a1\", \"a2\"], b = [\"b1\", \"b2\"] }", ""),
    (
        "networks_slots_at_once",
        Code::BadIntegration,
        "class = { rate_constrained = { bag = \"4ms\", skew_max = \"2ms\" } }",
        "dispatch = \"immediate\"",
    ),
    (
        "networks_skew_of_best_effort",
        Code::BadNetworks,
        "{ best_effort = {} } }",
        "{ best_effort = {} }, skew_max = \"1ms\" }",
    ),
    (
        "networks_skew_of_one",
        Code::BadNetworks,
        "{ best_effort = {} } }",
        "\"time-triggered\", networks = [\"a\"], skew_max = \"1ms\" }",
    ),
    ("networks_skew_of_link", Code::BadNetworks, "{ networks = [\"b\"] }", "{ skew_max = \"1ms\" }"),
    (
        "networks_skew_of_slots",
        Code::OutOfRange,
        "{ best_effort = {} } }",
        "\"time-triggered\", skew_max = \"1001ms\" }",
    ),
    (
        "networks_cluster",
        Code::BadClockTree,
        "cluster_cycle",
        "sync = { as6802 = { masters = [\"air-data\"], compression_masters = [\"a2\", \"a1\"] } }\ncluster_cycle",
    ),
    ("networks_ports", Code::BadNetworks, "cluster_cycle", "bridge_ports = { traffic_classes = 4 }\ncluster_cycle"),
    ("networks_skew", Code::OutOfRange, "skew_max = \"2ms\"", "skew_max = \"2s\""),
];

#[test]
fn every_problem_of_networks_is_shown_with_its_place() {
    for (name, code, old, new) in CASES {
        assert!(COCKPIT.contains(old), "{name}: the scenario has no {old}");
        let problems = problems(name, &COCKPIT.replacen(old, new, 1));
        let found = problems.list().iter().find(|problem| problem.code == *code);
        let found = found.unwrap_or_else(|| panic!("{name}: {}", problems.render()));
        assert!(!found.labels.is_empty() && found.help.as_ref().is_some_and(|help| !help.is_empty()), "{name}");
        insta::assert_snapshot!(*name, problems.render());
    }
}

#[test]
fn each_network_has_compression_masters_of_its_own() {
    for (written, expected) in [
        ("", vec![0, 2]),
        (", compression_masters = [\"b2\", \"a2\"]", vec![3, 1]),
        (", compression_masters = [\"a1\", \"b1\", \"b2\"]", vec![0, 2, 3]),
    ] {
        let sync = format!("sync = {{ as6802 = {{ masters = [\"air-data\"]{written} }} }}\ncluster_cycle");
        let plan = plan(&COCKPIT.replacen("cluster_cycle", &sync, 1));
        let view = Ethernet::first(&plan).expect("it has such a segment");
        let cluster = view.segment.cluster.as_ref().expect("it has a cluster");
        assert_eq!(cluster.compression_masters, expected);
        // Three links at 100 Mbit/s, in front of each a longest frame and control frames.
        assert!(cluster.control_delay_max > Duration::from_us(300), "{}", cluster.control_delay_max);
    }
}

#[test]
fn a_node_behind_both_networks_may_have_a_host_interface() {
    let plan = plan(&COCKPIT.replace("name = \"display\"", "name = \"display\"\nhost_interface = { base = \"20us\" }"));
    assert!(plan.nodes[1].host_interface.is_some());
}

#[test]
fn a_virtual_link_goes_over_both_networks_unless_it_names_one() {
    let plan = plan(COCKPIT);
    let view = Ethernet::first(&plan).expect("it has such a segment");
    let copies: Vec<Copies> = view.streams().map(|stream| stream.copies.clone()).collect();
    let both = Copies::BothNetworks { skew_max: Duration::from_ms(2) };
    assert_eq!(copies, [both, Copies::One(NetworkName::B), Copies::One(NetworkName::A)]);
    let switches: Vec<Vec<u16>> = view
        .streams()
        .flat_map(|stream| view.ways(&stream).expect("each network has one way"))
        .map(|way| way.hops.iter().map(|hop| hop.switch).collect())
        .collect();
    assert_eq!(switches, [vec![0, 1], vec![2, 3], vec![2, 3], vec![0, 1]]);
}

#[test]
fn copies_may_come_a_gap_apart_unless_something_else_is_written() {
    let plan = plan(&COCKPIT.replace(", skew_max = \"2ms\"", ""));
    let view = Ethernet::first(&plan).expect("it has such a segment");
    let first = view.streams().next().expect("it has streams");
    assert_eq!(*first.copies, Copies::BothNetworks { skew_max: Duration::from_ms(4) });
}

#[test]
fn a_link_to_network_b_fails_by_itself_and_cuts_off_what_has_no_other_way() {
    let plan = plan(COCKPIT);
    let view = Ethernet::first(&plan).expect("it has such a segment");
    assert_eq!(view.segment.failures[0].link, FailingLink::Second(NodeId(1)));
    let passes: Vec<bool> = view.streams().map(|stream| view.passes(&stream, FailingLink::Second(NodeId(1)))).collect();
    let cut_off: Vec<bool> = view.streams().map(|stream| view.is_cut_off(&stream)).collect();
    assert_eq!((passes, cut_off), (vec![true, true, false], vec![false, true, false]));
    // The other link too: nothing is left.
    let both = COCKPIT.replace("at = \"500ms\" }]", "at = \"500ms\" }, { link = [\"a1\", \"a2\"], at = \"600ms\" }]");
    let plan = self::plan(&both);
    let view = Ethernet::first(&plan).expect("it has such a segment");
    assert!(view.streams().all(|stream| view.is_cut_off(&stream)));
}

#[test]
fn a_stream_in_slots_goes_over_both_networks_with_a_number_behind_its_frames() {
    let slots = |more: &str| COCKPIT.replace("{ best_effort = {} } }", &format!("\"time-triggered\"{more} }}"));
    for (more, copies, trailer) in [
        ("", Copies::BothNetworks { skew_max: Duration::from_ms(16) }, 1),
        (", skew_max = \"3ms\"", Copies::BothNetworks { skew_max: Duration::from_ms(3) }, 1),
        (", networks = [\"b\", \"a\"]", Copies::BothNetworks { skew_max: Duration::from_ms(16) }, 1),
        (", networks = [\"b\"]", Copies::One(NetworkName::B), 0),
        (", networks = [\"a\"]", Copies::One(NetworkName::A), 0),
    ] {
        let plan = plan(&slots(more));
        let view = Ethernet::first(&plan).expect("it has such a segment");
        let log = view.streams().last().expect("it has streams");
        assert_eq!((log.copies, log.trailer_len()), (&copies, trailer), "{more}");
        assert_eq!(view.secured_len(&log), 14 + 1000 + trailer);
    }
}

#[test]
fn no_skew_is_so_long_that_numbers_come_again() {
    // After 255 gaps of 4 ms a frame has the same number.
    let with_skew = |ms: u32| COCKPIT.replace("skew_max = \"2ms\"", &format!("skew_max = \"{ms}ms\""));
    plan(&with_skew(127 * 4));
    let refused = problems("too long", &with_skew(127 * 4 + 1));
    assert!(refused.list().iter().all(|problem| problem.code == Code::OutOfRange));
}
