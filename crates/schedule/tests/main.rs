//! Schedules that are made, changed and exchanged.

#[path = "../src/testing.rs"]
mod testing;

mod change;
mod exchange;
mod limits;
mod properties;
