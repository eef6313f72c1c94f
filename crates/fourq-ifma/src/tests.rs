//! What the comments in `four` say of limbs, at their limits.
#![allow(unsafe_code, reason = "vectors are made from words and read as words")]

use core::arch::x86_64::__m512i;
use core::mem::transmute;

use num_bigint::BigUint;

use crate::Ifma;
use crate::four::Four;

/// Limbs of eight lanes.
type Limbs = [[u64; 8]; 3];

/// Products take limbs below this.
const FACTOR: u64 = (1 << 46) - 32;
/// Squares take limbs up to this.
const SQUARED: u64 = (1 << 45) - 16;
/// Products have limbs below this.
const CARRIED: u64 = (1 << 43) + (1 << 17);

#[target_feature(enable = "avx512ifma")]
fn mul(x: &Limbs, y: &Limbs) -> Limbs {
    of(four(x).mul(four(y)))
}

#[target_feature(enable = "avx512ifma")]
fn square(x: &Limbs) -> Limbs {
    of(four(x).square())
}

#[target_feature(enable = "avx512ifma")]
fn four(limbs: &Limbs) -> Four {
    // SAFETY: a vector is eight words.
    Four::from_limbs(limbs.map(|limb| unsafe { transmute::<[u64; 8], __m512i>(limb) }))
}

#[target_feature(enable = "avx512ifma")]
fn of(four: Four) -> Limbs {
    // SAFETY: a vector is eight words.
    four.limbs().map(|limb| unsafe { transmute::<__m512i, [u64; 8]>(limb) })
}

fn p() -> BigUint {
    BigUint::from(u128::MAX >> 1)
}

/// What a lane stands for.
fn number(limbs: &Limbs, lane: usize) -> BigUint {
    limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 43) + limb[lane])
}

/// The products of elements, which stand in two lanes each.
fn assert_products(found: &Limbs, x: &Limbs, y: &Limbs) {
    for lane in (0..8).step_by(2) {
        let [re, im, other_re, other_im] =
            [(x, lane), (x, lane + 1), (y, lane), (y, lane + 1)].map(|(of, at)| number(of, at));
        // A multiple of p that is larger than what is taken away.
        let enough = p() << 200;
        assert_eq!(number(found, lane) % p(), (&enough + &re * &other_re - &im * &other_im) % p());
        assert_eq!(number(found, lane + 1) % p(), (re * other_im + im * other_re) % p());
    }
    assert!(found.iter().flatten().all(|limb| *limb < CARRIED), "{found:x?}");
}

/// Each limb of each lane by itself at its largest, and all of them.
fn extremes(largest: u64) -> Vec<Limbs> {
    let one = |limb: usize, lane: usize| {
        let mut limbs: Limbs = [[0; 8]; 3];
        limbs[limb][lane] = largest;
        limbs
    };
    let mut all: Vec<Limbs> = (0..24).map(|i| one(i % 3, i / 3)).collect();
    all.extend([[[largest; 8]; 3], [[0; 8]; 3], [[1; 8]; 3]]);
    all
}

#[test]
fn limbs_at_their_largest_are_multiplied() {
    let Some(_) = Ifma::detect() else { return };
    for x in extremes(FACTOR - 1) {
        for y in extremes(FACTOR - 1) {
            // SAFETY: the processor has the instructions.
            assert_products(&unsafe { mul(&x, &y) }, &x, &y);
        }
    }
}

#[test]
fn limbs_at_their_largest_are_squared() {
    let Some(_) = Ifma::detect() else { return };
    for x in extremes(SQUARED) {
        // SAFETY: the processor has the instructions.
        assert_products(&unsafe { square(&x) }, &x, &x);
    }
}
