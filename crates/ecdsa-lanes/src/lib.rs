//! ECDSA with SHA-256 on NIST P-256 and brainpoolP256r1, eight signatures at a time on processors with AVX-512 IFMA,
//! one at a time elsewhere, P-256 in assembly where the processor has BMI2 and ADX, with the same results.
//!
//! It does not hash messages, parse certificates, keep keys or start threads, and it remembers nothing from one call to
//! the next but multiples of the curves' generators. Verification is of public values and takes no constant time;
//! signing neither branches on a key or a nonce nor addresses memory by one.
//!
//! [`verify_batch`] takes [`Verification`]s and fills in verdicts, [`decompress_batch`] recovers y of
//! [`CompressedPoint`]s, and [`sign_batch`] makes [`Signature`]s; [`sign_with_multiple`] makes one where
//! another library multiplies the generator. [`verify_batch_with_pauses`] can be interrupted.
//! [`engine`] tells which code runs; [`engine_alone`] which is best for one job; [`MASK_VARIABLE`] in the environment leaves the lanes out.
//!
//! ```
//! use chronoseal_ecdsa_lanes::{Curve, Signing, Verification, sign_batch, verify_batch};
//!
//! // Key and digest of RFC 6979 A.2.5, message "sample".
//! # fn bytes(hex: &str) -> [u8; 32] {
//! #     std::array::from_fn(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hexadecimal"))
//! # }
//! let secret = bytes("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721");
//! let public_x = bytes("60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6");
//! let public_y = bytes("7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299");
//! let digest = bytes("af2bdbe1aa9b6ec1e2ade1d694f41fc71a831d0268e9891562113d8a62add1bf");
//!
//! let mut signatures = [None];
//! let curve = Curve::NistP256;
//! sign_batch(&[Signing { curve, digest: &digest, secret: &secret, entropy: &[] }], &mut signatures);
//! let [Some(signature)] = signatures else { panic!("the key is in range") };
//! assert_eq!(signature.r, bytes("efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"));
//!
//! let job = Verification {
//!     curve,
//!     digest: &digest,
//!     r: &signature.r,
//!     s: &signature.s,
//!     public_x: &public_x,
//!     public_y: &public_y,
//! };
//! let mut verdicts = [false; 2];
//! verify_batch(&[job, Verification { s: &signature.r, ..job }], &mut verdicts);
//! assert_eq!(verdicts, [true, false]);
//! ```

mod batch;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "most of it is for the lanes"))]
mod bignum;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "most of it is for the lanes"))]
mod curve;
mod fallback;
mod job;
#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(not(target_arch = "x86_64"))]
#[path = "lanes/absent.rs"]
mod lanes;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "there is nothing to mask"))]
mod mask;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "some of it is for the words"))]
mod modular;
#[cfg(target_arch = "x86_64")]
mod mulx;
#[cfg(not(target_arch = "x86_64"))]
#[path = "mulx/absent.rs"]
mod mulx;
mod nonce;
#[cfg(feature = "signer-tables")]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "the tables are for the lanes"))]
mod signer;

pub use batch::{
    Engine, Usage, decompress_batch, engine, engine_alone, prepare, sign_batch, sign_with_multiple, verify_batch,
    verify_batch_with_pauses,
};
pub use curve::Curve;
pub use job::{CompressedPoint, Signature, Signing, Verification};
pub use mask::MASK_VARIABLE;
#[cfg(feature = "signer-tables")]
pub use signer::{KnownVerification, SignerTable, verify_known_batch, verify_known_batch_with_pauses};
