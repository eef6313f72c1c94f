//! The simulated P-256 engine of `rtl/` as its users see it: frames into the process, frames out of it.
//!
//! What it computes is held against the crate `p256` and public vectors. All tests need the simulator, so they are run by
//! `cargo xtask rtl test`, which builds it first.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test panics, and one of them prints figures")]

mod arithmetic;
mod calls;
mod device;
mod link;
mod points;
mod reference;
mod signatures;
mod slots;
mod wycheproof;
