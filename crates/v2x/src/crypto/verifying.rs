//! Public keys, made ready to verify with.

use std::sync::{Arc, OnceLock};

use chronoseal_ecdsa_lanes::{self as lanes, KnownVerification, SignerTable, Verification};
use p256::elliptic_curve::PublicKey;

use super::provider::{DigestVerifier, has_words, installed};
use super::{Curve, EcdsaSignature, KeyError, PublicPoint};
use crate::types::PublicVerificationKey;

/// A public key that has passed every check, decompressed.
#[derive(Clone, Debug)]
pub struct VerifyingKey {
    point: PublicPoint,
    /// Made when the first signature is verified here: the lanes want nothing but the point.
    ready: OnceLock<Option<Ready>>,
    is_remembered: OnceLock<()>,
    table: OnceLock<Option<SignerTable>>,
}

#[derive(Clone, Debug)]
enum Ready {
    /// P-256 in 64-bit words.
    Words,
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
        if curve == Curve::NistP256 && has_words() {
            return Some(Self::Words);
        }
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
        Self { point, ready: OnceLock::new(), is_remembered: OnceLock::new(), table: OnceLock::new() }
    }

    /// Keeps multiples of the key from its next signature on, 8 KB, so that it and those after it take a third of the time. Of use for
    /// P-256 where the processor has BMI2 and ADX, and without effect elsewhere. To be called for a key that somebody trusted has
    /// certified, and of which more signatures are expected: the multiples take as long to make as one verification.
    pub fn remember(&self) {
        self.is_remembered.get_or_init(|| ());
    }

    /// Multiples of the key, if they are kept.
    pub(crate) fn table(&self) -> Option<&SignerTable> {
        self.is_remembered.get()?;
        let (x, y) = self.coordinates()?;
        let build = || SignerTable::build_for(lanes::Engine::Mulx, lanes::Curve::NistP256, &[[x, y]]).pop().flatten();
        self.table.get_or_init(build).as_ref()
    }

    /// Of a point of P-256, where it is verified in words.
    fn coordinates(&self) -> Option<(&[u8; 32], &[u8; 32])> {
        if self.curve() != Curve::NistP256 || !has_words() {
            return None;
        }
        Some((self.point.x().try_into().ok()?, self.point.y().try_into().ok()?))
    }

    fn verify_in_words(&self, digest: &[u8], signature: &EcdsaSignature) -> Option<bool> {
        let (public_x, public_y) = self.coordinates()?;
        let digest = digest.try_into().ok()?;
        let (r, s) = (signature.r().try_into().ok()?, signature.s().try_into().ok()?);
        let mut verdict = [false];
        if let Some(signer) = self.table() {
            lanes::verify_known_batch(&[KnownVerification { digest, r, s, signer }], &mut verdict);
        } else {
            let job = Verification { curve: lanes::Curve::NistP256, digest, r, s, public_x, public_y };
            lanes::Engine::Mulx.verify_batch(&[job], &mut verdict);
        }
        Some(verdict[0])
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
            Ready::Words => self.verify_in_words(digest, signature).unwrap_or(false),
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
