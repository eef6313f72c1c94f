//! PDUs of several streams in one frame, from the command line.

use crate::support::{Bench, scenario};

#[test]
fn what_is_collected_is_bounded_with_the_time_it_waits() {
    let bench = Bench::new();
    let json = bench.say(&["check", &scenario("collected-speeds.toml"), "--format", "json"]).assert_code(0).json();
    let ends = json["end_to_end"]["ends"].as_array().unwrap();
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
    assert_eq!((&json["held"], &json["frames_delivered"]), (&"yes".into(), &1600.into()));
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
