//! Back ends of the HSM seam against one list, and against what can happen to them.
//!
//! A test whose device is not installed says so and passes; `CHRONOSEAL_REQUIRE_LIVE=1` makes that a failure.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are not marked as tests")]

mod software;

/// Says why a test did nothing, or fails where that is not allowed.
fn skip(reason: &str) {
    println!("skipped: {reason}");
    assert_ne!(std::env::var("CHRONOSEAL_REQUIRE_LIVE").as_deref(), Ok("1"), "skipped: {reason}");
}
