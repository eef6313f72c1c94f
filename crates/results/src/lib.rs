//! What a run leaves behind: rows, their summary, and the folder that keeps them.
//!
//! This crate runs nothing, reads no clock and knows no scenario: whoever starts a run describes it in `RunMeta`. The
//! type that matters to those who fill it is [`RunRows`].

pub mod rows;

pub use rows::{CaptureRow, Direction, EventRow, FrameRow, Outcome, ReleaseRow, RunRows, StallRow, WorkRow};
