//! Points of FourQ, the twisted Edwards curve `-x^2 + y^2 = 1 + d x^2 y^2` over GF(p^2).
//!
//! Four forms of a point (X : Y : Z) with x = X/Z, y = Y/Z, T = XY/Z, named after the forms R1 to R4 of the curve's draft:
//!
//! | draft | here | holds | used for |
//! |---|---|---|---|
//! | R1 | [`Extended`] | X, Y, Z, Ta, Tb with T = Ta Tb | result of doubling and addition |
//! | R2 | [`Cached`] | X + Y, Y - X, 2Z, 2dT | the operand of an addition that is used again |
//! | R3 | [`Sum`] | X + Y, Y - X, Z, T | the other operand |
//! | R4 | [`Extended`], T unused | X, Y, Z | the operand of a doubling |
//!
//! [`CachedAffine`] is R2 with Z = 1. The formulas are complete on this curve: no case is special.
//!
//! Source: Hisil, Wong, Carter, Dawson, "Twisted Edwards Curves Revisited", ASIACRYPT 2008; draft-ladd-cfrg-4q, section
//! "Alternative Point Representations and Addition Laws".

use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroize;

use crate::accumulator::{Accumulator, Program};
use crate::field::Field;
use crate::fp2::Fp2;
use crate::generated::small_order::SMALL_ORDER;
use crate::table::CachedWords;

/// The curve's parameter d.
pub const D: Fp2 = Fp2::new(0x0000_0000_0000_00e4_0000_0000_0000_0142, 0x5e47_2f84_6657_e0fc_b382_1488_f1fc_0c8d);
/// 2d.
const D_TWICE: Fp2 = D.double();

/// An affine point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroize)]
pub struct Affine {
    /// The first coordinate.
    pub x: Fp2,
    /// The second coordinate.
    pub y: Fp2,
}

impl Affine {
    /// The neutral element, (0, 1).
    pub const IDENTITY: Self = Self { x: Fp2::ZERO, y: Fp2::ONE };
    /// The base point, of order N.
    pub const GENERATOR: Self = Self {
        x: Fp2::new(0x1a34_7223_7c2f_b305_2865_92ad_7b38_33aa, 0x1e1f_553f_2878_aa9c_9686_9fb3_60ac_77f6),
        y: Fp2::new(0x0e3f_ee9b_a120_785a_b924_a246_2bcb_b287, 0x6e1c_4af8_630e_0242_49a7_c344_844c_8b5c),
    };

    /// Whether the coordinates satisfy the curve's equation.
    pub fn is_on_curve(&self) -> Choice {
        let (xx, yy) = (self.x.square(), self.y.square());
        yy.sub(&xx).ct_eq(&Fp2::ONE.add(&D.mul(&xx.mul(&yy))))
    }

    /// Whether this is the neutral element.
    pub fn is_identity(&self) -> Choice {
        self.x.is_zero() & self.y.ct_eq(&Fp2::ONE)
    }

    /// Whether the order divides the cofactor 392.
    ///
    /// Most points are told from the 392 by one word of y; the others are multiplied by the cofactor.
    #[must_use]
    pub fn is_small_order_vartime<F: Field>(&self, field: F) -> bool {
        let word = self.y.re().canonical() as u64;
        SMALL_ORDER.binary_search(&word).is_ok() && self.to_extended().clear_cofactor(field).is_identity().into()
    }

    /// The extended form, with Z = 1.
    #[must_use]
    pub const fn to_extended(self) -> Extended {
        Extended { x: self.x, y: self.y, z: Fp2::ONE, ta: self.x, tb: self.y }
    }

    /// The form for repeated addition.
    #[must_use]
    pub fn to_cached(self) -> CachedAffine {
        CachedAffine {
            sum: self.x.add(&self.y),
            difference: self.y.sub(&self.x),
            t_2d: self.x.mul(&self.y).mul(&D_TWICE),
        }
    }
}

/// R1 (and R4, which leaves Ta and Tb aside).
#[derive(Clone, Copy, Debug, Zeroize)]
pub struct Extended {
    pub(crate) x: Fp2,
    pub(crate) y: Fp2,
    pub(crate) z: Fp2,
    pub(crate) ta: Fp2,
    pub(crate) tb: Fp2,
}

impl Extended {
    /// The neutral element.
    pub const IDENTITY: Self = Affine::IDENTITY.to_extended();

    /// Doubles this point: 3 multiplications, 4 squarings.
    #[inline(never)]
    pub fn double<F: Field>(&mut self, field: F) {
        let xx = field.square(&self.x);
        let yy = field.square(&self.y);
        let zz = field.square(&self.z);
        let d = xx.add(&yy);
        let f = yy.sub(&xx);
        let g = zz.double().sub(&f);
        self.ta = field.square(&self.x.add(&self.y)).sub(&d);
        self.tb = d;
        self.x = field.mul(&self.ta, &g);
        self.y = field.mul(&self.tb, &f);
        self.z = field.mul(&f, &g);
    }

    /// Doubles this point `count` times.
    pub fn double_times<F: Field>(&mut self, count: u32, field: F) {
        for _ in 0..count {
            self.double(field);
        }
    }

    /// The form of the other operand of an addition.
    #[inline(always)]
    #[must_use]
    pub fn to_sum<F: Field>(&self, field: F) -> Sum {
        Sum { sum: self.x.add(&self.y), difference: self.y.sub(&self.x), z: self.z, t: field.mul(&self.ta, &self.tb) }
    }

    /// The form for repeated addition.
    #[inline]
    #[must_use]
    pub fn to_cached<F: Field>(&self, field: F) -> Cached {
        Cached {
            sum: self.x.add(&self.y),
            difference: self.y.sub(&self.x),
            z_twice: self.z.double(),
            t_2d: field.mul(&field.mul(&self.ta, &self.tb), &D_TWICE),
        }
    }

    /// Adds `other`: 8 multiplications.
    #[inline(never)]
    pub fn add<F: Field>(&mut self, other: &Cached, field: F) {
        let c = field.mul(&field.mul(&self.ta, &self.tb), &other.t_2d);
        let a = field.mul(&self.y.sub(&self.x), &other.difference);
        let b = field.mul(&self.x.add(&self.y), &other.sum);
        let d = field.mul(&self.z, &other.z_twice);
        self.complete(&a, &b, &c, &d, field);
    }

    /// Adds `other`, whose Z is 1: 7 multiplications.
    #[inline(never)]
    pub fn add_affine<F: Field>(&mut self, other: &CachedAffine, field: F) {
        let c = field.mul(&field.mul(&self.ta, &self.tb), &other.t_2d);
        let a = field.mul(&self.y.sub(&self.x), &other.difference);
        let b = field.mul(&self.x.add(&self.y), &other.sum);
        self.complete(&a, &b, &c, &self.z.double(), field);
    }

    /// The second half of an addition, from the four products of the operands.
    #[inline(always)]
    fn complete<F: Field>(&mut self, a: &Fp2, b: &Fp2, c: &Fp2, d: &Fp2, field: F) {
        let f = d.sub(c);
        let g = d.add(c);
        self.ta = b.sub(a);
        self.tb = b.add(a);
        self.x = field.mul(&self.ta, &f);
        self.y = field.mul(&self.tb, &g);
        self.z = field.mul(&f, &g);
    }

    /// 392 times this point, which has order N or is the identity.
    #[must_use]
    pub fn clear_cofactor<F: Field>(&self, field: F) -> Self {
        // 392 = 8 (16 * 3 + 1).
        struct Cofactor(CachedWords);
        impl Program for Cofactor {
            #[inline(always)]
            fn run<A: Accumulator>(self, sum: &mut A) {
                sum.double();
                sum.add(&self.0);
                sum.double_times(4);
                sum.add(&self.0);
                sum.double_times(3);
            }
        }
        field.sum(self, Cofactor(self.to_cached(field).to_words()))
    }

    /// The affine form.
    #[must_use]
    pub fn to_affine<F: Field>(&self, field: F) -> Affine {
        let inverse = self.z.invert(field);
        Affine { x: field.mul(&self.x, &inverse), y: field.mul(&self.y, &inverse) }
    }

    /// Whether this is the neutral element.
    pub fn is_identity(&self) -> Choice {
        self.x.is_zero() & self.y.ct_eq(&self.z)
    }
}

impl ConstantTimeEq for Extended {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.x.mul(&other.z).ct_eq(&other.x.mul(&self.z)) & self.y.mul(&other.z).ct_eq(&other.y.mul(&self.z))
    }
}

impl PartialEq for Extended {
    fn eq(&self, other: &Self) -> bool {
        self.ct_eq(other).into()
    }
}

impl Eq for Extended {}

/// R3.
#[derive(Clone, Copy, Debug)]
pub struct Sum {
    sum: Fp2,
    difference: Fp2,
    z: Fp2,
    t: Fp2,
}

impl Sum {
    /// The sum of both points: 7 multiplications.
    #[inline(always)]
    #[must_use]
    pub fn add<F: Field>(&self, other: &Cached, field: F) -> Extended {
        let a = field.mul(&self.difference, &other.difference);
        let b = field.mul(&self.sum, &other.sum);
        let c = field.mul(&self.t, &other.t_2d);
        let d = field.mul(&self.z, &other.z_twice);
        let mut sum = Extended::IDENTITY;
        sum.complete(&a, &b, &c, &d, field);
        sum
    }
}

/// R2.
#[derive(Clone, Copy, Debug, Zeroize)]
pub struct Cached {
    pub(crate) sum: Fp2,
    pub(crate) difference: Fp2,
    pub(crate) z_twice: Fp2,
    pub(crate) t_2d: Fp2,
}

impl Cached {
    /// The neutral element.
    pub const IDENTITY: Self =
        Self { sum: Fp2::ONE, difference: Fp2::ONE, z_twice: Fp2::ONE.double(), t_2d: Fp2::ZERO };

    /// The extended form: 3 multiplications, 1 squaring.
    #[must_use]
    pub(crate) fn to_extended<F: Field>(self, field: F) -> Extended {
        // 2X, 2Y, 2Z, everything times 2Z, so that T is (2X) (2Y).
        let Extended { x, y, z, .. } = self.to_doubling_operand();
        Extended { x: field.mul(&x, &z), y: field.mul(&y, &z), z: field.square(&z), ta: x, tb: y }
    }

    /// The same point as an operand of doublings only: its T is not there.
    #[inline(always)]
    pub(crate) const fn to_doubling_operand(self) -> Extended {
        Extended {
            x: self.sum.sub(&self.difference),
            y: self.sum.add(&self.difference),
            z: self.z_twice,
            ta: Fp2::ZERO,
            tb: Fp2::ZERO,
        }
    }
}

/// R2 with Z = 1: x + y, y - x, 2dxy.
#[derive(Clone, Copy, Debug)]
pub struct CachedAffine {
    pub(crate) sum: Fp2,
    pub(crate) difference: Fp2,
    pub(crate) t_2d: Fp2,
}

impl CachedAffine {
    /// The extended form: 2 x and 2 y with Z = 2, so that T = 2 x y = Ta Tb holds.
    #[must_use]
    pub const fn to_extended(self) -> Extended {
        let x = self.sum.sub(&self.difference);
        let y = self.sum.add(&self.difference);
        // T = X Y / Z with Z = 2: half of one factor stands for the division.
        Extended { x, y, z: Fp2::ONE.double(), ta: x, tb: Fp2::from_parts(y.re().half(), y.im().half()) }
    }
}
