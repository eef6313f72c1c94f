//! FourQ: key agreement and SchnorrQ signatures over the curve of Costello and Longa (eprint 2015/565).
//!
//! This crate draws no random numbers, derives no keys from a shared secret, allocates nothing and contains no `unsafe`
//! code. Where the processor has BMI2 and AVX2, which is asked once, `chronoseal-fourq-mulx` multiplies in its place, in
//! assembly, and where it has AVX-512 IFMA as well, `chronoseal-fourq-ifma` doubles and adds points; [`engine`] tells. It does not interoperate with SchnorrQ over another hash than SHA-512. Where secrets flow, neither branches nor
//! addresses depend on them; what runs in variable time says so in its name or its documentation and sees public data only.
//!
//! The types that matter are [`ecdh::SecretKey`] with [`ecdh::PublicKey`], and [`schnorrq::SigningKey`] with
//! [`schnorrq::VerifyingKey`]. Whatever comes from elsewhere is checked when it becomes one of these types: no encoding
//! but the canonical one, no point of an order that divides the cofactor 392.
//!
//! ```
//! use chronoseal_fourq::{ecdh, schnorrq};
//!
//! // Secrets come from the operating system's generator; these are for show.
//! let (alice, bob) = (ecdh::SecretKey::from_bytes([1; 32]), ecdh::SecretKey::from_bytes([2; 32]));
//! let shared = alice.agree(&ecdh::PublicKey::from_bytes(&bob.public())?)?;
//! assert_eq!(shared.as_bytes(), bob.agree(&ecdh::PublicKey::from_bytes(&alice.public())?)?.as_bytes());
//!
//! let key = schnorrq::SigningKey::from_seed([3; 32]);
//! let signature = key.sign(b"share of node 7");
//! let public = schnorrq::VerifyingKey::from_bytes(&key.public())?;
//! public.verify(b"share of node 7", &signature)?;
//! assert!(public.verify(b"share of node 8", &signature).is_err());
//! # Ok::<(), chronoseal_fourq::Error>(())
//! ```
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod accumulator;
pub mod batch;
mod decomposition;
mod double_base;
pub mod ecdh;
mod encoding;
mod endomorphism;
mod error;
mod field;
mod fixed_base;
mod fp;
mod fp2;
mod generated;
mod point;
mod scalar;
pub mod schnorrq;
mod table;
#[cfg(test)]
mod tests;
mod variable_base;

pub use error::{EncodingError, Error};

/// What computes. The results are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Sums of points in vectors of AVX-512 IFMA, the rest as for [`Engine::Mulx`].
    Ifma,
    /// Assembly for BMI2 and AVX2.
    Mulx,
    /// Safe code for any processor.
    Portable,
}

/// What computes on this processor.
#[must_use]
pub fn engine() -> Engine {
    if field::Vectors::detect().is_some() {
        Engine::Ifma
    } else if chronoseal_fourq_mulx::Mulx::detect().is_some() {
        Engine::Mulx
    } else {
        Engine::Portable
    }
}

/// The parts, for analysis and benches: no promise of stability, and nothing here guards against misuse. Methods whose
/// names end in `_by` belong to them: they let a caller choose who computes.
#[doc(hidden)]
pub mod internals {
    pub use chronoseal_fourq_mulx::Mulx;

    pub use crate::accumulator::{Accumulator, Program};
    pub use crate::double_base::double_multiply_vartime;
    pub use crate::endomorphism::{phi, psi};
    pub use crate::field::{Field, Portable, Vectors};
    pub use crate::fixed_base::multiply_generator;
    pub use crate::fp::Fp;
    pub use crate::fp2::Fp2;
    pub use crate::point::{Affine, Cached, CachedAffine, D, Extended, Sum};
    pub use crate::scalar::Scalar;
    pub use crate::variable_base::multiply;
}
