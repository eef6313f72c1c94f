//! The real binary: what a person types, sees and finds on disk afterwards, and what it said so far.

mod golden;
mod integration;
