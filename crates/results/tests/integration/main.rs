//! Promises of this crate towards its users.

mod account;
mod capture;
mod displaced;
mod full_disk;
mod group;
mod meta;
mod sample;
mod store;
mod summary;
mod trace;
