//! Signatures, up to 32 at a time, in constant time: no branch and no address depends on a key or a nonce.

use super::field::Fe;
use super::input::{Column, GROUPS_MAX, JOBS_MAX, LANES, invert_all};
use super::point::{Affine, Jacobian};
use super::recode::Digits;
use super::table::{SIGN_WIDTH, sign_table};
use crate::bignum;
use crate::curve::Weierstrass;
use crate::job::{Signature, Signing};

/// Signs with the nonces given. A lane whose r or s is zero gets `None`; with nonces made at random none ever is.
///
/// All jobs are of the curve, at most [`JOBS_MAX`]; keys and nonces are from 1 to the order less one.
#[target_feature(enable = "avx512ifma")]
pub(super) fn sign<C: Weierstrass>(jobs: &[Signing<'_>], nonces: &[[u8; 32]], signatures: &mut [Option<Signature>]) {
    assert!(
        jobs.len() <= JOBS_MAX && jobs.len() == nonces.len() && jobs.len() == signatures.len(),
        "the caller cuts jobs to size"
    );
    let group_count = jobs.len().div_ceil(LANES);
    let mut inverses = [Fe::one().factor(); GROUPS_MAX];
    let mut digits = [const { None::<Digits<C::Order, SIGN_WIDTH>> }; GROUPS_MAX];
    for (at, nonces) in nonces.chunks(LANES).enumerate() {
        let mut column = Column::ZERO;
        for lane in 0..LANES {
            // An idle lane repeats the first.
            column.set(lane, &bignum::from_be_bytes(nonces.get(lane).unwrap_or(&nonces[0])));
        }
        let nonce = column.load();
        column.zeroize();
        digits[at] = Some(Digits::new(&nonce));
        inverses[at] = nonce.to_montgomery();
    }
    let mut points = multiply_generator::<C>(&digits[..group_count]);
    let mut z_inverses = [Fe::one().factor(); GROUPS_MAX];
    for (inverse, point) in z_inverses.iter_mut().zip(&mut points[..group_count]) {
        // Z is zero where a sum met its own like: a lane in 2^250 that must not spoil the others' inverse.
        let idle = point.z.clean().acc().zero_mask();
        point.x = point.x.select(idle, &Fe::zero());
        *inverse = point.z.select(idle, &Fe::one().factor());
    }
    invert_all(&mut inverses[..group_count], &mut z_inverses[..group_count]);

    for (at, jobs) in jobs.chunks(LANES).enumerate() {
        let mut x = points[at].x.mul(&z_inverses[at].square());
        if let Some(twist) = C::TWIST {
            x = x.mul(&Fe::splat(&twist.x_inverse));
        }
        // The prime is above the order by less than a tenth of it.
        let r = Fe::<C::Order>::from_limbs(*x.to_integer().limbs()).acc().canonical();
        let (mut secret, mut digest) = (Column::ZERO, Column::ZERO);
        for (lane, job) in jobs.iter().enumerate() {
            secret.set(lane, &bignum::from_be_bytes(job.secret));
            digest.set(lane, &bignum::from_be_bytes(job.digest));
        }
        let product = r.times(&secret.load::<C::Order>().to_montgomery());
        secret.zeroize();
        let s = product.plus(&digest.load().acc()).carry_factor().times(&inverses[at]).canonical();
        let refused = r.acc().zero_mask() | s.acc().zero_mask();
        let (r, s) = (Column::store(&r.to_words()), Column::store(&s.to_words()));
        for (lane, signature) in signatures[at * LANES..].iter_mut().take(jobs.len()).enumerate() {
            let valid = refused >> lane & 1 == 0;
            *signature = valid.then(|| Signature { r: r.bytes(lane), s: s.bytes(lane) });
        }
    }
}

/// Multiples of the generator: a sum of one table entry for each digit.
#[target_feature(enable = "avx512ifma")]
fn multiply_generator<C: Weierstrass>(scalars: &[Option<Digits<C::Order, SIGN_WIDTH>>]) -> [Jacobian<C>; GROUPS_MAX] {
    let table = sign_table::<C>();
    let mut sums = [Affine::<C>::generator().jacobian(); GROUPS_MAX];
    for digit in 0..Digits::<C::Order, SIGN_WIDTH>::COUNT {
        for (sum, scalar) in sums.iter_mut().zip(scalars.iter().flatten()) {
            let (negative, number) = scalar.digit(digit);
            let entry: Affine<C> = table.entry(digit, number);
            if digit == 0 {
                let y = entry.y.acc().negate_where::<2>(negative).reduce();
                *sum = Affine { x: entry.x, y }.jacobian();
            } else {
                sum.add(&entry, negative);
            }
        }
    }
    sums
}
