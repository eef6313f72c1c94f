//! Frame authentication and freshness.
pub use chronoseal_crypto::{HashAlgorithm, KeyBytes};
