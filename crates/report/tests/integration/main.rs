//! Promises of this crate towards its users.

mod drawings;
mod page;
mod ranges;
mod run;
mod sample;
mod text;
