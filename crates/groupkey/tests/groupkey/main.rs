//! The protocol executed: orchestrator and members on a bus in memory.

mod bus;
mod losses;
mod membership;
mod schemes;
mod secrecy;
mod swift;
mod threats;
