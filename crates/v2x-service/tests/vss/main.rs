//! The station's services with an HSM in files, on a disk, and over the socket.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod daemon;
mod library;
mod world;
