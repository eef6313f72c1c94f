//! GF(p^2) = GF(p)(i), i^2 = -1.

use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroize;

use crate::field::Field;
use crate::fp::{Fp, product, product_of_sums};

/// An element `re + im * i` of GF(p^2).
///
/// It is kept as words, those of `re` first, each part least significant word first: so assembly and tables take it. The alignment keeps
/// an element within a line of the cache.
#[derive(Clone, Copy, Debug, Default, Zeroize)]
#[repr(align(32))]
pub struct Fp2([u64; 4]);

impl Fp2 {
    /// The neutral element of addition.
    pub const ZERO: Self = Self([0; 4]);
    /// The neutral element of multiplication.
    pub const ONE: Self = Self([1, 0, 0, 0]);

    /// The element `re + im * i`; neither number may exceed p.
    #[must_use]
    pub const fn new(re: u128, im: u128) -> Self {
        Self::from_parts(Fp::new(re), Fp::new(im))
    }

    /// The element `re + im * i`.
    #[inline(always)]
    pub(crate) const fn from_parts(re: Fp, im: Fp) -> Self {
        let (re, im) = (re.as_u128(), im.as_u128());
        Self([re as u64, (re >> 64) as u64, im as u64, (im >> 64) as u64])
    }

    /// The element of these words, each pair of which must not exceed p.
    #[inline(always)]
    pub(crate) const fn from_words(words: [u64; 4]) -> Self {
        Self(words)
    }

    /// The words.
    #[inline(always)]
    pub(crate) const fn words(&self) -> &[u64; 4] {
        &self.0
    }

    /// The part in GF(p).
    #[inline(always)]
    #[must_use]
    pub const fn re(&self) -> Fp {
        Fp::new(self.0[0] as u128 | (self.0[1] as u128) << 64)
    }

    /// The factor of i.
    #[inline(always)]
    #[must_use]
    pub const fn im(&self) -> Fp {
        Fp::new(self.0[2] as u128 | (self.0[3] as u128) << 64)
    }

    /// The sum.
    #[inline(always)]
    #[must_use]
    pub const fn add(&self, other: &Self) -> Self {
        Self::from_parts(self.re().add(other.re()), self.im().add(other.im()))
    }

    /// Twice this element.
    #[inline(always)]
    #[must_use]
    pub const fn double(&self) -> Self {
        self.add(self)
    }

    /// The difference.
    #[inline(always)]
    #[must_use]
    pub const fn sub(&self, other: &Self) -> Self {
        Self::from_parts(self.re().sub(other.re()), self.im().sub(other.im()))
    }

    /// The additive inverse.
    #[inline(always)]
    #[must_use]
    pub const fn neg(&self) -> Self {
        Self::from_parts(self.re().neg(), self.im().neg())
    }

    /// The conjugate, which is also the p-th power.
    #[inline(always)]
    #[must_use]
    pub const fn conjugate(&self) -> Self {
        Self::from_parts(self.re(), self.im().neg())
    }

    /// The product.
    #[inline(always)]
    #[must_use]
    pub fn mul(&self, other: &Self) -> Self {
        // Karatsuba: three products for four.
        let re = product(self.re(), other.re());
        let im = product(self.im(), other.im());
        let mixed = product_of_sums((self.re(), self.im()), (other.re(), other.im())).sub(re).sub(im);
        Self::from_parts(re.sub(im).reduce_signed(), mixed.reduce())
    }

    /// The square.
    #[inline(always)]
    #[must_use]
    pub fn square(&self) -> Self {
        let (re, im) = (self.re(), self.im());
        Self::from_parts(re.add(im).mul(re.sub(im)), re.add(re).mul(im))
    }

    /// `re^2 + im^2`, the product with the conjugate.
    #[must_use]
    pub fn norm(&self) -> Fp {
        product(self.re(), self.re()).add(product(self.im(), self.im())).reduce()
    }

    /// The multiplicative inverse; zero of zero.
    #[must_use]
    pub fn invert<F: Field>(&self, field: F) -> Self {
        let inverse = self.norm().invert(field);
        Self::from_parts(field.mul_real(self.re(), inverse), field.mul_real(self.im().neg(), inverse))
    }

    /// Whether this is zero.
    pub fn is_zero(&self) -> Choice {
        self.re().is_zero() & self.im().is_zero()
    }
}

impl ConstantTimeEq for Fp2 {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.re().ct_eq(&other.re()) & self.im().ct_eq(&other.im())
    }
}

impl PartialEq for Fp2 {
    fn eq(&self, other: &Self) -> bool {
        self.ct_eq(other).into()
    }
}

impl Eq for Fp2 {}
