//! Several switches on one Ethernet segment: what their links become, and what a person sees for each thing that is wrong.

use chronoseal_core::{Duration, NodeId, Rate};
use chronoseal_plan::{Ethernet, LinkParameters, Plan, StationLink, SwitchHop, Trunk, Wiring};
use chronoseal_scenario::{Code, NoFiles, load};

use super::WHOLE;
use crate::support::{changed, plan, refused};

const SWITCHES: &str = include_str!("switches.toml");

fn ethernet(plan: &Plan) -> Ethernet<'_> {
    Ethernet::first(plan).expect("it has such a segment")
}

/// The changes that bring about one kind of problem each: name, code, old text, new text.
pub(crate) const CASES: &[(&str, Code, &str, &str)] = &[
    ("link_to_nobody", Code::UnknownName, "[\"radar\", \"front\"]", "[\"raddar\", \"front\"]"),
    ("link_to_no_switch", Code::UnknownName, "[\"radar\", \"front\"]", "[\"radar\", \"fromt\"]"),
    ("link_between_nodes", Code::BadLink, "[\"radar\", \"front\"]", "[\"radar\", \"camera\"]"),
    ("link_to_itself", Code::BadLink, "[\"front\", \"right\"]", "[\"front\", \"front\"]"),
    ("link_named_twice", Code::BadLink, "{ between = [\"right\", \"rear\"]", "{ between = [\"left\", \"front\"]"),
    ("link_of_a_node_twice", Code::BadLink, "[\"left\", \"door\"]", "[\"front\", \"radar\"]"),
    ("node_at_two_switches", Code::BadLink, "[\"left\", \"door\"]", "[\"left\", \"radar\"]"),
    ("node_at_no_switch", Code::BadLink, "  { between = [\"left\", \"door\"] },\n", ""),
    ("no_links_at_all", Code::BadLink, "links = [", "links = []\nswitches_and_links = ["),
    (
        "node_on_another_segment",
        Code::BadLink,
        "name = \"radar\"\n",
        "name = \"radar\"\non = [\"other\"]\n[segments.other.can]\nbit_rate = \"500kbit/s\"\n",
    ),
    ("switch_apart", Code::BadLink, "\"rear\"]\nlinks", "\"rear\", \"attic\"]\nlinks"),
    ("switch_named_like_a_node", Code::DuplicateName, "\"rear\"]\nlinks", "\"rear\", \"lamp\"]\nlinks"),
    ("link_rate", Code::OutOfRange, "rate = \"100Mbit/s\"", "rate = \"1bit/s\""),
    ("link_delay", Code::OutOfRange, "\"50ns\"", "\"5s\""),
    ("two_ways", Code::SeveralWays, "backbone = { switches = [\"left\"] }\n", ""),
    (
        "not_reached",
        Code::NoWay,
        "to = [\"door\", \"brain\"]\nperiod = \"10ms\"\nlength = \"1000B\"\nbackbone = { switches = [\"left\"] }",
        "to = [\"brain\"]\nperiod = \"10ms\"\nlength = \"1000B\"\nbackbone = { switches = [] }",
    ),
    ("over_no_switch", Code::UnknownName, "{ switches = [\"left\"] }", "{ switches = [\"lefd\"] }"),
    (
        "slots_that_are_passed_on_at_once",
        Code::BadIntegration,
        "backbone = { switches = [\"left\"] }",
        "backbone = { switches = [\"left\"], class = \"time-triggered\" }",
    ),
    (
        "failure_of_nobody",
        Code::UnknownName,
        "switches = [\"front\"",
        "failures = [{ link = [\"frunt\", \"left\"], at = \"1ms\" }]\nswitches = [\"front\"",
    ),
    (
        "failure_of_no_link",
        Code::BadLink,
        "switches = [\"front\"",
        "failures = [{ link = [\"front\", \"door\"], at = \"1ms\" }]\nswitches = [\"front\"",
    ),
    (
        "failure_twice",
        Code::BadLink,
        "switches = [\"front\"",
        "failures = [{ link = [\"front\", \"left\"], at = \"1ms\" }, { link = [\"left\", \"front\"], at = \"2ms\" }]\nswitches = [\"front\"",
    ),
];

#[test]
fn every_problem_of_switches_and_links_is_shown_with_its_place() {
    for (name, code, old, new) in CASES {
        let mut text = changed(name, SWITCHES, old, new);
        if *name == "no_links_at_all" {
            let start = text.find("switches_and_links").expect("just written");
            let end = text[start..].find("\n]\n").expect("the list ends") + start + 3;
            text.replace_range(start..end, "");
        }
        if *name == "slots_that_are_passed_on_at_once" {
            text = text.replacen("class = {", "dispatch = \"immediate\"\nclass = {", 1);
        }
        if *name == "node_on_another_segment" {
            for node in ["camera", "door", "lamp", "brain"] {
                let old = format!("name = \"{node}\"\n");
                text = text.replacen(&old, &format!("{old}on = [\"backbone\"]\n"), 1);
            }
        }
        let problems = refused(name, "switches.toml", &text, *code);
        insta::assert_snapshot!(*name, problems.render());
    }
}

#[test]
fn links_are_those_that_are_written_with_what_the_segment_says() {
    let plan = plan(SWITCHES);
    let gigabit = LinkParameters { rate: Rate(1_000_000_000), propagation_delay: Duration::ZERO, macsec: None };
    let trunk = |ends, parameters| Trunk { ends, parameters };
    let station = |node, switch, parameters| StationLink { node: NodeId(node), switch, parameters };
    let expected = Wiring {
        switches: 4,
        stations: vec![
            station(0, 0, gigabit),
            station(1, 0, LinkParameters { rate: Rate(100_000_000), ..gigabit }),
            station(2, 1, gigabit),
            station(3, 2, gigabit),
            station(4, 3, gigabit),
        ],
        trunks: vec![
            trunk([0, 1], gigabit),
            trunk([0, 2], gigabit),
            trunk([1, 3], LinkParameters { rate: Rate(10_000_000_000), ..gigabit }),
            trunk([2, 3], LinkParameters { propagation_delay: Duration::from_ns(50), ..gigabit }),
        ],
        ..Wiring::default()
    };
    assert_eq!(ethernet(&plan).segment.wiring, expected);
    assert_eq!(plan.segments[0].own_nodes, ["front", "left", "right", "rear"]);
    // The order in which they are written is nobody's business.
    let lines: Vec<&str> = SWITCHES.lines().filter(|line| line.starts_with("  { between")).collect();
    let mut reversed = lines.clone();
    reversed.reverse();
    let text = SWITCHES.replace(&lines.join("\n"), &reversed.join("\n"));
    assert_ne!(text, SWITCHES);
    assert_eq!(ethernet(&self::plan(&text)).segment.wiring, expected);
}

#[test]
fn a_stream_goes_over_the_switches_that_it_names() {
    for (middle, trunks) in [("left", [0, 2]), ("right", [1, 3])] {
        // The door is at the left switch, so the picture reaches it there either way.
        let plan = plan(
            &SWITCHES
                .replace("[\"left\"] }", &format!("[\"{middle}\"] }}"))
                .replace("[\"door\", \"brain\"]", "[\"brain\"]"),
        );
        let view = ethernet(&plan);
        let route = view.route(&view.streams().next().expect("the picture")).expect("one way");
        let trunks_taken: Vec<_> = route.iter().filter_map(|hop| hop.trunk).collect();
        assert_eq!(trunks_taken, trunks);
        assert_eq!(route.last().map(|hop| hop.to.clone()), Some(vec![NodeId(4)]));
    }
    let plan = plan(SWITCHES);
    let view = ethernet(&plan);
    let [picture, echo, light] = view.streams().collect::<Vec<_>>()[..] else { panic!("three streams") };
    assert_eq!(view.route(&picture).map(|route| route.len()), Ok(3));
    let at_front = SwitchHop { switch: 0, trunk: None, to: vec![NodeId(0)], onward: vec![] };
    assert_eq!(view.route(&echo), Ok(vec![at_front]));
    assert_eq!(view.route(&light).map(|route| route.len()), Ok(2));
}

#[test]
fn a_link_of_the_only_switch_may_say_what_the_segment_says_and_then_changes_nothing() {
    let plain = plan(WHOLE);
    let node = plain.nodes[0].name.clone();
    let with = |link: &str| {
        let links = format!("links = [{{ between = [\"{node}\", \"switch\"]{link} }}]\nguard_period");
        load("whole.toml", WHOLE.replacen("guard_period", &links, 1).as_bytes(), &[], &NoFiles)
    };
    let same = with("").unwrap_or_else(|problems| panic!("{}", problems.render()));
    assert_eq!(ethernet(&same).segment.wiring, Wiring::default());
    assert_eq!(ethernet(&same).segment.max_transmission_delay, ethernet(&plain).segment.max_transmission_delay);
    // One that differs is kept.
    let slower = with(", rate = \"10Mbit/s\"").unwrap_or_else(|problems| panic!("{}", problems.render()));
    assert_eq!(ethernet(&slower).segment.wiring.stations.len(), 1);
}

#[test]
fn a_beacon_may_take_as_long_as_its_longest_way() {
    // 1514 and 60 bytes with 24 more each, at the rate of each link. The radar's is the slowest and the longest way alone.
    let delay = |text: &str| ethernet(&plan(text)).segment.max_transmission_delay;
    let gigabit = Duration::from_ns((1514 + 60 + 48) * 8);
    assert_eq!(delay(SWITCHES), gigabit * 10 * 2);
    // Without it: front to left, left to rear at 10 Gbit/s, rear to its node, and once more the slowest of all, which has 50 ns.
    let as_fast = SWITCHES.replace(", rate = \"100Mbit/s\"", "");
    assert_eq!(delay(&as_fast), gigabit * 2 + gigabit / 10 + gigabit + Duration::from_ns(50));
    let with_delay = as_fast.replacen("class =", "forwarding_delay = \"2us\"\nclass =", 1);
    assert_eq!(delay(&with_delay), delay(&as_fast) + Duration::from_us(2) * 3, "in each of three switches");
}
