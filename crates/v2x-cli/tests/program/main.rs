//! The program as it is run.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that fails says where, one that is skipped says why"
)]

mod credential;
mod help;
mod misbehaviour;
mod stores;
mod study;
mod tickets;
mod token;
