//! The field of FourQ in x86-64 assembly: products, squares, and table look-ups in constant time.
//!
//! This crate knows no curve, no keys and no scalars, and it decides nothing: `chronoseal-fourq` does, in safe code that
//! runs everywhere, and asks here first. What makes it fast is `mulx`, which leaves the flags alone and writes its product
//! to any two registers, and chains of additions with carry, which a compiler does not keep together. The look-ups use
//! AVX2. No instruction here takes a time that depends on its operands, nothing branches on them, and no address does.
//!
//! [`Mulx`] is the proof that the processor has the instructions; everything is a method of it. On other architectures
//! the type exists and has no value.
//!
//! An element of GF(p), p = 2^127 - 1, is a number in `0..=p`: zero has two forms. An element of GF(p^2) is four words,
//! the real part first, each part least significant word first. Every function takes and gives such elements only; given
//! others it computes something else, and nothing worse.
//!
//! ```
//! use chronoseal_fourq_mulx::Mulx;
//!
//! if let Some(mulx) = Mulx::detect() {
//!     // i * i = -1 = p - 1.
//!     let i = [0, 0, 1, 0];
//!     assert_eq!(mulx.mul(&i, &i), [u64::MAX - 1, u64::MAX >> 1, 0, 0]);
//! }
//! ```
#![no_std]

#[cfg(not(target_arch = "x86_64"))]
mod absent;
#[cfg(target_arch = "x86_64")]
mod field;
#[cfg(target_arch = "x86_64")]
mod lookup;
#[cfg(target_arch = "x86_64")]
mod processor;

#[cfg(not(target_arch = "x86_64"))]
pub use absent::Mulx;
#[cfg(target_arch = "x86_64")]
pub use processor::Mulx;

/// Words that elements are made of, four each, none of which lies across lines of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(32))]
pub struct Words<const LEN: usize>(pub [u64; LEN]);

/// Entries to choose from in secret, each of so many words. The alignment keeps a vector within a line of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub struct Table<const WORDS: usize, const LEN: usize>(pub [[u64; WORDS]; LEN]);
