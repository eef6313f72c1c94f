//! Public vectors first, then properties that tie our HMAC to other implementations.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[cfg(feature = "aws-lc")]
mod aws_lc;
mod kdf;
mod properties;
mod refusal;
mod suites;
mod symmetric;
mod vectors;
mod wycheproof;
mod wycheproof_suites;
