//! Virtual links of ARINC 664 part 7: what they become, and what a person sees for each thing that is wrong.

use crate::support::{changed, plan, refused};
use chronoseal_core::{Duration, Ppm, Priority};
use chronoseal_plan::{Ethernet, Plan, StreamClass, VirtualLink};
use chronoseal_scenario::Code;

const AVIONICS: &str = include_str!("virtual_links.toml");

fn classes(plan: &Plan) -> Vec<(StreamClass, u32)> {
    let view = Ethernet::first(plan).expect("it has such a segment");
    view.streams().map(|stream| (stream.class, view.secured_len(&stream))).collect()
}

/// The changes that bring about one kind of problem each: name, code, old text, new text.
pub(crate) const CASES: &[(&str, Code, &str, &str)] = &[
    ("bag_no_power_of_two", Code::BadVirtualLink, "bag = \"2ms\"", "bag = \"3ms\""),
    ("bag_below_the_shortest", Code::BadVirtualLink, "bag = \"2ms\"", "bag = \"500us\""),
    ("bag_above_the_longest", Code::BadVirtualLink, "bag = \"2ms\"", "bag = \"256ms\""),
    ("bag_above_the_period", Code::BadVirtualLink, "bag = \"2ms\"", "bag = \"8ms\""),
    (
        "bag_of_the_segment",
        Code::BadVirtualLink,
        "class = { rate_constrained = {} }",
        "class = { rate_constrained = { bag = \"7ms\" } }",
    ),
    ("period_below_every_bag", Code::BadVirtualLink, "period = \"10ms\"", "period = \"500us\""),
    ("lmax_below_the_secured_frame", Code::BadVirtualLink, "lmax = \"400B\"", "lmax = \"118B\""),
    ("lmax_of_no_frame", Code::OutOfRange, "lmax = \"400B\"", "lmax = \"2000B\""),
    ("lmin_above_the_frame", Code::BadVirtualLink, "lmax = \"400B\"", "lmax = \"400B\", lmin = \"120B\""),
    ("jitter_too_large", Code::OutOfRange, "jitter = \"100us\"", "jitter = \"2s\""),
    ("longer_than_a_datagram", Code::FrameTooLong, "length = \"1499B\"", "length = \"65508B\""),
    ("output_jitter", Code::BadVirtualLink, "name = \"altitude\"", "name = \"altitude\"\ncount = 22"),
    ("virtual_link_taken", Code::BadCtId, "length = \"1499B\"", "length = \"1499B\"\nafdx = { ct_id = 7 }"),
    (
        "virtual_link_of_best_effort",
        Code::BadCtId,
        "class = { best_effort = {} }",
        "class = { best_effort = {} }, ct_id = 9",
    ),
    ("freshness_of_a_slot", Code::FreshnessWithoutSlot, "freshness = \"full\"", "freshness = \"cycle-counter\""),
    (
        "class_of_no_stream",
        Code::UnknownName,
        "switches = [",
        "classes = [{ streams = [\"altitud\"], class = { best_effort = {} } }]\nswitches = [",
    ),
    (
        "class_twice_by_name",
        Code::DuplicateName,
        "switches = [",
        "classes = [\n  { streams = [\"altitude\"], class = { best_effort = {} } },\n  \
         { streams = [\"altitude\"], class = \"time-triggered\" },\n]\nswitches = [",
    ),
    (
        "class_by_name_and_of_its_own",
        Code::DuplicateName,
        "switches = [",
        "classes = [{ streams = [\"attitude\"], class = { best_effort = {} } }]\nswitches = [",
    ),
    (
        "bag_of_a_class_by_name",
        Code::BadVirtualLink,
        "switches = [",
        "classes = [{ streams = [\"altitude\"], class = { rate_constrained = { bag = \"7ms\" } } }]\nswitches = [",
    ),
    (
        "clock_tolerance",
        Code::OutOfRange,
        "switches = [",
        "virtual_links = { clock_tolerance = \"5000ppm\" }\nswitches = [",
    ),
];

#[test]
fn every_problem_of_virtual_links_is_shown_with_its_place() {
    for (name, code, old, new) in CASES {
        let problems = refused(name, "avionics.toml", &changed(name, AVIONICS, old, new), *code);
        insta::assert_snapshot!(*name, problems.render());
    }
}

#[test]
fn a_virtual_link_takes_from_its_stream_what_it_does_not_say() {
    let plan = plan(AVIONICS);
    let classes = classes(&plan);
    let standard = Duration::from_us(500);
    // 14 of header, 200 of data, 24 of freshness and tag, 1 of sequence number; and 4 of checksum.
    let altitude = VirtualLink {
        ct_id: 1,
        bag: Duration::from_ms(8),
        is_high: false,
        lmin: 64,
        lmax: 243,
        jitter: standard,
        sub_links: 1,
    };
    assert_eq!(classes[0], (StreamClass::RateConstrained(altitude), 239));
    let attitude = VirtualLink {
        ct_id: 7,
        bag: Duration::from_ms(2),
        is_high: true,
        lmin: 64,
        lmax: 400,
        jitter: Duration::from_us(100),
        sub_links: 1,
    };
    assert_eq!(classes[1], (StreamClass::RateConstrained(attitude), 115));
    let thrust = VirtualLink { ct_id: 2, bag: Duration::from_ms(128), lmax: 1518, ..altitude };
    assert_eq!(classes[2], (StreamClass::RateConstrained(thrust), 1514));
    assert_eq!(classes[3].0, StreamClass::BestEffort { priority: 0 });
    let queues: Vec<Option<u8>> = classes.iter().map(|(class, _)| class.queue()).collect();
    assert_eq!(queues, [Some(8), Some(9), Some(8), Some(0)]);
    assert!(
        Priority::RATE_CONSTRAINED_HIGH < Priority::PROTOCOL_CONTROL && Priority::RATE_CONSTRAINED_LOW > Priority(7)
    );
}

#[test]
fn a_segment_gives_classes_by_name() {
    let own = classes(&plan(AVIONICS));
    let text = AVIONICS.replacen(
        "switches = [",
        "classes = [{ streams = [\"altitude\"], class = { vlan = { pcp = 6 } } }]\nswitches = [",
        1,
    );
    let named = classes(&plan(&text));
    // No sequence number, and a VLAN tag of four bytes.
    assert_eq!(named[0], (StreamClass::BestEffort { priority: 6 }, own[0].1 - 1 + 4));
    assert_eq!((named[2].1, &named[3..]), (own[2].1, &own[3..]));
}

#[test]
fn the_shortest_frame_has_room_for_its_number() {
    for (length, expected) in [(45, 60), (46, 61)] {
        let text = AVIONICS.replacen("length = \"100B\"", &format!("length = \"{length}B\""), 1);
        assert_eq!(classes(&plan(&text))[1].1, expected);
    }
}

#[test]
fn a_segment_that_is_not_standard_takes_any_gap_and_tells_of_output_jitter() {
    let loose = |text: &str| text.replacen("switches = [", "virtual_links = { standard = false }\nswitches = [", 1);
    let gaps = |text: &str| -> Vec<Duration> {
        classes(&plan(text)).iter().filter_map(|(class, _)| Some(class.virtual_link()?.bag)).collect()
    };
    let text = loose(&AVIONICS.replacen("bag = \"2ms\"", "bag = \"1300us\"", 1));
    assert_eq!(gaps(&text), [10_000, 1_300, 128_000].map(Duration::from_us));
    // 40 us, and for each of them 263 bytes at 100 Mbit/s: 21 have 481.84 us.
    let notes = |count: u32| {
        let text = AVIONICS.replacen("name = \"altitude\"", &format!("name = \"altitude\"\ncount = {count}"), 1);
        plan(&loose(&text)).notes
    };
    let told = "`air-data` sends 22 virtual links on `afdx`, and its output jitter can be 502.88us";
    assert!(notes(22).iter().any(|note| note.starts_with(told)), "{:?}", notes(22));
    assert!(!notes(21).iter().any(|note| note.contains("output jitter")), "{:?}", notes(21));
}

#[test]
fn the_gap_is_shorter_by_true_time_where_a_clock_is_fast() {
    let class = classes(&plan(AVIONICS))[1].0;
    let link = class.virtual_link().expect("it is rate-constrained");
    assert_eq!(link.bag_min(Ppm(0)), Duration::from_ms(2));
    assert_eq!(link.bag_min(Ppm(100_000)), Duration::from_ms(2) - Duration::from_ns(200) - Duration::from_ps(3));
}
