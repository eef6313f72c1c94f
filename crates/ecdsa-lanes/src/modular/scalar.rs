//! Numbers modulo the order of P-256's generator, of which a signature needs few: in Montgomery's form with R = 2^256, in plain
//! Rust, without a branch on them but for what is named `vartime`.

use zeroize::Zeroize as _;

use super::{Divisor, opaque};
use crate::bignum::{self, Words};
use crate::curve::{Modulus, NistP256Order};
use crate::job::{Signature, Signing};

const N: Words = NistP256Order::WORDS;

/// `-1 / N mod 2^64`
const N_INVERSE: u64 = {
    let mut inverse = 1u64;
    let mut step = 0;
    while step < 6 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(N[0].wrapping_mul(inverse)));
        step += 1;
    }
    inverse.wrapping_neg()
};

/// R
pub(crate) const ONE: Words = bignum::subtract(&[0; 4], &N);
/// R²
const R_SQUARED: Words = bignum::shift_mod(&ONE, 256, &N);
/// R³
const R_CUBED: Words = bignum::shift_mod(&R_SQUARED, 256, &N);
/// What is left of 2^256 when the order has been taken away once is less than the order.
const _: () = assert!(N[3] >> 63 == 1);

/// `a b / R`; one of the factors is below the order, the other below 2^256.
pub(crate) fn mul(a: &Words, b: &Words) -> Words {
    let wide = |a: u64, b: u64| u128::from(a) * u128::from(b);
    let split = |sum: u128| (sum as u64, (sum >> 64) as u64);
    // Below 2^256 plus the order: five words.
    let mut sum = [0u64; 5];
    for digit in a {
        let mut carry = 0;
        for (word, factor) in sum.iter_mut().zip(b) {
            (*word, carry) = split(wide(*digit, *factor) + u128::from(*word) + u128::from(carry));
        }
        let (fourth, fifth) = split(u128::from(sum[4]) + u128::from(carry));
        let factor = sum[0].wrapping_mul(N_INVERSE);
        let (_, mut carry) = split(wide(factor, N[0]) + u128::from(sum[0]));
        for at in 1..4 {
            (sum[at - 1], carry) = split(wide(factor, N[at]) + u128::from(sum[at]) + u128::from(carry));
        }
        (sum[3], carry) = split(u128::from(fourth) + u128::from(carry));
        sum[4] = fifth + carry;
    }
    let low = [sum[0], sum[1], sum[2], sum[3]];
    reduce(&low, sum[4])
}

/// `high 2^256 + low` modulo the order, of what is below twice the order.
fn reduce(low: &Words, high: u64) -> Words {
    let (less, is_below) = bignum::subtract_borrow(low, &N);
    let keep = 0u64.wrapping_sub(opaque(u64::from(is_below)) & (high ^ 1));
    core::array::from_fn(|at| low[at] & keep | less[at] & !keep)
}

/// `a + b` modulo the order, of numbers below it.
pub(crate) fn add(a: &Words, b: &Words) -> Words {
    let (sum, carry) = bignum::add(a, b);
    reduce(&sum, u64::from(carry))
}

/// Any number below 2^256, modulo the order.
pub(crate) fn from_integer(words: &Words) -> Words {
    reduce(words, 0)
}

/// In Montgomery's form.
pub(crate) fn to_montgomery(words: &Words) -> Words {
    mul(words, &R_SQUARED)
}

/// `1 / a`, both in Montgomery's form; none of zero. The time depends on the number.
pub(crate) fn invert_vartime(a: &Words) -> Option<Words> {
    bignum::inverse_vartime(a, &N).map(|inverse| mul(&inverse, &R_CUBED))
}

/// `1 / a`, both in Montgomery's form, or zero of zero: the same time for every number.
pub(crate) fn invert(a: &Words) -> Words {
    const ORDER: Divisor = Divisor::new(&N);
    mul(&ORDER.invert(a), &R_CUBED)
}

/// The inverses of numbers in Montgomery's form, by one inversion of their product; what is zero has to be left out before.
pub(crate) fn invert_each(numbers: &mut [Words], invert: impl FnOnce(&Words) -> Words) {
    // `products[i]` is that of all numbers before `i`.
    let mut products = [ONE; crate::mulx::JOBS_MAX];
    let mut product = ONE;
    for (number, before) in numbers.iter().zip(&mut products) {
        *before = product;
        product = mul(&product, number);
    }
    let mut inverse = invert(&product);
    for (number, before) in numbers.iter_mut().zip(&products).rev() {
        let own = mul(&inverse, before);
        inverse = mul(&inverse, number);
        *number = own;
    }
    products[..numbers.len()].as_flattened_mut().zeroize();
}

/// The signature with a nonce of which the inverse is given, in Montgomery's form, and of whose multiple of the generator x, below
/// the prime. None where r or s is zero.
#[inline]
pub(crate) fn signature(x: &Words, nonce_inverse: &Words, job: &Signing<'_>) -> Option<Signature> {
    // The prime is above the order by less than the order.
    let r = from_integer(x);
    let mut secret = to_montgomery(&bignum::from_be_bytes(job.secret));
    let mut sum = mul(&r, &secret);
    sum = add(&sum, &from_integer(&bignum::from_be_bytes(job.digest)));
    let s = mul(&sum, nonce_inverse);
    secret.zeroize();
    sum.zeroize();
    let [r, s] = [&r, &s].map(|words| (*words != [0; 4]).then(|| bignum::to_be_bytes(words)));
    r.zip(s).map(|(r, s)| Signature { r, s })
}
