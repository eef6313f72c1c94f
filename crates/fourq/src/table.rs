//! Points as words in tables, and the look-up that runs everywhere: every entry is read, whichever is wanted.

use core::hint::black_box;

pub(crate) use chronoseal_fourq_mulx::{Table, Words};

use crate::field::Field;
use crate::fp::P;
use crate::fp2::Fp2;
use crate::point::{Cached, CachedAffine, Extended};

/// [`CachedAffine`] as words.
pub(crate) type AffineWords = [u64; 12];
/// [`Cached`] as words.
pub(crate) type CachedWords = [u64; 16];

/// Entry `index`, less than `LEN`; constant time.
// As a function of its own it is compiled to vector instructions; where it is inlined it is not.
#[inline(never)]
pub(crate) fn lookup<const WORDS: usize, const LEN: usize>(table: &Table<WORDS, LEN>, index: u64) -> Words<WORDS> {
    const { assert!(LEN <= 16, "four bits for each entry") };
    // Four bits are ones. A compiler that knew so might branch on the index instead: seen, in this very place.
    let bits = black_box(0xfu64 << (4 * index));
    let mut found = Words([0; WORDS]);
    for (i, entry) in table.0.iter().enumerate() {
        let mask = ((bits << (60 - 4 * i)) as i64 >> 60) as u64;
        for (found, word) in found.0.iter_mut().zip(entry) {
            *found |= word & mask;
        }
    }
    found
}

/// The words of a point to those of its negative where `negative` is all ones: the first two elements change places, the
/// last is negated.
#[inline(always)]
pub(crate) fn negate<const WORDS: usize>(words: &mut [u64; WORDS], negative: u64) {
    for i in 0..4 {
        let different = (words[i] ^ words[4 + i]) & negative;
        words[i] ^= different;
        words[4 + i] ^= different;
    }
    for (i, word) in words[WORDS - 4..].iter_mut().enumerate() {
        // The negative of an element is the complement of its bits.
        *word ^= (P >> (64 * (i % 2))) as u64 & negative;
    }
}

impl CachedAffine {
    /// The words, as the tables hold them.
    #[cfg(test)]
    pub(crate) fn to_words(self) -> AffineWords {
        let mut words = [0; 12];
        write(&mut words, &[self.sum, self.difference, self.t_2d]);
        words
    }

    /// The point of `words`.
    #[inline(always)]
    pub(crate) fn from_words(words: &AffineWords) -> Self {
        Self { sum: element(words, 0), difference: element(words, 1), t_2d: element(words, 2) }
    }
}

impl Cached {
    /// The words of this point.
    #[inline(always)]
    pub(crate) fn to_words(self) -> CachedWords {
        let mut words = [0; 16];
        write(&mut words, &[self.sum, self.difference, self.z_twice, self.t_2d]);
        words
    }

    /// The point of `words`.
    #[inline(always)]
    pub(crate) fn from_words(words: &CachedWords) -> Self {
        Self {
            sum: element(words, 0),
            difference: element(words, 1),
            z_twice: element(words, 2),
            t_2d: element(words, 3),
        }
    }
}

impl Extended {
    /// The words of X, Y, Z and T.
    #[inline(always)]
    pub(crate) fn to_words<F: Field>(self, field: F) -> CachedWords {
        let mut words = [0; 16];
        write(&mut words, &[self.x, self.y, self.z, field.mul(&self.ta, &self.tb)]);
        words
    }

    /// The point of `words`.
    #[inline(always)]
    pub(crate) fn from_words(words: &CachedWords) -> Self {
        let [x, y, z, ta] = core::array::from_fn(|i| element(words, i));
        Self { x, y, z, ta, tb: Fp2::ONE }
    }
}

#[inline(always)]
fn write(words: &mut [u64], elements: &[Fp2]) {
    for (chunk, element) in words.chunks_exact_mut(4).zip(elements) {
        chunk.copy_from_slice(element.words());
    }
}

#[inline(always)]
fn element<const WORDS: usize>(words: &[u64; WORDS], number: usize) -> Fp2 {
    Fp2::from_words(core::array::from_fn(|i| words[4 * number + i]))
}
