//! What a build of the program says of a scenario: on paper, and simulated.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::accounts;
use crate::Failure;

/// Seeds that a scenario is simulated with.
const SEEDS: [u64; 3] = [1, 2, 17];

/// A build of the program.
pub(super) struct Binary {
    file: PathBuf,
    /// Where scenarios are handed over.
    folder: PathBuf,
    is_version_1: bool,
    /// Nothing is simulated.
    is_on_paper: bool,
}

/// What `check` says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Word {
    Held,
    Broken,
    NotChecked,
    NotProven,
    /// The scenario is not accepted at all.
    Refused,
}

/// What there is to say of a scenario.
pub(super) struct Answer {
    pub(super) word: Word,
    /// It does not hold, and some of its streams do.
    pub(super) in_part: bool,
    pub(super) contradiction: Option<Contradiction>,
}

/// A scenario that holds on paper, and what the simulator made of it; or a run that contradicts itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Contradiction {
    pub(super) kind: Kind,
    what: String,
}

/// What went wrong in the simulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Lost,
    Late,
    AboveBound,
    Clock,
    Crashed,
    Silent,
    /// Attempts of an attacker that ended nowhere.
    Attack,
    /// Frames that were due, and have no end at a receiver or two.
    Account,
    /// A run that says more than its accounts do.
    Word,
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl Binary {
    /// A program that is there. Which version of the format it reads is asked for.
    pub(super) fn new(file: PathBuf, folder: &Path, is_on_paper: bool) -> Result<Self, Failure> {
        let file = file.canonicalize().map_err(|error| Failure::because(format!("{}: {error}", file.display())))?;
        let mut binary = Self { file, folder: folder.to_owned(), is_version_1: false, is_on_paper };
        let schema = binary.say(&["schema".into()]).1;
        binary.is_version_1 = schema["properties"]["segments"].is_null();
        Ok(binary)
    }

    pub(super) const fn is_version_1(&self) -> bool {
        self.is_version_1
    }

    /// What `check` says of a scenario, if it accepts it.
    pub(super) fn on_paper(&self, text: &str) -> Option<Value> {
        let path = self.folder.join(format!("variant-{}.toml", std::process::id()));
        std::fs::write(&path, text).ok()?;
        let (word, checked) = self.check(&path);
        (word != Word::Refused).then_some(checked)
    }

    /// What `check` says, and what contradicts it.
    pub(super) fn ask(&self, worker: usize, text: &str) -> Answer {
        // Several hunts at once do not read each other's scenarios.
        let path = self.folder.join(format!("worker-{}-{worker}.toml", std::process::id()));
        let mut answer = Answer { word: Word::Refused, in_part: false, contradiction: None };
        if std::fs::write(&path, text).is_err() {
            return answer;
        }
        answer = self.look(&path, 0);
        let zero = at_once(text);
        if !self.is_on_paper && answer.contradiction.is_none() && zero != text && std::fs::write(&path, zero).is_ok() {
            // `check` counts the phases that are written, so it is asked about these as well.
            answer.contradiction = self.look(&path, 1).contradiction;
        }
        answer
    }

    /// What `check` says of a scenario with these phases, and what contradicts it.
    fn look(&self, path: &Path, phase: u32) -> Answer {
        let (word, checked) = self.check(path);
        // What is refused is never run, whatever else is said of it.
        // What is not checked is an attack as a rule, and those that are drawn do nothing.
        let is_whole = word == Word::Held || (word == Word::NotChecked && is_all_bounded(&checked));
        let held = (!is_whole).then(|| held_streams(&checked));
        let in_part = held.as_ref().is_some_and(|streams| !streams.is_empty());
        let mut answer = Answer { word, in_part, contradiction: None };
        if let Some(said) = checked["crashed"].as_str() {
            answer.contradiction = Some(Contradiction { kind: Kind::Crashed, what: said.into() });
            return answer;
        }
        if !self.is_on_paper && word != Word::Refused {
            // Where nothing holds, accounts have to be in order all the same.
            let count = if is_whole || in_part { SEEDS.len() } else { 1 };
            let mut seeds = SEEDS.into_iter().take(count);
            answer.contradiction = seeds.find_map(|seed| self.simulate(path, (seed, phase), &checked, held.as_ref()));
        }
        answer
    }

    fn check(&self, path: &Path) -> (Word, Value) {
        let (code, said) = self.say(&["check".into(), path.display().to_string(), "--format".into(), "json".into()]);
        let word = match (said["word"].as_str(), code) {
            _ if said["crashed"].is_string() => Word::Broken,
            // A schedule that does not fit has bounds of what is elsewhere.
            (_, Some(2)) => Word::Refused,
            (Some("held"), _) => Word::Held,
            (Some("not-checked"), _) => Word::NotChecked,
            (Some("not-bounded" | "not-proven"), _) => Word::NotProven,
            (Some(_), _) => Word::Broken,
            // A build that has no word says with its status whether everything holds.
            (None, Some(0)) => Word::Held,
            (None, Some(1)) => Word::Broken,
            (None, _) => Word::Refused,
        };
        (word, said)
    }

    /// What a run with this seed and phase has that nothing on paper allows; `held` are the streams that hold, if not all do.
    fn simulate(
        &self,
        path: &Path,
        (seed, phase): (u64, u32),
        checked: &Value,
        held: Option<&BTreeSet<&str>>,
    ) -> Option<Contradiction> {
        let mut arguments = vec!["run".to_owned(), path.display().to_string()];
        arguments.extend(["--no-store", "--seed", &seed.to_string(), "--format", "json"].map(str::to_owned));
        if !self.is_version_1 {
            // A run that only counts frames has no account of them; what holds for it holds for one with bytes.
            arguments.extend(["--set", "fidelity=bytes"].map(str::to_owned));
        }
        let (_, run) = self.say(&arguments);
        let found = |kind, what: String| {
            Some(Contradiction {
                kind,
                what: format!("{what} (seed {seed}, {})", ["phases as written", "all phases zero"][phase as usize]),
            })
        };
        if let Some(said) = run["crashed"].as_str() {
            return found(Kind::Crashed, said.to_owned());
        }
        let Some(streams) = run["summary"]["streams"].as_array() else {
            return found(Kind::Silent, "`check` accepts it, and a run says nothing of its streams".into());
        };
        let scenario = std::fs::read_to_string(path).unwrap_or_default();
        if let Some((kind, what)) = accounts::contradiction(&run, &scenario) {
            return found(kind, what);
        }
        for clock in run["summary"]["clocks"].as_array().into_iter().flatten() {
            // One that never joined fails what its node sends or receives.
            if held.is_none() && clock["is_unused"] != true && clock["lost"].as_u64().unwrap_or(0) > 0 {
                return found(Kind::Clock, format!("the clock of {} was lost", clock["node"]));
            }
        }
        let attacks = || run["summary"]["attacks"].as_array().into_iter().flatten();
        if let Some(attack) = attacks().find(|attack| is_open(attack)) {
            return found(Kind::Attack, format!("attempts that ended nowhere: {attack}"));
        }
        // Where first frames of long messages are changed or repeated, messages are lost.
        let changed: BTreeSet<&str> =
            attacks().filter(|attack| changes(attack)).filter_map(|attack| attack["stream"].as_str()).collect();
        let lossy = sharing(&scenario, &changed);
        for stream in streams {
            let name = stream["name"].as_str().unwrap_or_default();
            // Of a stream that is written once for several, `m4.1` is one.
            let written = name.split('.').next().unwrap_or(name);
            if held.is_some_and(|held| !held.contains(name)) || lossy.contains(written) {
                continue;
            }
            let count = |key: &str| stream[key].as_u64().unwrap_or(0);
            let discarded: u64 =
                stream["discarded"].as_object().into_iter().flatten().filter_map(|(_, n)| n.as_u64()).sum();
            let lost = count("missing") + count("not_sent") + count("unaccounted") + discarded;
            // The attacks that are drawn must do nothing.
            let lost = lost + count("replaced") + count("denied");
            if lost > 0 {
                return found(Kind::Lost, format!("{lost} frames of {name} lost: {}", stream["discarded"]));
            }
            if count("late") > 0 {
                return found(Kind::Late, format!("{} frames of {name} late", count("late")));
            }
            let seen = stream["end_to_end"]["all"]["max_ns"].as_f64();
            for bound in bounds(checked, &stream["name"]) {
                if let Some(seen) = seen.filter(|seen| *seen > bound + 1.0) {
                    return found(Kind::AboveBound, format!("{name} took {seen} ns, its bound is {bound} ns"));
                }
            }
        }
        // An older build may say that a run failed in another way.
        (held.is_none() && changed.is_empty() && run["word"] == "failed")
            .then(|| found(Kind::Lost, run["verdict"].to_string()))
            .flatten()
    }

    /// Exit status and data of a command; a panic is in `crashed`.
    pub(super) fn say(&self, arguments: &[String]) -> (Option<i32>, Value) {
        let mut command = Command::new(&self.file);
        command.args(arguments).arg("--quiet").current_dir(&self.folder).stdin(Stdio::null());
        let Ok(output) = command.output() else { return (None, Value::Null) };
        let said = String::from_utf8_lossy(&output.stderr);
        if let Some(line) = said.lines().find(|line| line.contains("panicked at")) {
            return (output.status.code(), serde_json::json!({ "crashed": line }));
        }
        (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or(Value::Null))
    }
}

/// True of an attack on a link that puts something in the place of frames.
fn changes(attack: &Value) -> bool {
    let is_on_link = attack["attacker"].as_str().is_some_and(|name| name.starts_with("attacker-on-"));
    is_on_link && (attack["attack"] == "tamper" || attack["attack"] == "replay")
}

/// These streams, and those whose frames are counted with theirs, in one virtual link: a number that came twice costs any of them.
fn sharing(text: &str, streams: &BTreeSet<&str>) -> BTreeSet<String> {
    let scenario: toml::Table = text.parse().unwrap_or_default();
    let mut shared: BTreeSet<String> = streams.iter().map(|name| (*name).to_owned()).collect();
    let list =
        |table: &toml::Value, key: &str| table.get(key).and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let scenario = toml::Value::Table(scenario);
    // The one whose virtual link it is.
    let led_by = |stream: &toml::Value| {
        let own = stream.as_table().into_iter().flatten();
        own.filter_map(|(_, on)| on.get("sub_virtual_link_of")?.as_str()).next().map(str::to_owned)
    };
    let streams_of = list(&scenario, "streams");
    let all = || streams_of.iter();
    let leads = |stream: &toml::Value| led_by(stream).or_else(|| stream.get("name")?.as_str().map(str::to_owned));
    let name = |stream: &toml::Value| stream.get("name")?.as_str().map(str::to_owned);
    let hit: BTreeSet<String> =
        all().filter(|stream| name(stream).is_some_and(|name| streams.contains(&*name))).filter_map(leads).collect();
    shared.extend(all().filter(|stream| leads(stream).is_some_and(|leader| hit.contains(&leader))).filter_map(name));
    for node in list(&scenario, "nodes") {
        let frames = node.get("gateway").map(|gateway| list(gateway, "collect")).unwrap_or_default();
        for frame in frames.iter().filter(|frame| led_by(frame).is_some_and(|leader| hit.contains(&leader))) {
            shared.extend(list(frame, "streams").iter().filter_map(|name| name.as_str()).map(str::to_owned));
            // What a gateway collects into is called `n5.s0.0`.
            shared.extend(name(&node));
        }
    }
    shared
}

/// True of such an attack of which more attempts than the last one, which may be on its way when a run ends, ended nowhere: what is
/// under way began a message of which the rest had not come by then. Older builds call that unaccounted for.
fn is_open(attack: &Value) -> bool {
    let count = |key: &str| attack[key].as_u64().unwrap_or(0);
    let stopped = ["format", "schedule", "tag", "freshness", "capacity"].map(|by| count(&format!("stopped_by_{by}")));
    changes(attack)
        && count("attempts")
            > stopped.iter().sum::<u64>() + count("accepted") + count("in_flight") + count("unaccounted") + 1
}

/// Every stream at each of its receivers, wherever a build lists them.
fn ends(checked: &Value) -> impl Iterator<Item = &Value> {
    let list = checked["judged"].as_array().or(checked["end_to_end"]["ends"].as_array());
    list.into_iter().flatten()
}

/// What the bound of one says, whatever is left out of it.
fn by_bound(end: &Value) -> &Value {
    if end["by_bound"].is_null() { &end["word"] } else { &end["by_bound"] }
}

/// True if all streams hold but for what is left out.
fn is_all_bounded(checked: &Value) -> bool {
    ends(checked).all(|end| by_bound(end) == "held") && checked["clocks"].as_array().is_some_and(Vec::is_empty)
}

/// The streams that hold at each of their receivers.
fn held_streams(checked: &Value) -> BTreeSet<&str> {
    let named = |is_held: bool| {
        let own = ends(checked).filter(move |end| (by_bound(end) == "held") == is_held);
        own.filter_map(|end| end["stream"].as_str()).collect::<BTreeSet<&str>>()
    };
    &named(true) - &named(false)
}

/// What `check` says a stream takes at most, from its sender to its last receiver `[ns]`: from end to end, and on the wires of
/// slots, which is all that builds from before segments say.
fn bounds(checked: &Value, stream: &Value) -> impl Iterator<Item = f64> {
    let largest = |list: &mut dyn Iterator<Item = &Value>, key: &str| {
        let own = list.filter(|entry| entry["stream"] == *stream);
        let all: Option<Vec<f64>> = own.map(|entry| entry[key].as_f64()).collect();
        all?.into_iter().reduce(f64::max)
    };
    let streams = checked["streams"].as_array();
    [largest(&mut ends(checked), "bound_ns"), largest(&mut streams.into_iter().flatten(), "latency_max_ns")]
        .into_iter()
        .flatten()
}

/// The same scenario with every phase that is written at zero: what is not in slots begins at once.
fn at_once(text: &str) -> String {
    let phase = |line: &str| match line.starts_with("offset = ") {
        true => "offset = \"0us\"".to_owned(),
        false => line.to_owned(),
    };
    text.lines().map(phase).collect::<Vec<_>>().join("\n") + "\n"
}
