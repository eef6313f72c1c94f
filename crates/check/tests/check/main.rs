//! Whole scenarios, as `check` judges them.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod candidates;
mod imports;
mod links;
mod shape;
mod witnesses;
mod words;

use chronoseal_check::{Checked, Refused, Tried, check};
use chronoseal_scenario::{Files, NoFiles, Scenario};
use serde_json::Value;

fn load(text: &str) -> Scenario {
    load_with(text, &NoFiles)
}

fn load_with(text: &str, files: &dyn Files) -> Scenario {
    Scenario::load("test.toml", text.as_bytes(), &[], files)
        .unwrap_or_else(|problems| panic!("{}\n{text}", problems.render()))
}

/// The scenario with a change that it takes.
fn changed(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "the scenario has `{from}`");
    text.replacen(from, to, 1)
}

fn checked(text: &str) -> Checked {
    checked_with(text, &NoFiles)
}

fn checked_with(text: &str, files: &dyn Files) -> Checked {
    let scenario = load_with(text, files);
    let applied = |name: &str| match scenario.protected(name) {
        Ok((plan, kept)) => Ok(Tried { plan, kept }),
        Err(problems) => Err(Refused(problems.first())),
    };
    check(&scenario.plan, &applied).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(&checked(text).json).unwrap()
}

/// The word, and the text of the verdict.
fn verdict(text: &str) -> (&'static str, String) {
    let checked = checked(text);
    (checked.word.name(), checked.document.verdict.text)
}

/// Of each stream at each receiver: its name, what it is, the word, and why.
fn verdicts_with(text: &str, files: &dyn Files) -> Vec<[String; 4]> {
    let json: Value = serde_json::from_str(&checked_with(text, files).json).unwrap();
    let row = |row: &Value| ["stream", "kind", "word", "why"].map(|key| row[key].as_str().unwrap_or("").to_owned());
    json["judged"].as_array().unwrap().iter().map(row).collect()
}
