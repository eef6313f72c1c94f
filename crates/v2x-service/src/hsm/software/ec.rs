//! Private keys in memory, over the curve crates of RustCrypto: signatures by RFC 6979, constant time where secrets are.

use bp256::BrainpoolP256r1;
use bp384::BrainpoolP384r1;
use ecdsa::elliptic_curve::{PublicKey, point::AffineCoordinates};
use ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
use ecdsa::{Signature, SigningKey, VerifyingKey};
use p256::NistP256;
use p384::NistP384;
use zeroize::Zeroizing;

use crate::hsm::curve::{self, Curve, EcdsaSignature, PublicPoint, SharedX};
use crate::hsm::{HsmError, check_digest, random};

/// A scalar and its point; the scalar is wiped when it is dropped.
pub(crate) enum PrivateKey {
    NistP256(SigningKey<NistP256>),
    NistP384(SigningKey<NistP384>),
    BrainpoolP256r1(SigningKey<BrainpoolP256r1>),
    BrainpoolP384r1(SigningKey<BrainpoolP384r1>),
}

/// One body for the key of any curve.
macro_rules! with_key {
    ($private:expr, $key:ident => $body:expr) => {
        match $private {
            PrivateKey::NistP256($key) => $body,
            PrivateKey::NistP384($key) => $body,
            PrivateKey::BrainpoolP256r1($key) => $body,
            PrivateKey::BrainpoolP384r1($key) => $body,
        }
    };
    ($private:expr, $key:ident: $C:ident => $body:expr) => {
        match $private {
            PrivateKey::NistP256($key) => {
                type $C = NistP256;
                $body
            }
            PrivateKey::NistP384($key) => {
                type $C = NistP384;
                $body
            }
            PrivateKey::BrainpoolP256r1($key) => {
                type $C = BrainpoolP256r1;
                $body
            }
            PrivateKey::BrainpoolP384r1($key) => {
                type $C = BrainpoolP384r1;
                $body
            }
        }
    };
}

/// One body for any curve.
macro_rules! with_curve {
    ($curve:expr, $C:ident => $body:expr) => {
        match $curve {
            Curve::NistP256 => {
                type $C = NistP256;
                $body
            }
            Curve::NistP384 => {
                type $C = NistP384;
                $body
            }
            Curve::BrainpoolP256r1 => {
                type $C = BrainpoolP256r1;
                $body
            }
            Curve::BrainpoolP384r1 => {
                type $C = BrainpoolP384r1;
                $body
            }
        }
    };
}

/// The point as a key of its curve's crate, which checks that it is on the curve.
macro_rules! public_key {
    ($C:ident, $point:expr) => {{
        let bytes = [&[4][..], &$point.x, &$point.y].concat();
        PublicKey::<$C>::from_sec1_bytes(&bytes).map_err(|_| off_curve($point.curve))
    }};
}

impl PrivateKey {
    /// A scalar in 1..n, big-endian, as long as the field.
    pub(crate) fn from_scalar(curve: Curve, scalar: &[u8]) -> Result<Self, HsmError> {
        let wanted = curve::byte_len(curve);
        let refused =
            |_| HsmError::InvalidArgument(format!("a scalar of {} is {wanted} bytes, in 1..n", curve::name(curve)));
        // The crates would fill up a scalar that is too short.
        if scalar.len() != wanted {
            return Err(refused(ecdsa::Error::new()));
        }
        Ok(match curve {
            Curve::NistP256 => Self::NistP256(SigningKey::from_slice(scalar).map_err(refused)?),
            Curve::NistP384 => Self::NistP384(SigningKey::from_slice(scalar).map_err(refused)?),
            Curve::BrainpoolP256r1 => Self::BrainpoolP256r1(SigningKey::from_slice(scalar).map_err(refused)?),
            Curve::BrainpoolP384r1 => Self::BrainpoolP384r1(SigningKey::from_slice(scalar).map_err(refused)?),
        })
    }

    /// A new one.
    pub(crate) fn generate(curve: Curve) -> Result<Self, HsmError> {
        let mut scalar = Zeroizing::new(vec![0; curve::byte_len(curve)]);
        loop {
            random(&mut scalar)?;
            // Zero, or not below the order: at most one draw in three (brainpool) is thrown away.
            if let Ok(key) = Self::from_scalar(curve, &scalar) {
                return Ok(key);
            }
        }
    }

    pub(crate) fn curve(&self) -> Curve {
        match self {
            Self::NistP256(_) => Curve::NistP256,
            Self::NistP384(_) => Curve::NistP384,
            Self::BrainpoolP256r1(_) => Curve::BrainpoolP256r1,
            Self::BrainpoolP384r1(_) => Curve::BrainpoolP384r1,
        }
    }

    pub(crate) fn scalar(&self) -> Zeroizing<Vec<u8>> {
        with_key!(self, key => Zeroizing::new(key.to_bytes().to_vec()))
    }

    pub(crate) fn public_point(&self) -> PublicPoint {
        let curve = self.curve();
        with_key!(self, key => {
            let point = key.verifying_key().to_sec1_point(false);
            let bytes = point.as_bytes();
            let (x, y) = bytes[1..].split_at(curve::byte_len(curve));
            PublicPoint { curve, x: x.to_vec(), y: y.to_vec() }
        })
    }

    pub(crate) fn sign(&self, digest: &[u8]) -> Result<EcdsaSignature, HsmError> {
        let curve = self.curve();
        check_digest(curve, digest)?;
        with_key!(self, key: C => {
            let signature: Signature<C> = key.sign_prehash(digest).map_err(|error| HsmError::Device {
                operation: "sign".into(),
                reason: error.to_string(),
            })?;
            let (r, s) = signature.split_bytes();
            Ok(EcdsaSignature { curve, r: r.to_vec(), s: s.to_vec() })
        })
    }

    pub(crate) fn agree(&self, peer: &PublicPoint) -> Result<SharedX, HsmError> {
        let curve = self.curve();
        if peer.curve != curve {
            return Err(off_curve(curve));
        }
        with_key!(self, key: C => {
            let peer: PublicKey<C> = public_key!(C, peer)?;
            let shared = (peer.to_projective() * *key.as_nonzero_scalar().as_ref()).to_affine();
            Ok(SharedX(Zeroizing::new(shared.x().to_vec())))
        })
    }
}

/// A point that is on its curve and not the one at infinity.
pub(crate) fn check_point(point: &PublicPoint) -> Result<(), HsmError> {
    with_curve!(point.curve, C => public_key!(C, point).map(|_: PublicKey<C>| ()))
}

/// Whether the signature holds. Both halves outside 1..n are a wrong signature, as a changed one is.
pub(crate) fn verify(public: &PublicPoint, digest: &[u8], signature: &EcdsaSignature) -> Result<bool, HsmError> {
    check_digest(public.curve, digest)?;
    check_signature(public.curve, signature)?;
    with_curve!(public.curve, C => {
        let key = VerifyingKey::<C>::from(public_key!(C, public)?);
        let bytes = [signature.r.as_slice(), &signature.s].concat();
        Ok(Signature::<C>::from_slice(&bytes).is_ok_and(|signature| key.verify_prehash(digest, &signature).is_ok()))
    })
}

/// Refuses a signature that belongs to another curve.
pub(crate) fn check_signature(curve: Curve, signature: &EcdsaSignature) -> Result<(), HsmError> {
    let len = curve::byte_len(curve);
    if signature.curve == curve && signature.r.len() == len && signature.s.len() == len {
        return Ok(());
    }
    Err(HsmError::InvalidArgument(format!("the signature is not of {}", curve::name(curve))))
}

/// Whether both halves are in 1..n.
pub(crate) fn is_in_range(signature: &EcdsaSignature) -> bool {
    let bytes = [signature.r.as_slice(), &signature.s].concat();
    with_curve!(signature.curve, C => Signature::<C>::from_slice(&bytes).is_ok())
}

fn off_curve(curve: Curve) -> HsmError {
    HsmError::InvalidArgument(format!("the point is not on {}", curve::name(curve)))
}
