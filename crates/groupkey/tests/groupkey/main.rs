//! The protocol executed: orchestrator and members on a bus in memory.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(unreachable_pub, reason = "modules of one test binary")]

mod absent;
mod bus;
mod closed;
mod contract;
mod fuzz;
mod joining;
mod losses;
mod membership;
mod price;
mod replayed_subtree;
mod reports;
mod schemes;
mod secrecy;
mod swift;
mod threats;
mod unsigned;
