//! Table look-ups in constant time: every entry is read and masked, whichever is wanted.
//!
//! The mask of an entry is the comparison of its number with the index, in the vector registers: no compiler sees it, so
//! that none can make a branch of it.
#![allow(unsafe_code)]

use core::arch::asm;
use core::mem::MaybeUninit;

use crate::{Mulx, Table, Words};

/// The bits of an element's four words: its negative is the complement of these.
static ELEMENT: [u64; 4] = [u64::MAX, u64::MAX >> 1, u64::MAX, u64::MAX >> 1];

/// Assembly: entry `$number` of `$size` bytes, masked, to the registers of what is found.
macro_rules! take {
    ($number:literal of $size:literal: [$($found:literal at $offset:literal)*]) => {
        concat!(
            "vpcmpeqq ymm6, ymm4, ymm5\n",
            "vpsubq ymm5, ymm5, ymm7\n",
            $(
                concat!("vpand ymm8, ymm6, [{table} + ", $number, " * ", $size, " + ", $offset, "]\n"),
                concat!("vpor ", $found, ", ", $found, ", ymm8\n"),
            )*
        )
    };
}

/// Assembly: what `$then` makes of each register and offset.
macro_rules! each {
    (clear [$($found:literal at $offset:literal)*]) => {
        concat!($("vpxor ", $found, ", ", $found, ", ", $found, "\n",)*)
    };
    (store [$($found:literal at $offset:literal)*]) => {
        concat!($("vmovdqa [{found} + ", $offset, "], ", $found, "\n",)*)
    };
}

/// The look-up in entries of `$size` bytes, of which the first two elements are in ymm0 and ymm1, the last in ymm3.
///
/// There is no loop, and so no branch to mispredict.
macro_rules! look_up {
    ($table:ident, $index:ident, $negative:ident, $found:ident, $size:literal, $registers:tt, $($number:literal)*) => {
        asm!(
            // The index four times, the entries' number, all ones.
            "vmovq xmm4, {index}",
            "vpbroadcastq ymm4, xmm4",
            "vpxor xmm5, xmm5, xmm5",
            "vpcmpeqq ymm7, ymm7, ymm7",
            each!(clear $registers),
            $(take!($number of $size: $registers),)*
            // The negative: the first two exchanged, the complement of the last.
            "vmovq xmm4, {negative}",
            "vpbroadcastq ymm4, xmm4",
            "vpxor ymm5, ymm0, ymm1",
            "vpand ymm5, ymm5, ymm4",
            "vpxor ymm0, ymm0, ymm5",
            "vpxor ymm1, ymm1, ymm5",
            "vpand ymm4, ymm4, [{element}]",
            "vpxor ymm3, ymm3, ymm4",
            each!(store $registers),
            "vzeroupper",
            table = in(reg) $table,
            index = in(reg) $index,
            negative = in(reg) $negative,
            element = in(reg) &ELEMENT,
            found = in(reg) $found.as_mut_ptr(),
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            options(nostack, preserves_flags),
        )
    };
}

impl Mulx {
    /// Entry `index` of `table`, or its negative where `negative` is all ones.
    ///
    /// An entry is a point as elements of GF(p^2), three or four of them: the negative has the first two in the other
    /// order, and the negative of the last. `negative` is zero or all ones, `index` less than `LEN`. There are 16 entries of
    /// three elements, or 8 of four.
    #[inline(always)]
    #[must_use]
    pub fn lookup<const WORDS: usize, const LEN: usize>(
        self,
        table: &Table<WORDS, LEN>,
        index: u64,
        negative: u64,
    ) -> Words<WORDS> {
        const {
            assert!(matches!((WORDS, LEN), (12, 16) | (16, 8)), "16 entries of three elements, or 8 of four");
        }
        let table = table.0.as_ptr();
        let mut found = MaybeUninit::<Words<WORDS>>::uninit();
        // SAFETY: `self` exists, so that the processor has AVX2 and the system keeps its registers. What is read are the
        // entries of `table`, as many and as long as the assertion says, and ELEMENT; what is written is `found`, the
        // whole of it, which is aligned to a vector.
        unsafe {
            if WORDS == 12 {
                look_up!(
                    table, index, negative, found, "96",
                    ["ymm0" at "0" "ymm1" at "32" "ymm3" at "64"],
                    "0" "1" "2" "3" "4" "5" "6" "7" "8" "9" "10" "11" "12" "13" "14" "15"
                );
            } else {
                look_up!(
                    table, index, negative, found, "128",
                    ["ymm0" at "0" "ymm1" at "32" "ymm2" at "64" "ymm3" at "96"],
                    "0" "1" "2" "3" "4" "5" "6" "7"
                );
            }
            found.assume_init()
        }
    }
}
