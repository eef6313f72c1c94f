//! Promises of this crate towards its users.

mod page;
mod ranges;
mod run;
mod sample;
mod text;
