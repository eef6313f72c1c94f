//! The same three operations by the RustCrypto crates, one at a time: for processors without the lanes, and for lanes
//! the lanes' formulas do not cover. One function for both curves, over their common traits.

use bp256::BrainpoolP256r1;
use ecdsa::elliptic_curve::consts::U32;
use ecdsa::elliptic_curve::point::DecompressPoint;
use ecdsa::elliptic_curve::sec1::{FromSec1Point, Sec1Point, ToSec1Point};
use ecdsa::elliptic_curve::subtle::Choice;
use ecdsa::elliptic_curve::{AffinePoint, CurveArithmetic, FieldBytes, NonZeroScalar, PublicKey};
use ecdsa::{EcdsaCurve, hazmat};
use p256::NistP256;
use sha2::Sha256;

use crate::curve::Curve;
use crate::job::{CompressedPoint, Signature, Signing, Verification};

pub(crate) fn verify(job: &Verification<'_>) -> bool {
    match job.curve {
        Curve::NistP256 => verify_on::<NistP256>(job),
        Curve::BrainpoolP256r1 => verify_on::<BrainpoolP256r1>(job),
    }
}

pub(crate) fn decompress(point: &CompressedPoint<'_>) -> Option<[u8; 32]> {
    match point.curve {
        Curve::NistP256 => decompress_on::<NistP256>(point),
        Curve::BrainpoolP256r1 => decompress_on::<BrainpoolP256r1>(point),
    }
}

pub(crate) fn sign(job: &Signing<'_>) -> Option<Signature> {
    match job.curve {
        Curve::NistP256 => sign_on::<NistP256>(job),
        Curve::BrainpoolP256r1 => sign_on::<BrainpoolP256r1>(job),
    }
}

/// Whether (x, y) is a point of the curve.
#[cfg(feature = "signer-tables")]
pub(crate) fn is_point(curve: Curve, x: &[u8; 32], y: &[u8; 32]) -> bool {
    match curve {
        Curve::NistP256 => point_on::<NistP256>(x, y).is_some(),
        Curve::BrainpoolP256r1 => point_on::<BrainpoolP256r1>(x, y).is_some(),
    }
}

fn point_on<C>(x: &[u8; 32], y: &[u8; 32]) -> Option<PublicKey<C>>
where
    C: CurveArithmetic<FieldBytesSize = U32>,
    AffinePoint<C>: FromSec1Point<C> + ToSec1Point<C>,
{
    PublicKey::try_from(&Sec1Point::<C>::from_affine_coordinates(&(*x).into(), &(*y).into(), false)).ok()
}

fn verify_on<C>(job: &Verification<'_>) -> bool
where
    C: EcdsaCurve + CurveArithmetic<FieldBytesSize = U32>,
    AffinePoint<C>: FromSec1Point<C> + ToSec1Point<C>,
{
    let Some(key) = point_on::<C>(job.public_x, job.public_y) else { return false };
    let Ok(signature) = ecdsa::Signature::<C>::from_scalars(*job.r, *job.s) else { return false };
    hazmat::verify_prehashed(&key.to_projective(), job.digest, &signature).is_ok()
}

fn decompress_on<C>(point: &CompressedPoint<'_>) -> Option<[u8; 32]>
where
    C: CurveArithmetic<FieldBytesSize = U32>,
    AffinePoint<C>: DecompressPoint<C> + ToSec1Point<C>,
{
    let x: &FieldBytes<C> = &(*point.x).into();
    let point = AffinePoint::<C>::decompress(x, Choice::from(u8::from(point.y_is_odd))).into_option()?;
    let encoded = point.to_sec1_point(false);
    encoded.y().map(|y| (*y).into())
}

fn sign_on<C>(job: &Signing<'_>) -> Option<Signature>
where
    C: EcdsaCurve + CurveArithmetic<FieldBytesSize = U32>,
{
    let secret = NonZeroScalar::<C>::from_repr((*job.secret).into()).into_option()?;
    let (signature, _) = hazmat::sign_prehashed_rfc6979::<C, Sha256>(&secret, job.digest, job.entropy);
    let (r, s) = signature.split_bytes();
    Some(Signature { r: r.into(), s: s.into() })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// x and y of the public key of a private one in range.
    pub(crate) fn public(curve: Curve, secret: &[u8; 32]) -> [[u8; 32]; 2] {
        match curve {
            Curve::NistP256 => public_on::<NistP256>(secret),
            Curve::BrainpoolP256r1 => public_on::<BrainpoolP256r1>(secret),
        }
    }

    fn public_on<C>(secret: &[u8; 32]) -> [[u8; 32]; 2]
    where
        C: CurveArithmetic<FieldBytesSize = U32>,
        AffinePoint<C>: FromSec1Point<C> + ToSec1Point<C>,
    {
        let key = ecdsa::elliptic_curve::SecretKey::<C>::from_slice(secret).expect("in range");
        let encoded = key.public_key().to_sec1_point(false);
        [encoded.x(), encoded.y()].map(|number| (*number.expect("not compressed")).into())
    }
}
