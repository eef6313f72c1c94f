//! Recordings of other programs, and what other programs make of ours.

mod integration;
mod tshark;
