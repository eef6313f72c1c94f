//! The assembly against textbook arithmetic on big integers, which shares no code with it, and the look-ups against an
//! index.
//!
//! Every pair of elements whose parts are at an edge is multiplied, and as many random ones as `MULX_CASES` says.
#![allow(clippy::print_stdout, reason = "a test that skips says so")]

use chronoseal_fourq_mulx::{Mulx, Table};
use num_bigint::BigUint;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

const P: u128 = u128::MAX >> 1;

/// Numbers at whose words carries are made, passed on or lost; both forms of zero.
const EDGES: [u128; 17] = [
    0,
    1,
    2,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
    1 << 64,
    (1 << 64) + 1,
    P >> 64 << 64,
    1 << 125,
    (1 << 126) - 1,
    1 << 126,
    (1 << 126) + 1,
    P - (1 << 64),
    P - 2,
    P - 1,
    P,
];

fn mulx() -> Option<Mulx> {
    let mulx = Mulx::detect();
    if mulx.is_none() {
        println!("skipped: this processor lacks BMI2 or AVX2");
    }
    mulx
}

fn cases() -> usize {
    std::env::var("MULX_CASES").map_or(10_000, |text| text.parse().expect("a number"))
}

/// A number in `0..=p`, often at an edge.
fn number(rng: &mut ChaCha20Rng) -> u128 {
    let words = [(); 2].map(|()| match rng.next_u32() % 8 {
        0 => 0,
        1 => u64::MAX,
        2 => 1 << (rng.next_u32() % 64),
        3 => (1 << (rng.next_u32() % 64)) - 1,
        _ => rng.next_u64(),
    });
    (u128::from(words[0]) | u128::from(words[1]) << 64) & P
}

fn element(re: u128, im: u128) -> [u64; 4] {
    [re as u64, (re >> 64) as u64, im as u64, (im >> 64) as u64]
}

/// The parts of an element, which must not exceed p.
fn parts(element: [u64; 4]) -> [BigUint; 2] {
    [0, 2].map(|at| {
        let part = u128::from(element[at]) | u128::from(element[at + 1]) << 64;
        assert!(part <= P, "{element:x?}");
        BigUint::from(part) % P
    })
}

fn product(x: [u64; 4], y: [u64; 4]) -> [BigUint; 2] {
    let ([a, b], [c, d]) = (parts(x), parts(y));
    [(&a * &c + BigUint::from(P) * P - &b * &d) % P, (a * d + b * c) % P]
}

fn check_product(mulx: Mulx, x: [u64; 4], y: [u64; 4]) {
    assert_eq!(parts(mulx.mul(&x, &y)), product(x, y), "{x:x?} {y:x?}");
}

fn check_square(mulx: Mulx, x: [u64; 4]) {
    assert_eq!(parts(mulx.square(&x)), product(x, x), "{x:x?}");
}

fn check_real(mulx: Mulx, x: u128, y: u128) {
    let (product, square) = (mulx.mul_real(x, y), mulx.square_real_times(x, 1));
    assert!(product <= P && square <= P, "{x:x} {y:x}");
    assert_eq!(BigUint::from(product) % P, BigUint::from(x) * y % P, "{x:x} {y:x}");
    assert_eq!(BigUint::from(square) % P, BigUint::from(x) * x % P, "{x:x}");
}

#[test]
fn products_and_squares_of_every_edge() {
    let Some(mulx) = mulx() else { return };
    let elements: Vec<[u64; 4]> = EDGES.iter().flat_map(|&re| EDGES.map(|im| element(re, im))).collect();
    for &x in &elements {
        check_square(mulx, x);
        for &y in &elements {
            check_product(mulx, x, y);
        }
    }
    for x in EDGES {
        for y in EDGES {
            check_real(mulx, x, y);
        }
    }
}

#[test]
fn products_and_squares_of_random_elements() {
    let Some(mulx) = mulx() else { return };
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    for _ in 0..cases() {
        let [a, b, c, d] = [(); 4].map(|()| number(&mut rng));
        check_product(mulx, element(a, b), element(c, d));
        check_square(mulx, element(a, b));
        check_real(mulx, a, b);
    }
}

#[test]
fn squares_any_number_of_times() {
    let Some(mulx) = mulx() else { return };
    for x in EDGES {
        let mut expected = BigUint::from(x);
        for count in 0..130 {
            let power = mulx.square_real_times(x, count);
            assert!(power <= P);
            assert_eq!(BigUint::from(power) % P, &expected % P, "{x:x} {count}");
            expected = &expected * &expected % P;
        }
    }
}

/// Every entry of a table of random words, and its negative.
fn check_lookups<const WORDS: usize, const LEN: usize>(mulx: Mulx) {
    let mut rng = ChaCha20Rng::seed_from_u64(LEN as u64);
    let random = |rng: &mut ChaCha20Rng| std::array::from_fn(|_| rng.next_u64());
    let table = Table::<WORDS, LEN>(std::array::from_fn(|_| random(&mut rng)));
    for (index, entry) in table.0.iter().enumerate() {
        assert_eq!(mulx.lookup(&table, index as u64, 0).0, *entry, "{index}");
        let mut negative = *entry;
        for word in 0..4 {
            negative.swap(word, word + 4);
        }
        for (at, word) in negative[WORDS - 4..].iter_mut().enumerate() {
            *word ^= if at % 2 == 0 { u64::MAX } else { u64::MAX >> 1 };
        }
        assert_eq!(mulx.lookup(&table, index as u64, u64::MAX).0, negative, "{index}");
    }
}

#[test]
fn looks_up_every_entry_and_its_negative() {
    let Some(mulx) = mulx() else { return };
    check_lookups::<12, 16>(mulx);
    check_lookups::<16, 8>(mulx);
}
