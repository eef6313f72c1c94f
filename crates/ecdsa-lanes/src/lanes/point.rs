//! Eight points at once on y² = x³ - 3x + b. A point (X : Y : Z) in Jacobian coordinates is x = X/Z², y = Y/Z³.
//!
//! The formulas are those for points in general position. Where two points to add are equal or opposite, or one is the
//! point at infinity, they give Z = 0, and every later sum and double keeps Z = 0: one look at the end finds all such
//! lanes. For a signature somebody made at random that happens with probability near 2^-250; the verifier gives the
//! lane to the scalar code.
//!
//! The formulas for a sum and a double are turned so that they give the negative of the result: then Y is a sum of two
//! products, not a difference, and one reduction and no correction of the sign serves both. A point knows whether it
//! stands for its negative.
//!
//! In the comments a number is a bound in units of the prime, see [`field`](super::field): X of a point is below 1.1,
//! Y below 2.8, Z below 3.1, coordinates of an affine point below 1.2.

use super::field::{Factor, Fe};
use crate::curve::Weierstrass;

/// Eight points (x, y), none at infinity.
#[derive(Clone, Copy)]
pub(super) struct Affine<C: Weierstrass> {
    pub(super) x: Fe<C::Field>,
    pub(super) y: Fe<C::Field>,
}

/// Eight points (X : Y : Z), or their negatives.
#[derive(Clone, Copy)]
pub(super) struct Jacobian<C: Weierstrass> {
    pub(super) x: Fe<C::Field>,
    pub(super) y: Factor<C::Field>,
    pub(super) z: Factor<C::Field>,
    /// Whether these are the negatives, in all lanes.
    pub(super) is_negative: bool,
}

/// The Z of points given as X and Y, and its powers.
#[derive(Clone, Copy)]
pub(super) struct Scale<C: Weierstrass> {
    pub(super) z: Factor<C::Field>,
    squared: Factor<C::Field>,
    cubed: Factor<C::Field>,
}

impl<C: Weierstrass> Scale<C> {
    /// Of Z below 3.1.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn new(z: Factor<C::Field>) -> Self {
        let squared = z.square(); // 1.6
        Self { z, squared, cubed: squared.mul(&z) }
    }
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
        self.y.squared().minus(&cubic::<C>(&self.x).acc()).plus_primes::<2>().zero_mask()
    }

    /// Lanes of `other` where the mask has a one, of `self` elsewhere.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn select(&self, mask: u8, other: &Self) -> Self {
        Self { x: self.x.select(mask, &other.x), y: self.y.select(mask, &other.y) }
    }

    /// With Z = 1.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn jacobian(&self) -> Jacobian<C> {
        Jacobian { x: self.x, y: self.y.factor(), z: Fe::one().factor(), is_negative: false }
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
    /// Twice the point: 4 products and 4 squares, seven reductions, after dbl-2001-b of the Explicit-Formulas Database
    /// (D. J. Bernstein, T. Lange).
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn double(&mut self) {
        let z_squared = self.z.squared(); // 1.6
        let below = self.x.acc().minus(&z_squared).plus_primes::<2>(); // 3.1
        let below = below.doubled().plus(&below).carry_factor(); // 9.3
        let above = self.x.acc().plus(&z_squared).carry_factor(); // 2.7
        let slope = below.mul(&above); // 2.6
        let y_squared = self.y.squared().doubled().carry_factor(); // 2 Y² below 2.95
        let x_y_squared = self.x.times(&y_squared).doubled(); // 4 X Y² below 2.45
        let z = self.y.times(&self.z).doubled().carry_factor(); // 3.1
        // 1.5 - 4.9 + 5
        let x = slope.squared().minus(&x_y_squared.doubled()).plus_primes::<5>().reduce();
        let rise = x.acc().minus(&x_y_squared).plus_primes::<3>().carry_factor(); // 4.1
        // 1 + (2.6 * 4.1 + 2 * 2.95²) / 16, below 2.8
        let y = y_squared.square_product().doubled().plus_product(&slope, &rise).reduce().carry_factor();
        *self = Self { x, y, z, is_negative: !self.is_negative };
    }

    /// The sum with an affine point, negated in the lanes of the mask: 8 products and 3 squares, ten reductions.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn add(&mut self, other: &Affine<C>, negative: u8) {
        let negative = if self.is_negative { !negative } else { negative };
        let z_squared = self.z.square(); // 1.6
        let z_cubed = self.z.mul(&z_squared); // 1.4
        let run = other.x.times(&z_squared).minus(&self.x.acc()).plus_primes::<2>().carry_factor(); // 3.2
        let other_y = other.y.times(&z_cubed).negate_where::<2>(negative); // 2
        let rise = other_y.minus(&self.y.clean().acc()).plus_primes::<3>().carry_factor(); // 5
        let run_squared = run.square(); // 1.7
        let run_cubed = run.times(&run_squared); // 1.4
        let x_run_squared = self.x.times(&run_squared); // 1.2
        let z = self.z.mul(&run); // 1.7
        // 2.6 - 1.4 - 2.4 + 4
        let x = rise.squared().minus(&run_cubed).minus(&x_run_squared.doubled()).plus_primes::<4>().reduce();
        let fall = x.acc().minus(&x_run_squared).plus_primes::<2>().carry_factor(); // 3.1
        // 1 + (5 * 3.1 + 2.8 * 1.4) / 16, below 2.3
        let y = rise.product(&fall).plus_product(&self.y, &run_cubed.carry_factor()).reduce().carry_factor();
        *self = Self { x, y, z, is_negative: !self.is_negative };
    }

    /// As [`add`](Self::add), of a point (X : Y : Z) whose X and Y are `other`: on the curve where that one has Z = 1, this
    /// one is (X Z² : Y Z³ : Z), and what their sum has there for Z wants one factor more here.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn add_scaled(&mut self, other: &Affine<C>, scale: &Scale<C>, negative: u8) {
        self.x = self.x.times(&scale.squared).reduce();
        self.y = self.y.mul(&scale.cubed); // 1.3
        self.add(other, negative);
        self.z = self.z.mul(&scale.z); // 1.4
    }

    /// The sum with another.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn add_jacobian(&mut self, other: &Self) {
        let affine = Affine { x: other.x, y: other.y.clean().acc().reduce() };
        self.add_scaled(&affine, &Scale::new(other.z), if other.is_negative { 0xff } else { 0 });
    }

    /// In lane i the point that is in lane `lanes[i]` here.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn permuted(&self, lanes: &[u64; 8]) -> Self {
        let (x, y, z) = (self.x.permuted(lanes), self.y.permuted(lanes), self.z.permuted(lanes));
        Self { x, y, z, is_negative: self.is_negative }
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
    ratios: &mut [Factor<C::Field>],
) -> Factor<C::Field> {
    // 2P, and P over 2P's Z = 2y: mdbl-2007-bl of the Explicit-Formulas Database.
    let x_squared = point.x.squared(); // 1.1
    let slope = x_squared.doubled().plus(&x_squared); // 3.3
    let one = Fe::<C::Field>::one().acc();
    let slope = slope.minus(&one.doubled().plus(&one)).plus_primes::<3>().carry_factor(); // 6.3
    let y_squared = point.y.squared().doubled().carry_factor(); // 2 y² below 2.2
    let mut z = point.y.acc().doubled().carry_factor(); // 2.4
    let x_y_squared = point.x.times(&y_squared).doubled(); // 4 x y² below 2.4
    let y_fourth = y_squared.squared().doubled(); // 8 y⁴ below 2.6
    let mut odd = Affine::<C> { x: x_y_squared.reduce(), y: y_fourth.reduce() };
    let double_x = slope.squared().minus(&x_y_squared.doubled()).plus_primes::<5>();
    // 3.5 - 4.8 + 5
    let mut double = Affine::<C> { x: double_x.reduce(), y: odd.y };
    let fall = x_y_squared.minus(&double.x.acc()).plus_primes::<2>().carry_factor(); // 4.4
    // 2.8 - 2.6 + 3
    double.y = slope.times(&fall).minus(&y_fourth).plus_primes::<3>().reduce();

    for (at, (multiple, ratio)) in multiples.iter_mut().zip(ratios).enumerate() {
        if at == 0 {
            (*multiple, *ratio) = (odd, z);
            continue;
        }
        let run = odd.x.acc().minus(&double.x.acc()).plus_primes::<2>().carry_factor(); // 3.1
        let rise = odd.y.acc().minus(&double.y.acc()).plus_primes::<2>().carry_factor(); // 3.1
        let run_squared = run.square(); // 1.7
        let double_x = double.x.times(&run_squared); // 1.2
        let odd_x = odd.x.times(&run_squared); // 1.2
        // 1.2 - 1.2 + 2
        let double_y = double.y.times(&odd_x.minus(&double_x).plus_primes::<2>().carry_factor()); // 1.3
        // 1.7 - 2.4 + 3
        let x = rise.squared().minus(&double_x).minus(&odd_x).plus_primes::<3>().reduce();
        let fall = double_x.minus(&x.acc()).plus_primes::<2>().carry_factor(); // 3.2
        // 1.7 - 1.3 + 2
        odd = Affine { x, y: rise.times(&fall).minus(&double_y).plus_primes::<2>().reduce() };
        double = Affine { x: double_x.reduce(), y: double_y.reduce() };
        z = z.mul(&run);
        (*multiple, *ratio) = (odd, run);
    }
    z
}

/// Brings what [`odd_multiples`] left to affine coordinates, given the inverse of the Z it returned; given one, to that Z.
#[target_feature(enable = "avx512ifma")]
pub(super) fn normalize<C: Weierstrass>(
    multiples: &mut [Affine<C>],
    ratios: &[Factor<C::Field>],
    mut z_inverse: Factor<C::Field>,
) {
    for (multiple, ratio) in multiples.iter_mut().zip(ratios).rev() {
        let squared = z_inverse.square();
        multiple.x = multiple.x.mul(&squared).clean();
        multiple.y = multiple.y.mul(&squared.mul(&z_inverse)).clean();
        z_inverse = z_inverse.mul(ratio);
    }
}
