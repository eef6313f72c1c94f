//! Lossy links: what holds, what nobody can promise, and what certainly does not hold.

use crate::{changed, verdict};

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
