//! y of up to eight points from their x. Public values only.

use super::field::Fe;
use super::input::{Column, LANES};
use super::point::cubic;
use crate::bignum;
use crate::curve::{Modulus, Weierstrass};
use crate::job::CompressedPoint;

/// Fills in y of each point, or `None` where there is no point with that x. All points are of the curve, at most eight.
#[target_feature(enable = "avx512ifma")]
pub(super) fn decompress<C: Weierstrass>(points: &[CompressedPoint<'_>], ys: &mut [Option<[u8; 32]>]) {
    assert!(points.len() <= LANES && points.len() == ys.len(), "the caller cuts points to size");
    let mut column = Column::ZERO;
    let (mut in_range, mut odd) = (0u8, 0u8);
    for (lane, point) in points.iter().enumerate() {
        let x = bignum::from_be_bytes(point.x);
        if bignum::less(&x, &<C::Field as Modulus>::WORDS) {
            in_range |= 1 << lane;
            column.set(lane, &x);
        }
        odd |= u8::from(point.y_is_odd) << lane;
    }
    let mut x = column.load::<C::Field>().to_montgomery();
    if let Some(twist) = C::TWIST {
        x = x.mul(&Fe::splat(&twist.x));
    }
    let square = cubic::<C>(&x.clean());
    let mut y = square.power(&<C::Field as Modulus>::ROOT);
    let on_curve = y.squared().minus(&square.acc()).plus_primes::<2>().zero_mask() & in_range;
    if let Some(twist) = C::TWIST {
        y = y.mul(&Fe::splat(&twist.y_inverse));
    }
    let y = y.to_integer();
    let negative = Fe::<C::Field>::splat(&<C::Field as Modulus>::WORDS).acc().minus(&y.acc()).carry();
    // Both curves have an odd order: no point has y = 0, and one of the two roots is odd.
    let y = y.select(y.odd_mask() ^ odd, &negative);
    let column = Column::store(&y.to_words());
    for (lane, y) in ys.iter_mut().enumerate() {
        *y = (on_curve >> lane & 1 == 1).then(|| column.bytes(lane));
    }
}
