//! Verification. Everything here is public, and nothing takes constant time.

use super::JOBS_MAX;
use super::digits::Schedule;
use super::field::Fe;
use super::point::{Affine, Jacobian, Scale, normalize, odd_multiples};
use super::table::{self, GENERATOR_WIDTH, invert_each};
#[cfg(feature = "signer-tables")]
use super::table::{KNOWN_WIDTH, KeyTable};
use crate::bignum::{self, Words};
use crate::curve::{Modulus, NistP256Field, NistP256Order};
use crate::modular::scalar;

/// Bits of a digit of the scalar that multiplies a key without a table.
const KEY_WIDTH: u32 = 5;

/// Odd multiples made of such a key.
const KEY_ENTRIES: usize = 1 << (KEY_WIDTH - 2);

/// Doublings between two pauses: every 2 to 4 us.
const PAUSE_BITS: usize = 32;

/// A key to verify with.
#[derive(Clone, Copy)]
pub(crate) enum Key<'a> {
    /// x and y.
    Point([&'a [u8; 32]; 2]),
    /// Its multiples.
    #[cfg(feature = "signer-tables")]
    Table(&'a KeyTable),
}

/// A signature to judge.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    /// Digest, r and s.
    pub(crate) numbers: [&'a [u8; 32]; 3],
    pub(crate) key: Key<'a>,
}

/// How the formulas judge a signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    Right,
    Wrong,
    /// They do not cover it.
    Unclear,
}

/// What is signed, r and s, each in range.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    digest: Words,
    r: Words,
    s: Words,
}

impl Numbers {
    /// None if r or s is zero, or from the order on.
    fn load(numbers: [&[u8; 32]; 3]) -> Option<Self> {
        let [digest, r, s] = numbers.map(bignum::from_be_bytes);
        let order = &NistP256Order::WORDS;
        (bignum::is_scalar(&r, order) && bignum::is_scalar(&s, order)).then_some(Self { digest, r, s })
    }
}

/// Odd multiples of a key that has no table.
#[derive(Clone, Copy)]
struct Multiples {
    points: [Affine; KEY_ENTRIES],
    ratios: [Fe; KEY_ENTRIES],
    /// The Z of the last.
    z: Fe,
}

impl Multiples {
    const NONE: Self = Self {
        points: [const { Affine { x: Fe::ONE, y: Fe::ONE } }; KEY_ENTRIES],
        ratios: [Fe::ONE; KEY_ENTRIES],
        z: Fe::ONE,
    };

    /// None of what is no point. All are left over the Z of the last, once [`normalize`] has brought them there.
    #[target_feature(enable = "bmi2,adx")]
    fn of([x, y]: [&[u8; 32]; 2]) -> Option<Self> {
        let key = Affine::load(x, y)?;
        let mut out = Self::NONE;
        out.z = odd_multiples(&key, &mut out.points, &mut out.ratios);
        Some(out)
    }
}

/// Judges one signature.
#[target_feature(enable = "bmi2,adx")]
pub(super) fn judge_one(job: &Job<'_>, pause: &mut dyn FnMut()) -> Verdict {
    let Some(numbers) = Numbers::load(job.numbers) else { return Verdict::Wrong };
    let Some(s_inverse) = scalar::invert_vartime(&scalar::to_montgomery(&numbers.s)) else { return Verdict::Wrong };
    match job.key {
        #[cfg(feature = "signer-tables")]
        Key::Table(table) => judge(&numbers, &s_inverse, &Points::Table(table), pause),
        Key::Point(point) => {
            // To multiply by the last multiple's Z at each addition takes less time than to invert it.
            let Some(mut multiples) = Multiples::of(point) else { return Verdict::Wrong };
            normalize(&mut multiples.points, &multiples.ratios, Fe::ONE);
            judge(&numbers, &s_inverse, &Points::Scaled(&multiples.points, Scale::new(multiples.z)), pause)
        }
    }
}

/// Judges signatures, at most [`JOBS_MAX`], which share their inversions.
#[target_feature(enable = "bmi2,adx")]
pub(super) fn judge_all<'a>(jobs: impl Iterator<Item = Job<'a>>, verdicts: &mut [Verdict], pause: &mut dyn FnMut()) {
    let mut numbers = [const { None::<(Numbers, Key<'_>)> }; JOBS_MAX];
    let mut own = [const { Multiples::NONE }; JOBS_MAX];
    let (mut s_inverses, mut z_inverses) = ([scalar::ONE; JOBS_MAX], [Fe::ONE; JOBS_MAX]);
    let count = verdicts.len();
    for (at, job) in jobs.take(count).enumerate() {
        let Some(loaded) = Numbers::load(job.numbers) else { continue };
        match job.key {
            Key::Point(point) => {
                let Some(multiples) = Multiples::of(point) else { continue };
                (own[at], z_inverses[at]) = (multiples, multiples.z);
            }
            #[cfg(feature = "signer-tables")]
            Key::Table(_) => {}
        }
        s_inverses[at] = scalar::to_montgomery(&loaded.s);
        numbers[at] = Some((loaded, job.key));
    }
    // The order is a prime and every s is below it and not zero: so is their product modulo it.
    scalar::invert_each(&mut s_inverses[..count], |product| scalar::invert_vartime(product).unwrap_or(scalar::ONE));
    invert_each(&mut z_inverses[..count], &mut [Fe::ONE; JOBS_MAX]);
    pause();
    for (at, verdict) in verdicts.iter_mut().enumerate() {
        let Some((numbers, key)) = &numbers[at] else {
            *verdict = Verdict::Wrong;
            continue;
        };
        let points = match key {
            #[cfg(feature = "signer-tables")]
            Key::Table(table) => Points::Table(table),
            Key::Point(_) => {
                let multiples = &mut own[at];
                normalize(&mut multiples.points, &multiples.ratios, z_inverses[at]);
                Points::Affine(&multiples.points)
            }
        };
        *verdict = judge(numbers, &s_inverses[at], &points, pause);
    }
}

/// A key's multiples.
enum Points<'a> {
    /// Of its parts.
    #[cfg(feature = "signer-tables")]
    Table(&'a KeyTable),
    Affine(&'a [Affine; KEY_ENTRIES]),
    /// All over one Z.
    Scaled(&'a [Affine; KEY_ENTRIES], Scale),
}

/// Judges a signature, given `1 / s` in Montgomery's form.
#[target_feature(enable = "bmi2,adx")]
fn judge(numbers: &Numbers, s_inverse: &Words, points: &Points<'_>, pause: &mut dyn FnMut()) -> Verdict {
    let mut schedule = Schedule::new();
    // The others are integers, and so are the products.
    schedule.enter(&scalar::mul(&numbers.digest, s_inverse), GENERATOR_WIDTH, true, true);
    let key_scalar = scalar::mul(&numbers.r, s_inverse);
    let sum = match points {
        #[cfg(feature = "signer-tables")]
        Points::Table(table) => {
            schedule.enter(&key_scalar, KNOWN_WIDTH, false, true);
            multiply(&schedule, |part, number| table.entry(part, number), None, pause)
        }
        Points::Affine(multiples) => {
            schedule.enter(&key_scalar, KEY_WIDTH, false, false);
            multiply(&schedule, |_, number| &multiples[usize::from(number)], None, pause)
        }
        Points::Scaled(multiples, scale) => {
            schedule.enter(&key_scalar, KEY_WIDTH, false, false);
            multiply(&schedule, |_, number| &multiples[usize::from(number)], Some(scale), pause)
        }
    };
    if sum.z.is_zero() { Verdict::Unclear } else { accept(&numbers.r, &sum) }
}

/// Whether the sum's x coordinate is r modulo the order.
#[target_feature(enable = "bmi2,adx")]
fn accept(r: &Words, sum: &Jacobian) -> Verdict {
    let z_squared = sum.z.square();
    // [FIPS 186-5 §6.4.2] The coordinate itself may be r, or r and the order where that is below the prime.
    let wrap = bignum::subtract(&NistP256Field::WORDS, &NistP256Order::WORDS);
    let is_x = |x: &Words| Fe::from_integer(x).mul(&z_squared) == sum.x;
    if is_x(r) || bignum::less(r, &wrap) && is_x(&bignum::add(r, &NistP256Order::WORDS).0) {
        return Verdict::Right;
    }
    Verdict::Wrong
}

/// The sum of all digits' multiples. `entry` gives the key's, which are over the Z of `scale`, if there is one.
#[target_feature(enable = "bmi2,adx")]
fn multiply<'e>(
    schedule: &Schedule,
    entry: impl Fn(u8, u16) -> &'e Affine,
    scale: Option<&Scale>,
    pause: &mut dyn FnMut(),
) -> Jacobian {
    let generator = table::generator();
    let mut sum = None::<Jacobian>;
    for bit in (0..schedule.end).rev() {
        if let Some(sum) = &mut sum {
            sum.double();
        }
        for digit in schedule.at(bit) {
            let own_scale = scale.filter(|_| !digit.is_generator);
            let point = if digit.is_generator {
                generator.entry(digit.part, digit.number)
            } else {
                entry(digit.part, digit.number)
            };
            let point = point.negate_if_vartime(digit.is_negative);
            match (&mut sum, own_scale) {
                (Some(sum), None) => sum.add(&point),
                (Some(sum), Some(scale)) => sum.add_scaled(&point, scale),
                (None, _) => {
                    sum = Some(Jacobian { x: point.x, y: point.y, z: own_scale.map_or(Fe::ONE, |scale| scale.z) })
                }
            }
        }
        if bit % PAUSE_BITS == PAUSE_BITS - 1 {
            pause();
        }
    }
    // Two scalars of zero have no digits, and no multiple: what they would make is at infinity.
    sum.unwrap_or(Jacobian { x: Fe::ONE, y: Fe::ONE, z: Fe::ZERO })
}
