//! The NIST curves of AWS-LC.

use std::sync::Arc;

use aws_lc_rs::agreement::{ECDH_P256, PrivateKey};
use aws_lc_rs::digest::{Digest, SHA256, SHA384};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ParsedPublicKey};
use p256::elliptic_curve::Curve as _;
use p256::elliptic_curve::bigint::U256;
use p256::elliptic_curve::ops::{Invert, Reduce};
use p256::{FieldBytes, NistP256, NonZeroScalar, Scalar};
use zeroize::Zeroizing;

use super::{Curve, EcdsaSignature, KeyError};

#[derive(Clone, Debug)]
pub(super) struct VerifyingKey {
    key: Arc<ParsedPublicKey>,
    curve: Curve,
}

impl VerifyingKey {
    /// None of what is no point.
    pub(super) fn new(curve: Curve, sec1: &[u8]) -> Option<Self> {
        let algorithm = if curve == Curve::NistP384 { &ECDSA_P384_SHA384_FIXED } else { &ECDSA_P256_SHA256_FIXED };
        let key = ParsedPublicKey::new(algorithm, sec1).ok()?;
        Some(Self { key: Arc::new(key), curve })
    }

    pub(super) fn verify_digest(&self, digest: &[u8], signature: &[u8]) -> bool {
        let algorithm = if self.curve == Curve::NistP384 { &SHA384 } else { &SHA256 };
        let Ok(digest) = Digest::import_less_safe(digest, algorithm) else { return false };
        self.key.verify_digest_sig(&digest, signature).is_ok()
    }
}

/// Signs with RFC 6979's nonce, whose multiple of the base point comes from AWS-LC; AWS-LC's own signatures have
/// random nonces.
pub(super) fn sign_p256(secret: &NonZeroScalar, digest: &[u8]) -> Result<EcdsaSignature, KeyError> {
    let z = Scalar::reduce(&U256::from_be_slice(digest));
    let private = Zeroizing::new(<[u8; 32]>::from(secret.to_bytes()));
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
