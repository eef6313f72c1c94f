//! Reads scenarios and what they refer to, and finds folders for results.

use std::io::Read;
use std::path::{Path, PathBuf};

use chronoseal_catalog::{PrepareError, Prepared};
use chronoseal_results::disk::{self, HostDisk};
use chronoseal_scenario::{FileError, Files, Problems, Scenario};

use crate::Trouble;
use crate::arguments::{Format, ScenarioFile};

/// Files beside the scenario.
struct Beside<'a>(&'a Path);

impl Files for Beside<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        let path = self.0.join(path);
        let unreadable = |reason| FileError::Unreadable { place: path.display().to_string(), reason };
        // A device never ends, and a pipe waits for somebody: neither is opened.
        let is_file = std::fs::metadata(&path).map_err(unreadable)?.is_file();
        if !is_file {
            return Err(unreadable(std::io::Error::other("it is no ordinary file; copy its content to one")));
        }
        read_limited(&path, FILE_REFERRED_LEN_MAX).map_err(unreadable)
    }
}

/// The longest file that a scenario can refer to `[byte]`; what it is used for may have a limit below that.
const FILE_REFERRED_LEN_MAX: u64 = 64_000_000;
/// The longest file that a command line can name `[byte]`, such as a capture to import.
const FILE_NAMED_LEN_MAX: u64 = 1_000_000_000;

/// Reads a file, but no more of it than it may have.
fn read_limited(path: &Path, len_max: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(len_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > len_max {
        return Err(std::io::Error::other(format!(
            "it is longer than {len_max} bytes, which is the most that is read"
        )));
    }
    Ok(bytes)
}

/// Reads and checks a scenario, `more` overrides after those of the command line. With [`Format::Json`] its problems are
/// told as one JSON object.
pub(crate) fn scenario(file: &ScenarioFile, more: &[(String, String)], format: Format) -> Result<Scenario, Trouble> {
    let path = &file.file;
    let text = read(path)?;
    let sets: Vec<_> = file.sets.iter().chain(more).cloned().collect();
    let beside = path.parent().unwrap_or(Path::new(""));
    Scenario::load(&path.display().to_string(), &text, &sets, &Beside(beside))
        .map_err(|problems| trouble(&problems, path, format))
}

/// Checks the text of a scenario that was made from the one at `path`, and refers to files as that does.
pub(crate) fn checked(text: &str, path: &Path) -> Result<Scenario, Trouble> {
    let beside = path.parent().unwrap_or(Path::new(""));
    Scenario::load("scenario.toml", text.as_bytes(), &[], &Beside(beside))
        .map_err(|problems| trouble(&problems, path, Format::Human))
}

/// A scenario with what its segments work out before a run, or why something does not fit, at its place in the text.
pub(crate) fn prepare<'s>(scenario: &'s Scenario, path: &Path, format: Format) -> Result<Prepared<'s>, Trouble> {
    Prepared::new(&scenario.plan).map_err(|error| match error {
        PrepareError::Infeasible(infeasible) => {
            let problems = scenario.does_not_fit(&infeasible.name, &infeasible.to_string(), &infeasible.advice);
            trouble(&problems, path, format)
        }
        error => Trouble(format!("error: {error}")),
    })
}

fn trouble(problems: &Problems, path: &Path, format: Format) -> Trouble {
    if format == Format::Json {
        return Trouble(format!("{:#}", problems.to_json()));
    }
    let count = problems.count();
    let noun = if count == 1 { "problem" } else { "problems" };
    Trouble(format!("{}\nerror: {count} {noun} in {}; nothing was run", problems.render(), path.display()))
}

/// Reads a file, with an error that says what to do.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Trouble> {
    read_limited(path, FILE_NAMED_LEN_MAX).map_err(|error| {
        Trouble(format!(
            "error: cannot read {}: {error}\nhelp: give the path of a file; `ls scenarios` shows examples",
            path.display()
        ))
    })
}

/// Writes a file, whole or not at all, with an error that says what to do.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Trouble> {
    write_bytes(path, text.as_bytes())
}

/// `write` for what is no text.
pub(crate) fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Trouble> {
    disk::put(&HostDisk, path, bytes).map_err(|error| {
        let before = if path.exists() { "; what was there is as it was" } else { "" };
        Trouble(format!("error: {error}{before}\nhelp: make room or choose another place with --out"))
    })
}

/// Makes sure that results can be written to `folder`, which is new or empty.
pub(crate) fn claim(folder: &Path) -> Result<(), Trouble> {
    const HELP: &str = "help: name another folder with --out";
    if folder.is_file() || std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Trouble(format!("error: {} is not empty; nothing was run\n{HELP}", folder.display())));
    }
    std::fs::create_dir_all(folder).map_err(|error| {
        Trouble(format!("error: cannot create {}: {error}; nothing was run\n{HELP}", folder.display()))
    })
}

/// `results/NAME`, or with a number behind it if that exists.
pub(crate) fn fresh_folder(name: &str) -> PathBuf {
    let plain = Path::new("results").join(name);
    if !plain.exists() {
        return plain;
    }
    (2u32..)
        .map(|number| Path::new("results").join(format!("{name}-{number}")))
        .find(|path| !path.exists())
        .unwrap_or(plain)
}
