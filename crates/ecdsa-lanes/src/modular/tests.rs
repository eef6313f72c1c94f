//! The arithmetic against textbook numbers.

use num_bigint::BigUint;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

use super::{Divisor, scalar};
use crate::bignum::{self, Words};
use crate::curve::{BrainpoolP256Order, Modulus, NistP256Field, NistP256Order};

pub(crate) const ROUNDS: usize = if cfg!(debug_assertions) { 20_000 } else { 1_000_000 };

pub(crate) fn big(words: &Words) -> BigUint {
    BigUint::from_bytes_be(&bignum::to_be_bytes(words))
}

/// A number below the modulus, often at an edge.
pub(crate) fn random_number(random: &mut ChaCha8Rng, modulus: &Words) -> Words {
    loop {
        let mut words: Words = core::array::from_fn(|_| random.next_u64());
        match random.next_u64() % 8 {
            0 => words = bignum::subtract(modulus, &[1 + words[0] % 4, 0, 0, 0]),
            1 => words = [words[0] % 4, 0, 0, 0],
            2 => {
                for word in &mut words {
                    *word = if *word % 2 == 0 { 0 } else { u64::MAX };
                }
            }
            3 => words[(random.next_u64() % 4) as usize] = u64::MAX,
            _ => {}
        }
        if bignum::less(&words, modulus) {
            return words;
        }
    }
}

#[test]
fn scalars_compute_as_big_integers_do() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let order = big(&NistP256Order::WORDS);
    let radix_inverse = (BigUint::from(1u8) << 256u32).modinv(&order).expect("a prime");
    for round in 0..ROUNDS {
        let a = random_number(&mut random, &NistP256Order::WORDS);
        let b = if round % 2 == 0 { random_number(&mut random, &NistP256Order::WORDS) } else { [u64::MAX; 4] };
        let (x, y) = (big(&a), big(&b));
        assert_eq!(big(&scalar::mul(&a, &b)), &x * &y * &radix_inverse % &order, "{a:x?} {b:x?}");
        assert_eq!(big(&scalar::mul(&b, &a)), &x * &y * &radix_inverse % &order, "{b:x?} {a:x?}");
        assert_eq!(big(&scalar::from_integer(&b)), &y % &order, "{b:x?}");
        let b = scalar::from_integer(&b);
        assert_eq!(big(&scalar::add(&a, &b)), (&x + &y) % &order, "{a:x?} {b:x?}");
    }
}

#[test]
fn inverses_are_those_of_big_integers() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let moduli =
        [NistP256Order::WORDS, NistP256Field::WORDS, BrainpoolP256Order::WORDS, [u64::MAX; 4], [3, 0, 0, 1 << 63]];
    for modulus in moduli {
        let (divisor, divides) = (Divisor::new(&modulus), big(&modulus));
        assert_eq!(divisor.invert(&[0; 4]), [0; 4]);
        let near = |less: u64| bignum::subtract(&modulus, &[less, 0, 0, 0]);
        let edges = [[1, 0, 0, 0], [2, 0, 0, 0], [0, 0, 0, 1 << 62], [u64::MAX; 4], near(1), near(2), near(3)];
        let numbers = (0..ROUNDS / 20).map(|round| match edges.get(round) {
            Some(edge) if bignum::less(edge, &modulus) => *edge,
            _ => random_number(&mut random, &modulus),
        });
        for number in numbers {
            // What is not prime to the modulus has no inverse.
            let Some(expected) = big(&number).modinv(&divides) else { continue };
            assert_eq!(big(&divisor.invert(&number)), expected, "{number:x?} modulo {modulus:x?}");
        }
    }
}

#[test]
fn scalars_are_inverted_alone_and_together() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    for len in [1, 2, 31, 32] {
        let mut numbers: Vec<Words> = (0..len)
            .map(|_| scalar::to_montgomery(&random_number(&mut random, &NistP256Order::WORDS)))
            .filter(|number| *number != [0; 4])
            .collect();
        let before = numbers.clone();
        scalar::invert_each(&mut numbers, |product| scalar::invert_vartime(product).expect("prime to the order"));
        for (number, inverse) in before.iter().zip(&numbers) {
            assert_eq!(scalar::mul(number, inverse), scalar::ONE);
            assert_eq!(scalar::invert(number), *inverse);
        }
    }
}
