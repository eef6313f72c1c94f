//! The seam of public-key cryptography: what a [`Suite`] of key agreement and signature offers to protocols.
//!
//! A suite is a type without values; a protocol is generic over it. Private things are types of the suite, wiped when
//! dropped and shown by no formatter; what goes on the wire is bytes. Not wiped is what arithmetic and moves leave on the
//! stack: a program that must clear that too runs the operation on a stack that it wipes afterwards.
//!
//! | suite | share, key `[byte]` | agreement | signature | strict about |
//! |---|---|---|---|---|
//! | [`FourQ`] | 32, 32 | cofactor 392 cleared, y coordinate | SchnorrQ, SHA-512 | encodings, order, reduced S |
//! | [`P256`] | 33, 33 | ECDH, x coordinate | ECDSA, SHA-256, RFC 6979 | compressed points, low s |
//! | [`X25519Ed25519`] | 32, 32 | X25519 | Ed25519 | encodings, order, s, commitment |
//!
//! `aws_lc::P256`, with the feature `aws-lc`, gives the same bytes as [`P256`] in less time.

#[cfg(feature = "aws-lc")]
pub mod aws_lc;
pub mod fourq;
mod name;
pub mod p256;
pub mod x25519;

use chronoseal_core::{Operation, Work};
use zeroize::{Zeroize, ZeroizeOnDrop};

pub use fourq::FourQ;
pub use name::{SuiteName, SuiteVisitor, UnknownSuite};
pub use p256::P256;
pub use x25519::X25519Ed25519;

/// Length of every signature of every suite `[byte]`.
pub const SIGNATURE_LEN: usize = 64;
/// Length of the longest share of any suite: a compressed point of P-256 `[byte]`.
pub const SHARE_LEN_MAX: usize = 33;
/// Length of the longest public signature key of any suite `[byte]`.
pub const PUBLIC_KEY_LEN_MAX: usize = 33;
/// Length of the seeds secrets are made from, and of an agreed secret `[byte]`.
pub const SECRET_LEN: usize = 32;

/// A signature as sent.
pub type Signature = [u8; SIGNATURE_LEN];

/// A key agreement and a signature over one curve family.
///
/// # Contract
/// - All functions are deterministic: the same arguments give the same bytes. Randomness enters as seeds.
/// - Time does not depend on secrets. Verification may depend on what is public.
/// - [`Suite::agree`] refuses a share that is no point, lies in a small subgroup, or gives a secret of small order.
pub trait Suite: 'static {
    /// As written in a scenario and shown to people.
    const NAME: &'static str;
    /// Length of a share on the wire `[byte]`.
    const SHARE_LEN: usize;
    /// Length of a public signature key `[byte]`.
    const PUBLIC_KEY_LEN: usize;
    /// What each operation is charged as.
    const OPERATIONS: SuiteOperations;

    /// A private key-agreement key.
    type Secret: ZeroizeOnDrop + Send;
    /// A private signature key, with whatever is worth computing once.
    type SigningKey: ZeroizeOnDrop + Send;
    /// A public signature key that has passed every check.
    type VerifyingKey: Clone + Send;

    /// The private key made from 32 bytes no one can guess. Every seed gives one.
    fn secret(seed: &[u8; SECRET_LEN]) -> Self::Secret;

    /// The share to send for a private key.
    fn share(secret: &Self::Secret) -> Share;

    /// The secret two parties have in common.
    ///
    /// # Errors
    /// [`AgreementError`] if `peer` is no share this suite accepts.
    fn agree(secret: &Self::Secret, peer: &[u8]) -> Result<AgreedSecret, AgreementError>;

    /// The signature key made from 32 bytes no one can guess. Every seed gives one.
    fn signing_key(seed: &[u8; SECRET_LEN]) -> Self::SigningKey;

    /// The public half of a signature key.
    fn public_key(key: &Self::SigningKey) -> PublicKey;

    /// Checks a public signature key received or provisioned.
    ///
    /// # Errors
    /// [`PublicKeyError`] if it is no canonical encoding of a point, or the point's order divides the cofactor, as that
    /// of the identity does.
    fn verifying_key(bytes: &[u8]) -> Result<Self::VerifyingKey, PublicKeyError>;

    /// Signs a message, deterministically.
    fn sign(key: &Self::SigningKey, message: &[u8]) -> Signature;

    /// Checks a signature.
    ///
    /// # Errors
    /// [`BadSignature`] if it is not canonical or does not fit.
    fn verify(key: &Self::VerifyingKey, message: &[u8], signature: &Signature) -> Result<(), BadSignature>;
}

/// What a suite's operations are charged as; a platform profile prices each name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SuiteOperations {
    /// Making a share.
    pub share: Operation,
    /// Extracting the agreed secret from a peer's share.
    pub agree: Operation,
    /// Making a signature key.
    pub generate: Operation,
    /// Signing.
    pub sign: Operation,
    /// Verifying.
    pub verify: Operation,
}

impl SuiteOperations {
    /// The work of one of these operations on a message or share of `len` bytes.
    pub fn work(operation: Operation, len: usize) -> Work {
        Work::of(operation, u32::try_from(len).unwrap_or(u32::MAX))
    }
}

macro_rules! public_bytes {
    ($(#[$doc:meta])* $name:ident, $max:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub struct $name {
            bytes: [u8; $max],
            len: u8,
        }

        impl $name {
            /// From bytes, or `None` if there are more than any suite has.
            pub fn new(bytes: &[u8]) -> Option<Self> {
                let mut copy = [0; $max];
                copy.get_mut(..bytes.len())?.copy_from_slice(bytes);
                Some(Self { bytes: copy, len: bytes.len() as u8 })
            }

            /// As sent.
            pub fn as_bytes(&self) -> &[u8] {
                &self.bytes[..usize::from(self.len)]
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(concat!(stringify!($name), "("))?;
                self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str(")")
            }
        }
    };
}

public_bytes! {
    /// A share of a key agreement, as sent.
    Share, SHARE_LEN_MAX
}
public_bytes! {
    /// A public signature key, as provisioned.
    PublicKey, PUBLIC_KEY_LEN_MAX
}

/// What a key agreement gives: not yet a key, for its bits are not evenly distributed. Feed it to a KDF.
#[derive(Clone)]
pub struct AgreedSecret([u8; SECRET_LEN]);

impl AgreedSecret {
    /// From the suite's own encoding. The caller's copy stays the caller's to wipe.
    pub const fn from_array(bytes: [u8; SECRET_LEN]) -> Self {
        Self(bytes)
    }
    /// The secret itself, for a KDF to absorb.
    pub const fn expose(&self) -> &[u8; SECRET_LEN] {
        &self.0
    }
}

impl Drop for AgreedSecret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl ZeroizeOnDrop for AgreedSecret {}

impl core::fmt::Debug for AgreedSecret {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("AgreedSecret(hidden)")
    }
}

/// Why a share is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgreementError {
    /// Not the suite's length.
    #[error("a share of {found} bytes; {expected} are due")]
    WrongLength {
        /// What came `[byte]`.
        found: usize,
        /// What the suite has `[byte]`.
        expected: usize,
    },
    /// No canonical encoding of a point of the curve.
    #[error("the share is no point of the curve in canonical form")]
    NotAPoint,
    /// The agreed secret has small order: the share was chosen to give everybody the same one.
    #[error("the share gives a secret of small order")]
    SmallOrder,
}

/// Why a public signature key is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublicKeyError {
    /// Not the suite's length.
    #[error("a public key of {found} bytes; {expected} are due")]
    WrongLength {
        /// What came `[byte]`.
        found: usize,
        /// What the suite has `[byte]`.
        expected: usize,
    },
    /// No canonical encoding of a point of the curve.
    #[error("the public key is no point of the curve in canonical form")]
    NotAPoint,
    /// The identity or a point of small order, under which anybody can sign.
    #[error("the public key has small order")]
    SmallOrder,
    /// Neither of small nor of prime order: the sum of a good key and a point of small order.
    #[error("the public key is not in the group of prime order")]
    MixedOrder,
}

/// A signature that does not fit message and key, or is not in its one canonical form.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the signature does not fit")]
pub struct BadSignature;
