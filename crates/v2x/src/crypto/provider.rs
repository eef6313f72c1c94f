//! Whose code computes on the NIST curves.

use core::fmt::Debug;
use std::sync::{Arc, OnceLock};

use chronoseal_ecdsa_lanes as lanes;

use super::Curve;

/// Another implementation of the NIST curves, with the same results in less time. [`install_provider`] puts it in the place of
/// RustCrypto's, for one signature at a time; the brainpool curves are always RustCrypto's, and P-256 is computed in words
/// where the processor lets it ([`has_words`]).
pub trait Provider: Debug + Send + Sync {
    /// As shown to people and in statistics.
    fn name(&self) -> &'static str;

    /// A key to verify with, from an uncompressed point of P-256 or P-384 (SEC 1, §2.3.3). `None` if it is no point.
    fn verifying_key(&self, curve: Curve, sec1: &[u8]) -> Option<Arc<dyn DigestVerifier>>;

    /// x of the multiple of P-256's generator by a nonce in 1..n, both big-endian, in a time that does not depend on the nonce.
    /// `None` if the implementation refuses it: RustCrypto signs then.
    fn multiply_generator(&self, nonce: &[u8; 32]) -> Option<[u8; 32]>;
}

/// A public key of a [`Provider`].
pub trait DigestVerifier: Debug + Send + Sync {
    /// Whether `signature`, r and s one after the other, is this key's over `digest`.
    fn verify_digest(&self, digest: &[u8], signature: &[u8]) -> bool;
}

static INSTALLED: OnceLock<&'static dyn Provider> = OnceLock::new();

/// Lets `provider` compute on the NIST curves from now on, in the whole process. A program does so once, when it starts; true if
/// no other one was installed before.
pub fn install_provider(provider: &'static dyn Provider) -> bool {
    INSTALLED.set(provider).is_ok()
}

/// Who computes on the NIST curves, as shown to people and in statistics, where [`has_words`] does not.
#[must_use]
pub fn provider_name() -> &'static str {
    installed().map_or("rustcrypto", Provider::name)
}

/// Whether P-256 is computed in 64-bit words, by `chronoseal-ecdsa-lanes` in assembly, and not by the [`Provider`]: the processor has
/// BMI2, ADX and AVX2, and nobody masked them.
#[must_use]
pub fn has_words() -> bool {
    lanes::Engine::Mulx.is_available()
}

/// Who verifies and signs one by one, as shown to people and in statistics.
#[must_use]
pub fn one_by_one_by() -> String {
    let provider = provider_name();
    if has_words() {
        format!("P-256 in 64-bit words, P-384 by {provider}")
    } else {
        format!("NIST curves by {provider}")
    }
}

pub(super) fn installed() -> Option<&'static dyn Provider> {
    INSTALLED.get().copied()
}
