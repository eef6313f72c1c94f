//! Key agreement with the cofactor: both sides come to the y of `[392 a b] G`.
//!
//! Source: draft-ladd-cfrg-4q, "Diffie-Hellman Key Agreement"; byte for byte what FourQlib's compressed keys give.

use core::fmt;

use subtle::CtOption;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::error::Error;
use crate::field::{Field, with_field};
use crate::fixed_base::multiply_generator;
use crate::point::{Affine, Extended};
use crate::scalar::{Scalar, words};
use crate::variable_base::multiply;

/// A secret number of 256 bits; any number will do. Wiped when dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct SecretKey([u8; 32]);

impl SecretKey {
    /// The key with these bytes, which must come from a good random number generator.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The public key's encoding; constant time.
    #[must_use]
    pub fn public(&self) -> [u8; 32] {
        with_field!(field => self.public_by(field))
    }

    /// [`Self::public`], computed in `field`.
    #[doc(hidden)]
    #[must_use]
    pub fn public_by<F: Field>(&self, field: F) -> [u8; 32] {
        let mut scalar = Scalar::from_bytes_mod_order(&self.0);
        let public = multiply_generator(&scalar, field).to_affine(field).encode();
        scalar.zeroize();
        public
    }

    /// The secret shared with the owner of `peer`; constant time but for whether it succeeds.
    ///
    /// # Errors
    /// [`Error::SharedSecret`] if the shared point is the identity, which takes a secret that is a multiple of N.
    pub fn agree(&self, peer: &PublicKey) -> Result<SharedSecret, Error> {
        self.agree_ct(peer).into_option().ok_or(Error::SharedSecret)
    }

    /// As [`SecretKey::agree`], for callers whose time shall not show even whether it succeeds.
    #[must_use]
    pub fn agree_ct(&self, peer: &PublicKey) -> CtOption<SharedSecret> {
        with_field!(field => self.agree_by(peer, field))
    }

    /// [`Self::agree_ct`], computed in `field`.
    #[doc(hidden)]
    #[must_use]
    pub fn agree_by<F: Field>(&self, peer: &PublicKey, field: F) -> CtOption<SharedSecret> {
        let mut scalar = words(&self.0);
        let mut shared = multiply(&scalar, &peer.cleared, field).to_affine(field);
        let is_identity = shared.is_identity();
        let secret = SharedSecret(shared.y.to_bytes());
        scalar.zeroize();
        shared.zeroize();
        CtOption::new(secret, !is_identity)
    }
}

/// Keys are never logged.
impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(..)")
    }
}

/// Another party's public key: a point of the curve whose order does not divide the cofactor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    /// 392 times the point: of order N.
    cleared: Extended,
}

impl PublicKey {
    /// The key that `bytes` encode. Variable time: public keys are public.
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
        let cleared = point.to_extended().clear_cofactor(field);
        if cleared.is_identity().into() {
            return Err(Error::SmallOrder);
        }
        Ok(Self { cleared })
    }
}

/// What both parties share: one coordinate of a point, not uniform. Derive keys from it, never use it as one.
///
/// Wiped when dropped.
#[derive(Clone, Default, Zeroize, ZeroizeOnDrop)]
pub struct SharedSecret([u8; 32]);

impl SharedSecret {
    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Keys are never logged.
impl fmt::Debug for SharedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedSecret(..)")
    }
}
