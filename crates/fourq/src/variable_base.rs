//! Multiples of any point of order N: four dimensions, constant time.
//!
//! Source: Costello, Longa, eprint 2015/565, algorithm 2; draft-ladd-cfrg-4q, "Multiplication with Endomorphisms".

use zeroize::Zeroize;

use crate::accumulator::{Accumulator, Program};
use crate::decomposition::{COLUMNS, Digits, decompose};
use crate::endomorphism::{phi_and_psi, psi};
use crate::field::Field;
use crate::point::{Cached, Extended};
use crate::table::{Table, Words};

/// `k` times `point`, for any `k` of 256 bits, least significant word first; constant time.
///
/// `point` must have order N or be the identity: clear the cofactor first.
#[must_use]
pub fn multiply<F: Field>(k: &[u64; 4], point: &Extended, field: F) -> Extended {
    let columns = Columns { table: &table(point, field), digits: &Digits::recode(decompose(k)), field };
    let mut first = Cached::from_words(&columns.entry(COLUMNS - 1).0);
    let sum = field.sum(&first.to_doubling_operand(), columns);
    first.zeroize();
    sum
}

/// For every column but the first: a doubling, and what the column adds.
#[derive(Clone, Copy)]
struct Columns<'a, F> {
    table: &'a Table<16, 8>,
    digits: &'a Digits,
    field: F,
}

impl<F: Field> Columns<'_, F> {
    #[inline(always)]
    fn entry(&self, column: usize) -> Words<16> {
        let (negative, index) = self.digits.column(column);
        self.field.lookup(self.table, index, negative)
    }
}

impl<F: Field> Program for Columns<'_, F> {
    #[inline(always)]
    fn run<A: Accumulator>(self, sum: &mut A) {
        let mut addend = Words([0; 16]);
        for column in (0..COLUMNS - 1).rev() {
            // Before the doubling, which need not wait for it.
            addend = self.entry(column);
            sum.double();
            sum.add(&addend.0);
        }
        addend.0.zeroize();
    }
}

/// P with every sum of phi(P), psi(P), psi(phi(P)): bits 0, 1 and 2 of the index.
pub(crate) fn table<F: Field>(p: &Extended, field: F) -> Table<16, 8> {
    let (phi_p, psi_p) = phi_and_psi(p, field);
    let (q, r, s) = (phi_p.to_sum(field), psi_p.to_sum(field), psi(&phi_p, field).to_sum(field));
    let mut table = Table([[0; 16]; 8]);
    table.0[0] = p.to_cached(field).to_words();
    for (addend, entry, sum) in [(&q, 0, 1), (&r, 0, 2), (&r, 1, 3), (&s, 0, 4), (&s, 1, 5), (&s, 2, 6), (&s, 3, 7)] {
        table.0[sum] = addend.add(&Cached::from_words(&table.0[entry]), field).to_cached(field).to_words();
    }
    table
}
