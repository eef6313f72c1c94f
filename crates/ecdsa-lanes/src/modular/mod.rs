//! Numbers of 256 bits modulo an odd one, in plain Rust, for every processor.

mod inverse;
pub(crate) mod scalar;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use inverse::Divisor;

/// The word, of which the compiler knows nothing any more, so that it makes no branch of what a mask was made of.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[allow(unsafe_code)]
#[inline(always)]
pub(crate) fn opaque(mut word: u64) -> u64 {
    // SAFETY: nothing is done.
    unsafe { core::arch::asm!("/* {0} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags)) };
    word
}

/// The same as well as can be had there.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
pub(crate) fn opaque(word: u64) -> u64 {
    core::hint::black_box(word)
}
