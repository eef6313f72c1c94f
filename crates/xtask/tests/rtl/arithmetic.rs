//! Products, sums and differences by themselves, over operands that make long carries: random points hardly ever do.

use rand_chacha::rand_core::Rng;

use crate::device::{Device, Number, request};
use crate::reference::{N, P, add_mod, any_number, mul_mod, near, number, random, reduce, sub_mod};

/// Cases of each operation.
const CASES: usize = 4000;

/// 2^256 mod p.
const R: &str = "00000000fffffffeffffffffffffffffffffffff000000000000000000000001";

const MUL: u8 = 0;
const ADDP: u8 = 1;
const SUBP: u8 = 2;
const ADDN: u8 = 3;
const SUBN: u8 = 4;

/// Random, near the modulus, or of limbs that are mostly all zeros or all ones.
fn operand(random: &mut impl Rng, modulus: Number) -> Number {
    const LIMBS: [u64; 8] = [0, 1, u64::MAX, u64::MAX - 1, 1 << 63, 1 << 32, (1 << 32) - 1, u64::MAX - (1 << 32) + 1];
    match random.next_u32() % 4 {
        0 => reduce(any_number(random), modulus),
        1 => near(modulus, -1 - i64::from(random.next_u32() % 3)),
        _ => {
            let mut limbs = [0; 32];
            for limb in limbs.chunks_exact_mut(8) {
                limb.copy_from_slice(&LIMBS[random.next_u32() as usize % LIMBS.len()].to_be_bytes());
            }
            reduce(limbs, modulus)
        }
    }
}

#[test]
#[ignore = "needs the simulator"]
fn montgomery_products_are_right() {
    let (mut device, mut random, p) = (Device::start(), random(1), number(P));
    for case in 0..CASES {
        // The first operand may be anything below 2^256.
        let a = if case % 8 == 0 { near([0xff; 32], -i64::from(random.next_u32())) } else { operand(&mut random, p) };
        let b = operand(&mut random, p);
        let product: Number = device.result(request::DIAGNOSE, &[&[MUL], &a, &b]).try_into().unwrap();
        assert_eq!(product, reduce(product, p), "{a:02x?} {b:02x?}");
        assert_eq!(mul_mod(product, number(R), p), mul_mod(reduce(a, p), b, p), "{a:02x?} {b:02x?}");
    }
}

#[test]
#[ignore = "needs the simulator"]
fn sums_and_differences_are_right() {
    let (mut device, mut random) = (Device::start(), random(2));
    for (modulus, sum, difference) in [(number(P), ADDP, SUBP), (number(N), ADDN, SUBN)] {
        for _ in 0..CASES {
            let (a, b) = (operand(&mut random, modulus), operand(&mut random, modulus));
            let case = format!("{a:02x?} {b:02x?}");
            assert_eq!(device.result(request::DIAGNOSE, &[&[sum], &a, &b]), add_mod(a, b, modulus), "{case}");
            assert_eq!(device.result(request::DIAGNOSE, &[&[difference], &a, &b]), sub_mod(a, b, modulus), "{case}");
        }
    }
}

#[test]
#[ignore = "needs the simulator"]
fn operations_take_one_time_whatever_the_operands() {
    let (mut device, mut random, p) = (Device::start(), random(3), number(P));
    for operation in [MUL, ADDP, SUBP, ADDN, SUBN] {
        let mut cycles: Vec<u64> = (0..200)
            .map(|_| (operand(&mut random, p), operand(&mut random, p)))
            .map(|(a, b)| device.ask(request::DIAGNOSE, &[&[operation], &a, &b]).cycles)
            .collect();
        cycles.dedup();
        assert_eq!(cycles.len(), 1, "operation {operation}: {cycles:?}");
    }
}
