//! What a plan was made from, and the hash over it.

use std::cell::Cell;
use std::collections::BTreeSet;

use chronoseal_plan::Plan;
use chronoseal_scenario::{FileError, Files, NoFiles, Scenario, load};
use xxhash_rust::xxh3::xxh3_128;

use crate::WHOLE;

/// A file of every kind: a signal, a log to replay, the costs of a platform, and a trace of a road.
const FILES: [(&str, &str); 4] = [
    ("drive.csv", "time_us,name,value\n0,wheel_speed,1.5\n1000,wheel_speed,1.6\n"),
    ("logs/bus.log", "(0.000000) can0 123#0102\n(0.010000) can0 124#0304\n"),
    ("mine.toml", "[[costs]]\noperation = \"hmac-sha-256\"\nbase = \"1ms\"\n"),
    (
        "town.xml",
        "<fcd-export>\n<timestep time=\"0\"><vehicle id=\"a\" x=\"1\" y=\"2\" angle=\"0\" speed=\"3\"/></timestep>\n\
         <timestep time=\"1\"><vehicle id=\"a\" x=\"1\" y=\"5\" angle=\"0\" speed=\"3\"/></timestep>\n</fcd-export>\n",
    ),
];

/// Refers to each of them, and to one of them twice.
const TEXT: &str = r#"
schema_version = 2
name = "files"
duration = "1s"
[segments.body.can]
bit_rate = "500kbit/s"
[segments.network.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
[segments.street.radio]
road = { sumo = "town.xml" }
[[recordings]]
name = "wheel"
signal = { file = "drive.csv", name = "wheel_speed", unit = "m/s" }
[[recordings]]
name = "wheel again"
signal = { file = "drive.csv", name = "wheel_speed", unit = "m/s" }
[[recordings]]
name = "log"
from = "rest"
traffic = { file = "logs/bus.log" }
[[platforms]]
name = "mine"
file = "mine.toml"
[[nodes]]
name = "rest"
on = ["body"]
[[nodes]]
name = "a"
platform = "mine"
on = ["network"]
[[nodes]]
name = "b"
on = ["network"]
[[streams]]
name = "speed"
from = "a"
to = ["b"]
period = "10ms"
length = "46B"
payload = { recording = "wheel" }
"#;

struct Beside<'a>(&'a [(&'a str, &'a str)]);

impl Files for Beside<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        let file = self.0.iter().find(|(name, _)| *name == path);
        file.map(|(_, text)| text.as_bytes().to_vec()).ok_or(FileError::Unknown)
    }
}

fn loaded(place: &str, text: &str, sets: &[(&str, &str)], files: &dyn Files) -> Plan {
    let sets: Vec<(String, String)> = sets.iter().map(|(path, value)| ((*path).into(), (*value).into())).collect();
    load(place, text.as_bytes(), &sets, files).unwrap_or_else(|problems| panic!("{}", problems.render()))
}

#[test]
fn the_hash_covers_text_and_overrides() {
    let with = |sets: &[(&str, &str)]| loaded("whole.toml", WHOLE, sets, &NoFiles).scenario_hash;
    let plain = with(&[]);
    assert_eq!(plain.len(), 32);
    assert_eq!(plain, with(&[]));
    assert_ne!(plain, with(&[("seed", "1")]));
    assert_ne!(with(&[("seed", "1"), ("seed", "2")]), with(&[("seed", "2"), ("seed", "1")]));
    assert_ne!(plain, loaded("whole.toml", &format!("{WHOLE}#"), &[], &NoFiles).scenario_hash);
}

#[test]
fn the_hash_covers_the_content_of_every_file() {
    let mut hashes = BTreeSet::from([loaded("files.toml", TEXT, &[], &Beside(&FILES)).scenario_hash]);
    for changed in 0..FILES.len() {
        let mut files = FILES;
        let text = files[changed].1.replacen("time=\"1\"", "time=\"2\"", 1).replacen("1.6", "1.7", 1);
        let text = text.replacen("0304", "0305", 1).replacen("1ms", "2ms", 1);
        assert_ne!(text, files[changed].1);
        files[changed].1 = &text;
        hashes.insert(loaded("files.toml", TEXT, &[], &Beside(&files)).scenario_hash);
    }
    assert_eq!(hashes.len(), FILES.len() + 1);
}

#[test]
fn a_plan_names_text_overrides_and_each_file_once() {
    let sets = [("seed", "7"), ("duration", "2s")];
    let inputs = loaded("files.toml", TEXT, &sets, &Beside(&FILES)).inputs;
    let hash = |text: &str| format!("{:032x}", xxh3_128(text.as_bytes()));
    assert_eq!(inputs.text_hash, hash(TEXT));
    assert_eq!(inputs.overrides, sets.map(|(path, value)| (path.to_owned(), value.to_owned())));
    let files: Vec<_> = inputs.files.iter().map(|file| (file.name.as_str(), file.len, file.hash.clone())).collect();
    assert_eq!(files, FILES.map(|(name, text)| (name, text.len() as u64, hash(text))));
}

#[test]
fn where_scenario_and_files_are_found_plays_no_part() {
    let here = loaded("files.toml", TEXT, &[], &Beside(&FILES));
    let there = loaded("/somewhere/else/renamed.toml", TEXT, &[], &Beside(&FILES));
    assert_eq!((here.inputs, here.scenario_hash), (there.inputs, there.scenario_hash));
}

#[test]
fn the_same_file_under_another_reference_is_another_scenario() {
    let mut files = FILES.to_vec();
    files.push(("copies/drive.csv", FILES[0].1));
    let plain = loaded("files.toml", TEXT, &[], &Beside(&files));
    let set = ("recordings.wheel.signal.file", "copies/drive.csv");
    let other = loaded("files.toml", TEXT, &[set], &Beside(&files));
    assert_ne!(plain.scenario_hash, other.scenario_hash);
    let names: Vec<&str> = other.inputs.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["copies/drive.csv", "drive.csv", "logs/bus.log", "mine.toml", "town.xml"]);
}

#[test]
fn a_plan_that_is_made_again_from_the_texts_has_the_same_hash() {
    let scenario = Scenario::load("files.toml", TEXT.as_bytes(), &[("seed".into(), "3".into())], &Beside(&FILES))
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    // As stations of a live run get them, which have no files.
    let again = scenario.texts().plan().unwrap_or_else(|problems| panic!("{}", problems.render()));
    assert_eq!(again.inputs, scenario.plan.inputs);
    assert_eq!(again.scenario_hash, scenario.plan.scenario_hash);
    let longer = scenario.with(&[("duration", "2s")]).unwrap_or_else(|problems| panic!("{}", problems.render()));
    assert_ne!(longer.plan.scenario_hash, scenario.plan.scenario_hash);
    assert_eq!(longer.plan.inputs.overrides.len(), 2);
}

/// A file that has grown each time somebody reads it.
struct Growing(Cell<usize>);

impl Files for Growing {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        let mut bytes = Beside(&FILES).read(path)?;
        if path == "drive.csv" {
            self.0.set(self.0.get() + 1);
            bytes.extend_from_slice(b"2000,wheel_speed,1.7\n".repeat(self.0.get()).as_slice());
        }
        Ok(bytes)
    }
}

#[test]
fn a_file_that_is_referred_to_twice_is_read_once() {
    let growing = Growing(Cell::new(0));
    let plan = loaded("files.toml", TEXT, &[], &growing);
    assert_eq!(growing.0.get(), 1);
    let samples = |recording: usize| plan.recordings[recording].samples.len();
    assert_eq!((samples(0), samples(1)), (3, 3));
}
