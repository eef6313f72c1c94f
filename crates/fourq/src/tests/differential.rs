//! The fast arithmetic against textbook arithmetic on big integers, which shares no code with it.
//!
//! Inputs lean towards the edges of words, where carries are lost. `FOURQ_DIFFERENTIAL_CASES=1000000` in a release build
//! is the full count.

use num_bigint::BigUint;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::double_base::double_multiply_vartime;
use crate::endomorphism::{phi, psi};
use crate::field::{Field, Portable};
use crate::fixed_base::multiply_generator;
use crate::fp::{Fp, P};
use crate::fp2::Fp2;
use crate::point::{Affine, D, Extended};
use crate::scalar::{N, Scalar};
use crate::tests::{doubled, sum, with_each_field};
use crate::variable_base::multiply;

/// Cases of field and scalar arithmetic; of every 100 one is a case of point addition, of every 10,000 one is a case of
/// scalar multiplication.
fn cases() -> usize {
    std::env::var("FOURQ_DIFFERENTIAL_CASES").map_or(5_000, |text| text.parse().expect("a number"))
}

/// A word that is often at an edge.
fn word(rng: &mut ChaCha20Rng) -> u64 {
    match rng.next_u32() % 16 {
        0 => 0,
        1 => 1,
        2 => u64::MAX,
        3 => u64::MAX - 1,
        4 => 1 << 63,
        5 => (1 << 63) - 1,
        6 => 1 << (rng.next_u32() % 64),
        7 => (1 << (rng.next_u32() % 64)) - 1,
        _ => rng.next_u64(),
    }
}

/// A number in `0..=p`: both forms of zero occur.
fn number(rng: &mut ChaCha20Rng) -> u128 {
    (u128::from(word(rng)) | u128::from(word(rng)) << 64) & P
}

fn element(rng: &mut ChaCha20Rng) -> Fp2 {
    Fp2::new(number(rng), number(rng))
}

fn words(rng: &mut ChaCha20Rng) -> [u64; 4] {
    std::array::from_fn(|_| word(rng))
}

fn bytes(words: [u64; 4]) -> [u8; 32] {
    std::array::from_fn(|i| words[i / 8].to_le_bytes()[i % 8])
}

fn p() -> BigUint {
    P.into()
}

fn n() -> BigUint {
    BigUint::from_bytes_le(&bytes(N))
}

fn big(x: Fp) -> BigUint {
    x.canonical().into()
}

/// An element of GF(p^2), textbook.
#[derive(Clone, Debug, PartialEq)]
struct Plain {
    re: BigUint,
    im: BigUint,
}

impl Plain {
    fn of(x: &Fp2) -> Self {
        Self { re: big(x.re()), im: big(x.im()) }
    }

    fn one() -> Self {
        Self { re: 1u32.into(), im: 0u32.into() }
    }

    fn add(&self, other: &Self) -> Self {
        Self { re: (&self.re + &other.re) % p(), im: (&self.im + &other.im) % p() }
    }

    fn neg(&self) -> Self {
        Self { re: (p() - &self.re) % p(), im: (p() - &self.im) % p() }
    }

    fn sub(&self, other: &Self) -> Self {
        self.add(&other.neg())
    }

    fn mul(&self, other: &Self) -> Self {
        let re = &self.re * &other.re + p() * p() - &self.im * &other.im;
        Self { re: re % p(), im: (&self.re * &other.im + &self.im * &other.re) % p() }
    }

    fn invert(&self) -> Self {
        let norm = (&self.re * &self.re + &self.im * &self.im) % p();
        let inverse = norm.modpow(&(p() - 2u32), &p());
        Self { re: &self.re * &inverse % p(), im: self.neg().im * &inverse % p() }
    }
}

/// A point, by the affine addition law of the twisted Edwards curve.
#[derive(Clone, Debug, PartialEq)]
struct PlainPoint {
    x: Plain,
    y: Plain,
}

impl PlainPoint {
    fn of(point: &Extended) -> Self {
        let Affine { x, y } = point.to_affine(Portable);
        Self { x: Plain::of(&x), y: Plain::of(&y) }
    }

    fn add(&self, other: &Self) -> Self {
        let (x1y2, y1x2) = (self.x.mul(&other.y), self.y.mul(&other.x));
        let (y1y2, x1x2) = (self.y.mul(&other.y), self.x.mul(&other.x));
        let t = Plain::of(&D).mul(&x1y2).mul(&y1x2);
        Self {
            x: x1y2.add(&y1x2).mul(&Plain::one().add(&t).invert()),
            y: y1y2.add(&x1x2).mul(&Plain::one().sub(&t).invert()),
        }
    }

    fn times(&self, k: &BigUint) -> Self {
        let identity = Self { x: Plain::one().sub(&Plain::one()), y: Plain::one() };
        (0..k.bits()).rev().fold(identity, |sum, bit| {
            let sum = sum.add(&sum);
            if k.bit(bit) { sum.add(self) } else { sum }
        })
    }
}

/// What is tight must not exceed p, or the next operation goes wrong.
fn assert_tight(x: &Fp2) {
    assert!(x.re().as_u128() <= P && x.im().as_u128() <= P, "{x:x?}");
}

#[test]
fn field_and_scalar_arithmetic() {
    fn run<F: Field>(field: F) {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        for case in 0..cases() {
            let (a, b) = (element(&mut rng), element(&mut rng));
            let (plain_a, plain_b) = (Plain::of(&a), Plain::of(&b));
            let inverse = a.invert(field);
            for (fast, plain) in [
                (field.mul(&a, &b), plain_a.mul(&plain_b)),
                (field.square(&a), plain_a.mul(&plain_a)),
                (a.add(&b), plain_a.add(&plain_b)),
                (a.sub(&b), plain_a.sub(&plain_b)),
                (a.neg(), plain_a.neg()),
                (a.conjugate(), Plain { re: plain_a.re.clone(), im: plain_a.neg().im }),
                (
                    Fp2::from_parts(field.mul_real(a.re(), b.re()), field.square_real_times(a.re(), 1)),
                    Plain { re: &plain_a.re * &plain_b.re % p(), im: &plain_a.re * &plain_a.re % p() },
                ),
                (
                    Fp2::from_parts(a.re().half().add(a.re().half()), a.norm()),
                    Plain { re: plain_a.re.clone(), im: (&plain_a.re * &plain_a.re + &plain_a.im * &plain_a.im) % p() },
                ),
            ] {
                assert_tight(&fast);
                assert_eq!(Plain::of(&fast), plain, "case {case}: {a:x?} {b:x?}");
            }
            if bool::from(a.is_zero()) {
                assert!(bool::from(inverse.is_zero()));
            } else {
                assert_eq!(Plain::of(&inverse).mul(&plain_a), Plain::one(), "case {case}: {a:x?}");
            }

            let (x, y) = (bytes(words(&mut rng)), bytes(words(&mut rng)));
            let (fast_x, fast_y) = (Scalar::from_bytes_mod_order(&x), Scalar::from_bytes_mod_order(&y));
            let (x, y) = (BigUint::from_bytes_le(&x), BigUint::from_bytes_le(&y));
            for (fast, plain) in [
                (fast_x, x.clone()),
                (fast_x.mul(&fast_y), &x * &y),
                (fast_x.add(&fast_y), &x + &y),
                (fast_x.sub(&fast_y), &x + &y * (n() - 1u32)),
            ] {
                assert_eq!(BigUint::from_bytes_le(&fast.to_bytes()), plain % n(), "case {case}: {x:x} {y:x}");
            }
        }
    }
    with_each_field!(run);
}

#[test]
fn point_addition() {
    fn run<F: Field>(field: F) {
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        let mut point = Affine::GENERATOR.to_extended();
        for case in 0..cases() / 100 {
            // Any point of the curve, of order N or not.
            let mut bytes = [0; 32];
            rng.fill_bytes(&mut bytes);
            (bytes[15], bytes[31]) = (bytes[15] & 0x7f, bytes[31] & 0x7f);
            let Ok(other) = Affine::decode_vartime(&bytes, field) else { continue };
            let other = other.to_extended();
            let (plain, plain_other) = (PlainPoint::of(&point), PlainPoint::of(&other));
            assert_eq!(PlainPoint::of(&doubled(&point, field)), plain.add(&plain), "case {case}");
            let sum = sum(&point, &other.to_cached(field), field);
            assert_eq!(PlainPoint::of(&sum), plain.add(&plain_other), "case {case}");
            point.add_affine(&other.to_affine(field).to_cached(), field);
            assert_eq!(PlainPoint::of(&point), PlainPoint::of(&sum));
            point = sum;
        }
    }
    with_each_field!(run);
}

#[test]
fn scalar_multiplication() {
    fn run<F: Field>(field: F) {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        for case in 0..(cases() / 10_000).max(3) {
            let (k, m) = (words(&mut rng), words(&mut rng));
            let (big_k, big_m) = (BigUint::from_bytes_le(&bytes(k)), BigUint::from_bytes_le(&bytes(m)));
            let generator = Affine::GENERATOR.to_extended();
            let plain = PlainPoint::of(&generator);
            let k_times = plain.times(&big_k);
            assert_eq!(PlainPoint::of(&multiply(&k, &generator, field)), k_times, "case {case}: {k:x?}");
            let scalars = [k, m].map(|words| Scalar::from_bytes_mod_order(&bytes(words)));
            assert_eq!(PlainPoint::of(&multiply_generator(&scalars[0], field)), k_times, "case {case}: {k:x?}");
            let other = doubled(&generator, field);
            let both = double_multiply_vartime(&scalars[0], &scalars[1], &other, field);
            let expected = k_times.add(&PlainPoint::of(&other).times(&big_m));
            assert_eq!(PlainPoint::of(&both), expected, "case {case}: {k:x?} {m:x?}");
        }
    }
    with_each_field!(run);
}

#[test]
fn endomorphisms_are_homomorphisms() {
    fn run<F: Field>(field: F) {
        let (g, h) =
            (Affine::GENERATOR.to_extended(), multiply_generator(&Scalar::from_u128(0x1234_5678_9abc_def0), field));
        for map in [phi, psi] {
            let sum = sum(&g, &h.to_cached(field), field);
            assert_eq!(
                PlainPoint::of(&map(&sum, field)),
                PlainPoint::of(&map(&g, field)).add(&PlainPoint::of(&map(&h, field)))
            );
        }
    }
    with_each_field!(run);
}

#[test]
fn squares_what_an_assembly_implementation_squared_wrong() {
    fn run<F: Field>(field: F) {
        // (2^64 i)^2 = -2^128 = -2: there a borrow was lost.
        assert_eq!(field.square(&Fp2::new(0, 1 << 64)), Fp2::new(P - 2, 0));
        for high in 1..64u128 {
            let a = Fp2::new(0, high << 64);
            let plain = Plain::of(&a);
            assert_eq!(Plain::of(&field.square(&a)), plain.mul(&plain));
        }
    }
    with_each_field!(run);
}
