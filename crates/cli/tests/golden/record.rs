//! Runs one scenario in every way that is pinned, and gathers what came out as one JSON value.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use chronoseal_results::store;
use serde_json::{Map, Value, json};

use crate::golden::{here, prepared, rows};

/// What varies from run to run, from build to build or from host to host, at the top of what the program writes. How many
/// events the simulator needs is no part of what it gives.
const VARYING: [&str; 11] = [
    "cpu_s",
    "events",
    "frames_per_cpu_s",
    "results",
    "scenario_hash",
    "text_hash",
    "host",
    "versions",
    "commit",
    "started",
    "environment",
];

/// A temporary copy of one folder of scenarios with the files they refer to; the program runs in it.
pub(crate) struct Stage {
    temporary: tempfile::TempDir,
    /// From the root of the copy, in order of their names.
    pub(crate) scenarios: Vec<PathBuf>,
}

/// How the program ended and what it said.
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Stage {
    pub(crate) fn new(folder: &str) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        copy(&here().join(folder), &temporary.path().join(folder));
        let mut scenarios: Vec<_> = fs::read_dir(temporary.path().join(folder))
            .unwrap()
            .map(|entry| Path::new(folder).join(entry.unwrap().file_name()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
            .collect();
        scenarios.sort();
        assert!(!scenarios.is_empty(), "{folder} holds no scenario");
        Self { temporary, scenarios }
    }

    /// The data of a command that has run, whatever it found.
    pub(crate) fn out(&self, arguments: &[&str]) -> Value {
        let said = self.say(arguments);
        assert!(matches!(said.code, Some(0 | 1 | 3)), "{arguments:?}: {:?}\n{}", said.code, said.err);
        serde_json::from_str(&said.out).unwrap()
    }

    /// What `scenario upgrade` prints; `None` if it refuses.
    pub(crate) fn upgrade(&self, arguments: &[&str]) -> Option<String> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chronoseal"));
        command.args(["scenario", "upgrade"]).args(arguments);
        let output = command.current_dir(self.temporary.path()).stdin(Stdio::null()).output().unwrap();
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    }

    pub(crate) fn path(&self, path: &Path) -> PathBuf {
        self.temporary.path().join(path)
    }

    fn say(&self, arguments: &[&str]) -> Said {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chronoseal"));
        command.args(arguments).args(["--quiet", "--format", "json"]);
        let output = command.current_dir(self.temporary.path()).stdin(Stdio::null()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let said = Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) };
        assert!(!said.err.contains("panicked"), "{arguments:?}: {}", said.err);
        said
    }
}

impl Said {
    /// Exit status, data, and the codes of the problems or else the first line of what was said about them.
    fn to_json(&self) -> Value {
        let mut value = Map::from_iter([("exit".to_owned(), json!(self.code))]);
        if !self.out.is_empty() {
            let mut out = serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}:\n{}", self.out));
            leave_out_varying(&mut out);
            value.insert("out".into(), out);
        }
        if let Ok(problems) = serde_json::from_str::<Value>(&self.err) {
            value.insert("count".into(), problems["count"].clone());
            // What was found is pinned, not in which order.
            let codes: BTreeSet<_> =
                problems["problems"].as_array().unwrap().iter().map(|p| p["code"].as_str()).collect();
            value.insert("codes".into(), json!(codes));
        } else if !self.err.is_empty() {
            value.insert("error".into(), json!(self.err.lines().next()));
        }
        value.into()
    }
}

/// Everything that is pinned about one scenario.
pub(crate) fn record(stage: &Stage, file: &Path) -> Value {
    // The old text: how a scenario is asked does not depend on the format it is handed over in.
    let text = fs::read_to_string(stage.path(file)).unwrap();
    let counts_only = text.contains("fidelity = \"timing\"");
    let may_be_counted = text.contains("[network.time_triggered_ethernet]");
    let input = prepared(stage, file).display().to_string();

    let mut golden = Map::new();
    golden.insert("check".into(), stage.say(&["check", &input]).to_json());
    if may_be_counted {
        golden.insert("count".into(), stage.say(&["run", &input, "--engine", "sim", "--count"]).to_json());
    }
    if counts_only {
        golden.insert("run".into(), stage.say(&["run", &input, "--engine", "sim"]).to_json());
        return golden.into();
    }
    let name = file.with_extension("").display().to_string().replace(['/', '\\'], "-");
    let folder = format!("run-{name}");
    let said = stage.say(&["run", &input, "--engine", "sim", "--capture", "--out", &folder]);
    golden.insert("run".into(), said.to_json());
    let folder = stage.path(Path::new(&folder));
    if folder.join("manifest.json").exists() {
        golden.insert("rows".into(), rows::digests(&folder, &name));
        golden.insert("network".into(), network(&folder));
    }
    golden.into()
}

/// How the manifest of a run describes what was run: nodes, streams, segments, group.
fn network(folder: &Path) -> Value {
    let (meta, _) = store::read(folder).unwrap();
    let mut meta = serde_json::to_value(meta).unwrap();
    leave_out_varying(&mut meta);
    meta
}

fn leave_out_varying(value: &mut Value) {
    if let Value::Object(map) = value {
        map.retain(|key, _| !VARYING.contains(&key.as_str()));
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
