//! The security subsystem of a station as a state machine: pseudonyms and their changes, what is verified, what is told.
//!
//! | part | what |
//! |---|---|
//! | [`ChangePolicy`], [`Preset`], [`ChangeClock`] | when a pseudonym is changed |
//! | [`Pool`] | the pseudonyms, and what a store has to write down of a change |
//! | [`Supply`] | when more of them are asked for, and for which time |
//! | [`Renewal`] | when a new enrolment credential is asked for |
//! | [`Station`] | the services for sending |
//! | [`Layers`] | one change across all layers; blocked and free |
//! | [`CertificateInclusion`] | certificate or digest |
//! | [`Demand`], [`Audit`] | verification on demand, and what was skipped |

mod backoff;
mod change;
mod demand;
mod inclusion;
mod layers;
mod pool;
mod refusal;
mod renewal;
mod station;
mod supply;

pub use backoff::RETRY_MAX_S;
pub use change::*;
pub use demand::*;
pub use inclusion::*;
pub use layers::*;
pub use pool::*;
pub use refusal::*;
pub use renewal::*;
pub use station::*;
pub use supply::*;
