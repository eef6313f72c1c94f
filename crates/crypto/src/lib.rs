//! The seam to cryptography, over libraries that others keep well.
//!
//! This crate implements no hash, cipher or curve of its own, draws no randomness, keeps no keys, allocates nothing
//! and does no I/O. It knows nothing of frames: what is authenticated, and how freshness enters, is
//! `chronoseal-frameauth`'s matter; who agrees with whom is `chronoseal-groupkey`'s.
//!
//! | for | look at | charged as |
//! |---|---|---|
//! | message authentication codes | [`MacAlgorithm`] (with how to add one), [`MacKey`] | the algorithm's name: `hmac-sha-256`, `gmac-aes-128` and so on |
//! | whole tags of AES-128-CMAC | [`symmetric::BlockMac`], [`symmetric::CmacAes128`] | `cmac-aes-128` |
//! | tags of GMAC under nonces of 96 bits | [`symmetric::Gmac`] | `gmac-aes-128`, `gmac-aes-256` |
//! | encryption | [`symmetric::Aes128Ctr`] | `aes-128-ctr` |
//! | both at once, with keys of 128 or 256 bits | [`symmetric::AesGcm`] | `aes-128-gcm`, `aes-256-gcm` |
//! | key derivation | [`kdf::derive`], [`Label`] | `hkdf-sha-256` |
//! | key agreement and signature | [`suite::Suite`], [`suite::SuiteName`] | [`suite::Suite::OPERATIONS`] |
//!
//! The operation's name is what a platform profile prices; see `chronoseal_core::Work`.
//!
//! ```
//! use chronoseal_crypto::{KeyBytes, MacAlgorithm, MacKey};
//!
//! let key = KeyBytes::from_array([0x42; KeyBytes::LEN]);
//! let mac = MacKey::new(MacAlgorithm::HmacSha256, key.expose())?;
//! let mut tag = [0; 16];
//! // A message may come in parts; no copy joins them. An HMAC needs no nonce and does not look at it.
//! mac.compute(0, &[b"engine speed ", b"1200 rpm"], &mut tag)?;
//! assert!(mac.verify(0, &[b"engine speed 1200 rpm"], &tag));
//! assert!(!mac.verify(0, &[b"engine speed 1201 rpm"], &tag));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(not(any(test, feature = "aws-lc")), no_std)]

mod algorithm;
mod hash;
mod hmac_state;
pub mod kdf;
mod key_bytes;
mod mac;
mod mac_key;
mod secret;
pub mod suite;
pub mod symmetric;

pub use algorithm::{KeyLen, MacAlgorithm, OUTPUT_LEN_MAX, UnknownAlgorithm};
pub use hash::HashAlgorithm;
pub use kdf::Label;
pub use key_bytes::{KeyBytes, KeyError};
pub use mac::{KeyLenError, TagLenError};
pub use mac_key::MacKey;
pub use secret::{Secret, SymmetricKey};
