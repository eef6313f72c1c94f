//! Back ends of the HSM seam against one list, and against what can happen to them.
//!
//! A test whose device is not installed says so and passes; `CHRONOSEAL_REQUIRE_LIVE=1` makes that a failure.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are not marked as tests")]

mod pkcs11;
mod rtl;
mod side_by_side;
mod software;
mod tpm;
mod worker;

/// Says why a test did nothing, or fails where that is not allowed.
fn skip(reason: &str) {
    println!("skipped: {reason}");
    assert_ne!(std::env::var("CHRONOSEAL_REQUIRE_LIVE").as_deref(), Ok("1"), "skipped: {reason}");
}

/// The worker program of this build.
const WORKER: &str = env!("CARGO_BIN_EXE_chronoseal-hsm-worker");

/// Ends or halts a process by its number, as an operator would.
fn signal(process: u32, name: &str) {
    let status = std::process::Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).status().unwrap();
    assert!(status.success(), "kill -{name} {process}");
}
