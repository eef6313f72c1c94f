//! All tests, with one command: what the README promises.
//!
//! A part that fails does not keep the others from running.

use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use crate::{Failure, TaskResult, adapters, built, executables, process, rtl, socketcan};

/// Builds, links and runs a `no_std` static library of the protocol crates, without an allocator.
const NO_STD_LINK: &[&str] = &["bash", "nostd-link/check.sh"];

/// The examples in the documentation of every crate.
const DOCUMENTATION: &[&str] = &["cargo", "test", "--workspace", "--locked", "--no-fail-fast", "--doc"];
/// What makes the pages on the way.
const PAGES: (&str, &str) = ("RUSTDOC", "crates/xtask/rustdoc.sh");

/// Tests that ask Wireshark about our bytes; on demand only, since not every machine has it.
#[rustfmt::skip]
const TSHARK: &[&str] = &[
    "cargo", "test", "--workspace", "--locked", "--test", "wire", "--test", "recordings", "--test", "cli",
    "--", "--ignored", "tshark",
];

/// The second vendor's authorities and station, foreign code that ours are tested against.
#[rustfmt::skip]
const SECOND_VENDOR: &[&str] = &[
    "mvn", "--quiet", "--batch-mode", "--file", "adapters/bc-pki/pom.xml", "package",
];

/// Something to run, with its name.
pub(crate) type Part = (&'static str, fn(&Path) -> TaskResult);

/// `further` parts need nothing but what is built, and run beside the executables too.
pub(crate) fn run(root: &Path, further: &[Part]) -> TaskResult {
    let parts = Parts::default();
    let (programs, built) = std::thread::scope(|scope| {
        let programs = scope.spawn(|| foreign_programs(root));
        let built = built::all_tests(root);
        (programs.join().expect("it does not panic"), built)
    });
    parts.ended("programs that tests run", programs);
    // What has no test executable goes beside those: a processor is idle while tests wait.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for &(name, part) in further {
                parts.run(name, || part(root));
            }
            beside_the_executables(root, &parts);
        });
        let measured = || parts.run("robot middleware", || adapters::test(root));
        parts.run("tests of every crate", || executables::run(built?, measured));
    });
    on_a_bus_of_the_kernel(root, &parts);
    let failed = parts.failed.into_inner().expect("no thread panicked");
    if failed.is_empty() {
        eprintln!("== all tests passed");
        return Ok(());
    }
    eprintln!("== failed: {}", failed.join(", "));
    Err(Failure::CheckFailed)
}

/// Alone, since a kernel within a process has one processor at most, and its stations have to be there in time.
fn on_a_bus_of_the_kernel(root: &Path, parts: &Parts) {
    match socketcan::is_possible(root) {
        Ok(()) => {
            let once = || socketcan::run(root, Path::new("/"));
            parts.run("the live CAN bus where the kernel has CAN", || {
                once().or_else(|_| {
                    eprintln!("== FAILED, once more: as any test that keeps to a real clock");
                    once()
                })
            });
        }
        Err(reason) => eprintln!("== skipped: the live CAN bus where the kernel has CAN; {reason}"),
    }
}

/// What was run, and which of it failed.
#[derive(Default)]
struct Parts {
    failed: Mutex<Vec<&'static str>>,
}

impl Parts {
    #[expect(clippy::disallowed_methods, reason = "how long tests take is shown to people")]
    fn run(&self, name: &'static str, part: impl FnOnce() -> TaskResult) {
        eprintln!("== {name}");
        let started = Instant::now();
        let result = part();
        let word = if result.is_ok() { "passed" } else { "FAILED" };
        eprintln!("== {name}: {word} after {:.0} s", started.elapsed().as_secs_f64());
        self.ended(name, result);
    }

    fn ended(&self, name: &'static str, result: TaskResult) {
        let Err(failure) = result else { return };
        if let Failure::CouldNotRun(reason) = failure {
            eprintln!("{reason}");
        }
        self.failed.lock().expect("no thread panics").push(name);
    }
}

fn beside_the_executables(root: &Path, parts: &Parts) {
    parts.run("pages and examples of the documentation", || process::run_with(root, DOCUMENTATION, &[PAGES]));
    parts.run("no-std link", || process::run(root, NO_STD_LINK));
    if process::output(root, &["tshark", "--version"]).is_ok() {
        parts.run("what tshark makes of our frames", || process::run(root, TSHARK));
    } else {
        eprintln!("== skipped: what tshark makes of our frames; tshark is not installed");
    }
    if rtl::is_possible(root) {
        parts.run("the simulated P-256 engine", || rtl::test(root));
    } else {
        eprintln!("== skipped: the simulated P-256 engine; verilator, g++ or make is not installed");
    }
}

/// What tests of the workspace run as programs: the second vendor's, and the simulated engine.
fn foreign_programs(root: &Path) -> TaskResult {
    let vendor = if process::output(root, &["mvn", "--version"]).is_ok() {
        process::run(root, SECOND_VENDOR)
    } else {
        eprintln!("== skipped: the second vendor's authorities; Maven is not installed");
        Ok(())
    };
    let engine = if rtl::is_possible(root) { rtl::build(root).map(drop) } else { Ok(()) };
    vendor.and(engine)
}
