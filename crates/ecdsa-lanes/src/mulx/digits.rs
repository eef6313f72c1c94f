//! Scalars as signed digits, most of them zero, put in the order in which they are added.

use crate::bignum::Words;

/// Bits of a part of a scalar where multiples of a point by 2^0, 2^32, 2^64 ... are at hand: that many doublings are enough.
pub(super) const PART_BITS: usize = 32;

/// Parts of a scalar.
pub(super) const PARTS: usize = 8;

/// Most bits of a scalar's digits: one more than those of the scalar.
const BITS: usize = 257;

/// Most digits that are not zero, of both scalars: of the least width 5, one in five.
const DIGITS_MAX: usize = 2 * BITS.div_ceil(5);

/// What to add at a bit: an odd multiple of something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digit {
    /// Whether of the generator; else of the key.
    pub(super) is_generator: bool,
    /// Of which of its parts.
    pub(super) part: u8,
    /// Which odd multiple: 0 for one, 1 for three.
    pub(super) number: u16,
    /// Whether to subtract it.
    pub(super) is_negative: bool,
    /// The digit of the same bit that comes next, and one.
    next: u8,
}

/// Digits of two scalars, by bit.
pub(super) struct Schedule {
    /// The first digit of a bit, and one.
    first: [u8; BITS],
    digits: [Digit; DIGITS_MAX],
    count: usize,
    /// The highest bit that has a digit, and one.
    pub(super) end: usize,
}

impl Schedule {
    pub(super) fn new() -> Self {
        const NONE: Digit = Digit { is_generator: false, part: 0, number: 0, is_negative: false, next: 0 };
        const { assert!(DIGITS_MAX < u8::MAX as usize) }
        Self { first: [0; BITS], digits: [NONE; DIGITS_MAX], count: 0, end: 0 }
    }

    /// Enters the digits of a scalar: odd ones below 2^(width - 1), at least `width` bits apart. The time depends on the scalar.
    /// `parts` tells whether the point's multiples by parts of [`PART_BITS`] are there.
    pub(super) fn enter(&mut self, scalar: &Words, width: u32, is_generator: bool, has_parts: bool) {
        let bits_at = |at: usize| -> u64 {
            let (word, shift) = (at / 64, at % 64);
            let low = scalar.get(word).map_or(0, |low| low >> shift);
            let high = if shift == 0 { 0 } else { scalar.get(word + 1).map_or(0, |high| high << (64 - shift)) };
            low | high
        };
        let (mut at, mut carry) = (0, 0);
        while at < BITS {
            // What is left of the scalar from here on is that of `bits_at` plus the carry.
            let window = bits_at(at);
            let rest = if carry == 0 { window } else { !window };
            let zeros = rest.trailing_zeros() as usize;
            if zeros > 0 {
                at += zeros;
                continue;
            }
            let value = (window & ((1 << width) - 1)) + carry;
            let is_negative = value >> (width - 1) & 1 == 1;
            let magnitude = if is_negative { (1 << width) - value } else { value };
            self.push(at, magnitude, is_negative, is_generator, has_parts);
            carry = u64::from(is_negative);
            at += width as usize;
        }
    }

    fn push(&mut self, at: usize, magnitude: u64, is_negative: bool, is_generator: bool, has_parts: bool) {
        // The last part has one bit more.
        let part = if has_parts { (at / PART_BITS).min(PARTS - 1) } else { 0 };
        let bit = at - part * PART_BITS;
        let digit = Digit {
            is_generator,
            part: part.to_le_bytes()[0],
            number: (magnitude / 2) as u16,
            is_negative,
            next: self.first[bit],
        };
        self.digits[self.count] = digit;
        self.count += 1;
        self.first[bit] = self.count.to_le_bytes()[0];
        self.end = self.end.max(bit + 1);
    }

    /// The digits of a bit.
    pub(super) fn at(&self, bit: usize) -> impl Iterator<Item = Digit> + '_ {
        let mut next = self.first[bit];
        core::iter::from_fn(move || {
            let digit = self.digits[usize::from(next).checked_sub(1)?];
            next = digit.next;
            Some(digit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;
    use rand_core::{Rng as _, SeedableRng as _};

    fn value(schedule: &Schedule) -> BigInt {
        let mut sum = BigInt::from(0);
        for bit in (0..schedule.end).rev() {
            sum *= 2;
            for digit in schedule.at(bit) {
                let magnitude = BigInt::from(2 * digit.number + 1) << (PART_BITS * usize::from(digit.part));
                sum += if digit.is_negative { -magnitude } else { magnitude };
            }
        }
        sum
    }

    #[test]
    fn digits_make_up_their_scalar() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(11);
        for number in 0..20_000_u32 {
            let mut scalar: Words = core::array::from_fn(|_| random.next_u64());
            match number % 8 {
                0 => scalar = [u64::MAX; 4].map(|word| word << (number / 8 % 64)),
                1 => scalar[(number / 8 % 4) as usize] = 0,
                2 => scalar = [u64::from(number / 8), 0, 0, 0],
                3 => scalar[(number / 8 % 4) as usize] = u64::MAX,
                _ => {}
            }
            let bytes: Vec<u8> = scalar.iter().flat_map(|word| word.to_le_bytes()).collect();
            let expected = BigInt::from_bytes_le(num_bigint::Sign::Plus, &bytes);
            for (width, has_parts) in [(5, false), (6, true), (10, true)] {
                let mut schedule = Schedule::new();
                schedule.enter(&scalar, width, false, has_parts);
                assert_eq!(value(&schedule), expected, "{scalar:x?} in digits of {width} bits");
                assert!(
                    (0..schedule.end).flat_map(|bit| schedule.at(bit)).all(|digit| digit.number < 1 << (width - 2))
                );
            }
        }
    }
}
