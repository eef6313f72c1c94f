//! `compare` compares runs, not packets, and is a gate: its word and its exit status say whether anything is worse.

use serde_json::Value;

use crate::integration::support::{Bench, SMALL};

/// Two CAN-FD buses, a zone gateway, three switches and a camera; 43 streams under SecOC.
const TWO_BUSES: &str = include_str!("two-buses.toml");

/// Of the pedal and the wheels of the first guide, with an attacker who repeats a hundred old commands.
const REPLAY: &str = "
[[threats]]
name = \"replayed command\"
kind = \"replay\"
stream = \"command\"
at = { link = \"pedal\" }
start = \"500ms\"
count = 100
";

/// Ten runs of a scenario in a folder, whatever they come to.
fn ten_runs(bench: &Bench, file: &str, folder: &str, more: &[&str]) {
    let said = bench.say(&[&["run", file, "--repeat", "10", "--out", folder, "--quiet"], more].concat());
    assert!(matches!(said.code, Some(0 | 1 | 3)), "{}", said.err);
}

/// The word, and the rows that changed for the worse: figure, of what, and both sides' values.
fn worse(comparison: &Value) -> (String, Vec<[String; 4]>) {
    let rows = comparison["sections"][0]["blocks"][0]["table"]["rows"].as_array().unwrap();
    let text = |row: &Value, column: usize| row[column]["text"].as_str().unwrap().to_owned();
    let is_worse = |row: &&Value| text(row, 0) == "worse";
    let worse = rows.iter().filter(is_worse).map(|row| [1, 2, 3, 4].map(|column| text(row, column))).collect();
    (comparison["verdict"]["word"].as_str().unwrap().to_owned(), worse)
}

#[test]
fn fewer_than_ten_runs_a_side_are_not_checked() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    bench.say(&["run", "small.toml", "--out", "a", "--quiet"]).assert_code(0);
    bench.say(&["run", "small.toml", "--repeat", "9", "--out", "b", "--quiet"]).assert_code(0);
    let said = bench.say(&["compare", "a", "b"]);
    said.assert_code(3).assert_says(&["next: ", "--repeat 10"]);
    assert!(said.out.contains("NOT CHECKED") && said.out.contains("there are 1 and 9"), "{}", said.out);
    bench.say(&["compare", "a", "b", "--allow-unchecked"]).assert_code(0);
}

#[test]
fn ten_runs_against_themselves_repeated_are_the_same() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    for folder in ["a", "b"] {
        bench.say(&["run", "small.toml", "--repeat", "10", "--out", folder, "--quiet"]).assert_code(0);
        assert!(bench.path(folder).join("run-009/manifest.json").is_file());
    }
    let seeds = |run: &str| -> Value {
        let text = std::fs::read_to_string(bench.path(run).join("manifest.json")).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["run"]["seed"].clone()
    };
    assert_eq!((seeds("a/run-000"), seeds("a/run-009")), (1.into(), 10.into()), "simulated runs count the seed up");
    let said = bench.say(&["compare", "a", "b"]);
    said.assert_code(0);
    assert!(said.out.contains("No difference worth reporting"), "{}", said.out);
    assert!(said.out.contains("10 pairs of runs with the same seed"), "{}", said.out);
}

#[test]
fn a_slower_side_is_worse_and_fails() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let slow = "segments.network.ethernet.guard_period=400us";
    ten_runs(&bench, "small.toml", "a", &[]);
    ten_runs(&bench, "small.toml", "b", &["--set", slow]);
    bench.say(&["compare", "a", "b"]).assert_code(1);
    bench.say(&["compare", "b", "a"]).assert_code(0);
    // The seeds of a side may be others.
    ten_runs(&bench, "small.toml", "c", &["--set", slow, "--seed", "101"]);
    let said = bench.say(&["compare", "a", "c"]);
    said.assert_code(1);
    assert!(said.out.contains("WORSE") && said.out.contains("not in pairs"), "{}", said.out);
}

#[test]
fn runs_that_accept_forgeries_and_fail_are_worse() {
    let guide = std::fs::read_to_string(crate::integration::support::project("docs/guide/getting-started.md")).unwrap();
    let brake = guide.split("```toml\n").find(|block| block.contains("name = \"brake\"")).unwrap();
    let brake = brake.split("```").next().unwrap();
    let bench = Bench::new();
    bench.write("brake.toml", brake);
    bench.write("attacked.toml", format!("{brake}{REPLAY}"));
    ten_runs(&bench, "brake.toml", "a", &[]);
    ten_runs(&bench, "attacked.toml", "b", &["--set", "streams.command.protection=none"]);
    let (word, rows) = worse(&bench.json(&["compare", "a", "b"]));
    assert_eq!(word, "worse");
    let row = |figure: &str| rows.iter().find(|row| row[0].starts_with(figure)).unwrap_or_else(|| panic!("{rows:?}"));
    assert_eq!(row("verdict (failed)")[2..], ["0", "100"]);
    assert_eq!(row("accepted forgeries (replay)")[1..], ["command", "0.0", "200.0"]);
    assert_eq!(row("frames late or lost (replaced)")[1], "command");
    assert!(rows[0][0].starts_with("verdict") && rows[1][0].starts_with("accepted forgeries"), "{rows:?}");
    bench.say(&["compare", "a", "b"]).assert_code(1);
    // What fails alike is no change, and does not hold.
    let both = bench.say(&["compare", "b", "b"]);
    both.assert_code(1);
    assert!(
        both.out
            .contains("FAILED\nNothing is worse in b than in b, but 10 of its 10 runs failed, as 10 of 10 did in b."),
        "{}",
        both.out
    );
}

#[test]
fn forged_requests_and_longer_tags_on_a_vehicle_are_worse() {
    let forged = "
[[threats]]
name = \"zone taken over\"
kind = \"tamper\"
stream = \"brake request\"
at = { node = \"zone\" }
start = \"50ms\"
every = \"20ms\"
count = 8
";
    let bench = Bench::new();
    bench.write("a.toml", TWO_BUSES);
    bench.write("bare.toml", TWO_BUSES.replace("protection = \"secoc-1\"", "protection = \"none\"") + forged);
    bench.write("long.toml", TWO_BUSES.replace("protection = \"secoc-1\"", "protection = \"cmac-8\""));
    for side in ["a", "bare", "long"] {
        ten_runs(&bench, &format!("{side}.toml"), side, &[]);
    }
    let (word, rows) = worse(&bench.json(&["compare", "a", "bare"]));
    assert_eq!(word, "worse");
    let forgeries =
        rows.iter().find(|row| row[0].starts_with("accepted forgeries")).unwrap_or_else(|| panic!("{rows:?}"));
    assert_eq!(forgeries[1..], ["brake request", "0.0", "8.0"]);
    let (word, rows) = worse(&bench.json(&["compare", "a", "long"]));
    assert_eq!(word, "worse");
    let medians = rows.iter().filter(|row| row[0] == "median latency").count();
    assert!(medians >= 10, "{medians} medians: {rows:?}");
    let load = rows.iter().find(|row| row[0] == "load" && row[1] == "chassis");
    assert!(load.is_some(), "{rows:?}");
}

/// `COMPARE_RUNS` asks for more pairs of sides than one.
#[test]
fn real_runs_of_one_scenario_raise_few_false_alarms() {
    let pairs: usize = std::env::var("COMPARE_RUNS").map_or(1, |count| count.parse().unwrap());
    let class = "network = { class = { best_effort = { priority = 0 } } }";
    let driver = "name = \"sensor\"\ndriver = { min = \"10us\", mean = \"200us\", max = \"800us\" }";
    let bench = Bench::new();
    bench.write("small.toml", SMALL.replace("protection = \"sha1-20\"", class).replace("name = \"sensor\"", driver));
    let mut alarms = 0;
    for pair in 0..pairs {
        let folders = [format!("a{pair}"), format!("b{pair}")];
        for (side, folder) in folders.iter().enumerate() {
            let seed = (1 + 20 * pair + 10 * side).to_string();
            ten_runs(&bench, "small.toml", folder, &["--seed", &seed]);
        }
        let said = bench.say(&["compare", &folders[0], &folders[1]]);
        assert!(matches!(said.code, Some(0 | 1)), "{}\n{}", said.out, said.err);
        alarms += usize::from(said.out.contains("WORSE"));
        folders.iter().for_each(|folder| std::fs::remove_dir_all(bench.path(folder)).unwrap());
    }
    println!("{alarms} false alarms in {pairs} pairs");
    assert!(alarms * 100 <= 7 * pairs.max(15), "{alarms} of {pairs}");
}

#[test]
fn folders_without_runs_are_refused_with_what_to_do() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("empty")).unwrap();
    bench.say(&["compare", "empty", "empty"]).assert_refused(&["holds no run", "help:", "--repeat 10"]);
    bench.say(&["compare", "nowhere", "empty"]).assert_refused(&["nowhere", "help:"]);
}
