//! Ports of switches and stations: what they become, and what a person sees for each thing that is wrong.

use crate::support::plan;
use chronoseal_core::{Duration, NodeId, Rate};
use chronoseal_plan::{Ethernet, PortEnd};
use chronoseal_scenario::{Code, NoFiles, Problems, load};

const PORTS: &str = include_str!("ports.toml");

fn problems(name: &str, text: &str) -> Problems {
    load("ports.toml", text.as_bytes(), &[], &NoFiles).expect_err(name)
}

/// The changes that bring about one kind of problem each: name, code, old text, new text, part of the message.
pub(crate) const CASES: &[(&str, Code, &str, &str, &str)] = &[
    ("too_many_priorities", Code::WrongType, "6, 7]\nclasses", "6, 7, 7]\nclasses", ""),
    ("class_of_a_priority", Code::BadPort, "6, 7]\nclasses", "6, 8]\nclasses", "no traffic class 8"),
    ("class_beyond_those", Code::BadPort, "priorities = [0, 0, 2, 3, 4, 5, 6, 7]", "traffic_classes = 5", "class 5"),
    ("class_twice", Code::BadPort, "{ class = 4, shaper", "{ class = 5, shaper", "described twice"),
    ("slope_above_rate", Code::BadPort, "\"20Mbit/s\"", "\"120Mbit/s\"", "add up to 120Mbit/s"),
    (
        "interrupts_nothing_counted",
        Code::BadPort,
        "switches = [",
        "accounting = \"as-published\"\nswitches = [",
        "clause 99",
    ),
    ("short_queue", Code::OutOfRange, "\"8kB\"", "\"100B\"", "length of a queue"),
    ("list_beyond_hardware", Code::BadPort, "list_len_max = 4", "list_len_max = 1", "SupportedListMax"),
    ("list_beyond_cycle", Code::BadPort, "\"700us\"", "\"900us\"", "8.6.9.1"),
    ("off_the_grain", Code::BadPort, "\"700us\"", "\"700500ns\"", "granularity"),
    ("base_off_the_grain", Code::BadPort, "\"10us\"", "\"10500ns\"", "the base time"),
    ("cycle_off_the_grain", Code::BadPort, "cycle = \"1ms\"", "cycle = \"1000500ns\"", "the cycle"),
    ("open_no_class", Code::BadPort, "open = [7]", "open = [9]", "no traffic class 9"),
    ("hold_nothing", Code::BadPort, "  { class = 0, preemptable = true },\n", "", "nothing is held"),
    ("gate_never_opens", Code::BadPort, "open = [7]", "open = [6]", "never opens"),
    ("window_too_short", Code::BadPort, "\"200us\"", "\"1us\"", "fits no window"),
    ("bucket_below_a_frame", Code::BadPort, "\"200B\"", "\"100B\"", "its bucket holds 100B"),
    ("port_of_nobody", Code::UnknownName, "ports = { front", "ports = { attic", "attic"),
    ("pcp_too_large", Code::OutOfRange, "pcp = 7", "pcp = 8", ""),
    ("vid_reserved", Code::OutOfRange, "vid = 42", "vid = 4095", ""),
    (
        "slots_under_classes",
        Code::BadPort,
        "{ vlan = { pcp = 7, vid = 42 } }",
        "\"time-triggered\"",
        "no standard says",
    ),
    (
        "virtual_link_behind_ports",
        Code::BadPort,
        "{ vlan = { pcp = 7, vid = 42 } }",
        "{ rate_constrained = { bag = \"1ms\" } }",
        "is a virtual link",
    ),
    (
        "identifier_of_slots",
        Code::BadCtId,
        "vid = 42 } } }",
        "vid = 42 } }, ct_id = 3 }",
        "no critical-traffic identifier",
    ),
];

#[test]
fn every_problem_of_ports_is_shown_with_its_place_and_what_helps() {
    for (name, code, old, new, message) in CASES {
        assert!(PORTS.contains(old), "{name}: the scenario has no {old}");
        let problems = problems(name, &PORTS.replacen(old, new, 1));
        let text = problems.render();
        let is_schema = matches!(code, Code::WrongType | Code::OutOfRange) && message.is_empty();
        let found = problems.list().iter().find(|problem| problem.code == *code || is_schema);
        let found = found.unwrap_or_else(|| panic!("{name}: {text}"));
        assert!(!found.labels.is_empty() && found.help.as_ref().is_some_and(|help| !help.is_empty()), "{name}: {text}");
        assert!(text.contains(message), "{name}: {text}");
    }
}

#[test]
fn a_list_is_replaced_by_the_administrative_one() {
    let plan = plan(&PORTS.replacen(GATES, &format!("{GATES}{}", admin("\"5ms\"", "")), 1));
    let list =
        Ethernet::first(&plan).unwrap().segment.ports.of(PortEnd::ToStation(NodeId(0))).unwrap().gates.clone().unwrap();
    assert_eq!(list.change.as_ref().map(|change| change.begins()), Some(Duration::from_ms(5)));
    let changed = list.changed().unwrap();
    assert_eq!((changed.cycle, changed.entries.len(), changed.change), (Duration::from_ms(2), 2, None));
}

#[test]
fn a_base_time_in_the_past_begins_with_the_first_cycle_that_is_not() {
    let plan = plan(&PORTS.replacen(GATES, &format!("{GATES}{}", admin("\"0s\", config_change = \"4500us\"", "")), 1));
    let list =
        Ethernet::first(&plan).unwrap().segment.ports.of(PortEnd::ToStation(NodeId(0))).unwrap().gates.clone().unwrap();
    assert_eq!(list.change.as_ref().map(|change| change.begins()), Some(Duration::from_ms(6)));
}

#[test]
fn every_problem_of_an_administrative_list_is_shown_with_its_place_and_what_helps() {
    let cases = [
        (admin("\"10us\"", ""), "the longest frame, which takes 128us, may have begun before"),
        (admin("\"5ms\", config_change = \"4900us\"", ""), "write at least 5.028ms, or an earlier `config_change`"),
        ("cycle_time_extension = \"1us\"\n".to_owned(), "a cycle is extended only before another list begins"),
        (
            admin("\"5ms\"", ", { open = [1], lasts = \"3ms\" }"),
            "the entries up to this one last 3.9ms, and the cycle is 2ms",
        ),
        (admin("\"5ms\"", ", { open = [9], lasts = \"3us\" }"), "there is no traffic class 9"),
    ];
    for (keys, message) in cases {
        let text = problems("admin", &PORTS.replacen(GATES, &format!("{GATES}{keys}"), 1)).render();
        assert!(text.contains(message), "{message}: {text}");
    }
}

/// A key of the gates of all switches.
const GATES: &str = "granularity = \"1us\"\n";

/// An administrative list with more keys and one more entry.
fn admin(keys: &str, entry: &str) -> String {
    format!(
        "admin = {{ base_time = {keys}, cycle_time = \"2ms\", entries = [{{ open = [7], lasts = \"400us\" }}, \
         {{ open = [0, 1, 2, 3, 4, 5, 6], lasts = \"500us\" }}{entry}] }}\n"
    )
}

#[test]
fn ports_are_those_of_their_link_ends() {
    let plan = plan(PORTS);
    let view = Ethernet::first(&plan).unwrap();
    let ports = &view.segment.ports;
    let of_bridge = ports.of(PortEnd::ToStation(NodeId(0))).unwrap();
    assert_eq!(of_bridge.class_of, [0, 0, 2, 3, 4, 5, 6, 7]);
    assert_eq!(of_bridge.classes[4].room, Some(8_000));
    let list = of_bridge.gates.as_ref().unwrap();
    assert_eq!((list.base_time, list.cycle), (Duration::from_us(10), Duration::from_ms(1)));
    assert_eq!(
        list.entries.iter().map(|entry| (entry.open, entry.hold)).collect::<Vec<_>>(),
        [(0x80, true), (0x7f, false)]
    );
    // 143 bytes on the slowest link.
    assert_eq!(list.hold_advance, Rate(100_000_000).time_of(143));
    assert_eq!(ports.of(PortEnd::Between(1, 0)), Some(of_bridge));
    let own = ports.of(PortEnd::Between(0, 1)).unwrap();
    assert!(own.gates.is_none() && own.classes[3].is_preemptable && !own.classes[0].is_preemptable);
    assert_eq!(
        own.class_of,
        [0, 1, 2, 3, 4, 5, 6, 7],
        "a priority is the class that table 8-5 of IEEE 802.1Q recommends"
    );
    let of_station = ports.of(PortEnd::Station(NodeId(1))).unwrap();
    assert_eq!(of_station.class_of, of_bridge.class_of, "a station's classes are those of its switch");
    assert!(of_station.gates.is_none() && of_station.classes.iter().all(|class| class.room.is_none()));
}

#[test]
fn a_tag_makes_a_frame_four_bytes_longer() {
    let plan = plan(PORTS);
    let view = Ethernet::first(&plan).unwrap();
    let of = |name: &str| view.streams().find(|stream| stream.stream.name == name).unwrap();
    assert_eq!((of("picture").hop.frame_len, of("echo").hop.frame_len, of("light").hop.frame_len), (1518, 118, 114));
    assert_eq!(of("echo").tag.map(|tag| (tag.pcp, tag.vid)), Some((7, 42)));
    assert_eq!((of("picture").tag.map(|tag| tag.vid), of("light").tag), (Some(1), None));
    assert_eq!((of("echo").hop.class, of("light").hop.class), ("vlan", "best-effort"));
    // One frame with preamble, checksum and gap in 10 ms, and 200 ppm more; or what is written.
    let committed = view.committed_of(&of("echo"));
    assert_eq!((committed.rate, committed.burst), (Rate(113_623), 142));
    assert_eq!((view.committed_of(&of("light")).rate, view.committed_of(&of("light")).burst), (Rate(1_000_000), 200));
}
