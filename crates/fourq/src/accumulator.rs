//! Sums of points, and what is done to them.
//!
//! A [`Program`] doubles a sum and adds to it, whoever keeps the sum: the coordinates one after the other, or the four of them side by
//! side in vector registers.

use crate::field::Field;
use crate::point::{Cached, CachedAffine, Extended};
use crate::table::{AffineWords, CachedWords};

/// A sum of points.
pub trait Accumulator {
    /// Doubles the sum.
    fn double(&mut self);

    /// Doubles the sum `count` times.
    #[inline(always)]
    fn double_times(&mut self, count: u32) {
        for _ in 0..count {
            self.double();
        }
    }

    /// Adds the point of a [`Cached`].
    fn add(&mut self, words: &CachedWords);

    /// Adds the point of a [`CachedAffine`].
    fn add_affine(&mut self, words: &AffineWords);
}

/// What is done to a sum.
pub trait Program {
    /// Does it.
    fn run<A: Accumulator>(self, sum: &mut A);
}

/// A sum whose coordinates are computed one after the other.
pub(crate) struct OneByOne<F> {
    pub(crate) sum: Extended,
    pub(crate) field: F,
}

impl<F: Field> Accumulator for OneByOne<F> {
    #[inline(always)]
    fn double(&mut self) {
        self.sum.double(self.field);
    }

    #[inline(always)]
    fn add(&mut self, words: &CachedWords) {
        self.sum.add(&Cached::from_words(words), self.field);
    }

    #[inline(always)]
    fn add_affine(&mut self, words: &AffineWords) {
        self.sum.add_affine(&CachedAffine::from_words(words), self.field);
    }
}

impl Accumulator for chronoseal_fourq_ifma::Sum {
    #[inline(always)]
    fn double(&mut self) {
        Self::double(self);
    }

    #[inline(always)]
    fn add(&mut self, words: &CachedWords) {
        Self::add(self, words);
    }

    #[inline(always)]
    fn add_affine(&mut self, words: &AffineWords) {
        Self::add_affine(self, words);
    }
}
