//! Group keys on CAN and CAN FD.
#![cfg_attr(not(any(test, feature = "std")), no_std)]

#[cfg(feature = "std")]
pub mod adversary;
pub mod crypto_stack;
mod distribution;
pub mod frame_count;
pub mod identifier;
mod keys;
mod manager;
mod member;
mod orchestrator;
pub mod profile;
pub mod roster;
mod settings;
mod station_to_station;
mod text;
mod transport;
pub mod tree;

#[cfg(test)]
#[path = "../tests/groupkey/swift.rs"]
mod swift;

pub use identifier::{Address, ExchangeId, Identifier, Side, Step};
pub use keys::Secret;
pub use manager::{GroupKey, NodeConfig};
pub use member::Member;
pub use orchestrator::{OPERATIONS_MAX, Operation, OperationError, Orchestrator};
pub use profile::{Installation, MEMBERS_MAX, Monitoring, OrchestrationSigning, Profile, Scheme, SpareNode, Transport};
pub use roster::{Roster, RosterEntry, RosterError};
pub use settings::Settings;
pub use station_to_station::{Failure, Stage};
pub use text::Stamp;
pub use transport::GAP_MAX;
pub use tree::{MembershipChange, NotInTree, Tree};
