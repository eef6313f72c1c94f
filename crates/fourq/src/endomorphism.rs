//! The endomorphisms phi and psi, each a way to an isogenous curve, a map there, and the way back.
//!
//! On points of order N both are multiplications by a fixed number, which is what lets a scalar of 256 bits be split into
//! four of 64; on other points they are not, hence the cofactor is cleared first.
//!
//! Source: Costello, Longa, "FourQ: four-dimensional decompositions on a Q-curve over the Mersenne prime", ASIACRYPT 2015
//! (eprint 2015/565), section 3; formulas and constants as in draft-ladd-cfrg-4q, "Endomorphisms" and appendix "Constants".

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
pub fn phi(point: &Extended) -> Extended {
    tau_dual(&upsilon(&tau(point)))
}

/// The endomorphism psi.
#[must_use]
pub fn psi(point: &Extended) -> Extended {
    tau_dual(&chi(&tau(point)))
}

/// phi and psi of one point; they share the way out.
pub(crate) fn phi_and_psi(point: &Extended) -> (Extended, Extended) {
    let there = tau(point);
    (tau_dual(&upsilon(&there)), tau_dual(&chi(&there)))
}

fn tau(p: &Extended) -> Isogenous {
    let xx = p.x.square();
    let yy = p.y.square();
    let c = xx.add(&yy);
    let d = xx.sub(&yy);
    Isogenous { x: C_TAU.mul(&p.x).mul(&p.y).mul(&d), y: p.z.square().double().add(&d).mul(&c).neg(), z: c.mul(&d) }
}

fn tau_dual(p: &Isogenous) -> Extended {
    let xx = p.x.square();
    let yy = p.y.square();
    let c = xx.add(&yy);
    let ta = yy.sub(&xx);
    let d = p.z.square().double().sub(&ta);
    let tb = C_TAU_DUAL.mul(&p.x).mul(&p.y);
    Extended { x: c.mul(&tb), y: d.mul(&ta), z: c.mul(&d), ta, tb }
}

/// phi on the isogenous curve. The letters are the draft's.
fn upsilon(p: &Isogenous) -> Isogenous {
    let a = C_PHI[0].mul(&p.x).mul(&p.y);
    let b = p.y.mul(&p.z);
    let c = p.y.square();
    let d = p.z.square();
    let f = d.square();
    let g = b.square();
    let h = c.square();
    let i = C_PHI[1].mul(&b);
    let j = c.add(&C_PHI[2].mul(&d));
    let k = C_PHI[8].mul(&g).add(&h).add(&C_PHI[9].mul(&f));
    let l = c.add(&C_PHI[4].mul(&d));
    let m = C_PHI[3].mul(&b);
    let n = l.add(&m).mul(&l.sub(&m));
    let o = h.add(&C_PHI[6].mul(&g)).add(&C_PHI[7].mul(&f));
    Isogenous {
        x: a.mul(&k).mul(&i.add(&j).mul(&i.sub(&j))).conjugate(),
        y: C_PHI[5].mul(&d).mul(&n).mul(&o).conjugate(),
        z: b.mul(&k).mul(&n).conjugate(),
    }
}

/// psi on the isogenous curve. The letters are the draft's.
fn chi(p: &Isogenous) -> Isogenous {
    let a = p.x.conjugate();
    let b = p.y.conjugate();
    let c = p.z.conjugate().square();
    let d = a.square();
    let g = b.mul(&d.add(&C_PSI[1].mul(&c)));
    let h = d.add(&C_PSI[3].mul(&c)).neg();
    Isogenous { x: C_PSI[0].mul(&a).mul(&c.mul(&h)), y: g.mul(&d.add(&C_PSI[2].mul(&c))), z: g.mul(&h) }
}
