//! Pins what the program says about a set of scenarios, through the binary alone: its exit status, its JSON, and the
//! rows, the capture and the description of each run. `README.md` beside this file says how to read a difference and
//! when new values may be written.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod compare;
mod record;
mod rows;
mod study;
mod text;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use record::Stage;

/// Differences printed for each scenario; the others are counted.
const SHOWN: usize = 10;

#[test]
fn shipped_scenarios_give_what_they_gave() {
    hold("shipped");
}

#[test]
fn scenarios_of_the_hmac_study_give_what_they_gave() {
    hold("tte-hmac");
}

#[test]
fn scenarios_with_known_defects_give_what_they_gave() {
    hold("defects");
}

#[test]
fn further_scenarios_give_what_they_gave() {
    hold("more");
}

#[test]
fn the_group_key_study_gives_what_it_gave() {
    let stage = Stage::new("shipped");
    let document = stage.out(&["study", "run", "can-group-key", "--out", "study"]);
    let mut report = String::new();
    compare_or_update("study/can-group-key", &study::tables(&document), &mut report);
    assert_unchanged(&report);
}

/// The file that is run in place of `file`, which is of version 1 of the format: the same one, upgraded. One that cannot
/// be upgraded is run as it is.
fn prepared(stage: &Stage, file: &Path) -> PathBuf {
    let old = fs::read_to_string(stage.path(file)).unwrap();
    let name = file.display().to_string();
    let upgraded = stage.upgrade(&[&name]);
    let new = fs::read_to_string(stage.path(file)).unwrap();
    if upgraded.is_none() {
        assert_eq!(new, old, "{name} cannot be upgraded, and was written to");
        return file.to_owned();
    }
    assert!(new.contains("schema_version = 2"), "{new}");
    assert_eq!(comments(&new), comments(&old), "{name} lost a comment");
    assert_eq!(stage.upgrade(&[&name, "--out", "-"]).unwrap(), new, "a second upgrade changes nothing");
    file.to_owned()
}

/// What stands behind each `#`, sorted.
fn comments(text: &str) -> Vec<&str> {
    let mut comments: Vec<&str> = text.lines().filter_map(|line| line.split_once("# ")).map(|(_, said)| said).collect();
    comments.sort_unstable();
    comments
}

/// Runs every scenario of a folder and compares what comes out with what is expected.
fn hold(folder: &str) {
    let stage = Stage::new(folder);
    let mut report = String::new();
    for file in &stage.scenarios {
        compare_or_update(&file.with_extension("").display().to_string(), &record::record(&stage, file), &mut report);
    }
    remove_or_refuse_orphans(&here().join("expected").join(folder), &stage);
    assert_unchanged(&report);
}

/// Adds to `report` where a value differs from the expectation called `name`, or writes the expectation anew.
fn compare_or_update(name: &str, value: &Value, report: &mut String) {
    let is = text::pretty(value);
    let expected = here().join("expected").join(format!("{name}.json"));
    if updates() {
        fs::create_dir_all(expected.parent().unwrap()).unwrap();
        fs::write(&expected, is).unwrap();
        return;
    }
    let was = fs::read_to_string(&expected).unwrap_or_else(|error| panic!("{}: {error}", expected.display()));
    if was != is {
        // Both from their texts, so that the numbers of both went through the same conversions.
        let [was, is]: [Value; 2] = [&was, &is].map(|text| serde_json::from_str(text).unwrap());
        *report += &compare::report(name, &was, &is, SHOWN);
    }
}

fn assert_unchanged(report: &str) {
    assert!(
        report.is_empty(),
        "what the program gives has changed:\n{report}\nif every change is meant, run this test with UPDATE_GOLDEN=1"
    );
}

fn updates() -> bool {
    std::env::var("UPDATE_GOLDEN").as_deref() == Ok("1")
}

/// An expectation without a scenario would never be compared.
fn remove_or_refuse_orphans(expected_folder: &Path, stage: &Stage) {
    for entry in fs::read_dir(expected_folder).unwrap() {
        let path = entry.unwrap().path();
        if stage.scenarios.iter().any(|file| file.file_stem() == path.file_stem()) {
            continue;
        }
        assert!(updates(), "{} belongs to no scenario", path.display());
        fs::remove_file(path).unwrap();
    }
}

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}
