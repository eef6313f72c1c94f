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
                failed.lock().expect("no thread panics").push(executable.name);
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
    if failed.is_empty() { Ok(()) } else { Err(Failure::because(format!("tests failed in: {}", failed.join(", ")))) }
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
