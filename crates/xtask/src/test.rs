//! All tests, with one command: what the README promises.
//!
//! A part that fails does not keep the others from running.

use std::path::Path;

use crate::{Failure, TaskResult, adapters, built, executables, process, rtl, socketcan};

/// Builds, links and runs a `no_std` static library of the protocol crates, without an allocator.
const NO_STD_LINK: &[&str] = &["bash", "nostd-link/check.sh"];

/// The examples in the documentation of every crate.
const DOCUMENTATION: &[&str] = &["cargo", "test", "--workspace", "--locked", "--no-fail-fast", "--doc"];

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

pub(crate) fn run(root: &Path) -> TaskResult {
    let mut failed = Vec::new();
    let mut part = |name: &str, result: TaskResult| {
        if let Err(failure) = result {
            if let Failure::CouldNotRun(reason) = failure {
                eprintln!("{reason}");
            }
            failed.push(name.to_owned());
        }
    };
    step("tests of every crate");
    let (programs, built) = std::thread::scope(|scope| {
        let programs = scope.spawn(|| foreign_programs(root));
        let built = built::all_tests(root);
        (programs.join().expect("it does not panic"), built)
    });
    part("programs that tests run", programs);
    part("tests of every crate", built.and_then(executables::run));
    step("examples in the documentation");
    part("examples in the documentation", process::run(root, DOCUMENTATION));
    if process::output(root, &["tshark", "--version"]).is_ok() {
        step("what tshark makes of our frames");
        part("tshark", process::run(root, TSHARK));
    } else {
        eprintln!("== skipped: what tshark makes of our frames; tshark is not installed");
    }
    match socketcan::is_possible(root) {
        Ok(()) => {
            step("the live CAN bus where the kernel has CAN");
            part("socketcan", socketcan::run(root, Path::new("/")));
        }
        Err(reason) => eprintln!("== skipped: the live CAN bus where the kernel has CAN; {reason}"),
    }
    step("robot middleware");
    part("robot middleware", adapters::test(root));
    if rtl::is_possible(root) {
        step("the simulated P-256 engine");
        part("rtl", rtl::test(root));
    } else {
        eprintln!("== skipped: the simulated P-256 engine; verilator, g++ or make is not installed");
    }
    step("no-std link");
    part("no-std link", process::run(root, NO_STD_LINK));
    if failed.is_empty() {
        eprintln!("== all tests passed");
        return Ok(());
    }
    eprintln!("== failed: {}", failed.join(", "));
    Err(Failure::CheckFailed)
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

fn step(name: &str) {
    eprintln!("== {name}");
}
