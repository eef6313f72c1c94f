//! Constant-time table look-up: every entry is read, whichever is wanted.

use core::hint::black_box;

use crate::fp::{Fp, P};
use crate::fp2::Fp2;
use crate::point::{Cached, CachedAffine};

/// A point's field elements as words, so that a look-up is a plain loop over words.
pub(crate) type Words<const W: usize> = [u64; W];

/// [`CachedAffine`] as words.
pub(crate) type AffineWords = Words<12>;

/// Entries to choose from in secret. The alignment saves an instruction for every two words.
#[derive(Clone, Debug, PartialEq)]
#[repr(align(16))]
pub(crate) struct Table<const W: usize, const LEN: usize>(pub(crate) [Words<W>; LEN]);

impl<const W: usize, const LEN: usize> Table<W, LEN> {
    /// Entry `index`, less than `LEN`; constant time.
    // As a function of its own it is compiled to vector instructions; where it is inlined it is not.
    #[inline(never)]
    pub(crate) fn lookup(&self, index: u64) -> Words<W> {
        const { assert!(LEN <= 8, "a byte for each entry") };
        // One byte is all ones. A compiler that knew so might branch on the index instead: seen, in this very place.
        let bytes = black_box(0xffu64 << (8 * index));
        let mut found = [0; W];
        for (i, entry) in self.0.iter().enumerate() {
            let mask = ((bytes << (56 - 8 * i)) as i64 >> 56) as u64;
            for (found, word) in found.iter_mut().zip(entry) {
                *found |= word & mask;
            }
        }
        found
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

    /// The point of `words`, or its negative where `negative` is all ones.
    #[inline(always)]
    pub(crate) fn from_words_signed(words: &AffineWords, negative: u64) -> Self {
        let (sum, difference) = swap(element(words, 0), element(words, 1), negative);
        Self { sum, difference, t_2d: negate(element(words, 2), negative) }
    }
}

impl Cached {
    /// The words of this point.
    #[inline(always)]
    pub(crate) fn to_words(self) -> Words<16> {
        let mut words = [0; 16];
        write(&mut words, &[self.sum, self.difference, self.z_twice, self.t_2d]);
        words
    }

    /// The point of `words`, or its negative where `negative` is all ones.
    #[inline(always)]
    pub(crate) fn from_words_signed(words: &Words<16>, negative: u64) -> Self {
        let (sum, difference) = swap(element(words, 0), element(words, 1), negative);
        Self { sum, difference, z_twice: element(words, 2), t_2d: negate(element(words, 3), negative) }
    }
}

#[inline(always)]
fn write(words: &mut [u64], elements: &[Fp2]) {
    for (chunk, element) in words.chunks_exact_mut(4).zip(elements) {
        let (re, im) = (element.re.as_u128(), element.im.as_u128());
        chunk.copy_from_slice(&[re as u64, (re >> 64) as u64, im as u64, (im >> 64) as u64]);
    }
}

#[inline(always)]
fn element<const W: usize>(words: &Words<W>, number: usize) -> Fp2 {
    let half = |i: usize| Fp::new(u128::from(words[i]) | u128::from(words[i + 1]) << 64);
    Fp2 { re: half(4 * number), im: half(4 * number + 2) }
}

/// Both in this order, or in the other where `mask` is all ones.
#[inline(always)]
fn swap(a: Fp2, b: Fp2, mask: u64) -> (Fp2, Fp2) {
    let mask = mask_of_element(mask);
    let one = |a: Fp, b: Fp| {
        let different = (a.as_u128() ^ b.as_u128()) & mask;
        (Fp::new(a.as_u128() ^ different), Fp::new(b.as_u128() ^ different))
    };
    let ((a_re, b_re), (a_im, b_im)) = (one(a.re, b.re), one(a.im, b.im));
    (Fp2 { re: a_re, im: a_im }, Fp2 { re: b_re, im: b_im })
}

/// The element, or its negative where `mask` is all ones.
#[inline(always)]
fn negate(a: Fp2, mask: u64) -> Fp2 {
    // The negative is the complement of 127 bits.
    let mask = mask_of_element(mask);
    Fp2 { re: Fp::new(a.re.as_u128() ^ mask), im: Fp::new(a.im.as_u128() ^ mask) }
}

#[inline(always)]
fn mask_of_element(mask: u64) -> u128 {
    (u128::from(mask) | u128::from(mask) << 64) & P
}
