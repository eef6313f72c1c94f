//! Public keys that were checked.

use core::fmt;

use chronoseal_ecdsa_lanes::{self as lanes, CompressedPoint};
use p256::elliptic_curve::{PublicKey, sec1::ToSec1Point};

use super::curve::with_curve;
use super::provider::has_words;
use super::{Curve, KeyError};
use crate::types::{
    BasePublicEncryptionKey, CurvePoint, EccP256CurvePoint, PublicEncryptionKey, PublicVerificationKey, SymmAlgorithm,
};

/// A point of a curve, not the one at infinity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicPoint {
    curve: Curve,
    x: [u8; 48],
    y: [u8; 48],
}

impl PublicPoint {
    /// From its SEC 1 encoding, compressed or not.
    ///
    /// # Errors
    /// [`KeyError::NotAPoint`].
    pub fn from_sec1(curve: Curve, octets: &[u8]) -> Result<Self, KeyError> {
        if let [tag @ (2 | 3), x @ ..] = octets
            && curve == Curve::NistP256
            && has_words()
        {
            return Self::decompressed_in_words(x, *tag == 3).ok_or(KeyError::NotAPoint(curve));
        }
        with_curve!(curve, C, D => {
            let key = PublicKey::<C>::from_sec1_bytes(octets).map_err(|_| KeyError::NotAPoint(curve))?;
            let point = key.to_sec1_point(false);
            Self::of_uncompressed(curve, point.as_bytes())
        })
    }

    /// Of a compressed point of P-256.
    fn decompressed_in_words(x: &[u8], y_is_odd: bool) -> Option<Self> {
        let x = x.try_into().ok()?;
        let mut y = [None];
        lanes::Engine::Mulx.decompress_batch(&[CompressedPoint { curve: lanes::Curve::NistP256, x, y_is_odd }], &mut y);
        let mut point = Self { curve: Curve::NistP256, x: [0; 48], y: [0; 48] };
        point.x[..32].copy_from_slice(x);
        point.y[..32].copy_from_slice(&y[0]?);
        Some(point)
    }

    /// From both coordinates, big-endian.
    ///
    /// # Errors
    /// [`KeyError::NotAPoint`].
    pub fn from_coordinates(curve: Curve, x: &[u8], y: &[u8]) -> Result<Self, KeyError> {
        if x.len() != curve.coordinate_len() || y.len() != curve.coordinate_len() {
            return Err(KeyError::NotAPoint(curve));
        }
        let mut sec1 = [4; 97];
        sec1[1..=x.len()].copy_from_slice(x);
        sec1[1 + x.len()..1 + 2 * x.len()].copy_from_slice(y);
        Self::from_sec1(curve, &sec1[..1 + 2 * x.len()])
    }

    /// `octets` are of a point: a tag and two coordinates.
    fn of_uncompressed(curve: Curve, octets: &[u8]) -> Result<Self, KeyError> {
        let len = curve.coordinate_len();
        if octets.len() != 1 + 2 * len {
            return Err(KeyError::NotAPoint(curve));
        }
        let mut point = Self { curve, x: [0; 48], y: [0; 48] };
        point.x[..len].copy_from_slice(&octets[1..=len]);
        point.y[..len].copy_from_slice(&octets[1 + len..]);
        Ok(point)
    }

    /// From a point as it travels.
    ///
    /// # Errors
    /// [`KeyError::NotAPoint`], or [`KeyError::Incomplete`] for an x alone.
    pub fn from_curve_point<const N: usize>(curve: Curve, point: &CurvePoint<N>) -> Result<Self, KeyError> {
        let mut sec1 = [0; 49];
        let x = match point {
            CurvePoint::CompressedY0(x) => (2, x),
            CurvePoint::CompressedY1(x) => (3, x),
            CurvePoint::Uncompressed { x, y } => return Self::from_coordinates(curve, x, y),
            CurvePoint::XOnly(_) | CurvePoint::Fill => return Err(KeyError::Incomplete),
        };
        if N > 48 {
            return Err(KeyError::NotAPoint(curve));
        }
        sec1[0] = x.0;
        sec1[1..=N].copy_from_slice(x.1);
        Self::from_sec1(curve, &sec1[..=N])
    }

    /// From the verification key of a certificate.
    ///
    /// # Errors
    /// As [`PublicPoint::from_curve_point`], and [`KeyError::Unsupported`] for SM2.
    pub fn from_verification_key(key: &PublicVerificationKey) -> Result<Self, KeyError> {
        match key {
            PublicVerificationKey::EcdsaNistP256(point) => Self::from_curve_point(Curve::NistP256, point),
            PublicVerificationKey::EcdsaBrainpoolP256r1(point) => Self::from_curve_point(Curve::BrainpoolP256r1, point),
            PublicVerificationKey::EcdsaBrainpoolP384r1(point) => Self::from_curve_point(Curve::BrainpoolP384r1, point),
            PublicVerificationKey::EcdsaNistP384(point) => Self::from_curve_point(Curve::NistP384, point),
            PublicVerificationKey::EcsigSm2(_) => Err(KeyError::Unsupported("SM2")),
        }
    }

    /// From the encryption key of a certificate.
    ///
    /// # Errors
    /// As [`PublicPoint::from_curve_point`], and [`KeyError::Unsupported`] for SM2 and SM4.
    pub fn from_encryption_key(key: &PublicEncryptionKey) -> Result<Self, KeyError> {
        if key.supported_symm_alg != SymmAlgorithm::Aes128Ccm {
            return Err(KeyError::Unsupported("SM4"));
        }
        match &key.public_key {
            BasePublicEncryptionKey::EciesNistP256(point) => Self::from_curve_point(Curve::NistP256, point),
            BasePublicEncryptionKey::EciesBrainpoolP256r1(point) => {
                Self::from_curve_point(Curve::BrainpoolP256r1, point)
            }
            BasePublicEncryptionKey::EcencSm2(_) => Err(KeyError::Unsupported("SM2")),
        }
    }

    /// Its curve.
    pub fn curve(&self) -> Curve {
        self.curve
    }

    /// The x coordinate, big-endian.
    pub fn x(&self) -> &[u8] {
        &self.x[..self.curve.coordinate_len()]
    }

    /// The y coordinate, big-endian.
    pub fn y(&self) -> &[u8] {
        &self.y[..self.curve.coordinate_len()]
    }

    /// Whether y is odd.
    pub fn y_is_odd(&self) -> bool {
        self.y()[self.curve.coordinate_len() - 1] & 1 == 1
    }

    /// SEC 1, compressed.
    pub fn to_sec1_compressed(&self) -> Vec<u8> {
        let mut octets = vec![2 | u8::from(self.y_is_odd())];
        octets.extend_from_slice(self.x());
        octets
    }

    /// SEC 1, uncompressed.
    pub fn to_sec1_uncompressed(&self) -> Vec<u8> {
        let mut octets = vec![4];
        octets.extend_from_slice(self.x());
        octets.extend_from_slice(self.y());
        octets
    }

    /// As a point of a curve of 256 bits, compressed.
    ///
    /// # Errors
    /// [`KeyError::CurveMismatch`] for a point of a longer one.
    pub fn to_p256_curve_point(&self) -> Result<EccP256CurvePoint, KeyError> {
        let found = self.curve;
        let x = self.x().try_into().map_err(|_| KeyError::CurveMismatch { expected: Curve::NistP256, found })?;
        Ok(compressed(self.y_is_odd(), x))
    }

    /// As the verification key of a certificate, compressed.
    pub fn to_verification_key(&self) -> PublicVerificationKey {
        let odd = self.y_is_odd();
        let mut x = [0; 32];
        x.copy_from_slice(&self.x[..32]);
        match self.curve {
            Curve::NistP256 => PublicVerificationKey::EcdsaNistP256(compressed(odd, x)),
            Curve::BrainpoolP256r1 => PublicVerificationKey::EcdsaBrainpoolP256r1(compressed(odd, x)),
            Curve::BrainpoolP384r1 => PublicVerificationKey::EcdsaBrainpoolP384r1(compressed(odd, self.x)),
            Curve::NistP384 => PublicVerificationKey::EcdsaNistP384(compressed(odd, self.x)),
        }
    }

    /// As the encryption key of a certificate, compressed, with AES.
    ///
    /// # Errors
    /// [`KeyError::Unsupported`] for curves of 384 bits: the standard has no ECIES on them.
    pub fn to_encryption_key(&self) -> Result<PublicEncryptionKey, KeyError> {
        let point = self.to_p256_curve_point().map_err(|_| KeyError::Unsupported("ECIES on a curve of 384 bits"))?;
        let public_key = match self.curve {
            Curve::BrainpoolP256r1 => BasePublicEncryptionKey::EciesBrainpoolP256r1(point),
            _ => BasePublicEncryptionKey::EciesNistP256(point),
        };
        Ok(PublicEncryptionKey { supported_symm_alg: SymmAlgorithm::Aes128Ccm, public_key })
    }
}

fn compressed<const N: usize>(y_is_odd: bool, x: [u8; N]) -> CurvePoint<N> {
    if y_is_odd { CurvePoint::CompressedY1(x) } else { CurvePoint::CompressedY0(x) }
}

impl fmt::Debug for PublicPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.curve, if self.y_is_odd() { "03" } else { "02" })?;
        self.x().iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}
