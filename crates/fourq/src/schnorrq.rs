//! SchnorrQ signatures with SHA-512.
//!
//! Source: Costello, Longa, "SchnorrQ: Schnorr signatures on FourQ", Microsoft Research technical report, 2016. Signatures
//! are byte for byte FourQlib's; what is accepted is stricter: a second half of N or more, which would be another
//! signature of the same message, and keys of small order, under which anything verifies, are refused.

use core::fmt;

use sha2::{Digest, Sha512};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::double_base::double_multiply_vartime;
use crate::error::Error;
use crate::field::{Field, with_field};
use crate::fixed_base::multiply_generator;
use crate::point::{Affine, Extended};
use crate::scalar::Scalar;

/// Signature length `[byte]`.
pub const SIGNATURE_LEN: usize = 64;

/// A key to sign with. Wiped when dropped.
#[derive(Clone)]
pub struct SigningKey {
    secret: Scalar,
    /// Hashed with the message, it gives the signature's secret number.
    prefix: [u8; 32],
    public: Affine,
    public_bytes: [u8; 32],
}

impl SigningKey {
    /// The key made from `seed`, which must come from a good random number generator; constant time.
    #[must_use]
    pub fn from_seed(seed: [u8; 32]) -> Self {
        with_field!(field => Self::from_seed_by(seed, field))
    }

    /// [`Self::from_seed`], computed in `field`.
    #[doc(hidden)]
    #[must_use]
    pub fn from_seed_by<F: Field>(mut seed: [u8; 32], field: F) -> Self {
        let mut digest = hash(&[&seed]);
        seed.zeroize();
        let secret = secret_scalar(&digest);
        let prefix = core::array::from_fn(|i| digest[32 + i]);
        digest.zeroize();
        let public = multiply_generator(&secret, field).to_affine(field);
        Self { secret, prefix, public, public_bytes: public.encode() }
    }

    /// The public key's encoding.
    #[must_use]
    pub const fn public(&self) -> [u8; 32] {
        self.public_bytes
    }

    /// The key to verify with.
    #[must_use]
    pub fn verifying_key(&self) -> VerifyingKey {
        VerifyingKey { point: self.public.to_extended(), bytes: self.public_bytes }
    }

    /// The signature of `message`, always the same; constant time but for the message's length.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> Signature {
        with_field!(field => self.sign_by(message, field))
    }

    /// [`Self::sign`], computed in `field`.
    #[doc(hidden)]
    #[must_use]
    pub fn sign_by<F: Field>(&self, message: &[u8], field: F) -> Signature {
        let mut digest = hash(&[&self.prefix, message]);
        let mut nonce = secret_scalar(&digest);
        let commitment = multiply_generator(&nonce, field).to_affine(field).encode();
        let challenge = challenge(&commitment, &self.public_bytes, message);
        // With the challenge, which everybody can compute, it is the key.
        let mut product = self.secret.mul(&challenge);
        let response = nonce.sub(&product);
        digest.zeroize();
        product.zeroize();
        nonce.zeroize();
        Signature { commitment, response: response.to_bytes() }
    }
}

/// Shows the public part: keys are never logged.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("public", &self.public_bytes).finish_non_exhaustive()
    }
}

impl Drop for SigningKey {
    fn drop(&mut self) {
        self.secret.zeroize();
        self.prefix.zeroize();
    }
}

impl ZeroizeOnDrop for SigningKey {}

/// A key to verify with: a point whose order does not divide the cofactor.
///
/// The point may have a part of small order besides; only who made such a key can sign under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyingKey {
    pub(crate) point: Extended,
    pub(crate) bytes: [u8; 32],
}

impl VerifyingKey {
    /// The key that `bytes` encode. Variable time.
    ///
    /// # Errors
    /// [`Error::PublicKey`] if this is no encoding of a point, [`Error::SmallOrder`] if the point's order divides 392.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, Error> {
        with_field!(field => Self::from_bytes_by(bytes, field))
    }

    /// [`Self::from_bytes`], computed in `field`.
    ///
    /// # Errors
    /// As there.
    #[doc(hidden)]
    pub fn from_bytes_by<F: Field>(bytes: &[u8; 32], field: F) -> Result<Self, Error> {
        let point = Affine::decode_vartime(bytes, field).map_err(Error::PublicKey)?;
        if point.is_small_order_vartime(field) {
            return Err(Error::SmallOrder);
        }
        Ok(Self { point: point.to_extended(), bytes: *bytes })
    }

    /// The encoding.
    #[must_use]
    pub const fn to_bytes(&self) -> [u8; 32] {
        self.bytes
    }

    /// Whether `signature` is one of `message` by this key. Variable time.
    ///
    /// # Errors
    /// [`Error::ScalarRange`] if the second half is not less than N, [`Error::Signature`] if the first half is not the
    /// encoding the equation demands.
    pub fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), Error> {
        with_field!(field => self.verify_by(message, signature, field))
    }

    /// [`Self::verify`], computed in `field`.
    ///
    /// # Errors
    /// As there.
    #[doc(hidden)]
    pub fn verify_by<F: Field>(&self, message: &[u8], signature: &Signature, field: F) -> Result<(), Error> {
        let response = signature.response_vartime()?;
        let challenge = challenge(&signature.commitment, &self.bytes, message);
        let point = double_multiply_vartime(&response, &challenge, &self.point, field);
        if point.to_affine(field).encode() == signature.commitment { Ok(()) } else { Err(Error::Signature) }
    }
}

/// A signature: the encoding of a point, then a number below N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    pub(crate) commitment: [u8; 32],
    response: [u8; 32],
}

impl Signature {
    /// The signature with these bytes; nothing is checked before it is verified.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; SIGNATURE_LEN]) -> Self {
        Self { commitment: first_half(bytes), response: core::array::from_fn(|i| bytes[32 + i]) }
    }

    /// The bytes.
    #[must_use]
    pub fn to_bytes(self) -> [u8; SIGNATURE_LEN] {
        let mut bytes = [0; SIGNATURE_LEN];
        bytes[..32].copy_from_slice(&self.commitment);
        bytes[32..].copy_from_slice(&self.response);
        bytes
    }

    /// The second half, if it is in range.
    pub(crate) fn response_vartime(&self) -> Result<Scalar, Error> {
        Scalar::from_canonical_bytes_vartime(&self.response).ok_or(Error::ScalarRange)
    }
}

/// The number that ties commitment, key and message together.
pub(crate) fn challenge(commitment: &[u8; 32], public: &[u8; 32], message: &[u8]) -> Scalar {
    Scalar::from_bytes_mod_order(&first_half(&hash(&[commitment, public, message])))
}

fn hash(parts: &[&[u8]]) -> [u8; 64] {
    let mut hash = Sha512::new();
    for part in parts {
        hash.update(part);
    }
    // In place: what is on the way to somewhere else stays where it was.
    let mut digest = [0; 64];
    hash.finalize_into((&mut digest).into());
    digest
}

/// The number that the first half of a secret digest stands for; the half itself is wiped.
fn secret_scalar(digest: &[u8; 64]) -> Scalar {
    let mut half = first_half(digest);
    let scalar = Scalar::from_bytes_mod_order(&half);
    half.zeroize();
    scalar
}

fn first_half(bytes: &[u8; 64]) -> [u8; 32] {
    core::array::from_fn(|i| bytes[i])
}
