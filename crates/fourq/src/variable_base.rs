//! Multiples of any point of order N: four dimensions, constant time.
//!
//! Source: Costello, Longa, eprint 2015/565, algorithm 2; draft-ladd-cfrg-4q, "Multiplication with Endomorphisms".

use zeroize::Zeroize;

use crate::decomposition::{COLUMNS, Digits, decompose};
use crate::endomorphism::{phi_and_psi, psi};
use crate::field::Field;
use crate::point::{Cached, Extended};
use crate::table::Table;

/// `k` times `point`, for any `k` of 256 bits, least significant word first; constant time.
///
/// `point` must have order N or be the identity: clear the cofactor first.
#[must_use]
pub fn multiply<F: Field>(k: &[u64; 4], point: &Extended, field: F) -> Extended {
    let table = table(point, field);
    let digits = Digits::recode(decompose(k));
    let entry = |column| {
        let (negative, index) = digits.column(column);
        field.lookup(&table, index, negative)
    };

    let mut words = entry(COLUMNS - 1);
    let mut sum = Cached::from_words(&words).to_doubling_operand();
    for column in (0..COLUMNS - 1).rev() {
        words = entry(column);
        sum.double(field);
        sum.add(&Cached::from_words(&words), field);
    }
    words.zeroize();
    sum
}

/// P with every sum of phi(P), psi(P), psi(phi(P)): bits 0, 1 and 2 of the index.
pub(crate) fn table<F: Field>(p: &Extended, field: F) -> Table<16, 8> {
    let (phi_p, psi_p) = phi_and_psi(p, field);
    let (q, r, s) = (phi_p.to_sum(field), psi_p.to_sum(field), psi(&phi_p, field).to_sum(field));
    let mut table = [p.to_cached(field); 8];
    table[1] = q.add(&table[0], field).to_cached(field);
    table[2] = r.add(&table[0], field).to_cached(field);
    table[3] = r.add(&table[1], field).to_cached(field);
    for i in 0..4 {
        table[4 + i] = s.add(&table[i], field).to_cached(field);
    }
    Table(table.map(Cached::to_words))
}
