//! Verification, up to 32 signatures at a time. Everything here is public, and nothing takes constant time.

use core::arch::x86_64::__m512i;

use super::field::Fe;
use super::input::{Column, GROUPS_MAX, JOBS_MAX, LANES, invert_all};
use super::point::{Affine, Jacobian, normalize, odd_multiples};
use super::recode::Digits;
use super::signature::Signatures;
use super::spread;
use super::table::{VERIFY_WIDTH, VerifyTable, verify_table};
use super::vector::gather_own_vartime;
use crate::bignum;
use crate::curve::{Modulus, Weierstrass};
use crate::job::Verification;

/// Bits of a digit of the scalar that multiplies the public key.
pub(super) const KEY_WIDTH: u32 = 5;

/// Odd multiples of a public key that its table holds.
pub(super) const KEY_ENTRIES: usize = 1 << (KEY_WIDTH - 1);

/// Bits between two pauses: every 2 to 4 us.
const PAUSE_BITS: u32 = 2 * KEY_WIDTH;

/// Verifies `jobs`, all of the curve, at most [`JOBS_MAX`]. Calls `decide` for a lane that the formulas do not cover, and
/// `pause` every few microseconds.
#[target_feature(enable = "avx512ifma")]
pub(super) fn verify<C: Weierstrass>(
    jobs: &[Verification<'_>],
    results: &mut [bool],
    decide: fn(&Verification<'_>) -> bool,
    pause: &mut dyn FnMut(),
) {
    assert!(jobs.len() <= JOBS_MAX && jobs.len() == results.len(), "the caller cuts jobs to size");
    if let ([job], [result]) = (jobs, &mut *results) {
        *result = spread::verify::<C>(job, decide, pause);
        return;
    }
    let group_count = jobs.len().div_ceil(LANES);
    let mut groups = [const { None::<(Signatures<C>, u8)> }; GROUPS_MAX];
    let mut s_inverses = [Fe::one().factor(); GROUPS_MAX];
    let mut multiples = [[Affine::<C>::generator(); KEY_ENTRIES]; GROUPS_MAX];
    let mut ratios = [[Fe::one().factor(); KEY_ENTRIES]; GROUPS_MAX];
    let mut z_inverses = [Fe::one().factor(); GROUPS_MAX];
    for (at, jobs) in jobs.chunks(LANES).enumerate() {
        let (signatures, s) = Signatures::load(jobs.iter().map(|job| [job.digest, job.r, job.s]));
        let (key, on_curve) = load_keys(jobs.iter().map(|job| [job.public_x, job.public_y]));
        z_inverses[at] = odd_multiples(&key, &mut multiples[at], &mut ratios[at]);
        s_inverses[at] = s;
        groups[at] = Some((signatures, on_curve));
        pause();
    }
    invert_all(&mut s_inverses[..group_count], &mut z_inverses[..group_count]);

    let generator = verify_table::<C>();
    for (at, (jobs, results)) in jobs.chunks(LANES).zip(results.chunks_mut(LANES)).enumerate() {
        let Some((signatures, on_curve)) = &groups[at] else { continue };
        normalize(&mut multiples[at], &ratios[at], z_inverses[at]);
        let (key_digits, generator_digits) = signatures.scalars(&s_inverses[at]);
        let sum = double_multiply(&key_digits, &rows(&multiples[at]), &generator_digits, generator, pause);
        signatures.judge(*on_curve, &sum, jobs, results, decide);
    }
}

/// Up to eight public keys, and the lanes that hold a point of the curve; the rest hold the generator.
#[target_feature(enable = "avx512ifma")]
pub(super) fn load_keys<'a, C: Weierstrass>(keys: impl Iterator<Item = [&'a [u8; 32]; 2]>) -> (Affine<C>, u8) {
    let prime = &<C::Field as Modulus>::WORDS;
    let mut columns = [Column::ZERO; 2];
    let mut sound = 0;
    for (lane, key) in keys.take(LANES).enumerate() {
        let [x, y] = key.map(bignum::from_be_bytes);
        if bignum::less(&x, prime) && bignum::less(&y, prime) {
            sound |= 1 << lane;
            columns[0].set(lane, &x);
            columns[1].set(lane, &y);
        }
    }
    let [mut x, mut y] = [columns[0].load().to_montgomery(), columns[1].load().to_montgomery()];
    if let Some(twist) = C::TWIST {
        (x, y) = (x.mul(&Fe::splat(&twist.x)), y.mul(&Fe::splat(&twist.y)));
    }
    let key = Affine::<C> { x: x.clean(), y: y.clean() };
    sound &= key.on_curve_mask();
    let generator = Affine::<C>::generator();
    (Affine { x: generator.x.select(sound, &key.x), y: generator.y.select(sound, &key.y) }, sound)
}

/// The table's limbs as rows, as the gathers want them.
#[target_feature(enable = "avx512ifma")]
pub(super) fn rows<C: Weierstrass>(multiples: &[Affine<C>; KEY_ENTRIES]) -> [[__m512i; 10]; KEY_ENTRIES] {
    let mut rows = [[super::vector::splat(0); 10]; KEY_ENTRIES];
    for (row, multiple) in rows.iter_mut().zip(multiples) {
        row[..5].copy_from_slice(multiple.x.limbs());
        row[5..].copy_from_slice(multiple.y.limbs());
    }
    rows
}

/// Each lane's odd multiple, of its own key. The addresses read depend on the number.
#[target_feature(enable = "avx512ifma")]
#[inline]
pub(super) fn entry_of_own<C: Weierstrass>(table: &[[__m512i; 10]; KEY_ENTRIES], number: __m512i) -> Affine<C> {
    let limb = |at| gather_own_vartime(table, at, number);
    Affine {
        x: Fe::from_limbs([limb(0), limb(1), limb(2), limb(3), limb(4)]),
        y: Fe::from_limbs([limb(5), limb(6), limb(7), limb(8), limb(9)]),
    }
}

/// A multiple of the generator plus a multiple of the key, doubling for both at once (Straus's trick).
#[target_feature(enable = "avx512ifma")]
fn double_multiply<C: Weierstrass>(
    key_digits: &Digits<C::Order, KEY_WIDTH>,
    table: &[[__m512i; 10]; KEY_ENTRIES],
    generator_digits: &Digits<C::Order, VERIFY_WIDTH>,
    generator: &VerifyTable,
    pause: &mut dyn FnMut(),
) -> Jacobian<C> {
    let top = Digits::<C::Order, KEY_WIDTH>::COUNT - 1;
    let (negative, number) = key_digits.digit(top);
    let first: Affine<C> = entry_of_own(table, number);
    let first = Affine { x: first.x, y: first.y.acc().negate_where::<2>(negative).reduce() };
    let mut sum = first.jacobian();
    for bit in (0..top * KEY_WIDTH).rev() {
        sum.double();
        if bit % KEY_WIDTH == 0 {
            let (negative, number) = key_digits.digit(bit / KEY_WIDTH);
            sum.add(&entry_of_own(table, number), negative);
        }
        if bit % VERIFY_WIDTH == 0 {
            let (negative, number) = generator_digits.digit(bit / VERIFY_WIDTH);
            sum.add(&generator.entry_vartime(number), negative);
        }
        if bit % PAUSE_BITS == 0 {
            pause();
        }
    }
    sum
}
