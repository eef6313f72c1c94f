//! Networks of gPTP systems in virtual time: oscillators with offset and drift, links with delays, time stamps of 8 ns.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

mod calm;
mod chain;
mod hostile;
mod masters;
mod network;
mod properties;
mod rings;
