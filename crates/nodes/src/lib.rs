//! The state machines at the ends of a network, without I/O: what a station does with its clock, its slots, its keys.
//!
//! Nothing here opens a socket, reads a clock or knows whether its time is virtual. Simulator and test bed drive the
//! same code through [`chronoseal_core::Node`].
//!
//! - [`end_system::EndSystem`]: a station of a time-triggered Ethernet. Disciplines its clock by the beacon, sends and
//!   receives in slots, seals and opens frames, runs its tasks, notices what is absent.
//! - [`attacker::Attacker`]: forges, changes and repeats frames, on a port of its own or on a station's link.
//!
//! A new kind of node is a module here and one arm where a plan is turned into nodes.

pub mod attacker;
pub mod end_system;
pub mod sync_client;

pub use attacker::{Attack, Attacker, AttackerConfig};
pub use end_system::{EndSystem, EndSystemConfig};
pub use sync_client::{SyncClient, SyncConfig};
