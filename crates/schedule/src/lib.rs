//! Windows and gate control lists for periodic streams on any network of bridges and links.
//!
//! It simulates nothing but the windows it made, knows no protocol and no scenario, and reads no file. What
//! it searches is bounded in steps and not in time, and chance comes from a seed: the same problem gives the same schedule,
//! whatever order its entries have.
//!
//! # Rules
//! - A frame repeats with its period, and its windows on all links do: no frame has more jitter than its stream allows.
//! - Bridges store a frame whole, and send it on when the propagation and processing of the link it came by and the
//!   protection of each hop are over. A frame waits nowhere, so no queue ever holds two.
//! - Sealing takes the talker's processor right before the frame, checking a listener's at the earliest free time after
//!   it; both are within the deadline.
//!
//! # Method
//! Earliest fit in an order, where a search that meets a reserved span goes on at its end; then repair, which takes out what is in
//! the way and places it elsewhere; then other orders and routes, until the steps are spent. [`prove`] knows some
//! reasons for which no schedule exists at all; without one, "infeasible" means that none was found.

pub mod board;
pub mod change;
pub mod conflict;
pub mod exchange;
pub mod gates;
pub mod network;
mod proof;
pub mod replay;
mod route;
mod schedule;
mod search;
mod shape;
pub mod timeline;

pub use network::{Fault, Link, LinkProtection, Network, Node, Problem, Security, Stream};
pub use proof::{Proof, prove};
pub use schedule::{AddError, Infeasible, Planned, Reason, Schedule, synthesize};
pub use search::Options;
