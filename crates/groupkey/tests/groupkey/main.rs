//! The protocol executed: orchestrator and members on a bus in memory.

mod bus;
mod membership;
mod schemes;
mod swift;
