//! GF(p) for the Mersenne prime p = 2^127 - 1.

use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroize;

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
        self.add(other.neg())
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
    pub const fn mul(self, other: Self) -> Self {
        let (x0, x1) = halves(self.0);
        let (y0, y1) = halves(other.0);
        let low = wide(x0, y0);
        // Upper halves have 63 bits: two crossed products fit.
        let middle = wide(x0, y1) + wide(x1, y0);
        let (low, carry) = low.overflowing_add(middle << 64);
        let high = wide(x1, y1) + (middle >> 64) + carry as u128;
        // Quotient and remainder by 2^127; p * p has the quotient p - 1, so their sum stays below 2^128 - 1.
        Self::fold((low & P) + ((high << 1) | (low >> 127)))
    }

    /// The square.
    #[inline(always)]
    #[must_use]
    pub const fn square(self) -> Self {
        let (x0, x1) = halves(self.0);
        let x1_twice = x1 << 1;
        let low = wide(x0, x0);
        let middle = wide(x0, x1_twice);
        let (low, carry) = low.overflowing_add(middle << 64);
        let high_twice = wide(x1, x1_twice) + (((middle >> 64) + carry as u128) << 1);
        Self::fold((low & P) + (high_twice + (low >> 127)))
    }

    /// This element squared `count` times.
    #[inline(always)]
    pub(crate) const fn square_times(self, count: u32) -> Self {
        let mut x = self;
        let mut i = 0;
        while i < count {
            x = x.square();
            i += 1;
        }
        x
    }

    /// This element to the power 2^125 - 1.
    pub(crate) const fn power_2_125_minus_1(self) -> Self {
        // e(n) = 2^n - 1 by e(a + b) = e(a) 2^b + e(b): 1, 2, 3, 5, 10, 15, 30, 60, 120, 125.
        let e1 = self;
        let e2 = e1.square().mul(e1);
        let e3 = e2.square().mul(e1);
        let e5 = e3.square_times(2).mul(e2);
        let e10 = e5.square_times(5).mul(e5);
        let e15 = e10.square_times(5).mul(e5);
        let e30 = e15.square_times(15).mul(e15);
        let e60 = e30.square_times(30).mul(e30);
        let e120 = e60.square_times(60).mul(e60);
        e120.square_times(5).mul(e5)
    }

    /// The multiplicative inverse; zero of zero.
    #[must_use]
    pub const fn invert(self) -> Self {
        // p - 2 = 4 (2^125 - 1) + 1.
        self.power_2_125_minus_1().square_times(2).mul(self)
    }

    /// Whether this is zero.
    pub fn is_zero(&self) -> Choice {
        let (x0, x1) = halves(self.canonical());
        (x0 | x1).ct_eq(&0)
    }
}

/// `x0 * y0 + x1 * y1`, reduced once.
///
/// The one place where products are summed before they are reduced; GF(p^2) multiplies with two of these.
#[inline(always)]
pub(crate) const fn sum_of_products(x: Fp, y: Fp, z: Fp, w: Fp) -> Fp {
    let (x0, x1) = halves(x.0);
    let (y0, y1) = halves(y.0);
    let (z0, z1) = halves(z.0);
    let (w0, w1) = halves(w.0);
    let (low, carry_low) = wide(x0, y0).overflowing_add(wide(z0, w0));
    // Upper halves have 63 bits: two crossed products fit, four may carry.
    let (middle, carry_middle) = (wide(x0, y1) + wide(x1, y0)).overflowing_add(wide(z0, w1) + wide(z1, w0));
    let (low, carry) = low.overflowing_add(middle << 64);
    let high = wide(x1, y1) + wide(z1, w1) + ((middle >> 64) | ((carry_middle as u128) << 64));
    // 2 p * p = 2^255 - 2^129 + 2: with both carries the upper half is at most 2^127 - 2, its double fits.
    let high = high + carry_low as u128 + carry as u128;
    // 2^128 = 2.
    let (sum, carry) = low.overflowing_add(high << 1);
    let sum = (sum & P) + (sum >> 127) + ((carry as u128) << 1);
    Fp::fold(sum)
}

#[inline(always)]
const fn halves(value: u128) -> (u64, u64) {
    (value as u64, (value >> 64) as u64)
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
