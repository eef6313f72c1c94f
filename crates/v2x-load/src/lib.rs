//! A receiver of signed messages under load, and the time single messages take, by this host's clock.
//!
//! It does *not* judge messages or do arithmetic on curves: that is `chronoseal-v2x` and `chronoseal-ecdsa-lanes`. It opens no
//! file and no socket. Messages come from memory at instants that a seed draws, whether or not the receiver keeps up.
//!
//! What is measured is [`chronoseal_v2x::pipeline::Pipeline`], by which the daemon verifies too. [`Town`] is a root, an authority and stations to measure with; [`single_messages`] times one message at a time,
//! [`offer`] a stream of them, [`capacity`] how many one core verifies back to back.
//!
//! ```
//! use chronoseal_v2x::pipeline::Engine;
//! use chronoseal_v2x_load::{Load, Town, offer};
//!
//! let mut town = Town::new(4, 1)?;
//! let load = Load { offered_per_s: 200.0, duration_ms: 100, ..Load::default() };
//! let outcome = offer(&mut town, &load, Engine::Scalar)?;
//! assert_eq!(outcome.offered, outcome.verified + outcome.dropped.total());
//! assert_eq!(outcome.refused, 0);
//! # Ok::<(), chronoseal_v2x_load::LoadError>(())
//! ```

mod clock;
mod latency;
mod single;
mod stall;
mod town;
mod traffic;

pub use latency::{Capacity, Outcome, Sample, capacity, offer};
pub use single::{Batches, RUNS, SingleMessage, in_batches, single_messages};
pub use stall::STALL_NS;
pub use town::{NOW, Town};
pub use traffic::Load;

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A certificate could not be issued.
    #[error("certificate: {0}")]
    Certificate(#[from] chronoseal_v2x::certificate::CertificateError),
    /// A certificate was not trusted.
    #[error("trust: {0}")]
    Trust(#[from] chronoseal_v2x::verify::TrustError),
    /// A message could not be signed.
    #[error("message: {0}")]
    Sign(#[from] chronoseal_v2x::message::SignError),
    /// The lanes have no such curve.
    #[error("{0} is none of the curves of 256 bits")]
    Curve(chronoseal_v2x::crypto::Curve),
    /// A key was refused.
    #[error("key: {0}")]
    Key(#[from] chronoseal_v2x::crypto::KeyError),
    /// A message of our own was refused.
    #[error("a genuine message was refused: {0}")]
    Refused(String),
}
