//! `check` and `schema`: what is known without running anything.

use crate::integration::support::{Bench, SMALL, forty_frames, project, scenario, shipped_scenarios};

#[test]
fn check_speaks_to_people_and_programs() {
    let bench = Bench::new();
    let file = scenario("brake-by-wire.toml");
    let human = bench.say(&["check", &file]);
    human.assert_code(0);
    assert!(human.out.contains("HELD") && human.out.contains("frames per cycle"), "{}", human.out);

    let csv = bench.say(&["check", &file, "--format", "csv"]);
    let tables = csv.assert_code(0).out.clone();
    assert!(tables.lines().any(|line| line.starts_with("protection,")), "{tables}");
    assert!(tables.contains("\nsha256-16"), "{tables}");

    let json = bench.say(&["check", &file, "--format", "json"]).assert_code(0).json();
    assert_eq!((&json["scenario"], &json["word"]), (&"brake-by-wire".into(), &"held".into()));
    let names: Vec<_> =
        json["candidates"].as_array().unwrap().iter().map(|c| c["protection"].as_str().unwrap()).collect();
    assert_eq!(names, ["none", "sha1-20", "sha256-32", "sha256-16", "sha3-16", "macsec-24", "macsec-32"]);
}

#[test]
fn the_example_of_the_guide_fits_as_the_guide_says() {
    let bench = Bench::new();
    bench.write("forty.toml", forty_frames());
    let json = bench.say(&["check", "forty.toml", "--format", "json"]).assert_code(0).json();
    assert!(json["infeasible"].is_null(), "{}", json["verdict"]);
    assert_eq!(json["segments"][0]["schedule"]["slots"], 40, "{}", json["segments"]);
}

#[test]
fn every_shipped_scenario_has_its_word() {
    let bench = Bench::new();
    for path in shipped_scenarios() {
        let word = match path.file_stem().and_then(|name| name.to_str()).unwrap() {
            // Noise takes frames on every way, which paper knows as well as the simulator.
            "noisy-mesh" => "broken",
            // Key exchanges, messages of IEEE 802.1AS beside attacks, shapers under gates, a station that babbles.
            "group-key" | "attacked-clock" | "grandmasters" | "star-tsn" | "babbler" => "not-proven",
            // What comes by radio, recordings, forgers.
            "its-street" | "zonal-vehicle" | "forger" | "macsec" => "not-checked",
            _ => "held",
        };
        let path = path.display().to_string();
        let said = bench.say(&["check", &path, "--format", "json"]);
        let code = match word {
            "held" => 0,
            "broken" => 1,
            _ => 3,
        };
        let json = said.assert_code(code).json();
        assert_eq!(json["word"], word, "{path}: {}", json["verdict"]);
        let worst = json["judged"].as_array().unwrap().iter().all(|row| row["word"] != "broken" || word == "broken");
        assert!(worst, "{path}: {json}");
    }
}

#[test]
fn json_and_toml_are_one_format() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let value: serde_json::Value = serde_json::json!({
        "schema_version": 2, "name": "small", "duration": "100ms",
        "segments": { "network": { "ethernet": {
            "rate": "100Mbit/s", "cluster_cycle": "10ms", "guard_period": "200us",
        } } },
        "protections": [{ "name": "sha1-20", "hmac": { "hash": "sha-1", "tag": "20B" } }],
        "nodes": [{ "name": "sensor" }, { "name": "display" }],
        "streams": [{
            "name": "speed", "from": "sensor", "to": ["display"], "period": "10ms", "length": "46B",
            "protection": "sha1-20",
        }],
    });
    bench.write("small.json", value.to_string());
    let fingerprint = |file| bench.json(&["run", file, "--no-store"])["fingerprint"].clone();
    assert_eq!(fingerprint("small.toml"), fingerprint("small.json"));
}

#[test]
fn the_schema_is_the_documented_one() {
    for (words, file) in [(&["schema"][..], "scenario"), (&["schema", "check"], "check")] {
        let said = Bench::new().say(words);
        let documented = std::fs::read_to_string(project(&format!("docs/reference/{file}.schema.json"))).unwrap();
        assert_eq!(said.assert_code(0).json(), serde_json::from_str::<serde_json::Value>(&documented).unwrap());
    }
}

/// The bus alone would do, and the processors at its ends do not: every way to ask says so.
#[test]
fn programs_are_told_of_what_fails_off_the_bus_too() {
    let bench = Bench::new();
    let slow = "
schema_version = 2
name = \"slow\"
duration = \"1s\"
[segments.bus.can]
bit_rate = \"500kbit/s\"
[[platforms]]
name = \"slow\"
costs = [{ operation = \"cmac-aes-128\", base = \"6ms\" }]
[[protections]]
name = \"sealed\"
secoc = { profile = 1 }
[[nodes]]
name = \"a\"
platform = \"slow\"
[[nodes]]
name = \"b\"
platform = \"slow\"
[[streams]]
name = \"speed\"
from = \"a\"
to = [\"b\"]
period = \"10ms\"
length = \"4B\"
protection = \"sealed\"
bus = { id = \"0x100\" }
";
    bench.write("slow.toml", slow);
    let json = bench.say(&["check", "slow.toml", "--format", "json"]).assert_code(1).json();
    assert_eq!((&json["verdict"]["word"], &json["judged"][0]["word"]), (&"broken".into(), &"broken".into()));
    let said = bench.say(&["check", "slow.toml"]);
    assert!(said.assert_code(1).out.contains("BROKEN"), "{}", said.out);
}
