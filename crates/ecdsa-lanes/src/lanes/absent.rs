//! The lanes of a processor that has none: the same interface, and no value to call it on.

use crate::curve::Curve;
use crate::job::{CompressedPoint, Signature, Signing, Verification};
#[cfg(feature = "signer-tables")]
use crate::signer::{Known, KnownVerification};

pub(crate) const LANES: usize = 8;
pub(crate) const JOBS_MAX: usize = 32;

#[derive(Clone, Copy)]
pub(crate) enum Lanes {}

impl Lanes {
    pub(crate) fn detect() -> Option<Self> {
        None
    }

    pub(crate) fn prepare(self, _: Curve) {
        match self {}
    }

    pub(crate) fn verify(
        self,
        _: Curve,
        _: &[Verification<'_>],
        _: &mut [bool],
        _: fn(&Verification<'_>) -> bool,
        _: &mut dyn FnMut(),
    ) {
        match self {}
    }

    pub(crate) fn decompress(self, _: Curve, _: &[CompressedPoint<'_>], _: &mut [Option<[u8; 32]>]) {
        match self {}
    }

    pub(crate) fn sign(self, _: Curve, _: &[Signing<'_>], _: &[[u8; 32]], _: &mut [Option<Signature>]) {
        match self {}
    }

    #[cfg(feature = "signer-tables")]
    pub(crate) fn tables(self, _: Curve, _: &[[&[u8; 32]; 2]], _: &mut [Option<Known>]) {
        match self {}
    }

    #[cfg(feature = "signer-tables")]
    pub(crate) fn verify_known(
        self,
        _: Curve,
        _: &[KnownVerification<'_>],
        _: &mut [bool],
        _: fn(&KnownVerification<'_>) -> bool,
    ) {
        match self {}
    }
}
