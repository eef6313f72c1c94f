//! Inverses modulo an odd number of 256 bits, in the same time for all numbers.
//!
//! Steps of division, 59 at a time on the low words alone, whose effect on the whole numbers is a matrix. 590 of them bring every
//! number below 2^256 to its end.
//!
//! Sources: D. J. Bernstein, B.-Y. Yang, "Fast constant-time gcd computation and modular inversion", CHES 2019; the start at one
//! half, for which 590 steps are proved to do: P. Wuille, "The safegcd implementation in libsecp256k1 explained", 2021.

use zeroize::Zeroize;

use super::opaque;
use crate::bignum::Words;

/// Bits of a limb. The top limb has a sign.
const BITS: u32 = 62;
const MASK: u64 = (1 << BITS) - 1;
/// Steps for one matrix, and matrices.
const STEPS: u32 = 59;
const MATRICES: usize = 10;

/// A number in limbs, least significant first.
type Limbs = [i64; 5];

/// An odd number to invert modulo.
pub(crate) struct Divisor {
    limbs: Limbs,
    /// Its inverse modulo 2^62.
    inverse: u64,
}

impl Divisor {
    /// `modulus` is odd and has its top bit set.
    pub(crate) const fn new(modulus: &Words) -> Self {
        // Newton's iteration doubles the right bits each time.
        let (mut inverse, mut step) = (1_u64, 0);
        while step < 6 {
            inverse = inverse.wrapping_mul(2_u64.wrapping_sub(modulus[0].wrapping_mul(inverse)));
            step += 1;
        }
        Self { limbs: limbs(modulus), inverse: inverse & MASK }
    }

    /// `1 / number`, or zero of zero; of a number below the modulus.
    pub(crate) fn invert(&self, number: &Words) -> Words {
        // d number = f and e number = g modulo the modulus, up to the powers of two in the matrices.
        let (mut f, mut g) = (self.limbs, limbs(number));
        let (mut d, mut e): (Limbs, Limbs) = ([0; 5], [1, 0, 0, 0, 0]);
        let mut zeta = -1;
        for _ in 0..MATRICES {
            let matrix;
            (zeta, matrix) = steps(zeta, f[0] as u64, g[0] as u64);
            (d, e) = self.product(&matrix, &d, &e);
            (f, g) = halved_product(&matrix, &f, &g);
        }
        // What is left of f is 1 or -1.
        let words = self.reduced(&d, sign(f[4]));
        [&mut f, &mut g, &mut d, &mut e].into_iter().for_each(Zeroize::zeroize);
        words
    }

    /// The matrix times (d, e), divided by 2^62, modulo the modulus; all numbers lie between minus twice the modulus and the modulus.
    #[inline(always)]
    fn product(&self, [u, v, q, r]: &[i64; 4], d: &Limbs, e: &Limbs) -> (Limbs, Limbs) {
        // As many times the modulus as make negative numbers positive, and then the low limb zero.
        let [of_d, of_e] = [d, e].map(|number| sign(number[4]));
        let (mut times_d, mut times_e) = ((u & of_d) + (v & of_e), (q & of_d) + (r & of_e));
        let (mut sum_d, mut sum_e) = (dot(*u, d[0], *v, e[0]), dot(*q, d[0], *r, e[0]));
        let to_zero = |sum: i128, times: i64| -> i64 {
            ((self.inverse.wrapping_mul(sum as u64).wrapping_add(times as u64)) & MASK) as i64
        };
        times_d -= to_zero(sum_d, times_d);
        times_e -= to_zero(sum_e, times_e);
        sum_d = (sum_d + wide(self.limbs[0], times_d)) >> BITS;
        sum_e = (sum_e + wide(self.limbs[0], times_e)) >> BITS;
        let (mut out_d, mut out_e) = ([0; 5], [0; 5]);
        for at in 1..5 {
            sum_d += dot(*u, d[at], *v, e[at]) + wide(self.limbs[at], times_d);
            sum_e += dot(*q, d[at], *r, e[at]) + wide(self.limbs[at], times_e);
            (out_d[at - 1], out_e[at - 1]) = ((sum_d as u64 & MASK) as i64, (sum_e as u64 & MASK) as i64);
            (sum_d, sum_e) = (sum_d >> BITS, sum_e >> BITS);
        }
        (out_d[4], out_e[4]) = (sum_d as i64, sum_e as i64);
        (out_d, out_e)
    }

    /// `number`, or its negative where `sign` is all ones, from zero to the modulus.
    fn reduced(&self, number: &Limbs, sign: i64) -> Words {
        let negated = self.made_positive(number).map(|limb| (limb ^ sign) - sign);
        let [a, b, c, d, e] = self.made_positive(&carried(&negated)).map(|limb| limb as u64);
        [a | b << 62, b >> 2 | c << 60, c >> 4 | d << 58, d >> 6 | e << 56]
    }

    /// `number`, with the modulus added if it is negative.
    fn made_positive(&self, number: &Limbs) -> Limbs {
        let mask = sign(number[4]);
        carried(&core::array::from_fn(|at| number[at] + (self.limbs[at] & mask)))
    }
}

const fn limbs(words: &Words) -> Limbs {
    let [a, b, c, d] = *words;
    let limbs = [a & MASK, (a >> 62 | b << 2) & MASK, (b >> 60 | c << 4) & MASK, (c >> 58 | d << 6) & MASK, d >> 56];
    [limbs[0] as i64, limbs[1] as i64, limbs[2] as i64, limbs[3] as i64, limbs[4] as i64]
}

/// All ones if a number with this top limb is negative.
fn sign(top: i64) -> i64 {
    opaque((top >> 63) as u64) as i64
}

fn wide(a: i64, b: i64) -> i128 {
    i128::from(a) * i128::from(b)
}

fn dot(a: i64, b: i64, c: i64, d: i64) -> i128 {
    wide(a, b) + wide(c, d)
}

/// The same number, with all limbs but the top one from 0 to 2^62 - 1.
fn carried(number: &Limbs) -> Limbs {
    let (mut out, mut carry) = (*number, 0);
    for limb in &mut out[..4] {
        let sum = *limb + carry;
        (*limb, carry) = (sum & MASK as i64, sum >> BITS);
    }
    out[4] += carry;
    out
}

/// 59 steps on the low words: where the next ones begin, and 2^62 times the matrix of these.
#[inline(always)]
fn steps(mut zeta: i64, mut f: u64, mut g: u64) -> (i64, [i64; 4]) {
    // Eight times the unit matrix: with 59 doublings, 2^62.
    let (mut u, mut v, mut q, mut r) = (8_u64, 0_u64, 0_u64, 8_u64);
    for _ in 0..STEPS {
        let negate = sign(zeta) as u64;
        let odd = opaque((g & 1).wrapping_neg());
        let signed = |word: u64| (word ^ negate).wrapping_sub(negate) & odd;
        g = g.wrapping_add(signed(f));
        q = q.wrapping_add(signed(u));
        r = r.wrapping_add(signed(v));
        let swap = negate & odd;
        zeta = (zeta ^ swap as i64) - 1;
        f = f.wrapping_add(g & swap);
        u = u.wrapping_add(q & swap) << 1;
        v = v.wrapping_add(r & swap) << 1;
        g >>= 1;
    }
    (zeta, [u, v, q, r].map(|word| word as i64))
}

/// The matrix times (f, g), divided by 2^62, which leaves no rest.
#[inline(always)]
fn halved_product([u, v, q, r]: &[i64; 4], f: &Limbs, g: &Limbs) -> (Limbs, Limbs) {
    let (mut sum_f, mut sum_g) = (dot(*u, f[0], *v, g[0]) >> BITS, dot(*q, f[0], *r, g[0]) >> BITS);
    let (mut out_f, mut out_g) = ([0; 5], [0; 5]);
    for at in 1..5 {
        sum_f += dot(*u, f[at], *v, g[at]);
        sum_g += dot(*q, f[at], *r, g[at]);
        (out_f[at - 1], out_g[at - 1]) = ((sum_f as u64 & MASK) as i64, (sum_g as u64 & MASK) as i64);
        (sum_f, sum_g) = (sum_f >> BITS, sum_g >> BITS);
    }
    (out_f[4], out_g[4]) = (sum_f as i64, sum_g as i64);
    (out_f, out_g)
}
