//! The NIST curves of AWS-LC, as a [`Provider`] for `chronoseal-v2x`: several times faster than pure Rust, same results.
//!
//! This crate holds no key and no protocol, and draws no randomness. It needs a C compiler and a minute of processor time to
//! build, so only programs that serve V2X depend on it.

use std::sync::Arc;

use aws_lc_rs::agreement::{ECDH_P256, PrivateKey};
use aws_lc_rs::digest::{Digest, SHA256, SHA384};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ParsedPublicKey};
use chronoseal_v2x::crypto::{Curve, DigestVerifier, Provider, install_provider};

/// Lets AWS-LC compute on the NIST curves in the whole process; true if it does. To be called when a program starts.
pub fn install() -> bool {
    install_provider(&AwsLc) || chronoseal_v2x::crypto::provider_name() == NAME
}

const NAME: &str = "aws-lc";

#[derive(Debug)]
struct AwsLc;

impl Provider for AwsLc {
    fn name(&self) -> &'static str {
        NAME
    }

    fn verifying_key(&self, curve: Curve, sec1: &[u8]) -> Option<Arc<dyn DigestVerifier>> {
        let algorithm = if curve == Curve::NistP384 { &ECDSA_P384_SHA384_FIXED } else { &ECDSA_P256_SHA256_FIXED };
        let key = ParsedPublicKey::new(algorithm, sec1).ok()?;
        Some(Arc::new(VerifyingKey { key, curve }))
    }

    /// AWS-LC's own signatures have random nonces, so that it is given the nonce as a key, and asked for its public half.
    fn multiply_generator(&self, nonce: &[u8; 32]) -> Option<[u8; 32]> {
        let point = PrivateKey::from_private_key(&ECDH_P256, nonce).ok()?.compute_public_key().ok()?;
        // [SEC 1 §2.3.3] Uncompressed: a tag, x, y.
        point.as_ref().get(1..33)?.try_into().ok()
    }
}

#[derive(Debug)]
struct VerifyingKey {
    key: ParsedPublicKey,
    curve: Curve,
}

impl DigestVerifier for VerifyingKey {
    fn verify_digest(&self, digest: &[u8], signature: &[u8]) -> bool {
        let algorithm = if self.curve == Curve::NistP384 { &SHA384 } else { &SHA256 };
        let Ok(digest) = Digest::import_less_safe(digest, algorithm) else { return false };
        self.key.verify_digest_sig(&digest, signature).is_ok()
    }
}
