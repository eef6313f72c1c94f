//! The two curves: numbers from FIPS 186-5 / SEC 2 and RFC 5639.

use crate::bignum::{self, Words};

/// A curve of 256 bits whose signatures the lanes compute.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Curve {
    /// NIST P-256, secp256r1.
    NistP256,
    /// brainpoolP256r1 (RFC 5639 §3.4).
    BrainpoolP256r1,
}

/// A prime the lanes compute modulo, at least 2^255, and the numbers Montgomery's multiplication with R = 2^260 wants.
pub(crate) trait Modulus: Copy {
    /// The prime.
    const WORDS: Words;
    /// Limbs of the prime.
    const LIMBS: [u64; 5] = bignum::limbs(&Self::WORDS);
    /// `-1 / prime mod 2^52`.
    const K0: u64 = bignum::negative_inverse(&Self::WORDS);
    /// R modulo the prime: one in Montgomery's form.
    const ONE: Words = bignum::shift_mod(&bignum::subtract(&[0; 4], &Self::WORDS), 4, &Self::WORDS);
    /// R² modulo the prime: a factor of it brings a number into Montgomery's form.
    const R_SQUARED: Words = bignum::shift_mod(&Self::ONE, 260, &Self::WORDS);
    /// `floor(2^260 / prime)`: the top limb times this, over 2^52, is the quotient by the prime or one less.
    const QUOTIENT: u64 = bignum::quotient_of_radix(&Self::WORDS);
    /// Limbs of 0 to 7 times the prime: `[limb][multiple]`.
    const MULTIPLES: [[u64; 8]; 5] = multiples(&Self::WORDS);
    /// The prime less two: a power that inverts.
    const MINUS_TWO: Words = bignum::subtract(&Self::WORDS, &[2, 0, 0, 0]);
    /// A quarter of the prime plus one: a power that is the square root of a square, the prime being 3 modulo 4.
    const ROOT: Words = quarter_rounded_up(&Self::WORDS);
}

/// A number in Montgomery's form.
pub(crate) const fn montgomery(value: &Words, modulus: &Words) -> Words {
    bignum::shift_mod(value, 260, modulus)
}

const fn multiples(modulus: &Words) -> [[u64; 8]; 5] {
    let mut out = [[0; 8]; 5];
    let mut multiple = 0;
    while multiple < 8 {
        let limbs = bignum::limbs_times(modulus, multiple as u64);
        let mut at = 0;
        while at < 5 {
            out[at][multiple] = limbs[at];
            at += 1;
        }
        multiple += 1;
    }
    out
}

const fn quarter_rounded_up(modulus: &Words) -> Words {
    let mut out = [0; 4];
    let mut at = 0;
    while at < 4 {
        let above = if at < 3 { modulus[at + 1] << 62 } else { 0 };
        out[at] = modulus[at] >> 2 | above;
        at += 1;
    }
    bignum::add(&out, &[1, 0, 0, 0]).0
}

/// A curve y² = x³ - 3x + b over a prime field, and how the curve of the standard maps to it.
pub(crate) trait Weierstrass: Copy {
    /// The coordinates' field.
    type Field: Modulus;
    /// Integers modulo the order of the generator.
    type Order: Modulus;
    /// What the interface calls it.
    const CURVE: Curve;
    /// `b` in Montgomery's form.
    const B: Words;
    /// The generator's coordinates in Montgomery's form.
    const GENERATOR: [Words; 2];
    /// Where a point `(x, y)` of the standard's curve is `(x z², y z³)` of this one.
    const TWIST: Option<Twist>;
}

/// Powers of z in Montgomery's form.
pub(crate) struct Twist {
    /// z²
    pub(crate) x: Words,
    /// z³
    pub(crate) y: Words,
    /// 1 / z²
    pub(crate) x_inverse: Words,
    /// 1 / z³
    pub(crate) y_inverse: Words,
}

#[derive(Clone, Copy)]
pub(crate) struct NistP256;

#[derive(Clone, Copy)]
pub(crate) struct NistP256Field;

#[derive(Clone, Copy)]
pub(crate) struct NistP256Order;

impl Modulus for NistP256Field {
    const WORDS: Words = words("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff");
}

impl Modulus for NistP256Order {
    const WORDS: Words = words("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");
}

impl Weierstrass for NistP256 {
    type Field = NistP256Field;
    type Order = NistP256Order;
    const CURVE: Curve = Curve::NistP256;
    const B: Words = in_field::<Self::Field>("5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b");
    const GENERATOR: [Words; 2] = [
        in_field::<Self::Field>("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"),
        in_field::<Self::Field>("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"),
    ];
    const TWIST: Option<Twist> = None;
}

/// brainpoolP256r1, computed on its twist brainpoolP256t1, which has a = -3.
#[derive(Clone, Copy)]
pub(crate) struct BrainpoolP256;

#[derive(Clone, Copy)]
pub(crate) struct BrainpoolP256Field;

#[derive(Clone, Copy)]
pub(crate) struct BrainpoolP256Order;

impl Modulus for BrainpoolP256Field {
    const WORDS: Words = words("a9fb57dba1eea9bc3e660a909d838d726e3bf623d52620282013481d1f6e5377");
}

impl Modulus for BrainpoolP256Order {
    const WORDS: Words = words("a9fb57dba1eea9bc3e660a909d838d718c397aa3b561a6f7901e0e82974856a7");
}

impl Weierstrass for BrainpoolP256 {
    type Field = BrainpoolP256Field;
    type Order = BrainpoolP256Order;
    const CURVE: Curve = Curve::BrainpoolP256r1;
    const B: Words = in_field::<Self::Field>("662c61c430d84ea4fe66a7733d0b76b7bf93ebc4af2f49256ae58101fee92b04");
    /// The generator of brainpoolP256t1: the image of brainpoolP256r1's.
    const GENERATOR: [Words; 2] = [
        in_field::<Self::Field>("a3e8eb3cc1cfe7b7732213b23a656149afa142c47aafbc2b79a191562e1305f4"),
        in_field::<Self::Field>("2d996c823439c56d7f7b22e14644417e69bcb6de39d027001dabe8f35b25c9be"),
    ];
    /// Of Z of RFC 5639 §3.4, `3e2d4bd9 ... fc150ef0`.
    const TWIST: Option<Twist> = Some(Twist {
        x: in_field::<Self::Field>("82bc2eb23a37e62ad4843df8cffd588aad32a61e81a9ad970b3fbd112adb923f"),
        y: in_field::<Self::Field>("842578589fb6c8e983ecc3d1194894ad7a79f385afabee717c45c8259685998b"),
        x_inverse: in_field::<Self::Field>("79838c22d2b8dc9af2e6cf56f8826dc3dfe10fcb17b6aaaf551ee52bef12f826"),
        y_inverse: in_field::<Self::Field>("042cc378eb15e51d6259ebb65740955a838bc0bfdcec227432a41879492006a2"),
    });
}

/// Montgomery's form of a number in hexadecimal.
const fn in_field<M: Modulus>(hex: &str) -> Words {
    montgomery(&words(hex), &M::WORDS)
}

/// Words of 64 hexadecimal digits.
const fn words(hex: &str) -> Words {
    let digits = hex.as_bytes();
    assert!(digits.len() == 64, "64 digits are 256 bits");
    let mut out = [0; 4];
    let mut at = 0;
    while at < 64 {
        let digit = match digits[at] {
            digit @ b'0'..=b'9' => digit - b'0',
            digit @ b'a'..=b'f' => digit - b'a' + 10,
            _ => panic!("a digit is 0-9 or a-f"),
        };
        out[3 - at / 16] = out[3 - at / 16] << 4 | digit as u64;
        at += 1;
    }
    out
}
