//! What a processor of another kind has of this: the same interface, and no value to call it on.

use crate::job::{CompressedPoint, Signature, Signing};

pub(crate) const JOBS_MAX: usize = 32;

#[derive(Clone, Copy)]
pub(crate) enum Mulx {}

#[cfg(feature = "signer-tables")]
#[derive(Clone, Debug)]
pub(crate) enum KeyTable {}

#[derive(Clone, Copy)]
pub(crate) enum Key<'a> {
    Point([&'a [u8; 32]; 2]),
    #[cfg(feature = "signer-tables")]
    Table(&'a KeyTable),
}

#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) numbers: [&'a [u8; 32]; 3],
    pub(crate) key: Key<'a>,
}

impl Mulx {
    pub(crate) fn detect() -> Option<Self> {
        None
    }

    pub(crate) fn prepare(self) {
        match self {}
    }

    pub(crate) fn verify<'j, J>(
        self,
        _: &'j [J],
        _: fn(&'j J) -> Job<'j>,
        _: &mut [bool],
        _: fn(&J) -> bool,
        _: &mut dyn FnMut(),
    ) {
        match self {}
    }

    pub(crate) fn decompress(self, _: &CompressedPoint<'_>) -> Option<[u8; 32]> {
        match self {}
    }

    pub(crate) fn sign(self, _: &[Signing<'_>], _: &[[u8; 32]], _: &mut [Option<Signature>]) {
        match self {}
    }

    #[cfg(feature = "signer-tables")]
    pub(crate) fn key_table(self, _: &[u8; 32], _: &[u8; 32]) -> Option<KeyTable> {
        match self {}
    }
}
