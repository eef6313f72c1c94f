//! The folder in which a page's commands run, and the shell that runs them.

use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

use super::page::Command;
use crate::Failure;

/// Begins the line that a command's end is told by; no command prints one.
const END: char = '\u{1}';

/// What runs longer waits for something that does not come.
const TIME_MAX_S: &str = "900";

/// The built program stands for the one that a page has its reader build; whatever else cargo is to do was done or is not needed.
const PREAMBLE: &str = r#"
cargo() {
    if [ "$1" = run ]; then
        while [ $# -gt 0 ] && [ "$1" != -- ]; do shift; done
        shift
        chronoseal "$@"
    fi
}
"#;

/// How a command ended.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Ended {
    pub(crate) status: i32,
    pub(crate) seconds: f64,
    /// On standard output and standard error, as they came.
    pub(crate) printed: String,
}

/// A page's folder. What its commands left running is ended with it.
pub(crate) struct Shell {
    folder: PathBuf,
    path: String,
    groups: Vec<u32>,
}

impl Shell {
    /// A new folder below `target`, where the folders `read` of the project are at hand.
    pub(crate) fn new(root: &Path, program: &Path, page: &str, read: &[&str]) -> Result<Self, Failure> {
        let folder = root.join("target/docs").join(page.replace('/', "-"));
        let at = |error: std::io::Error| Failure::because(format!("cannot make {}: {error}", folder.display()));
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(at)?;
        }
        fs::create_dir_all(&folder).map_err(at)?;
        for name in read {
            std::os::unix::fs::symlink(root.join(name), folder.join(name)).map_err(at)?;
        }
        let programs = program.parent().unwrap_or(root).display().to_string();
        let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
        Ok(Self { folder, path, groups: Vec::new() })
    }

    /// A file that the reader of a page writes.
    pub(crate) fn write(&self, file: &str, text: &str, appends: bool) -> Result<(), Failure> {
        let path = self.folder.join(file);
        let opened = fs::OpenOptions::new().create(true).write(true).append(appends).truncate(!appends).open(&path);
        opened
            .and_then(|mut opened| opened.write_all(text.as_bytes()))
            .map_err(|error| Failure::because(format!("cannot write {}: {error}", path.display())))
    }

    /// Runs commands one after another, whatever becomes of them, and says how each ended.
    pub(crate) fn run(&mut self, commands: &[Command]) -> Result<Vec<Ended>, Failure> {
        let mut script = String::from(PREAMBLE);
        for command in commands {
            script += "__begun=$EPOCHREALTIME\n";
            script += &command.text;
            // What serves in the background is not there at once, and tests may run beside this.
            script += if command.text.trim_end().ends_with('&') { "\nsleep 5" } else { "" };
            script += &format!("\nprintf '\\n{END}%s %s %s\\n' \"$?\" \"$__begun\" \"$EPOCHREALTIME\"\n");
        }
        let (output, failed) = (self.folder.join(".printed"), |error: std::io::Error| {
            Failure::because(format!("cannot run bash: {error}"))
        });
        let file = fs::File::create(&output).map_err(failed)?;
        let mut child = Process::new("timeout")
            .args([TIME_MAX_S, "bash", "-c", &script])
            .current_dir(&self.folder)
            .env("PATH", &self.path)
            .env("COLUMNS", "100")
            .stdin(Stdio::null())
            .stderr(file.try_clone().map_err(failed)?)
            .stdout(file)
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        self.groups.push(child.id());
        child.wait().map_err(failed)?;
        let printed = fs::read(&output).map_err(failed)?;
        Ok(ends(&String::from_utf8_lossy(&printed), commands.len()))
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        for group in &self.groups {
            let group = format!("-{group}");
            let _ = Process::new("kill").args(["--", &group]).stderr(Stdio::null()).status();
        }
    }
}

/// What each of `count` commands printed, up to the line that tells its end; those that the shell did not come to failed.
fn ends(printed: &str, count: usize) -> Vec<Ended> {
    let mut rest = printed;
    let one = |_| {
        let Some((before, after)) = rest.split_once(END) else {
            return Ended { status: 127, seconds: 0.0, printed: std::mem::take(&mut rest).to_owned() };
        };
        let (line, behind) = after.split_once('\n').unwrap_or((after, ""));
        rest = behind;
        let mut words = line.split(' ');
        let status = words.next().and_then(|word| word.parse().ok()).unwrap_or(127);
        let mut time = || words.next().and_then(|word| word.parse::<f64>().ok()).unwrap_or(0.0);
        let (begun, ended) = (time(), time());
        Ended { status, seconds: ended - begun, printed: before.trim_end().to_owned() }
    };
    (0..count).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_printed_ends_where_it_ended() {
        let found = ends("a\nb\n\n\u{1}0 10.0 11.5\nc\n\n\u{1}2 12.0 12.0\nd", 3);
        let ended = |status, seconds, printed: &str| Ended { status, seconds, printed: printed.into() };
        assert_eq!(found, [ended(0, 1.5, "a\nb"), ended(2, 0.0, "c"), ended(127, 0.0, "d")]);
    }
}
