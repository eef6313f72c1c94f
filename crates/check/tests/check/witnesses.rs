//! BROKEN has a witness: what only may go wrong is not proven.

use crate::{changed, verdict};

/// One frame in a slot; its sender's clock drifts by 1 us from one beacon to the next.
const SLOT: &str = r#"
schema_version = 2
name = "slot"
duration = "1s"
[segments.net.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
guard_period = "200us"
precision = "5us"
[[nodes]]
name = "a"
clock = { fixed = { offset = "0s", drift = "100ppm" } }
[[nodes]]
name = "b"
clock = "ideal"
[[streams]]
name = "speed"
from = "a"
to = ["b"]
period = "10ms"
length = "46B"
"#;

/// Two switches with one link, over which the stream goes.
const FAILING: &str = r#"
schema_version = 2
name = "failing"
duration = "1s"
[segments.net.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
sync = "ideal"
class = { best_effort = {} }
switches = ["front", "rear"]
links = [
  { between = ["front", "rear"] },
  { between = ["a", "front"] },
  { between = ["c", "front"] },
  { between = ["b", "rear"] },
]
failures = [{ link = ["front", "rear"], at = "500ms" }]
[[nodes]]
name = "a"
clock = "ideal"
[[nodes]]
name = "b"
clock = "ideal"
[[nodes]]
name = "c"
clock = "ideal"
[[streams]]
name = "across"
from = "a"
to = ["b"]
period = "10ms"
length = "46B"
[[streams]]
name = "beside"
from = "a"
to = ["c"]
period = "10ms"
length = "46B"
"#;

/// A bus, a gateway that starts anew, and a switch.
const REBOOT: &str = r#"
schema_version = 2
name = "reboot"
duration = "1s"
[segments.bus.can]
bit_rate = "500kbit/s"
[segments.net.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
sync = "ideal"
class = { best_effort = {} }
[[nodes]]
name = "a"
on = ["bus"]
[[nodes]]
name = "gw"
on = ["bus", "net"]
clock = "ideal"
gateway = { delay = "20us", queue = "8 frames", reboot = { at = "500ms", takes = "20ms" } }
[[nodes]]
name = "b"
on = ["net"]
clock = "ideal"
[[streams]]
name = "speed"
from = "a"
to = ["b"]
period = "10ms"
length = "8B"
bus = { id = "0x100" }
"#;

#[test]
fn a_clock_is_broken_from_what_it_drifts_on_and_not_proven_below_the_bound_of_its_error() {
    // 1 us from beacon to beacon, and 1.4 of it while the rate is being learnt.
    for (precision, word) in [("5us", "held"), ("1200ns", "not proven"), ("900ns", "broken")] {
        let (found, text) = verdict(&changed(SLOT, "precision = \"5us\"", &format!("precision = \"{precision}\"")));
        assert_eq!(found, word, "{precision}: {text}");
        assert_eq!(word != "held", text.contains("the clock of `a`"), "{text}");
    }
}

#[test]
fn a_link_that_fails_breaks_what_goes_over_it_and_nothing_else() {
    let (word, text) = verdict(FAILING);
    assert_eq!(word, "broken", "{text}");
    assert!(text.contains("`across` at `b`") && !text.contains("beside"), "{text}");
    let (word, text) = verdict(&changed(FAILING, "at = \"500ms\"", "at = \"2s\""));
    assert_ne!(word, "broken", "it fails after the end of the run: {text}");
}

#[test]
fn a_gateway_that_is_away_for_a_period_loses_a_frame() {
    assert_eq!(verdict(REBOOT).0, "broken");
    let (word, text) = verdict(&changed(REBOOT, "takes = \"20ms\"", "takes = \"1ms\""));
    assert_eq!(word, "not proven", "{text}");
}
