//! Promises of this crate towards its users.

mod capture;
mod sample;
mod store;
mod summary;
