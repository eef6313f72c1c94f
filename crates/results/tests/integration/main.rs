//! Promises of this crate towards its users.

mod capture;
mod meta;
mod sample;
mod store;
mod summary;
