//! `a G + b P` for public numbers and points: joint sliding windows in eight dimensions, variable time.
//!
//! Source: Costello, Longa, "SchnorrQ: Schnorr signatures on FourQ", Microsoft Research technical report, 2016; windows:
//! Moeller, "Algorithms for multi-exponentiation", SAC 2001 (interleaving).

use crate::decomposition::decompose;
use crate::endomorphism::{phi_and_psi, psi};
use crate::generated::windows::WINDOWS;
use crate::point::{Cached, CachedAffine, Extended};
use crate::scalar::Scalar;
use crate::table::AffineWords;

/// Digits of a 64-bit number: windows may carry beyond it.
pub(crate) const DIGITS: usize = 66;
/// Width of the base point's windows [bit].
pub(crate) const BASE_WIDTH: u32 = 8;
/// Odd multiples of the base point.
pub(crate) const BASE_ENTRIES: usize = 1 << (BASE_WIDTH - 2);
/// Odd multiples of G, phi(G), psi(G) and psi(phi(G)).
pub(crate) type WindowTable = [[AffineWords; BASE_ENTRIES]; 4];

/// Width of other points' windows [bit].
pub(crate) const POINT_WIDTH: u32 = 4;
/// Odd multiples of another point.
pub(crate) const POINT_ENTRIES: usize = 1 << (POINT_WIDTH - 2);

/// `a G + b point` in variable time; `point` must have order N or be the identity.
#[must_use]
pub fn double_multiply_vartime(a: &Scalar, b: &Scalar, point: &Extended) -> Extended {
    let base_digits = decompose(a.words()).map(|part| WindowDigits::new(part, BASE_WIDTH));
    let point_digits = decompose(b.words()).map(|part| WindowDigits::new(part, POINT_WIDTH));
    let point_tables = point_tables(point);

    let mut sum = Extended::IDENTITY;
    let mut started = false;
    for place in (0..DIGITS).rev() {
        if started {
            sum = sum.double();
        }
        for (digits, table) in point_digits.iter().zip(&point_tables) {
            if let Some((index, negative)) = digits.at(place) {
                let entry = &table[index];
                sum = sum.add(&if negative { entry.neg() } else { *entry });
                started = true;
            }
        }
        for (digits, table) in base_digits.iter().zip(&WINDOWS) {
            if let Some((index, negative)) = digits.at(place) {
                let entry = CachedAffine::from_words(&table[index]);
                sum = sum.add_affine(&if negative { entry.neg() } else { entry });
                started = true;
            }
        }
    }
    sum
}

/// Odd multiples of a point and of its three images.
pub(crate) fn point_tables(point: &Extended) -> [[Cached; POINT_ENTRIES]; 4] {
    let (phi_p, psi_p) = phi_and_psi(point);
    [*point, phi_p, psi_p, psi(&phi_p)].map(|point| odd_multiples(&point))
}

/// P, 3P, 5P, ...
pub(crate) fn odd_multiples<const LEN: usize>(point: &Extended) -> [Cached; LEN] {
    let twice = point.double().to_sum();
    let mut multiples = [point.to_cached(); LEN];
    for i in 1..LEN {
        multiples[i] = twice.add(&multiples[i - 1]).to_cached();
    }
    multiples
}

/// A number as signed odd digits, few of them not zero: width-w non-adjacent form.
pub(crate) struct WindowDigits<const LEN: usize = DIGITS>([i8; LEN]);

impl WindowDigits {
    /// The digits of `number`, odd and below 2^(`width` - 1) in amount; `width` is 2..=8.
    pub(crate) fn new(number: u64, width: u32) -> Self {
        Self::of_u128(u128::from(number), width)
    }
}

impl<const LEN: usize> WindowDigits<LEN> {
    /// The digits of `number`, of which there must be no more than `LEN`.
    pub(crate) fn of_u128(number: u128, width: u32) -> Self {
        let mut digits = [0; LEN];
        let (mut rest, mut place) = (number, 0);
        while rest != 0 {
            let zeros = rest.trailing_zeros();
            rest >>= zeros;
            place += zeros as usize;
            let window = rest as i32 & ((1 << width) - 1);
            let digit = if window >> (width - 1) == 0 { window } else { window - (1 << width) };
            digits[place] = digit as i8;
            let over;
            (rest, over) = rest.overflowing_sub_signed(digit.into());
            if over {
                // A negative digit at place 0 has carried out of 128 bits: 2^128 is all that remains.
                digits[128] = 1;
            }
        }
        Self(digits)
    }

    /// The table index of the digit at `place` and whether it is negative, if it is not zero.
    #[inline(always)]
    pub(crate) fn at(&self, place: usize) -> Option<(usize, bool)> {
        let digit = self.0[place];
        (digit != 0).then(|| (usize::from(digit.unsigned_abs() >> 1), digit < 0))
    }
}
