//! What is to be verified, decompressed or signed. All numbers are 32 bytes, big-endian.

use crate::curve::Curve;

/// A signature to verify.
#[derive(Clone, Copy, Debug)]
pub struct Verification<'a> {
    /// The curve of the key.
    pub curve: Curve,
    /// Leftmost 256 bits of the message's digest.
    pub digest: &'a [u8; 32],
    /// The signature's r. IEEE 1609.2 calls it rSig, an x coordinate only.
    pub r: &'a [u8; 32],
    /// The signature's s.
    pub s: &'a [u8; 32],
    /// x of the public key.
    pub public_x: &'a [u8; 32],
    /// y of the public key.
    pub public_y: &'a [u8; 32],
}

/// A compressed point: x, and whether y is odd.
#[derive(Clone, Copy, Debug)]
pub struct CompressedPoint<'a> {
    /// The curve.
    pub curve: Curve,
    /// x of the point.
    pub x: &'a [u8; 32],
    /// Whether y is odd.
    pub y_is_odd: bool,
}

/// A digest to sign.
#[derive(Clone, Copy)]
pub struct Signing<'a> {
    /// The curve of the key.
    pub curve: Curve,
    /// Leftmost 256 bits of the message's digest.
    pub digest: &'a [u8; 32],
    /// The private key, 1 to the order less one.
    pub secret: &'a [u8; 32],
    /// Further input of the nonce's generator (RFC 6979 §3.6): empty for a deterministic signature, or random bytes.
    pub entropy: &'a [u8],
}

impl core::fmt::Debug for Signing<'_> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Signing").field("curve", &self.curve).finish_non_exhaustive()
    }
}

/// A signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    /// x of the nonce's point, modulo the order.
    pub r: [u8; 32],
    /// The other half, anywhere from 1 to the order less one.
    pub s: [u8; 32],
}
