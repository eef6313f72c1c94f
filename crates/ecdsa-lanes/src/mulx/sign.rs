//! Signatures, in constant time: no branch and no address depends on a key or a nonce.

use std::sync::OnceLock;

use zeroize::Zeroize as _;

use super::JOBS_MAX;
use super::field::Fe;
use super::point::{Affine, Jacobian};
use super::table::{Multiples, invert_each};
use crate::bignum::{self, Words};
use crate::curve::{Modulus, NistP256Order};
use crate::job::{Signature, Signing};
use crate::modular::{opaque, scalar};

/// Bits of a digit of a nonce.
const WIDTH: usize = 6;

/// Digits of a nonce.
const DIGITS: usize = 43;

/// Odd multiples of each digit.
const ENTRIES: usize = 1 << (WIDTH - 1);

/// For digit i the odd multiples of 2^(6 i) times the generator, made at the first use. 88 KB.
#[target_feature(enable = "bmi2,adx,avx2")]
pub(super) fn table() -> &'static Multiples {
    static TABLE: OnceLock<Multiples> = OnceLock::new();
    match TABLE.get() {
        Some(table) => table,
        None => {
            let made = Multiples::of(&Affine::generator(), DIGITS, WIDTH, ENTRIES);
            TABLE.get_or_init(|| made)
        }
    }
}

/// Signs with the nonces given. A job whose r or s is zero gets `None`; with nonces made at random none ever is.
///
/// At most [`JOBS_MAX`]; keys and nonces are from 1 to the order less one.
#[target_feature(enable = "bmi2,adx,avx2")]
pub(super) fn sign(jobs: &[Signing<'_>], nonces: &[[u8; 32]], signatures: &mut [Option<Signature>]) {
    assert!(
        jobs.len() <= JOBS_MAX && jobs.len() == nonces.len() && jobs.len() == signatures.len(),
        "the caller cuts jobs to size"
    );
    let mut inverses = [scalar::ONE; JOBS_MAX];
    let mut points = [const { Jacobian { x: Fe::ONE, y: Fe::ONE, z: Fe::ONE } }; JOBS_MAX];
    let mut z_inverses = [Fe::ONE; JOBS_MAX];
    for (at, nonce) in nonces.iter().enumerate() {
        let mut nonce = bignum::from_be_bytes(nonce);
        inverses[at] = scalar::to_montgomery(&nonce);
        points[at] = multiply_generator(&nonce);
        nonce.zeroize();
        // Z is zero where a sum met its own like: a nonce in 2^250 that must not spoil the others' inverse.
        if points[at].z.is_zero() {
            points[at].x = Fe::ZERO;
        } else {
            z_inverses[at] = points[at].z;
        }
    }
    let count = jobs.len();
    scalar::invert_each(&mut inverses[..count], scalar::invert);
    invert_each(&mut z_inverses[..count], &mut [Fe::ONE; JOBS_MAX]);

    for (at, job) in jobs.iter().enumerate() {
        let x = points[at].x.mul(&z_inverses[at].square()).to_integer();
        signatures[at] = scalar::signature(&x, &inverses[at], job);
    }
    inverses[..count].as_flattened_mut().zeroize();
    // The denominators that a sum ran through tell of the nonce's digits.
    for (point, inverse) in points[..count].iter_mut().zip(&mut z_inverses) {
        [&mut point.x, &mut point.y, &mut point.z, inverse].into_iter().for_each(|number| number.0.zeroize());
    }
}

/// A multiple of the generator: a sum of one table entry for each digit. The digits are odd, so that none is left out: the
/// closed form is that of `lanes/recode.rs`.
#[target_feature(enable = "bmi2,adx,avx2")]
fn multiply_generator(nonce: &Words) -> Jacobian {
    let table = table();
    let mut digits = Digits::new(nonce);
    let first = digits.entry(table.row(0), 0);
    let mut sum = first.jacobian();
    for at in 1..DIGITS {
        sum.add(&digits.entry(table.row(at), at));
    }
    digits.shifted.zeroize();
    sum
}

/// A scalar k, or its negative where it is even, as (k - 1) / 2 + 2^257, of 258 bits.
struct Digits {
    shifted: [u64; 5],
    /// All ones if it is the negative.
    negative: u64,
}

impl Digits {
    fn new(scalar: &Words) -> Self {
        let negated = bignum::subtract(&NistP256Order::WORDS, scalar);
        let odd = 0u64.wrapping_sub(scalar[0] & 1);
        let odd = opaque(odd);
        let mut k: Words = core::array::from_fn(|at| scalar[at] & odd | negated[at] & !odd);
        let half = |at: usize| k[at] >> 1 | k.get(at + 1).map_or(0, |above| above << 63);
        let shifted = [half(0), half(1), half(2), half(3), 2];
        k.zeroize();
        Self { shifted, negative: !odd }
    }

    /// The odd multiple of digit `at`, with its sign; the whole row is read.
    #[target_feature(enable = "bmi2,adx,avx2")]
    fn entry(&self, row: &[Affine], at: usize) -> Affine {
        let (word, shift) = (WIDTH * at / 64, WIDTH * at % 64);
        let above = self.shifted.get(word + 1).map_or(0, |above| above << 1 << (63 - shift));
        let window = (self.shifted[word] >> shift | above) & ((1 << WIDTH) - 1);
        let minus = opaque((window >> (WIDTH - 1)).wrapping_sub(1));
        let number = (window ^ minus) & (ENTRIES as u64 - 1);
        let (mut x, mut y) = (Fe::ZERO, Fe::ZERO);
        for (entry, at) in row.iter().zip(0u64..) {
            let other = number ^ at;
            // All ones where they are equal: what is below 64 has no top bit, but what is below zero has.
            let mask = opaque(0u64.wrapping_sub(other.wrapping_sub(1) >> 63));
            // Of a length that is known, so that a coordinate is one vector.
            for word in 0..4 {
                x.0[word] |= entry.x.0[word] & mask;
                y.0[word] |= entry.y.0[word] & mask;
            }
        }
        let negated = y.negate();
        let negative = minus ^ self.negative;
        Affine { x, y: Fe(core::array::from_fn(|at| negated.0[at] & negative | y.0[at] & !negative)) }
    }
}
