//! Other ways to a common key, to hold the exchanges of this crate against: a key server, and the messages of MLS.
//!
//! For simulation only: keys and nonces are drawn from a seed, no station fails and no message is repeated. The frames
//! are of CAN FD and have identifiers of their own, which [`Identifier`](crate::Identifier) does not read.
//!
//! Needs the standard library, as [`adversary`](crate::adversary) does; no station runs it.

mod agenda;
pub mod key_server;
pub mod mls;
#[cfg(test)]
mod testing;

use chronoseal_core::LocalTime;

/// One member is to lose the key, and the others get a new one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Removal {
    /// Its number.
    pub member: u8,
    /// When the node that leads the group begins, by its own clock.
    pub at: LocalTime,
}
