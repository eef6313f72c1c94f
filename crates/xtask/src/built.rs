//! What cargo builds of this workspace, the same way for every task.
//!
//! Whether tests are asked for decides which features the crates of others have, and with other features everything of ours is
//! built once more. So all tasks ask for the whole workspace as `cargo test` does, and let targets say what of it they want.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Failure, process};

/// An example, the smallest. Who asks cargo for one asks for the features of tests.
const EXAMPLE: &str = "secoc_frames";

/// A test executable of the workspace.
#[derive(Debug)]
pub(crate) struct Executable {
    /// Crate and target, for people.
    pub name: String,
    pub path: PathBuf,
    /// Of its crate, where it runs.
    pub folder: PathBuf,
}

/// Builds all there is: unit and integration tests, which it returns, programs, examples and benches. What the compiler says is printed as
/// it says it.
pub(crate) fn all_tests(root: &Path) -> Result<Vec<Executable>, Failure> {
    #[rustfmt::skip]
    let words = [
        "cargo", "test", "--workspace", "--all-targets", "--locked", "--no-run", "--message-format=json-render-diagnostics",
    ];
    let messages = process::captured(root, &words)?;
    Ok(messages.lines().filter_map(|line| test_executable(&serde_json::from_str(line).ok()?)).collect())
}

fn test_executable(message: &Value) -> Option<Executable> {
    let kinds = message["target"]["kind"].as_array()?;
    let is_test = message["profile"]["test"] == true && !kinds.iter().any(|kind| kind == "bench");
    let path = message["executable"].as_str().filter(|_| is_test)?;
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let target = message["target"]["name"].as_str()?;
    let name = format!("{} {target}", folder.file_name()?.to_string_lossy());
    Some(Executable { name, path: path.into(), folder })
}

/// Builds the program `name` for development and says where it is.
pub(crate) fn program(root: &Path, name: &str) -> Result<PathBuf, Failure> {
    #[rustfmt::skip]
    let words =
        ["cargo", "build", "--workspace", "--locked", "--bin", name, "--example", EXAMPLE, "--message-format=json"];
    executable(root, &words, name)
}

/// Builds the integration test `name` and says where it is.
pub(crate) fn test(root: &Path, name: &str) -> Result<PathBuf, Failure> {
    let words = ["cargo", "test", "--workspace", "--locked", "--test", name, "--no-run", "--message-format=json"];
    executable(root, &words, name)
}

fn executable(root: &Path, words: &[&str], name: &str) -> Result<PathBuf, Failure> {
    let messages = process::output(root, words)?;
    let found = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|message| {
        let is_it = message["target"]["name"] == name;
        message["executable"].as_str().filter(|_| is_it).map(PathBuf::from)
    });
    found.ok_or_else(|| Failure::because(format!("cargo built no {name}")))
}
