//! Documents, tables, charts and comparisons made from results.
//!
//! This crate does no I/O: it returns text.
