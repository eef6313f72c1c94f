//! The arithmetic against textbook numbers.
#![allow(unsafe_code)]

use num_bigint::BigUint;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;

use super::Mulx;
use super::field::Fe;
use crate::curve::{Modulus, NistP256Field};
use crate::modular::tests::{ROUNDS, big, random_number};

#[test]
fn the_field_computes_as_big_integers_do() {
    if Mulx::detect().is_none() {
        return println!("skipped: this processor has no BMI2, ADX or AVX2");
    }
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let prime = big(&NistP256Field::WORDS);
    let radix_inverse = (BigUint::from(1u8) << 256u32).modinv(&prime).expect("a prime");
    let two_inverse = BigUint::from(2u8).modinv(&prime).expect("a prime");
    for _ in 0..ROUNDS {
        let [a, b] = core::array::from_fn(|_| Fe(random_number(&mut random, &NistP256Field::WORDS)));
        let (x, y) = (big(&a.0), big(&b.0));
        // SAFETY: the processor was just asked.
        let (product, square, sum, difference, half, twice, negative) =
            unsafe { (a.mul(&b), a.square(), a.add(&b), a.sub(&b), a.half(), a.double(), a.negate()) };
        assert_eq!(big(&product.0), &x * &y * &radix_inverse % &prime, "{a:x?} {b:x?}");
        assert_eq!(big(&square.0), &x * &x * &radix_inverse % &prime, "{a:x?}");
        assert_eq!(big(&sum.0), (&x + &y) % &prime, "{a:x?} {b:x?}");
        assert_eq!(big(&difference.0), (&x + &prime - &y) % &prime, "{a:x?} {b:x?}");
        assert_eq!(big(&half.0), &x * &two_inverse % &prime, "{a:x?}");
        assert_eq!(big(&twice.0), &x * 2u8 % &prime, "{a:x?}");
        assert_eq!(big(&negative.0), (&prime - &x) % &prime, "{a:x?}");
    }
}

#[test]
fn inverses_and_roots_are_those_of_the_field() {
    if Mulx::detect().is_none() {
        return println!("skipped: this processor has no BMI2, ADX or AVX2");
    }
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let mut rootless = 0;
    for _ in 0..ROUNDS / 200 {
        let number = Fe(random_number(&mut random, &NistP256Field::WORDS));
        let one = if number.is_zero() { Fe::ZERO } else { Fe::ONE };
        // SAFETY: the processor was just asked.
        unsafe {
            assert_eq!(number.invert().mul(&number), one, "{number:x?}");
            assert_eq!(Fe::from_integer(&number.to_integer()), number);
            let root = number.square().root();
            assert!(root == number || root == number.negate(), "{number:x?}");
            rootless += usize::from(number.root().square() != number);
        }
    }
    assert!(rootless > ROUNDS / 600, "half of all numbers have no root: {rootless}");
}
