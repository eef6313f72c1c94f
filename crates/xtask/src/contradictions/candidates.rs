//! The protection that `check` names as the lightest, held against the scenario that has it.
//!
//! `check` has to say HELD of that scenario, or NOT CHECKED where it says so of the scenario as drawn. Ten runs as drawn are compared with
//! ten runs that have it, and what `compare` says of verdicts has to be what the runs said.

use std::path::Path;

use serde_json::Value;

use super::answers::Binary;

/// Runs of a side: as many as `compare` asks for.
const RUNS: usize = 10;
/// What is weighed, where a scenario names no candidates of its own.
const CANDIDATES: &str = "candidates = [\"short\", \"long\", \"none\"]\n";

/// What became of one scenario.
pub(super) enum Weighed {
    /// No protection is named, or the scenario is refused.
    Unnamed,
    /// All agree. So many of the two sides' runs failed.
    Agrees([usize; 2]),
    Contradicts(String),
}

/// Asks about a scenario; `folder` is for its files.
pub(super) fn weigh(binary: &Binary, folder: &Path, text: &str) -> Weighed {
    let text = match text.split_once('\n') {
        Some((version, rest)) if !text.contains("\ncandidates = ") => format!("{version}\n{CANDIDATES}{rest}"),
        _ => text.to_owned(),
    };
    let path = folder.join("weighed.toml");
    if let Err(error) = std::fs::write(&path, &text) {
        return Weighed::Contradicts(format!("{}: {error}", path.display()));
    }
    let say = |arguments: &[&str]| binary.say(&arguments.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
    let path = path.display().to_string();
    let checked = say(&["check", &path, "--format", "json"]).1;
    let Some(lightest) = checked["lightest"].as_str() else { return Weighed::Unnamed };
    let applied = applied(&text, &checked, lightest);
    let applied: Vec<&str> = applied.iter().flat_map(|set| ["--set", set]).collect();
    let with = say(&[&["check", &path, "--format", "json"], &applied[..]].concat()).1;
    // What `check` leaves out of a scenario it leaves out with any candidate, and says so.
    let is_open = checked["word"] == "not-checked" && with["word"] == "not-checked";
    if with["word"] != "held" && !is_open {
        let word = &with["word"];
        return Weighed::Contradicts(format!("{lightest} is named as the lightest, and with it the word is {word}"));
    }
    let sides = [("drawn", &[][..]), ("applied", &applied[..])];
    let failed = sides.map(|(side, sets)| {
        let out = folder.join(side);
        // What a scenario before left.
        let _ = std::fs::remove_dir_all(&out);
        let (out, runs) = (out.display().to_string(), RUNS.to_string());
        // A run that only counts frames is not stored.
        let run = ["run", &path, "--repeat", &runs, "--out", &out, "--set", "fidelity=bytes", "--format", "json"];
        say(&[&run, sets].concat());
        failed_runs(binary, Path::new(&out))
    });
    let [Some(drawn), Some(applied)] = failed else {
        return Weighed::Contradicts(format!("with {lightest} or without it there are no {RUNS} runs"));
    };
    if applied > 0 && !is_open {
        return Weighed::Contradicts(format!("with {lightest} `check` says HELD, and {applied} of {RUNS} runs failed"));
    }
    let folders = sides.map(|(side, _)| folder.join(side).display().to_string());
    let compared = say(&["compare", &folders[0], &folders[1], "--format", "json"]).1;
    match disagrees(&compared, [drawn, applied]) {
        Some(what) => Weighed::Contradicts(what),
        None => Weighed::Agrees([drawn, applied]),
    }
}

/// The values that give a scenario a candidate, on each stream that it is for.
fn applied(text: &str, checked: &Value, lightest: &str) -> Vec<String> {
    let candidates = checked["candidates"].as_array().into_iter().flatten();
    let kept = candidates.filter(|one| one["protection"] == lightest).flat_map(|one| one["kept"].as_array()).flatten();
    let kept: Vec<&str> = kept.filter_map(Value::as_str).collect();
    let scenario: toml::Table = text.parse().unwrap_or_default();
    let streams = scenario.get("streams").and_then(toml::Value::as_array).into_iter().flatten();
    let names = streams.filter_map(|stream| stream.get("name")?.as_str()).filter(|name| !kept.contains(name));
    names.map(|name| format!("streams.{name}.protection={lightest}")).collect()
}

/// How many of the runs in a folder say that they failed; `None` if there are not as many as asked for.
fn failed_runs(binary: &Binary, folder: &Path) -> Option<usize> {
    let words = (0..RUNS).map(|run| {
        let run = folder.join(format!("run-{run:03}")).display().to_string();
        let report = binary.say(&["report".into(), run, "--format".into(), "json".into()]).1;
        report["verdict"]["word"].as_str().map(str::to_owned)
    });
    let words: Option<Vec<String>> = words.collect();
    Some(words?.iter().filter(|word| *word == "failed").count())
}

/// What a comparison says of the verdicts of both sides that they do not say themselves; `failed` runs are in each of them.
fn disagrees(compared: &Value, failed: [usize; 2]) -> Option<String> {
    let word = compared["verdict"]["word"].as_str().unwrap_or_default();
    let rows = compared["sections"][0]["blocks"][0]["table"]["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let text = |row: &Value, column: usize| row[column]["text"].as_str().unwrap_or_default().to_owned();
    let verdict = rows.iter().find(|row| text(row, 1).starts_with("verdict (failed)"));
    let shown = verdict.map_or(["0".to_owned(), "0".to_owned()], |row| [text(row, 3), text(row, 4)]);
    let percent = failed.map(|failed| (100 * failed / RUNS).to_string());
    if shown != percent {
        return Some(format!(
            "`compare` says that {} % and {} % of the runs failed, and {failed:?} of {RUNS} did",
            shown[0], shown[1]
        ));
    }
    let is_bad = matches!(word, "worse" | "failed" | "broken");
    let verdict_is_worse = verdict.is_some_and(|row| text(row, 0) == "worse");
    match failed {
        _ if word.is_empty() => Some("`compare` says nothing".into()),
        [_, second] if second > 0 && !is_bad => {
            Some(format!("runs of the second side failed, and `compare` says {word}"))
        }
        [_, 0] if verdict_is_worse => {
            Some("no run of the second side failed, and `compare` says that its verdicts are worse".into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn compared(word: &str, rows: &[[&str; 5]]) -> Value {
        let rows: Vec<Value> = rows.iter().map(|row| json!(row.map(|text| json!({ "text": text })))).collect();
        json!({ "verdict": { "word": word }, "sections": [{ "blocks": [{ "table": { "rows": rows } }] }] })
    }

    #[test]
    fn a_comparison_that_says_of_verdicts_what_runs_do_not_is_found() {
        let failed = ["worse", "verdict (failed)", "all", "0", "100"];
        assert_eq!(disagrees(&compared("held", &[]), [0, 0]), None);
        assert_eq!(disagrees(&compared("worse", &[failed]), [0, 10]), None);
        assert!(disagrees(&compared("worse", &[failed]), [0, 0]).is_some());
        assert!(disagrees(&compared("held", &[]), [0, 10]).is_some());
        assert!(disagrees(&compared("held", &[failed]), [0, 10]).is_some());
        assert!(disagrees(&Value::Null, [0, 0]).is_some());
    }

    #[test]
    fn a_candidate_is_applied_to_streams_that_do_not_keep_their_own() {
        let text = "[[streams]]\nname = \"a\"\n[[streams]]\nname = \"b\"\n";
        let checked = json!({ "candidates": [{ "protection": "short", "kept": ["b"] }] });
        assert_eq!(applied(text, &checked, "short"), ["streams.a.protection=short"]);
    }
}
