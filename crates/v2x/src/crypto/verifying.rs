//! Public keys, made ready to verify with.

use std::sync::{Arc, OnceLock};

use p256::elliptic_curve::PublicKey;

use super::provider::{DigestVerifier, installed};
use super::{Curve, EcdsaSignature, KeyError, PublicPoint};
use crate::types::PublicVerificationKey;

/// A public key that has passed every check, decompressed.
#[derive(Clone, Debug)]
pub struct VerifyingKey {
    point: PublicPoint,
    /// Made when the first signature is verified here: the lanes want nothing but the point.
    ready: OnceLock<Option<Ready>>,
}

#[derive(Clone, Debug)]
enum Ready {
    NistP256(PublicKey<p256::NistP256>),
    NistP384(PublicKey<p384::NistP384>),
    Provided(Arc<dyn DigestVerifier>),
    BrainpoolP256r1(PublicKey<bp256::BrainpoolP256r1>),
    BrainpoolP384r1(PublicKey<bp384::BrainpoolP384r1>),
}

impl Ready {
    /// None of what is no point, which no [`PublicPoint`] is.
    fn of(point: &PublicPoint) -> Option<Self> {
        let curve = point.curve();
        let mut sec1 = [4; 97];
        let len = curve.coordinate_len();
        sec1[1..=len].copy_from_slice(point.x());
        sec1[1 + len..1 + 2 * len].copy_from_slice(point.y());
        let sec1 = &sec1[..1 + 2 * len];
        let is_nist = matches!(curve, Curve::NistP256 | Curve::NistP384);
        if let Some(provider) = installed().filter(|_| is_nist) {
            return provider.verifying_key(curve, sec1).map(Self::Provided);
        }
        Some(match curve {
            Curve::NistP256 => Self::NistP256(PublicKey::from_sec1_bytes(sec1).ok()?),
            Curve::NistP384 => Self::NistP384(PublicKey::from_sec1_bytes(sec1).ok()?),
            Curve::BrainpoolP256r1 => Self::BrainpoolP256r1(PublicKey::from_sec1_bytes(sec1).ok()?),
            Curve::BrainpoolP384r1 => Self::BrainpoolP384r1(PublicKey::from_sec1_bytes(sec1).ok()?),
        })
    }
}

impl VerifyingKey {
    /// Of a point.
    #[must_use]
    pub fn new(point: PublicPoint) -> Self {
        Self { point, ready: OnceLock::new() }
    }

    /// The verification key of a certificate.
    ///
    /// # Errors
    /// As [`PublicPoint::from_verification_key`].
    pub fn from_verification_key(key: &PublicVerificationKey) -> Result<Self, KeyError> {
        PublicPoint::from_verification_key(key).map(Self::new)
    }

    /// The point.
    pub fn point(&self) -> &PublicPoint {
        &self.point
    }

    /// Its curve.
    pub fn curve(&self) -> Curve {
        self.point.curve()
    }

    /// Whether `signature` is this key's over `digest`. Of another curve, it is not.
    pub fn verify_digest(&self, digest: &[u8], signature: &EcdsaSignature) -> bool {
        if signature.curve() != self.curve() || digest.len() != self.curve().coordinate_len() {
            return false;
        }
        let (octets, len) = signature.to_octets();
        let octets = &octets[..len];
        let Some(ready) = self.ready.get_or_init(|| Ready::of(&self.point)) else { return false };
        match ready {
            Ready::NistP256(key) => rust_crypto(key, digest, octets),
            Ready::NistP384(key) => rust_crypto(key, digest, octets),
            Ready::Provided(key) => key.verify_digest(digest, octets),
            Ready::BrainpoolP256r1(key) => rust_crypto(key, digest, octets),
            Ready::BrainpoolP384r1(key) => rust_crypto(key, digest, octets),
        }
    }
}

fn rust_crypto<C>(key: &PublicKey<C>, digest: &[u8], signature: &[u8]) -> bool
where
    C: ecdsa::EcdsaCurve + p256::elliptic_curve::CurveArithmetic,
    ecdsa::SignatureSize<C>: p256::elliptic_curve::array::ArraySize,
{
    ecdsa::Signature::<C>::from_slice(signature)
        .is_ok_and(|signature| ecdsa::hazmat::verify_prehashed(&key.to_projective(), digest, &signature).is_ok())
}
