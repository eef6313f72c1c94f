//! A point that is doubled and added to, (X, Y, Z, T) with x = X/Z, y = Y/Z, T = XY/Z on -x^2 + y^2 = 1 + d x^2 y^2.
//!
//! Source: Hisil, Wong, Carter, Dawson, "Twisted Edwards Curves Revisited", ASIACRYPT 2008, section 4: both laws for four
//! processors. The letters are theirs.
#![allow(unsafe_code, reason = "the type is the proof that the processor has the instructions")]

use crate::Ifma;
use crate::four::{Four, lanes, order};

/// A sum of points, as vectors.
pub struct Sum(Four);

impl Ifma {
    /// What `program` makes of the point X, Y, Z, T of `start`.
    #[inline(always)]
    pub fn sum(self, start: &[u64; 16], program: impl FnOnce(&mut Sum)) -> [u64; 16] {
        // SAFETY: `self` exists, so that the processor has the instructions.
        unsafe { sum(start, program) }
    }
}

/// The program becomes a part of this function, so that it calls the laws as one function with the instructions calls another.
#[target_feature(enable = "avx512ifma")]
fn sum(start: &[u64; 16], program: impl FnOnce(&mut Sum)) -> [u64; 16] {
    let mut sum = Sum(Four::from_words(start));
    program(&mut sum);
    sum.0.to_words()
}

impl Sum {
    /// Doubles the sum: four squares, then four products.
    #[inline(always)]
    pub fn double(&mut self) {
        // SAFETY: a sum is made where the processor has the instructions.
        self.0 = unsafe { doubled(self.0) };
    }

    /// Adds the point of which `operand` holds X + Y, Y - X, 2Z and 2dT: twice four products.
    #[inline(always)]
    pub fn add(&mut self, operand: &[u64; 16]) {
        // SAFETY: as in `double`.
        self.0 = unsafe { added(self.0, Four::from_words(operand)) };
    }

    /// Adds the point with Z = 1 of which `operand` holds x + y, y - x and 2dxy.
    #[inline(always)]
    pub fn add_affine(&mut self, operand: &[u64; 12]) {
        // SAFETY: as in `double`.
        self.0 = unsafe { added(self.0, Four::from_words_around_two(operand)) };
    }
}

/// Twice the point, whose T is not read.
#[target_feature(enable = "avx512ifma")]
#[inline]
fn doubled(point: Four) -> Four {
    // X, Y, Z, X + Y, limbs below 2^45 - 16.
    let with_sum =
        point.shuffle::<{ order([0, 1, 2, 0]) }>().add_in(lanes(&[3]), point.shuffle::<{ order([1, 1, 1, 1]) }>());
    // A, B, C / 2, (X + Y)^2.
    let squares = with_sum.square();
    // A + B, B - A, C, (X + Y)^2: that is -H, G, C, E + A + B.
    let others = squares.shuffle::<{ order([1, 0, 2, 3]) }>().negate_in::<1>(lanes(&[1]));
    let half_way = squares.add_in(lanes(&[0, 1, 2]), others);
    // -H, G, C - G, E, which is -H, G, -F, E; limbs below 2^46 - 32.
    let others = half_way.shuffle::<{ order([0, 1, 1, 0]) }>().negate_in::<2>(lanes(&[2, 3]));
    let factors = half_way.add_in(lanes(&[2, 3]), others);
    // -E F, -G H, -F G, -E H: the signs are those of all four coordinates.
    factors.shuffle::<{ order([3, 1, 2, 3]) }>().mul(factors.shuffle::<{ order([2, 0, 1, 0]) }>())
}

/// The sum of the point and the one that `operand` holds: X + Y, Y - X, 2Z, 2dT.
#[target_feature(enable = "avx512ifma")]
#[inline]
fn added(point: Four, operand: Four) -> Four {
    // X + Y, Y - X, Z, T, limbs below 2^45.
    let others = point.shuffle::<{ order([1, 0, 2, 3]) }>().negate_in::<1>(lanes(&[1]));
    let sums = point.add_in(lanes(&[0, 1]), others);
    // B, A, D, C.
    let products = sums.mul(operand);
    // B - A, A + B, D - C, C + D, which is E, H, F, G; limbs below 2^45.
    let others = products.shuffle::<{ order([1, 0, 3, 2]) }>().negate_in::<1>(lanes(&[0, 2]));
    let factors = products.add(others);
    // E F, G H, F G, E H.
    factors.shuffle::<{ order([0, 3, 2, 0]) }>().mul(factors.shuffle::<{ order([2, 1, 3, 1]) }>())
}
