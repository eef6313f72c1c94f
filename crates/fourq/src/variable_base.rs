//! Multiples of any point of order N: four dimensions, constant time.
//!
//! Source: Costello, Longa, eprint 2015/565, algorithm 2; draft-ladd-cfrg-4q, "Multiplication with Endomorphisms".

use zeroize::Zeroize;

use crate::decomposition::{COLUMNS, Digits, decompose};
use crate::endomorphism::{phi_and_psi, psi};
use crate::point::{Cached, Extended};
use crate::table::Table;

/// `k` times `point`, for any `k` of 256 bits, least significant word first; constant time.
///
/// `point` must have order N or be the identity: clear the cofactor first.
#[must_use]
pub fn multiply(k: &[u64; 4], point: &Extended) -> Extended {
    let table = table(point);
    let digits = Digits::recode(decompose(k));
    let entry = |column| {
        let (negative, index) = digits.column(column);
        (table.lookup(index), negative)
    };

    let (mut words, positive) = entry(COLUMNS - 1);
    let mut sum = Cached::from_words_signed(&words, positive).to_doubling_operand();
    for column in (0..COLUMNS - 1).rev() {
        let negative;
        (words, negative) = entry(column);
        sum = sum.double().add(&Cached::from_words_signed(&words, negative));
    }
    words.zeroize();
    sum
}

/// P with every sum of phi(P), psi(P), psi(phi(P)): bits 0, 1 and 2 of the index.
pub(crate) fn table(p: &Extended) -> Table<16, 8> {
    let (phi_p, psi_p) = phi_and_psi(p);
    let (q, r, s) = (phi_p.to_sum(), psi_p.to_sum(), psi(&phi_p).to_sum());
    let mut table = [p.to_cached(); 8];
    table[1] = q.add(&table[0]).to_cached();
    table[2] = r.add(&table[0]).to_cached();
    table[3] = r.add(&table[1]).to_cached();
    for i in 0..4 {
        table[4 + i] = s.add(&table[i]).to_cached();
    }
    Table(table.map(Cached::to_words))
}
