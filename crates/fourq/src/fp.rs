//! GF(p) for the Mersenne prime p = 2^127 - 1.

use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroize;

use crate::field::Field;

/// The prime, 2^127 - 1, which is also the mask of an element's bits.
pub(crate) const P: u128 = u128::MAX >> 1;

/// An element of GF(p): a number in `0..=p`, so that zero has two forms and every value fits 127 bits.
///
/// Only [`Fp::canonical`] tells the two zeros apart from the outside; every operation accepts and may give either.
#[derive(Clone, Copy, Debug, Default, Zeroize)]
pub struct Fp(u128);

impl Fp {
    /// The neutral element of addition.
    pub const ZERO: Self = Self(0);
    /// The neutral element of multiplication.
    pub const ONE: Self = Self(1);

    /// The element `value`, which must not exceed p.
    pub(crate) const fn new(value: u128) -> Self {
        debug_assert!(value <= P);
        Self(value)
    }

    /// The element whose canonical number is `value`, if it is one: less than p.
    #[must_use]
    pub fn from_canonical(value: u128) -> Option<Self> {
        (value < P).then_some(Self(value))
    }

    /// The number in `0..p` of this element.
    #[must_use]
    pub const fn canonical(self) -> u128 {
        // p itself becomes zero: only its successor has bit 127 set.
        let carry = (self.0 + 1) >> 127;
        (self.0 + carry) & P
    }

    /// The number in `0..=p` as it stands.
    #[inline(always)]
    pub(crate) const fn as_u128(self) -> u128 {
        self.0
    }

    /// `value` modulo p; `value` may have all 128 bits.
    #[inline(always)]
    pub(crate) const fn fold(value: u128) -> Self {
        // 2^127 = 1; the sum is at most p unless value is 2^128 - 1, which no caller forms.
        debug_assert!(value < u128::MAX);
        Self((value & P) + (value >> 127))
    }

    /// The sum.
    #[inline(always)]
    #[must_use]
    pub const fn add(self, other: Self) -> Self {
        Self::fold(self.0 + other.0)
    }

    /// The difference.
    #[inline(always)]
    #[must_use]
    pub const fn sub(self, other: Self) -> Self {
        // A negative difference in two's complement has bit 127 set: without it, it is 2^127 more, one more than p more.
        let difference = self.0.wrapping_sub(other.0);
        Self((difference & P) - (difference >> 127))
    }

    /// The additive inverse.
    #[inline(always)]
    #[must_use]
    pub const fn neg(self) -> Self {
        // p - x for x in 0..=p borrows nowhere, so it is the complement of 127 bits.
        Self(self.0 ^ P)
    }

    /// Half of this element.
    #[must_use]
    pub const fn half(self) -> Self {
        // Multiplication by 2^126 = 1/2 turns the 127 bits by one.
        Self((self.0 >> 1) | ((self.0 & 1) << 126))
    }

    /// The product.
    #[inline(always)]
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "named like the other operations, some of which are const")]
    pub fn mul(self, other: Self) -> Self {
        product(self, other).reduce_square()
    }

    /// The square.
    #[inline(always)]
    #[must_use]
    pub fn square(self) -> Self {
        let (x0, x1) = halves(self.0);
        let x1_twice = x1 << 1;
        let low = wide(x0, x0);
        let middle = wide(x0, x1_twice) + (low >> 64);
        let high = wide(x1, x1) + (middle >> 64);
        Wide { low: join(low as u64, middle as u64), high }.reduce_square()
    }

    /// This element to the power 2^125 - 1.
    pub(crate) fn power_2_125_minus_1<F: Field>(self, field: F) -> Self {
        // e(n) = 2^n - 1 by e(a + b) = e(a) 2^b + e(b): 1, 2, 3, 5, 10, 15, 30, 60, 120, 125.
        let shifted = |x, places, y| field.mul_real(field.square_real_times(x, places), y);
        let e1 = self;
        let e2 = shifted(e1, 1, e1);
        let e3 = shifted(e2, 1, e1);
        let e5 = shifted(e3, 2, e2);
        let e10 = shifted(e5, 5, e5);
        let e15 = shifted(e10, 5, e5);
        let e30 = shifted(e15, 15, e15);
        let e60 = shifted(e30, 30, e30);
        let e120 = shifted(e60, 60, e60);
        shifted(e120, 5, e5)
    }

    /// The multiplicative inverse; zero of zero.
    #[must_use]
    pub fn invert<F: Field>(self, field: F) -> Self {
        // p - 2 = 4 (2^125 - 1) + 1.
        field.mul_real(field.square_real_times(self.power_2_125_minus_1(field), 2), self)
    }

    /// Whether this is zero.
    pub fn is_zero(&self) -> Choice {
        let (x0, x1) = halves(self.canonical());
        (x0 | x1).ct_eq(&0)
    }
}

/// A number of 256 bits on its way to be reduced; negative ones in two's complement.
///
/// GF(p^2) adds and subtracts these, so that it reduces twice where it multiplies three times.
#[derive(Clone, Copy)]
pub(crate) struct Wide {
    low: u128,
    high: u128,
}

impl Wide {
    /// The sum modulo 2^256.
    #[inline(always)]
    pub(crate) fn add(self, other: Self) -> Self {
        let (low, carry) = self.low.overflowing_add(other.low);
        Self { low, high: self.high.wrapping_add(other.high).wrapping_add(carry.into()) }
    }

    /// The difference modulo 2^256.
    #[inline(always)]
    pub(crate) fn sub(self, other: Self) -> Self {
        let (low, borrow) = self.low.overflowing_sub(other.low);
        Self { low, high: self.high.wrapping_sub(other.high).wrapping_sub(borrow.into()) }
    }

    /// The lower 127 bits and the 128 above them.
    #[inline(always)]
    fn split(self) -> (u128, u128) {
        (self.low & P, self.high << 1 | self.low >> 127)
    }

    /// This number modulo p; it must be at most p * p.
    #[inline(always)]
    pub(crate) fn reduce_square(self) -> Fp {
        // 2^127 = 1. The upper part of p * p is p - 1: the sum stays below 2^128 - 1.
        let (low, high) = self.split();
        Fp::fold(low + high)
    }

    /// This number modulo p; it must be at most 2 p * p.
    #[inline(always)]
    pub(crate) fn reduce(self) -> Fp {
        // The upper part of 2 p * p is 2^128 - 4, of which 2^127 counts for one.
        let (low, high) = self.split();
        Fp::fold(low + (high & P) + (high >> 127))
    }

    /// This number modulo p; it must lie between -p * p and p * p.
    #[inline(always)]
    pub(crate) fn reduce_signed(self) -> Fp {
        // Bits 254 and 255 are both set if it is negative and clear otherwise, so that they stand for minus 2^254, which
        // is minus one. They are set only where the bits below them are not all clear.
        let (low, high) = self.split();
        Fp::fold(low + (high & P) - (high >> 127))
    }
}

/// The product of two elements, not reduced.
#[inline(always)]
pub(crate) fn product(x: Fp, y: Fp) -> Wide {
    let (x0, x1) = halves(x.0);
    let (y0, y1) = halves(y.0);
    let low = wide(x0, y0);
    // Upper halves have 63 bits: two crossed products fit.
    let middle = wide(x0, y1) + (low >> 64) + wide(x1, y0);
    let high = wide(x1, y1) + (middle >> 64);
    Wide { low: join(low as u64, middle as u64), high }
}

/// The product of two sums of two elements each, neither the sums nor the product reduced.
#[inline(always)]
pub(crate) fn product_of_sums(x: (Fp, Fp), y: (Fp, Fp)) -> Wide {
    // Twice p fits 128 bits.
    let (x0, x1) = halves(x.0.0 + x.1.0);
    let (y0, y1) = halves(y.0.0 + y.1.0);
    let low = wide(x0, y0);
    let middle = wide(x0, y1) + (low >> 64);
    let middle_again = wide(x1, y0) + (middle as u64 as u128);
    let high = wide(x1, y1) + (middle >> 64) + (middle_again >> 64);
    Wide { low: join(low as u64, middle_again as u64), high }
}

#[inline(always)]
const fn halves(value: u128) -> (u64, u64) {
    (value as u64, (value >> 64) as u64)
}

#[inline(always)]
const fn join(low: u64, high: u64) -> u128 {
    low as u128 | (high as u128) << 64
}

#[inline(always)]
const fn wide(x: u64, y: u64) -> u128 {
    x as u128 * y as u128
}

impl ConstantTimeEq for Fp {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.sub(*other).is_zero()
    }
}

impl PartialEq for Fp {
    fn eq(&self, other: &Self) -> bool {
        self.ct_eq(other).into()
    }
}

impl Eq for Fp {}
