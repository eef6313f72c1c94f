//! Keyed hashes behind one seam, [`Mac`], over libraries that others keep well.
//!
//! This crate implements no hash of its own, draws no randomness, derives no keys, allocates nothing and does no I/O.
//! It knows nothing of frames: what is authenticated, and how freshness enters, is `chronoseal-frameauth`'s matter.
//!
//! The types that matter are [`HmacKey`], which absorbs a key once and then authenticates any number of messages, and
//! [`HashAlgorithm`], which names the hash and the operation it is charged as.
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
mod key_bytes;
mod mac;
pub mod suite;

pub use algorithm::{HashAlgorithm, UnknownAlgorithm};
pub use hmac_key::HmacKey;
pub use key_bytes::{KeyBytes, KeyError};
pub use mac::{Mac, OUTPUT_LEN_MAX, TAG_LEN_MIN, TagLenError};
