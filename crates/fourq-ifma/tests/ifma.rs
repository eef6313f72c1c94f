//! Sums in vectors against textbook arithmetic on big integers, which shares no code with them.
//!
//! The laws are polynomials, so that they can be checked with any coordinates, on the curve or not: every coordinate at an
//! edge, all alike, and random ones, as many as `IFMA_CASES` says.
#![allow(clippy::print_stdout, reason = "a test that skips says so")]

use chronoseal_fourq_ifma::Ifma;
use num_bigint::BigInt;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

const P: u128 = u128::MAX >> 1;

/// Numbers at whose limbs and words carries are made, passed on or lost; both forms of zero.
const EDGES: [u128; 21] = [
    0,
    1,
    2,
    (1 << 43) - 1,
    1 << 43,
    (1 << 52) - 1,
    1 << 52,
    (1 << 64) - 1,
    1 << 64,
    (1 << 86) - 1,
    1 << 86,
    ((1 << 43) - 1) << 43,
    ((1 << 41) - 1) << 86,
    P >> 64 << 64,
    (1 << 126) - 1,
    1 << 126,
    (1 << 126) + 1,
    P - (1 << 64),
    P - 2,
    P - 1,
    P,
];

fn ifma() -> Option<Ifma> {
    let ifma = Ifma::detect();
    if ifma.is_none() {
        println!("skipped: this processor lacks AVX-512 IFMA");
    }
    ifma
}

fn cases() -> usize {
    std::env::var("IFMA_CASES").map_or(2_000, |text| text.parse().expect("a number"))
}

/// A number in `0..=p`, often at an edge.
fn number(rng: &mut ChaCha20Rng) -> u128 {
    if rng.next_u32().is_multiple_of(2) {
        return EDGES[rng.next_u32() as usize % EDGES.len()];
    }
    (u128::from(rng.next_u64()) | u128::from(rng.next_u64()) << 64) & P
}

fn words<const LEN: usize>(mut number: impl FnMut() -> u128) -> [u64; LEN] {
    let mut words = [0; LEN];
    for word in words.chunks_exact_mut(2) {
        let number = number();
        (word[0], word[1]) = (number as u64, (number >> 64) as u64);
    }
    words
}

/// An element of GF(p^2), its parts not reduced.
#[derive(Clone)]
struct Element(BigInt, BigInt);

impl Element {
    fn plus(&self, other: &Self) -> Self {
        Self(&self.0 + &other.0, &self.1 + &other.1)
    }

    fn minus(&self, other: &Self) -> Self {
        Self(&self.0 - &other.0, &self.1 - &other.1)
    }

    fn times(&self, other: &Self) -> Self {
        Self(&self.0 * &other.0 - &self.1 * &other.1, &self.0 * &other.1 + &self.1 * &other.0)
    }
}

/// The elements in words.
fn elements<const COUNT: usize>(words: &[u64]) -> [Element; COUNT] {
    let part = |at: usize| BigInt::from(u128::from(words[at]) | u128::from(words[at + 1]) << 64);
    std::array::from_fn(|i| Element(part(4 * i), part(4 * i + 2)))
}

/// Twice the point X, Y, Z, as "Twisted Edwards Curves Revisited" has it, a = -1.
fn doubled([x, y, z, _]: &[Element; 4]) -> [Element; 4] {
    let (a, b, zz) = (x.times(x), y.times(y), z.times(z));
    let sum = x.plus(y);
    let e = sum.times(&sum).minus(&a).minus(&b);
    let g = b.minus(&a);
    let f = g.minus(&zz).minus(&zz);
    let h = Element(-&a.0 - &b.0, -&a.1 - &b.1);
    [e.times(&f), g.times(&h), f.times(&g), e.times(&h)]
}

/// The sum of a point and one that is X + Y, Y - X, 2Z, 2dT.
fn added([x, y, z, t]: &[Element; 4], [sum, difference, z_twice, t_2d]: &[Element; 4]) -> [Element; 4] {
    let (a, b) = (y.minus(x).times(difference), y.plus(x).times(sum));
    let (c, d) = (t.times(t_2d), z.times(z_twice));
    let (e, f, g, h) = (b.minus(&a), d.minus(&c), d.plus(&c), b.plus(&a));
    [e.times(&f), g.times(&h), f.times(&g), e.times(&h)]
}

/// The four coordinates are `scale` times those expected, and numbers up to p.
#[track_caller]
fn assert_is(found: &[u64; 16], expected: &[Element; 4], scale: i8, what: &str) {
    let p = BigInt::from(P);
    for (i, (found, expected)) in elements::<4>(found).iter().zip(expected).enumerate() {
        for (found, expected) in [(&found.0, &expected.0), (&found.1, &expected.1)] {
            assert!(*found <= p, "{what}, coordinate {i}: {found:x} exceeds p");
            let rest: BigInt = (found - expected * scale) % &p;
            assert_eq!(rest, BigInt::ZERO, "{what}, coordinate {i}");
        }
    }
}

fn check(ifma: Ifma, point: &[u64; 16], operand: &[u64; 16]) {
    let what = format!("{point:x?} {operand:x?}");
    let (here, there) = (elements::<4>(point), elements::<4>(operand));
    // All four coordinates may have the other sign: it is the same point.
    assert_is(&ifma.sum(point, |sum| sum.double()), &doubled(&here), -1, &what);
    assert_is(&ifma.sum(point, |sum| sum.add(operand)), &added(&here, &there), 1, &what);

    let [sum, difference, _, t_2d] = there;
    let two = Element(2.into(), 0.into());
    let affine = std::array::from_fn(|i| if i < 8 { operand[i] } else { operand[i + 4] });
    let expected = added(&here, &[sum, difference, two, t_2d]);
    assert_is(&ifma.sum(point, |sum| sum.add_affine(&affine)), &expected, 1, &what);
}

#[test]
fn elements_come_back() {
    let Some(ifma) = ifma() else { return };
    for re in EDGES {
        for im in EDGES {
            let mut parts = [re, im].into_iter().cycle();
            let point = words(|| parts.next().expect("there is no end"));
            assert_eq!(ifma.sum(&point, |_| {}), point);
        }
    }
}

#[test]
fn sums_of_numbers_at_the_edges() {
    let Some(ifma) = ifma() else { return };
    for one in EDGES {
        for other in EDGES {
            check(ifma, &words(|| one), &words(|| other));
        }
    }
}

#[test]
fn sums_of_random_numbers() {
    let Some(ifma) = ifma() else { return };
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    for _ in 0..cases() {
        let point = words(|| number(&mut rng));
        check(ifma, &point, &words(|| number(&mut rng)));
    }
}

#[test]
fn a_sum_that_is_kept_is_the_one_taken_out_after_every_step() {
    let Some(ifma) = ifma() else { return };
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    for _ in 0..cases() / 20 {
        let start: [u64; 16] = words(|| number(&mut rng));
        let operands: [[u64; 16]; 20] = std::array::from_fn(|_| words(|| number(&mut rng)));
        let step = |sum: &mut chronoseal_fourq_ifma::Sum, operand: &[u64; 16]| match operand[0] % 3 {
            0 => sum.double(),
            1 => sum.add(operand),
            _ => sum.add_affine(operand.first_chunk().expect("12 of 16 words")),
        };
        let kept = ifma.sum(&start, |sum| operands.iter().for_each(|operand| step(sum, operand)));
        let taken_out = operands.iter().fold(start, |point, operand| ifma.sum(&point, |sum| step(sum, operand)));
        assert_is(&kept, &elements(&taken_out), 1, &format!("{start:x?}"));
    }
}
