//! Eight numbers modulo a prime at once, in five limbs of 52 bits, in Montgomery's form with R = 2^260.
//!
//! A [`Number`] is ready to be multiplied. The instructions read no more than the low 52 bits of a limb, so that what a
//! product or a sum leaves behind, an [`Acc`] whose limbs overlap and may be negative, has to be carried first. Sums are
//! taken before carrying, and so cost one instruction a limb; a sum of products is reduced once.
//!
//! No sum is brought below the prime. A prime here leaves at least four bits of the 260 free, and the product of
//! numbers below `a` and `b` times the prime is below `1 + a b / 16` times the prime: comments in [`point`](super::point)
//! keep the account, in units of the prime. What is carried must not be negative and must be below 16.
#![expect(clippy::needless_range_loop, reason = "limbs are numbered, in several arrays at once")]

use core::arch::x86_64::{
    __m512i, __mmask8, _mm512_add_epi64, _mm512_and_si512, _mm512_cmplt_epi64_mask, _mm512_madd52hi_epu64,
    _mm512_madd52lo_epu64, _mm512_mask_blend_epi64, _mm512_mask_sub_epi64, _mm512_or_si512, _mm512_permutexvar_epi64,
    _mm512_setzero_si512, _mm512_slli_epi64, _mm512_sllv_epi64, _mm512_srai_epi64, _mm512_srli_epi64,
    _mm512_srlv_epi64, _mm512_sub_epi64, _mm512_test_epi64_mask,
};
use core::marker::PhantomData;

use super::vector::{load, splat};
use crate::bignum::{self, LIMB_MASK, Words};
use crate::curve::Modulus;

/// Eight numbers ready to be multiplied. If not `CLEAN`, bits above the 52nd of a limb mean nothing, and multiplying is
/// all one can do.
#[derive(Clone, Copy)]
pub(super) struct Number<M, const CLEAN: bool>([__m512i; 5], PhantomData<M>);

/// Eight numbers with carried limbs.
pub(super) type Fe<M> = Number<M, true>;

/// Eight numbers good for products only; a quarter cheaper to carry.
pub(super) type Factor<M> = Number<M, false>;

/// Eight sums with limbs yet to be carried.
#[derive(Clone, Copy)]
pub(super) struct Acc<M>([__m512i; 5], PhantomData<M>);

/// Eight products yet to be reduced, in ten limbs yet to be carried.
#[derive(Clone, Copy)]
pub(super) struct Columns<M>([__m512i; 10], PhantomData<M>);

impl<M: Modulus, const CLEAN: bool> Number<M, CLEAN> {
    /// `self * other`.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn product<const OTHER: bool>(&self, other: &Number<M, OTHER>) -> Columns<M> {
        Columns([_mm512_setzero_si512(); 10], PhantomData).plus_product(self, other)
    }

    /// `self * self`.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn square_product(&self) -> Columns<M> {
        let mut columns = [_mm512_setzero_si512(); 10];
        for i in 0..5 {
            for j in i + 1..5 {
                columns[i + j] = _mm512_madd52lo_epu64(columns[i + j], self.0[i], self.0[j]);
                columns[i + j + 1] = _mm512_madd52hi_epu64(columns[i + j + 1], self.0[i], self.0[j]);
            }
        }
        for column in &mut columns[1..9] {
            *column = _mm512_add_epi64(*column, *column);
        }
        for i in 0..5 {
            columns[2 * i] = _mm512_madd52lo_epu64(columns[2 * i], self.0[i], self.0[i]);
            columns[2 * i + 1] = _mm512_madd52hi_epu64(columns[2 * i + 1], self.0[i], self.0[i]);
        }
        Columns(columns, PhantomData)
    }

    /// `self * other / R`.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn times<const OTHER: bool>(&self, other: &Number<M, OTHER>) -> Acc<M> {
        self.product(other).reduce()
    }

    /// `self * self / R`.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn squared(&self) -> Acc<M> {
        self.square_product().reduce()
    }

    /// `self * other / R`, carried.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn mul<const OTHER: bool>(&self, other: &Number<M, OTHER>) -> Factor<M> {
        self.times(other).carry_factor()
    }

    /// `self * self / R`, carried.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn square(&self) -> Factor<M> {
        self.squared().carry_factor()
    }

    /// For products only.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn factor(&self) -> Factor<M> {
        Number(self.0, PhantomData)
    }

    /// Without what is above the 52nd bit of a limb.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn clean(&self) -> Fe<M> {
        let mask = splat(LIMB_MASK);
        let mut out = self.0;
        for limb in &mut out[..4] {
            *limb = _mm512_and_si512(*limb, mask);
        }
        Number(out, PhantomData)
    }

    /// Squared `count` times.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn square_times(&self, count: u32) -> Factor<M> {
        let mut out = self.factor();
        for _ in 0..count {
            out = out.square();
        }
        out
    }

    /// To the power of a number everybody knows, four bits at a time; the time depends on nothing else.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn power(&self, exponent: &Words) -> Factor<M> {
        let powers = self.powers();
        let mut out = Self::one().factor();
        for digit in digits(exponent) {
            out = out.square_times(4);
            if digit != 0 {
                out = out.mul(&powers[digit]);
            }
        }
        out
    }

    /// The first sixteen powers.
    #[target_feature(enable = "avx512ifma")]
    fn powers(&self) -> [Factor<M>; 16] {
        let mut powers = [self.factor(); 16];
        powers[0] = Self::one().factor();
        for at in 2..16 {
            powers[at] = if at % 2 == 0 { powers[at / 2].square() } else { powers[at - 1].mul(self) };
        }
        powers
    }

    /// `1 / self`, zero for zero (Fermat).
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn invert(&self) -> Factor<M> {
        self.power(&M::MINUS_TWO)
    }

    /// `1 / self` and `1 / other`. Each waits for its last product most of the time, so that two take little longer
    /// than one.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn invert_with<N: Modulus>(&self, other: &Factor<N>) -> (Factor<M>, Factor<N>) {
        let powers = (self.powers(), other.powers());
        let mut out = (Fe::<M>::one().factor(), Fe::<N>::one().factor());
        for digits in digits(&M::MINUS_TWO).zip(digits(&N::MINUS_TWO)) {
            for _ in 0..4 {
                out = (out.0.square(), out.1.square());
            }
            if digits.0 != 0 {
                out.0 = out.0.mul(&powers.0[digits.0]);
            }
            if digits.1 != 0 {
                out.1 = out.1.mul(&powers.1[digits.1]);
            }
        }
        out
    }

    /// Into Montgomery's form.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn to_montgomery(self) -> Factor<M> {
        self.mul(&Fe::splat(&M::R_SQUARED))
    }

    /// Out of Montgomery's form, below the prime.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn to_integer(self) -> Fe<M> {
        self.times(&Fe::splat(&[1, 0, 0, 0])).canonical()
    }

    /// One in Montgomery's form.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn one() -> Fe<M> {
        Fe::splat(&M::ONE)
    }

    /// Lanes of `other` where the mask has a one, of `self` elsewhere.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn select(&self, mask: __mmask8, other: &Self) -> Self {
        let mut out = self.0;
        for at in 0..5 {
            out[at] = _mm512_mask_blend_epi64(mask, self.0[at], other.0[at]);
        }
        Self(out, PhantomData)
    }

    /// In lane i what is in lane `lanes[i]` here.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn permuted(&self, lanes: &[u64; 8]) -> Self {
        let mut out = self.0;
        for limb in &mut out {
            *limb = _mm512_permutexvar_epi64(load(lanes), *limb);
        }
        Self(out, PhantomData)
    }
}

/// Digits of four bits, the highest first.
fn digits(exponent: &Words) -> impl Iterator<Item = usize> {
    (0..64).rev().map(|at| (exponent[at / 16] >> (at % 16 * 4) & 15) as usize)
}

impl<M: Modulus> Fe<M> {
    /// Zero in every lane.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn zero() -> Self {
        Self([_mm512_setzero_si512(); 5], PhantomData)
    }

    /// The same number in every lane, as it stands.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn splat(words: &Words) -> Self {
        let limbs = bignum::limbs(words);
        let mut out = [_mm512_setzero_si512(); 5];
        for at in 0..5 {
            out[at] = splat(limbs[at]);
        }
        Self(out, PhantomData)
    }

    /// Four words a lane, as they stand: `[word][lane]`.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn from_words(words: &[__m512i; 4]) -> Self {
        let [a, b, c, d] = *words;
        let mask = splat(LIMB_MASK);
        let join = |low: __m512i, high: __m512i| _mm512_and_si512(_mm512_or_si512(low, high), mask);
        Number(
            [
                _mm512_and_si512(a, mask),
                join(_mm512_srli_epi64::<52>(a), _mm512_slli_epi64::<12>(b)),
                join(_mm512_srli_epi64::<40>(b), _mm512_slli_epi64::<24>(c)),
                join(_mm512_srli_epi64::<28>(c), _mm512_slli_epi64::<36>(d)),
                _mm512_srli_epi64::<16>(d),
            ],
            PhantomData,
        )
    }

    /// Four words a lane of a number below 2^256.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn to_words(self) -> [__m512i; 4] {
        let [a, b, c, d, e] = self.0;
        [
            _mm512_or_si512(a, _mm512_slli_epi64::<52>(b)),
            _mm512_or_si512(_mm512_srli_epi64::<12>(b), _mm512_slli_epi64::<40>(c)),
            _mm512_or_si512(_mm512_srli_epi64::<24>(c), _mm512_slli_epi64::<28>(d)),
            _mm512_or_si512(_mm512_srli_epi64::<36>(d), _mm512_slli_epi64::<16>(e)),
        ]
    }

    /// Limbs of eight carried numbers: `[limb][lane]`.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn from_limbs(limbs: [__m512i; 5]) -> Self {
        Self(limbs, PhantomData)
    }

    /// Limbs, least significant first.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn limbs(&self) -> &[__m512i; 5] {
        &self.0
    }

    /// Into a sum.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn acc(&self) -> Acc<M> {
        Acc(self.0, PhantomData)
    }

    /// Lanes whose low bit is one.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn odd_mask(&self) -> __mmask8 {
        _mm512_test_epi64_mask(self.0[0], splat(1))
    }

    /// `WIDTH` bits of each lane from bit `at`.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn bits<const WIDTH: u32>(&self, at: u32) -> __m512i {
        let (limb, shift) = ((at / 52) as usize, u64::from(at % 52));
        let mut window = _mm512_srlv_epi64(self.0[limb], splat(shift));
        if at % 52 + WIDTH > 52 && limb < 4 {
            let high = _mm512_sllv_epi64(self.0[limb + 1], splat(52 - shift));
            window = _mm512_or_si512(window, high);
        }
        _mm512_and_si512(window, splat((1 << WIDTH) - 1))
    }

    /// Each lane without as many of its low bits as `counts` says, 51 at most.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn shifted_down(&self, counts: __m512i) -> Self {
        let mut out = self.0;
        for at in 0..5 {
            out[at] = _mm512_srlv_epi64(out[at], counts);
            if at < 4 {
                let above = _mm512_sllv_epi64(self.0[at + 1], _mm512_sub_epi64(splat(52), counts));
                out[at] = _mm512_or_si512(out[at], _mm512_and_si512(above, splat(LIMB_MASK)));
            }
        }
        Self(out, PhantomData)
    }

    /// `(self - 1) / 2 + 2^power` of an odd number below 2^256; `power` from 255 to 310.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn half_plus_power(&self, power: u32) -> Self {
        let mut out = self.0;
        for at in 0..5 {
            out[at] = _mm512_srli_epi64::<1>(out[at]);
            if at < 4 {
                let low = _mm512_slli_epi64::<51>(_mm512_and_si512(self.0[at + 1], splat(1)));
                out[at] = _mm512_or_si512(out[at], low);
            }
        }
        // The top limb of a result may be longer than 52 bits: nothing multiplies it.
        out[4] = _mm512_add_epi64(out[4], splat(1 << (power - 208)));
        Self(out, PhantomData)
    }
}

impl<M: Modulus> Acc<M> {
    /// `self + other`.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn plus(&self, other: &Self) -> Self {
        let mut out = self.0;
        for at in 0..5 {
            out[at] = _mm512_add_epi64(self.0[at], other.0[at]);
        }
        Self(out, PhantomData)
    }

    /// `self - other`; negative unless a multiple of the prime is added.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn minus(&self, other: &Self) -> Self {
        let mut out = self.0;
        for at in 0..5 {
            out[at] = _mm512_sub_epi64(self.0[at], other.0[at]);
        }
        Self(out, PhantomData)
    }

    /// `2 * self`.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn doubled(&self) -> Self {
        self.plus(self)
    }

    /// `self + MULTIPLE * prime`.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn plus_primes<const MULTIPLE: u64>(&self) -> Self {
        let mut out = self.0;
        for at in 0..5 {
            if M::LIMBS[at] != 0 {
                out[at] = _mm512_add_epi64(out[at], splat(MULTIPLE * M::LIMBS[at]));
            }
        }
        Self(out, PhantomData)
    }

    /// `MULTIPLE * prime - self` where the mask has a one, `self` elsewhere.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn negate_where<const MULTIPLE: u64>(&self, mask: __mmask8) -> Self {
        let mut out = self.0;
        for at in 0..5 {
            out[at] = _mm512_mask_sub_epi64(out[at], mask, splat(MULTIPLE * M::LIMBS[at]), out[at]);
        }
        Self(out, PhantomData)
    }

    /// Carried; below 16 and not negative, or the top limb shows the sign.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn carry(&self) -> Fe<M> {
        let mask = splat(LIMB_MASK);
        let mut out = self.0;
        for at in 0..4 {
            out[at + 1] = _mm512_add_epi64(out[at + 1], _mm512_srai_epi64::<52>(out[at]));
            out[at] = _mm512_and_si512(out[at], mask);
        }
        Number(out, PhantomData)
    }

    /// Carried as far as a product needs.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn carry_factor(&self) -> Factor<M> {
        let mut out = self.0;
        for at in 0..4 {
            out[at + 1] = _mm512_add_epi64(out[at + 1], _mm512_srai_epi64::<52>(out[at]));
        }
        Number(out, PhantomData)
    }

    /// Below the prime, from what [`reduce`](Self::reduce) takes.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn canonical(&self) -> Fe<M> {
        let reduced = self.reduce();
        let less = reduced.acc().minus(&Fe::splat(&M::WORDS).acc()).carry();
        // A negative number has a negative top limb.
        let negative = _mm512_cmplt_epi64_mask(less.0[4], _mm512_setzero_si512());
        less.select(negative, &reduced)
    }

    /// Lanes that are zero modulo the prime, of what [`reduce`](Self::reduce) takes.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn zero_mask(&self) -> __mmask8 {
        let limbs = self.canonical().0;
        let mut any = limbs[0];
        for limb in &limbs[1..] {
            any = _mm512_or_si512(any, *limb);
        }
        !_mm512_test_epi64_mask(any, any)
    }

    /// Carried and below 1.1, from below 8 and not below 0.1; from zero on if no limb is negative.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn reduce(&self) -> Fe<M> {
        // The lower limbs, not carried into the top one, could not change it by more than one unit of 2^208, to which
        // the tenths at both ends are nothing.
        let top = _mm512_add_epi64(self.0[4], _mm512_srai_epi64::<52>(self.0[3]));
        let quotient = _mm512_madd52hi_epu64(_mm512_setzero_si512(), top, splat(M::QUOTIENT));
        let mut out = self.0;
        for at in 0..5 {
            if M::LIMBS[at] != 0 {
                let multiple = _mm512_permutexvar_epi64(quotient, load(&M::MULTIPLES[at]));
                out[at] = _mm512_sub_epi64(out[at], multiple);
            }
        }
        Self(out, PhantomData).carry()
    }
}

impl<M: Modulus> Columns<M> {
    /// `self + a * b`.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn plus_product<const A: bool, const B: bool>(&self, a: &Number<M, A>, b: &Number<M, B>) -> Self {
        let mut columns = self.0;
        for i in 0..5 {
            for j in 0..5 {
                columns[i + j] = _mm512_madd52lo_epu64(columns[i + j], a.0[i], b.0[j]);
                columns[i + j + 1] = _mm512_madd52hi_epu64(columns[i + j + 1], a.0[i], b.0[j]);
            }
        }
        Self(columns, PhantomData)
    }

    /// `2 * self`.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn doubled(&self) -> Self {
        let mut columns = self.0;
        for column in &mut columns {
            *column = _mm512_add_epi64(*column, *column);
        }
        Self(columns, PhantomData)
    }

    /// `self / R`: Montgomery's reduction adds what makes the low five columns zero, and leaves the rest.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn reduce(&self) -> Acc<M> {
        let mut columns = self.0;
        for i in 0..5 {
            if M::K0 == 1 {
                // The prime is -1 modulo 2^52 (P-256): the factor is the column itself, and adding
                // `factor * (prime + 1)` less `factor` clears it. The limbs of prime + 1 are those of the prime but for
                // the lowest two.
                let factor = columns[i];
                columns[i + 1] = _mm512_add_epi64(columns[i + 1], _mm512_srli_epi64::<52>(factor));
                for j in 1..5 {
                    let limb = if j == 1 { M::LIMBS[1] + 1 } else { M::LIMBS[j] };
                    if limb != 0 {
                        columns[i + j] = _mm512_madd52lo_epu64(columns[i + j], factor, splat(limb));
                        columns[i + j + 1] = _mm512_madd52hi_epu64(columns[i + j + 1], factor, splat(limb));
                    }
                }
            } else {
                let factor = _mm512_madd52lo_epu64(_mm512_setzero_si512(), columns[i], splat(M::K0));
                for j in 0..5 {
                    let limb = splat(M::LIMBS[j]);
                    columns[i + j] = _mm512_madd52lo_epu64(columns[i + j], factor, limb);
                    columns[i + j + 1] = _mm512_madd52hi_epu64(columns[i + j + 1], factor, limb);
                }
                columns[i + 1] = _mm512_add_epi64(columns[i + 1], _mm512_srli_epi64::<52>(columns[i]));
            }
        }
        let [_, _, _, _, _, a, b, c, d, e] = columns;
        Acc([a, b, c, d, e], PhantomData)
    }
}
