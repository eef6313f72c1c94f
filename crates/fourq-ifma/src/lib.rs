//! Sums of points of FourQ in vector registers of 512 bits, with the multiply-and-add of AVX-512 IFMA.
//!
//! This crate knows no keys and no scalars, and it decides nothing: `chronoseal-fourq` does, in safe code that runs
//! everywhere, and asks here first. What makes it fast is that the additions and doublings of a twisted Edwards curve are two
//! rounds of four products in GF(p^2) each, which do not wait for each other: a vector has room for the four. Nothing here
//! branches on what is added, no address depends on it, and no instruction takes a time that does.
//!
//! [`Ifma`] is the proof that the processor has the instructions. [`Ifma::sum`] keeps a [`Sum`] as vectors for as long as a
//! program doubles it and adds to it. On other architectures the types exist and have no value.
//!
//! An element of GF(p), p = 2^127 - 1, is a number in `0..=p`: zero has two forms. An element of GF(p^2) is four words, the
//! real part first, each part least significant word first. A point is four elements. Every function takes and gives such
//! elements only; given others it computes something else, and nothing worse.
#![cfg_attr(not(test), no_std)]

#[cfg(not(target_arch = "x86_64"))]
mod absent;
#[cfg(target_arch = "x86_64")]
mod four;
#[cfg(target_arch = "x86_64")]
mod processor;
#[cfg(target_arch = "x86_64")]
mod sum;
#[cfg(all(test, target_arch = "x86_64"))]
mod tests;

#[cfg(not(target_arch = "x86_64"))]
pub use absent::{Ifma, Sum};
#[cfg(target_arch = "x86_64")]
pub use processor::Ifma;
#[cfg(target_arch = "x86_64")]
pub use sum::Sum;
