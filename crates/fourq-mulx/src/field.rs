//! Products and squares in GF(p) and GF(p^2), p = 2^127 - 1.
//!
//! GF(p^2) multiplies in the schoolbook way, eight `mulx` for each part: the two products of a part are added before they
//! are reduced, which takes fewer instructions than Karatsuba's three products, whose sums and differences need carries
//! of their own. A negative factor is p minus the factor, the complement of 127 bits.
//!
//! | operation | mulx | mov | other instructions |
//! |---|---|---|---|
//! | product in GF(p^2) | 16 | 10 | 52 |
//! | square in GF(p^2) | 8 | 10 | 43 |
//! | product in GF(p) | 4 | 1 | 14 |
//!
//! `adcx` and `adox`, which make two chains of carries, are not used: no chain here is longer than four words, the
//! processor renames the flags, and what it lacks are ports that add with carry, of which these take as much as `adc`.
#![allow(unsafe_code)]

use core::arch::asm;

use crate::Mulx;

/// Assembly: the upper part of `p3 p2 p1 p0`, from bit 127 on, to `p3 p2`, and the lower part to `p1 p0`.
macro_rules! split {
    ($p1:literal, $p2:literal, $p3:literal) => {
        concat!(
            concat!("add {", $p1, "}, {", $p1, "}\n"),
            concat!("adc {", $p2, "}, {", $p2, "}\n"),
            concat!("adc {", $p3, "}, {", $p3, "}\n"),
            concat!("shr {", $p1, "}, 1\n"),
        )
    };
}

/// Assembly: a sum of at most 2^128 - 2 to an element: of it, 2^127 counts for one, and what comes out is at most p.
macro_rules! fold {
    ($p0:literal, $p1:literal) => {
        concat!(concat!("btr {", $p1, "}, 63\n"), concat!("adc {", $p0, "}, 0\n"), concat!("adc {", $p1, "}, 0\n"),)
    };
}

/// Assembly: a product of two elements to one element.
///
/// 2^127 = 1. The upper part of p^2 is p - 1, so that the sum of both parts is at most 2^128 - 3.
macro_rules! reduce_product {
    ($p0:literal, $p1:literal, $p2:literal, $p3:literal) => {
        concat!(
            split!($p1, $p2, $p3),
            concat!("add {", $p0, "}, {", $p2, "}\n"),
            concat!("adc {", $p1, "}, {", $p3, "}\n"),
            fold!($p0, $p1),
        )
    };
}

/// Assembly: a sum of two products of elements to one element.
///
/// The upper part of 2 p^2 is 2^128 - 4, of which 2^127 counts for one. If that one is there, what is left of the upper
/// part is at most 2^127 - 4; so the sum of lower part, upper part and one is at most 2^128 - 2 in any case.
macro_rules! reduce_sum {
    ($p0:literal, $p1:literal, $p2:literal, $p3:literal) => {
        concat!(
            split!($p1, $p2, $p3),
            // Bit 127 of the upper part becomes the carry.
            concat!("btr {", $p3, "}, 63\n"),
            concat!("adc {", $p0, "}, {", $p2, "}\n"),
            concat!("adc {", $p1, "}, {", $p3, "}\n"),
            fold!($p0, $p1),
        )
    };
}

/// Assembly: to `p3 p2 p1 p0` is added `m1 m0` at word 1, and before that `t1 t0` to it.
///
/// Both are products of a word and the upper word of an element, which has 63 bits: their sum fits.
macro_rules! add_middle {
    ($p1:literal, $p2:literal, $p3:literal) => {
        concat!(
            "add {m0}, {t0}\n",
            "adc {m1}, {t1}\n",
            concat!("add {", $p1, "}, {m0}\n"),
            concat!("adc {", $p2, "}, {m1}\n"),
            concat!("adc {", $p3, "}, 0\n"),
        )
    };
}

impl Mulx {
    /// The product of two elements of GF(p^2).
    #[inline(always)]
    #[must_use]
    pub fn mul(self, x: &[u64; 4], y: &[u64; 4]) -> [u64; 4] {
        let (re0, re1, im0, im1): (u64, u64, u64, u64);
        // SAFETY: `self` exists, so that the processor has `mulx`; what is read are the four words of `x` and of `y`.
        unsafe {
            asm!(
                // x.re y.re
                "mov rdx, [{x}]",
                "mulx {re1}, {re0}, [{y}]",
                "mulx {m1}, {m0}, [{y} + 8]",
                "mov rdx, [{x} + 8]",
                "mulx {p3}, {p2}, [{y} + 8]",
                "mulx {t1}, {t0}, [{y}]",
                add_middle!("re1", "p2", "p3"),
                // - x.im y.im
                "mov rdx, [{x} + 16]",
                "not rdx",
                "mulx {m1}, {m0}, [{y} + 24]",
                "mov rdx, [{x} + 24]",
                "not rdx",
                "btr rdx, 63",
                "mulx {t1}, {t0}, [{y} + 16]",
                add_middle!("re1", "p2", "p3"),
                "mulx {m1}, {m0}, [{y} + 24]",
                "mov rdx, [{x} + 16]",
                "not rdx",
                "mulx {t1}, {t0}, [{y} + 16]",
                "add {re0}, {t0}",
                "adc {re1}, {t1}",
                "adc {p2}, {m0}",
                "adc {p3}, {m1}",
                // That to one element, and between the steps x.re y.im: `mov` and `mulx` leave the carry alone.
                "add {re1}, {re1}",
                "mov rdx, [{x}]",
                "adc {p2}, {p2}",
                "mulx {im1}, {im0}, [{y} + 16]",
                "adc {p3}, {p3}",
                "mulx {m1}, {m0}, [{y} + 24]",
                "shr {re1}, 1",
                "mov rdx, [{x} + 8]",
                "btr {p3}, 63",
                "mulx {t1}, {t0}, [{y} + 16]",
                "adc {re0}, {p2}",
                "adc {re1}, {p3}",
                "mulx {p3}, {p2}, [{y} + 24]",
                fold!("re0", "re1"),
                add_middle!("im1", "p2", "p3"),
                // + x.im y.re
                "mov rdx, [{x} + 16]",
                "mulx {m1}, {m0}, [{y} + 8]",
                "mov rdx, [{x} + 24]",
                "mulx {t1}, {t0}, [{y}]",
                add_middle!("im1", "p2", "p3"),
                "mulx {m1}, {m0}, [{y} + 8]",
                "mov rdx, [{x} + 16]",
                "mulx {t1}, {t0}, [{y}]",
                "add {im0}, {t0}",
                "adc {im1}, {t1}",
                "adc {p2}, {m0}",
                "adc {p3}, {m1}",
                reduce_sum!("im0", "im1", "p2", "p3"),
                x = in(reg) x,
                y = in(reg) y,
                re0 = out(reg) re0,
                re1 = out(reg) re1,
                im0 = out(reg) im0,
                im1 = out(reg) im1,
                p2 = out(reg) _,
                p3 = out(reg) _,
                m0 = out(reg) _,
                m1 = out(reg) _,
                t0 = out(reg) _,
                t1 = out(reg) _,
                out("rdx") _,
                options(pure, readonly, nostack),
            );
        }
        [re0, re1, im0, im1]
    }

    /// The square of an element of GF(p^2).
    #[inline(always)]
    #[must_use]
    pub fn square(self, x: &[u64; 4]) -> [u64; 4] {
        let (re0, re1, im0, im1): (u64, u64, u64, u64);
        // SAFETY: as in `mul`.
        unsafe {
            asm!(
                // (re + im) (re - im): the sum to t, the difference to m, both reduced.
                "mov {t0}, [{x}]",
                "mov {t1}, [{x} + 8]",
                "mov {m0}, {t0}",
                "mov {m1}, {t1}",
                "add {t0}, [{x} + 16]",
                "adc {t1}, [{x} + 24]",
                "btr {t1}, 63",
                "adc {t0}, 0",
                "adc {t1}, 0",
                "sub {m0}, [{x} + 16]",
                "sbb {m1}, [{x} + 24]",
                "btr {m1}, 63",
                "sbb {m0}, 0",
                "sbb {m1}, 0",
                "mov rdx, {t0}",
                "mulx {re1}, {re0}, {m0}",
                "mulx {im1}, {im0}, {m1}",
                "mov rdx, {t1}",
                "mulx {p3}, {p2}, {m1}",
                "mulx {t1}, {t0}, {m0}",
                "mov {m0}, {im0}",
                "mov {m1}, {im1}",
                add_middle!("re1", "p2", "p3"),
                // That to one element, and between the steps re im.
                "add {re1}, {re1}",
                "mov rdx, [{x}]",
                "adc {p2}, {p2}",
                "mulx {im1}, {im0}, [{x} + 16]",
                "adc {p3}, {p3}",
                "mulx {m1}, {m0}, [{x} + 24]",
                "shr {re1}, 1",
                "mov rdx, [{x} + 8]",
                "add {re0}, {p2}",
                "mulx {t1}, {t0}, [{x} + 16]",
                "adc {re1}, {p3}",
                "mulx {p3}, {p2}, [{x} + 24]",
                fold!("re0", "re1"),
                add_middle!("im1", "p2", "p3"),
                // Twice.
                "add {im0}, {im0}",
                "adc {im1}, {im1}",
                "adc {p2}, {p2}",
                "adc {p3}, {p3}",
                reduce_sum!("im0", "im1", "p2", "p3"),
                x = in(reg) x,
                re0 = out(reg) re0,
                re1 = out(reg) re1,
                im0 = out(reg) im0,
                im1 = out(reg) im1,
                p2 = out(reg) _,
                p3 = out(reg) _,
                m0 = out(reg) _,
                m1 = out(reg) _,
                t0 = out(reg) _,
                t1 = out(reg) _,
                out("rdx") _,
                options(pure, readonly, nostack),
            );
        }
        [re0, re1, im0, im1]
    }

    /// The product of two elements of GF(p).
    #[inline(always)]
    #[must_use]
    pub fn mul_real(self, x: u128, y: u128) -> u128 {
        let (p0, p1): (u64, u64);
        // SAFETY: as in `mul`; nothing is read from memory.
        unsafe {
            asm!(
                "mulx {p1}, {p0}, {y0}",
                "mulx {m1}, {m0}, {y1}",
                "mov rdx, {x1}",
                "mulx {p3}, {p2}, {y1}",
                "mulx {t1}, {t0}, {y0}",
                add_middle!("p1", "p2", "p3"),
                reduce_product!("p0", "p1", "p2", "p3"),
                x1 = in(reg) (x >> 64) as u64,
                y0 = in(reg) y as u64,
                y1 = in(reg) (y >> 64) as u64,
                p0 = out(reg) p0,
                p1 = out(reg) p1,
                p2 = out(reg) _,
                p3 = out(reg) _,
                m0 = out(reg) _,
                m1 = out(reg) _,
                t0 = out(reg) _,
                t1 = out(reg) _,
                inout("rdx") x as u64 => _,
                options(pure, nomem, nostack),
            );
        }
        u128::from(p0) | u128::from(p1) << 64
    }

    /// An element of GF(p) squared `count` times.
    #[inline(always)]
    #[must_use]
    pub fn square_real_times(self, x: u128, count: u32) -> u128 {
        if count == 0 {
            return x;
        }
        let (mut p0, mut p1) = (x as u64, (x >> 64) as u64);
        // SAFETY: as in `mul`; nothing is read from memory. The loop ends: `count` is at least 1.
        unsafe {
            asm!(
                "2:",
                "mov rdx, {p0}",
                "mulx {m1}, {m0}, {p1}",
                "mov rdx, {p1}",
                "mulx {p3}, {p2}, {p1}",
                "mov rdx, {p0}",
                "mulx {p1}, {p0}, {p0}",
                // The product of the words twice: 2^64 (2^63 - 1) bounds it.
                "add {m0}, {m0}",
                "adc {m1}, {m1}",
                "add {p1}, {m0}",
                "adc {p2}, {m1}",
                "adc {p3}, 0",
                reduce_product!("p0", "p1", "p2", "p3"),
                "dec {count:e}",
                "jnz 2b",
                p0 = inout(reg) p0,
                p1 = inout(reg) p1,
                p2 = out(reg) _,
                p3 = out(reg) _,
                m0 = out(reg) _,
                m1 = out(reg) _,
                count = inout(reg) count => _,
                out("rdx") _,
                options(pure, nomem, nostack),
            );
        }
        u128::from(p0) | u128::from(p1) << 64
    }
}
