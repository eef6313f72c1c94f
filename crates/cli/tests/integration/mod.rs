//! The real binary in a folder of its own: what a person types, sees and finds on disk afterwards.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

mod accounts;
mod bad_input;
mod bounds;
mod capture;
mod collected;
mod comparison;
mod depends;
mod fleet;
mod forger;
mod full_disk;
mod group_changes;
mod help;
mod import;
mod imported;
mod inputs;
mod interrupt;
mod lint;
mod lossy;
mod messages;
mod other_tools;
mod processors;
mod saturate;
mod schedule;
mod segments;
mod silent;
mod simulated;
mod stored;
mod support;
mod traced;
mod upgrade;
mod vehicle;
mod verdicts;
mod ways;
