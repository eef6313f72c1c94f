//! Clusters of AS6802 from power-on: real control frames over links with delays, oscillators that drift, masters that fail.
#![allow(clippy::unwrap_used, reason = "tests")]

mod cliques;
mod faults;
mod hostile;
mod integrity_high;
mod network;
mod parameters;
mod start;
