//! Promises of this crate towards its users.

mod drawings;
mod inputs;
mod page;
mod ranges;
mod run;
mod sample;
mod text;
