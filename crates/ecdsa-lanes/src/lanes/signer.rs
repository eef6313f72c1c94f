//! Verification with tables kept for the signer: the key's multiples by 2^0, 2^65, 2^130 and 2^195, and the generator's,
//! so that 65 bits of each scalar's quarter are doubled for at once, and a quarter of the doublings are left.

use core::arch::x86_64::__m512i;
use std::sync::OnceLock;

use super::field::Fe;
use super::input::{GROUPS_MAX, JOBS_MAX, LANES, invert_each};
use super::point::{Affine, Jacobian, normalize, odd_multiples};
use super::recode::Digits;
use super::signature::Signatures;
use super::table::{VERIFY_WIDTH, VerifyTable, affine_entry, slot, words_of};
use super::vector::{gather_of_each_vartime, store};
use super::verify::{KEY_ENTRIES, KEY_WIDTH, load_keys};
use crate::curve::Weierstrass;
use crate::signer::{Known, KnownVerification, TABLE_ENTRIES};

/// Parts a scalar is cut into.
const PARTS: usize = 4;

/// Bits of a part: a multiple of both digits' widths.
const PART_BITS: u32 = KEY_WIDTH * VERIFY_WIDTH;

const _: () = assert!(PARTS * KEY_ENTRIES == TABLE_ENTRIES && PART_BITS * PARTS as u32 == 260);

/// Multiples of the generator by 2^0, 2^65, 2^130 and 2^195. 1 MiB.
type GeneratorTables = [VerifyTable; PARTS];

#[target_feature(enable = "avx512ifma")]
fn generator_tables<C: Weierstrass>() -> &'static GeneratorTables {
    static TABLES: [OnceLock<GeneratorTables>; 2] = [const { OnceLock::new() }; 2];
    let tables = &TABLES[slot(C::CURVE)];
    match tables.get() {
        Some(tables) => tables,
        None => {
            let first = Affine::<C>::generator();
            let second = shift(&first);
            let third = shift(&second);
            let fourth = shift(&third);
            let [a, b] = [VerifyTable::of(&first), VerifyTable::of(&second)];
            let made = [a, b, VerifyTable::of(&third), VerifyTable::of(&fourth)];
            tables.get_or_init(|| made)
        }
    }
}

/// 2^65 times the point.
#[target_feature(enable = "avx512ifma")]
fn shift<C: Weierstrass>(point: &Affine<C>) -> Affine<C> {
    let mut sum = point.jacobian();
    for _ in 0..PART_BITS {
        sum.double();
    }
    sum.to_affine(&sum.z.invert())
}

/// The tables of up to eight keys; `None` for what is no point of the curve.
#[target_feature(enable = "avx512ifma")]
pub(super) fn tables<C: Weierstrass>(keys: &[[&[u8; 32]; 2]], tables: &mut [Option<Known>]) {
    assert!(keys.len() <= LANES && keys.len() == tables.len(), "the caller cuts keys to size");
    let (mut base, sound) = load_keys::<C>(keys.iter().copied());
    for (lane, table) in tables.iter_mut().enumerate() {
        *table = (sound >> lane & 1 == 1).then(|| Box::new([[0; 8]; TABLE_ENTRIES]));
    }
    for part in 0..PARTS {
        let mut multiples = [base; KEY_ENTRIES];
        let mut ratios = [Fe::one().factor(); KEY_ENTRIES];
        let z = odd_multiples(&base, &mut multiples, &mut ratios);
        normalize(&mut multiples, &ratios, z.invert());
        for (number, multiple) in multiples.iter().enumerate() {
            let words = words_of(multiple).map(|word| store(word));
            for (lane, table) in tables.iter_mut().enumerate() {
                if let Some(table) = table {
                    table[part * KEY_ENTRIES + number] = words.map(|word| word[lane]);
                }
            }
        }
        if part + 1 < PARTS {
            base = shift(&base);
        }
    }
}

/// As [`verify`](super::verify::verify), with tables.
#[target_feature(enable = "avx512ifma")]
pub(super) fn verify_known<C: Weierstrass>(
    jobs: &[KnownVerification<'_>],
    results: &mut [bool],
    decide: fn(&KnownVerification<'_>) -> bool,
) {
    assert!(jobs.len() <= JOBS_MAX && jobs.len() == results.len(), "the caller cuts jobs to size");
    let group_count = jobs.len().div_ceil(LANES);
    let mut groups = [const { None::<Signatures<C>> }; GROUPS_MAX];
    let mut s_inverses = [Fe::one().factor(); GROUPS_MAX];
    for (at, jobs) in jobs.chunks(LANES).enumerate() {
        let (signatures, s) = Signatures::load(jobs.iter().map(|job| [job.digest, job.r, job.s]));
        s_inverses[at] = s;
        groups[at] = Some(signatures);
    }
    invert_each(&mut s_inverses[..group_count]);

    let generator = generator_tables::<C>();
    for (at, (jobs, results)) in jobs.chunks(LANES).zip(results.chunks_mut(LANES)).enumerate() {
        let Some(signatures) = &groups[at] else { continue };
        // An idle lane repeats the first.
        let mut tables = [jobs[0].signer.for_lanes(); LANES];
        for (table, job) in tables.iter_mut().zip(jobs) {
            *table = job.signer.for_lanes();
        }
        let (key_digits, generator_digits) = signatures.scalars(&s_inverses[at]);
        let sum = multiply(&key_digits, &tables, &generator_digits, generator);
        signatures.judge(0xff, &sum, jobs, results, decide);
    }
}

/// A multiple of the generator plus a multiple of the key, all parts doubled for at once.
#[target_feature(enable = "avx512ifma")]
fn multiply<C: Weierstrass>(
    key_digits: &Digits<C::Order, KEY_WIDTH>,
    tables: &[&[[u64; 8]; TABLE_ENTRIES]; LANES],
    generator_digits: &Digits<C::Order, VERIFY_WIDTH>,
    generator: &GeneratorTables,
) -> Jacobian<C> {
    let (key_part, generator_part) = (PART_BITS / KEY_WIDTH, PART_BITS / VERIFY_WIDTH);
    let entry = |part: u32, number: __m512i| -> Affine<C> {
        let words = |at| gather_of_each_vartime(tables, part as usize * KEY_ENTRIES, at, number);
        affine_entry(&[words(0), words(1), words(2), words(3), words(4), words(5), words(6), words(7)])
    };
    let last = PARTS as u32 - 1;
    let top = PART_BITS - KEY_WIDTH;
    let (negative, number) = key_digits.digit(key_part * last + top / KEY_WIDTH);
    let first = entry(last, number);
    let mut sum = Affine { x: first.x, y: first.y.acc().negate_where::<2>(negative).reduce() }.jacobian();
    for bit in (0..=top).rev() {
        if bit < top {
            sum.double();
        }
        if bit % KEY_WIDTH == 0 {
            // The last part's top digit is the sum's beginning.
            for part in 0..PARTS as u32 - u32::from(bit == top) {
                let (negative, number) = key_digits.digit(key_part * part + bit / KEY_WIDTH);
                sum.add(&entry(part, number), negative);
            }
        }
        if bit % VERIFY_WIDTH == 0 {
            for (part, table) in generator.iter().enumerate() {
                let (negative, number) = generator_digits.digit(generator_part * part as u32 + bit / VERIFY_WIDTH);
                sum.add(&table.entry_vartime(number), negative);
            }
        }
    }
    sum
}
