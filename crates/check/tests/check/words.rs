//! Which word a scenario has, and what its verdict says.

use serde_json::Value;

use crate::{changed, checked, json, verdict};

/// One bus, two messages that nothing keeps from coming together.
pub(crate) const BUS: &str = r#"
schema_version = 2
name = "bus"
duration = "1s"
[segments.bus.can]
bit_rate = "500kbit/s"
[[nodes]]
name = "a"
[[nodes]]
name = "b"
[[streams]]
name = "fast"
from = "a"
to = ["b"]
period = "10ms"
length = "8B"
deadline = "10ms"
bus = { id = "0x100" }
[[streams]]
name = "slow"
from = "a"
to = ["b"]
period = "20ms"
length = "8B"
deadline = "20ms"
bus = { id = "0x200" }
"#;

/// One switch, best effort.
pub(crate) const SWITCH: &str = r#"
schema_version = 2
name = "switch"
duration = "100ms"
[segments.net.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
sync = "ideal"
class = { best_effort = {} }
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
name = "brake"
from = "a"
to = ["b"]
period = "1ms"
length = "46B"
deadline = "200us"
[[streams]]
name = "bulk"
from = "c"
to = ["b"]
period = "10ms"
length = "1500B"
deadline = "300us"
"#;

pub(crate) const SPOOF: &str = r#"
[[threats]]
name = "forged bulk"
kind = "spoof"
stream = "bulk"
at = { link = "c" }
start = "10ms"
every = "150us"
count = 500
"#;

/// A recording on the first of two buses.
pub(crate) const RECORDED: &str = r#"
schema_version = 2
name = "recorded"
duration = "500ms"
[segments.b0.can]
bit_rate = "125kbit/s"
[segments.b1.can]
bit_rate = "125kbit/s"
[[nodes]]
name = "rec"
on = ["b0"]
[[nodes]]
name = "x"
on = ["b0"]
[[nodes]]
name = "a"
on = ["b1"]
[[nodes]]
name = "b"
on = ["b1"]
[[streams]]
name = "s0"
from = "a"
to = ["b"]
length = "1B"
period = "50ms"
b1 = { id = "0x123" }
[[recordings]]
name = "car"
from = "rec"
segment = "b0"
traffic = { builtin = "car-busmaster" }
"#;

fn rows(json: &Value) -> Vec<(&str, &str, &str)> {
    let all = json["judged"].as_array().unwrap().iter();
    all.map(|row| (row["stream"].as_str().unwrap(), row["kind"].as_str().unwrap(), row["word"].as_str().unwrap()))
        .collect()
}

#[test]
fn what_holds_is_held() {
    for text in [BUS, SWITCH] {
        assert_eq!(verdict(text), ("held", "On paper every deadline holds.".into()));
    }
}

/// Any message of a bus may be due at any time, so the worst case can come about; with a phase that is written it may not.
#[test]
fn a_bus_is_broken_where_its_worst_case_can_come_about() {
    let late = changed(BUS, "deadline = \"20ms\"", "deadline = \"500us\"");
    let (word, text) = verdict(&late);
    assert_eq!(word, "broken", "{text}");
    assert!(text.contains("`slow` at `b`") && text.contains("due at once"), "{text}");
    let phased = changed(&late, "period = \"20ms\"", "period = \"20ms\"\noffset = \"5ms\"");
    let (word, text) = verdict(&phased);
    assert_eq!(word, "not proven", "{text}");
    assert!(text.contains("the bound may count more than can happen"), "{text}");
}

#[test]
fn a_bound_beyond_a_deadline_proves_nothing() {
    let late = changed(SWITCH, "deadline = \"200us\"", "deadline = \"100us\"");
    let (word, text) = verdict(&late);
    assert_eq!(word, "not proven", "{text}");
    assert!(text.starts_with("Not proven for `brake` at `b`: it is bounded by"), "{text}");
}

#[test]
fn a_tag_that_takes_longer_than_the_deadline_is_broken() {
    let slow = changed(
        SWITCH,
        "[[nodes]]\nname = \"a\"",
        "[[platforms]]\nname = \"slow\"\ncosts = [{ operation = \"cmac-aes-128\", base = \"150us\" }]\n[[protections]]\nname = \"tag\"\nmac = { algorithm = \"cmac-aes-128\", tag = \"8B\", freshness = \"full\" }\n[[nodes]]\nname = \"a\"\nplatform = \"slow\"",
    );
    let slow = changed(&slow, "deadline = \"200us\"", "deadline = \"100us\"\nprotection = \"tag\"");
    let (word, text) = verdict(&slow);
    assert_eq!(word, "broken", "{text}");
    assert!(text.contains("even if nothing is in its way"), "{text}");
}

#[test]
fn more_than_there_is_is_broken() {
    let link = changed(SWITCH, "period = \"10ms\"\nlength = \"1500B\"", "period = \"100us\"\nlength = \"1500B\"");
    let (word, text) = verdict(&link);
    assert_eq!(word, "broken", "{text}");
    assert!(text.contains("overloaded"), "{text}");
    let bus = changed(BUS, "period = \"10ms\"", "period = \"250us\"");
    let bus = changed(&bus, "period = \"20ms\"", "period = \"500us\"");
    let bus = changed(&bus, "deadline = \"20ms\"", "deadline = \"500us\"");
    let (word, text) = verdict(&bus);
    assert_eq!(word, "broken", "{text}");
    let load = &json(&bus)["segments"][0]["load"];
    assert!(load["share_percent"].as_f64().unwrap() > 100.0 && load["from"].is_null(), "{load}");
}

#[test]
fn an_attack_that_nothing_counts_is_named_in_the_verdict() {
    let attacked = SWITCH.to_owned() + SPOOF;
    let (word, text) = verdict(&attacked);
    assert_eq!(word, "not checked", "{text}");
    assert_eq!(
        text,
        "On paper every deadline holds; not checked: what `forged bulk` by `attacker-on-c` (spoof) does to `bulk`."
    );
    let json = json(&attacked);
    assert_eq!((&json["left_out"][0]["kind"], &json["left_out"][0]["name"]), (&"attack".into(), &"forged bulk".into()));
    assert!(rows(&json).iter().all(|(_, _, word)| *word == "not-checked"), "{json}");
    assert!(json["judged"].as_array().unwrap().iter().all(|row| row["by_bound"] == "held"), "{json}");
}

#[test]
fn an_attack_that_the_bounds_count_takes_nothing_away() {
    let babbler = changed(
        SPOOF,
        "kind = \"spoof\"\nstream = \"bulk\"",
        "kind = { delay = { by = \"10us\" } }\nstream = \"bulk\"",
    );
    let babbler = changed(&babbler, "every = \"150us\"\ncount = 500\n", "");
    let (word, text) = verdict(&(SWITCH.to_owned() + &babbler));
    assert_eq!(word, "held", "{text}");
}

#[test]
fn an_attack_on_another_network_concerns_no_row_here() {
    let apart = changed(
        RECORDED,
        "[[recordings]]\nname = \"car\"\nfrom = \"rec\"\nsegment = \"b0\"\ntraffic = { builtin = \"car-busmaster\" }\n",
        "[[streams]]\nname = \"s1\"\nfrom = \"rec\"\nto = [\"x\"]\nlength = \"1B\"\nperiod = \"50ms\"\nb0 = { id = \"0x123\" }\n[[threats]]\nname = \"forged\"\nkind = \"spoof\"\nstream = \"s1\"\nstart = \"10ms\"\ncount = 5\n",
    );
    let json = json(&apart);
    assert_eq!(rows(&json), [("s0", "stream", "held"), ("s1", "stream", "not-checked")], "{json}");
    assert_eq!(json["word"], "not-checked");
}

#[test]
fn a_recording_is_judged_and_never_held() {
    let (word, text) = verdict(RECORDED);
    assert_eq!(word, "broken", "{text}");
    assert!(text.contains("`car` at `x`") && text.contains("`b0` would need"), "{text}");
    let fits = changed(RECORDED, "bit_rate = \"125kbit/s\"", "bit_rate = \"1Mbit/s\"");
    let json = json(&fits);
    assert_eq!(json["word"], "not-checked", "{}", json["verdict"]);
    assert!(rows(&json).contains(&("car", "recording", "not-checked")), "{json}");
    assert!(json["verdict"]["text"].as_str().unwrap().contains("the recording `car`"), "{}", json["verdict"]);
}

/// Two receivers, two deadlines: the bound of each stands beside its own.
#[test]
fn each_receiver_has_its_own_deadline() {
    let two = changed(
        SWITCH,
        "to = [\"b\"]\nperiod = \"1ms\"\nlength = \"46B\"\ndeadline = \"200us\"",
        "to = [\"b\", \"c\"]\nperiod = \"1ms\"\nlength = \"46B\"\ndeadline = { b = \"200us\", c = \"30us\" }",
    );
    let json = json(&two);
    let ends: Vec<(&str, f64, f64)> = (json["judged"].as_array().unwrap().iter())
        .filter(|row| row["stream"] == "brake")
        .map(|row| {
            (row["receiver"].as_str().unwrap(), row["bound_ns"].as_f64().unwrap(), row["deadline_ns"].as_f64().unwrap())
        })
        .collect();
    assert_eq!(json["word"], "held", "{}", json["verdict"]);
    assert!(ends.iter().all(|(_, bound, deadline)| bound <= deadline), "{ends:?}");
    assert!(ends[0].1 > ends[1].2, "the bound to b is beyond the deadline of c, which is not its own: {ends:?}");
}

#[test]
fn a_row_that_is_not_proven_says_why_and_counts_in_the_verdict() {
    let text = changed(SWITCH, "deadline = \"200us\"", "deadline = \"100us\"") + SPOOF;
    let checked = checked(&text);
    let said = chronoseal_report::terminal(&checked.document, chronoseal_report::TerminalStyle::default());
    assert!(said.contains("NOT PROVEN"), "{said}");
    assert!(said.contains("Not checked: what `forged bulk`"), "{said}");
    let json: Value = serde_json::from_str(&checked.json).unwrap();
    let row = json["judged"].as_array().unwrap().iter().find(|row| row["stream"] == "brake").unwrap();
    assert_eq!((&row["word"], row["why"].is_string()), (&"not-proven".into(), true), "{row}");
    assert!(said.contains(row["why"].as_str().unwrap().split(':').next().unwrap()), "{said}");
}

/// A frame that takes longer from its slot to its receiver than until the next one.
const SLOT: &str = r#"
schema_version = 2
name = "slot"
duration = "200ms"
[segments.net.ethernet]
rate = "10Mbit/s"
cluster_cycle = "2ms"
guard_period = "50us"
precision = "10us"
[[nodes]]
name = "a"
[[nodes]]
name = "b"
[[streams]]
name = "speed"
from = "a"
to = ["b"]
period = "2ms"
length = "1400B"
"#;

#[test]
fn a_stream_in_slots_is_not_judged_by_its_period() {
    let report = json(SLOT);
    let end = &report["judged"][0];
    assert!(end["bound_ns"].as_f64().unwrap() > 2e6, "{end}");
    assert!(end["deadline_ns"].is_null(), "{end}");
    assert_eq!(end["no_deadline"], "its slot says when it has to leave");
    assert_eq!(verdict(SLOT), ("held", "On paper every deadline holds.".to_owned()));
}
