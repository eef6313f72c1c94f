//! `a G + b P` for public numbers and points, variable time.
//!
//! Both numbers are split in four. The digits of `b` are those of [`crate::variable_base`]: one addition in every column
//! costs no more than windows of the four parts would, whose tables take longer to make. The digits of `a` are windows
//! into large tables of the base point; the doublings are shared.
//!
//! Source: Moeller, "Algorithms for multi-exponentiation", SAC 2001 (interleaving).

use crate::accumulator::{Accumulator, Program};
use crate::decomposition::{COLUMNS, Digits, decompose};
use crate::field::Field;
use crate::generated::windows::WINDOWS;
use crate::point::{Cached, Extended};
use crate::scalar::Scalar;
use crate::table::{AffineWords, CachedWords, Table, negate};
use crate::variable_base::table;

/// Width of the base point's windows `[bit]`.
const BASE_WIDTH: u32 = 8;
/// Odd multiples of the base point.
pub(crate) const BASE_ENTRIES: usize = 1 << (BASE_WIDTH - 2);
/// Odd multiples of G, phi(G), psi(G) and psi(phi(G)).
pub(crate) type WindowTable = [[AffineWords; BASE_ENTRIES]; 4];

/// `a G + b point` in variable time; `point` must have order N or be the identity.
#[must_use]
pub fn double_multiply_vartime<F: Field>(a: &Scalar, b: &Scalar, point: &Extended, field: F) -> Extended {
    let columns = Columns {
        base: &BaseDigits::new(a),
        table: &table(point, field),
        digits: &Digits::recode(decompose(b.words())),
    };
    field.sum(&Cached::from_words(&columns.entry(COLUMNS - 1)).to_extended(field), columns)
}

/// What is added in the first column beside the first entry, and for every other one: a doubling, and what the column adds.
#[derive(Clone, Copy)]
struct Columns<'a> {
    base: &'a BaseDigits,
    table: &'a Table<16, 8>,
    digits: &'a Digits,
}

impl Columns<'_> {
    #[inline(always)]
    fn entry(&self, column: usize) -> CachedWords {
        let (negative, index) = self.digits.column(column);
        signed(&self.table.0[index as usize], negative)
    }
}

impl Program for Columns<'_> {
    #[inline(always)]
    fn run<A: Accumulator>(self, sum: &mut A) {
        self.base.add_column(sum, COLUMNS - 1);
        for column in (0..COLUMNS - 1).rev() {
            sum.double();
            sum.add(&self.entry(column));
            self.base.add_column(sum, column);
        }
    }
}

/// The words of a point, or those of its negative where `negative` is all ones.
#[inline(always)]
pub(crate) fn signed<const WORDS: usize>(words: &[u64; WORDS], negative: u64) -> [u64; WORDS] {
    let mut words = *words;
    negate(&mut words, negative);
    words
}

/// A multiple of the base point: for each of its four parts, windows.
pub(crate) struct BaseDigits([WindowDigits<COLUMNS>; 4]);

impl BaseDigits {
    /// The digits of `factor`.
    pub(crate) fn new(factor: &Scalar) -> Self {
        Self(decompose(factor.words()).map(|part| WindowDigits::new(part.into(), BASE_WIDTH)))
    }

    /// Adds what stands in `column`.
    #[inline(always)]
    pub(crate) fn add_column<A: Accumulator>(&self, sum: &mut A, column: usize) {
        for (digits, table) in self.0.iter().zip(&WINDOWS) {
            if let Some((index, negative)) = digits.at(column) {
                sum.add_affine(&signed(&table[index], negative));
            }
        }
    }
}

/// A number as signed odd digits, few of them not zero: width-w non-adjacent form.
pub(crate) struct WindowDigits<const LEN: usize>([i8; LEN]);

impl<const LEN: usize> WindowDigits<LEN> {
    /// The digits of `number`, odd and below 2^(`width` - 1) in amount; `width` is 2..=8, and there is one digit more than
    /// bits.
    pub(crate) fn new(number: u128, width: u32) -> Self {
        let mut digits = [0; LEN];
        let (mut rest, mut place) = (number, 0);
        while rest != 0 {
            let zeros = rest.trailing_zeros();
            rest >>= zeros;
            place += zeros as usize;
            let window = rest as i32 & ((1 << width) - 1);
            let digit = if window >> (width - 1) == 0 { window } else { window - (1 << width) };
            digits[place] = digit as i8;
            let over;
            (rest, over) = rest.overflowing_sub_signed(digit.into());
            if over {
                // A negative digit at place 0 has carried out of 128 bits: 2^128 is all that remains.
                digits[128] = 1;
            }
        }
        Self(digits)
    }

    /// The table index of the digit at `place`, and all ones if it is negative, unless it is zero.
    #[inline(always)]
    pub(crate) fn at(&self, place: usize) -> Option<(usize, u64)> {
        let digit = self.0[place];
        (digit != 0).then(|| (usize::from(digit.unsigned_abs() >> 1), i64::from(digit >> 7) as u64))
    }
}
