//! Points as 32 bytes: y, and in the last bit which of the two x.
//!
//! Source: draft-ladd-cfrg-4q, "Representation of Curve Points" and appendix "Point Decompression"; for the square root,
//! Hamburg, "Fast and compact elliptic-curve cryptography", eprint 2012/309.

use subtle::ConstantTimeEq;

use crate::error::EncodingError;
use crate::field::Field;
use crate::fp::{Fp, P};
use crate::fp2::Fp2;
use crate::point::{Affine, D};

/// The bit above y's second half says which x; the one above its first half is reserved.
const TOP_BIT: u8 = 0x80;

impl Fp2 {
    /// 32 bytes: the real part, then the imaginary part, least significant byte first.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&self.re().canonical().to_le_bytes());
        bytes[16..].copy_from_slice(&self.im().canonical().to_le_bytes());
        bytes
    }

    /// Whether this element is greater than its negative, comparing real parts, then imaginary parts. Constant time.
    fn sign(&self) -> u8 {
        // A number in 1..p is greater than p - itself exactly if its bit 126 is set.
        let (re, im) = (self.re().canonical(), self.im().canonical());
        let re_is_zero = self.re().is_zero().unwrap_u8();
        ((re >> 126) as u8) | (re_is_zero & (im >> 126) as u8)
    }
}

impl Affine {
    /// The encoding, 32 bytes; constant time.
    #[must_use]
    pub fn encode(&self) -> [u8; 32] {
        let mut bytes = self.y.to_bytes();
        bytes[31] |= self.x.sign() << 7;
        bytes
    }

    /// The point `bytes` encode.
    ///
    /// # Errors
    /// [`EncodingError`], which says what no encoder writes or that there is no such point.
    pub fn decode_vartime<F: Field>(bytes: &[u8; 32], field: F) -> Result<Self, EncodingError> {
        if bytes[15] & TOP_BIT != 0 {
            return Err(EncodingError::ReservedBit);
        }
        let half = |start| u128::from_le_bytes(core::array::from_fn(|i| bytes[start + i]));
        let sign = bytes[31] >> 7;
        let re = Fp::from_canonical(half(0)).ok_or(EncodingError::NotCanonical)?;
        let im = Fp::from_canonical(half(16) & P).ok_or(EncodingError::NotCanonical)?;
        let y = Fp2::from_parts(re, im);
        let x = recover_x_vartime(&y, field).ok_or(EncodingError::NotOnCurve)?;
        if bool::from(x.is_zero()) && sign != 0 {
            return Err(EncodingError::SignOfZero);
        }
        let x = if x.sign() == sign { x } else { x.neg() };
        Ok(Self { x, y })
    }
}

/// One of the two x with (x, y) on the curve, if there are any.
fn recover_x_vartime<F: Field>(y: &Fp2, field: F) -> Option<Fp2> {
    // x^2 = u / v; v is never zero, because d is no square.
    let yy = field.square(y);
    let u = yy.sub(&Fp2::ONE);
    let v = field.mul(&D, &yy).add(&Fp2::ONE);

    // u / v = (t0 + t1 i) / t2 over GF(p).
    let t01 = field.mul(&u, &v.conjugate());
    let (t0, t1, t2) = (t01.re(), t01.im(), v.norm());
    // The norm's square root; p = 3 mod 4 makes it a power, 2^125.
    let root = field.square_real_times(t01.norm(), 125);
    let twice = |a: Fp| a.add(a);
    let t = match twice(t0.add(root)) {
        t if t == Fp::ZERO => twice(t0.sub(root)),
        t => t,
    };
    let times = |x, y| field.mul_real(x, y);
    let a = times(t, times(times(t2, t2), t2)).power_2_125_minus_1(field);
    let a = times(a, t2);
    let b = times(a, t);
    let (half, other) = (b.half(), times(a, t1));
    let x = if times(t2, times(b, b)) == t { Fp2::from_parts(half, other) } else { Fp2::from_parts(other, half) };
    // Which of x and its conjugate, if any, is seen from the equation alone: v x^2 = u.
    let xx = field.square(&x);
    [(x, xx), (x.conjugate(), xx.conjugate())]
        .into_iter()
        .find(|(_, xx)| field.mul(&v, xx).ct_eq(&u).into())
        .map(|(x, _)| x)
}
