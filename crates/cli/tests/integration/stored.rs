//! `report`, `study` and `doctor`.

use crate::integration::support::{Bench, SMALL};

const LOSSY: &str = r#"schema_version = 2
name = "lossy"
duration = "1s"
[segments.air.link]
loss = { independent = "50%" }
[[nodes]]
name = "robot"
[[nodes]]
name = "station"
[[streams]]
name = "laser"
from = "robot"
to = ["station"]
period = "10ms"
length = "64B"
deadline = "100ms"
"#;

#[test]
fn a_stored_run_is_reported_again() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let first = bench.say(&["run", "small.toml", "--out", "run"]).assert_code(0).out.clone();
    let page = std::fs::read_to_string(bench.path("run/report.html")).unwrap();
    assert!(!page.contains("http://") && !page.contains("https://"), "the report needs no network");

    std::fs::remove_file(bench.path("run/report.html")).unwrap();
    let again = bench.say(&["report", "run"]);
    again.assert_code(0).assert_says(&["report: run/report.html"]);
    // Stored times are whole nanoseconds, which only the axes of charts show.
    let words =
        |text: &str| text.lines().filter(|line| !line.contains(" points, ")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&again.out), words(&first), "the same run, the same words");
    assert!(std::fs::read_to_string(bench.path("run/report.html")).unwrap().contains("Every deadline held"));

    let json = bench.say(&["report", "run", "--out", "elsewhere.html", "--format", "json"]).assert_code(0).json();
    assert_eq!(json["verdict"]["word"], "held");
    assert!(bench.path("elsewhere.html").is_file());
}

#[test]
fn who_reads_no_further_changes_neither_what_is_stored_nor_the_status() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    bench.write("lossy.toml", LOSSY);
    for (scenario, status) in [("small.toml", 0), ("lossy.toml", 1)] {
        let out = format!("runs-{status}");
        let words = ["run", scenario, "--repeat", "3", "--out", &out];
        let mut child = bench.command(&words).stdout(std::process::Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(status), "{scenario}");
        let stored = std::fs::read_dir(bench.path(&out)).unwrap().filter_map(Result::ok);
        let runs = stored.filter(|entry| entry.path().join("manifest.json").is_file()).count();
        assert_eq!(runs, 3, "{scenario}");
    }
}

#[test]
fn a_folder_that_holds_no_run_is_refused() {
    let bench = Bench::new();
    bench.say(&["report", "nowhere"]).assert_refused(&["holds no manifest.json", "give the folder"]);
    bench.write("small.toml", SMALL);
    bench.say(&["run", "small.toml", "--out", "run", "--quiet"]).assert_code(0);
    let manifest = bench.path("run/manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, &text[..text.len() / 2]).unwrap();
    bench.say(&["report", "run"]).assert_refused(&["manifest.json", "repeat the run"]);
    std::fs::write(&manifest, text).unwrap();
    std::fs::write(bench.path("run/frames.parquet"), "PAR1").unwrap();
    bench.say(&["report", "run"]).assert_refused(&["frames.parquet"]);
}

#[test]
fn studies_are_listed_and_an_unknown_one_is_refused() {
    let bench = Bench::new();
    let list = bench.say(&["study", "list"]).assert_code(0).out.clone();
    assert!(list.lines().any(|line| line.starts_with("tte-hmac ")), "{list}");
    bench.say(&["study", "run", "tte-hmc"]).assert_refused(&["no study named tte-hmc", "help:", "tte-hmac"]);
    assert!(!bench.path("results").exists());
}

#[test]
fn an_option_that_a_study_does_not_use_is_refused() {
    let bench = Bench::new();
    for (study, option) in [("can-group-key", "--full"), ("can-group-key", "--no-live"), ("can-group-key", "--no-fifo")]
    {
        bench.say(&["study", "run", study, option]).assert_refused(&[
            study,
            option,
            "leave it out",
            "it takes",
            "--seed",
        ]);
    }
    for option in ["--full", "--no-fifo"] {
        bench.say(&["study", "run", "tte-hmac", "--no-live", option]).assert_refused(&["--no-live", option]);
    }
    assert!(!bench.path("results").exists());
}

#[test]
fn doctor_says_what_the_host_can_do() {
    let bench = Bench::new();
    let said = bench.say(&["doctor", "--format", "json"]);
    let report = said.json();
    let live = report["live_refused"].is_null();
    assert_eq!(said.code, Some(if live { 0 } else { 1 }), "{report}");
    assert!(report["cpus"].as_u64().unwrap() >= 1);
    println!("live runs: {}", report["live_refused"]);
    let human = bench.say(&["doctor"]);
    assert!(human.out.contains("This host can simulate"), "{}", human.out);
}

#[test]
fn bench_prints_a_platform_that_a_scenario_accepts() {
    let bench = Bench::new();
    let platform = bench.say(&["bench", "--calls", "20", "--platform", "--quiet"]).assert_code(0).out.clone();
    bench.write(
        "small.toml",
        format!(
            "{}\n{platform}",
            SMALL.replacen("name = \"sensor\"", "name = \"sensor\"\nplatform = \"this-host\"", 1)
        ),
    );
    bench.say(&["check", "small.toml"]).assert_code(0);
    let table = bench.json(&["bench", "--calls", "20"]);
    let rows = |of: &str| table[of]["rows"].as_array().unwrap().len();
    assert_eq!(rows("frames"), 3 * 2 * 8, "three hashes, two sides, eight lengths");
    assert_eq!(rows("suites"), 3 * 5 + 2, "three suites of five operations, a cipher and a MAC");
}
