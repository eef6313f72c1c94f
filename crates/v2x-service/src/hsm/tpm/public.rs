//! `TPMT_PUBLIC` of keys on curves. [TCG TPM 2.0 Library, Part 2 §12.2.4; TCG Algorithm Registry §6.4]

use super::codec::{Reader, Writer};
use crate::hsm::{Curve, Persistence, PublicPoint, curve};

const ALG_ECC: u16 = 0x0023;
const ALG_NULL: u16 = 0x0010;
const ALG_AES: u16 = 0x0006;
const ALG_CFB: u16 = 0x0043;
const ALG_SHA256: u16 = 0x000B;
const ALG_SHA384: u16 = 0x000C;

const FIXED_TPM: u32 = 1 << 1;
const FIXED_PARENT: u32 = 1 << 4;
const SENSITIVE_DATA_ORIGIN: u32 = 1 << 5;
const USER_WITH_AUTH: u32 = 1 << 6;
const NO_DA: u32 = 1 << 10;
const RESTRICTED: u32 = 1 << 16;
const DECRYPT: u32 = 1 << 17;
const SIGN: u32 = 1 << 18;

/// Whether wrong PINs of a key are left out of the lockout.
const fn lockout(persistence: Persistence) -> u32 {
    match persistence {
        Persistence::Persistent => 0,
        Persistence::Volatile => NO_DA,
    }
}

/// The public part of a key, or a template for one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Public {
    attributes: u32,
    curve: u16,
    x: Vec<u8>,
    y: Vec<u8>,
}

impl Public {
    /// Template of the key that seals others: the TCG's storage root key on P-256.
    pub(super) const fn storage() -> Self {
        let attributes =
            FIXED_TPM | FIXED_PARENT | SENSITIVE_DATA_ORIGIN | USER_WITH_AUTH | NO_DA | RESTRICTED | DECRYPT;
        Self { attributes, curve: number(Curve::NistP256), x: Vec::new(), y: Vec::new() }
    }

    /// Template of a pair that signs and agrees and never leaves this TPM. Wrong PINs of a persistent one count towards the TPM's
    /// lockout; a volatile one is known to the program alone that made it.
    pub(super) fn pair(curve: Curve, persistence: Persistence) -> Self {
        let attributes = FIXED_TPM | FIXED_PARENT | SENSITIVE_DATA_ORIGIN | USER_WITH_AUTH | SIGN | DECRYPT;
        let attributes = attributes | lockout(persistence);
        Self { attributes, curve: number(curve), x: Vec::new(), y: Vec::new() }
    }

    /// Public part of a pair that was made elsewhere: only such a one can be imported, and it could be taken out again by who
    /// has its policy; it has none.
    pub(super) fn imported(point: &PublicPoint, persistence: Persistence) -> Self {
        Self { attributes: USER_WITH_AUTH | SIGN | DECRYPT | lockout(persistence), ..Self::verifier(point) }
    }

    /// A key that only checks signatures.
    pub(super) fn verifier(point: &PublicPoint) -> Self {
        let attributes = USER_WITH_AUTH | SIGN;
        Self { attributes, curve: number(point.curve()), x: point.x().to_vec(), y: point.y().to_vec() }
    }

    pub(super) fn write(&self) -> Writer {
        let head = Writer::default().u16(ALG_ECC).u16(ALG_SHA256).u32(self.attributes).sized(b"");
        // A storage key says how it seals: AES-128 in CFB mode.
        let symmetric = match self.attributes & RESTRICTED {
            0 => head.u16(ALG_NULL),
            _ => head.u16(ALG_AES).u16(128).u16(ALG_CFB),
        };
        symmetric.u16(ALG_NULL).u16(self.curve).u16(ALG_NULL).sized(&self.x).sized(&self.y)
    }

    /// `None` for anything but an unrestricted pair that signs, on a curve this crate knows: keys of others.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        if reader.u16().ok()? != ALG_ECC {
            return None;
        }
        let _name_hash = reader.u16().ok()?;
        let attributes = reader.u32().ok()?;
        let _policy = reader.sized().ok()?;
        // A scheme that is fixed to something else would have more bytes here; such a key is not one of ours.
        let (symmetric, scheme) = (reader.u16().ok()?, reader.u16().ok()?);
        if attributes & RESTRICTED != 0 || attributes & SIGN == 0 || symmetric != ALG_NULL || scheme != ALG_NULL {
            return None;
        }
        let curve = reader.u16().ok()?;
        let _kdf = reader.u16().ok()?;
        let (x, y) = (reader.sized().ok()?.to_vec(), reader.sized().ok()?.to_vec());
        Some(Self { attributes, curve, x, y })
    }

    /// Its point, coordinates filled up to the curve's length.
    pub(super) fn point(&self) -> Option<PublicPoint> {
        let curve = Curve::ALL.into_iter().find(|curve| number(*curve) == self.curve)?;
        curve::point(curve, &fill_up(curve, &self.x)?, &fill_up(curve, &self.y)?)
    }
}

/// Zeros in front, which a TPM may leave out.
pub(super) fn fill_up(curve: Curve, number: &[u8]) -> Option<Vec<u8>> {
    let missing = curve.coordinate_len().checked_sub(number.len())?;
    Some([vec![0; missing].as_slice(), number].concat())
}

/// `TPM_ECC_CURVE`.
pub(super) const fn number(curve: Curve) -> u16 {
    match curve {
        Curve::NistP256 => 0x0003,
        Curve::NistP384 => 0x0004,
        Curve::BrainpoolP256r1 => 0x0030,
        Curve::BrainpoolP384r1 => 0x0031,
    }
}

/// Hash of the signature scheme, as long as the digest.
pub(super) const fn scheme_hash(curve: Curve) -> u16 {
    match curve {
        Curve::NistP256 | Curve::BrainpoolP256r1 => ALG_SHA256,
        Curve::NistP384 | Curve::BrainpoolP384r1 => ALG_SHA384,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_a_pair_and_fills_up_its_coordinates() {
        let points = std::iter::repeat_with(|| curve::generate(Curve::NistP256).unwrap().public_point());
        let point = points.take(20_000).find(|point| point.x()[0] == 0).unwrap();
        let mut public = Public::imported(&point, Persistence::Persistent);
        public.x.remove(0);
        let read = Public::read(&public.write().finish()).unwrap();
        assert_eq!(read, public);
        assert_eq!(read.point(), Some(point));
    }

    #[test]
    fn keys_of_others_are_left_alone() {
        assert_eq!(Public::read(&Public::storage().write().finish()), None);
        let rsa = [0x00, 0x01, 0x00, 0x0B];
        assert_eq!(Public::read(&rsa), None);
        let bytes = Public::pair(Curve::NistP384, Persistence::Persistent).write().finish();
        for len in 0..bytes.len() {
            assert_eq!(Public::read(&bytes[..len]), None, "{len}");
        }
    }
}
