//! Stream filters, gates and meters: what they become, and what a person sees for each thing that is wrong.

use crate::support::plan;
use chronoseal_core::{Duration, NodeId, Priority, Rate};
use chronoseal_media::psfp::StreamGateEntry;
use chronoseal_plan::{Ethernet, Plan};
use chronoseal_plan::{Neighbour, StreamFilters};
use chronoseal_scenario::{Code, NoFiles, Problems, load};

const FILTERS: &str = include_str!("stream_filters.toml");

fn problems(name: &str, text: &str) -> Problems {
    load("filters.toml", text.as_bytes(), &[], &NoFiles).expect_err(name)
}

/// The changes that bring about one kind of problem each: name, code, old text, new text, part of the message.
pub(crate) const CASES: &[(&str, Code, &str, &str, &str)] = &[
    ("filter_of_no_stream", Code::UnknownName, "stream = \"echo\"", "stream = \"eco\"", "no stream named `eco`"),
    ("filter_at_no_switch", Code::UnknownName, "[\"rear\"], from", "[\"raer\"], from", "no switch named `raer`"),
    ("filter_from_nobody", Code::UnknownName, "from = [\"camera\"]", "from = [\"camel\"]", "`camel`"),
    ("filter_without_its_gate", Code::UnknownName, "gate = \"window\"", "gate = \"door\"", "`door`"),
    ("filter_without_its_meter", Code::UnknownName, "meter = \"one picture\"", "meter = \"picture\"", "`picture`"),
    ("filter_of_no_priority", Code::OutOfRange, "priority = 2", "priority = 8", ""),
    ("filter_name_twice", Code::DuplicateName, "name = \"echo\", stream", "name = \"rest\", stream", "two of"),
    ("meter_name_twice", Code::DuplicateName, "name = \"little\", cir", "name = \"one picture\", cir", "two of"),
    (
        "filter_behind_one_for_all",
        Code::BadStreamFilter,
        "  { name = \"picture\", stream",
        "  { name = \"all\" },\n  { name = \"picture\", stream",
        "matches nothing that `all` has not matched",
    ),
    ("sdu_above_the_longest", Code::OutOfRange, "max_sdu = \"1500B\"", "max_sdu = \"1501B\"", "maximum SDU size"),
    ("blocked_by_nothing", Code::BadStreamFilter, "max_sdu = \"1500B\", ", "", "no frame is too long"),
    ("gate_beyond_its_cycle", Code::BadStreamFilter, "\"700us\"", "\"900us\"", "8.6.10"),
    ("octets_of_a_closed_gate", Code::BadStreamFilter, "ipv = 6", "open = false, ipv = 6", "nothing passes"),
    ("internal_priority_too_high", Code::OutOfRange, "ipv = 6", "ipv = 8", ""),
    ("gate_without_entries", Code::MissingKey, "entries = [\n", "entries = [], x = [\n", "`entries` is empty"),
    ("excess_without_burst", Code::BadStreamFilter, "ebs = \"1522B\", ", "", "MEF 10.3"),
    ("rate_below_the_least", Code::OutOfRange, "\"100kbit/s\"", "\"100bit/s\"", "committed information rate"),
    ("burst_below_a_frame", Code::OutOfRange, "cbs = \"200B\"", "cbs = \"63B\"", "committed burst size"),
    (
        "internal_priority_without_a_tag",
        Code::BadStreamFilter,
        "name = \"echo\", stream = \"echo\"",
        "name = \"echo\", stream = \"state\"",
        "none in a VLAN tag",
    ),
    (
        "filter_of_a_stream_elsewhere",
        Code::BadStreamFilter,
        "[[nodes]]\nname = \"camera\"",
        "[segments.side.ethernet]\nrate = \"1Gbit/s\"\ncluster_cycle = \"10ms\"\nclass = { best_effort = {} }\n\n[[nodes]]\nname = \
         \"other\"\non = [\"side\"]\n\n[[nodes]]\nname = \"another\"\non = [\"side\"]\n\n[[streams]]\nname = \"away\"\nfrom = \
         \"other\"\nto = [\"another\"]\nperiod = \"10ms\"\nlength = \"46B\"\n\n[[nodes]]\non = [\"backbone\"]\nname = \"camera\"",
        "",
    ),
];

#[test]
fn every_problem_of_stream_filters_is_shown_with_its_place() {
    for (name, code, old, new, part) in CASES {
        assert!(FILTERS.contains(old), "{name}: the scenario has no {old}");
        let mut text = FILTERS.replacen(old, new, 1);
        if *name == "filter_of_a_stream_elsewhere" {
            // The other nodes of the backbone have to say so now, and the filter names the stream that is not there.
            text = text.replace("name = \"radar\"\n\n", "name = \"radar\"\non = [\"backbone\"]\n\n");
            text = text.replace("name = \"brain\"\n\n", "name = \"brain\"\non = [\"backbone\"]\n\n");
            text = text.replace("stream = \"echo\"", "stream = \"away\"");
        }
        let problems = problems(name, &text);
        let found = problems.list().iter().find(|problem| problem.code == *code && problem.message.contains(part));
        let found = found.unwrap_or_else(|| panic!("{name}: {}", problems.render()));
        assert!(!found.labels.is_empty(), "{name}");
        insta::assert_snapshot!(*name, problems.render());
    }
}

fn filters(plan: &Plan) -> &StreamFilters {
    &Ethernet::first(plan).expect("it has such a segment").segment.stream_filters
}

#[test]
fn filters_gates_and_meters_become_what_is_written() {
    let plan = plan(FILTERS);
    let StreamFilters { filters, gates, meters } = filters(&plan);
    let names: Vec<&str> = filters.iter().map(|filter| filter.name.as_str()).collect();
    assert_eq!(names, ["picture", "echo", "lower", "rest"]);
    let picture = &filters[0];
    assert_eq!((picture.entry, picture.priority, picture.max_sdu), (Some(0), None, Some(1_500)));
    assert_eq!((&picture.from, &picture.switches), (&Some(vec![Neighbour::Station(NodeId(0))]), &None));
    assert_eq!((picture.meter, picture.gate, picture.blocks_on_oversize), (Some(0), None, true));
    assert_eq!((&filters[1].switches, filters[1].gate), (&Some(vec![0]), Some(0)));
    assert_eq!((&filters[2].switches, &filters[2].from), (&Some(vec![1]), &Some(vec![Neighbour::Switch(0)])));
    let us = Duration::from_us;
    let open = StreamGateEntry { is_open: true, ipv: Some(Priority(6)), lasts: us(200), octets_max: Some(3_000) };
    let shut = StreamGateEntry { is_open: false, ipv: None, lasts: us(700), octets_max: None };
    let window = &gates[0].1;
    assert_eq!((window.list.cycle, window.list.base_time), (us(1_000), us(10)));
    assert_eq!(window.list.entries, [open, shut]);
    assert_eq!((window.closes_on_invalid_rx, window.closes_on_octets_exceeded), (true, false));
    let [(_, one), (name, little)] = &meters[..] else { panic!("{meters:?}") };
    assert_eq!((one.cir, one.cbs, one.eir, one.ebs), (Rate(2_000_000), 1_522, Rate(0), 0));
    assert_eq!((name.as_str(), little.eir, little.ebs, little.couples), ("little", Rate(50_000), 1_522, true));
    assert!(little.drops_yellow && !little.is_colour_aware && !little.marks_all_red);
}

#[test]
fn the_first_filter_that_matches_a_frame_is_the_one_that_judges_it() {
    let plan = plan(FILTERS);
    let found = |switch, from, entry, priority| {
        filters(&plan).of(switch, from, |own| entry == Some(own), priority).map(|filter| filter.name.as_str())
    };
    let [camera, radar] = [0, 1].map(|node| Neighbour::Station(NodeId(node)));
    assert_eq!(found(0, camera, Some(0), 1), Some("picture"));
    assert_eq!(found(1, Neighbour::Switch(0), Some(0), 1), Some("rest"), "it comes by another link there");
    assert_eq!(found(0, radar, Some(1), 5), Some("echo"));
    assert_eq!(found(1, Neighbour::Switch(0), Some(1), 2), Some("lower"));
    assert_eq!(found(0, radar, Some(2), 2), Some("rest"));
}
