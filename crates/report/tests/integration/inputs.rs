//! What runs were made from, in reports and comparisons.

use chronoseal_report::{run_report, scenarios_of};
use chronoseal_results::{Engine, FileMeta, RunMeta, RunRows, summarise};

fn made_from(text: &str, drive: &str, overrides: &[(&str, &str)]) -> RunMeta {
    let set = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    RunMeta {
        scenario_hash: format!("{text}{drive}{overrides:?}"),
        text_hash: text.into(),
        overrides: overrides.iter().map(set).collect(),
        files: vec![FileMeta { name: "drive.csv".into(), len: 72, hash: drive.into() }],
        ..RunMeta::new("made-up", Engine::Sim, 1)
    }
}

fn said(a: &[RunMeta], b: &[RunMeta]) -> String {
    scenarios_of(a, b, ("A", "B")).join("\n")
}

#[test]
fn another_recording_is_another_scenario() {
    let (slow, fast) = (made_from("t", "1", &[]), made_from("t", "2", &[]));
    assert_eq!(said(&[slow], &[fast]), "A and B are not runs of the same scenario: they differ in the file drive.csv.");
}

#[test]
fn all_that_differs_is_named_once() {
    let a = made_from("t", "1", &[("duration", "2s")]);
    let b = made_from("u", "2", &[("duration", "3s"), ("streams.0.count", "2")]);
    assert_eq!(
        said(&[a.clone(), a], &[b.clone(), b]),
        "A and B are not runs of the same scenario: they differ in the text, the file drive.csv, the override of duration and the \
         override of streams.0.count."
    );
}

#[test]
fn repeated_runs_with_seeds_of_their_own_are_of_one_scenario() {
    let runs: Vec<RunMeta> = [&[][..], &[("seed", "2")], &[("seed", "3")]].map(|sets| made_from("t", "1", sets)).into();
    assert_eq!(said(&runs, &runs[..1]), "");
    assert_eq!(said(&runs[1..], &runs), "");
}

#[test]
fn of_overrides_the_order_counts() {
    let ab = made_from("t", "1", &[("streams.0", "x"), ("streams.0.count", "2")]);
    let ba = made_from("t", "1", &[("streams.0.count", "2"), ("streams.0", "x")]);
    assert!(said(&[ab], &[ba]).ends_with("they differ in the order of overrides."));
}

#[test]
fn a_side_of_several_scenarios_is_told() {
    let (slow, fast) = (made_from("t", "1", &[]), made_from("t", "2", &[]));
    let said = said(&[slow.clone(), fast], &[slow]);
    assert_eq!(said, "The runs of A are not of one scenario: they differ in the file drive.csv.");
}

#[test]
fn runs_stored_without_their_inputs_are_told_apart_by_hash_alone() {
    let old = |hash: &str, seed| RunMeta { scenario_hash: hash.into(), ..RunMeta::new("made-up", Engine::Sim, seed) };
    assert_eq!(said(&[old("1", 1)], &[old("1", 1)]), "");
    assert_eq!(said(&[old("1", 1)], &[old("2", 2)]), "", "another seed is another hash");
    assert!(said(&[old("1", 1)], &[old("2", 1)]).ends_with("they differ in their hashes."));
    let unknown = said(&[old("1", 1)], &[made_from("t", "1", &[])]);
    assert!(unknown.contains("is not known"), "{unknown}");
}

#[test]
fn live_runs_with_other_options_are_told() {
    let live = |options: &[(&str, &str)]| RunMeta {
        engine: Engine::Live,
        options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        ..made_from("t", "1", &[])
    };
    assert_eq!(said(&[live(&[])], &[live(&[])]), "");
    assert_eq!(
        said(&[live(&[("capture", "yes")])], &[live(&[("capture", "yes"), ("placement", "free")])]),
        "A and B were run with other options: placement."
    );
}

#[test]
fn a_report_shows_them_beside_the_scenario() {
    let meta =
        made_from("t", "1e", &[("duration", "2s"), ("segments.network.ethernet", "rate = \"1Gbit/s\"\nx = 1\n")]);
    let rows = RunRows::default();
    let facts = run_report(&meta, &summarise(&meta, &rows), &rows).environment;
    let facts: Vec<(&str, &str)> = facts.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(facts[0].0, "scenario");
    assert_eq!(
        facts[1..4],
        [
            ("override duration", "2s"),
            ("override segments.network.ethernet", "a table of 2 lines"),
            ("file drive.csv", "72 B (1e)"),
        ]
    );
}
