//! Bounds before anything runs: closed forms, worst cases and schedule tables.
//!
//! This crate runs nothing, reads no file and no clock, and draws no random number: the same plan gives the same
//! answer. It simulates no frame either, and holds no table of a published work: those are with their study.
//!
//! The functions that matter are [`synthesis::synthesize`], which turns a segment of a [`Plan`] into the schedule
//! table that nodes, switch and simulator follow, and [`segment::end_to_end`], which bounds streams over all segments they travel
//! on.
//!
//! ```
//! use chronoseal_analysis::tdma::Cluster;
//! // 48 frames of 60 bytes fit in a base period of 10 ms, and none is lost by a tag of 20 bytes.
//! assert_eq!(Cluster::AS_PUBLISHED.frames_max(60), 48);
//! assert_eq!(Cluster::AS_PUBLISHED.frames_max(80), 48);
//! ```
//!
//! [`Plan`]: chronoseal_plan::Plan

pub mod bounds;
pub mod calculus;
pub mod can;
pub mod candidates;
pub mod group_key;
pub mod segment;
pub mod synthesis;
pub mod tdma;

pub use bounds::{StreamBound, bounds, slots_hold};
pub use segment::end_to_end;
pub use synthesis::{Infeasible, synthesize, verify};

#[cfg(test)]
mod testing;
