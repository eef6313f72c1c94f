//! `--set path=value`, and JSON.

use chronoseal_core::Duration;
use chronoseal_plan::{Ethernet, Plan};
use chronoseal_scenario::{Code, NoFiles, Problems, load};

use crate::{WHOLE, shown};

fn with(sets: &[(&str, &str)]) -> Result<Plan, Problems> {
    let sets: Vec<(String, String)> = sets.iter().map(|(path, value)| ((*path).into(), (*value).into())).collect();
    load("whole.toml", WHOLE.as_bytes(), &sets, &NoFiles)
}

#[test]
fn sets_quantities_numbers_lists_and_keys_not_written() {
    let plan = with(&[
        ("duration", "3s"),
        ("seed", "7"),
        ("streams.speed.count", "5"),
        ("streams.1.length", "50B"),
        ("nodes.a.tasks.control.wcet", "2ms"),
        ("nodes.0.clock.fixed.drift", "\"1ppm\""),
        ("segments.network.ethernet.sniffing_switch", "true"),
        ("candidates", "[\"none\"]"),
        ("streams.speed.to.0", "b"),
    ])
    .unwrap_or_else(|problems| panic!("{}", problems.render()));
    assert_eq!(plan.duration, Duration::from_s(3));
    assert_eq!(plan.seed, 7);
    assert_eq!(plan.streams.len(), 6);
    assert_eq!(plan.streams[5].hops[0].frame_len, 64);
    assert_eq!(plan.nodes[0].tasks[0].wcet, Duration::from_ms(2));
    assert_eq!(plan.nodes[0].clock.drift.0, 1_000);
    assert!(Ethernet::first(&plan).expect("it has one").segment.sniffing_switch);
    assert_eq!(plan.candidates.len(), 1);
}

#[test]
fn a_value_of_several_lines_is_a_table_as_it_stands_in_a_file() {
    let table = "# Another network.\nrate = \"1Gbit/s\"\ncluster_cycle = \"10ms\"  # the same\n\n[virtual_links]\npolicing = \"frames\"\n";
    let plan = with(&[("segments.network.ethernet", table), ("segments.network.ethernet.guard_period", "3us")])
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    let network = Ethernet::first(&plan).expect("it has one");
    assert_eq!(network.segment.rate.0, 1_000_000_000);
    assert_eq!(network.segment.guard_period, Duration::from_us(3));
    assert!(network.segment.virtual_links.charges_longest);
    // A table in braces takes one, too.
    let clock = "offset = \"5us\"\ndrift = \"2ppm\"\n";
    let plan = with(&[("nodes.0.clock.fixed", clock)]).unwrap_or_else(|problems| panic!("{}", problems.render()));
    assert_eq!(plan.nodes[0].clock.drift.0, 2_000);
    for (text, says) in [("rate = \n", "is no table"), ("just words\n", "is no table")] {
        let problems = with(&[("segments.network.ethernet", text)]).expect_err(text);
        assert_eq!(problems.list()[0].code, Code::Override);
        assert!(problems.render().contains(says), "{}", problems.render());
    }
    let problems = with(&[("segments.network.ethernet", "rate = \"1Gbit/s\"\nrat = 1\ncluster_cycle = \"1ms\"\n")]);
    let problems = problems.expect_err("no such key");
    assert!(problems.render().contains("rat = 1"), "{}", problems.render());
    assert!(problems.source_name().contains("--set segments.network.ethernet=@"), "{}", problems.source_name());
}

#[test]
fn later_ones_win() {
    assert_eq!(with(&[("seed", "1"), ("seed", "2")]).expect("right").seed, 2);
}

#[test]
fn a_path_to_nowhere_is_refused() {
    for path in ["", ".", "streams.nothing.count", "streams.9.count", "duration.x", "streams.speed.to.7", "a..b"] {
        let problems = with(&[(path, "1")]).expect_err(path);
        assert_eq!(problems.list()[0].code, Code::Override, "{path}: {}", problems.render());
    }
}

#[test]
fn a_new_key_that_does_not_exist_is_shown_in_the_changed_text() {
    let problems = with(&[("streams.speed.perod", "1ms")]).expect_err("no such key");
    assert_eq!(problems.list()[0].code, Code::UnknownKey);
    assert!(problems.render().contains("perod = \"1ms\""), "{}", problems.render());
    assert!(problems.source_name().contains("--set streams.speed.perod=1ms"));
}

fn as_json(toml: &str) -> String {
    let table: toml::Table = toml.parse().expect("TOML");
    serde_json::to_string_pretty(&table).expect("tables are objects")
}

#[test]
fn json_means_the_same() {
    let sets = [("seed".to_owned(), "9".to_owned()), ("streams.log.length".to_owned(), "47B".to_owned())];
    let from_json = load("whole.json", as_json(WHOLE).as_bytes(), &sets, &NoFiles)
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    let from_toml = load("whole.toml", WHOLE.as_bytes(), &sets, &NoFiles).expect("right");
    assert_eq!(shown(from_json), shown(from_toml));
}

#[test]
fn problems_of_json_point_at_it() {
    let problems = load("x.json", b"{ \"name\": \"x\",, }", &[], &NoFiles).expect_err("no JSON");
    assert_eq!(problems.list()[0].code, Code::Syntax);
    assert_eq!(problems.to_json()["problems"][0]["labels"][0]["column"], 15);
    let cut = load("x.json", b"{ \"name\": \"x\"", &[], &NoFiles).expect_err("cut off");
    assert_eq!(cut.list()[0].code, Code::Truncated);
    let null = load("x.json", b"{ \"name\": null }", &[], &NoFiles).expect_err("null");
    assert_eq!(null.list()[0].code, Code::Syntax);
    let wrong = as_json(WHOLE).replace("\"7ms\"", "\"7\"");
    let problems = load("x.json", wrong.as_bytes(), &[], &NoFiles).expect_err("no unit");
    assert_eq!(problems.list()[0].code, Code::MissingUnit);
    assert!(problems.render().contains("period = \"7\""), "{}", problems.render());
}
