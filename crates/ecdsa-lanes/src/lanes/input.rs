//! From bytes in many places to lanes, and back.

use core::arch::x86_64::__m512i;

use super::field::{Factor, Fe};
use super::vector::{load, splat, store};
use crate::bignum::{self, Words};
use crate::curve::Modulus;

/// Lanes of a vector.
pub(crate) const LANES: usize = 8;

/// Groups of lanes that share their inversions. More than four gain little and outgrow the first cache.
pub(super) const GROUPS_MAX: usize = 4;

/// Jobs done in one go.
pub(crate) const JOBS_MAX: usize = LANES * GROUPS_MAX;

/// One number a lane in memory: `[word][lane]`.
#[derive(Clone, Copy)]
pub(super) struct Column([[u64; LANES]; 4]);

impl Column {
    pub(super) const ZERO: Self = Self([[0; LANES]; 4]);

    /// Puts a number into a lane.
    pub(super) fn set(&mut self, lane: usize, words: &Words) {
        for (row, word) in self.0.iter_mut().zip(words) {
            row[lane] = *word;
        }
    }

    /// As limbs.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn load<M: Modulus>(&self) -> Fe<M> {
        let mut words = [splat(0); 4];
        for (word, row) in words.iter_mut().zip(&self.0) {
            *word = load(row);
        }
        Fe::from_words(&words)
    }

    /// From numbers below 2^256.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn store(words: &[__m512i; 4]) -> Self {
        let mut out = Self::ZERO;
        for (row, word) in out.0.iter_mut().zip(words) {
            *row = store(*word);
        }
        out
    }

    /// The number in a lane, big-endian.
    pub(super) fn bytes(&self, lane: usize) -> [u8; 32] {
        bignum::to_be_bytes(&self.0.map(|row| row[lane]))
    }

    /// Overwrites what may be secret.
    pub(super) fn zeroize(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.0);
    }
}

/// Inverts all numbers of both kinds at the price of one inversion each and three products a number (P. Montgomery's
/// trick). None may be zero.
#[target_feature(enable = "avx512ifma")]
pub(super) fn invert_all<M: Modulus, N: Modulus>(ones: &mut [Factor<M>], others: &mut [Factor<N>]) {
    let (before_ones, product_of_ones) = products(ones);
    let (before_others, product_of_others) = products(others);
    let inverses = product_of_ones.invert_with(&product_of_others);
    take_apart(ones, &before_ones, inverses.0);
    take_apart(others, &before_others, inverses.1);
}

/// As [`invert_all`], of one kind.
#[cfg(feature = "signer-tables")]
#[target_feature(enable = "avx512ifma")]
pub(super) fn invert_each<M: Modulus>(numbers: &mut [Factor<M>]) {
    let (before, product) = products(numbers);
    take_apart(numbers, &before, product.invert());
}

/// For each number the product of those before it, and the product of all.
#[target_feature(enable = "avx512ifma")]
fn products<M: Modulus>(numbers: &[Factor<M>]) -> ([Factor<M>; GROUPS_MAX], Factor<M>) {
    let mut product = Fe::one().factor();
    let mut before = [product; GROUPS_MAX];
    for (number, slot) in numbers.iter().zip(&mut before) {
        *slot = product;
        product = product.mul(number);
    }
    (before, product)
}

#[target_feature(enable = "avx512ifma")]
fn take_apart<M: Modulus>(numbers: &mut [Factor<M>], before: &[Factor<M>], mut inverse: Factor<M>) {
    for (number, before) in numbers.iter_mut().zip(before).rev() {
        (*number, inverse) = (inverse.mul(before), inverse.mul(number));
    }
}
