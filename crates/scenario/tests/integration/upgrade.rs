//! Scenarios of version 1 rewritten in version 2.

use chronoseal_scenario::{Code, NoFiles, load, upgrade};

use crate::version_1::scenarios;

fn upgraded(text: &str) -> String {
    upgrade("old.toml", text).unwrap_or_else(|problems| panic!("{}", problems.render())).text
}

fn scenario(name: &str) -> String {
    scenarios().into_iter().find(|(other, _)| other == name).map(|(_, text)| text).expect("it is there")
}

#[test]
fn a_second_upgrade_changes_nothing() {
    for (name, text) in scenarios() {
        let once = upgrade(&name, &text).expect("it is of version 1");
        assert!(once.is_changed() && once.from == 1, "{name}");
        let twice = upgrade(&name, &once.text).expect("it is of version 2");
        assert!(!twice.is_changed() && twice.text == once.text, "{name}");
    }
}

/// The comments of a text; no value of the scenarios has a `#` in it.
fn comments(text: &str) -> Vec<&str> {
    let mut comments: Vec<&str> = text.lines().filter_map(|line| line.find('#').map(|at| line[at..].trim())).collect();
    comments.sort_unstable();
    comments
}

/// The names in a text, in their order.
fn names(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("name = ")).collect()
}

#[test]
fn every_comment_and_the_order_stay() {
    for (name, text) in scenarios() {
        let new = upgraded(&text);
        assert_eq!(comments(&text), comments(&new), "{name}");
        // What was a gateway inside is a node.
        let kept: Vec<&str> = names(&new).into_iter().filter(|line| *line != "name = \"bus-gateway\"").collect();
        assert_eq!(names(&text), kept, "{name}");
    }
}

#[test]
fn unusual_ways_of_writing_are_rewritten_in_place() {
    for name in ["zones", "inline", "comments"] {
        insta::assert_snapshot!(format!("upgraded_{name}"), upgraded(&scenario(name)));
    }
}

#[test]
fn a_scenario_of_version_1_is_refused_with_the_command_that_rewrites_it() {
    for (name, text) in scenarios() {
        let problems = load(&format!("{name}.toml"), text.as_bytes(), &[], &NoFiles).expect_err("it is of version 1");
        assert_eq!((problems.count(), problems.list()[0].code), (1, Code::OldVersion), "{name}");
        let help = problems.list()[0].help.as_deref().unwrap_or_default();
        assert!(help.contains(&format!("`chronoseal scenario upgrade {name}.toml`")), "{help}");
    }
    // Whatever is set besides.
    let sets = [("network.time_triggered_ethernet.rate".to_owned(), "1Gbit/s".to_owned())];
    let problems = load("first.toml", scenario("first").as_bytes(), &sets, &NoFiles).expect_err("it is of version 1");
    assert_eq!((problems.count(), problems.list()[0].code), (1, Code::OldVersion));
    insta::assert_snapshot!("old_version", problems.render());
}

#[test]
fn json_comes_back_as_json() {
    let text = scenario("forger");
    let table: toml::Table = text.parse().expect("TOML");
    let json = serde_json::to_string_pretty(&table).expect("tables are objects");
    let new = upgraded(&json);
    assert!(new.starts_with('{'));
    let plan = |text: &str| {
        let plan = load("forger", text.as_bytes(), &[], &NoFiles);
        crate::shown(plan.unwrap_or_else(|problems| panic!("{}", problems.render())))
    };
    assert_eq!(plan(&new), plan(&upgraded(&text)));
    assert_eq!(upgraded(&new), new);
}

#[test]
fn what_is_wrong_stays_wrong_and_is_reported_by_who_loads_it() {
    let text = scenario("first");
    for (old, new, code) in [
        ("frame = \"60B\"", "frame = \"60\"", Code::MissingUnit),
        ("to = [\"controller\"]", "too = [\"controller\"]", Code::UnknownKey),
        ("frame = \"60B\"", "frame = \"60B\"\nclass = \"unknown\"", Code::UnknownValue),
    ] {
        assert!(text.contains(old), "{old}");
        let new = upgraded(&text.replacen(old, new, 1));
        let problems = load("first.toml", new.as_bytes(), &[], &NoFiles).expect_err("it is wrong");
        assert!(problems.list().iter().any(|problem| problem.code == code), "{}", problems.render());
    }
}

#[test]
fn what_is_no_scenario_of_a_known_version_is_refused() {
    for (text, code) in [
        ("schema_version = ", Code::Truncated),
        ("name = \"x\"\n", Code::MissingKey),
        ("schema_version = 3\n", Code::OutOfRange),
        ("schema_version = \"1\"\n", Code::OutOfRange),
        ("{ \"schema_version\": 1,, }", Code::Syntax),
    ] {
        let problems = upgrade("x.toml", text).expect_err(text);
        assert_eq!(problems.list()[0].code, code, "{text}");
    }
    assert_eq!(upgraded("schema_version = 1\n"), "schema_version = 2\n");
}
