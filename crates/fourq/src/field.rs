//! Who computes in the field: code that runs everywhere, or assembly and vectors where the processor has the instructions.
//!
//! The formulas are written once, over [`Field`], and every entry of the public interface chooses by [`with_field!`].

use chronoseal_fourq_ifma::Ifma;
use chronoseal_fourq_mulx::Mulx;

use zeroize::Zeroize;

use crate::accumulator::{OneByOne, Program};
use crate::fp::Fp;
use crate::fp2::Fp2;
use crate::point::Extended;
use crate::table::{self, Table, Words};

/// The operations that take most of the time, by something that can do them.
pub trait Field: Copy {
    /// The product of two elements of GF(p^2).
    fn mul(self, x: &Fp2, y: &Fp2) -> Fp2;

    /// The square of an element of GF(p^2).
    fn square(self, x: &Fp2) -> Fp2;

    /// The product of two elements of GF(p).
    fn mul_real(self, x: Fp, y: Fp) -> Fp;

    /// An element of GF(p) squared `count` times.
    fn square_real_times(self, x: Fp, count: u32) -> Fp;

    /// What `program` makes of `start`.
    #[inline(always)]
    fn sum<P: Program>(self, start: &Extended, program: P) -> Extended {
        let mut sum = OneByOne { sum: *start, field: self };
        program.run(&mut sum);
        sum.sum
    }

    /// Entry `index`, less than `LEN`, of `table`, or its negative where `negative` is all ones; constant time.
    fn lookup<const WORDS: usize, const LEN: usize>(
        self,
        table: &Table<WORDS, LEN>,
        index: u64,
        negative: u64,
    ) -> Words<WORDS>;
}

/// Safe code for any processor.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Field for Portable {
    #[inline(always)]
    fn mul(self, x: &Fp2, y: &Fp2) -> Fp2 {
        x.mul(y)
    }

    #[inline(always)]
    fn square(self, x: &Fp2) -> Fp2 {
        x.square()
    }

    #[inline(always)]
    fn mul_real(self, x: Fp, y: Fp) -> Fp {
        x.mul(y)
    }

    #[inline(always)]
    fn square_real_times(self, x: Fp, count: u32) -> Fp {
        (0..count).fold(x, |x, _| x.square())
    }

    #[inline(always)]
    fn lookup<const WORDS: usize, const LEN: usize>(
        self,
        table: &Table<WORDS, LEN>,
        index: u64,
        negative: u64,
    ) -> Words<WORDS> {
        let mut found = table::lookup(table, index);
        table::negate(&mut found.0, negative);
        found
    }
}

impl Field for Mulx {
    #[inline(always)]
    fn mul(self, x: &Fp2, y: &Fp2) -> Fp2 {
        Fp2::from_words(self.mul(x.words(), y.words()))
    }

    #[inline(always)]
    fn square(self, x: &Fp2) -> Fp2 {
        Fp2::from_words(self.square(x.words()))
    }

    #[inline(always)]
    fn mul_real(self, x: Fp, y: Fp) -> Fp {
        Fp::new(self.mul_real(x.as_u128(), y.as_u128()))
    }

    #[inline(always)]
    fn square_real_times(self, x: Fp, count: u32) -> Fp {
        Fp::new(self.square_real_times(x.as_u128(), count))
    }

    #[inline(always)]
    fn lookup<const WORDS: usize, const LEN: usize>(
        self,
        table: &Table<WORDS, LEN>,
        index: u64,
        negative: u64,
    ) -> Words<WORDS> {
        self.lookup(table, index, negative)
    }
}

/// Sums of points in vectors, everything else in assembly.
#[derive(Clone, Copy, Debug)]
pub struct Vectors {
    mulx: Mulx,
    ifma: Ifma,
}

impl Vectors {
    /// Asks the processor, once in a program's life.
    #[inline]
    #[must_use]
    pub fn detect() -> Option<Self> {
        Some(Self { mulx: Mulx::detect()?, ifma: Ifma::detect()? })
    }
}

impl Field for Vectors {
    #[inline(always)]
    fn mul(self, x: &Fp2, y: &Fp2) -> Fp2 {
        Field::mul(self.mulx, x, y)
    }

    #[inline(always)]
    fn square(self, x: &Fp2) -> Fp2 {
        Field::square(self.mulx, x)
    }

    #[inline(always)]
    fn mul_real(self, x: Fp, y: Fp) -> Fp {
        Field::mul_real(self.mulx, x, y)
    }

    #[inline(always)]
    fn square_real_times(self, x: Fp, count: u32) -> Fp {
        Field::square_real_times(self.mulx, x, count)
    }

    #[inline(always)]
    fn sum<P: Program>(self, start: &Extended, program: P) -> Extended {
        let mut words = self.ifma.sum(&start.to_words(self), |sum| program.run(sum));
        let sum = Extended::from_words(&words);
        words.zeroize();
        sum
    }

    #[inline(always)]
    fn lookup<const WORDS: usize, const LEN: usize>(
        self,
        table: &Table<WORDS, LEN>,
        index: u64,
        negative: u64,
    ) -> Words<WORDS> {
        self.mulx.lookup(table, index, negative)
    }
}

/// The expression, in which `$field` is the fastest field this processor has.
macro_rules! with_field {
    ($field:ident => $value:expr) => {
        if let Some($field) = $crate::field::Vectors::detect() {
            $value
        } else if let Some($field) = chronoseal_fourq_mulx::Mulx::detect() {
            $value
        } else {
            let $field = $crate::field::Portable;
            $value
        }
    };
}
pub(crate) use with_field;
