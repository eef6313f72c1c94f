//! Promises of this crate towards its users.

mod account;
mod capture;
mod full_disk;
mod meta;
mod sample;
mod store;
mod summary;
