//! Reads scenarios and what they refer to.

use std::path::{Path, PathBuf};

use chronoseal_catalog::{PrepareError, Prepared};
use chronoseal_scenario::limits::FILE_LEN_MAX;
use chronoseal_scenario::{FileError, Files, Problems, Scenario};
use clap::Args;

use crate::files::{read_limited, read_start};
use crate::{Format, Trouble};

/// The scenario of a command, and what is set in it.
#[derive(Args, Debug)]
pub struct ScenarioFile {
    /// Scenario file, TOML or JSON
    pub file: PathBuf,
    /// Set one value of the scenario, such as `duration=5s` or `streams.wheel.protection=sha256-16`; `PATH=@FILE` sets a table that
    /// stands in a file
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = path_and_value)]
    pub sets: Vec<(String, String)>,
}

/// What stands behind `--set`.
///
/// # Errors
/// What to write instead, in words.
pub fn path_and_value(text: &str) -> Result<(String, String), SetError> {
    let (path, value) = text.split_once('=').ok_or(SetError::NoValue)?;
    let (path, value) = (path.trim().to_owned(), value.trim());
    let Some(file) = value.strip_prefix('@') else { return Ok((path, value.to_owned())) };
    match std::fs::read_to_string(file) {
        // A line end says that this is a table as it stands in a file, even if it has one line.
        Ok(table) => Ok((path, table + "\n")),
        Err(source) => Err(SetError::Unreadable { file: file.to_owned(), source }),
    }
}

/// Why something cannot be set.
#[derive(Debug)]
#[non_exhaustive]
pub enum SetError {
    /// There is no value.
    NoValue,
    /// The file that should hold it.
    Unreadable {
        /// Which.
        file: String,
        /// As the host put it.
        source: std::io::Error,
    },
}

impl std::error::Error for SetError {}

impl std::fmt::Display for SetError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoValue => write!(f, "write PATH=VALUE, for example duration=5s"),
            Self::Unreadable { file, source } => {
                write!(f, "cannot read `{file}`: {source}; write a text that begins with @ in quotes")
            }
        }
    }
}

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

/// Reads and checks a scenario, `more` overrides after those of the command line. With [`Format::Json`] its problems are
/// told as one JSON object.
///
/// # Errors
/// [`Trouble`]: everything that is wrong with it.
pub fn scenario(file: &ScenarioFile, more: &[(String, String)], format: Format) -> Result<Scenario, Trouble> {
    let path = &file.file;
    let text = read_start(path, FILE_LEN_MAX as u64)?;
    let sets: Vec<_> = file.sets.iter().chain(more).cloned().collect();
    let beside = path.parent().unwrap_or(Path::new(""));
    Scenario::load(&path.display().to_string(), &text, &sets, &Beside(beside))
        .map_err(|problems| trouble(&problems, path, format))
}

/// Checks the text of a scenario that was made from the one at `path`, and refers to files as that does.
///
/// # Errors
/// [`Trouble`]: everything that is wrong with it.
pub fn checked(text: &str, path: &Path) -> Result<Scenario, Trouble> {
    let beside = path.parent().unwrap_or(Path::new(""));
    Scenario::load("scenario.toml", text.as_bytes(), &[], &Beside(beside))
        .map_err(|problems| trouble(&problems, path, Format::Human))
}

/// A scenario with what its segments work out before a run, or why something does not fit, at its place in the text.
///
/// # Errors
/// [`Trouble`]: what does not fit.
pub fn prepare<'s>(scenario: &'s Scenario, path: &Path, format: Format) -> Result<Prepared<'s>, Trouble> {
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
