//! GF(p^2) = GF(p)(i), i^2 = -1.

use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroize;

use crate::fp::{Fp, product, product_of_sums};

/// An element `re + im * i` of GF(p^2).
#[derive(Clone, Copy, Debug, Default, Zeroize)]
pub struct Fp2 {
    /// The part in GF(p).
    pub re: Fp,
    /// The factor of i.
    pub im: Fp,
}

impl Fp2 {
    /// The neutral element of addition.
    pub const ZERO: Self = Self { re: Fp::ZERO, im: Fp::ZERO };
    /// The neutral element of multiplication.
    pub const ONE: Self = Self { re: Fp::ONE, im: Fp::ZERO };

    /// The element `re + im * i`; neither number may exceed p.
    #[must_use]
    pub const fn new(re: u128, im: u128) -> Self {
        Self { re: Fp::new(re), im: Fp::new(im) }
    }

    /// The sum.
    #[inline(always)]
    #[must_use]
    pub const fn add(&self, other: &Self) -> Self {
        Self { re: self.re.add(other.re), im: self.im.add(other.im) }
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
        Self { re: self.re.sub(other.re), im: self.im.sub(other.im) }
    }

    /// The additive inverse.
    #[inline(always)]
    #[must_use]
    pub const fn neg(&self) -> Self {
        Self { re: self.re.neg(), im: self.im.neg() }
    }

    /// The conjugate, which is also the p-th power.
    #[inline(always)]
    #[must_use]
    pub const fn conjugate(&self) -> Self {
        Self { re: self.re, im: self.im.neg() }
    }

    /// The product.
    #[inline(always)]
    #[must_use]
    pub fn mul(&self, other: &Self) -> Self {
        // Karatsuba: three products for four.
        let re = product(self.re, other.re);
        let im = product(self.im, other.im);
        let mixed = product_of_sums((self.re, self.im), (other.re, other.im)).sub(re).sub(im);
        Self { re: re.sub(im).reduce_signed(), im: mixed.reduce() }
    }

    /// The square.
    #[inline(always)]
    #[must_use]
    pub fn square(&self) -> Self {
        Self { re: self.re.add(self.im).mul(self.re.sub(self.im)), im: self.re.add(self.re).mul(self.im) }
    }

    /// `re^2 + im^2`, the product with the conjugate.
    #[must_use]
    pub fn norm(&self) -> Fp {
        product(self.re, self.re).add(product(self.im, self.im)).reduce()
    }

    /// The multiplicative inverse; zero of zero.
    #[must_use]
    pub fn invert(&self) -> Self {
        let inverse = self.norm().invert();
        Self { re: self.re.mul(inverse), im: self.im.neg().mul(inverse) }
    }

    /// Whether this is zero.
    pub fn is_zero(&self) -> Choice {
        self.re.is_zero() & self.im.is_zero()
    }
}

impl ConstantTimeEq for Fp2 {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.re.ct_eq(&other.re) & self.im.ct_eq(&other.im)
    }
}

impl PartialEq for Fp2 {
    fn eq(&self, other: &Self) -> bool {
        self.ct_eq(other).into()
    }
}

impl Eq for Fp2 {}
