//! What a private key is to this crate.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{Curve, EcdsaSignature, PublicPoint};

/// A key that signs.
pub trait SigningKey {
    /// Its curve.
    fn curve(&self) -> Curve;

    /// Its public half.
    fn public_point(&self) -> PublicPoint;

    /// Signs a digest as long as the curve's hash.
    ///
    /// # Errors
    /// [`KeyError::DigestLength`], or that of the device that holds the key.
    fn sign_digest(&mut self, digest: &[u8]) -> Result<EcdsaSignature, KeyError>;
}

/// A key that agrees on a secret with another.
pub trait AgreementKey {
    /// Its curve.
    fn curve(&self) -> Curve;

    /// Its public half.
    fn public_point(&self) -> PublicPoint;

    /// The x coordinate of the private key times `peer`.
    ///
    /// # Errors
    /// [`KeyError::CurveMismatch`], or that of the device that holds the key.
    fn agree(&mut self, peer: &PublicPoint) -> Result<SharedX, KeyError>;
}

/// An x coordinate nobody else knows; wiped when dropped.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct SharedX {
    octets: [u8; 48],
    len: usize,
}

impl SharedX {
    /// From the big-endian coordinate, of 32 or 48 octets.
    ///
    /// # Errors
    /// [`KeyError::Unsupported`] for other lengths.
    pub fn new(x: &[u8]) -> Result<Self, KeyError> {
        if x.len() != 32 && x.len() != 48 {
            return Err(KeyError::Unsupported("a coordinate of neither 32 nor 48 octets"));
        }
        let mut octets = [0; 48];
        octets[..x.len()].copy_from_slice(x);
        Ok(Self { octets, len: x.len() })
    }

    /// The coordinate.
    pub fn as_bytes(&self) -> &[u8] {
        &self.octets[..self.len]
    }
}

impl core::fmt::Debug for SharedX {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("SharedX(hidden)")
    }
}

/// Why a key or signature cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// Coordinates that no point of the curve has.
    #[error("no point of {0} has these coordinates")]
    NotAPoint(Curve),
    /// A point in a form that does not say which one it is.
    #[error("an x coordinate alone, or nothing, is no public key")]
    Incomplete,
    /// A private key that is not in 1..n.
    #[error("not a private key of {0}")]
    InvalidScalar(Curve),
    /// Two things of different curves.
    #[error("{found} where {expected} is needed")]
    CurveMismatch {
        /// The curve needed.
        expected: Curve,
        /// The curve found.
        found: Curve,
    },
    /// A digest that is not as long as the curve's hash.
    #[error("digest of {found} octets where {expected} are needed")]
    DigestLength {
        /// Octets needed.
        expected: usize,
        /// Octets found.
        found: usize,
    },
    /// Something the standard has and this crate has not.
    #[error("{0} is not supported")]
    Unsupported(&'static str),
    /// What the device that holds the key says.
    #[error("device: {0}")]
    Device(String),
}
