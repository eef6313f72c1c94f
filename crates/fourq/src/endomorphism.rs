//! The endomorphisms phi and psi, each a way to an isogenous curve, a map there, and the way back.
//!
//! On points of order N both are multiplications by a fixed number, which is what lets a scalar of 256 bits be split into
//! four of 64; on other points they are not, hence the cofactor is cleared first.
//!
//! Source: Costello, Longa, "FourQ: four-dimensional decompositions on a Q-curve over the Mersenne prime", ASIACRYPT 2015
//! (eprint 2015/565), section 3; formulas and constants as in draft-ladd-cfrg-4q, "Endomorphisms" and appendix "Constants".

use crate::field::Field;
use crate::fp2::Fp2;
use crate::point::Extended;

const C_TAU: Fp2 = Fp2::new(0x1964de2c3afad20c74dcd57cebce74c3, 0x000000000000000c0000000000000012);
const C_TAU_DUAL: Fp2 = Fp2::new(0x4aa740eb230586529ecaa6d9decdf034, 0x7ffffffffffffff40000000000000011);

const C_PHI: [Fp2; 10] = [
    Fp2::new(0x0000000000000005fffffffffffffff7, 0x2553a0759182c3294f65536cef66f81a),
    Fp2::new(0x00000000000000050000000000000007, 0x62c8caa0c50c62cf334d90e9e28296f9),
    Fp2::new(0x000000000000000f0000000000000015, 0x78df262b6c9b5c982c2cb7154f1df391),
    Fp2::new(0x00000000000000020000000000000003, 0x5084c6491d76342a92440457a7962ea4),
    Fp2::new(0x00000000000000030000000000000003, 0x12440457a7962ea4a1098c923aec6855),
    Fp2::new(0x000000000000000a000000000000000f, 0x459195418a18c59e669b21d3c5052df3),
    Fp2::new(0x00000000000000120000000000000018, 0x0b232a8314318b3ccd3643a78a0a5be7),
    Fp2::new(0x00000000000000180000000000000023, 0x3963bc1c99e2ea1a66c183035f48781a),
    Fp2::new(0x00000000000000aa00000000000000f0, 0x1f529f860316cbe544e251582b5d0ef0),
    Fp2::new(0x00000000000008700000000000000bef, 0x0fd52e9cfe00375b014d3e48976e2505),
];

/// The draft counts these from 1.
const C_PSI: [Fp2; 4] = [
    Fp2::new(0x2af99e9a83d54a02edf07f4767e346ef, 0x00000000000000de000000000000013a),
    Fp2::new(0x00000000000000e40000000000000143, 0x21b8d07b99a81f034c7deb770e03f372),
    Fp2::new(0x00000000000000060000000000000009, 0x4cb26f161d7d69063a6e6abe75e73a61),
    Fp2::new(0x7ffffffffffffff9fffffffffffffff6, 0x334d90e9e28296f9c59195418a18c59e),
];

/// (X : Y : Z) on the isogenous curve.
struct Isogenous {
    x: Fp2,
    y: Fp2,
    z: Fp2,
}

/// The endomorphism phi.
#[must_use]
pub fn phi<F: Field>(point: &Extended, field: F) -> Extended {
    tau_dual(&upsilon(&tau(point, field), field), field)
}

/// The endomorphism psi.
#[must_use]
pub fn psi<F: Field>(point: &Extended, field: F) -> Extended {
    tau_dual(&chi(&tau(point, field), field), field)
}

/// phi and psi of one point; they share the way out.
pub(crate) fn phi_and_psi<F: Field>(point: &Extended, field: F) -> (Extended, Extended) {
    let there = tau(point, field);
    (tau_dual(&upsilon(&there, field), field), tau_dual(&chi(&there, field), field))
}

fn tau<F: Field>(p: &Extended, field: F) -> Isogenous {
    let xx = field.square(&p.x);
    let yy = field.square(&p.y);
    let c = xx.add(&yy);
    let d = xx.sub(&yy);
    let x = field.mul(&field.mul(&field.mul(&C_TAU, &p.x), &p.y), &d);
    let y = field.mul(&field.square(&p.z).double().add(&d), &c).neg();
    Isogenous { x, y, z: field.mul(&c, &d) }
}

fn tau_dual<F: Field>(p: &Isogenous, field: F) -> Extended {
    let xx = field.square(&p.x);
    let yy = field.square(&p.y);
    let c = xx.add(&yy);
    let ta = yy.sub(&xx);
    let d = field.square(&p.z).double().sub(&ta);
    let tb = field.mul(&field.mul(&C_TAU_DUAL, &p.x), &p.y);
    Extended { x: field.mul(&c, &tb), y: field.mul(&d, &ta), z: field.mul(&c, &d), ta, tb }
}

/// phi on the isogenous curve. The letters are the draft's.
fn upsilon<F: Field>(p: &Isogenous, field: F) -> Isogenous {
    let times = |x: &Fp2, y: &Fp2| field.mul(x, y);
    let a = times(&times(&C_PHI[0], &p.x), &p.y);
    let b = times(&p.y, &p.z);
    let c = field.square(&p.y);
    let d = field.square(&p.z);
    let f = field.square(&d);
    let g = field.square(&b);
    let h = field.square(&c);
    let i = times(&C_PHI[1], &b);
    let j = c.add(&times(&C_PHI[2], &d));
    let k = times(&C_PHI[8], &g).add(&h).add(&times(&C_PHI[9], &f));
    let l = c.add(&times(&C_PHI[4], &d));
    let m = times(&C_PHI[3], &b);
    let n = times(&l.add(&m), &l.sub(&m));
    let o = h.add(&times(&C_PHI[6], &g)).add(&times(&C_PHI[7], &f));
    Isogenous {
        x: times(&times(&a, &k), &times(&i.add(&j), &i.sub(&j))).conjugate(),
        y: times(&times(&times(&C_PHI[5], &d), &n), &o).conjugate(),
        z: times(&times(&b, &k), &n).conjugate(),
    }
}

/// psi on the isogenous curve. The letters are the draft's.
fn chi<F: Field>(p: &Isogenous, field: F) -> Isogenous {
    let times = |x: &Fp2, y: &Fp2| field.mul(x, y);
    let a = p.x.conjugate();
    let b = p.y.conjugate();
    let c = field.square(&p.z.conjugate());
    let d = field.square(&a);
    let g = times(&b, &d.add(&times(&C_PSI[1], &c)));
    let h = d.add(&times(&C_PSI[3], &c)).neg();
    Isogenous {
        x: times(&times(&C_PSI[0], &a), &times(&c, &h)),
        y: times(&g, &d.add(&times(&C_PSI[2], &c))),
        z: times(&g, &h),
    }
}
