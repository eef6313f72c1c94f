//! What goes wrong between a station and its authorities, and how an authority says so.

use super::{AuthorizationResponseCode, AuthorizationValidationResponseCode, EnrolmentResponseCode};
use crate::certificate::CertificateError;
use crate::coer::{DecodeError, EncodeError};
use crate::crypto::KeyError;
use crate::message::{DecryptError, EncryptError, SignError};
use crate::types::{HashedId8, Psid};

/// Why an authorization authority has no answer of an enrolment authority that it can use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoAnswer {
    /// There is none: whoever carries messages between authorities could not get it.
    #[error("it was not reached: {reason}")]
    Unreached {
        /// What the transport says.
        reason: String,
    },
    /// There is one, and it is not accepted.
    #[error("what it answered is of no use: {0}")]
    Useless(Box<PkiError>),
}

/// Why a request, an answer or a list is not accepted, or could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PkiError {
    /// It is not what it should be, or not in canonical form.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A part of what was to be sent is out of bounds.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// A key does not work.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A certificate is of no use.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// Signing failed.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// Encrypting failed.
    #[error(transparent)]
    Encrypt(#[from] EncryptError),
    /// Decrypting failed.
    #[error(transparent)]
    Decrypt(#[from] DecryptError),
    /// Something else, well formed.
    #[error("the message is not {expected}")]
    WrongContent {
        /// What it should be.
        expected: &'static str,
    },
    /// For another application.
    #[error("PSID {} where {} is needed", found.0, expected.0)]
    WrongPsid {
        /// The one needed.
        expected: Psid,
        /// The one found.
        found: Psid,
    },
    /// Somebody else signed it.
    #[error("signed by {found}, not by {expected}")]
    WrongSigner {
        /// Who should have.
        expected: HashedId8,
        /// Who did.
        found: HashedId8,
    },
    /// The signature is by another key, or the message was changed.
    #[error("the signature does not verify")]
    WrongSignature,
    /// A request from a time of which none is remembered any more: nobody could say whether it was granted before.
    #[error("requests of that time are forgotten already; is the authority's clock right?")]
    Forgotten,
    /// The clocks differ, or the message was kept.
    #[error("generated {difference_s} s from now, at most {} s are allowed", super::CLOCK_DIFFERENCE_MAX_S)]
    OutOfSync {
        /// By how much `[s]`.
        difference_s: u64,
    },
    /// A signer's certificate has expired, or is not valid yet.
    #[error("certificate {0} is outside its validity period")]
    NotValidNow(HashedId8),
    /// A list is older than it says it may get.
    #[error("the list should have been replaced by now")]
    Outdated,
    /// A header without a time, a certificate without permissions, and so on.
    #[error("{0} is missing")]
    Incomplete(&'static str),
    /// An answer to another request.
    #[error("the answer is to another request")]
    AnotherRequest,
    /// A certificate for another key.
    #[error("the certificate is for another key than was asked for")]
    AnotherKey,
    /// More than may be asked for, or than was asked for.
    #[error("permission {0} is not granted")]
    Permission(String),
    /// A validity period that is over, too far ahead or too long.
    #[error("validity period {0}")]
    ValidityPeriod(&'static str),
    /// A region that is none, or that is not known to lie in that of the authority.
    #[error("the region asked for {0}")]
    Region(String),
    /// The tag over the keys of a ticket request is another one.
    #[error("the tag is not that of the keys in the request")]
    KeyTag,
    /// Nobody of this identifier is registered.
    #[error("unknown station or credential {0}")]
    UnknownStation(String),
    /// A station that was registered once, and revoked.
    #[error("station {0} is revoked")]
    RevokedStation(String),
    /// An enrolment authority no trust list has.
    #[error("enrolment authority {0} is in no trust list")]
    UnknownEa(HashedId8),
    /// An enrolment authority on a revocation list.
    #[error("enrolment authority {0} is revoked")]
    RevokedEa(HashedId8),
    /// An authorization authority no trust list has, or on a revocation list.
    #[error("authorization authority {0} is not trusted")]
    UntrustedAa(HashedId8),
    /// The request names another enrolment authority.
    #[error("the request is for enrolment authority {0}")]
    WrongEa(HashedId8),
    /// The enrolment authority cannot be asked, or its answer is of no use.
    #[error("no answer of the enrolment authority: {0}")]
    UnreachableEa(NoAnswer),
    /// More tickets valid at once than a station may have.
    #[error("the station has all the tickets it may have at once")]
    TooManyTickets,
    /// An enrolment authority said no.
    #[error("the enrolment authority refuses: {0}")]
    EnrolmentRefused(EnrolmentResponseCode),
    /// An authorization authority said no.
    #[error("the authorization authority refuses: {0}")]
    AuthorizationRefused(AuthorizationResponseCode),
    /// An enrolment authority said no to an authorization authority.
    #[error("the enrolment authority does not confirm: {0}")]
    ValidationRefused(AuthorizationValidationResponseCode),
    /// The store of an authority does not work.
    #[error("store: {0}")]
    Store(String),
}

impl PkiError {
    /// Why a request cannot be read, if it cannot; codes 1 to 5 mean this in all three of TS 102 941.
    fn unreadable(&self) -> Option<EnrolmentResponseCode> {
        use EnrolmentResponseCode as Code;
        Some(match self {
            Self::Decode(_) => Code::CantParse,
            Self::WrongContent { .. } | Self::WrongPsid { .. } => Code::BadContentType,
            Self::Decrypt(error) => match error {
                DecryptError::NotARecipient | DecryptError::OtherKind { .. } => Code::ImNotTheRecipient,
                DecryptError::Key(_) => Code::UnknownEncryptionAlgorithm,
                DecryptError::WrongKey | DecryptError::WrongCiphertext | DecryptError::Certificate(_) => {
                    Code::DecryptionFailed
                }
            },
            _ => return None,
        })
    }

    /// The code an enrolment authority answers a station with.
    pub fn enrolment_code(&self) -> EnrolmentResponseCode {
        use EnrolmentResponseCode as Code;
        if let Some(code) = self.unreadable() {
            return code;
        }
        match self {
            Self::UnknownStation(_) => Code::UnknownIts,
            Self::RevokedStation(_) => Code::BadItsStatus,
            Self::WrongSignature | Self::WrongSigner { .. } => Code::InvalidSignature,
            Self::Incomplete(_) => Code::IncompleteRequest,
            Self::Permission(_) | Self::ValidityPeriod(_) | Self::Region(_) => Code::DeniedPermissions,
            Self::Encrypt(_) => Code::InvalidEncryptionKey,
            Self::Key(_) | Self::AnotherKey => Code::InvalidKeys,
            _ => Code::DeniedRequest,
        }
    }

    /// The code an enrolment authority answers an authorization authority with.
    pub fn validation_code(&self) -> AuthorizationValidationResponseCode {
        use AuthorizationValidationResponseCode as Code;
        if let Some(code) = self.unreadable() {
            return Code::from_number(code.number());
        }
        match self {
            Self::UntrustedAa(_) => Code::InvalidAa,
            Self::WrongEa(_) => Code::WrongEa,
            Self::UnknownStation(_) | Self::RevokedStation(_) => Code::UnknownIts,
            Self::WrongSignature | Self::WrongSigner { .. } => Code::InvalidSignature,
            Self::Encrypt(_) | Self::Key(_) => Code::InvalidEncryptionKey,
            Self::Permission(_) | Self::ValidityPeriod(_) | Self::Region(_) => Code::DeniedPermissions,
            Self::TooManyTickets => Code::DeniedTooManyCerts,
            _ => Code::DeniedRequest,
        }
    }

    /// The code an authorization authority answers a station with.
    pub fn authorization_code(&self) -> AuthorizationResponseCode {
        use AuthorizationResponseCode as Code;
        if let Some(code) = self.unreadable() {
            return Code::from_number(code.number());
        }
        match self {
            Self::KeyTag => Code::ItsAaKeysDontMatch,
            Self::Incomplete(_) => Code::ItsAaIncompleteRequest,
            Self::Encrypt(_) | Self::Key(_) => Code::ItsAaInvalidEncryptionKey,
            Self::OutOfSync { .. } | Self::Forgotten => Code::ItsAaOutOfSyncRequest,
            Self::UnknownEa(_) => Code::ItsAaUnknownEa,
            Self::RevokedEa(_) => Code::ItsAaInvalidEa,
            Self::UnreachableEa(_) => Code::AaEaCantReachEa,
            Self::ValidationRefused(code) => (*code).into(),
            Self::UntrustedAa(_) => Code::InvalidAa,
            Self::WrongSignature | Self::WrongSigner { .. } => Code::InvalidSignature,
            _ => Code::ItsAaDeniedPermissions,
        }
    }
}
