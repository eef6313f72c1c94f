//! Messages between stations and their authorities, ETSI TS 102 941 V2.2.1 (ASN.1 module `EtsiTs102941MessagesCa` and
//! those it imports).
//!
//! Everything travels as [`EtsiTs102941Data`] inside signed and encrypted [`crate::types::Ieee1609Dot2Data`].
//! Not there: butterfly requests over these messages, requests of authorities for certificates of their own.

mod answers;
mod authority;
mod authorization;
mod authorization_authority;
mod code;
mod enrolment;
mod enrolment_authority;
mod envelope;
mod error;
mod held_lists;
mod lists;
mod periods;
mod permissions;
mod station;
mod steps;
mod subject;
mod trust_list;

pub use answers::{AnswerStore, DatedRequest, MemoryAnswers, RequestIdentity};
pub use authority::{Authority, Credential, Role, Station, StationStore, TrustedAuthority, issue_authority};
pub use authorization::*;
pub use authorization_authority::{AuthorizationAuthority, Question, issue_ticket};
pub use code::*;
pub use enrolment::*;
pub use enrolment_authority::{Decision, EnrolmentAuthority, EnrolmentPolicy};
pub use envelope::{
    CLOCK_DIFFERENCE_MAX_S, SealedRequest, SignedMessage, can_encrypt, check_issued_by, check_valid_now, open_request,
    request_hash, seal_answer, sign_content,
};
pub use error::{NoAnswer, PkiError};
pub use held_lists::{HeldLists, ListName, ListRefusal, Taken};
pub use lists::{
    ListKind, delta, own_trust_list, read_revocation_list, read_trust_list, sign_revocation_list, sign_trust_list,
};
pub use periods::TicketPeriods;
pub use permissions::{Permissions, PermissionsError};
pub use station::{Applicant, Pending, TicketWish, key_tag, request_credential, request_ticket};
pub use steps::{LookUp, Step};
pub use subject::*;
pub use trust_list::*;

use crate::coer::{Decode, DecodeError, Encode, Reader, Writer};
use crate::types::{Ieee1609Dot2Data, UnknownAlternative, version};

/// The first half of the SHA-256 of a request: of all its bytes, encryption included, as they were sent.
pub type RequestHash = [u8; 16];

/// What a message of the PKI says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtsiTs102941Data<'a> {
    /// What it says.
    pub content: EtsiTs102941DataContent<'a>,
}

impl<'a> EtsiTs102941Data<'a> {
    /// The only version of the structure.
    pub const VERSION: u8 = 1;

    /// With this content.
    pub fn new(content: EtsiTs102941DataContent<'a>) -> Self {
        Self { content }
    }
}

impl<'a> Decode<'a> for EtsiTs102941Data<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.field("version", |reader| version(reader, Self::VERSION))?;
        Ok(Self { content: reader.component("content")? })
    }
}

impl Encode for EtsiTs102941Data<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.u8(Self::VERSION);
        self.content.encode(writer);
    }
}

/// The kinds of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "one of them lives at a time")]
pub enum EtsiTs102941DataContent<'a> {
    /// An [`InnerEcRequest`], signed with the key it asks a certificate for.
    EnrolmentRequest(Ieee1609Dot2Data<'a>),
    /// The answer to it.
    EnrolmentResponse(InnerEcResponse<'a>),
    /// A request for an authorization ticket.
    AuthorizationRequest(InnerAtRequest<'a>),
    /// The answer to it.
    AuthorizationResponse(InnerAtResponse<'a>),
    /// Revoked authorities.
    CertificateRevocationList(ToBeSignedCrl<'a>),
    /// The trust list manager's list.
    CertificateTrustListTlm(CtlFormat<'a>),
    /// A root's list.
    CertificateTrustListRca(CtlFormat<'a>),
    /// An authorization authority asks an enrolment authority about a station.
    AuthorizationValidationRequest(AuthorizationValidationRequest<'a>),
    /// The answer to it.
    AuthorizationValidationResponse(AuthorizationValidationResponse<'a>),
    /// Something newer.
    Unknown(UnknownAlternative),
}

impl<'a> Decode<'a> for EtsiTs102941DataContent<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::EnrolmentRequest(reader.component("enrolmentRequest")?),
            1 => Self::EnrolmentResponse(reader.component("enrolmentResponse")?),
            2 => Self::AuthorizationRequest(reader.component("authorizationRequest")?),
            3 => Self::AuthorizationResponse(reader.component("authorizationResponse")?),
            4 => Self::CertificateRevocationList(reader.component("certificateRevocationList")?),
            5 => Self::CertificateTrustListTlm(reader.component("certificateTrustListTlm")?),
            6 => Self::CertificateTrustListRca(reader.component("certificateTrustListRca")?),
            7 => Self::AuthorizationValidationRequest(reader.component("authorizationValidationRequest")?),
            8 => Self::AuthorizationValidationResponse(reader.component("authorizationValidationResponse")?),
            // A request of an authority is of the root alternatives: it has no length of its own to be kept by.
            9 => return Err(reader.unknown_alternative(9)),
            number => Self::Unknown(UnknownAlternative { number, bytes: reader.octets()?.to_vec() }),
        })
    }
}

impl Encode for EtsiTs102941DataContent<'_> {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::EnrolmentRequest(request) => writer.alternative(0, request),
            Self::EnrolmentResponse(response) => writer.alternative(1, response),
            Self::AuthorizationRequest(request) => writer.alternative(2, request),
            Self::AuthorizationResponse(response) => writer.alternative(3, response),
            Self::CertificateRevocationList(list) => writer.alternative(4, list),
            Self::CertificateTrustListTlm(list) => writer.alternative(5, list),
            Self::CertificateTrustListRca(list) => writer.alternative(6, list),
            Self::AuthorizationValidationRequest(request) => writer.alternative(7, request),
            Self::AuthorizationValidationResponse(response) => writer.alternative(8, response),
            Self::Unknown(unknown) => unknown.encode(writer),
        }
    }
}
