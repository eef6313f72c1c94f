//! The JSON of `check` has one shape, whatever the network is.

use serde_json::Value;

use crate::words::{BUS, RECORDED, SPOOF, SWITCH};
use crate::{changed, json};

const ROAD: &str = r#"
schema_version = 2
name = "road"
duration = "1s"
[segments.road.radio]
rate = "6Mbit/s"
road = { highway = { length = "600m", lanes = 2, vehicles = 3, speed = "15m/s" } }
[[streams]]
name = "awareness"
from = "road"
road = { message = "cam" }
"#;

/// Slots on a bus of time-triggered Ethernet, with a candidate.
const SLOTS: &str = r#"
schema_version = 2
name = "slots"
duration = "1s"
candidates = ["none", "tag"]
[segments.net.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
guard_period = "200us"
[[protections]]
name = "tag"
hmac = { hash = "sha-256", tag = "16B" }
[[nodes]]
name = "a"
[[nodes]]
name = "b"
[[streams]]
name = "speed"
from = "a"
to = ["b"]
period = "10ms"
length = "46B"
"#;

/// A gateway from the bus to the switch.
fn gateway() -> String {
    let joined = changed(
        BUS,
        "[[nodes]]\nname = \"a\"",
        "[segments.net.ethernet]\nrate = \"100Mbit/s\"\ncluster_cycle = \"10ms\"\nsync = \"ideal\"\nclass = { best_effort = {} }\n\
         [[nodes]]\nname = \"gw\"\non = [\"bus\", \"net\"]\nclock = \"ideal\"\ngateway = { delay = \"20us\", queue = \"8 frames\" }\n\
         [[nodes]]\nname = \"far\"\non = [\"net\"]\nclock = \"ideal\"\n[[nodes]]\nname = \"a\"\non = [\"bus\"]",
    );
    let joined = changed(&joined, "name = \"b\"", "name = \"b\"\non = [\"bus\"]");
    changed(&joined, "to = [\"b\"]", "to = [\"b\", \"far\"]")
}

#[test]
fn every_network_is_told_in_the_documented_shape() {
    let schema = chronoseal_check::schema();
    let validator = jsonschema::validator_for(&schema).expect("a JSON Schema");
    let attacked = SWITCH.to_owned() + SPOOF;
    let all = [
        BUS.to_owned(),
        SWITCH.to_owned(),
        attacked,
        RECORDED.to_owned(),
        SLOTS.to_owned(),
        ROAD.to_owned(),
        gateway(),
    ];
    let mut keys: Vec<Vec<String>> = Vec::new();
    for text in &all {
        let json = json(text);
        let wrong: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:?} in {json:#}");
        keys.push(json.as_object().unwrap().keys().cloned().collect());
    }
    assert!(keys.windows(2).all(|pair| pair[0] == pair[1]), "{keys:?}");
}

#[test]
fn the_shape_is_the_documented_one() {
    let documented = include_str!("../../../../docs/reference/check.schema.json");
    let documented: Value = serde_json::from_str(documented).unwrap();
    assert_eq!(chronoseal_check::schema(), documented, "run `cargo xtask generate`");
}

/// A file of another shape is found: the validation is not empty.
#[test]
fn a_key_more_or_less_is_another_shape() {
    let schema = chronoseal_check::schema();
    let validator = jsonschema::validator_for(&schema).expect("a JSON Schema");
    let mut more = json(BUS);
    more["judged"][0]["holds"] = Value::Bool(true);
    let mut less = json(BUS);
    less.as_object_mut().unwrap().remove("left_out");
    let mut other = json(BUS);
    other["word"] = "fine".into();
    for wrong in [more, less, other] {
        assert!(!validator.is_valid(&wrong), "{wrong:#}");
    }
}

#[test]
fn the_load_of_a_segment_is_that_of_its_busiest_link() {
    let json = json(SWITCH);
    let load = &json["segments"][0]["load"];
    // 46 and 1500 bytes, 18 of header and checksum and 20 of preamble and gap each, at 100 Mbit/s: 6.72 us a ms and 123.04 us in 10 ms.
    assert_eq!((&load["from"], &load["to"]), (&"switch".into(), &"b".into()), "{load}");
    assert!((load["share_percent"].as_f64().unwrap() - 1.9024).abs() < 1e-3, "{load}");
}
