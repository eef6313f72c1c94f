//! A processor of another architecture: the same interface, and no value to call it on.

use core::convert::Infallible;

/// Proof that this processor has AVX-512 IFMA. It has not.
#[derive(Clone, Copy, Debug)]
pub enum Ifma {}

/// A sum of points, which nobody can have.
pub struct Sum(Infallible);

impl Ifma {
    /// None: this is no x86-64.
    #[must_use]
    pub const fn detect() -> Option<Self> {
        None
    }

    /// What `program` makes of `start`.
    pub fn sum(self, _: &[u64; 16], _: impl FnOnce(&mut Sum)) -> [u64; 16] {
        match self {}
    }
}

impl Sum {
    /// Doubles the sum.
    pub fn double(&mut self) {
        match self.0 {}
    }

    /// Adds a point.
    pub fn add(&mut self, _: &[u64; 16]) {
        match self.0 {}
    }

    /// Adds a point whose Z is 1.
    pub fn add_affine(&mut self, _: &[u64; 12]) {
        match self.0 {}
    }
}
