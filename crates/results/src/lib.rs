//! What a run leaves behind: rows, their summary, and the folder that keeps them.
//!
//! This crate runs nothing, reads no clock and knows no scenario: whoever starts a run describes it in [`RunMeta`].
//! The types that matter are [`RunRows`], which simulator and test bed fill alike, and [`RunSummary`], what they amount
//! to. [`store`] keeps both in a folder of Parquet tables, a manifest and a capture.
//!
//! ```
//! use chronoseal_results::{Engine, RunMeta, RunRows, summarise};
//! let summary = summarise(&RunMeta::new("empty", Engine::Sim, 1), &RunRows::default());
//! assert!(summary.streams.is_empty() && summary.attacks.is_empty());
//! ```

pub mod capture;
pub mod disk;
pub mod distribution;
mod figures;
mod fold;
pub mod group;
pub mod meta;
mod outcome;
mod pending;
pub mod rows;
mod samples;
mod sink;
mod stays;
pub mod store;
pub mod summary;
mod tables;
pub mod trace;

pub use distribution::Distribution;
pub use figures::{FrameFigures, SeenCycle, Stopped};
pub use fold::{Fold, summarise};
pub use group::{ChangeMeta, ChangeSummary, GroupMeta, GroupSummary, KeySummary};
pub use meta::{
    Allowance, BoundMeta, ClockDomainMeta, ClockSource, EndMeta, Engine, Fact, FileMeta, HostClock, HostMeta, LinkMeta,
    NodeMeta, NodeRole, ProgramMeta, RunMeta, ScheduleMeta, SegmentMeta, SerializedMeta, SlotMeta, StreamMeta,
    TaskMeta, ThreatMeta, ThreatenedMeta, TriggerMeta, UnmeasuredMeta,
};
pub use rows::{
    Absence, CaptureRow, Direction, EventRow, FrameRow, HopRow, OnWayRow, Outcome, OwedRow, ReleaseRow, RunRows,
    SegmentSeries, StallRow, WorkRow,
};
pub use samples::{EXACT_MAX, Samples};
pub use sink::Sink;
pub use stays::Stays;
pub use store::{StoreError, StoredFile, Written};
pub use summary::{
    Account, AttackSummary, CLOCK_DIFFERENCE, CLOCK_OFFSET, ClockSummary, Copies, DividedLatency, DividedPart, LinkUse,
    PartKind, PartSummary, PrecisionSummary, RoundTripSummary, RunSummary, STARTUP_CYCLES_MAX, SegmentSummary,
    SeriesSummary, Spread, StallSummary, StreamSummary, TaskSummary, WorkSummary,
};
pub use tables::Damage;
