//! Exact fractions. Most fit into two numbers of 128 bits and cost a few steps of the processor; those that do not are kept
//! at any length.
//!
//! This crate does not round, and it approximates only where a figure is shown ([`Rational::to_f64`]).
//!
//! [`Rational`] is in lowest terms and has one representation for each value, so that equality, order and hash are those of
//! the number. No function here is generic: they are compiled once, with this crate's optimisation, and not anew in each
//! crate that computes.
//!
//! ```
//! use chronoseal_rational::Rational;
//!
//! let third = Rational::new(1, 3);
//! assert_eq!(&third + &third + third, Rational::from(1i64));
//!
//! let large = Rational::from(i64::MAX).pow(3);
//! assert_eq!(&large / &large, Rational::from(1i64));
//! ```

mod operators;
mod small;

use std::cmp::Ordering;
use std::fmt;
use std::num::NonZeroI128;
use std::str::FromStr;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};

use small::Small;

/// An exact fraction in lowest terms, whose denominator is above zero.
#[derive(PartialEq, Eq, Hash)]
pub struct Rational(Form);

/// A value that fits is always small, so that each value has one form.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Form {
    Small(Small),
    Large(Box<BigRational>),
}

/// A text that is no fraction, `[-]DIGITS[/[-]DIGITS]`, or one that divides by zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected a whole number or a fraction such as -5/3, whose denominator is not zero")]
pub struct ParseRationalError;

/// A fraction that is not whole, or has no place in the type of integers that was asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("this number is not whole, or is out of range")]
pub struct NotAnInteger;

impl Rational {
    /// Zero.
    pub const ZERO: Self = Self(Form::Small(Small::ZERO));

    /// Zero.
    pub const fn zero() -> Self {
        Self::ZERO
    }

    /// `numerator / denominator`.
    ///
    /// # Panics
    /// If the denominator is zero.
    #[inline(never)]
    pub fn new(numerator: i128, denominator: i128) -> Self {
        match NonZeroI128::new(denominator) {
            None => panic!("a denominator is not zero"),
            Some(denominator) => Small::reduced(numerator, denominator).map_or_else(
                || Self::of_big(BigRational::new(numerator.into(), denominator.get().into())),
                Self::of_small,
            ),
        }
    }

    /// True for zero.
    pub const fn is_zero(&self) -> bool {
        matches!(&self.0, Form::Small(small) if small.numerator() == 0)
    }

    /// True above zero.
    #[inline(never)]
    pub fn is_positive(&self) -> bool {
        match &self.0 {
            Form::Small(small) => small.numerator() > 0,
            Form::Large(large) => large.is_positive(),
        }
    }

    /// True below zero.
    #[inline(never)]
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Form::Small(small) => small.numerator() < 0,
            Form::Large(large) => large.is_negative(),
        }
    }

    /// The greatest whole number that is not above this.
    #[must_use]
    #[inline(never)]
    pub fn floor(&self) -> Self {
        match &self.0 {
            Form::Small(small) => Self::of_small(small.floor()),
            Form::Large(large) => Self::of_big(large.floor()),
        }
    }

    /// The least whole number that is not below this.
    #[must_use]
    #[inline(never)]
    pub fn ceil(&self) -> Self {
        match &self.0 {
            Form::Small(small) => Self::of_small(small.ceil()),
            Form::Large(large) => Self::of_big(large.ceil()),
        }
    }

    /// So many times itself; a negative exponent divides.
    ///
    /// # Panics
    /// If zero is raised to a negative power.
    #[must_use]
    pub fn pow(&self, exponent: i32) -> Self {
        Self::of_big(self.to_big().pow(exponent))
    }

    /// The nearest number in floating point, for a figure that is shown.
    pub fn to_f64(&self) -> f64 {
        self.to_big().to_f64().unwrap_or(f64::NAN)
    }

    const fn of_small(small: Small) -> Self {
        Self(Form::Small(small))
    }

    /// From a fraction in lowest terms.
    #[cold]
    fn of_big(big: BigRational) -> Self {
        let small = || Small::in_lowest_terms(big.numer().to_i128()?, NonZeroI128::new(big.denom().to_i128()?)?);
        match small() {
            Some(small) => Self::of_small(small),
            None => Self(Form::Large(Box::new(big))),
        }
    }

    #[cold]
    fn to_big(&self) -> BigRational {
        match &self.0 {
            Form::Small(small) => BigRational::new_raw(small.numerator().into(), small.denominator().into()),
            Form::Large(large) => (**large).clone(),
        }
    }

    fn whole(&self) -> Option<i128> {
        match &self.0 {
            Form::Small(small) => (small.denominator() == 1).then(|| small.numerator()),
            Form::Large(large) if large.is_integer() => large.numer().to_i128(),
            Form::Large(_) => None,
        }
    }
}

impl Clone for Rational {
    // What is derived would be compiled in each crate that clones.
    #[inline(never)]
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl Default for Rational {
    fn default() -> Self {
        Self::ZERO
    }
}

impl Ord for Rational {
    #[inline(never)]
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Form::Small(a), Form::Small(b)) => a.compare(b),
            _ => self.to_big().cmp(&other.to_big()),
        }
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<i64> for Rational {
    fn from(value: i64) -> Self {
        Self::of_small(Small::whole(value))
    }
}

impl From<i128> for Rational {
    fn from(value: i128) -> Self {
        Self::new(value, 1)
    }
}

impl TryFrom<Rational> for i128 {
    type Error = NotAnInteger;

    fn try_from(value: Rational) -> Result<Self, NotAnInteger> {
        value.whole().ok_or(NotAnInteger)
    }
}

impl TryFrom<Rational> for i64 {
    type Error = NotAnInteger;

    fn try_from(value: Rational) -> Result<Self, NotAnInteger> {
        value.whole().and_then(|whole| whole.try_into().ok()).ok_or(NotAnInteger)
    }
}

impl TryFrom<Rational> for u64 {
    type Error = NotAnInteger;

    fn try_from(value: Rational) -> Result<Self, NotAnInteger> {
        value.whole().and_then(|whole| whole.try_into().ok()).ok_or(NotAnInteger)
    }
}

impl FromStr for Rational {
    type Err = ParseRationalError;

    fn from_str(text: &str) -> Result<Self, ParseRationalError> {
        BigRational::from_str(text).map(Self::of_big).map_err(|_| ParseRationalError)
    }
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.to_big(), f)
    }
}

impl fmt::Debug for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Rational> for BigRational {
    fn from(value: Rational) -> Self {
        value.to_big()
    }
}

impl From<BigRational> for Rational {
    /// Whatever its terms are, they become the lowest.
    fn from(value: BigRational) -> Self {
        let (numerator, denominator): (BigInt, BigInt) = value.into();
        Self::of_big(BigRational::new(numerator, denominator))
    }
}
