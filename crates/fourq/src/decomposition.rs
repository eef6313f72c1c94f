//! A scalar of 256 bits split into four of 64 along 1, phi, psi and psi phi, and their signed digits.
//!
//! Source: draft-ladd-cfrg-4q, "Scalar Decomposition and Recoding"; Faz-Hernandez, Longa, Sanchez, "Efficient and secure
//! algorithms for GLV-based scalar multiplication", J. Cryptographic Engineering 5 (2015), algorithm 1.

use core::hint::black_box;

use zeroize::{Zeroize, ZeroizeOnDrop};

/// Rounding constants: floor(L * m / 2^256) is the coordinate along a basis vector.
const L: [[u64; 4]; 4] = [
    [0x259686e09d1a7d4f, 0xf75682ace6a6bd66, 0xfc5bb5c5ea2be5df, 0x07],
    [0xd1ba1d84dd627afb, 0x2bd235580f468d8d, 0x8fd4b04caa6c0f8a, 0x03],
    [0x9b291a33678c203c, 0xc42bd6c965dca902, 0xd038bf8d0bffbaf6, 0x00],
    [0x12e5666b77e7fdc0, 0x81cbdc3714983d82, 0x1b073877a22d8410, 0x03],
];

/// The basis of the lattice of zero decompositions, by rows.
const BASIS: [[i64; 4]; 4] = [
    [0x0906ff27e0a0a196, -0x1363e862c22a2da0, 0x07426031ecc8030f, -0x084f739986b9e651],
    [0x1d495bea84fcc2d4, -1, 1, 0x25dbc5bc8dd167d0],
    [0x17abad1d231f0302, 0x02c4211ae388da51, -0x2e4d21c98927c49f, 0x0a9e6f44c02ecd97],
    [0x136e340a9108c83f, 0x3122df2dc3e0ff32, -0x068a49f02aa8a9b5, -0x18d5087896de0aea],
];

/// 5 b2 - 3 b3 + 2 b4: added, it makes all four parts positive.
const OFFSET: [u64; 4] = {
    let mut offset = [0; 4];
    let mut i = 0;
    while i < 4 {
        let [_, b2, b3, b4] = [BASIS[0][i], BASIS[1][i], BASIS[2][i], BASIS[3][i]];
        // Modulo 2^64, as everything here.
        offset[i] = (5i64.wrapping_mul(b2).wrapping_sub(3i64.wrapping_mul(b3)).wrapping_add(b4.wrapping_mul(2))) as u64;
        i += 1;
    }
    offset
};

/// Digits of a decomposition, 65 columns.
pub(crate) const COLUMNS: usize = 65;

/// `m` as `v[0] + v[1] phi + v[2] psi + v[3] psi phi`, `v[0]` odd; constant time.
pub(crate) fn decompose(m: &[u64; 4]) -> [u64; 4] {
    let t = [multiply_high(m, &L[0]), multiply_high(m, &L[1]), multiply_high(m, &L[2]), multiply_high(m, &L[3])];
    let mut v = OFFSET;
    v[0] = v[0].wrapping_add(m[0]);
    for (t, row) in t.iter().zip(&BASIS) {
        for (v, b) in v.iter_mut().zip(row) {
            *v = v.wrapping_sub(t.wrapping_mul(*b as u64));
        }
    }
    // Another b4, whose first entry is odd, if the first part is even.
    // The compiler shall not learn what the mask is made of, or it branches on it.
    let even = black_box((v[0] & 1).wrapping_sub(1));
    for (v, b) in v.iter_mut().zip(&BASIS[3]) {
        *v = v.wrapping_add(*b as u64 & even);
    }
    v
}

/// The lower 64 bits of floor(x * y / 2^256).
fn multiply_high(x: &[u64; 4], y: &[u64; 4]) -> u64 {
    let mut product = [0u64; 8];
    for i in 0..4 {
        let mut carry = 0;
        for j in 0..4 {
            (product[i + j], carry) = x[i].carrying_mul_add(y[j], product[i + j], carry);
        }
        product[i + 4] = carry;
    }
    product[4]
}

/// Sign and table index of every column: bit 3 set for plus, bits 0 to 2 the index.
///
/// The sum over columns of `sign 2^column` is `v[0]`, and of those whose index has bit `j - 1` set, `v[j]`.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Digits([u8; COLUMNS]);

impl Digits {
    /// The digits of `v`, whose first part is odd; constant time.
    pub(crate) fn recode(mut v: [u64; 4]) -> Self {
        let mut digits = [0; COLUMNS];
        for digit in &mut digits[..COLUMNS - 1] {
            v[0] >>= 1;
            let plus = v[0] & 1;
            let mut index = 0;
            for (j, part) in v[1..].iter_mut().enumerate() {
                let bit = *part & 1;
                index |= bit << j;
                // A digit -1 where the bit is 1 leaves a carry.
                *part = (*part >> 1) + (bit & !plus);
            }
            *digit = (plus << 3 | index) as u8;
        }
        digits[COLUMNS - 1] = (8 | v[1] | v[2] << 1 | v[3] << 2) as u8;
        v.zeroize();
        Self(digits)
    }

    /// All ones if the digit of `column` is negative, and its index.
    #[inline(always)]
    pub(crate) fn column(&self, column: usize) -> (u64, u64) {
        let digit = u64::from(self.0[column]);
        ((digit >> 3).wrapping_sub(1), digit & 7)
    }
}
