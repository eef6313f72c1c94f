//! Points of P-256, one at a time. A point (X : Y : Z) in Jacobian coordinates is x = X/Z², y = Y/Z³.
//!
//! The formulas are those for points in general position. Where two points to add are equal or opposite they give Z = 0, and every
//! later sum and double keeps Z = 0: one look at the end finds it. For a signature somebody made at random that happens with
//! probability near 2^-250; the verifier gives the job to the scalar code.

use super::field::Fe;
use crate::bignum::{self, Words};
use crate::curve::{Modulus, NistP256, NistP256Field, Weierstrass};

/// A point (x, y), not at infinity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Affine {
    pub(super) x: Fe,
    pub(super) y: Fe,
}

/// A point (X : Y : Z).
#[derive(Clone, Copy, Debug)]
pub(super) struct Jacobian {
    pub(super) x: Fe,
    pub(super) y: Fe,
    pub(super) z: Fe,
}

/// x³ - 3x + b
#[target_feature(enable = "bmi2,adx")]
pub(super) fn cubic(x: &Fe) -> Fe {
    let b = Fe::from_lanes(&NistP256::B);
    let triple = x.double().add(x);
    x.square().mul(x).sub(&triple).add(&b)
}

impl Affine {
    /// The generator.
    #[target_feature(enable = "bmi2,adx")]
    pub(super) fn generator() -> Self {
        let [x, y] = &NistP256::GENERATOR;
        Self { x: Fe::from_lanes(x), y: Fe::from_lanes(y) }
    }

    /// Of coordinates as octets; none of what is no point of the curve.
    #[target_feature(enable = "bmi2,adx")]
    pub(super) fn load(x: &[u8; 32], y: &[u8; 32]) -> Option<Self> {
        let [x, y] = [x, y].map(bignum::from_be_bytes);
        let is_below = |words: &Words| bignum::less(words, &NistP256Field::WORDS);
        if !is_below(&x) || !is_below(&y) {
            return None;
        }
        let point = Self { x: Fe::from_integer(&x), y: Fe::from_integer(&y) };
        (point.y.square() == cubic(&point.x)).then_some(point)
    }

    /// With Z = 1.
    pub(super) fn jacobian(&self) -> Jacobian {
        Jacobian { x: self.x, y: self.y, z: Fe::ONE }
    }

    /// The point, or its negative.
    #[target_feature(enable = "bmi2,adx")]
    pub(super) fn negate_if_vartime(&self, is_negative: bool) -> Self {
        if is_negative { Self { x: self.x, y: self.y.negate() } } else { *self }
    }
}

/// The Z of points given as X and Y, its square and its cube.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) z: Fe,
    squared: Fe,
    cubed: Fe,
}

impl Scale {
    #[target_feature(enable = "bmi2,adx")]
    pub(super) fn new(z: Fe) -> Self {
        let squared = z.square();
        Self { z, squared, cubed: squared.mul(&z) }
    }
}

impl Jacobian {
    /// Twice the point: 4 products and 4 squares, after dbl-2001-b of the Explicit-Formulas Database (D. J. Bernstein, T. Lange).
    #[target_feature(enable = "bmi2,adx")]
    pub(super) fn double(&mut self) {
        let z_squared = self.z.square();
        let y_twice = self.y.double();
        let y_squared = y_twice.square(); // 4 Y²
        self.z = self.z.mul(&y_twice);
        let slope = self.x.add(&z_squared).mul(&self.x.sub(&z_squared));
        let slope = slope.double().add(&slope);
        let x_y_squared = self.x.mul(&y_squared); // 4 X Y²
        self.x = slope.square().sub(&x_y_squared.double());
        let y_fourth = y_squared.square().half(); // 8 Y⁴
        self.y = slope.mul(&x_y_squared.sub(&self.x)).sub(&y_fourth);
    }

    /// The sum with an affine point: 8 products and 3 squares.
    #[target_feature(enable = "bmi2,adx")]
    pub(super) fn add(&mut self, other: &Affine) {
        let z_squared = self.z.square();
        let run = other.x.mul(&z_squared).sub(&self.x);
        let rise = other.y.mul(&self.z.mul(&z_squared)).sub(&self.y);
        let run_squared = run.square();
        let run_cubed = run.mul(&run_squared);
        let x_run_squared = self.x.mul(&run_squared);
        self.z = self.z.mul(&run);
        self.x = rise.square().sub(&run_cubed).sub(&x_run_squared.double());
        self.y = rise.mul(&x_run_squared.sub(&self.x)).sub(&self.y.mul(&run_cubed));
    }

    /// As [`add`](Self::add), of a point (X : Y : Z) whose X and Y are `other`: on the curve where that one has Z = 1, this
    /// one is (X Z² : Y Z³ : Z), and what their sum has there for Z wants one factor more here.
    #[target_feature(enable = "bmi2,adx")]
    pub(super) fn add_scaled(&mut self, other: &Affine, scale: &Scale) {
        self.x = self.x.mul(&scale.squared);
        self.y = self.y.mul(&scale.cubed);
        self.add(other);
        self.z = self.z.mul(&scale.z);
    }

    /// To affine coordinates, given the inverse of Z.
    #[target_feature(enable = "bmi2,adx")]
    pub(super) fn to_affine(self, z_inverse: &Fe) -> Affine {
        let squared = z_inverse.square();
        Affine { x: self.x.mul(&squared), y: self.y.mul(&squared.mul(z_inverse)) }
    }
}

/// P, 3P, 5P, ... of a point P, to `multiples`, in Jacobian coordinates: the Z of an entry is that of the one before times its
/// number in `ratios`; the first entry's is its ratio. Returns the last Z.
///
/// The double and the odd multiple reached share their Z, so that a sum is 5 products and 2 squares: N. Meloni, "New
/// point addition formulae for ECC applications", WAIFI 2007, algorithm 1.
#[target_feature(enable = "bmi2,adx")]
pub(super) fn odd_multiples(point: &Affine, multiples: &mut [Affine], ratios: &mut [Fe]) -> Fe {
    // 2P, and P over 2P's Z = 2y: mdbl-2007-bl of the Explicit-Formulas Database.
    let x_squared = point.x.square();
    let slope = x_squared.sub(&Fe::ONE);
    let slope = slope.double().add(&slope);
    let mut z = point.y.double();
    let y_squared = z.square(); // 4 y²
    let mut odd = Affine { x: point.x.mul(&y_squared), y: y_squared.square().half() }; // 4 x y², 8 y⁴
    let x = slope.square().sub(&odd.x.double());
    let mut double = Affine { x, y: slope.mul(&odd.x.sub(&x)).sub(&odd.y) };

    for (at, (multiple, ratio)) in multiples.iter_mut().zip(ratios).enumerate() {
        if at == 0 {
            (*multiple, *ratio) = (odd, z);
            continue;
        }
        let run = odd.x.sub(&double.x);
        let rise = odd.y.sub(&double.y);
        let run_squared = run.square();
        let double_x = double.x.mul(&run_squared);
        let odd_x = odd.x.mul(&run_squared);
        let double_y = double.y.mul(&odd_x.sub(&double_x));
        let x = rise.square().sub(&double_x).sub(&odd_x);
        odd = Affine { x, y: rise.mul(&double_x.sub(&x)).sub(&double_y) };
        double = Affine { x: double_x, y: double_y };
        z = z.mul(&run);
        (*multiple, *ratio) = (odd, run);
    }
    z
}

/// Brings what [`odd_multiples`] left to affine coordinates, given the inverse of the Z it returned; given one, to that Z.
#[target_feature(enable = "bmi2,adx")]
pub(super) fn normalize(multiples: &mut [Affine], ratios: &[Fe], mut z_inverse: Fe) {
    for (multiple, ratio) in multiples.iter_mut().zip(ratios).rev() {
        let squared = z_inverse.square();
        *multiple = Affine { x: multiple.x.mul(&squared), y: multiple.y.mul(&squared.mul(&z_inverse)) };
        z_inverse = z_inverse.mul(ratio);
    }
}
