//! Streams that share a virtual link: what they become, and what a person sees for each thing that is wrong.

use crate::support::{changed, plan, refused};
use chronoseal_core::Duration;
use chronoseal_plan::Neighbour;
use chronoseal_plan::{Ethernet, Plan, VirtualLink};
use chronoseal_scenario::Code;

const AVIONICS: &str = include_str!("virtual_links.toml");

/// Two more streams of `air-data`, which share the virtual link of `altitude`, and one of `inertia`, which shares that of `attitude`.
const MORE: &str = "
[[streams]]
name = \"speed\"
from = \"air-data\"
to = [\"display\"]
period = \"40ms\"
length = \"500B\"
afdx = { sub_virtual_link_of = \"altitude\" }

[[streams]]
name = \"probe\"
count = 2
from = \"air-data\"
to = [\"display\"]
period = \"20ms\"
length = \"80B\"
afdx = { sub_virtual_link_of = \"altitude\" }

[[streams]]
name = \"rate\"
from = \"inertia\"
to = [\"engine\", \"display\"]
period = \"8ms\"
length = \"60B\"
afdx = { sub_virtual_link_of = \"attitude\" }
";

fn text() -> String {
    format!("{AVIONICS}{MORE}")
}

fn links(plan: &Plan) -> Vec<(String, VirtualLink)> {
    let view = Ethernet::first(plan).expect("it has such a segment");
    let link = |class: chronoseal_plan::StreamClass| class.virtual_link().copied();
    view.streams().filter_map(|stream| Some((stream.stream.name.clone(), link(stream.class)?))).collect()
}

const SPEED: &str = "sub_virtual_link_of = \"altitude\" }\n\n[[streams]]\nname = \"probe\"";
const RATE: &str = "afdx = { sub_virtual_link_of = \"attitude\" }";

/// The changes that bring about one kind of problem each: name, code, old text, new text.
const CASES: &[(&str, Code, &str, &str)] = &[
    (
        "sub_of_no_stream",
        Code::UnknownName,
        SPEED,
        "sub_virtual_link_of = \"altitud\" }\n\n[[streams]]\nname = \"probe\"",
    ),
    (
        "sub_of_itself",
        Code::BadVirtualLink,
        SPEED,
        "sub_virtual_link_of = \"speed\" }\n\n[[streams]]\nname = \"probe\"",
    ),
    (
        "sub_of_sub",
        Code::BadVirtualLink,
        "sub_virtual_link_of = \"altitude\" }\n\n[[streams]]\nname = \"rate\"",
        "sub_virtual_link_of = \"speed\" }\n\n[[streams]]\nname = \"rate\"",
    ),
    ("sub_of_several", Code::BadVirtualLink, "name = \"altitude\"", "name = \"altitude\"\ncount = 2"),
    ("sub_of_best_effort", Code::BadVirtualLink, RATE, "afdx = { sub_virtual_link_of = \"log\" }"),
    ("sub_of_another_sender", Code::BadVirtualLink, RATE, "afdx = { sub_virtual_link_of = \"thrust\" }"),
    ("sub_to_others", Code::BadVirtualLink, "to = [\"engine\", \"display\"]", "to = [\"display\"]"),
    (
        "sub_with_a_class",
        Code::BadVirtualLink,
        RATE,
        "afdx = { sub_virtual_link_of = \"attitude\", class = { rate_constrained = {} } }",
    ),
    ("sub_with_an_identifier", Code::BadVirtualLink, RATE, "afdx = { sub_virtual_link_of = \"attitude\", ct_id = 9 }"),
    (
        "sub_with_a_class_by_name",
        Code::BadVirtualLink,
        "switches = [",
        "classes = [{ streams = [\"rate\"], class = { rate_constrained = {} } }]\nswitches = [",
    ),
    ("sub_one_too_many", Code::BadVirtualLink, "count = 2", "count = 3"),
    ("sub_above_lmax", Code::BadVirtualLink, "length = \"60B\"", "length = \"600B\""),
    ("sub_gap_too_long", Code::BadVirtualLink, "bag = \"2ms\"", "bag = \"4ms\""),
    ("sub_no_gap", Code::BadVirtualLink, "period = \"20ms\"", "period = \"2ms\""),
    (
        "sub_filtered_alone",
        Code::BadStreamFilter,
        "switches = [",
        "stream_filters = [{ name = \"slow\", stream = \"speed\", max_sdu = \"600B\" }]\nswitches = [",
    ),
];

#[test]
fn every_problem_of_sub_virtual_links_is_shown_with_its_place() {
    for (name, code, old, new) in CASES {
        let text = text();
        let problems = refused(name, "avionics.toml", &changed(name, &text, old, new), *code);
        insta::assert_snapshot!(*name, problems.render());
    }
}

#[test]
fn streams_that_share_a_virtual_link_have_one_identifier_and_the_longest_frame_of_all() {
    let links = links(&plan(&text()));
    let of = |name: &str| links.iter().find(|(known, _)| known == name).expect("it is there").1;
    let altitude = of("altitude");
    // Four turns of 2 ms within the shortest period, 10 ms; the longest frame is that of `speed`.
    assert_eq!((altitude.bag, altitude.lmax, altitude.sub_links), (Duration::from_ms(2), 519, 4));
    for name in ["speed", "probe.0", "probe.1"] {
        assert_eq!(of(name), altitude, "{name}");
    }
    // What is written holds.
    let attitude = of("attitude");
    assert_eq!((attitude.ct_id, attitude.bag, attitude.lmax, attitude.sub_links), (7, Duration::from_ms(2), 400, 2));
    assert_eq!(of("rate"), attitude);
    assert_eq!(of("thrust").sub_links, 1);
}

#[test]
fn a_filter_selects_a_virtual_link_with_all_streams_that_share_it() {
    let filters = "stream_filters = [{ name = \"whole\", stream = \"altitude\" }]\nswitches = [";
    let plan = plan(&text().replacen("switches = [", filters, 1));
    let view = Ethernet::first(&plan).expect("it has such a segment");
    for stream in view.streams() {
        let filter = view.filter_at(0, Neighbour::Station(stream.hop.from), &stream);
        let is_whole = ["altitude", "speed", "probe.0", "probe.1"].contains(&stream.stream.name.as_str());
        assert_eq!(filter.map(|filter| filter.name.as_str()), is_whole.then_some("whole"), "{}", stream.stream.name);
        assert_eq!(is_whole, view.plan.streams[view.known_as(&stream).index()].name == "altitude");
    }
}

#[test]
fn without_the_standard_a_gap_is_what_one_turn_of_the_shortest_period_is() {
    let loose = text().replacen("switches = [", "virtual_links = { standard = false }\nswitches = [", 1);
    let links = links(&plan(&loose));
    assert_eq!(links[0].1.bag, Duration::from_us(2_500));
}
