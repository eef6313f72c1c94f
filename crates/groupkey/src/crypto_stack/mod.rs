//! The way of a cryptographic operation: manager, interface, driver objects (figure 8).
//!
//! | layer | here | in the standard |
//! |---|---|---|
//! | Group Key Manager | [`crate::Member`], [`crate::Orchestrator`] | application |
//! | Crypto Service Manager | [`CryptoServiceManager`] | `Csm_*` jobs, queued by priority |
//! | Crypto Interface | [`CryptoInterface`] | `CryIf_ProcessJob` routes to a driver object |
//! | Crypto Driver | [`DriverObject`] | `Crypto_ProcessJob` of `fourq`, `p256`, `aes`, `rng` |
//!
//! Nothing is computed before its job is taken from the queue, and each job is charged as [`chronoseal_core::Work`] just
//! before. Jobs run one at a time, as on a controller with one core.

mod driver;
mod job;
mod service;

pub use driver::{CryptoInterface, DriverObject};
pub(crate) use job::{Job, Owner, Request, Response};
pub use job::{JobPriority, ServiceName};
pub use service::CryptoServiceManager;
