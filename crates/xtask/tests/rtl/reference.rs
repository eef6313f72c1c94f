//! What the engine has to agree with: the crate `p256`, and arithmetic modulo p and n a bit at a time.

use p256::elliptic_curve::ops::Reduce;
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{FieldBytes, ProjectivePoint, PublicKey, Scalar};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::device::Number;

pub(crate) const P: &str = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff";
pub(crate) const N: &str = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";

/// The same numbers in every run.
pub(crate) fn random(seed: u64) -> ChaCha12Rng {
    ChaCha12Rng::seed_from_u64(seed)
}

pub(crate) fn number(hex: &str) -> Number {
    assert_eq!(hex.len(), 64);
    std::array::from_fn(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap())
}

pub(crate) fn small(value: u64) -> Number {
    let mut number = [0; 32];
    number[24..].copy_from_slice(&value.to_be_bytes());
    number
}

pub(crate) fn any_number(random: &mut impl Rng) -> Number {
    let mut number = [0; 32];
    random.fill_bytes(&mut number);
    number
}

/// `number` + `difference` mod 2^256.
pub(crate) fn near(number: Number, difference: i64) -> Number {
    let limbs = if difference < 0 { [u64::MAX; 4] } else { [0; 4] };
    let mut difference_limbs = limbs;
    difference_limbs[0] = difference.cast_unsigned();
    bytes(add(limbs_of(number), difference_limbs).0)
}

pub(crate) fn scalar(number: &Number) -> Scalar {
    Scalar::reduce(&FieldBytes::from(*number))
}

pub(crate) fn scalar_bytes(scalar: &Scalar) -> Number {
    scalar.to_bytes().into()
}

/// 1 / `number` mod n, which is what the host of the engine computes.
pub(crate) fn inverse(number: &Number) -> Number {
    scalar_bytes(&scalar(number).invert().unwrap())
}

pub(crate) fn base(k: &Number) -> ProjectivePoint {
    ProjectivePoint::GENERATOR * scalar(k)
}

/// X || Y of a point that is not at infinity.
pub(crate) fn coordinates(point: &ProjectivePoint) -> Vec<u8> {
    point.to_affine().to_sec1_point(false).as_bytes()[1..].to_vec()
}

/// Of a private key.
pub(crate) fn public_key(key: &Number) -> PublicKey {
    PublicKey::from_affine(base(key).to_affine()).unwrap()
}

/// Integers below 2^256 as the plainest arithmetic has them: least significant limb first.
type Limbs = [u64; 4];

fn limbs_of(number: Number) -> Limbs {
    std::array::from_fn(|i| u64::from_be_bytes(number[24 - 8 * i..32 - 8 * i].try_into().unwrap()))
}

fn bytes(limbs: Limbs) -> Number {
    let mut number = [0; 32];
    for (i, limb) in limbs.iter().enumerate() {
        number[24 - 8 * i..32 - 8 * i].copy_from_slice(&limb.to_be_bytes());
    }
    number
}

fn add(a: Limbs, b: Limbs) -> (Limbs, bool) {
    let mut carry = false;
    let sum = std::array::from_fn(|i| {
        let (sum, over) = a[i].overflowing_add(b[i]);
        let (sum, over_again) = sum.overflowing_add(u64::from(carry));
        carry = over || over_again;
        sum
    });
    (sum, carry)
}

fn sub(a: Limbs, b: Limbs) -> (Limbs, bool) {
    let mut borrow = false;
    let difference = std::array::from_fn(|i| {
        let (difference, under) = a[i].overflowing_sub(b[i]);
        let (difference, under_again) = difference.overflowing_sub(u64::from(borrow));
        borrow = under || under_again;
        difference
    });
    (difference, borrow)
}

/// `a` mod `modulus`, for a modulus above 2^255.
pub(crate) fn reduce(a: Number, modulus: Number) -> Number {
    let (difference, borrow) = sub(limbs_of(a), limbs_of(modulus));
    if borrow { a } else { bytes(difference) }
}

/// `a` + `b`, for both below `modulus`.
pub(crate) fn add_mod(a: Number, b: Number, modulus: Number) -> Number {
    let (sum, carry) = add(limbs_of(a), limbs_of(b));
    let (difference, borrow) = sub(sum, limbs_of(modulus));
    bytes(if carry || !borrow { difference } else { sum })
}

/// `a` - `b`, for both below `modulus`.
pub(crate) fn sub_mod(a: Number, b: Number, modulus: Number) -> Number {
    let (difference, borrow) = sub(limbs_of(a), limbs_of(b));
    bytes(if borrow { add(difference, limbs_of(modulus)).0 } else { difference })
}

/// `a` * `b`, for `a` below `modulus`, by doubling and adding.
pub(crate) fn mul_mod(a: Number, b: Number, modulus: Number) -> Number {
    let bits = b.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
    bits.fold([0; 32], |sum, bit| {
        let doubled = add_mod(sum, sum, modulus);
        if bit == 1 { add_mod(doubled, a, modulus) } else { doubled }
    })
}
