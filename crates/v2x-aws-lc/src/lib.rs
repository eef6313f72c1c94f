//! The NIST curves of AWS-LC, as a [`Provider`] for `chronoseal-v2x`: several times faster than pure Rust, same results.
//!
//! This crate holds no key and no protocol, and draws no randomness. It needs a C compiler and a minute of processor time to
//! build, so only programs that serve V2X depend on it.

use std::sync::Arc;

use aws_lc_rs::agreement::{ECDH_P256, PrivateKey};
use aws_lc_rs::digest::{Digest, SHA256, SHA384};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ParsedPublicKey};
use chronoseal_v2x::crypto::{Curve, DigestVerifier, EcdsaSignature, KeyError, Provider, install_provider};
use p256::elliptic_curve::Curve as _;
use p256::elliptic_curve::bigint::U256;
use p256::elliptic_curve::ops::{Invert, Reduce};
use p256::{FieldBytes, NistP256, NonZeroScalar, Scalar};
use zeroize::Zeroizing;

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

    fn sign_p256(&self, scalar: &[u8], digest: &[u8]) -> Result<EcdsaSignature, KeyError> {
        sign_p256(scalar, digest)
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

/// Signs with RFC 6979's nonce, whose multiple of the base point comes from AWS-LC; AWS-LC's own signatures have
/// random nonces.
fn sign_p256(scalar: &[u8], digest: &[u8]) -> Result<EcdsaSignature, KeyError> {
    let refused = || KeyError::InvalidScalar(Curve::NistP256);
    let private = Zeroizing::new(<[u8; 32]>::try_from(scalar).map_err(|_| refused())?);
    let secret = NonZeroScalar::from_repr((*private).into()).into_option().map(Zeroizing::new).ok_or_else(refused)?;
    let z = Scalar::reduce(&U256::from_be_slice(digest));
    let order = NistP256::ORDER;
    let mut nonces = rfc6979::KGenerator::<sha2::Sha256, U256>::new(&private[..], digest, b"", &order);
    let mut nonce = Zeroizing::new([0; 32]);
    loop {
        nonces.fill_next_k(&mut nonce[..]);
        let Some(k) = NonZeroScalar::from_repr((*nonce).into()).into_option().map(Zeroizing::new) else { continue };
        let device = |_| KeyError::Device("AWS-LC refused a nonce".into());
        let point = PrivateKey::from_private_key(&ECDH_P256, &nonce[..]).map_err(|_| device(()))?;
        let point = point.compute_public_key().map_err(|_| device(()))?;
        let r = Scalar::reduce(&U256::from_be_slice(&point.as_ref()[1..33]));
        let s = *Invert::invert(&*k) * (z + r * **secret);
        // [FIPS 186-5 §6.4.1] Neither is zero but for one nonce in 2^256.
        if let Ok(signature) = p256::ecdsa::Signature::from_scalars(FieldBytes::from(r), FieldBytes::from(s)) {
            return EcdsaSignature::from_octets(Curve::NistP256, &signature.to_bytes());
        }
    }
}
