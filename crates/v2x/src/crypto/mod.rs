//! The operations behind messages and certificates, and the seam to whoever holds the private keys.
//!
//! [`SigningKey`] and [`AgreementKey`] are what a key is to this crate: it can be used, not read. [`SoftwareKey`]
//! is both; a token or a chip implements them elsewhere.
//!
//! P-256 comes from `chronoseal-ecdsa-lanes` where the processor has BMI2 and ADX ([`has_words`]), all other curves from RustCrypto,
//! unless a program installs another [`Provider`] of the NIST curves.

mod butterfly;
mod ccm;
mod curve;
mod ecies;
mod ecqv;
mod hash;
mod key;
mod point;
mod provider;
mod signature;
mod software;
mod verifying;

pub use butterfly::{ButterflyUse, expand_private, expand_public};
pub use ccm::{CCM_TAG_LEN, ccm_open, ccm_seal};
pub use curve::Curve;
pub use ecies::{decrypt_key, encrypt_key, encrypt_key_with, kdf2, mac1};
pub use ecqv::{reconstruct_private, reconstruct_public, reconstruction_point, reconstruction_value};
pub use hash::{HashValue, hash};
pub use key::{AgreementKey, KeyError, SharedX, SigningKey};
pub use point::PublicPoint;
pub use provider::{DigestVerifier, Provider, has_words, install_provider, one_by_one_by, provider_name};
pub use signature::EcdsaSignature;
pub use software::SoftwareKey;
pub use verifying::VerifyingKey;
