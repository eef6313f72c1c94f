//! Verification with a verdict: what was checked of a message, how each check ended, and how long it took.
//!
//! A [`Verifier`] holds what a station knows: a [`TrustStore`], the certificates of its neighbours, the messages it has
//! seen. [`Verifier::verify`] takes one message through all [checks](CheckKind). A caller with a faster way to verify
//! signatures takes them out instead: [`Verifier::begin`] does everything else and gives [`SignatureJob`]s,
//! [`Verifier::finish`] takes the answers.
//!
//! All of it is bounded: neighbours, messages remembered, certificates asked for. A message signed by digest from a known
//! neighbour is verified without allocation.
//!
//! The order of the checks is that of their price, so what is refused is refused early. Which one refused it is in the
//! [`Verdict`], with the result code of IEEE 1609.2 clause 9; so are those that were skipped and why.

mod begun;
mod check;
mod code;
mod config;
mod ending;
mod header;
mod job;
mod peer;
mod permission;
mod progress;
mod region;
mod replay;
mod revocation;
mod sending;
mod shared;
mod station;
mod trust;
mod verifier;

pub use begun::Begun;
pub use check::{Check, CheckKind, NoStopwatch, Outcome, SkipReason, Stopwatch, Verdict};
pub use code::ResultCode;
pub use config::{Context, Profile, PsidPolicy, VerifierConfig};
pub use job::{JobKey, SignatureJob};
pub use peer::PeerDistribution;
pub use permission::{app_permissions_covered, issue_permissions_covered, ssp_contains};
pub use replay::ReplayCache;
pub use sending::Allowance;
pub use shared::{CheckedMessage, SharedMessage};
pub use station::Neighbours;
pub use trust::{AuthorityRecord, TrustError, TrustStore};
pub use verifier::Verifier;

pub use crate::region::{Geography, NoGeography, distance_m, region_contains};
