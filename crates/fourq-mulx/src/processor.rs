//! What the processor was asked.

cpufeatures::new!(bmi2_and_avx2, "bmi2", "avx2");

/// Proof that this processor has BMI2 and AVX2, and that the operating system keeps the vector registers.
#[derive(Clone, Copy, Debug)]
pub struct Mulx(());

impl Mulx {
    /// Asks the processor, once in a program's life.
    #[inline]
    #[must_use]
    pub fn detect() -> Option<Self> {
        bmi2_and_avx2::get().then_some(Self(()))
    }
}
