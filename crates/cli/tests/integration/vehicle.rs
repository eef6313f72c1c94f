//! The whole vehicle of `scenarios/`: what it takes, and what each thing that can go wrong does to its verdict.

use serde_json::Value;

use crate::integration::support::{Bench, scenario};

const END_TO_END: &str = "protection = { end_to_end = \"cmac-8\" }         # the gateways have no key";
const HOP_BY_HOP: &str = "protection = { front = \"cmac-8\", backbone = \"cmac-8\", rear = \"cmac-8\" } #";
const TAKEN_OVER: &str = "
[[threats]]
name = \"gateway taken over\"
kind = \"tamper\"
stream = \"brake request\"
at = { node = \"zone-front\" }
start = \"500ms\"
count = 20
";

/// The text of the scenario.
fn vehicle() -> String {
    std::fs::read_to_string(scenario("zonal-vehicle.toml")).unwrap()
}

/// Runs two seconds of the vehicle, with a change of its text and more behind it.
fn run(bench: &Bench, from: &str, to: &str, more: &str) -> Value {
    let text = vehicle();
    assert!(text.contains(from), "the scenario says `{from}`");
    bench.write("vehicle.toml", text.replacen(from, to, 1) + more);
    bench.json(&["run", "vehicle.toml", "--no-store", "--set", "duration=2s"])
}

fn stream<'a>(run: &'a Value, name: &str) -> &'a Value {
    let streams = run["summary"]["streams"].as_array().unwrap();
    streams.iter().find(|stream| stream["name"] == name).unwrap_or_else(|| panic!("there is a {name}"))
}

fn verdict(run: &Value) -> &str {
    run["verdict"].as_str().unwrap()
}

#[test]
fn it_holds_on_paper_and_simulated() {
    let bench = Bench::new();
    bench.write("vehicle.toml", vehicle());
    let check = bench.say(&["check", "vehicle.toml", "--format", "json"]).assert_code(3).json();
    // What comes by radio is bounded by nothing. What is behind the radio is, and all streams that go by wire hold.
    assert_eq!(check["verdict"]["word"], "not-checked", "{}", check["verdict"]);
    let ends = check["judged"].as_array().unwrap();
    let (by_radio, by_wire): (Vec<&Value>, Vec<&Value>) =
        ends.iter().partition(|end| end["no_bound"].as_str().is_some_and(|why| why.contains("not bounded: radio")));
    let held = by_wire.iter().filter(|end| end["word"] == "held").count();
    assert!(held >= 18 && by_wire.iter().all(|end| end["word"] == "held" || end["kind"] == "recording"), "{by_wire:?}");
    let behind = |receiver: &str| -> Vec<&str> {
        let end = by_radio.iter().find(|end| end["stream"] == "hazard warning" && end["receiver"] == receiver).unwrap();
        assert_eq!((&end["word"], &end["bound_ns"]), (&"not-checked".into(), &Value::Null), "{end}");
        end["parts"].as_array().unwrap()[1..].iter().map(|part| part["place"].as_str().unwrap()).collect()
    };
    assert_eq!(behind("cluster"), ["v2x-unit", "backbone", "cluster"]);
    assert_eq!(behind("brake-rear"), ["v2x-unit", "backbone", "zone-rear", "rear", "brake-rear"]);
    let run = run(&bench, "", "", "");
    assert_eq!(run["word"], "held", "{}", verdict(&run));
    let request = stream(&run, "brake request");
    assert_eq!((&request["late"], &request["missing"], &request["unaccounted"]), (&0.into(), &0.into(), &0.into()));
}

#[test]
fn its_backbone_can_be_exchanged_by_one_table() {
    let bench = Bench::new();
    bench.write("vehicle.toml", vehicle());
    for (file, class) in [("time-triggered", "time-triggered"), ("arinc-664", "rate-constrained"), ("tsn", "vlan")] {
        let table = scenario(&format!("backbones/{file}.toml"));
        let set = format!("segments.backbone.ethernet=@{table}");
        let check = bench.say(&["check", "vehicle.toml", "--set", &set, "--format", "json"]).assert_code(3).json();
        assert_eq!(check["verdict"]["word"], "not-checked", "{file}: {}", check["verdict"]);
        let ends = check["judged"].as_array().unwrap();
        let held = ends.iter().filter(|end| end["word"] == "held").count();
        assert!(
            held >= 15 && ends.iter().all(|end| matches!(end["word"].as_str(), Some("held" | "not-checked"))),
            "{file}: {ends:?}"
        );
        let run = bench.json(&["run", "vehicle.toml", "--no-store", "--set", "duration=2s", "--set", &set]);
        assert_eq!(run["word"], "held", "{file}: {}", verdict(&run));
        assert_eq!(stream(&run, "motion state")["class"], class, "{file}");
    }
}

#[test]
fn a_warning_from_the_air_reaches_the_backbone_and_a_bus() {
    let run = run(&Bench::new(), "", "", "");
    let warning = stream(&run, "hazard warning");
    // One at 1 s and one at 1.5 s, to two receivers.
    assert_eq!((&warning["sent"], &warning["delivered"], &warning["late"]), (&2.into(), &4.into(), &0.into()));
    let least_ns = warning["end_to_end"]["all"]["min_ns"].as_i64().unwrap();
    assert!(least_ns > 1_000_000, "half a millisecond on the air, and a signature of 450 us: {least_ns}");
    let awareness = stream(&run, "awareness");
    let seconds = 2;
    assert!(awareness["sent"].as_u64().unwrap() >= 100 * seconds, "signed messages: {awareness}");
    assert!(awareness["delivered"].as_u64().unwrap() >= 95 * seconds, "{awareness}");
}

#[test]
fn a_gateway_that_was_taken_over_is_believed_only_where_it_has_the_keys() {
    let bench = Bench::new();
    let accepted = |run: &Value| {
        let attacks = run["summary"]["attacks"].as_array().unwrap();
        attacks.iter().map(|attack| attack["accepted"].as_u64().unwrap()).sum::<u64>()
    };
    let end_to_end = run(&bench, "", "", TAKEN_OVER);
    assert_eq!(accepted(&end_to_end), 0, "{}", verdict(&end_to_end));
    assert_eq!(end_to_end["summary"]["attacks"][0]["stopped_by_tag"], 40, "two receivers refuse each");
    let hop_by_hop = run(&bench, END_TO_END, HOP_BY_HOP, TAKEN_OVER);
    assert_eq!(accepted(&hop_by_hop), 40, "{}", verdict(&hop_by_hop));
    assert_eq!(hop_by_hop["word"], "failed", "what was changed took the place of what was sent");
    assert!(verdict(&hop_by_hop).contains("accepted"), "{}", verdict(&hop_by_hop));
}

#[test]
fn a_gateway_that_dies_or_reboots_fails_the_run() {
    let bench = Bench::new();
    const GATEWAY: &str = "gateway = { delay = \"20us\", queue = \"64 frames\" }";
    let rebooting = |takes: &str| {
        format!(
            "gateway = {{ delay = \"20us\", queue = \"64 frames\", reboot = {{ at = \"1s\", takes = \"{takes}\" }} }}"
        )
    };
    let dead = run(&bench, GATEWAY, &rebooting("900ms"), "");
    assert_eq!(dead["word"], "failed", "{}", verdict(&dead));
    let request = stream(&dead, "brake request");
    let absent = request["missing"].as_u64().unwrap() + request["unaccounted"].as_u64().unwrap();
    assert!(absent >= 170, "{request}");

    let rebooted = run(&bench, GATEWAY, &rebooting("50ms"), "");
    assert_eq!(rebooted["word"], "failed", "{}", verdict(&rebooted));
    // Its freshness on the backbone begins again: what it sends is refused until it has counted as far as before.
    let discarded = stream(&rebooted, "wheel speed.0")["discarded"].as_object().unwrap();
    assert!(!discarded.is_empty(), "{discarded:?}");
    // What is protected from end to end loses only what the gateway held.
    let discarded = stream(&rebooted, "brake request")["discarded"].as_object().unwrap();
    assert!(discarded.keys().all(|reason| reason == "restarted"), "{discarded:?}");
}

#[test]
fn a_lost_clock_fails_the_run_if_a_frame_goes_by_it() {
    // What comes to the instrument cluster comes in slots; what the radar sends goes when it is there.
    for (name, word) in [("cluster", "failed"), ("radar", "held")] {
        let bench = Bench::new();
        // From one beacon to the next a clock gains 9 us, which is more than a window of hardware allows.
        let node = format!("name = \"{name}\"\non = [\"backbone\"]\n");
        let drifting = format!("{node}clock = {{ fixed = {{ drift = \"900ppm\" }} }}\n");
        let precision = "precision = \"500us\"";
        assert!(vehicle().contains(precision) && vehicle().contains(&node));
        let text = vehicle().replacen(precision, "precision = \"5us\"", 1).replacen(&node, &drifting, 1);
        bench.write("vehicle.toml", text);
        let run = bench.json(&["run", "vehicle.toml", "--no-store", "--set", "duration=2s"]);
        assert_eq!(run["word"], word, "{name}: {}", verdict(&run));
        assert_eq!(verdict(&run).contains(&format!("clock of {name}")), word == "failed", "{}", verdict(&run));
        let clocks = run["summary"]["clocks"].as_array().unwrap();
        let clock = clocks.iter().find(|clock| clock["node"] == name).unwrap();
        assert!(clock["lost"].as_u64().unwrap() > 0, "{clock}");
    }
}
