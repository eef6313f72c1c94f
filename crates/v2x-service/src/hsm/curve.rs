//! The four curves, as points and signatures cross the seam.

use std::fmt;

use zeroize::Zeroizing;

/// Curves of IEEE 1609.2-2022 and ETSI TS 103 097.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Curve {
    /// secp256r1.
    NistP256,
    /// secp384r1.
    NistP384,
    /// RFC 5639, 256 bits.
    BrainpoolP256r1,
    /// RFC 5639, 384 bits.
    BrainpoolP384r1,
}

/// An affine point, coordinates big-endian and as long as the field. Whether it is on the curve is checked where it is used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublicPoint {
    /// Which curve.
    pub curve: Curve,
    /// x.
    pub x: Vec<u8>,
    /// y.
    pub y: Vec<u8>,
}

/// r and s, big-endian and as long as the order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EcdsaSignature {
    /// Which curve.
    pub curve: Curve,
    /// x coordinate of the nonce point, modulo the order.
    pub r: Vec<u8>,
    /// The other half.
    pub s: Vec<u8>,
}

/// x coordinate of an agreed point.
pub struct SharedX(pub Zeroizing<Vec<u8>>);

impl fmt::Debug for SharedX {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedX(..)")
    }
}

/// All of them, in the order tables show them.
pub const ALL: [Curve; 4] = [Curve::NistP256, Curve::NistP384, Curve::BrainpoolP256r1, Curve::BrainpoolP384r1];

/// As people write it.
#[must_use]
pub const fn name(curve: Curve) -> &'static str {
    match curve {
        Curve::NistP256 => "P-256",
        Curve::NistP384 => "P-384",
        Curve::BrainpoolP256r1 => "brainpoolP256r1",
        Curve::BrainpoolP384r1 => "brainpoolP384r1",
    }
}

/// Length of a coordinate, of a scalar and of the digest that is signed [byte].
#[must_use]
pub const fn byte_len(curve: Curve) -> usize {
    match curve {
        Curve::NistP256 | Curve::BrainpoolP256r1 => 32,
        Curve::NistP384 | Curve::BrainpoolP384r1 => 48,
    }
}

/// Number of a curve where one byte has to say it: key files and the link to a worker.
pub(super) const fn code(curve: Curve) -> u8 {
    match curve {
        Curve::NistP256 => 1,
        Curve::NistP384 => 2,
        Curve::BrainpoolP256r1 => 3,
        Curve::BrainpoolP384r1 => 4,
    }
}

/// The curve of a [`code`].
pub(super) fn of_code(byte: u8) -> Option<Curve> {
    ALL.into_iter().find(|curve| code(*curve) == byte)
}

/// A point of two coordinates of the right length.
pub(super) fn point(curve: Curve, x: &[u8], y: &[u8]) -> Option<PublicPoint> {
    let len = byte_len(curve);
    (x.len() == len && y.len() == len).then(|| PublicPoint { curve, x: x.to_vec(), y: y.to_vec() })
}

/// A signature of two numbers of the right length.
pub(super) fn signature(curve: Curve, r: &[u8], s: &[u8]) -> Option<EcdsaSignature> {
    let len = byte_len(curve);
    (r.len() == len && s.len() == len).then(|| EcdsaSignature { curve, r: r.to_vec(), s: s.to_vec() })
}
