//! Certificates as things that are identified, issued and checked.
//!
//! A certificate is referred to by the end of its hash, and the hash is over its *canonical* encoding (IEEE 1609.2
//! clause 6.4.3), whatever it looked like on the way: see [`certificate_hash`]. [`issue()`] makes one.

mod identity;
mod implicit;
mod issue;
mod legible;

pub use identity::{
    CertificateForm, CertificateHash, canonical_bytes, certificate_hash, hashed_id8, verification_curve,
};
pub use implicit::{implicit_private_key, implicit_public_key, issue_implicit};
pub use issue::{Issuer, certificate_digest, issue, verify_certificate_signature};
pub(crate) use legible::{DURATION, START};
pub use legible::{LegibleField, legible_fields};

use crate::coer::{DecodeError, EncodeError};
use crate::crypto::KeyError;

/// Why a certificate cannot be identified, issued or verified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// It is none.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// It cannot be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// Its key, or the key that was to sign it, is of no use.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// It is not in its canonical form, and only that was to be accepted.
    #[error("the certificate is not in its canonical form")]
    NotCanonical,
    /// An explicit one was needed and it is implicit, or the other way round.
    #[error("the certificate is of the wrong type for this")]
    WrongType,
    /// It has no verification key of its own, or a new kind of one.
    #[error("the certificate has no verification key")]
    NoVerificationKey,
    /// The signature is by another key.
    #[error("the certificate's signature is not its issuer's")]
    WrongSignature,
    /// It names another issuer.
    #[error("the certificate names another issuer")]
    WrongIssuer,
}
