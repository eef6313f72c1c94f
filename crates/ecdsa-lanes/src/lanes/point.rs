//! Eight points at once on y² = x³ - 3x + b. A point (X : Y : Z) in Jacobian coordinates is x = X/Z², y = Y/Z³.
//!
//! The formulas are those for points in general position. Where two points to add are equal or opposite, or one is the
//! point at infinity, they give Z = 0, and every later sum and double keeps Z = 0: one look at the end finds all such
//! lanes. For a signature somebody made at random that happens with probability near 2^-250; the verifier gives the
//! lane to the scalar code.
//!
//! In the comments a number is a bound in units of the prime, see [`field`](super::field): X and Y of a point are below
//! 1.1, Z below 2.4, coordinates of an affine point below 1.2.

use super::field::Fe;
use crate::curve::Weierstrass;

/// Eight points (x, y), none at infinity.
#[derive(Clone, Copy)]
pub(super) struct Affine<C: Weierstrass> {
    pub(super) x: Fe<C::Field>,
    pub(super) y: Fe<C::Field>,
}

/// Eight points (X : Y : Z).
#[derive(Clone, Copy)]
pub(super) struct Jacobian<C: Weierstrass> {
    pub(super) x: Fe<C::Field>,
    pub(super) y: Fe<C::Field>,
    pub(super) z: Fe<C::Field>,
}

impl<C: Weierstrass> Affine<C> {
    /// The generator in every lane.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn generator() -> Self {
        Self { x: Fe::splat(&C::GENERATOR[0]), y: Fe::splat(&C::GENERATOR[1]) }
    }

    /// Lanes whose point is on the curve.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn on_curve_mask(&self) -> u8 {
        // 1.1 + 2 below 3.1
        self.y.squared().minus(&cubic::<C>(&self.x).acc()).plus_primes::<2>().carry().zero_mask()
    }

    /// With Z = 1.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn jacobian(&self) -> Jacobian<C> {
        Jacobian { x: self.x, y: self.y, z: Fe::splat(&<C::Field as crate::curve::Modulus>::ONE) }
    }
}

/// x³ - 3x + b, below 1.1.
#[target_feature(enable = "avx512ifma")]
pub(super) fn cubic<C: Weierstrass>(x: &Fe<C::Field>) -> Fe<C::Field> {
    let cube = x.square().times(x);
    let triple = x.acc().doubled().plus(&x.acc());
    // 1.2 + 1 - 3.6 + 4
    cube.plus(&Fe::splat(&C::B).acc()).minus(&triple).plus_primes::<4>().reduce()
}

impl<C: Weierstrass> Jacobian<C> {
    /// Twice the point: 4 products and 4 squares, after dbl-2001-b of the Explicit-Formulas Database (D. J. Bernstein,
    /// T. Lange).
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn double(&mut self) {
        let z_squared = self.z.squared(); // 1.4
        let below = self.x.acc().minus(&z_squared).plus_primes::<2>().carry(); // 3.1
        let above = self.x.acc().plus(&z_squared).carry(); // 2.5
        let slope = below.times(&above); // 1.5
        let slope = slope.doubled().plus(&slope).carry(); // 4.5
        let y_squared = self.y.squared().doubled().carry(); // 2 Y² below 2.2
        let x_y_squared = self.x.times(&y_squared).doubled(); // 4 X Y² below 2.4
        let z = self.y.times(&self.z).doubled().carry(); // 2.4
        // 2.3 - 4.8 + 5
        let x = slope.squared().minus(&x_y_squared.doubled()).plus_primes::<5>().reduce();
        let fall = x_y_squared.minus(&x.acc()).plus_primes::<2>().carry(); // 4.4
        // 2.3 - 2.6 + 3
        let y = slope.times(&fall).minus(&y_squared.squared().doubled()).plus_primes::<3>().reduce();
        *self = Self { x, y, z };
    }

    /// The sum with an affine point, negated in the lanes of the mask: 8 products and 3 squares.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(super) fn add(&mut self, other: &Affine<C>, negative: u8) {
        let z_squared = self.z.square(); // 1.4
        let z_cubed = self.z.mul(&z_squared); // 1.3
        let run = other.x.times(&z_squared).minus(&self.x.acc()).plus_primes::<2>().carry(); // 3.2
        let other_y = other.y.times(&z_cubed).negate_where::<2>(negative); // 2
        let rise = other_y.minus(&self.y.acc()).plus_primes::<2>().carry(); // 4
        let run_squared = run.square(); // 1.7
        let run_cubed = run.mul(&run_squared); // 1.4
        let x_run_squared = self.x.times(&run_squared); // 1.2
        let z = self.z.mul(&run); // 1.5
        // 2 - 1.4 - 2.4 + 4
        let x = rise.squared().minus(&run_cubed.acc()).minus(&x_run_squared.doubled()).plus_primes::<4>().reduce();
        let fall = x_run_squared.minus(&x.acc()).plus_primes::<2>().carry(); // 3.2
        // 1.8 - 1.1 + 2
        let y = rise.times(&fall).minus(&self.y.times(&run_cubed)).plus_primes::<2>().reduce();
        *self = Self { x, y, z };
    }
}

/// P, 3P, 5P, ... of eight points P, to `multiples`, in Jacobian coordinates, X and Y below 1.1: the Z of an entry is
/// that of the one before times its number in `ratios`; the first entry's is its ratio. Returns the last Z.
///
/// The double and the odd multiple reached share their Z, so that a sum is 5 products and 2 squares: N. Meloni, "New
/// point addition formulae for ECC applications", WAIFI 2007, algorithm 1.
///
/// P is no point of order two or three.
#[target_feature(enable = "avx512ifma")]
pub(super) fn odd_multiples<C: Weierstrass>(
    point: &Affine<C>,
    multiples: &mut [Affine<C>],
    ratios: &mut [Fe<C::Field>],
) -> Fe<C::Field> {
    // 2P, and P over 2P's Z = 2y: mdbl-2007-bl of the Explicit-Formulas Database.
    let x_squared = point.x.squared(); // 1.1
    let slope = x_squared.doubled().plus(&x_squared); // 3.3
    let three = Fe::<C::Field>::splat(&<C::Field as crate::curve::Modulus>::ONE).acc();
    let slope = slope.minus(&three.doubled().plus(&three)).plus_primes::<3>().carry(); // 6.3
    let y_squared = point.y.squared().doubled().carry(); // 2 y² below 2.2
    let mut z = point.y.acc().doubled().carry(); // 2.4
    let x_y_squared = point.x.times(&y_squared).doubled(); // 4 x y² below 2.4
    let y_fourth = y_squared.squared().doubled(); // 8 y⁴ below 2.6
    let mut odd = Affine::<C> { x: x_y_squared.reduce(), y: y_fourth.reduce() };
    let double_x = slope.squared().minus(&x_y_squared.doubled()).plus_primes::<5>();
    // 3.5 - 4.8 + 5
    let mut double = Affine::<C> { x: double_x.reduce(), y: odd.y };
    let fall = x_y_squared.minus(&double.x.acc()).plus_primes::<2>().carry(); // 4.4
    // 2.8 - 2.6 + 3
    double.y = slope.times(&fall).minus(&y_fourth).plus_primes::<3>().reduce();

    for (at, (multiple, ratio)) in multiples.iter_mut().zip(ratios).enumerate() {
        if at == 0 {
            (*multiple, *ratio) = (odd, z);
            continue;
        }
        let run = odd.x.acc().minus(&double.x.acc()).plus_primes::<2>().carry(); // 3.1
        let rise = odd.y.acc().minus(&double.y.acc()).plus_primes::<2>().carry(); // 3.1
        let run_squared = run.square(); // 1.7
        let double_x = double.x.times(&run_squared); // 1.2
        let odd_x = odd.x.times(&run_squared); // 1.2
        // 1.2 - 1.2 + 2
        let double_y = double.y.times(&odd_x.minus(&double_x).plus_primes::<2>().carry()); // 1.3
        // 1.7 - 2.4 + 3
        let x = rise.squared().minus(&double_x).minus(&odd_x).plus_primes::<3>().reduce();
        let fall = double_x.minus(&x.acc()).plus_primes::<2>().carry(); // 3.2
        // 1.7 - 1.3 + 2
        odd = Affine { x, y: rise.times(&fall).minus(&double_y).plus_primes::<2>().reduce() };
        double = Affine { x: double_x.reduce(), y: double_y.reduce() };
        z = z.mul(&run);
        (*multiple, *ratio) = (odd, run);
    }
    z
}

/// Brings what [`odd_multiples`] left to affine coordinates, given the inverse of the Z it returned.
#[target_feature(enable = "avx512ifma")]
pub(super) fn normalize<C: Weierstrass>(
    multiples: &mut [Affine<C>],
    ratios: &[Fe<C::Field>],
    mut z_inverse: Fe<C::Field>,
) {
    for (multiple, ratio) in multiples.iter_mut().zip(ratios).rev() {
        let squared = z_inverse.square();
        multiple.x = multiple.x.mul(&squared);
        multiple.y = multiple.y.mul(&squared.mul(&z_inverse));
        z_inverse = z_inverse.mul(ratio);
    }
}
