//! `check` on networks of several segments: every stream at each of its receivers, in parts, and quickly.

use std::fmt::Write;
use std::time::Instant;

use crate::integration::support::{Bench, Said};

/// A sensor on a bus, a gateway, and two stations behind it.
const SENSOR: &str = r#"
schema_version = 2
name = "sensor"
duration = "1s"
[segments.body.can]
bit_rate = "500kbit/s"
[segments.backbone.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
class = { best_effort = { priority = 3 } }
[[nodes]]
name = "door"
on = ["body"]
[[nodes]]
name = "zone"
on = ["body", "backbone"]
gateway = { delay = "40us", queue = "2 frames" }
[[nodes]]
name = "display"
on = ["backbone"]
[[nodes]]
name = "logger"
on = ["backbone"]
[[streams]]
name = "lock"
from = "door"
to = ["display", "logger"]
period = "10ms"
deadline = { display = "5ms", logger = "6ms" }
length = "8B"
body = { id = "0x100" }
"#;

/// Ten segments and a thousand streams: nine buses of ten stations each behind gateways, and a backbone of ten stations. Of
/// each bus's streams one in nine goes to the next bus, and one to the backbone.
fn vehicle() -> String {
    let mut text = String::from(
        "schema_version = 2\nname = \"vehicle\"\nduration = \"1s\"\n[segments.backbone.ethernet]\nrate = \"1Gbit/s\"\n\
         cluster_cycle = \"100ms\"\nintegration_cycle = \"20ms\"\nguard_period = \"200us\"\nclass = { best_effort = { priority = 3 } }\n\
         [[protections]]\nname = \"short\"\nsecoc = { profile = 1 }\n\
         [[platforms]]\nname = \"ecu\"\ncosts = [{ operation = \"cmac-aes-128\", base = \"5us\", per_byte = \"20ns\" }]\n",
    );
    for bus in 0..9 {
        write!(text, "[segments.b{bus}.can]\nbit_rate = \"500kbit/s\"\ndata_bit_rate = \"2Mbit/s\"\n").unwrap();
        write!(text, "[[nodes]]\nname = \"zone{bus}\"\non = [\"b{bus}\", \"backbone\"]\nplatform = \"ecu\"\n").unwrap();
        text += "gateway = { delay = \"20us\", queue = \"200 frames\" }\n";
        for ecu in 0..10 {
            writeln!(text, "[[nodes]]\nname = \"e{bus}-{ecu}\"\non = [\"b{bus}\"]\nplatform = \"ecu\"").unwrap();
        }
    }
    for computer in 0..10 {
        writeln!(text, "[[nodes]]\nname = \"c{computer}\"\non = [\"backbone\"]\nplatform = \"ecu\"").unwrap();
    }
    let mut stream = |number: usize, from: String, to: String, segments: String| {
        let period = [100, 50, 50][number % 100 % 3];
        writeln!(
            text,
            "[[streams]]\nname = \"s{number}\"\nfrom = \"{from}\"\nto = [\"{to}\"]\nperiod = \"{period}ms\"\n\
             length = \"8B\"\nprotection = \"short\"\n{segments}"
        )
        .unwrap();
    };
    for number in 0..900 {
        let (bus, local) = (number / 100, number % 100);
        let on = |bus: usize, id: usize| format!("b{bus} = {{ id = \"0x{id:X}\", format = \"fd-brs\" }}");
        let (sender, receiver) = (local % 10, (local + 3) % 10);
        let from = format!("e{bus}-{sender}");
        match local % 9 {
            0 => {
                let next = (bus + 1) % 9;
                let segments = format!("{}\n{}", on(bus, local), on(next, 0x200 + local));
                stream(number, from, format!("e{next}-{receiver}"), segments);
            }
            1 => stream(number, from, format!("c{receiver}"), on(bus, local)),
            _ => stream(number, from, format!("e{bus}-{receiver}"), on(bus, local)),
        }
    }
    for number in 900..1000 {
        let (sender, receiver) = (number % 10, (number + 3) % 10);
        let class = if number % 2 == 0 { "backbone = { class = \"time-triggered\" }" } else { "" };
        stream(number, format!("c{sender}"), format!("c{receiver}"), class.to_owned());
    }
    text
}

fn assert_shows(said: &Said, words: &[&str]) {
    // Long sentences are broken into lines.
    let text = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(text.contains(word), "`{word}` is not shown:\n{}", said.out);
    }
}

#[test]
fn each_receiver_has_its_bound_in_parts_and_its_deadline() {
    let bench = Bench::new();
    bench.write("sensor.toml", SENSOR);
    let json = bench.say(&["check", "sensor.toml", "--format", "json"]).assert_code(0).json();
    let ends = json["judged"].as_array().unwrap();
    assert_eq!(ends.len(), 2);
    for (end, deadline_ns) in ends.iter().zip([5e6, 6e6]) {
        let parts = end["parts"].as_array().unwrap();
        let roles: Vec<&str> = parts.iter().map(|part| part["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["sender", "segment", "gateway", "segment", "receiver"]);
        let sum: f64 = parts.iter().map(|part| part["max_ns"].as_f64().unwrap()).sum();
        assert!((sum - end["bound_ns"].as_f64().unwrap()).abs() < 1e-3, "{end}");
        assert_eq!((&end["deadline_ns"], &end["word"]), (&deadline_ns.into(), &"held".into()));
    }
    let said = bench.say(&["check", "sensor.toml"]);
    assert_shows(said.assert_code(0), &["HELD", "body 264.0 + zone 40.0 + backbone"]);
}

#[test]
fn a_deadline_that_one_receiver_may_miss_is_not_proven() {
    let bench = Bench::new();
    bench.write("late.toml", SENSOR.replace("logger = \"6ms\"", "logger = \"300us\""));
    let said = bench.say(&["check", "late.toml"]);
    assert_shows(said.assert_code(3), &["Not proven for `lock` at `logger`", "NOT PROVEN"]);
}

#[test]
fn what_is_overloaded_fails_the_check_with_the_place() {
    let bench = Bench::new();
    let without_deadline = SENSOR.replace("deadline = { display = \"5ms\", logger = \"6ms\" }\n", "");
    bench.write("slow.toml", without_deadline.replace("delay = \"40us\"", "delay = \"11ms\""));
    let said = bench.say(&["check", "slow.toml"]);
    assert_shows(said.assert_code(1), &["gateway `zone`: it is overloaded: 110.", "% of its time is needed, 10."]);
}

#[test]
fn a_queue_that_can_overflow_is_warned_of_with_the_room_that_helps() {
    let bench = Bench::new();
    let more = "[[streams]]\nname = \"OTHER\"\nfrom = \"door\"\nto = [\"logger\"]\nperiod = \"10ms\"\nlength = \"8B\"\n\
                body = { id = \"0x1AA\" }\n";
    let two = [more.replace("OTHER", "a"), more.replace("OTHER", "b").replace("0x1AA", "0x1AB")].concat();
    bench.write("full.toml", format!("{SENSOR}{two}"));
    let said = bench.say(&["check", "full.toml"]);
    assert_shows(
        said.assert_code(3),
        &["NOT PROVEN", "3 frames that wait in `zone` for `backbone`", "`queue = \"3 frames\"`"],
    );
    bench.write("roomy.toml", format!("{SENSOR}{two}").replace("2 frames", "3 frames"));
    let said = bench.say(&["check", "roomy.toml"]);
    assert!(!said.assert_code(0).out.contains("the analysis allows for"), "{}", said.out);
}

#[test]
fn no_stream_is_held_behind_a_queue_that_can_overflow() {
    let bench = Bench::new();
    let stream = |name: &str, to: &str, id: &str| {
        format!(
            "[[streams]]\nname = \"{name}\"\nfrom = \"door\"\nto = [{to}]\nperiod = \"10ms\"\nlength = \"8B\"\n\
             body = {{ id = \"{id}\" }}\n"
        )
    };
    let two = [stream("near", "\"zone\"", "0x1AA"), stream("both", "\"zone\", \"logger\"", "0x1AB")].concat();
    bench.write("full.toml", format!("{SENSOR}{two}").replace("2 frames", "1 frames"));
    let checked = bench.say(&["check", "full.toml", "--format", "json"]).assert_code(3).json();
    let ends = checked["judged"].as_array().unwrap();
    let word_of = |stream: &str, receiver: &str| {
        let end = ends.iter().find(|end| end["stream"] == stream && end["receiver"] == receiver).unwrap();
        let is_told = end["why"].as_str().is_some_and(|why| why.contains("that wait in `zone` for `backbone`"));
        (end["word"].as_str().unwrap(), is_told)
    };
    for (stream, receiver) in [("lock", "display"), ("lock", "logger"), ("both", "logger")] {
        assert_eq!(word_of(stream, receiver), ("not-proven", true), "{stream} at {receiver}");
    }
    // What ends at the gateway waits for no segment behind it.
    for stream in ["near", "both"] {
        assert_eq!(word_of(stream, "zone"), ("held", false), "{stream}");
    }
}

#[test]
fn a_thousand_streams_on_ten_segments_are_checked_in_a_second() {
    let bench = Bench::new();
    bench.write("vehicle.toml", vehicle());
    let began = Instant::now();
    let said = bench.say(&["check", "vehicle.toml", "--format", "json"]);
    let took = began.elapsed();
    let json = said.assert_code(0).json();
    let ends = json["judged"].as_array().unwrap();
    assert_eq!(ends.len(), 1000);
    assert!(ends.iter().all(|end| end["bound_ns"].as_f64().is_some_and(|bound| bound > 0.0)));
    println!("check of 10 segments and 1000 streams: {} ms", took.as_millis());
    // The figure is one of the optimised program; what `cargo test` builds is slower by more than ten times.
    assert!(cfg!(debug_assertions) || took.as_secs_f64() < 1.0, "{took:?}");
}
