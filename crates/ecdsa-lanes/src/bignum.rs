//! 256-bit integers as four words, least significant first: constants worked out when the crate is compiled, range
//! checks, and limbs.

use ecdsa::elliptic_curve::bigint::{Odd, U256};

/// Four words, least significant first.
pub(crate) type Words = [u64; 4];

/// Bits of a limb of the lanes.
pub(crate) const LIMB_BITS: u32 = 52;

/// The low 52 bits.
pub(crate) const LIMB_MASK: u64 = (1 << LIMB_BITS) - 1;

/// Words of a big-endian number.
pub(crate) const fn from_be_bytes(bytes: &[u8; 32]) -> Words {
    let mut words = [0; 4];
    let mut at = 0;
    while at < 32 {
        words[3 - at / 8] = words[3 - at / 8] << 8 | bytes[at] as u64;
        at += 1;
    }
    words
}

/// A big-endian number of words.
pub(crate) const fn to_be_bytes(words: &Words) -> [u8; 32] {
    let mut bytes = [0; 32];
    let mut at = 0;
    while at < 32 {
        bytes[at] = words[3 - at / 8].to_be_bytes()[at % 8];
        at += 1;
    }
    bytes
}

/// `a < b`, without a branch on either.
pub(crate) const fn less(a: &Words, b: &Words) -> bool {
    subtract_borrow(a, b).1
}

/// `a - b` modulo 2^256.
pub(crate) const fn subtract(a: &Words, b: &Words) -> Words {
    subtract_borrow(a, b).0
}

/// `a - b` modulo 2^256, and whether `a < b`, without a branch on either.
pub(crate) const fn subtract_borrow(a: &Words, b: &Words) -> (Words, bool) {
    let mut out = [0; 4];
    let mut borrow = false;
    let mut at = 0;
    while at < 4 {
        let (value, under) = a[at].overflowing_sub(b[at]);
        let (value, under_borrow) = value.overflowing_sub(borrow as u64);
        out[at] = value;
        borrow = under | under_borrow;
        at += 1;
    }
    (out, borrow)
}

/// Whether `a` is from 1 to `order - 1`, without a branch on it before the answer.
pub(crate) const fn is_scalar(a: &Words, order: &Words) -> bool {
    ((a[0] | a[1] | a[2] | a[3]) != 0) & less(a, order)
}

/// `1 / a` modulo an odd number; none of zero, or of what is not prime to it. The time depends on `a`.
pub(crate) fn inverse_vartime(a: &Words, modulus: &Words) -> Option<Words> {
    let modulus = Odd::new(U256::from_words(*modulus)).into_option()?;
    let inverse = U256::from_words(*a).invert_odd_mod_vartime(&modulus).into_option()?;
    Some(inverse.to_words())
}

/// `a + b` modulo 2^256 and the carry.
pub(crate) const fn add(a: &Words, b: &Words) -> (Words, bool) {
    let mut out = [0; 4];
    let mut carry = false;
    let mut at = 0;
    while at < 4 {
        let (value, over) = a[at].overflowing_add(b[at]);
        let (value, over_carry) = value.overflowing_add(carry as u64);
        out[at] = value;
        carry = over | over_carry;
        at += 1;
    }
    (out, carry)
}

/// `a * 2^exponent mod modulus`; `a < modulus`.
pub(crate) const fn shift_mod(a: &Words, exponent: u32, modulus: &Words) -> Words {
    let mut out = *a;
    let mut step = 0;
    while step < exponent {
        let (doubled, carry) = add(&out, &out);
        out = if carry || !less(&doubled, modulus) { subtract(&doubled, modulus) } else { doubled };
        step += 1;
    }
    out
}

/// `-1 / modulus mod 2^52`, for an odd modulus: Newton's iteration doubles the right bits each time.
pub(crate) const fn negative_inverse(modulus: &Words) -> u64 {
    let mut inverse = 1u64;
    let mut step = 0;
    while step < 6 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(modulus[0].wrapping_mul(inverse)));
        step += 1;
    }
    inverse.wrapping_neg() & LIMB_MASK
}

/// Five limbs of 52 bits, the last of 48.
pub(crate) const fn limbs(words: &Words) -> [u64; 5] {
    [
        words[0] & LIMB_MASK,
        (words[0] >> 52 | words[1] << 12) & LIMB_MASK,
        (words[1] >> 40 | words[2] << 24) & LIMB_MASK,
        (words[2] >> 28 | words[3] << 36) & LIMB_MASK,
        words[3] >> 16,
    ]
}

/// Five limbs of `factor * words`, `factor < 16`.
pub(crate) const fn limbs_times(words: &Words, factor: u64) -> [u64; 5] {
    let parts = limbs(words);
    let mut out = [0; 5];
    let mut carry = 0;
    let mut at = 0;
    while at < 5 {
        let value = parts[at] * factor + carry;
        out[at] = if at < 4 { value & LIMB_MASK } else { value };
        carry = value >> LIMB_BITS;
        at += 1;
    }
    out
}

/// `floor(2^260 / modulus)`; 16 to 31 for the moduli here.
pub(crate) const fn quotient_of_radix(modulus: &Words) -> u64 {
    // 2^256 - modulus is what is left of 2^256 after one subtraction: count subtractions from 2^260 = 16 * 2^256.
    let mut rest = subtract(&[0; 4], modulus);
    let mut high = 15u64;
    let mut quotient = 1;
    while high > 0 || !less(&rest, modulus) {
        if less(&rest, modulus) {
            high -= 1;
        }
        rest = subtract(&rest, modulus);
        quotient += 1;
    }
    quotient
}
