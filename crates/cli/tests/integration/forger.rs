//! What a forger gets through, and that nothing it sends stops a run.

use serde_json::Value;

use crate::integration::support::{Bench, scenario};

fn run() -> Value {
    Bench::new().say(&["run", &scenario("forger.toml"), "--no-store", "--format", "json"]).assert_code(1).json()
}

/// The sum of a count over the attacks of a kind, from a place, on a stream.
fn count(run: &Value, attack: &str, attacker: &str, stream: &str, name: &str) -> u64 {
    let attacks = run["summary"]["attacks"].as_array().unwrap().iter();
    let wanted =
        attacks.filter(|row| row["attack"] == attack && row["attacker"] == attacker && row["stream"] == stream);
    wanted.map(|row| row[name].as_u64().unwrap()).sum()
}

#[test]
fn each_defence_stops_what_it_can_and_no_more() {
    let run = run();
    const LINK: &str = "attacker-on-sensor";
    let expected = [
        // The schedule knows which port a stream comes from.
        ("spoof", "attacker", "plain", "stopped_by_schedule", 20),
        ("replay", "attacker", "fresh", "stopped_by_schedule", 20),
        // On the sender's link nothing but a tag tells a made-up frame from a real one.
        ("spoof", LINK, "plain", "accepted", 20),
        ("tamper", LINK, "plain", "accepted", 20),
        ("spoof", LINK, "tagged", "stopped_by_tag", 20),
        ("tamper", LINK, "tagged", "stopped_by_tag", 20),
        // A tag without freshness is valid twice.
        ("replay", LINK, "tagged", "accepted", 40),
        ("replay", LINK, "fresh", "accepted", 0),
    ];
    for (attack, attacker, stream, name, wanted) in expected {
        let counted = count(&run, attack, attacker, stream, name);
        assert_eq!(counted, wanted, "{attack} on {stream} by {attacker}: {name}");
    }
    for row in run["summary"]["attacks"].as_array().unwrap() {
        let ends: u64 = ["accepted", "in_flight"]
            .iter()
            .chain(&["stopped_by_format", "stopped_by_schedule", "stopped_by_tag", "stopped_by_freshness"])
            .chain(&["stopped_by_capacity"])
            .map(|name| row[*name].as_u64().unwrap())
            .sum();
        assert_eq!(ends, row["attempts"].as_u64().unwrap(), "every attempt has one end: {row}");
    }
    assert_eq!(run["word"], "failed");
    assert!(run["verdict"].as_str().unwrap().contains("80 forged, changed or repeated frames were accepted"));
}

#[test]
fn a_corrupted_frame_is_counted_and_the_run_goes_on() {
    let run = run();
    assert_eq!(count(&run, "tamper", "attacker-on-sensor", "tagged", "stopped_by_tag"), 20);
    for stream in run["summary"]["streams"].as_array().unwrap() {
        assert_eq!(stream["sent"], 200, "a sender stopped early: {stream}");
    }
    // The last attack is long over when the last frames arrive.
    let fresh = &run["summary"]["streams"][2];
    assert_eq!((&fresh["name"], &fresh["delivered"]), (&"fresh".into(), &180.into()));
}

#[test]
fn without_attacks_the_same_network_holds() {
    let bench = Bench::new();
    let text = std::fs::read_to_string(scenario("forger.toml")).unwrap();
    bench.write("calm.toml", text.split_once("# --- from a port").unwrap().0);
    let run = bench.say(&["run", "calm.toml", "--no-store", "--format", "json"]).assert_code(0).json();
    assert_eq!(run["word"], "held");
    assert_eq!(run["summary"]["attacks"].as_array().unwrap().len(), 0);
}
