//! PDUs of several streams in one frame, from the command line.

use crate::integration::support::{Bench, scenario};

#[test]
fn what_is_collected_is_bounded_with_the_time_it_waits() {
    let bench = Bench::new();
    let json = bench.say(&["check", &scenario("collected-speeds.toml"), "--format", "json"]).assert_code(0).json();
    let ends = json["judged"].as_array().unwrap();
    assert_eq!(ends.len(), 8, "four speeds at two receivers, and the frames they share at none");
    for end in ends {
        let parts = end["parts"].as_array().unwrap();
        let gateways: Vec<f64> = parts
            .iter()
            .filter(|part| part["role"] == "gateway")
            .map(|part| part["max_ns"].as_f64().unwrap())
            .collect();
        assert!(!gateways.is_empty() && gateways.iter().all(|part| *part > 1e6), "each waits a millisecond: {end}");
    }
}

#[test]
fn what_is_collected_arrives_with_a_row_for_each_pdu() {
    let bench = Bench::new();
    let run = ["run", &scenario("collected-speeds.toml"), "--no-store", "--format", "json"];
    let json = bench.say(&run).assert_code(0).json();
    assert_eq!((&json["word"], &json["frames_delivered"]), (&"held".into(), &1600.into()));
    let streams = json["summary"]["streams"].as_array().unwrap();
    let count = |stream: usize, name: &str| streams[stream][name].as_u64().unwrap();
    assert!((0..4).all(|speed| (count(speed, "sent"), count(speed, "delivered")) == (200, 400)));
    assert!((4..6).all(|frame| count(frame, "delivered") + count(frame, "missing") + count(frame, "unaccounted") == 0));
}

#[test]
fn a_frame_that_cannot_hold_what_is_collected_is_refused_where_it_is_written() {
    let bench = Bench::new();
    let text = std::fs::read_to_string(scenario("collected-speeds.toml")).unwrap();
    bench.write("classical.toml", text.replace("format = \"fd-brs\" } }]", "format = \"classical\" } }]"));
    let said = bench.say(&["check", "classical.toml"]);
    assert_eq!(said.code, Some(2), "{}", said.out);
    assert!(said.err.contains("a classical CAN frame") && said.err.contains("`format = \"fd\"`"), "{}", said.err);
}

/// A frame that is collected goes over both ways of a ring, of which links fail.
#[test]
fn a_copy_of_a_collected_frame_is_no_loss_and_the_last_of_them_is() {
    let file = "tests/integration/contradictions/copies-of-a-frame-of-several-pdus.toml";
    let text = std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    // No clock waits for a beacon that comes by these links.
    let text = text.replace("rate = \"100Mbit/s\"", "sync = \"ideal\"\nrate = \"100Mbit/s\"");
    let text = (0..5).fold(text, |text, node| {
        text.replace(&format!("name = \"n{node}\"\n"), &format!("name = \"n{node}\"\nclock = \"ideal\"\n"))
    });
    let [one, other] =
        ["{ link = [\"s0w4\", \"s0w5\"], at = \"201ms\" }", "{ link = [\"s0w1\", \"s0w2\"], at = \"201ms\" }"];
    let cases = [
        (String::new(), "held", "held"),
        (format!("failures = [{one}]\n"), "held", "held"),
        (format!("failures = [{one}, {other}]\n"), "failed", "failed"),
    ];
    for (failures, checked, held) in cases {
        let bench = Bench::new();
        let ring = "switches = [\"s0w0\"";
        assert!(text.contains(ring));
        bench.write("ring.toml", text.replace(ring, &format!("{failures}{ring}")));
        let check = bench.say(&["check", "ring.toml", "--format", "json"]).json();
        assert_eq!(check["verdict"]["word"] == "held", checked == "held", "{failures}: {}", check["verdict"]);
        let run = bench.say(&["run", "ring.toml", "--no-store", "--format", "json"]).json();
        assert_eq!(run["word"], held, "{failures}: {}", run["verdict"]);
        let streams = run["summary"]["streams"].as_array().unwrap();
        let lost = |stream: &serde_json::Value| {
            let count = |key: &str| stream[key].as_u64().unwrap();
            let discarded: u64 =
                stream["discarded"].as_object().unwrap().values().filter_map(|count| count.as_u64()).sum();
            count("missing") + count("unaccounted") + discarded
        };
        let of = |name: &str| streams.iter().find(|stream| stream["name"] == name).unwrap();
        assert_eq!(lost(of("n4.s0.0")), 0, "{failures}: what is in it tells");
        // The receiver of the others is at the gateway's switch.
        assert_eq!((lost(of("m2")), lost(of("m3"))), (0, 0), "{failures}");
        assert_eq!(lost(of("m0")) > 40, held == "failed", "{failures}: {}", of("m0"));
    }
}

/// A gate that never opens for the class of a frame is refused for one that a gateway collects, too.
#[test]
fn a_collected_frame_that_no_gate_lets_out_is_refused_where_it_is_written() {
    let text = r#"schema_version = 2
name = "shut"
duration = "100ms"
[segments.b.can]
bit_rate = "250kbit/s"
[segments.e.ethernet]
cluster_cycle = "10ms"
rate = "1Gbit/s"
bridge_ports = {}
station_ports = { gates = { cycle = "40us", entries = [{ open = [2, 5, 6], lasts = "40us" }] } }
[[nodes]]
name = "a"
on = ["b"]
[[nodes]]
name = "r"
on = ["e"]
[[nodes]]
name = "g"
on = ["b", "e"]
gateway = { delay = "3us", collect = [{ streams = ["s", "t"], on = "e", within = "5ms", header = "short", length = "500B", e = { class = { best_effort = { priority = 1 } } } }] }
[[streams]]
name = "s"
from = "a"
to = ["r"]
length = "4B"
period = "10ms"
b = { id = "0x202", format = "classical" }
[[streams]]
name = "t"
from = "a"
to = ["r"]
length = "4B"
period = "10ms"
b = { id = "0x203", format = "classical" }
"#;
    let bench = Bench::new();
    bench.write("shut.toml", text);
    bench.say(&["check", "shut.toml"]).assert_refused(&["of traffic class 1 on `e`", "never opens", "help:"]);
    bench.write("open.toml", text.replace("[2, 5, 6]", "[1, 2, 5, 6]"));
    bench.say(&["check", "open.toml"]).assert_code(0);
}
