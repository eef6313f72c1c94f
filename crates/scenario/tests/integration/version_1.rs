//! Scenarios of version 1 mean after `upgrade` what they meant before.
//!
//! `digests.txt` was written by the resolver of version 1, over the text that the plan's `Debug` shows.

use std::path::{Path, PathBuf};

use chronoseal_scenario::{FileError, Files, load, upgrade};
use xxhash_rust::xxh3::xxh3_128;

use crate::shown;

/// Whatever the scenarios refer to.
struct Beside;

impl Files for Beside {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        match path {
            "bus.log" => Ok(b"(0.000000) can0 123#0102\n(0.010000) can0 124#0304\n".to_vec()),
            "mine.toml" => Ok(b"[[costs]]\noperation = \"fourq-sign\"\nbase = \"1ms\"\n".to_vec()),
            "drive.csv" => Ok(b"time_us,name,value\n0,wheel_speed,1.5\n1000,wheel_speed,1.6\n".to_vec()),
            _ => Err(FileError::Unknown),
        }
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/version_1")
}

/// The scenarios of version 1 with their names, in the order of these.
pub(crate) fn scenarios() -> Vec<(String, String)> {
    in_folder(&folder())
}

fn in_folder(folder: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).expect("the folder is part of the checkout");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
        (name, std::fs::read_to_string(path).expect("it is text"))
    };
    paths.into_iter().map(read).collect()
}

fn digest(name: &str, text: &str) -> String {
    let plan = load(name, text.as_bytes(), &[], &Beside).unwrap_or_else(|problems| panic!("{}", problems.render()));
    format!("{:032x}", xxh3_128(shown(plan).as_bytes()))
}

#[test]
fn a_scenario_of_version_1_means_the_same_after_its_upgrade() {
    let mut digests = String::new();
    for (name, text) in scenarios() {
        let text = upgrade(&name, &text).unwrap_or_else(|problems| panic!("{}", problems.render())).text;
        digests += &format!("{name} {}\n", digest(&name, &text));
    }
    // When the plan itself changes, the digests are written anew with `UPDATE_DIGESTS=1`, once that is all that changed.
    if std::env::var_os("UPDATE_DIGESTS").is_some() {
        std::fs::write(folder().join("digests.txt"), &digests).expect("the checkout can be written");
    }
    assert_eq!(digests, stored());
}

fn stored() -> String {
    std::fs::read_to_string(folder().join("digests.txt")).expect("it is part of the checkout")
}

/// What was polished by hand means the same, too.
#[test]
fn the_shipped_scenarios_mean_what_those_of_version_1_meant() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut count = 0;
    for (place, before) in [("scenarios", ""), ("studies/tte-hmac/scenarios", "study-")] {
        for (name, text) in in_folder(&root.join(place)) {
            // Those that came later have never been of version 1.
            if !stored().contains(&format!("{before}{name} ")) {
                continue;
            }
            // What a run may lose could not be written in version 1; it changes no run, and stands at the end.
            let (text, _) = text.split_once("\n[[allowances]]").unwrap_or((&text, ""));
            let line = format!("{before}{name} {}\n", digest(&name, text));
            assert!(stored().contains(&line), "{name}");
            count += 1;
        }
    }
    assert_eq!(count, 14);
}
