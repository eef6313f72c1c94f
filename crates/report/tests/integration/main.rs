//! Promises of this crate towards its users.

mod page;
mod run;
mod sample;
mod text;
