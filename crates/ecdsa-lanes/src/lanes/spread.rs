//! One signature over several lanes, for whoever has only one: two thirds of the time of a group that computes
//! one in each lane.
//!
//! All lanes hold the same key. Four of them take every fourth digit of the scalar that multiplies it, two every second
//! digit of the generator's, so that one addition serves six digits; the rest go along. What the six have at the end is
//! brought to its place by the last doublings and summed up. Doublings are as many as ever: they are what is left.

use core::arch::x86_64::{__m512i, _mm512_and_si512, _mm512_mask_xor_epi64, _mm512_test_epi64_mask};

use super::field::Fe;
use super::input::LANES;
use super::point::{Affine, Jacobian, Scale, normalize, odd_multiples};
use super::recode::Digits;
use super::signature::Signatures;
use super::table::{VerifyTable, verify_table};
use super::vector::load;
use super::verify::{KEY_ENTRIES, KEY_WIDTH, entry_of_own, load_keys, rows};
use crate::bignum;
use crate::curve::{Modulus, Weierstrass};
use crate::job::Verification;

/// Lanes that multiply the key.
const KEY_LANES: u8 = 0x0f;

/// Bits of a digit of the scalar that multiplies the generator, of which the table of wider digits has the multiples.
const GENERATOR_WIDTH: u32 = 2 * KEY_WIDTH;

/// Bits between two additions: a digit of each lane.
const STEP: u32 = 4 * KEY_WIDTH;

/// Where a lane's first digit begins: that of the key's first four lanes, and of the generator's two.
const FIRST_BIT: [u64; LANES] = [0, 5, 10, 15, 0, 10, 0, 10];

/// The highest bit of a lane's digits.
const TOP: [u64; LANES] = [1 << 4, 1 << 4, 1 << 4, 1 << 4, 1 << 9, 1 << 9, 1 << 9, 1 << 9];

/// Verifies one job. Calls `decide` if the formulas do not cover it, and `pause` every few microseconds.
#[target_feature(enable = "avx512ifma")]
pub(super) fn verify<C: Weierstrass>(
    job: &Verification<'_>,
    decide: fn(&Verification<'_>) -> bool,
    pause: &mut dyn FnMut(),
) -> bool {
    let Some(s_inverse) = bignum::inverse_vartime(&bignum::from_be_bytes(job.s), &C::Order::WORDS) else {
        return false;
    };
    let s_inverse = Fe::splat(&s_inverse).to_montgomery();
    let (signature, _) = Signatures::<C>::load(core::iter::repeat_n([job.digest, job.r, job.s], LANES));
    let (key, on_curve) = load_keys::<C>(core::iter::repeat_n([job.public_x, job.public_y], LANES));
    let (key_digits, generator_digits) = signature.scalars::<KEY_WIDTH, GENERATOR_WIDTH>(&s_inverse);
    let digits = SpreadDigits::new(&key_digits, &generator_digits);

    // All multiples of the key keep one Z, that of the last, so that nothing has to be inverted for them.
    let one = Fe::<C::Field>::one().factor();
    let (mut multiples, mut ratios) = ([key; KEY_ENTRIES], [one; KEY_ENTRIES]);
    let z = odd_multiples(&key, &mut multiples, &mut ratios);
    normalize(&mut multiples, &ratios, one);
    pause();

    let table = Tables { key: &rows(&multiples), generator: verify_table::<C>() };
    let parts = multiply(&digits, &table, &Scale::new(one.select(KEY_LANES, &z)), pause);
    let mut verdict = [false];
    signature.judge(on_curve, &sum_up(&parts), core::slice::from_ref(job), &mut verdict, decide);
    verdict[0]
}

/// The digits of two scalars, each lane's own ones shifted to the bottom.
struct SpreadDigits<M> {
    shifted: Fe<M>,
    negative: u8,
}

impl<M: Modulus> SpreadDigits<M> {
    /// Digits of each lane.
    const COUNT: u32 = Digits::<M, KEY_WIDTH>::COUNT * KEY_WIDTH / STEP;

    #[target_feature(enable = "avx512ifma")]
    fn new(key: &Digits<M, KEY_WIDTH>, generator: &Digits<M, GENERATOR_WIDTH>) -> Self {
        const { assert!(Self::COUNT * STEP == Digits::<M, GENERATOR_WIDTH>::COUNT * GENERATOR_WIDTH) }
        let shifted = generator.shifted.select(KEY_LANES, &key.shifted).shifted_down(load(&FIRST_BIT));
        Self { shifted, negative: key.negative & KEY_LANES | generator.negative & !KEY_LANES }
    }

    /// As [`Digits::digit`].
    #[target_feature(enable = "avx512ifma")]
    fn digit(&self, at: u32) -> (u8, __m512i) {
        let top = load(&TOP);
        let low = load(&TOP.map(|top| top - 1));
        let window = self.shifted.bits::<GENERATOR_WIDTH>(STEP * at);
        let minus = !_mm512_test_epi64_mask(window, top);
        (minus ^ self.negative, _mm512_and_si512(_mm512_mask_xor_epi64(window, minus, window, low), low))
    }
}

struct Tables<'t> {
    key: &'t [[__m512i; 10]; KEY_ENTRIES],
    generator: &'t VerifyTable,
}

impl Tables<'_> {
    #[target_feature(enable = "avx512ifma")]
    fn entry<C: Weierstrass>(&self, number: __m512i) -> Affine<C> {
        self.generator.entry_vartime(number).select(KEY_LANES, &entry_of_own(self.key, number))
    }
}

/// What each lane's digits make of its point. `z` is that of the tables' entries.
#[target_feature(enable = "avx512ifma")]
fn multiply<C: Weierstrass>(
    digits: &SpreadDigits<C::Order>,
    tables: &Tables<'_>,
    z: &Scale<C>,
    pause: &mut dyn FnMut(),
) -> Jacobian<C> {
    let top = SpreadDigits::<C::Order>::COUNT - 1;
    let (negative, number) = digits.digit(top);
    let first = tables.entry::<C>(number);
    let y = first.y.acc().negate_where::<2>(negative).reduce();
    let mut sum = Jacobian { x: first.x, y: y.factor(), z: z.z, is_negative: false };
    for at in (0..top).rev() {
        for bit in 0..STEP {
            sum.double();
            if bit % 10 == 9 {
                pause();
            }
        }
        let (negative, number) = digits.digit(at);
        sum.add_scaled(&tables.entry(number), z, negative);
    }
    sum
}

/// Each lane's part, times the power of two its digits began at, and all six of them together, in every lane.
#[target_feature(enable = "avx512ifma")]
fn sum_up<C: Weierstrass>(parts: &Jacobian<C>) -> Jacobian<C> {
    // The generator's parts to those of the key that begin at the same bit: 4 to 0, 5 to 2.
    let mut sums = *parts;
    sums.add_jacobian(&parts.permuted(&[4, 4, 5, 5, 4, 4, 4, 4]));
    let key_only = parts.permuted(&[1; LANES]);
    let mut total = parts.permuted(&[3; LANES]);
    for (part, lane) in [(&sums, 2), (&key_only, 0), (&sums, 0)] {
        for _ in 0..KEY_WIDTH {
            total.double();
        }
        total.add_jacobian(&part.permuted(&[lane; LANES]));
    }
    total
}
