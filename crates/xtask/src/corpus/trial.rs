//! One file given to the program, which is watched.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Failure;
use crate::process::peak_memory_of;

/// Memory that an import may take at most `[byte]`: a recording has up to 20 million frames.
const MEMORY_MAX: u64 = 3 << 30;
/// Time that an import may take at most. Files of public repositories are small.
const TIME_MAX: Duration = Duration::from_secs(30);
/// What is kept of a refusal `[byte]`.
const REFUSAL_LEN_MAX: u64 = 64 * 1024;

/// How it ended.
pub(super) enum Outcome {
    Imported,
    /// With what was said, in one line.
    Refused(String),
    /// In no way that a program may end.
    Broken(String),
}

/// An import.
pub(super) struct Trial {
    pub(super) outcome: Outcome,
    /// `[byte]`
    pub(super) peak_memory: u64,
    pub(super) seconds: f64,
}

/// Gives a file to `scenario from`, which writes to a folder.
#[expect(clippy::disallowed_methods, reason = "another process is watched and timed")]
pub(super) fn import(binary: &Path, file: &Path, folder: &Path) -> Result<Trial, Failure> {
    let cannot = |error: std::io::Error| Failure::because(format!("{}: {error}", binary.display()));
    let begun = Instant::now();
    let mut child = Command::new(binary)
        .args(["scenario", "from"])
        .arg(file)
        .arg("--out")
        .arg(folder.join("scenario.toml"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(cannot)?;
    let stderr = child.stderr.take().expect("it is piped");
    // Somebody has to take what it says, or it waits for that.
    let said = std::thread::spawn(move || {
        let mut said = Vec::new();
        let mut stderr = stderr;
        let kept = stderr.by_ref().take(REFUSAL_LEN_MAX).read_to_end(&mut said);
        kept.and_then(|_| std::io::copy(&mut stderr, &mut std::io::sink())).map(|_| said)
    });
    let mut peak_memory = 0;
    let (status, stopped) = loop {
        peak_memory = peak_memory.max(peak_memory_of(child.id()));
        if let Some(status) = child.try_wait().map_err(cannot)? {
            break (status, None);
        }
        let stopped = if peak_memory > MEMORY_MAX {
            Some(format!("took more than {} MiB", MEMORY_MAX >> 20))
        } else if begun.elapsed() > TIME_MAX {
            Some(format!("took longer than {} s", TIME_MAX.as_secs()))
        } else {
            None
        };
        if let Some(stopped) = stopped {
            child.kill().map_err(cannot)?;
            break (child.wait().map_err(cannot)?, Some(stopped));
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let seconds = begun.elapsed().as_secs_f64();
    let said = said.join().map_err(|_| Failure::because("reading of what was said failed"))?.map_err(cannot)?;
    let said = plain(&String::from_utf8_lossy(&said));
    let outcome = match (stopped, status.code()) {
        (Some(stopped), _) => Outcome::Broken(stopped),
        (None, Some(0)) => Outcome::Imported,
        (None, Some(2)) if !said.contains("panicked at") => Outcome::Refused(said),
        _ => Outcome::Broken(format!("ended with {status}: {said}")),
    };
    Ok(Trial { outcome, peak_memory, seconds })
}

/// What was said as one line, without the frame around it.
fn plain(said: &str) -> String {
    let words = said.split(|letter: char| letter.is_whitespace() || matches!(letter, '│' | '×' | '╭' | '╰' | '─'));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
