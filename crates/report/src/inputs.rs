//! What runs were made from: shown, and held against each other.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_results::{Fact, FileMeta, RunMeta};

/// The override that tells the runs of one scenario apart, and that a run's description has in any case.
const SEED: &str = "seed";

/// Overrides, files and options of a run, for a reader.
pub(crate) fn facts(meta: &RunMeta) -> impl Iterator<Item = Fact> + '_ {
    let set = |(path, value): &Fact| {
        let value = match value.trim_end().lines().count() {
            0 | 1 => value.trim_end().to_owned(),
            lines => format!("a table of {lines} lines"),
        };
        (format!("override {path}"), value)
    };
    let file = |file: &FileMeta| (format!("file {}", file.name), format!("{} B ({})", file.len, file.hash));
    let option = |(name, value): &Fact| (format!("option {name}"), value.clone());
    let files = meta.files.iter().map(file);
    meta.overrides.iter().map(set).chain(files).chain(meta.options.iter().map(option))
}

/// In what the scenarios of two runs differ, but for the seed, in words. Empty if they are the same one, or if nobody knows.
pub(crate) fn differences(a: &RunMeta, b: &RunMeta) -> Vec<String> {
    match (is_told(a), is_told(b)) {
        (true, true) => {}
        (false, false) => {
            let differ = !a.scenario_hash.is_empty() && !b.scenario_hash.is_empty() && a.seed == b.seed;
            let differ = differ && a.scenario_hash != b.scenario_hash;
            return if differ { vec!["their hashes".into()] } else { Vec::new() };
        }
        // Hashes were made of less then.
        _ => return Vec::new(),
    }
    let mut differences = Vec::new();
    if a.text_hash != b.text_hash {
        differences.push("the text".to_owned());
    }
    let hashes = |meta: &RunMeta| meta.files.iter().map(|file| (file.name.clone(), file.hash.clone())).collect();
    differences.extend(differing(hashes(a), hashes(b)).map(|name| format!("the file {name}")));
    // Of several values of one path the last one is what counts.
    let values = |meta: &RunMeta| meta.overrides.iter().filter(|(path, _)| path != SEED).cloned().collect();
    let sets: Vec<String> = differing(values(a), values(b)).map(|path| format!("the override of {path}")).collect();
    let order = |meta: &RunMeta| meta.overrides.iter().filter(|(path, _)| path != SEED).cloned().collect::<Vec<_>>();
    if sets.is_empty() && order(a) != order(b) {
        differences.push("the order of overrides".into());
    }
    differences.extend(sets);
    differences
}

/// What a reader of a comparison has to know about the scenarios of its two sides, one sentence each: that they are not the
/// same one, or that this is not known. Seeds may differ: repeated runs count them up.
pub fn scenarios_of(a: &[RunMeta], b: &[RunMeta], names: (&str, &str)) -> Vec<String> {
    let Some(first) = a.first() else { return Vec::new() };
    let mut sentences = Vec::new();
    for (runs, name) in [(a, names.0), (b, names.1)] {
        let within = runs.first().map(|of| from(of, runs, differences)).unwrap_or_default();
        if !within.is_empty() {
            sentences.push(format!("The runs of {name} are not of one scenario: they differ in {}.", listed(&within)));
        }
    }
    let between = from(first, b, differences);
    if !between.is_empty() {
        sentences.push(format!(
            "{} and {} are not runs of the same scenario: they differ in {}.",
            names.0,
            names.1,
            listed(&between)
        ));
    }
    if a.iter().chain(b).any(|run| is_told(run) != is_told(first)) {
        sentences.push(
            "Whether all runs are of the same scenario is not known: some were stored without what they were made from."
                .into(),
        );
    }
    let options = from(first, b, different_options);
    if !options.is_empty() {
        sentences.push(format!("{} and {} were run with other options: {}.", names.0, names.1, listed(&options)));
    }
    sentences
}

/// In what any of `runs` differs from `first`, each difference once.
fn from(first: &RunMeta, runs: &[RunMeta], differences: fn(&RunMeta, &RunMeta) -> Vec<String>) -> Vec<String> {
    let mut told = BTreeSet::new();
    let all = runs.iter().flat_map(|run| differences(first, run));
    all.filter(|difference| told.insert(difference.clone())).collect()
}

/// A run says what it was made from.
fn is_told(meta: &RunMeta) -> bool {
    !meta.text_hash.is_empty()
}

fn different_options(a: &RunMeta, b: &RunMeta) -> Vec<String> {
    let options = |meta: &RunMeta| {
        let mut values: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in &meta.options {
            values.entry(name.clone()).or_default().extend([value.as_str(), " "]);
        }
        values
    };
    if a.engine == b.engine { differing(options(a), options(b)).collect() } else { Vec::new() }
}

/// The keys that one of the two lacks, or has another value for.
fn differing(a: BTreeMap<String, String>, b: BTreeMap<String, String>) -> impl Iterator<Item = String> {
    let mut keys: Vec<String> = a.keys().chain(b.keys()).filter(|key| a.get(*key) != b.get(*key)).cloned().collect();
    keys.sort();
    keys.dedup();
    keys.into_iter()
}

/// "a, b and c".
pub(crate) fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
