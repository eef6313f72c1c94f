//! Numbers modulo the order N of the base point.

use core::hint::black_box;

use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroize;

/// N, a prime of 246 bits, least significant word first.
pub(crate) const N: [u64; 4] =
    [0x2fb2_540e_c776_8ce7, 0xdfbd_004d_fe0f_7999, 0xf053_9782_9cbc_14e5, 0x0029_cbc1_4e5e_0a72];

/// 2^512 mod N, which turns a Montgomery product into a plain one.
const R_SQUARED: [u64; 4] = {
    let mut x = [1, 0, 0, 0];
    let mut i = 0;
    while i < 512 {
        // Twice a number below N fits: N has 246 bits.
        x = subtract_order_once([x[0] << 1, x[1] << 1 | x[0] >> 63, x[2] << 1 | x[1] >> 63, x[3] << 1 | x[2] >> 63]);
        i += 1;
    }
    x
};

/// -1/N mod 2^64, by Newton's iteration: every step doubles the number of right bits.
const MINUS_N_INVERSE: u64 = {
    let mut inverse = 1u64;
    let mut i = 0;
    while i < 6 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(N[0].wrapping_mul(inverse)));
        i += 1;
    }
    inverse.wrapping_neg()
};

/// A number in `0..N`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Zeroize)]
pub struct Scalar([u64; 4]);

impl Scalar {
    /// Zero.
    pub const ZERO: Self = Self([0; 4]);
    /// One.
    pub const ONE: Self = Self([1, 0, 0, 0]);

    /// A small number.
    #[must_use]
    pub const fn from_u128(value: u128) -> Self {
        Self([value as u64, (value >> 64) as u64, 0, 0])
    }

    /// The 256-bit number `bytes`, least significant byte first, modulo N.
    #[must_use]
    pub fn from_bytes_mod_order(bytes: &[u8; 32]) -> Self {
        let mut words = words(bytes);
        let mut product = montgomery(&words, &R_SQUARED);
        let reduced = Self(montgomery(&product, &Self::ONE.0));
        // They may be a key or a nonce.
        words.zeroize();
        product.zeroize();
        reduced
    }

    /// The number `bytes`, least significant byte first, if it is less than N.
    #[must_use]
    pub fn from_canonical_bytes_vartime(bytes: &[u8; 32]) -> Option<Self> {
        let words = words(bytes);
        let below = words.iter().rev().lt(N.iter().rev());
        below.then_some(Self(words))
    }

    /// 32 bytes, least significant first.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip(self.0) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Four words, least significant first.
    #[inline]
    #[must_use]
    pub const fn words(&self) -> &[u64; 4] {
        &self.0
    }

    /// The sum modulo N.
    #[must_use]
    pub const fn add(&self, other: &Self) -> Self {
        Self(subtract_order_once(add_words(&self.0, &other.0)))
    }

    /// The additive inverse modulo N.
    #[must_use]
    pub const fn neg(&self) -> Self {
        // N - 0 = N is brought back to zero.
        Self(subtract_order_once(subtract_words(&N, &self.0).0))
    }

    /// The difference modulo N.
    #[must_use]
    pub const fn sub(&self, other: &Self) -> Self {
        self.add(&other.neg())
    }

    /// The product modulo N.
    #[must_use]
    pub fn mul(&self, other: &Self) -> Self {
        Self(montgomery(&montgomery(&self.0, &R_SQUARED), &other.0))
    }

    /// An odd number equal to this one modulo N, below 2N.
    #[must_use]
    pub(crate) fn to_odd_words(self) -> [u64; 4] {
        // The compiler shall not learn what the mask is made of, or it may branch on it.
        let even = black_box((self.0[0] & 1).wrapping_sub(1));
        add_words(&self.0, &N.map(|word| word & even))
    }

    /// Whether this is zero.
    #[must_use]
    pub fn is_zero(&self) -> Choice {
        self.0.ct_eq(&[0; 4])
    }
}

/// Four words of 32 bytes, both least significant first.
pub(crate) fn words(bytes: &[u8; 32]) -> [u64; 4] {
    core::array::from_fn(|i| {
        u64::from_le_bytes(bytes[8 * i..8 * i + 8].try_into().expect("a range of eight bytes has eight"))
    })
}

/// The sum modulo 2^256.
pub(crate) const fn add_words(x: &[u64; 4], y: &[u64; 4]) -> [u64; 4] {
    let mut sum = [0; 4];
    let (mut carry, mut i) = (0, 0);
    while i < 4 {
        let word = x[i] as u128 + y[i] as u128 + carry;
        sum[i] = word as u64;
        carry = word >> 64;
        i += 1;
    }
    sum
}

/// The difference modulo 2^256, and all ones if it is negative.
const fn subtract_words(x: &[u64; 4], y: &[u64; 4]) -> ([u64; 4], u64) {
    let mut difference = [0; 4];
    let (mut borrow, mut i) = (0, 0);
    while i < 4 {
        let word = (x[i] as u128).wrapping_sub(y[i] as u128).wrapping_sub(borrow);
        difference[i] = word as u64;
        borrow = word >> 127;
        i += 1;
    }
    (difference, (borrow as u64).wrapping_neg())
}

/// `x` modulo N for `x` below 2N.
const fn subtract_order_once(x: [u64; 4]) -> [u64; 4] {
    let (difference, back) = subtract_words(&x, &N);
    add_words(&difference, &[N[0] & back, N[1] & back, N[2] & back, N[3] & back])
}

/// `x y / 2^256` modulo N. One factor must be below N, the other may have 256 bits.
///
/// Source: P. Montgomery, "Modular multiplication without trial division", Math. Comp. 44 (1985).
fn montgomery(x: &[u64; 4], y: &[u64; 4]) -> [u64; 4] {
    // After each round the accumulator is below 2^256 + N, which five words hold.
    let mut t = [0u64; 5];
    for &word in x {
        let mut carry = 0;
        for j in 0..4 {
            (t[j], carry) = word.carrying_mul_add(y[j], t[j], carry);
        }
        let (t4, over) = t[4].overflowing_add(carry);
        let q = t[0].wrapping_mul(MINUS_N_INVERSE);
        let (_, mut carry) = q.carrying_mul_add(N[0], t[0], 0);
        for j in 1..4 {
            (t[j - 1], carry) = q.carrying_mul_add(N[j], t[j], carry);
        }
        let (t3, over_again) = t4.overflowing_add(carry);
        t[3] = t3;
        t[4] = u64::from(over) + u64::from(over_again);
    }
    // (2^256 N + 2^256 N) / 2^256 = 2N bounds the result, which four words hold.
    subtract_order_once([t[0], t[1], t[2], t[3]])
}
