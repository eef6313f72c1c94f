//! Documents that the `chronoseal` binary knows better than a person: the scenario's schema and the command line.
//!
//! To add one, add a line to [`DOCUMENTS`].

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Failure, TaskResult, built, process};

/// What to do with a document that is not current.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Write it.
    Write,
    /// Fail.
    Check,
}

type Generator = fn(&Cli) -> Result<String, Failure>;

/// Each generated document, from the root, and what makes it.
const DOCUMENTS: &[(&str, Generator)] = &[
    ("docs/reference/scenario.schema.json", scenario_schema),
    ("docs/reference/check.schema.json", check_schema),
    ("docs/reference/command-line.md", command_line),
    ("docs/reference/command-line-v2x.md", command_line_v2x),
    ("docs/reference/command-line-middleware.md", command_line_middleware),
    ("docs/reference/command-line-testbed.md", command_line_testbed),
];

/// Commands about V2X, which have a document of their own.
const V2X: &[&str] = &["v2x", "vss", "pki"];

/// Commands about robot middleware, which have another.
const MIDDLEWARE: &[&str] = &["middleware"];

/// Commands for runs over several hosts, which have a third.
const TESTBED: &[&str] = &["controller", "agent", "ca"];

/// The built binary.
struct Cli {
    root: PathBuf,
    program: String,
}

pub(crate) fn run(root: &Path, mode: Mode) -> TaskResult {
    if !root.join("crates/cli/Cargo.toml").is_file() {
        return Err(Failure::because("crates/cli is missing; generated documents come from its binary"));
    }
    // They answer for some commands, from beside it.
    built::program(root, "chronoseal-v2x")?;
    built::program(root, "chronoseal-testbed")?;
    let program = built::program(root, "chronoseal")?;
    let cli = Cli { root: root.to_path_buf(), program: program.to_string_lossy().into_owned() };

    let mut stale = 0;
    for (path, generator) in DOCUMENTS {
        let text = generator(&cli)?;
        let file = root.join(path);
        if fs::read_to_string(&file).is_ok_and(|old| old == text) {
            continue;
        }
        match mode {
            Mode::Write => {
                write(&file, &text)?;
                println!("wrote {path}");
            }
            Mode::Check => {
                stale += 1;
                println!("{path}:1: not what the binary says today\n    run `cargo xtask generate` and commit it");
            }
        }
    }
    if stale == 0 { Ok(()) } else { Err(Failure::CheckFailed) }
}

/// Where cargo puts what it builds.
pub(crate) fn target_folder(root: &Path) -> Result<PathBuf, Failure> {
    let metadata = process::output(root, &["cargo", "metadata", "--format-version", "1", "--no-deps"])?;
    let metadata: serde_json::Value =
        serde_json::from_str(&metadata).map_err(|error| Failure::because(format!("cargo metadata: {error}")))?;
    let folder = metadata["target_directory"].as_str();
    folder.map(PathBuf::from).ok_or_else(|| Failure::because("cargo metadata names no target_directory"))
}

fn write(file: &Path, text: &str) -> TaskResult {
    let parent = file.parent().expect("documents lie in a folder");
    fs::create_dir_all(parent)
        .and_then(|()| fs::write(file, text))
        .map_err(|error| Failure::because(format!("cannot write {}: {error}", file.display())))
}

fn scenario_schema(cli: &Cli) -> Result<String, Failure> {
    let text = process::output(&cli.root, &[&cli.program, "schema"])?;
    Ok(text.trim_end().to_owned() + "\n")
}

fn check_schema(cli: &Cli) -> Result<String, Failure> {
    let text = process::output(&cli.root, &[&cli.program, "schema", "check"])?;
    Ok(text.trim_end().to_owned() + "\n")
}

fn command_line(cli: &Cli) -> Result<String, Failure> {
    let head = "# Command line\n\nThe commands `v2x`, `vss` and `pki` are in [a document of their own](command-line-v2x.md), and so are \
        [`middleware`](command-line-middleware.md), and [`controller`, `agent` and `ca`](command-line-testbed.md).\n";
    let is_apart = |command: &str| [V2X, MIDDLEWARE, TESTBED].iter().any(|commands| commands.contains(&command));
    help_texts(cli, head, vec![Vec::new()], |command| !is_apart(command))
}

fn command_line_v2x(cli: &Cli) -> Result<String, Failure> {
    apart(cli, "V2X", V2X)
}

fn command_line_middleware(cli: &Cli) -> Result<String, Failure> {
    apart(cli, "robot middleware", MIDDLEWARE)
}

fn command_line_testbed(cli: &Cli) -> Result<String, Failure> {
    apart(cli, "several hosts", TESTBED)
}

/// A document of some commands.
fn apart(cli: &Cli, about: &str, commands: &[&str]) -> Result<String, Failure> {
    let open = commands.iter().rev().map(|command| vec![(*command).to_owned()]).collect();
    let head = format!("# Command line: {about}\n\nAll other commands are in [command line](command-line.md).\n");
    help_texts(cli, &head, open, |_| true)
}

/// The help texts of the commands in `open`, the last one first, and of each of their subcommands that is wanted.
fn help_texts(
    cli: &Cli,
    head: &str,
    mut open: Vec<Vec<String>>,
    wanted: impl Fn(&str) -> bool,
) -> Result<String, Failure> {
    let mut text =
        format!("{head}\n<!-- Written by `cargo xtask generate` from the binary's own help; do not edit. -->\n");
    while let Some(path) = open.pop() {
        let mut words = vec![cli.program.as_str()];
        words.extend(path.iter().map(String::as_str));
        words.push("--help");
        let help = process::output(&cli.root, &words)?;
        let name = std::iter::once("chronoseal").chain(path.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        text += &format!("\n## `{name}`\n\n```text\n{}\n```\n", trimmed_lines(&help));
        for command in subcommands(&help).into_iter().rev().filter(|command| wanted(command)) {
            open.push(path.iter().cloned().chain([command]).collect());
        }
    }
    Ok(text)
}

fn trimmed_lines(text: &str) -> String {
    text.trim_end().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// The names below "Commands:" in a help text, `help` itself left out.
fn subcommands(help: &str) -> Vec<String> {
    help.lines()
        .skip_while(|line| line.trim_end() != "Commands:")
        .skip(1)
        .take_while(|line| line.starts_with("  ") || line.is_empty())
        // Names are indented by two, the wrapped rest of a description by more.
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_subcommands_and_not_their_wrapped_descriptions() {
        let help = "Does things\n\nUsage: x <COMMAND>\n\nCommands:\n  check  Validate a scenario, which is a long story\n         told twice\n  run    Run it\n  help   Print this\n\nOptions:\n  -h, --help  Print help\n";
        assert_eq!(subcommands(help), ["check", "run"]);
        assert!(subcommands("Usage: x\n\nOptions:\n  -h  Print help\n").is_empty());
    }

    #[test]
    fn lines_lose_trailing_blanks_only() {
        assert_eq!(trimmed_lines("  a  \n\n b \n\n"), "  a\n\n b");
    }
}
