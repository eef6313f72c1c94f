//! Multiples of the generator and of keys.

use std::sync::OnceLock;

use super::digits::{PART_BITS, PARTS};
use super::field::Fe;
use super::point::{Affine, normalize, odd_multiples};

/// Bits of a digit of the scalar that multiplies the generator.
pub(super) const GENERATOR_WIDTH: u32 = 10;

/// Bits of a digit of the scalar that multiplies a key with a table.
#[cfg(feature = "signer-tables")]
pub(super) const KNOWN_WIDTH: u32 = 6;

/// Odd multiples of a key by each part's power of two.
#[cfg(feature = "signer-tables")]
pub(super) const KNOWN_ENTRIES: usize = 1 << (KNOWN_WIDTH - 2);

const GENERATOR_ENTRIES: usize = 1 << (GENERATOR_WIDTH - 2);

/// The odd multiples of a point times the powers of two at which the parts of a scalar begin.
#[derive(Clone, Debug)]
pub(super) struct Multiples {
    all: Box<[Affine]>,
    /// Of each part.
    entries: usize,
}

/// A key's, of parts of 32 bits, so that 32 doublings do for all eight of them: 8 KiB.
#[cfg(feature = "signer-tables")]
#[derive(Clone, Debug)]
pub(crate) struct KeyTable(Multiples);

impl Multiples {
    /// Of a point on the curve.
    #[target_feature(enable = "bmi2,adx")]
    pub(super) fn of(point: &Affine, parts: usize, part_bits: usize, entries: usize) -> Self {
        let mut next = point.jacobian();
        let mut bases = Vec::with_capacity(parts);
        for part in 0..parts {
            bases.push(next);
            for _ in 0..if part + 1 < parts { part_bits } else { 0 } {
                next.double();
            }
        }
        // A point's order is the curve's, a prime, so that no double and no odd multiple below the order has Z = 0.
        let mut z_inverses: Vec<Fe> = bases.iter().map(|base| base.z).collect();
        let mut before = vec![Fe::ONE; parts];
        invert_each(&mut z_inverses, &mut before);

        let mut all = vec![*point; parts * entries];
        let mut ratios = vec![Fe::ONE; parts * entries];
        let rows = all.chunks_mut(entries).zip(ratios.chunks_mut(entries));
        for (((row, ratios), base), z) in rows.zip(&bases).zip(&mut z_inverses) {
            let base = base.to_affine(z);
            *z = odd_multiples(&base, row, ratios);
        }
        invert_each(&mut z_inverses, &mut before);
        for ((row, ratios), z_inverse) in all.chunks_mut(entries).zip(ratios.chunks(entries)).zip(&z_inverses) {
            normalize(row, ratios, *z_inverse);
        }
        Self { all: all.into_boxed_slice(), entries }
    }

    /// Those of a part.
    #[inline]
    pub(super) fn row(&self, part: usize) -> &[Affine] {
        &self.all[part * self.entries..][..self.entries]
    }
}

#[cfg(feature = "signer-tables")]
impl KeyTable {
    /// Of a point that is on the curve.
    #[target_feature(enable = "bmi2,adx")]
    pub(super) fn of(point: &Affine) -> Self {
        Self(Multiples::of(point, PARTS, PART_BITS, KNOWN_ENTRIES))
    }

    pub(super) fn entry(&self, part: u8, number: u16) -> &Affine {
        &self.0.row(part.into())[usize::from(number)]
    }
}

/// The generator's: 128 KiB.
#[derive(Debug)]
pub(super) struct GeneratorTable(Multiples);

impl GeneratorTable {
    pub(super) fn entry(&self, part: u8, number: u16) -> &Affine {
        &self.0.row(part.into())[usize::from(number)]
    }
}

/// The generator's multiples, made at the first use.
#[target_feature(enable = "bmi2,adx")]
pub(super) fn generator() -> &'static GeneratorTable {
    static TABLE: OnceLock<GeneratorTable> = OnceLock::new();
    match TABLE.get() {
        Some(table) => table,
        None => {
            let made = GeneratorTable(Multiples::of(&Affine::generator(), PARTS, PART_BITS, GENERATOR_ENTRIES));
            TABLE.get_or_init(|| made)
        }
    }
}

/// Inverts numbers, none of them zero, by one inversion (P. Montgomery's trick), with room for as many in `before`. The same
/// time for all numbers.
#[target_feature(enable = "bmi2,adx")]
pub(super) fn invert_each(numbers: &mut [Fe], before: &mut [Fe]) {
    let mut product = Fe::ONE;
    for (number, before) in numbers.iter().zip(&mut *before) {
        *before = product;
        product = product.mul(number);
    }
    let mut inverse = product.invert();
    for (number, before) in numbers.iter_mut().zip(before).rev() {
        let own = inverse.mul(before);
        inverse = inverse.mul(number);
        *number = own;
    }
}
