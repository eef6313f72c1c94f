//! `bounds`: networks of Saihu in and out, and what other tools say of them beside what we do.

use crate::integration::support::Bench;

const NETWORK: &str = include_str!("../../../analysis/tests/vectors/saihu_demo.json");
const BOUNDS: &str = include_str!("../../../analysis/tests/vectors/saihu_demo_bounds.json");
const STAR: &str = include_str!("../../../../scenarios/star.toml");

#[test]
fn bounds_of_other_tools_stand_beside_ours() {
    let bench = Bench::new();
    bench.write("demo.json", NETWORK);
    bench.write("demo_data.json", BOUNDS);
    let alone = bench.say(&["bounds", "network", "demo.json"]);
    assert!(alone.assert_code(0).out.contains("Every one of 4 flows has a bound."), "{}", alone.out);
    assert!(!alone.out.contains("xTFA"), "{}", alone.out);
    let said = bench.json(&["bounds", "network", "demo.json", "--others", "demo_data.json"]);
    let table = &said["sections"][0]["blocks"][0]["table"];
    let columns: Vec<&str> =
        table["columns"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
    assert_eq!(columns[..3], ["flow", "bound", "found by"]);
    let xtfa = columns.iter().position(|name| *name == "xTFA_TFA").unwrap();
    let rows = table["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row[0]["text"].as_str().unwrap()).collect();
    assert_eq!(names, ["f0_p0", "f0_p1", "f1", "f2"]);
    for row in rows {
        // The results say nothing of the second way of `f0`.
        let other = row[xtfa]["number"].as_f64();
        assert_eq!(other.is_none(), row[0]["text"] == "f0_p1");
        assert_eq!(row[xtfa]["kind"], if other.is_some() { "printed" } else { "plain" });
        assert_eq!(row[1]["kind"], "bounded");
    }
    // In microseconds, rounded up to the last digit that is shown. Two of the tools solve linear programs and say a little less.
    assert_eq!(rows[3][1]["number"], 49.324, "{}", rows[3][1]);
    let elp = columns.iter().position(|name| *name == "Panco_ELP").unwrap();
    assert_eq!((&rows[3][elp]["number"], &rows[3][elp]["mark"]), (&49.28.into(), &"warn".into()));
    assert_eq!(rows[3][xtfa]["mark"], "none", "{}", rows[3][xtfa]);
}

#[test]
fn a_flow_without_a_bound_is_named_and_the_command_fails() {
    let bench = Bench::new();
    bench.write("demo.json", NETWORK.replace("\"rates\": [\"10kbps\"]", "\"rates\": [\"10Mbps\"]"));
    let said = bench.say(&["bounds", "network", "demo.json"]);
    assert!(said.assert_code(3).out.contains("asked for"), "{}", said.out);
    assert!(said.out.contains("have no bound"), "{}", said.out);
}

#[test]
fn files_that_do_not_belong_together_are_refused() {
    let bench = Bench::new();
    bench.write("demo.json", NETWORK);
    for (old, new, said) in [
        ("\"name\": \"demo\"", "\"name\": \"other\"", "it is about the network `other`, and this is `demo`"),
        ("\"f2\":", "\"f9\":", "`flow_e2e_delay.f9`: the network has no flow of this name"),
        ("\"s1-o1\":", "\"s1\":", "`server_delay.s1`: the network has no server of this name"),
        ("{", "[", "this is no JSON"),
    ] {
        assert!(BOUNDS.contains(old), "{old}");
        bench.write("data.json", BOUNDS.replacen(old, new, 1));
        let refused = bench.say(&["bounds", "network", "demo.json", "--others", "data.json"]);
        refused.assert_refused(&["data.json", said, "help: "]);
    }
    bench.write("data.json", BOUNDS);
    let twice = ["bounds", "network", "demo.json", "--others", "data.json", "--others", "data.json"];
    bench.say(&twice).assert_refused(&["is in two files"]);
    bench.write("demo.json", NETWORK.replace("\"10kbps\", 0.5", "\"10kb\", 0.5"));
    bench.say(&["bounds", "network", "demo.json"]).assert_refused(&["`flows[0].arrival_curve.rates[0]` is \"10kb\""]);
    bench.say(&["bounds", "network", "none.json"]).assert_refused(&["cannot read none.json"]);
}

#[test]
fn a_class_of_a_scenario_is_written_and_bounded_again() {
    let bench = Bench::new();
    bench.write("star.toml", STAR);
    let several = bench.say(&["bounds", "export", "star.toml", "--out", "net.json"]);
    several.assert_refused(&["one class is written at a time", "0, "]);
    let none = bench.say(&["bounds", "export", "star.toml", "--class", "virtual-links", "--out", "net.json"]);
    none.assert_refused(&["no stream is of class virtual-links"]);
    let wrong = bench.say(&["bounds", "export", "star.toml", "--class", "8", "--out", "net.json"]);
    wrong.assert_refused(&["write a traffic class from 0 to 7"]);
    let segment = ["bounds", "export", "star.toml", "--segment", "bus", "--class", "7", "--out", "net.json"];
    bench.say(&segment).assert_refused(&["has no segment `bus`", "--segment, of network"]);
    assert!(!bench.path("net.json").exists(), "a refusal writes nothing");
    bench.say(&["bounds", "export", "star.toml", "--class", "7", "--out", "net.json"]).assert_code(0);
    let bounded = bench.json(&["bounds", "network", "net.json"]);
    assert_eq!(bounded["verdict"]["word"], "held", "{bounded}");
    let check = bench.json(&["check", "star.toml"]);
    let ends = check["judged"].as_array().unwrap();
    let rows = bounded["sections"][0]["blocks"][0]["table"]["rows"].as_array().unwrap();
    for row in rows {
        let of = |end: &&serde_json::Value| end["stream"] == row[0]["text"];
        let checked = ends.iter().find(of).and_then(|end| end["bound_ns"].as_f64()).unwrap();
        let queued = row[1]["number"].as_f64().unwrap() * 1e3;
        // What is left out is constant: 1 us of the switch, less what the gap behind a frame takes.
        assert!((checked - 1_000.0 - queued).abs() < 1_000.0, "{}: {checked} and {queued}", row[0]["text"]);
    }
}
