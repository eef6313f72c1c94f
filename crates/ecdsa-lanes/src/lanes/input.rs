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

/// Inverts all numbers at the price of one inversion and three products each (P. Montgomery's trick). None may be zero.
#[target_feature(enable = "avx512ifma")]
pub(super) fn invert_all<M: Modulus>(numbers: &mut [Factor<M>]) {
    let mut products = [Fe::one().factor(); GROUPS_MAX];
    let mut product = products[0];
    for (number, slot) in numbers.iter().zip(&mut products) {
        *slot = product;
        product = product.mul(number);
    }
    let mut inverse = product.invert();
    for (number, before) in numbers.iter_mut().zip(&products).rev() {
        let own = inverse.mul(before);
        inverse = inverse.mul(number);
        *number = own;
    }
}
