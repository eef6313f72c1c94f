//! Runs the test executables of the workspace, two at a time: those that wait for clocks, sockets and other processes beside those that
//! compute. `cargo test` runs one after the other, and a processor is idle for a quarter of that time.

use std::collections::VecDeque;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

use crate::built::Executable;
use crate::{Failure, TaskResult};

/// Tests that wait for most of their time, by how their names begin. No two of these run at once: they measure.
const WAITING: &[&str] = &["runner live", "testbed ", "v2x-cli ", "v2x-load ", "v2x-service "];

/// Further ones that keep to real clocks. One of these that fails beside others is run once more, after them: what fails then fails. A host
/// that gave the first run no time says nothing about the program; that it took a second one is printed.
const BY_THE_CLOCK: &[&str] = &["testbed-cli ", "cli lossy"];

/// Those that take longest of the others. They run first, so that none of them is left for the end.
const LONGEST: &[&str] = &["runner runner", "cli cli", "testbed-cli hosts", "v2x v2x", "sim sim"];

/// Runs all, with what each printed in one piece, and names those that failed. `measured` is no executable and waits and measures as
/// those do that wait: it runs when the last of them has ended.
pub(crate) fn run(mut executables: Vec<Executable>, measured: impl FnOnce() + Send) -> TaskResult {
    // The larger ones take longer as a rule.
    executables.sort_by_key(|one| {
        let place = LONGEST.iter().position(|name| one.name == *name).unwrap_or(LONGEST.len());
        (place, std::cmp::Reverse(std::fs::metadata(&one.path).map_or(0, |file| file.len())))
    });
    let (waiting, computing): (VecDeque<_>, VecDeque<_>) =
        executables.into_iter().partition(|one| WAITING.iter().any(|name| one.name.starts_with(name)));
    let (waiting, computing) = (Mutex::new(waiting), Mutex::new(computing));
    let failed = Mutex::new(Vec::new());
    let drain = |queue: &Mutex<VecDeque<Executable>>| {
        while let Some(executable) = next(queue) {
            if !passes(&executable) {
                failed.lock().expect("no thread panics").push(executable);
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            drain(&waiting);
            measured();
            drain(&computing);
        });
        drain(&computing);
    });
    let failed = failed.into_inner().expect("no thread panicked");
    let failed: Vec<String> = failed
        .into_iter()
        .filter(|one| !(is_by_the_clock(one) && passes_after_others(one)))
        .map(|one| one.name)
        .collect();
    if failed.is_empty() { Ok(()) } else { Err(Failure::because(format!("tests failed in: {}", failed.join(", ")))) }
}

fn is_by_the_clock(executable: &Executable) -> bool {
    WAITING.iter().chain(BY_THE_CLOCK).any(|name| executable.name.starts_with(name))
}

fn passes_after_others(executable: &Executable) -> bool {
    eprintln!("== {}: once more, after the others", executable.name);
    let passed = passes(executable);
    eprintln!("== {}: FAILED beside others, {} after them", executable.name, if passed { "passed" } else { "FAILED" });
    passed
}

fn next(queue: &Mutex<VecDeque<Executable>>) -> Option<Executable> {
    queue.lock().expect("no thread panics").pop_front()
}

/// Runs one as `cargo test` does, from the folder of its crate, and prints what it said.
#[expect(clippy::disallowed_methods, reason = "how long tests take is shown to people")]
fn passes(executable: &Executable) -> bool {
    let started = Instant::now();
    let output = Command::new(&executable.path)
        .current_dir(&executable.folder)
        .env("CARGO_MANIFEST_DIR", &executable.folder)
        .stdin(Stdio::null())
        .output();
    let (printed, succeeded) = match output {
        Ok(output) => {
            let mut printed = output.stdout;
            printed.extend_from_slice(&output.stderr);
            (String::from_utf8_lossy(&printed).into_owned(), output.status.success())
        }
        Err(error) => (format!("cannot start {}: {error}\n", executable.path.display()), false),
    };
    let took = started.elapsed().as_secs_f64();
    eprintln!("     Running {} ({took:.1} s)\n{printed}", executable.name);
    succeeded
}
