//! Runs over several hosts: an *agent* waits on each of them, and a *controller* gives each the same scenario, has all of them start at one
//! time, and makes one run of what they wrote down. Both sides show certificates of one authority, over TLS 1.3.
//!
//! It carries no message of the scenario: those go through the hosts' own network ([`chronoseal_testbed::HostLink`]), in the clear,
//! as the scenario says. Nothing between the hosts is emulated. No host's clock is touched: clocks are compared ([`clocks`]), and what
//! is not known of them is part of the result.
//!
//! What matters: [`Server`], an agent; [`control()`], the controller; [`Authority`], which makes the [`Identity`] of each.

pub mod agents;
mod authority;
mod channel;
pub mod clocks;
mod control;
mod identity;
mod limits;
mod message;
mod serve;
mod session;
mod tls;

pub use agents::{AgentEntry, Agents, AgentsError};
pub use authority::{Authority, AuthorityError, Role};
pub use clocks::VirtualClock;
pub use control::{ControlError, Options, control};
pub use identity::{Identity, IdentityError};
pub use limits::{Limits, LimitsError};
pub use serve::{ServeError, ServeOptions, Server};
pub use tls::Unusable;
