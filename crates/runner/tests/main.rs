//! Scenarios on the simulator, from their text to rows and summary.

mod clock_threats;
mod clocks;
mod cluster;
mod fleet;
mod gate_clocks;
mod held;
mod inputs;
mod network_clocks;
mod network_grandmasters;
mod radio;
mod recorded;
mod redundancy;
mod replays;
mod round_trips;
mod segments;
mod slot_clocks;
mod spans;
mod stamped_links;
mod street;
mod time_aware;
mod views;
