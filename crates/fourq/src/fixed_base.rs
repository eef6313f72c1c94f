//! Multiples of the base point: signed comb, constant time.
//!
//! An odd number below 2^250 is a sum of 250 powers of two, each with its sign. 10 combs of five teeth, the teeth five
//! places apart, take 50 signs in every one of five steps; the table holds, for each comb, the sums with the last tooth
//! positive. 49 additions, 4 doublings, 15 KiB. Four teeth, 63 additions, took the same time in the portable code, where
//! reading every entry of a comb costs more; with AVX2 they took about an eighth longer.
//!
//! Source: Hamburg, "Fast and compact elliptic-curve cryptography", eprint 2012/309, section 3.3.

use zeroize::Zeroize;

use crate::accumulator::{Accumulator, Program};
use crate::field::Field;
use crate::generated::comb::COMB;
use crate::point::{CachedAffine, Extended};
use crate::scalar::{Scalar, add_words};
use crate::table::{Table, Words};

/// Combs.
pub(crate) const COMBS: usize = 10;
/// Teeth of a comb.
pub(crate) const TEETH: usize = 5;
/// Places between teeth, which is the number of steps.
pub(crate) const SPACING: usize = 5;
/// Table entries of one comb.
pub(crate) const COMB_ENTRIES: usize = 1 << (TEETH - 1);
/// Sums of signed powers, for each comb those with the last tooth positive; bit j of the index is tooth j's sign.
pub(crate) type CombTable = [Table<12, COMB_ENTRIES>; COMBS];

/// 2^250 - 1: the sum of all powers.
const ALL_POWERS: [u64; 4] = [u64::MAX, u64::MAX, u64::MAX, (1 << (COMBS * TEETH * SPACING - 192)) - 1];

/// `k` times the base point; constant time.
#[must_use]
pub fn multiply_generator<F: Field>(k: &Scalar, field: F) -> Extended {
    // Sum of (2 b - 1) 2^i = k  <=>  sum of b 2^i = (k + sum of 2^i) / 2, for odd k.
    let mut bits = add_words(&k.to_odd_words(), &ALL_POWERS);
    for i in 0..4 {
        bits[i] = bits[i] >> 1 | if i < 3 { bits[i + 1] << 63 } else { 0 };
    }

    let first = CachedAffine::from_words(&signed_entry(&bits, 0, SPACING - 1, field).0).to_extended();
    let sum = field.sum(&first, Turns { bits: &bits, field });
    bits.zeroize();
    sum
}

/// What every turn but the first one adds.
struct Turns<'a, F> {
    bits: &'a [u64; 4],
    field: F,
}

impl<F: Field> Program for Turns<'_, F> {
    #[inline(always)]
    fn run<A: Accumulator>(self, sum: &mut A) {
        for turn in 1..SPACING * COMBS {
            // Before the doubling, which need not wait for it.
            let entry = signed_entry(self.bits, turn % COMBS, SPACING - 1 - turn / COMBS, self.field);
            if turn % COMBS == 0 {
                sum.double();
            }
            sum.add_affine(&entry.0);
        }
    }
}

/// What `comb` adds in `step`.
#[inline(always)]
fn signed_entry<F: Field>(bits: &[u64; 4], comb: usize, step: usize, field: F) -> Words<12> {
    let bit = |tooth: usize| {
        let place = (comb * TEETH + tooth) * SPACING + step;
        bits[place / 64] >> (place % 64) & 1
    };
    let index = bit(0) | bit(1) << 1 | bit(2) << 2 | bit(3) << 3;
    // A negative last tooth: the entry with all signs turned, negated.
    let negative = bit(TEETH - 1).wrapping_sub(1);
    field.lookup(&COMB[comb], (index ^ negative) & (COMB_ENTRIES as u64 - 1), negative)
}
