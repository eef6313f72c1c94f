//! Public vectors first, then properties that tie our HMAC to other implementations.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod properties;
mod refusal;
mod vectors;
mod wycheproof;
