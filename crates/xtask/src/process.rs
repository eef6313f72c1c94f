//! Runs other programs.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Failure, TaskResult};

/// Runs a program in `folder`, its output going where ours goes.
pub(crate) fn run(folder: &Path, words: &[&str]) -> TaskResult {
    run_with(folder, words, &[])
}

/// [`run`] with variables of the environment set.
pub(crate) fn run_with(folder: &Path, words: &[&str], variables: &[(&str, &str)]) -> TaskResult {
    let status =
        command(folder, words).envs(variables.iter().copied()).status().map_err(|error| cannot_start(words, &error))?;
    if status.success() { Ok(()) } else { Err(Failure::because(format!("`{}` failed: {status}", words.join(" ")))) }
}

/// Runs a program in `folder` and gives back what it printed. Its error output is shown only if it fails.
pub(crate) fn output(folder: &Path, words: &[&str]) -> Result<String, Failure> {
    let output = command(folder, words)
        .stdin(Stdio::null())
        // Help texts wrap at the width of the terminal; a generated file must not.
        .env("COLUMNS", "100")
        .output()
        .map_err(|error| cannot_start(words, &error))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::because(format!("`{}` failed: {}\n{message}", words.join(" "), output.status)));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| Failure::because(format!("`{}` printed something that is no UTF-8", words.join(" "))))
}

fn command(folder: &Path, words: &[&str]) -> Command {
    let (program, arguments) = words.split_first().expect("callers name a program");
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    command
}

fn cannot_start(words: &[&str], error: &std::io::Error) -> Failure {
    Failure::because(format!("cannot start `{}`: {error}", words.join(" ")))
}
