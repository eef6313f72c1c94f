//! The arithmetic against textbook numbers, lane by lane, and that the lanes decide by themselves.
#![allow(unsafe_code)]

use num_bigint::BigUint;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use super::field::{Factor, Fe};
use super::input::Column;
use super::point::{Affine, Jacobian};
use super::vector::{load, store};
use super::*;
use crate::bignum::{self, Words};
use crate::curve::{BrainpoolP256Field, BrainpoolP256Order, Modulus, NistP256Field, NistP256Order, Weierstrass};

/// Rounds of eight lanes for each of the four primes: a million products of each kind where the compiler optimizes.
const ROUNDS: usize = if cfg!(debug_assertions) { 200 } else { 125_000 / 4 };

/// Runs a body that takes the lanes; says so where there are none.
macro_rules! on_lanes {
    ($body:expr) => {
        if Lanes::detect().is_some() {
            // SAFETY: the processor was just asked.
            unsafe { $body }
        } else {
            println!("skipped: this processor has no AVX-512 IFMA");
        }
    };
}

fn big(limbs: &[u64]) -> BigUint {
    limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 52u32) + *limb)
}

fn big_words(words: &Words) -> BigUint {
    BigUint::from_bytes_be(&bignum::to_be_bytes(words))
}

fn prime<M: Modulus>() -> BigUint {
    big_words(&M::WORDS)
}

/// Limbs of a number in each lane, whatever stands above their 52nd bits.
#[target_feature(enable = "avx512ifma")]
fn values<M: Modulus, const CLEAN: bool>(number: &field::Number<M, CLEAN>) -> [BigUint; 8] {
    let clean = number.clean();
    let rows: Vec<[u64; 8]> = clean.limbs().iter().map(|row| store(*row)).collect();
    std::array::from_fn(|lane| big(&rows.iter().map(|row| row[lane]).collect::<Vec<_>>()))
}

/// Eight numbers below 2^260, some of them at an edge.
#[target_feature(enable = "avx512ifma")]
fn random_number<M: Modulus>(random: &mut ChaCha8Rng, top_bits: u32) -> Fe<M> {
    let mut rows = [[0u64; 8]; 5];
    for lane in 0..8 {
        let edge = random.next_u64() % 16;
        for (at, row) in rows.iter_mut().enumerate() {
            let bits = if at == 4 { top_bits } else { 52 };
            row[lane] = (1 << bits) - 1;
            match edge {
                0 => row[lane] = 0,
                1 => {}
                2 => row[lane] = M::LIMBS[at],
                3 => row[lane] = M::LIMBS[at] - u64::from(at == 0),
                4 => row[lane] = u64::from(at == 0),
                _ => row[lane] &= random.next_u64(),
            }
        }
    }
    Fe::from_limbs([load(&rows[0]), load(&rows[1]), load(&rows[2]), load(&rows[3]), load(&rows[4])])
}

#[target_feature(enable = "avx512ifma")]
fn check_products<M: Modulus>(seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (p, radix) = (prime::<M>(), BigUint::from(1u8) << 260u32);
    let inverse = radix.modinv(&p).expect("the prime is odd");
    let mut checked = 0;
    for _ in 0..ROUNDS {
        // Below 2^258: four times the prime and more, as the widest operands of a formula.
        let (a, b) = (random_number::<M>(&mut random, 50), random_number::<M>(&mut random, 50));
        let (c, d) = (random_number::<M>(&mut random, 49), random_number::<M>(&mut random, 49));
        let product = values(&a.mul(&b));
        let square = values(&a.square());
        let sum = values(&c.square_product().doubled().plus_product(&c, &d).reduce().carry());
        let canonical = values(&a.times(&b).canonical());
        let (a, b, c, d) = (values(&a), values(&b), values(&c), values(&d));
        for lane in 0..8 {
            let expected = &a[lane] * &b[lane] * &inverse % &p;
            assert_eq!(&product[lane] % &p, expected);
            assert!(product[lane] < &a[lane] * &b[lane] / &radix + &p + 1u8, "a product is below its bound");
            assert_eq!(canonical[lane], expected);
            assert_eq!(&square[lane] % &p, &a[lane] * &a[lane] * &inverse % &p);
            let expected = (&c[lane] * &c[lane] * 2u8 + &c[lane] * &d[lane]) * &inverse % &p;
            assert_eq!(&sum[lane] % &p, expected);
            checked += 1;
        }
    }
    println!("{checked} products, squares and sums of products");
}

#[target_feature(enable = "avx512ifma")]
fn check_sums<M: Modulus>(seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let p = prime::<M>();
    for _ in 0..ROUNDS {
        let (a, b) = (random_number::<M>(&mut random, 48), random_number::<M>(&mut random, 48));
        let plus = values(&a.acc().doubled().plus(&b.acc()).carry());
        let minus = a.acc().minus(&b.acc()).plus_primes::<3>();
        let (carried, reduced, canonical) =
            (values(&minus.carry()), values(&minus.reduce()), values(&minus.canonical()));
        let negated = values(&a.acc().negate_where::<2>(0x0f).carry());
        let zero = minus.minus(&minus.carry().acc()).plus_primes::<1>().zero_mask();
        assert_eq!(zero, 0xff, "a number less itself is zero in every lane");
        let (a, b) = (values(&a), values(&b));
        for lane in 0..8 {
            assert_eq!(plus[lane], &a[lane] * 2u8 + &b[lane]);
            let difference = &a[lane] + &p * 3u8 - &b[lane];
            assert_eq!(carried[lane], difference);
            assert_eq!(&reduced[lane] % &p, &difference % &p);
            assert!(&reduced[lane] * 10u8 < &p * 11u8, "reduced below 1.1");
            assert_eq!(canonical[lane], difference % &p);
            let expected = if lane < 4 { &p * 2u8 - &a[lane] } else { a[lane].clone() };
            assert_eq!(negated[lane], expected);
        }
    }
}

#[target_feature(enable = "avx512ifma")]
fn check_powers<M: Modulus, N: Modulus>(seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (p, q) = (prime::<M>(), prime::<N>());
    for _ in 0..ROUNDS / 200 + 1 {
        let (a, b) = (random_number::<M>(&mut random, 48), random_number::<N>(&mut random, 48));
        let (x, y) = a.to_montgomery().invert_with(&b.to_montgomery());
        let (x, y, alone) = (values(&x.to_integer()), values(&y.to_integer()), a.to_montgomery().invert());
        assert_eq!(values(&alone.to_integer()), x);
        let (a, b) = (values(&a), values(&b));
        for lane in 0..8 {
            let inverse = |a: &BigUint, p: &BigUint| (a % p).modinv(p).unwrap_or_default();
            assert_eq!(x[lane], inverse(&a[lane], &p));
            assert_eq!(y[lane], inverse(&b[lane], &q));
        }
    }
}

#[target_feature(enable = "avx512ifma")]
fn sum<C: Weierstrass>(a: &Jacobian<C>, b: &Jacobian<C>) -> Jacobian<C> {
    let mut sum = *a;
    sum.add_jacobian(b);
    sum
}

/// Doubles and adds at random, and sees that no coordinate leaves the bounds in the comments.
#[target_feature(enable = "avx512ifma")]
fn check_bounds<C: Weierstrass>(seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let p = prime::<C::Field>();
    let generator = Affine::<C>::generator();
    let mut point = generator.jacobian();
    point.double();
    let mut earlier = point;
    let mut greatest = [BigUint::ZERO, BigUint::ZERO, BigUint::ZERO];
    let at_edge = |factor: &Factor<C::Field>| factor.clean();
    for step in 0..ROUNDS {
        match random.next_u32() % 8 {
            0 | 1 => point.add(&generator, random.next_u32() as u8),
            2 => (point, earlier) = (sum(&point, &earlier), point),
            _ => point.double(),
        }
        // Start again from the greatest allowed form of the same point now and then: X + 0 p, Y + p, Z + p.
        if step % 16 == 0 {
            point.y = at_edge(&point.y).acc().reduce().acc().plus_primes::<1>().carry_factor();
            point.z = at_edge(&point.z).acc().reduce().acc().plus_primes::<2>().carry_factor();
        }
        for (greatest, values) in greatest.iter_mut().zip([values(&point.x), values(&point.y), values(&point.z)]) {
            *greatest = values.into_iter().max().expect("eight lanes").max(greatest.clone());
        }
    }
    let tenths = greatest.map(|value| value * 10u8 / &p);
    assert!(tenths[0] < 11u8.into() && tenths[1] < 28u8.into() && tenths[2] < 31u8.into(), "{tenths:?}");
}

#[test]
fn products_agree_with_textbook_numbers() {
    on_lanes!({
        check_products::<NistP256Field>(1);
        check_products::<NistP256Order>(2);
        check_products::<BrainpoolP256Field>(3);
        check_products::<BrainpoolP256Order>(4);
    });
}

#[test]
fn sums_agree_with_textbook_numbers() {
    on_lanes!({
        check_sums::<NistP256Field>(5);
        check_sums::<NistP256Order>(6);
        check_sums::<BrainpoolP256Field>(7);
        check_sums::<BrainpoolP256Order>(8);
    });
}

#[test]
fn inverses_agree_with_textbook_numbers() {
    on_lanes!({
        check_powers::<NistP256Field, NistP256Order>(9);
        check_powers::<BrainpoolP256Order, BrainpoolP256Field>(10);
    });
}

#[test]
fn coordinates_stay_below_the_bounds_in_the_comments() {
    on_lanes!({
        check_bounds::<NistP256>(11);
        check_bounds::<BrainpoolP256>(12);
    });
}

#[test]
fn limbs_and_words_are_the_same_number() {
    #[target_feature(enable = "avx512ifma")]
    fn check() {
        let mut random = ChaCha8Rng::seed_from_u64(13);
        let mut column = Column::ZERO;
        let mut expected = Vec::new();
        for lane in 0..8 {
            let words: Words = std::array::from_fn(|_| random.next_u64());
            column.set(lane, &words);
            expected.push(words);
        }
        let number = column.load::<NistP256Field>();
        let (values, back) = (values(&number), Column::store(&number.to_words()));
        for lane in 0..8 {
            assert_eq!(values[lane], big_words(&expected[lane]));
            assert_eq!(back.bytes(lane), bignum::to_be_bytes(&expected[lane]));
        }
    }
    on_lanes!(check());
}

#[test]
fn constants_are_what_their_names_say() {
    fn check<M: Modulus>() {
        let p = prime::<M>();
        let radix = BigUint::from(1u8) << 260u32;
        assert_eq!(big_words(&M::ONE), &radix % &p);
        assert_eq!(big_words(&M::R_SQUARED), &radix * &radix % &p);
        assert_eq!(BigUint::from(M::QUOTIENT), &radix / &p);
        assert_eq!((&p * M::K0 + 1u8) % (1u64 << 52), BigUint::ZERO);
        for multiple in 0..8usize {
            assert_eq!(big(&M::MULTIPLES.map(|row| row[multiple])), &p * multiple);
        }
        assert_eq!(big_words(&M::MINUS_TWO), &p - 2u8);
    }
    check::<NistP256Field>();
    check::<NistP256Order>();
    check::<BrainpoolP256Field>();
    check::<BrainpoolP256Order>();
    for p in [prime::<NistP256Field>(), prime::<BrainpoolP256Field>()] {
        assert_eq!(&p % 4u8, 3u8.into());
    }
    assert_eq!(big_words(&NistP256Field::ROOT), (prime::<NistP256Field>() + 1u8) / 4u8);
    assert_eq!(big_words(&BrainpoolP256Field::ROOT), (prime::<BrainpoolP256Field>() + 1u8) / 4u8);
}

/// Signatures by the scalar code, verified with nobody to ask: were a lane unclear, its signature would be refused.
#[test]
fn lanes_decide_without_the_scalar_code() {
    let Some(lanes) = Lanes::detect() else { return println!("skipped: this processor has no AVX-512 IFMA") };
    let mut random = ChaCha8Rng::seed_from_u64(14);
    for curve in [Curve::NistP256, Curve::BrainpoolP256r1] {
        let mut parts = vec![[[0u8; 32]; 2]; 32];
        for [secret, digest] in &mut parts {
            random.fill_bytes(secret);
            random.fill_bytes(digest);
            secret[0] &= 0x7f;
        }
        let public: Vec<_> = parts.iter().map(|[secret, _]| crate::fallback::tests::public(curve, secret)).collect();
        let signatures: Vec<_> = (parts.iter())
            .map(|[secret, digest]| {
                crate::fallback::sign(&Signing { curve, digest, secret, entropy: &[] }).expect("in range")
            })
            .collect();
        let jobs: Vec<_> = (parts.iter().zip(&public).zip(&signatures))
            .map(|(([_, digest], [public_x, public_y]), Signature { r, s })| Verification {
                curve,
                digest,
                r,
                s,
                public_x,
                public_y,
            })
            .collect();
        let mut results = [false; 32];
        lanes.verify(curve, &jobs, &mut results, |_| false, &mut || ());
        assert_eq!(results, [true; 32], "{curve:?}");
        for job in jobs {
            let mut alone = [false];
            lanes.verify(curve, &[job], &mut alone, |_| false, &mut || ());
            assert_eq!(alone, [true], "{curve:?}, alone");
        }
    }
}

/// The key is the generator and the digest is r, so that both scalars are equal: sums meet their like.
#[test]
fn lanes_ask_the_scalar_code_where_their_formulas_end() {
    let Some(lanes) = Lanes::detect() else { return println!("skipped: this processor has no AVX-512 IFMA") };
    for curve in [Curve::NistP256, Curve::BrainpoolP256r1] {
        let mut secret = [0; 32];
        secret[31] = 1;
        let [public_x, public_y] = crate::fallback::tests::public(curve, &secret);
        // R = (r / s) (G + Q) is infinity for Q = -G: no signature is right, and Z is zero.
        let order = match curve {
            Curve::NistP256 => NistP256Field::WORDS,
            Curve::BrainpoolP256r1 => BrainpoolP256Field::WORDS,
        };
        let minus_y = bignum::to_be_bytes(&bignum::subtract(&order, &bignum::from_be_bytes(&public_y)));
        let r = [7; 32];
        let job = Verification { curve, digest: &r, r: &r, s: &r, public_x: &public_x, public_y: &minus_y };
        for number in [1, 2] {
            let (jobs, mut results) = (vec![job; number], vec![false; number]);
            lanes.verify(curve, &jobs, &mut results, |_| true, &mut || ());
            assert_eq!(results, vec![true; number], "{curve:?}: the scalar code was asked");
            lanes.verify(curve, &jobs, &mut results, crate::fallback::verify, &mut || ());
            assert_eq!(results, vec![false; number], "{curve:?}: and refuses");
        }
    }
}
