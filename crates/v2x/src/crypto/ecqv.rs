//! Implicit certificates on NIST P-256: SEC 4 (ECQV) as IEEE 1609.2 clause 5.3.2 uses it.
//!
//! With e the hash of the certificate, cut to 255 bits: the issuer, whose key is (c, C), gets the requester's point R = rG,
//! draws k, and gives back P = R + kG in the certificate and s = ek + c beside it. The holder's key is then
//! d = er + s, and anybody finds its public half eP + C from certificate and issuer's key.

use p256::elliptic_curve::bigint::U256;
use p256::elliptic_curve::ops::Reduce;
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{ProjectivePoint, PublicKey, Scalar};
use zeroize::Zeroizing;

use super::{Curve, KeyError, PublicPoint, SoftwareKey};

const CURVE: Curve = Curve::NistP256;

/// [SEC 4 v1.0 §2.3] The leftmost 255 bits of a hash: as many as the order has, less one.
fn exponent(hash: &[u8; 32]) -> Scalar {
    let mut cut = [0; 32];
    let mut carry = 0;
    for (to, from) in cut.iter_mut().zip(hash) {
        *to = carry | from >> 1;
        carry = from << 7;
    }
    Scalar::reduce(&U256::from_be_slice(&cut))
}

fn check_curve(found: Curve) -> Result<(), KeyError> {
    if found == CURVE { Ok(()) } else { Err(KeyError::CurveMismatch { expected: CURVE, found }) }
}

pub(super) fn to_projective(point: &PublicPoint) -> Result<ProjectivePoint, KeyError> {
    check_curve(point.curve())?;
    let key = PublicKey::from_sec1_bytes(&point.to_sec1_uncompressed()).map_err(|_| KeyError::NotAPoint(CURVE))?;
    Ok(key.to_projective())
}

pub(super) fn from_projective(point: &ProjectivePoint) -> Result<PublicPoint, KeyError> {
    let key = PublicKey::from_affine(point.to_affine()).map_err(|_| KeyError::NotAPoint(CURVE))?;
    PublicPoint::from_sec1(CURVE, key.to_sec1_point(false).as_bytes())
}

pub(super) fn to_scalar(key: &SoftwareKey) -> Result<Zeroizing<Scalar>, KeyError> {
    check_curve(key.curve())?;
    Ok(Zeroizing::new(Scalar::reduce(&U256::from_be_slice(key.scalar()))))
}

pub(super) fn from_scalar(scalar: &Scalar) -> Result<SoftwareKey, KeyError> {
    let octets = Zeroizing::new(<[u8; 32]>::from(scalar.to_bytes()));
    SoftwareKey::from_scalar(CURVE, &octets[..])
}

/// The public key of an implicit certificate: from the hash of the certificate, the point in it, and its issuer's key.
///
/// # Errors
/// [`KeyError::CurveMismatch`], or [`KeyError::NotAPoint`] for the point at infinity.
pub fn reconstruct_public(
    hash: &[u8; 32],
    reconstruction: &PublicPoint,
    issuer: &PublicPoint,
) -> Result<PublicPoint, KeyError> {
    from_projective(&(to_projective(reconstruction)? * exponent(hash) + to_projective(issuer)?))
}

/// The private key of an implicit certificate: from the hash of the certificate, the requester's key, and the value the
/// issuer gave beside it. The holder has to compare its public half with [`reconstruct_public`].
///
/// # Errors
/// [`KeyError::CurveMismatch`], or [`KeyError::InvalidScalar`] for a value that gives no key.
pub fn reconstruct_private(hash: &[u8; 32], request: &SoftwareKey, value: &[u8; 32]) -> Result<SoftwareKey, KeyError> {
    let value = Zeroizing::new(Scalar::reduce(&U256::from_be_slice(value)));
    let key = Zeroizing::new(exponent(hash) * *to_scalar(request)? + *value);
    from_scalar(&key)
}

/// The point for an implicit certificate: the requester's point and that of the issuer's `ephemeral` key, which is to be
/// used once.
///
/// # Errors
/// [`KeyError::CurveMismatch`], or [`KeyError::NotAPoint`] if the two cancel out.
pub fn reconstruction_point(request: &PublicPoint, ephemeral: &SoftwareKey) -> Result<PublicPoint, KeyError> {
    from_projective(&(to_projective(request)? + to_projective(&ephemeral.public_point())?))
}

/// The value an issuer gives beside an implicit certificate.
///
/// # Errors
/// [`KeyError::CurveMismatch`].
pub fn reconstruction_value(
    hash: &[u8; 32],
    ephemeral: &SoftwareKey,
    issuer: &SoftwareKey,
) -> Result<Zeroizing<[u8; 32]>, KeyError> {
    let value = Zeroizing::new(exponent(hash) * *to_scalar(ephemeral)? + *to_scalar(issuer)?);
    Ok(Zeroizing::new(value.to_bytes().into()))
}
