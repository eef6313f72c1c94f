//! Multiples of the generators, worked out on the lanes when first wanted.

use core::arch::x86_64::__m512i;
use std::sync::OnceLock;

use super::field::{Factor, Fe};
use super::point::{Affine, Jacobian, normalize, odd_multiples};
use super::vector::{gather_shared_vartime, select_from_32, splat, store};
use crate::curve::{Curve, Weierstrass};

/// Bits of a digit of the scalar that verification multiplies the generator by.
pub(super) const VERIFY_WIDTH: u32 = 13;

/// Bits of a digit of a nonce.
pub(super) const SIGN_WIDTH: u32 = 6;

/// Number of a nonce's digits.
const SIGN_DIGITS: usize = 43;

/// Odd multiples of a generator: x and y of each in Montgomery's form, four words a number. 256 KiB.
pub(super) struct VerifyTable(Box<[[u64; 8]]>);

/// For digit i of a nonce, the odd multiples of 2^(6 i) times a generator: limb by limb, x before y. 110 KB.
pub(super) struct SignTable(Box<[[[[u64; 8]; 4]; 10]]>);

/// Makes both tables of a curve.
#[target_feature(enable = "avx512ifma")]
pub(super) fn prepare<C: Weierstrass>() {
    verify_table::<C>();
    sign_table::<C>();
}

/// The table of a curve for verification.
#[target_feature(enable = "avx512ifma")]
pub(super) fn verify_table<C: Weierstrass>() -> &'static VerifyTable {
    static TABLES: [OnceLock<VerifyTable>; 2] = [const { OnceLock::new() }; 2];
    let table = &TABLES[slot(C::CURVE)];
    match table.get() {
        Some(table) => table,
        None => {
            let made = VerifyTable::of(&Affine::<C>::generator());
            table.get_or_init(|| made)
        }
    }
}

/// The table of a curve for signatures.
#[target_feature(enable = "avx512ifma")]
pub(super) fn sign_table<C: Weierstrass>() -> &'static SignTable {
    static TABLES: [OnceLock<SignTable>; 2] = [const { OnceLock::new() }; 2];
    let table = &TABLES[slot(C::CURVE)];
    match table.get() {
        Some(table) => table,
        None => {
            let made = SignTable::new::<C>();
            table.get_or_init(|| made)
        }
    }
}

pub(super) const fn slot(curve: Curve) -> usize {
    match curve {
        Curve::NistP256 => 0,
        Curve::BrainpoolP256r1 => 1,
    }
}

impl VerifyTable {
    /// Odd multiples of a point, the same in every lane.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn of<C: Weierstrass>(point: &Affine<C>) -> Self {
        const ENTRIES: usize = 1 << (VERIFY_WIDTH - 1);
        let mut multiples = vec![*point; ENTRIES];
        let mut ratios = vec![Fe::one().factor(); ENTRIES];
        let z = odd_multiples(point, &mut multiples, &mut ratios);
        normalize(&mut multiples, &ratios, z.invert());
        let mut table = Vec::with_capacity(ENTRIES);
        for multiple in &multiples {
            let mut entry = [0; 8];
            for (word, lanes) in entry.iter_mut().zip(words_of(multiple)) {
                *word = store(lanes)[0];
            }
            table.push(entry);
        }
        Self(table.into_boxed_slice())
    }

    /// Each lane's odd multiple. The addresses read depend on the number.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn entry_vartime<C: Weierstrass>(&self, number: __m512i) -> Affine<C> {
        let mut words = [splat(0); 8];
        for (at, word) in words.iter_mut().enumerate() {
            *word = gather_shared_vartime(&self.0, at, number);
        }
        affine_entry(&words)
    }
}

/// x and y of each lane as words, as tables keep them.
#[target_feature(enable = "avx512ifma")]
pub(super) fn words_of<C: Weierstrass>(point: &Affine<C>) -> [__m512i; 8] {
    let [x0, x1, x2, x3] = point.x.acc().canonical().to_words();
    let [y0, y1, y2, y3] = point.y.acc().canonical().to_words();
    [x0, x1, x2, x3, y0, y1, y2, y3]
}

/// Points of what [`words_of`] made.
#[target_feature(enable = "avx512ifma")]
#[inline]
pub(super) fn affine_entry<C: Weierstrass>(words: &[__m512i; 8]) -> Affine<C> {
    let [x0, x1, x2, x3, y0, y1, y2, y3] = *words;
    Affine { x: Fe::from_words(&[x0, x1, x2, x3]), y: Fe::from_words(&[y0, y1, y2, y3]) }
}

impl SignTable {
    #[target_feature(enable = "avx512ifma")]
    fn new<C: Weierstrass>() -> Self {
        const ENTRIES: usize = 1 << (SIGN_WIDTH - 1);
        let mut base = Affine::<C>::generator();
        let mut table = Vec::with_capacity(SIGN_DIGITS);
        for _ in 0..SIGN_DIGITS {
            let mut multiples = [base; ENTRIES];
            let mut ratios = [Fe::one().factor(); ENTRIES];
            let z = odd_multiples(&base, &mut multiples, &mut ratios);
            normalize(&mut multiples, &ratios, z.invert());
            let mut digit = [[[0; 8]; 4]; 10];
            for (number, multiple) in multiples.iter().enumerate() {
                let (x, y) = (multiple.x.acc().canonical(), multiple.y.acc().canonical());
                for (rows, lanes) in digit.iter_mut().zip(x.limbs().iter().chain(y.limbs())) {
                    rows[number / 8][number % 8] = store(*lanes)[0];
                }
            }
            table.push(digit);
            let mut next = base.jacobian();
            for _ in 0..SIGN_WIDTH {
                next.double();
            }
            base = next.to_affine(&next.z.invert());
        }
        Self(table.into_boxed_slice())
    }

    /// Each lane's odd multiple for digit `digit`; the whole row of the table is read, whatever the numbers.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn entry<C: Weierstrass>(&self, digit: u32, number: __m512i) -> Affine<C> {
        let rows = &self.0[digit as usize];
        let mut limbs = [splat(0); 10];
        for (limb, row) in limbs.iter_mut().zip(rows) {
            *limb = select_from_32(row, number);
        }
        let [x0, x1, x2, x3, x4, y0, y1, y2, y3, y4] = limbs;
        Affine { x: Fe::from_limbs([x0, x1, x2, x3, x4]), y: Fe::from_limbs([y0, y1, y2, y3, y4]) }
    }
}

impl<C: Weierstrass> Jacobian<C> {
    /// To affine coordinates, given the inverse of Z.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn to_affine(self, z_inverse: &Factor<C::Field>) -> Affine<C> {
        let squared = z_inverse.square();
        let y = self.y.times(&squared.mul(z_inverse)).negate_where::<2>(if self.is_negative { 0xff } else { 0 });
        Affine { x: self.x.times(&squared).reduce(), y: y.reduce() }
    }
}
