//! A processor of another architecture: the same interface, and no value to call it on.

use crate::{Table, Words};

/// Proof that this processor has BMI2 and AVX2. It has not.
#[derive(Clone, Copy, Debug)]
pub enum Mulx {}

impl Mulx {
    /// None: this is no x86-64.
    #[must_use]
    pub const fn detect() -> Option<Self> {
        None
    }

    /// The product of two elements of GF(p^2).
    #[must_use]
    pub fn mul(self, _: &[u64; 4], _: &[u64; 4]) -> [u64; 4] {
        match self {}
    }

    /// The square of an element of GF(p^2).
    #[must_use]
    pub fn square(self, _: &[u64; 4]) -> [u64; 4] {
        match self {}
    }

    /// The product of two elements of GF(p).
    #[must_use]
    pub fn mul_real(self, _: u128, _: u128) -> u128 {
        match self {}
    }

    /// An element of GF(p) squared `count` times.
    #[must_use]
    pub fn square_real_times(self, _: u128, _: u32) -> u128 {
        match self {}
    }

    /// Entry `index` of `table`, or its negative where `negative` is all ones.
    #[must_use]
    pub fn lookup<const WORDS: usize, const LEN: usize>(self, _: &Table<WORDS, LEN>, _: u64, _: u64) -> Words<WORDS> {
        match self {}
    }
}
