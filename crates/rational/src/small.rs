//! Fractions of which both terms fit into 128 bits with a sign. What would not fit is `None`.

use std::cmp::Ordering;
use std::num::NonZeroI128;

/// In lowest terms, with a denominator above zero. The least number of 128 bits is no term, since its negative does not fit.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Small {
    numerator: i128,
    // What it cannot be is where a large fraction says that it is one: both forms take 32 bytes.
    denominator: NonZeroI128,
}

const ONE: NonZeroI128 = NonZeroI128::new(1).expect("one is not zero");

impl Small {
    pub(crate) const ZERO: Self = Self { numerator: 0, denominator: ONE };

    pub(crate) const fn whole(value: i64) -> Self {
        Self { numerator: value as i128, denominator: ONE }
    }

    pub(crate) const fn numerator(&self) -> i128 {
        self.numerator
    }

    pub(crate) const fn denominator(&self) -> i128 {
        self.denominator.get()
    }

    /// From terms of which no number above one divides both.
    pub(crate) const fn in_lowest_terms(numerator: i128, denominator: NonZeroI128) -> Option<Self> {
        if numerator == i128::MIN || denominator.get() < 0 { None } else { Some(Self { numerator, denominator }) }
    }

    /// From any terms.
    pub(crate) fn reduced(numerator: i128, denominator: NonZeroI128) -> Option<Self> {
        let divisor = gcd(numerator.unsigned_abs(), denominator.get().unsigned_abs());
        let numerator_abs = quotient(numerator.unsigned_abs(), divisor);
        let denominator_abs = quotient(denominator.get().unsigned_abs(), divisor);
        of_magnitudes((numerator < 0) != (denominator.get() < 0), numerator_abs, denominator_abs)
    }

    pub(crate) fn floor(&self) -> Self {
        if self.denominator == ONE {
            return *self;
        }
        Self { numerator: self.numerator.div_euclid(self.denominator.get()), denominator: ONE }
    }

    pub(crate) fn ceil(&self) -> Self {
        self.negated().floor().negated()
    }

    pub(crate) fn negated(&self) -> Self {
        Self { numerator: -self.numerator, denominator: self.denominator }
    }

    /// `1 / self`; `None` for zero.
    pub(crate) fn inverted(&self) -> Option<Self> {
        let denominator = NonZeroI128::new(self.numerator.abs())?;
        Some(Self { numerator: self.numerator.signum() * self.denominator.get(), denominator })
    }

    /// Knuth, "The Art of Computer Programming", vol. 2, 4.5.1: terms stay as short as they can.
    pub(crate) fn plus(&self, other: &Self) -> Option<Self> {
        let (a, b) = (self.numerator, self.denominator.get());
        let (c, d) = (other.numerator, other.denominator.get());
        if b == d {
            let sum = a.checked_add(c)?;
            if b == 1 {
                return Self::in_lowest_terms(sum, ONE);
            }
            return Self::reduced(sum, self.denominator);
        }
        // What a whole number is added to keeps its denominator.
        if d == 1 {
            return Self::in_lowest_terms(a.checked_add(product(c, b)?)?, self.denominator);
        }
        if b == 1 {
            return Self::in_lowest_terms(product(a, d)?.checked_add(c)?, other.denominator);
        }
        let common = gcd(b.unsigned_abs(), d.unsigned_abs());
        if common == 1 {
            let sum = product(a, d)?.checked_add(product(c, b)?)?;
            return Self::in_lowest_terms(sum, NonZeroI128::new(product(b, d)?)?);
        }
        let b_rest = quotient(b.unsigned_abs(), common) as i128;
        let d_rest = quotient(d.unsigned_abs(), common) as i128;
        let sum = product(a, d_rest)?.checked_add(product(c, b_rest)?)?;
        let divisor = gcd(sum.unsigned_abs(), common);
        let denominator = product(b_rest, quotient(d.unsigned_abs(), divisor) as i128)?;
        of_magnitudes(sum < 0, quotient(sum.unsigned_abs(), divisor), denominator.unsigned_abs())
    }

    pub(crate) fn times(&self, other: &Self) -> Option<Self> {
        let (a, b) = (self.numerator, self.denominator.get());
        let (c, d) = (other.numerator, other.denominator.get());
        if a == 0 || c == 0 {
            return Some(Self::ZERO);
        }
        if b == 1 && d == 1 {
            return Self::in_lowest_terms(product(a, c)?, ONE);
        }
        // Both fractions are in lowest terms, so what can be cut is across.
        let (first, second) = (gcd(a.unsigned_abs(), d.unsigned_abs()), gcd(c.unsigned_abs(), b.unsigned_abs()));
        let numerator = quotient(a.unsigned_abs(), first).checked_mul(quotient(c.unsigned_abs(), second))?;
        let denominator = quotient(b.unsigned_abs(), second).checked_mul(quotient(d.unsigned_abs(), first))?;
        of_magnitudes((a < 0) != (c < 0), numerator, denominator)
    }

    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let (a, b) = (self.numerator, self.denominator.get());
        let (c, d) = (other.numerator, other.denominator.get());
        if b == d || a.signum() != c.signum() {
            return a.cmp(&c);
        }
        if let (Some(one), Some(two)) = (product(a, d), product(c, b)) {
            return one.cmp(&two);
        }
        let magnitudes =
            wide_product(a.unsigned_abs(), d.unsigned_abs()).cmp(&wide_product(c.unsigned_abs(), b.unsigned_abs()));
        if a < 0 { magnitudes.reverse() } else { magnitudes }
    }
}

fn of_magnitudes(is_negative: bool, numerator: u128, denominator: u128) -> Option<Small> {
    let numerator = i128::try_from(numerator).ok()?;
    let denominator = NonZeroI128::new(i128::try_from(denominator).ok()?)?;
    Some(Small { numerator: if is_negative { -numerator } else { numerator }, denominator })
}

/// Most factors are of 64 bits, and then nothing has to be checked.
fn product(a: i128, b: i128) -> Option<i128> {
    let (short_a, short_b) = (a as i64, b as i64);
    if i128::from(short_a) == a && i128::from(short_b) == b {
        return Some(i128::from(short_a) * i128::from(short_b));
    }
    a.checked_mul(b)
}

/// Most divisors are one.
fn quotient(a: u128, divisor: u128) -> u128 {
    if divisor == 1 {
        return a;
    }
    match (u64::try_from(a), u64::try_from(divisor)) {
        (Ok(a), Ok(divisor)) => u128::from(a / divisor),
        _ => a / divisor,
    }
}

/// High and low half.
fn wide_product(a: u128, b: u128) -> (u128, u128) {
    let halves = |x: u128| (x >> 64, x & u128::from(u64::MAX));
    let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
    let low = a_low * b_low;
    let (one, one_carries) = (a_high * b_low).overflowing_add(low >> 64);
    let (middle, two_carries) = one.overflowing_add(a_low * b_high);
    let carried = u128::from(one_carries) + u128::from(two_carries);
    (a_high * b_high + (middle >> 64) + (carried << 64), middle << 64 | low & u128::from(u64::MAX))
}

/// The greatest number that divides both; the other one if one is zero. Stein's binary algorithm, on 64 bits as soon as both
/// fit.
fn gcd(a: u128, b: u128) -> u128 {
    if a == 1 || b == 1 {
        return 1;
    }
    if a == 0 || b == 0 {
        return a | b;
    }
    let twos = (a | b).trailing_zeros();
    let (mut a, mut b) = (a >> a.trailing_zeros(), b >> b.trailing_zeros());
    loop {
        if let (Ok(a), Ok(b)) = (u64::try_from(a), u64::try_from(b)) {
            return u128::from(odd_gcd(a, b)) << twos;
        }
        if a == b {
            return a << twos;
        }
        if a < b {
            (a, b) = (b, a);
        }
        a -= b;
        a >>= a.trailing_zeros();
    }
}

/// Of two odd numbers.
fn odd_gcd(mut a: u64, mut b: u64) -> u64 {
    while a != b {
        let (apart, is_below) = a.overflowing_sub(b);
        b = if is_below { a } else { b };
        a = if is_below { apart.wrapping_neg() } else { apart };
        a >>= a.trailing_zeros();
    }
    a
}
