//! y of compressed points.

use super::field::Fe;
use super::point::cubic;
use crate::bignum;
use crate::curve::{Modulus, NistP256Field};

/// None where no point has that x, or x is not below the prime.
#[target_feature(enable = "bmi2,adx")]
pub(super) fn decompress(x: &[u8; 32], y_is_odd: bool) -> Option<[u8; 32]> {
    let x = bignum::from_be_bytes(x);
    if !bignum::less(&x, &NistP256Field::WORDS) {
        return None;
    }
    let cubic = cubic(&Fe::from_integer(&x));
    let root = cubic.root();
    if root.square() != cubic {
        return None;
    }
    let y = root.to_integer();
    // The curve has no point of order two, so that y is not zero and its negative has the other parity.
    let is_odd = y[0] & 1 == 1;
    let y = if is_odd == y_is_odd { y } else { bignum::subtract(&NistP256Field::WORDS, &y) };
    Some(bignum::to_be_bytes(&y))
}
