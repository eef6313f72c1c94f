//! Signatures as two numbers.

use super::{Curve, KeyError};
use crate::types::{CurvePoint, EcdsaSignatureValue, Signature};

/// r and s of ECDSA on a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EcdsaSignature {
    curve: Curve,
    r: [u8; 48],
    s: [u8; 48],
}

impl EcdsaSignature {
    /// From r and s one after the other, big-endian, each as long as the curve's order.
    ///
    /// # Errors
    /// [`KeyError::Unsupported`] for another length.
    pub fn from_octets(curve: Curve, octets: &[u8]) -> Result<Self, KeyError> {
        let len = curve.coordinate_len();
        if octets.len() != 2 * len {
            return Err(KeyError::Unsupported("a signature that is not as long as its curve makes it"));
        }
        let mut signature = Self { curve, r: [0; 48], s: [0; 48] };
        signature.r[..len].copy_from_slice(&octets[..len]);
        signature.s[..len].copy_from_slice(&octets[len..]);
        Ok(signature)
    }

    /// From a signature as it travels; of r only the x coordinate counts.
    ///
    /// # Errors
    /// [`KeyError::Incomplete`] if there is no r, [`KeyError::Unsupported`] for SM2.
    pub fn from_signature(signature: &Signature) -> Result<Self, KeyError> {
        fn of<const N: usize>(curve: Curve, value: &EcdsaSignatureValue<N>) -> Result<EcdsaSignature, KeyError> {
            let mut signature = EcdsaSignature { curve, r: [0; 48], s: [0; 48] };
            signature.r[..N].copy_from_slice(value.r_sig.x().ok_or(KeyError::Incomplete)?);
            signature.s[..N].copy_from_slice(&value.s_sig);
            Ok(signature)
        }
        match signature {
            Signature::EcdsaNistP256(value) => of(Curve::NistP256, value),
            Signature::EcdsaBrainpoolP256r1(value) => of(Curve::BrainpoolP256r1, value),
            Signature::EcdsaBrainpoolP384r1(value) => of(Curve::BrainpoolP384r1, value),
            Signature::EcdsaNistP384(value) => of(Curve::NistP384, value),
            Signature::Sm2 { .. } => Err(KeyError::Unsupported("SM2")),
        }
    }

    /// As it travels, with an r that is x-only.
    pub fn to_signature(&self) -> Signature {
        fn value<const N: usize>(r: &[u8; 48], s: &[u8; 48]) -> EcdsaSignatureValue<N> {
            let mut value = EcdsaSignatureValue { r_sig: CurvePoint::Fill, s_sig: [0; N] };
            let mut x = [0; N];
            x.copy_from_slice(&r[..N]);
            value.r_sig = CurvePoint::XOnly(x);
            value.s_sig.copy_from_slice(&s[..N]);
            value
        }
        let Self { curve, r, s } = self;
        match curve {
            Curve::NistP256 => Signature::EcdsaNistP256(value(r, s)),
            Curve::BrainpoolP256r1 => Signature::EcdsaBrainpoolP256r1(value(r, s)),
            Curve::BrainpoolP384r1 => Signature::EcdsaBrainpoolP384r1(value(r, s)),
            Curve::NistP384 => Signature::EcdsaNistP384(value(r, s)),
        }
    }

    /// Its curve.
    pub fn curve(&self) -> Curve {
        self.curve
    }

    /// r, big-endian.
    pub fn r(&self) -> &[u8] {
        &self.r[..self.curve.coordinate_len()]
    }

    /// s, big-endian.
    pub fn s(&self) -> &[u8] {
        &self.s[..self.curve.coordinate_len()]
    }

    /// r and s one after the other, in the first of the octets, and how many those are.
    pub(crate) fn to_octets(self) -> ([u8; 96], usize) {
        let len = self.curve.coordinate_len();
        let mut octets = [0; 96];
        octets[..len].copy_from_slice(self.r());
        octets[len..2 * len].copy_from_slice(self.s());
        (octets, 2 * len)
    }
}
