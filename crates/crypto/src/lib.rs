//! The seam to cryptography, over libraries that others keep well.
//!
//! This crate implements no hash, cipher or curve of its own, draws no randomness, keeps no keys, allocates nothing
//! and does no I/O. It knows nothing of frames: what is authenticated, and how freshness enters, is
//! `chronoseal-frameauth`'s matter; who agrees with whom is `chronoseal-groupkey`'s.
//!
//! | for | look at | charged as |
//! |---|---|---|
//! | keyed hashes | [`Mac`], [`HmacKey`], [`HashAlgorithm`] | `hmac-sha-1`, `hmac-sha-256`, `hmac-sha3-256` |
//! | block-cipher MAC | [`symmetric::BlockMac`], [`symmetric::CmacAes128`] | `cmac-aes-128` |
//! | encryption | [`symmetric::Aes128Ctr`] | `aes-128-ctr` |
//! | key derivation | [`kdf::derive`], [`Label`] | `hkdf-sha-256` |
//! | key agreement and signature | [`suite::Suite`], [`suite::SuiteName`] | [`suite::Suite::OPERATIONS`] |
//!
//! The operation's name is what a platform profile prices; see `chronoseal_core::Work`.
//!
//! ```
//! use chronoseal_crypto::{HashAlgorithm, HmacKey, KeyBytes, Mac};
//!
//! let key = KeyBytes::from_array([0x42; KeyBytes::LEN]);
//! let mac = HmacKey::new(HashAlgorithm::Sha256, key.expose());
//! let mut tag = [0; 16];
//! // A message may come in parts; no copy joins them.
//! mac.compute(&[b"engine speed ", b"1200 rpm"], &mut tag)?;
//! assert!(mac.verify(&[b"engine speed 1200 rpm"], &tag));
//! assert!(!mac.verify(&[b"engine speed 1201 rpm"], &tag));
//! # Ok::<(), chronoseal_crypto::TagLenError>(())
//! ```
#![cfg_attr(not(any(test, feature = "std")), no_std)]

mod algorithm;
mod hmac_key;
pub mod kdf;
mod key_bytes;
mod mac;
pub mod suite;
pub mod symmetric;

pub use algorithm::{HashAlgorithm, UnknownAlgorithm};
pub use hmac_key::HmacKey;
pub use kdf::Label;
pub use key_bytes::{KeyBytes, KeyError};
pub use mac::{Mac, OUTPUT_LEN_MAX, TAG_LEN_MIN, TagLenError};
