//! What the processor was asked.

cpufeatures::new!(avx512_ifma, "avx512f", "avx512ifma");

/// Proof that this processor has AVX-512 IFMA, and that the operating system keeps the vector registers.
#[derive(Clone, Copy, Debug)]
pub struct Ifma(());

impl Ifma {
    /// Asks the processor, once in a program's life.
    #[inline]
    #[must_use]
    pub fn detect() -> Option<Self> {
        avx512_ifma::get().then_some(Self(()))
    }
}
