//! Eight lanes of AVX-512 with its 52-bit multiply-add.

mod decompress;
mod field;
mod input;
mod point;
mod recode;
mod sign;
mod signature;
#[cfg(feature = "signer-tables")]
mod signer;
mod spread;
mod table;
mod vector;
mod verify;

#[cfg(test)]
mod tests;

use crate::curve::{BrainpoolP256, Curve, NistP256};
use crate::job::{CompressedPoint, Signature, Signing, Verification};
#[cfg(feature = "signer-tables")]
use crate::signer::{Known, KnownVerification};

pub(crate) use input::{JOBS_MAX, LANES};

/// Proof that this processor has the instructions.
#[derive(Clone, Copy)]
pub(crate) struct Lanes(());

#[allow(unsafe_code)]
impl Lanes {
    /// Asks the processor, unless the lanes are masked.
    pub(crate) fn detect() -> Option<Self> {
        (!crate::mask::is_masked() && is_x86_feature_detected!("avx512ifma")).then_some(Self(()))
    }

    /// Makes the tables of a curve.
    pub(crate) fn prepare(self, curve: Curve) {
        // SAFETY: as in `verify`.
        unsafe {
            match curve {
                Curve::NistP256 => table::prepare::<NistP256>(),
                Curve::BrainpoolP256r1 => table::prepare::<BrainpoolP256>(),
            }
        }
    }

    /// See [`verify::verify`].
    pub(crate) fn verify(
        self,
        curve: Curve,
        jobs: &[Verification<'_>],
        results: &mut [bool],
        decide: fn(&Verification<'_>) -> bool,
        pause: &mut dyn FnMut(),
    ) {
        // SAFETY: `self` exists, so that the processor has AVX-512 IFMA, which is all the callees enable.
        unsafe {
            match curve {
                Curve::NistP256 => verify::verify::<NistP256>(jobs, results, decide, pause),
                Curve::BrainpoolP256r1 => verify::verify::<BrainpoolP256>(jobs, results, decide, pause),
            }
        }
    }

    /// See [`decompress::decompress`].
    pub(crate) fn decompress(self, curve: Curve, points: &[CompressedPoint<'_>], ys: &mut [Option<[u8; 32]>]) {
        // SAFETY: as in `verify`.
        unsafe {
            match curve {
                Curve::NistP256 => decompress::decompress::<NistP256>(points, ys),
                Curve::BrainpoolP256r1 => decompress::decompress::<BrainpoolP256>(points, ys),
            }
        }
    }

    /// See [`sign::sign`].
    pub(crate) fn sign(
        self,
        curve: Curve,
        jobs: &[Signing<'_>],
        nonces: &[[u8; 32]],
        signatures: &mut [Option<Signature>],
    ) {
        // SAFETY: as in `verify`.
        unsafe {
            match curve {
                Curve::NistP256 => sign::sign::<NistP256>(jobs, nonces, signatures),
                Curve::BrainpoolP256r1 => sign::sign::<BrainpoolP256>(jobs, nonces, signatures),
            }
        }
    }

    /// See [`signer::tables`].
    #[cfg(feature = "signer-tables")]
    pub(crate) fn tables(self, curve: Curve, keys: &[[&[u8; 32]; 2]], tables: &mut [Option<Known>]) {
        // SAFETY: as in `verify`.
        unsafe {
            match curve {
                Curve::NistP256 => signer::tables::<NistP256>(keys, tables),
                Curve::BrainpoolP256r1 => signer::tables::<BrainpoolP256>(keys, tables),
            }
        }
    }

    /// See [`signer::verify_known`].
    #[cfg(feature = "signer-tables")]
    pub(crate) fn verify_known(
        self,
        curve: Curve,
        jobs: &[KnownVerification<'_>],
        results: &mut [bool],
        decide: fn(&KnownVerification<'_>) -> bool,
    ) {
        // SAFETY: as in `verify`.
        unsafe {
            match curve {
                Curve::NistP256 => signer::verify_known::<NistP256>(jobs, results, decide),
                Curve::BrainpoolP256r1 => signer::verify_known::<BrainpoolP256>(jobs, results, decide),
            }
        }
    }
}
