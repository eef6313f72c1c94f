//! Why there is no secured packet.

use chronoseal_v2x::certificate::CertificateError;
use chronoseal_v2x::pki::PkiError;
use chronoseal_v2x::verify::TrustError;
use chronoseal_v2x::vss::{ChangeRefusal, SignRefusal};

/// Why a station has no ticket, or a packet no signature.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecurityError {
    /// A certificate cannot be issued or used.
    #[error("certificate: {0}")]
    Certificate(#[from] CertificateError),
    /// No ticket is issued.
    #[error("ticket: {0}")]
    Ticket(#[from] PkiError),
    /// The office's own certificates are not taken by a receiver.
    #[error("trust: {0}")]
    Trust(#[from] TrustError),
    /// The pseudonym cannot change now.
    #[error("change of pseudonym: {0}")]
    Change(#[from] ChangeRefusal),
    /// The message cannot be signed now.
    #[error("signature: {0}")]
    Sign(#[from] SignRefusal),
}
