//! The station's services with an HSM in files, on a disk, and over the socket.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that fails says where, one that is skipped why")]

mod batches;
mod daemon;
mod library;
mod siege;
mod world;
