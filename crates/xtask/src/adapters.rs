//! Robot middleware, real, over our links: the list that each adapter has to keep.

use std::path::Path;

use crate::{Failure, TaskResult, built, licences, process};

/// Configurations of every test run, in brief; the rest, and all that can go wrong, is run by hand.
const TESTED: &[&[&str]] = &[
    &["raw", "raw-udp", "raw-tcp"],
    &["ros1", "ros-1"],
    &["fastdds", "fast-dds-reliable", "fast-dds-reliable-encrypted"],
];

/// Recordings of users, read by Debian's Python as in use.
const RECORDINGS: &[&str] = &["/usr/bin/python3", "adapters/middleware/test_recordings.py"];

/// Runs these adapters through `conformance.py`; all of them if none is named. Those in Rust are workspaces of their own: their licences
/// and lints are looked at here.
pub(crate) fn run(root: &Path, names: &[&str]) -> TaskResult {
    let folder = root.join("adapters/middleware");
    let mut all: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    if all.is_empty() {
        let entries = folder.read_dir().map_err(|error| Failure::because(format!("{}: {error}", folder.display())))?;
        let with_description = entries.flatten().filter(|entry| entry.path().join("adapter.toml").is_file());
        all = with_description.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        all.sort();
    }
    for workspace in all.iter().map(|name| folder.join(name)).filter(|folder| folder.join("Cargo.lock").is_file()) {
        licences::of_adapter(&workspace)?;
        process::run(&workspace, &["cargo", "clippy", "--locked", "--all-targets", "--", "-D", "warnings"])?;
    }
    let calls: Vec<Vec<&str>> = all.iter().map(|name| vec![name.as_str()]).collect();
    conform(root, &calls)
}

/// What every test run asks of adapters.
pub(crate) fn test(root: &Path) -> TaskResult {
    process::run(root, RECORDINGS)?;
    let calls: Vec<Vec<&str>> = TESTED.iter().map(|words| [words, &["--brief"][..]].concat()).collect();
    conform(root, &calls)
}

/// Calls `conformance.py` with each of these words. Adapters whose middleware is not installed are named and left out.
fn conform(root: &Path, calls: &[Vec<&str>]) -> TaskResult {
    let folder = root.join("adapters/middleware");
    let program = built::program(root, "chronoseal")?;
    let program = program.to_string_lossy();
    let mut failed = Vec::new();
    for call in calls {
        let name = call[0];
        if !is_installed(&folder, name) {
            eprintln!(
                "skipped: {name}; its middleware is not installed (`chronoseal middleware list` says what installs it)"
            );
            continue;
        }
        let script = folder.join("conformance.py");
        let script = script.to_string_lossy();
        // Debian's, whatever else is called python3 here.
        let words: Vec<&str> = ["/usr/bin/python3", &script].into_iter().chain(call.iter().copied()).collect();
        if process::run_with(root, &words, &[("CHRONOSEAL", &program)]).is_err() {
            failed.push(call.join(" "));
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(Failure::because(format!("adapters failed: {}", failed.join(", ")))) }
}

/// What its description says prints a version.
fn is_installed(folder: &Path, name: &str) -> bool {
    let read = std::fs::read_to_string(folder.join(name).join("adapter.toml")).ok();
    let Some(description) = read.and_then(|text| text.parse::<toml::Table>().ok()) else { return false };
    let version = description.get("version").and_then(toml::Value::as_array);
    let words: Vec<&str> = version.into_iter().flatten().filter_map(toml::Value::as_str).collect();
    !words.is_empty() && process::output(&folder.join(name), &words).is_ok()
}
