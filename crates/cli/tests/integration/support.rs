//! Runs the binary and looks at what it left.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

/// A folder of its own for one test, in which the binary runs.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
}

/// Names, in the environment of each run and of all it starts, the process that runs the tests.
pub(crate) const STARTED_BY: &str = "CHRONOSEAL_STARTED_BY_TEST";

/// What the binary said and how it ended.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chronoseal"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env(STARTED_BY, std::process::id().to_string());
        command
    }

    pub(crate) fn say(&self, arguments: &[&str]) -> Said {
        said(self.command(arguments).output().unwrap())
    }

    /// Runs with `--format json` and an exit status that may be 0, 1 or 3.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let said = self.say(&[arguments, &["--format", "json"]].concat());
        assert!(matches!(said.code, Some(0 | 1 | 3)), "{arguments:?}: {:?}\n{}", said.code, said.err);
        said.json()
    }
}

impl Said {
    /// The one JSON object on standard output.
    pub(crate) fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}:\n{}", self.out));
        assert!(value.is_object(), "{value}");
        value
    }

    pub(crate) fn assert_code(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "standard output:\n{}\nstandard error:\n{}", self.out, self.err);
        self
    }

    /// Exit status 2, nothing on standard output, and each of `words` on standard error.
    pub(crate) fn assert_refused(&self, words: &[&str]) -> &Self {
        self.assert_code(2);
        assert_eq!(self.out, "", "data where there can be none");
        self.assert_says(words)
    }

    pub(crate) fn assert_says(&self, words: &[&str]) -> &Self {
        for word in words {
            assert!(self.err.contains(word), "`{word}` is not on standard error:\n{}", self.err);
        }
        self
    }
}

pub(crate) fn said(output: Output) -> Said {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let said = Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) };
    assert!(!said.err.contains("panicked"), "{}", said.err);
    said
}

/// A file of the project, from its root.
pub(crate) fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// A shipped scenario as an argument.
pub(crate) fn scenario(name: &str) -> String {
    project("scenarios").join(name).display().to_string()
}

/// The files of all shipped scenarios; folders beside them hold parts of scenarios.
pub(crate) fn shipped_scenarios() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(project("scenarios")).unwrap();
    entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect()
}

/// The whole example of the guide, as a reader would copy it: forty frames of 60 bytes from four nodes.
pub(crate) fn forty_frames() -> String {
    let guide = std::fs::read_to_string(project("docs/guide/scenario-file.md")).unwrap();
    let (_, rest) = guide.split_once("```toml forty.toml\n").unwrap();
    let text = rest.split_once("```").unwrap().0.to_owned();
    assert!(text.contains("forty-frames"), "the guide begins with another example");
    text
}

/// Two stations and one protected stream; small, so that it can be broken in one place at a time.
pub(crate) const SMALL: &str = r#"schema_version = 2
name = "small"
duration = "100ms"

[segments.network.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
guard_period = "200us"

[[protections]]
name = "sha1-20"
hmac = { hash = "sha-1", tag = "20B" }

[[nodes]]
name = "sensor"

[[nodes]]
name = "display"

[[streams]]
name = "speed"
from = "sensor"
to = ["display"]
period = "10ms"
length = "46B"
protection = "sha1-20"
"#;

/// Starts `command`, lets it work for `after`, and presses Ctrl-C.
pub(crate) fn interrupted(mut command: Command, after: Duration) -> Said {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_handler(child.id());
    std::thread::sleep(after);
    let kill = Command::new("sh").arg("-c").arg(format!("kill -INT {}", child.id())).status().unwrap();
    assert!(kill.success(), "it ended before it was interrupted");
    said(child.wait_with_output().unwrap())
}

/// Waits until the process catches SIGINT, as its status in `/proc` tells.
fn wait_for_handler(pid: u32) {
    const SIGINT: u32 = 2;
    for _ in 0..600 {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim();
        if u64::from_str_radix(mask, 16).unwrap_or(0) & (1 << (SIGINT - 1)) != 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("process {pid} does not catch SIGINT");
}

/// A bus beside a network that nothing connects it to. The camera's clock runs 100 ppm too fast.
pub(crate) const SIDE_BY_SIDE: &str = r#"schema_version = 2
name = "side-by-side"
duration = "2s"
[segments.backbone.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
guard_period = "200us"
precision = "10us"
[segments.body.can]
bit_rate = "500kbit/s"
[[nodes]]
name = "camera"
on = ["backbone"]
clock = { fixed = { offset = "1ms", drift = "100ppm" } }
[[nodes]]
name = "computer"
on = ["backbone"]
[[nodes]]
name = "panel"
on = ["body"]
[[nodes]]
name = "lamp"
on = ["body"]
[[streams]]
name = "picture"
from = "camera"
to = ["computer"]
period = "20ms"
length = "400B"
backbone = { class = { best_effort = { priority = 0 } } }
[[streams]]
name = "light"
from = "panel"
to = ["lamp"]
period = "10ms"
length = "8B"
body = { id = "0x123" }
"#;
