//! Files of public repositories, each given to `chronoseal scenario from`: what is one of our formats is imported, or refused for a
//! reason that a kept list names. Anything else fails: another refusal, an end by a signal, too much memory, too much time. What is
//! imported is simulated and checked, too.
//!
//! By hand: the repositories are other people's, and are no part of this one. docs/dev/corpus.md says which they were.

mod kept;
mod trial;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::{Failure, TaskResult, built};

use kept::Kept;
use trial::{Outcome, Trial};

/// The list that is used unless another is given.
const KEPT: &str = "docs/dev/corpus.tsv";

/// Endings of files that are ours by their name; `.gz` may follow.
const ENDINGS: [&str; 15] = [
    "arxml", "asc", "blf", "candump", "cap", "csv", "db", "dbc", "log", "mdf", "mf4", "pcap", "pcapng", "sqlite", "trc",
];

/// What the program says of a file that it does not take for one of its formats.
const NOT_OURS: &str = "import::format";

/// The files of one ending.
#[derive(Default)]
struct Count {
    imported: usize,
    refused: usize,
    failed: usize,
}

/// Runs over the files below a folder: `DIR [--kept FILE] [--binary FILE]`.
pub(crate) fn run(root: &Path, words: &[&str]) -> TaskResult {
    let (mut folder, mut list, mut binary) = (None, root.join(KEPT), None);
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "--kept" => list = words.next().ok_or_else(|| Failure::because("--kept needs a file"))?.into(),
            "--binary" => {
                binary = Some(PathBuf::from(words.next().ok_or_else(|| Failure::because("--binary needs a file"))?));
            }
            word if folder.is_none() && !word.starts_with('-') => folder = Some(PathBuf::from(word)),
            other => return Err(Failure::because(format!("corpus does not know `{other}`"))),
        }
    }
    let folder = folder.ok_or_else(|| Failure::because("corpus needs the folder with the repositories"))?;
    let mut kept = Kept::read(&list)?;
    let binary = match binary {
        Some(binary) => binary,
        None => built::program(root, "chronoseal")?,
    };
    let mut files = Vec::new();
    gather(&folder, &mut files)?;
    files.sort();
    let made = Made::new()?;
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let (mut others, mut failures) = (0, 0);
    let mut most = Trial { outcome: Outcome::Imported, peak_memory: 0, seconds: 0.0 };
    for file in &files {
        let name = file.strip_prefix(&folder).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let trial = trial::import(&binary, file, &made.0)?;
        most.peak_memory = most.peak_memory.max(trial.peak_memory);
        most.seconds = most.seconds.max(trial.seconds);
        let ending = ending(&name);
        let is_ours = ENDINGS.contains(&&*ending);
        let count = counts.entry(if is_ours { ending } else { "by content alone".into() }).or_default();
        match trial.outcome {
            Outcome::Imported => count.imported += 1,
            Outcome::Refused(reason) if !is_ours && reason.contains(NOT_OURS) => others += 1,
            Outcome::Refused(reason) if kept.allows(&name, &reason) => count.refused += 1,
            Outcome::Refused(reason) => {
                count.failed += 1;
                println!("{name}: refused, and not on the list: {reason}");
            }
            Outcome::Broken(how) => {
                count.failed += 1;
                println!("{name}: {how}");
            }
        }
    }
    println!("{:>16} {:>8} {:>8} {:>6}", "", "imported", "refused", "failed");
    counts.retain(|_, count| count.imported + count.refused + count.failed > 0);
    for (ending, Count { imported, refused, failed }) in &counts {
        println!("{ending:>16} {imported:>8} {refused:>8} {failed:>6}");
        failures += failed;
    }
    let sum = |of: fn(&Count) -> usize| counts.values().map(of).sum::<usize>();
    println!("{:>16} {:>8} {:>8} {failures:>6}", "all", sum(|it| it.imported), sum(|it| it.refused));
    println!(
        "{others} other files are none of our formats and were refused as such; the most memory was {} MiB, the longest import {:.1} s",
        most.peak_memory >> 20,
        most.seconds
    );
    let unused = kept.unused(|repository| folder.join(repository).is_dir());
    for line in &unused {
        println!("{}: {line} is needed by no file; take it out", list.display());
    }
    let holds = rates_and_words(root, &folder)?;
    if failures > 0 || !unused.is_empty() || !holds { Err(Failure::CheckFailed) } else { Ok(()) }
}

/// A folder for the scenarios that are made, and the recordings beside them.
struct Made(PathBuf);

impl Made {
    fn new() -> Result<Self, Failure> {
        let folder = std::env::temp_dir().join(format!("chronoseal-corpus-{}", std::process::id()));
        std::fs::create_dir(&folder).map_err(|error| Failure::because(format!("{}: {error}", folder.display())))?;
        Ok(Self(folder))
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What is imported, simulated and checked by a test of the command line, whose build of the program is used: each class has the bytes a
/// second that were seen, and nothing is broken by what was assumed.
fn rates_and_words(root: &Path, folder: &Path) -> Result<bool, Failure> {
    let cannot = |error: std::io::Error| Failure::because(format!("{}: {error}", folder.display()));
    let folder = folder.canonicalize().map_err(cannot)?;
    let mut command = std::process::Command::new("cargo");
    command.args(["test", "--quiet", "--workspace", "--test", "cli", "integration::imported", "--", "--nocapture"]);
    let status = command.current_dir(root).env("IMPORTED_CORPUS", folder).status();
    let status = status.map_err(|error| Failure::because(format!("cargo: {error}")))?;
    Ok(status.success())
}

/// The ending of a name in small letters, without that of gzip.
fn ending(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit('/').next().and_then(|file| file.rsplit_once('.')).map_or("", |(_, ending)| ending).to_owned()
}

/// All files below a folder; links are not followed.
fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let cannot = |error: std::io::Error| Failure::because(format!("{}: {error}", folder.display()));
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let kind = entry.file_type().map_err(cannot)?;
        if kind.is_dir() && entry.file_name() != ".git" {
            gather(&entry.path(), files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}
