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

/// Runs a program in `folder` and gives back what it printed; its error output goes where ours goes.
pub(crate) fn captured(folder: &Path, words: &[&str]) -> Result<String, Failure> {
    let output = command(folder, words)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| cannot_start(words, &error))?;
    if !output.status.success() {
        return Err(Failure::because(format!("`{}` failed: {}", words.join(" "), output.status)));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| Failure::because(format!("`{}` printed something that is no UTF-8", words.join(" "))))
}

/// [`output`], and the most memory that the program had at once, as Linux counts it `[byte]`. It is looked at every few milliseconds,
/// so a program has to have its most for that long.
#[expect(clippy::disallowed_methods, reason = "a pause between two looks at another process")]
pub(crate) fn output_and_peak_memory(folder: &Path, words: &[&str]) -> Result<(String, u64), Failure> {
    let mut child = command(folder, words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| cannot_start(words, &error))?;
    let mut stdout = child.stdout.take().expect("it is piped");
    // Somebody has to take what it prints, or it waits for that.
    let reader = std::thread::spawn(move || std::io::read_to_string(&mut stdout));
    let mut peak = 0;
    let ended = loop {
        peak = peak.max(peak_memory_of(child.id()));
        match child.try_wait().map_err(|error| cannot_start(words, &error))? {
            Some(ended) => break ended,
            None => std::thread::sleep(std::time::Duration::from_millis(2)),
        }
    };
    if !ended.success() {
        return Err(Failure::because(format!("`{}` failed: {ended}", words.join(" "))));
    }
    match reader.join() {
        Ok(Ok(text)) => Ok((text, peak)),
        _ => Err(Failure::because(format!("`{}` printed something that is no UTF-8", words.join(" ")))),
    }
}

/// The most memory that a process had at once until now `[byte]`; 0 if it is not known.
pub(crate) fn peak_memory_of(process: u32) -> u64 {
    std::fs::read_to_string(format!("/proc/{process}/status")).ok().as_deref().and_then(peak_memory).unwrap_or(0)
}

/// From the `status` of a process `[byte]`.
fn peak_memory(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kb| kb * 1024)
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
