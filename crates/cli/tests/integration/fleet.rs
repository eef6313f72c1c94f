//! Pseudonym policies on traffic of one's own.

use std::fmt::Write;

use crate::integration::support::Bench;

/// Four vehicles 40 m apart at 20 m/s for 40 s, as SUMO writes them.
fn trace() -> String {
    let mut text = String::from("<fcd-export>\n");
    for second in 0..40 {
        let _ = writeln!(text, "<timestep time=\"{second}.00\">");
        for vehicle in 0..4 {
            let x_m = 20 * second + 40 * vehicle;
            let _ = writeln!(text, "<vehicle id=\"car.{vehicle}\" x=\"{x_m}\" y=\"1.5\" angle=\"90\" speed=\"20\"/>");
        }
        text.push_str("</timestep>\n");
    }
    text + "</fcd-export>\n"
}

#[test]
fn a_trace_of_sumo_is_driven_and_scored() {
    let bench = Bench::new();
    bench.write("town.xml", trace());
    let arguments = ["v2x", "fleet", "--fcd", "town.xml", "--policy", "none,source", "--runs", "2", "--format", "csv"];
    let said = bench.say(&arguments);
    let table = said.assert_code(0).out.clone();
    let line = |name: &str| table.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name}: {table}"));
    assert!(line("none").contains("n/a"), "no change: {table}");
    // A CAM each 300 ms, so 80 signatures are 24 s: each vehicle changes in each run, and nobody is hidden.
    assert!(
        line("changes linked [%],changes linked low [%],changes linked high [%]").starts_with("policy,"),
        "{table}"
    );
    assert!(line("source").starts_with("source,13,simulated,100,77."), "{table}");
    assert_eq!(bench.say(&arguments).out, table, "the same seed, the same table");
}

#[test]
fn each_policy_is_tried_with_each_silence_and_shown_in_a_chart() {
    let bench = Bench::new();
    bench.write("town.xml", trace());
    let said = bench.say(&[
        "v2x",
        "fleet",
        "--fcd",
        "town.xml",
        "--policy",
        "source,together",
        "--silence",
        "0,2-4",
        "--runs",
        "1",
        "--html",
        "town.html",
    ]);
    let out = &said.assert_code(0).out;
    for name in ["source, no silence", "source, 2 to 4 s silent", "together, no silence", "together, 2 to 4 s silent"] {
        assert!(out.contains(name), "{name}: {out}");
    }
    assert!(std::fs::read_to_string(bench.path("town.html")).unwrap().contains("Privacy against safety"));
}

#[test]
fn the_scenario_of_a_command_can_be_run() {
    let bench = Bench::new();
    let options = ["v2x", "fleet", "--duration", "2", "--length", "300", "--policy", "segments"];
    let scenario = bench.say(&[&options[..], &["--scenario"]].concat()).assert_code(0).out.clone();
    bench.write("mine.toml", &scenario);
    let said = bench.say(&["run", "mine.toml", "--no-store"]);
    assert!(said.assert_code(0).out.contains("pseudonyms of vehicles: segments"), "{}", said.out);
}

#[test]
fn bad_input_is_named_with_its_place() {
    let bench = Bench::new();
    bench.write("town.xml", trace().replacen("speed=\"20\"", "speed=\"fast\"", 3));
    bench.write("route.xml", "<routes>\n</routes>\n");
    bench.say(&["v2x", "fleet", "--fcd", "town.xml"]).assert_refused(&["town.xml:3:", "speed", "fast"]);
    bench.say(&["v2x", "fleet", "--fcd", "route.xml"]).assert_refused(&[
        "route.xml: ",
        "network or demand of SUMO",
        "--fcd-output",
    ]);
    bench.say(&["v2x", "fleet", "--fcd", "nowhere.xml"]).assert_refused(&["nowhere.xml"]);
    bench.say(&["v2x", "fleet", "--policy", "silence"]).assert_refused(&["silence", "segments", "together"]);
    bench.say(&["v2x", "fleet", "--policy", "mix-zone"]).assert_refused(&["--zone"]);
    bench.say(&["v2x", "fleet", "--silence", "13-3"]).assert_refused(&["3-13"]);
    bench.say(&["v2x", "fleet", "--heard", "0"]).assert_refused(&["1..=100"]);
    bench.say(&["v2x", "fleet", "--length", "10", "--runs", "1"]).assert_refused(&["length", "from 100m to 100km"]);
    bench.say(&["v2x", "fleet", "--fcd", "town.xml", "--flow", "900"]).assert_refused(&["cannot be used with"]);
}

#[test]
fn a_trace_in_degrees_is_refused_with_the_place_and_read_with_it_packed_or_not() {
    let bench = Bench::new();
    let step = |k: i32| {
        let x = 13.33 + f64::from(k) * 15.0 / 67_800.0;
        format!(
            "<timestep time=\"{k}\"><vehicle id=\"a\" x=\"{x:.6}\" y=\"52.5\" angle=\"90\" speed=\"15\"/></timestep>"
        )
    };
    bench.write("town.xml", format!("<fcd-export>{}</fcd-export>", (0..20).map(step).collect::<String>()));
    let fleet = ["v2x", "fleet", "--fcd", "town.xml", "--policy", "silent", "--runs", "1"];
    bench.say(&fleet).assert_refused(&["town.xml:1:", "longitude and latitude, no metres", "`--geo 52.5000,13.33"]);
    bench.say(&[&fleet[..], &["--geo", "52.5,13.33"]].concat()).assert_code(0);
}
