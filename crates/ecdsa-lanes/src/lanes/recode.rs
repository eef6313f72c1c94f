//! Scalars as signed odd digits.
//!
//! An odd number k below 2^(w t - 1) is the sum of t digits d_i 2^(w i), all odd, |d_i| < 2^w. With
//! b = (k - 1) / 2 + 2^(w t - 1), whose w-bit digits are b_i, the digit is d_i = 2 b_i + 1 - 2^w: its sign is b_i's top
//! bit, and the remaining bits, complemented where the sign is minus, number the odd multiples 1, 3, 5, ...
//! No digit is zero, so that no addition is skipped and none meets the point at infinity. (The recoding is that of
//! M. Joye and M. Tunstall, AFRICACRYPT 2009, algorithm 6, put in closed form.)

use core::arch::x86_64::{__m512i, _mm512_mask_xor_epi64, _mm512_test_epi64_mask};

use super::field::Fe;
use super::vector::splat;
use crate::curve::Modulus;

/// The digits of eight scalars, `WIDTH` bits each.
#[derive(Clone, Copy)]
pub(super) struct Digits<M, const WIDTH: u32> {
    pub(super) shifted: Fe<M>,
    /// Lanes whose scalar was even, and was replaced by its negative.
    pub(super) negative: u8,
}

impl<M: Modulus, const WIDTH: u32> Digits<M, WIDTH> {
    /// Number of digits: enough for 256 bits and the sign.
    pub(super) const COUNT: u32 = 256u32.div_ceil(WIDTH) + (256 % WIDTH == 0) as u32;

    /// Of scalars below the order, not in Montgomery's form. Takes the same time for every scalar.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn new(scalar: &Fe<M>) -> Self {
        let negated = Fe::<M>::splat(&M::WORDS).acc().minus(&scalar.acc()).carry();
        let odd = scalar.odd_mask();
        let scalar = negated.select(odd, scalar);
        Self { shifted: scalar.half_plus_power(WIDTH * Self::COUNT - 1), negative: !odd }
    }

    /// Lanes to subtract digit `at` times the point in, and the number of its odd multiple.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn digit(&self, at: u32) -> (u8, __m512i) {
        let window = self.shifted.bits::<WIDTH>(WIDTH * at);
        let minus = !_mm512_test_epi64_mask(window, splat(1 << (WIDTH - 1)));
        let index = _mm512_mask_xor_epi64(window, minus, window, splat((1 << WIDTH) - 1));
        (minus ^ self.negative, core::arch::x86_64::_mm512_and_si512(index, splat((1 << (WIDTH - 1)) - 1)))
    }
}
