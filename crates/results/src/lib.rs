//! Results.
pub mod rows;
