//! Lossy links: what holds, what nobody can promise, and what certainly does not hold.

use chronoseal_report::Block;

use crate::{changed, checked, verdict};

const LINK: &str = r#"
schema_version = 2
name = "link"
duration = "1s"
[segments.air.link]
rate = "54Mbit/s"
delay = { uniform = { min = "1ms", max = "3ms" } }
[[nodes]]
name = "robot"
[[nodes]]
name = "station"
[[streams]]
name = "laser"
from = "robot"
to = ["station"]
period = "10ms"
length = "9kB"
deadline = "10ms"
"#;

#[test]
fn a_link_holds_with_a_bound_and_not_with_more_than_it_carries() {
    let cases = [
        ("as it is", "rate", "rate", "held", "every deadline holds"),
        ("late", "deadline = \"10ms\"", "deadline = \"4ms\"", "not proven", "laser"),
        ("losses", "delay", "loss = { independent = \"1%\" }\ndelay", "not proven", "loses packets"),
        (
            "endless",
            "{ uniform = { min = \"1ms\", max = \"3ms\" } }",
            "{ normal = { mean = \"1ms\", deviation = \"1ms\" } }",
            "not proven",
            "without an end",
        ),
        ("queue", "rate", "queue = \"6 frames\"\nrate", "not proven", "longer queue"),
        ("overload", "period = \"10ms\"", "period = \"1ms\"", "broken", "overloaded"),
    ];
    for (name, from, to, word, said) in cases {
        let (found, text) = verdict(&changed(LINK, from, to));
        assert_eq!(found.replace('-', " "), word, "{name}: {text}");
        assert!(text.contains(said), "{name}: {text}");
    }
}

#[test]
fn a_link_without_an_end_has_percentiles_of_its_law() {
    // Six packets of 1,514 bytes and one of 182, each with a delay of its own: exact figures, not a run's.
    let normal = "{ normal = { mean = \"13ms\", deviation = \"22ms\" } }";
    let text = changed(LINK, "{ uniform = { min = \"1ms\", max = \"3ms\" } }", normal);
    let sections = checked(&text).document.sections;
    let tables = sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    });
    let law = |table: &&chronoseal_report::Table| table.caption.contains("the link alone");
    let table = tables.clone().find(law).expect("the page of a link has it");
    let found: Vec<f64> = table.rows[0][1..].iter().filter_map(|cell| cell.number).collect();
    assert_eq!(found.len(), 5, "mean, deviation and three percentiles: {found:?}");
    for (found, expected) in found.iter().zip([43.637, 13.773, 42.816, 79.485, 93.709]) {
        assert!((found - expected).abs() < 0.01, "{found}, {expected}");
    }
}
