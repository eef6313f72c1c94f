//! Verification, up to 32 signatures at a time. Everything here is public, and nothing takes constant time.

use core::arch::x86_64::__m512i;

use super::field::{Factor, Fe};
use super::input::{Column, GROUPS_MAX, JOBS_MAX, LANES, invert_all};
use super::point::{Affine, Jacobian, normalize, odd_multiples};
use super::recode::Digits;
use super::table::{VERIFY_WIDTH, VerifyTable, verify_table};
use super::vector::gather_own_vartime;
use crate::bignum;
use crate::curve::{Modulus, Weierstrass};
use crate::job::Verification;

/// Bits of a digit of the scalar that multiplies the public key.
const KEY_WIDTH: u32 = 5;

/// Odd multiples of a public key that its table holds.
const KEY_ENTRIES: usize = 1 << (KEY_WIDTH - 1);

/// Lanes of one vector, checked as far as one can without curve arithmetic.
struct Group<C: Weierstrass> {
    /// Lanes with a job whose numbers are in range and whose key is on the curve; the rest compute on the generator.
    sound: u8,
    /// Lanes where r plus the order is below the prime, and so may be the x coordinate too.
    r_may_wrap: u8,
    digest: Fe<C::Order>,
    r: Fe<C::Order>,
    key: Affine<C>,
}

/// Verifies `jobs`, all of the curve, at most [`JOBS_MAX`]. Calls `decide` for a lane that the formulas do not cover.
#[target_feature(enable = "avx512ifma")]
pub(super) fn verify<C: Weierstrass>(
    jobs: &[Verification<'_>],
    results: &mut [bool],
    decide: fn(&Verification<'_>) -> bool,
) {
    assert!(jobs.len() <= JOBS_MAX && jobs.len() == results.len(), "the caller cuts jobs to size");
    let group_count = jobs.len().div_ceil(LANES);
    let mut groups = [const { None::<Group<C>> }; GROUPS_MAX];
    let mut inverses = [Fe::one().factor(); GROUPS_MAX];
    for ((jobs, group), inverse) in jobs.chunks(LANES).zip(&mut groups).zip(&mut inverses) {
        let (loaded, s) = load_group::<C>(jobs);
        *group = Some(loaded);
        *inverse = s;
    }
    let blank = Affine::<C>::generator();
    let mut multiples = [[blank; KEY_ENTRIES]; GROUPS_MAX];
    let mut ratios = [[Fe::one().factor(); KEY_ENTRIES]; GROUPS_MAX];
    let mut z_inverses = [Fe::one().factor(); GROUPS_MAX];
    for (at, group) in groups.iter().flatten().enumerate() {
        z_inverses[at] = odd_multiples(&group.key, &mut multiples[at], &mut ratios[at]);
    }
    invert_all(&mut inverses[..group_count], &mut z_inverses[..group_count]);

    let generator = verify_table::<C>();
    for (at, group) in groups.iter().flatten().enumerate() {
        normalize(&mut multiples[at], &ratios[at], z_inverses[at]);
        let table = rows(&multiples[at]);
        // r and the digest are integers, the inverse is in Montgomery's form: so are the products integers.
        let key_digits = Digits::new(&group.r.times(&inverses[at]).canonical());
        let generator_digits = Digits::new(&group.digest.times(&inverses[at]).canonical());
        let sum = double_multiply(&key_digits, &table, &generator_digits, generator);
        let (valid, unclear) = (accept(group, &sum), sum.z.clean().acc().zero_mask());
        let lanes = jobs[at * LANES..].iter().zip(&mut results[at * LANES..]).take(LANES);
        for (lane, (job, result)) in lanes.enumerate() {
            let has = |mask: u8| mask >> lane & 1 == 1;
            *result = has(group.sound) && if has(unclear) { decide(job) } else { has(valid) };
        }
    }
}

/// Loads up to eight jobs. Also returns s in Montgomery's form, one where the lane is idle or refused.
#[target_feature(enable = "avx512ifma")]
fn load_group<C: Weierstrass>(jobs: &[Verification<'_>]) -> (Group<C>, Factor<C::Order>) {
    let order = &<C::Order as Modulus>::WORDS;
    let prime = &<C::Field as Modulus>::WORDS;
    let wrap = bignum::subtract(prime, order);
    let mut columns = [Column::ZERO; 5];
    let (mut sound, mut r_may_wrap) = (0, 0);
    for (lane, job) in jobs.iter().enumerate() {
        let [digest, r, s, x, y] = [job.digest, job.r, job.s, job.public_x, job.public_y].map(bignum::from_be_bytes);
        let are_scalars = bignum::is_scalar(&r, order) && bignum::is_scalar(&s, order);
        if are_scalars && bignum::less(&x, prime) && bignum::less(&y, prime) {
            sound |= 1 << lane;
            r_may_wrap |= u8::from(bignum::less(&r, &wrap)) << lane;
            for (column, words) in columns.iter_mut().zip([digest, r, s, x, y]) {
                column.set(lane, &words);
            }
        }
    }
    let [digest, r, s, x, y] = &columns;
    let (mut x, mut y) = (x.load::<C::Field>().to_montgomery(), y.load::<C::Field>().to_montgomery());
    if let Some(twist) = C::TWIST {
        (x, y) = (x.mul(&Fe::splat(&twist.x)), y.mul(&Fe::splat(&twist.y)));
    }
    let key = Affine::<C> { x: x.clean(), y: y.clean() };
    sound &= key.on_curve_mask();
    let generator = Affine::<C>::generator();
    let key = Affine { x: generator.x.select(sound, &key.x), y: generator.y.select(sound, &key.y) };
    let s = Fe::one().factor().select(sound, &s.load::<C::Order>().to_montgomery());
    let (digest, r) = (digest.load(), r.load());
    (Group { sound, r_may_wrap, digest, r, key }, s)
}

/// The table's limbs as rows, as the gathers want them.
#[target_feature(enable = "avx512ifma")]
fn rows<C: Weierstrass>(multiples: &[Affine<C>; KEY_ENTRIES]) -> [[__m512i; 10]; KEY_ENTRIES] {
    let mut rows = [[super::vector::splat(0); 10]; KEY_ENTRIES];
    for (row, multiple) in rows.iter_mut().zip(multiples) {
        row[..5].copy_from_slice(multiple.x.limbs());
        row[5..].copy_from_slice(multiple.y.limbs());
    }
    rows
}

/// A multiple of the generator plus a multiple of the key, doubling for both at once (Straus's trick).
#[target_feature(enable = "avx512ifma")]
fn double_multiply<C: Weierstrass>(
    key_digits: &Digits<C::Order, KEY_WIDTH>,
    table: &[[__m512i; 10]; KEY_ENTRIES],
    generator_digits: &Digits<C::Order, VERIFY_WIDTH>,
    generator: &VerifyTable,
) -> Jacobian<C> {
    let entry = |number: __m512i| -> Affine<C> {
        let limb = |at| gather_own_vartime(table, at, number);
        Affine {
            x: Fe::from_limbs([limb(0), limb(1), limb(2), limb(3), limb(4)]),
            y: Fe::from_limbs([limb(5), limb(6), limb(7), limb(8), limb(9)]),
        }
    };
    let top = Digits::<C::Order, KEY_WIDTH>::COUNT - 1;
    let (negative, number) = key_digits.digit(top);
    let first = entry(number);
    let first = Affine { x: first.x, y: first.y.acc().negate_where::<2>(negative).reduce() };
    let mut sum = first.jacobian();
    for bit in (0..top * KEY_WIDTH).rev() {
        sum.double();
        if bit % KEY_WIDTH == 0 {
            let (negative, number) = key_digits.digit(bit / KEY_WIDTH);
            sum.add(&entry(number), negative);
        }
        if bit % VERIFY_WIDTH == 0 {
            let (negative, number) = generator_digits.digit(bit / VERIFY_WIDTH);
            sum.add(&generator.entry_vartime(number), negative);
        }
    }
    sum
}

/// Lanes where the sum's x coordinate is r modulo the order.
#[target_feature(enable = "avx512ifma")]
fn accept<C: Weierstrass>(group: &Group<C>, sum: &Jacobian<C>) -> u8 {
    let z_squared = sum.z.square();
    let equals = |x: Fe<C::Field>| {
        let mut x = x.to_montgomery();
        if let Some(twist) = C::TWIST {
            x = x.mul(&Fe::splat(&twist.x));
        }
        x.times(&z_squared).minus(&sum.x.acc()).plus_primes::<2>().zero_mask()
    };
    let r = Fe::<C::Field>::from_limbs(*group.r.limbs());
    let mut valid = equals(r);
    if group.r_may_wrap != 0 {
        let order = Fe::splat(&<C::Order as Modulus>::WORDS);
        valid |= equals(r.acc().plus(&order.acc()).carry()) & group.r_may_wrap;
    }
    valid
}
