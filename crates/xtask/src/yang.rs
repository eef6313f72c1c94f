//! Gate control lists that `chronoseal schedule make` writes, against the public YANG modules, by Debian's `yanglint`.
//!
//! The modules of the IEEE are no part of this repository: their terms are those of the standards. They are in the folder
//! `standard` of the repository YangModels/yang.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Failure, TaskResult, process};

/// Modules that are implemented, in the order in which yanglint can load them.
const MODULES: [&str; 5] =
    ["ieee802-dot1q-sched", "iana-if-type", "ieee802-dot1q-bridge", "ieee802-dot1q-sched-bridge", "ietf-interfaces"];
/// tsnkit's instances in the tests of `chronoseal-schedule`.
const INSTANCES: [&str; 5] = ["1", "2", "3", "4", "5"];
const VECTORS: &str = "crates/schedule/tests/vectors/tsnkit";

/// Every instance in both forms has to be accepted, and a list that is longer than its port supports refused.
pub(crate) fn run(root: &Path, modules: &Path) -> TaskResult {
    for module in MODULES {
        let path = modules.join(format!("{module}.yang"));
        if !path.exists() {
            return Err(Failure::because(format!(
                "there is no {}: copy {} and what they import there, from `standard` of the repository YangModels/yang",
                path.display(),
                MODULES.map(|module| format!("{module}.yang")).join(", ")
            )));
        }
    }
    let folder = root.join("target/yang");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|error| Failure::because(error.to_string()))?;
    }
    std::fs::create_dir_all(&folder).map_err(|error| Failure::because(error.to_string()))?;
    process::run(root, &["cargo", "build", "--locked", "--package", "chronoseal-cli"])?;
    let mut failed = 0;
    for instance in INSTANCES {
        for form in ["json", "xml"] {
            let file = make(root, &folder, instance, form)?;
            let said = yanglint(modules, &file, form)?;
            println!("instance {instance}, {form}: {}", said.as_deref().unwrap_or("accepted"));
            failed += u32::from(said.is_some());
        }
    }
    // What has to be refused is, so that an acceptance says something.
    let good = std::fs::read_to_string(folder.join("1-json/gates.json"));
    let good = good.map_err(|error| Failure::because(error.to_string()))?;
    let short = folder.join("short.json");
    let begin = good.find("\"supported-list-max\": ").map(|at| at + "\"supported-list-max\": ".len());
    let Some(begin) = begin else { return Err(Failure::because("gates.json has no supported-list-max")) };
    let length = good[begin..].find(|digit: char| !digit.is_ascii_digit()).unwrap_or(0);
    let text = format!("{}1{}", &good[..begin], &good[begin + length..]);
    std::fs::write(&short, text).map_err(|error| Failure::because(error.to_string()))?;
    match yanglint(modules, &short, "json")? {
        Some(said) => println!("a list that is too long: refused ({})", said.lines().next().unwrap_or_default()),
        None => {
            println!("a list that is too long: ACCEPTED");
            failed += 1;
        }
    }
    if failed == 0 { Ok(()) } else { Err(Failure::CheckFailed) }
}

/// The gate control lists of an instance.
fn make(root: &Path, folder: &Path, instance: &str, form: &str) -> Result<PathBuf, Failure> {
    let table = |name: &str| root.join(VECTORS).join(format!("{instance}_{name}.csv"));
    let out = folder.join(format!("{instance}-{form}"));
    let made = Command::new(root.join("target/debug/chronoseal"))
        .args(["schedule", "make", "--quiet", "--gates", &format!("yang-{form}"), "--network"])
        .arg(table("topo"))
        .arg("--streams")
        .arg(table("task"))
        .arg("--out")
        .arg(&out)
        .output()
        .map_err(|error| Failure::because(error.to_string()))?;
    if !made.status.success() {
        return Err(Failure::because(String::from_utf8_lossy(&made.stderr).into_owned()));
    }
    Ok(out.join(format!("gates.{form}")))
}

/// What yanglint has against a file; `None` if nothing.
fn yanglint(modules: &Path, file: &Path, form: &str) -> Result<Option<String>, Failure> {
    let implemented = MODULES.map(|module| modules.join(format!("{module}.yang")));
    let done = Command::new("yanglint")
        .args(["-f", form, "-t", "config", "-p"])
        .arg(modules)
        .args(implemented)
        .arg(file)
        .output()
        .map_err(|error| Failure::because(format!("yanglint: {error}; apt-get install libyang2-tools")))?;
    Ok((!done.status.success()).then(|| String::from_utf8_lossy(&done.stderr).trim().to_owned()))
}
