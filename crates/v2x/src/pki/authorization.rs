//! Authorization: tickets, TS 102 941 clauses 6.2.3.3 and 6.2.3.4.

use super::enrolment::{read_response, write_response};
use super::subject::{later, write_later};
use super::{
    AuthorizationResponseCode, AuthorizationValidationResponseCode, CertificateFormat, CertificateSubjectAttributes,
    PublicKeys, RequestHash,
};
use crate::coer::{Decode, DecodeError, Encode, ExtensionAdditions, Reader, Writer};
use crate::types::{Certificate, HashedId8, Ieee1609Dot2Data, Received};

/// A request for an authorization ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerAtRequest<'a> {
    /// Keys to be certified; the enrolment authority never sees them.
    pub public_keys: PublicKeys,
    /// Key of the tag over them.
    pub hmac_key: [u8; 32],
    /// What both authorities see.
    pub shared_at_request: SharedAtRequest<'a>,
    /// The enrolment credential's signature over that.
    pub ec_signature: EcSignature<'a>,
    /// Additions from later versions.
    pub extensions: ExtensionAdditions<'a>,
}

impl<'a> Decode<'a> for InnerAtRequest<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let preamble = reader.preamble(true, 0)?;
        Ok(Self {
            public_keys: reader.component("publicKeys")?,
            hmac_key: reader.field("hmacKey", Reader::array)?,
            shared_at_request: reader.component("sharedAtRequest")?,
            ec_signature: reader.component("ecSignature")?,
            extensions: later(reader, preamble.is_extended)?,
        })
    }
}

impl Encode for InnerAtRequest<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.preamble(&[self.extensions.is_extended(&[])]);
        self.public_keys.encode(writer);
        writer.raw(&self.hmac_key);
        self.shared_at_request.encode(writer);
        self.ec_signature.encode(writer);
        write_later(writer, &self.extensions);
    }
}

/// The part of a request for a ticket that both authorities see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedAtRequest<'a> {
    /// The enrolment authority that knows the station.
    pub ea_id: HashedId8,
    /// First half of an HMAC-SHA-256 over the keys: binds them without showing them.
    pub key_tag: [u8; 16],
    /// Profile of the certificate.
    pub certificate_format: CertificateFormat,
    /// What the ticket should say.
    pub requested_subject_attributes: CertificateSubjectAttributes<'a>,
    /// Additions from later versions.
    pub extensions: ExtensionAdditions<'a>,
    /// All its bytes: what is hashed for the signature.
    pub received: Received<'a>,
}

impl<'a> Decode<'a> for SharedAtRequest<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let start = reader.position();
        let preamble = reader.preamble(true, 0)?;
        let mut request = Self {
            ea_id: reader.component("eaId")?,
            key_tag: reader.field("keyTag", Reader::array)?,
            certificate_format: reader.component("certificateFormat")?,
            requested_subject_attributes: reader.component("requestedSubjectAttributes")?,
            extensions: later(reader, preamble.is_extended)?,
            received: Received::default(),
        };
        request.received = Received(reader.since(start));
        Ok(request)
    }
}

impl Encode for SharedAtRequest<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.preamble(&[self.extensions.is_extended(&[])]);
        self.ea_id.encode(writer);
        writer.raw(&self.key_tag);
        self.certificate_format.encode(writer);
        self.requested_subject_attributes.encode(writer);
        write_later(writer, &self.extensions);
    }
}

/// A signature with the enrolment credential over a [`SharedAtRequest`] that travels beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "one of them lives at a time")]
pub enum EcSignature<'a> {
    /// Encrypted to the enrolment authority: the authorization authority does not learn who asks.
    Encrypted(Ieee1609Dot2Data<'a>),
    /// In the open.
    Plain(Ieee1609Dot2Data<'a>),
}

impl<'a> Decode<'a> for EcSignature<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::Encrypted(reader.component("encryptedEcSignature")?),
            1 => Self::Plain(reader.component("ecSignature")?),
            number => return Err(reader.unknown_alternative(number)),
        })
    }
}

impl Encode for EcSignature<'_> {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Encrypted(data) => writer.alternative(0, data),
            Self::Plain(data) => writer.alternative(1, data),
        }
    }
}

/// What the authorization authority answers: a ticket, or why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerAtResponse<'a> {
    /// Of the request.
    pub request_hash: RequestHash,
    /// Granted, or why not.
    pub response_code: AuthorizationResponseCode,
    /// The authorization ticket, if granted.
    pub certificate: Option<Certificate<'a>>,
    /// Additions from later versions.
    pub extensions: ExtensionAdditions<'a>,
}

impl<'a> Decode<'a> for InnerAtResponse<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let (request_hash, response_code, certificate, extensions) =
            read_response(reader, AuthorizationResponseCode::is_ok, "certificate")?;
        Ok(Self { request_hash, response_code, certificate, extensions })
    }
}

impl Encode for InnerAtResponse<'_> {
    fn encode(&self, writer: &mut Writer) {
        write_response(writer, &self.request_hash, &self.response_code, &self.certificate, &self.extensions);
    }
}

/// An authorization authority asks whether a station may have what it asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationValidationRequest<'a> {
    /// As the station sent it.
    pub shared_at_request: SharedAtRequest<'a>,
    /// As the station sent it.
    pub ec_signature: EcSignature<'a>,
    /// Additions from later versions.
    pub extensions: ExtensionAdditions<'a>,
}

impl<'a> Decode<'a> for AuthorizationValidationRequest<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let preamble = reader.preamble(true, 0)?;
        Ok(Self {
            shared_at_request: reader.component("sharedAtRequest")?,
            ec_signature: reader.component("ecSignature")?,
            extensions: later(reader, preamble.is_extended)?,
        })
    }
}

impl Encode for AuthorizationValidationRequest<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.preamble(&[self.extensions.is_extended(&[])]);
        self.shared_at_request.encode(writer);
        self.ec_signature.encode(writer);
        write_later(writer, &self.extensions);
    }
}

/// What the enrolment authority answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationValidationResponse<'a> {
    /// Of the validation request.
    pub request_hash: RequestHash,
    /// Confirmed, or why not.
    pub response_code: AuthorizationValidationResponseCode,
    /// What the ticket may say, if confirmed.
    pub confirmed_subject_attributes: Option<CertificateSubjectAttributes<'a>>,
    /// Additions from later versions.
    pub extensions: ExtensionAdditions<'a>,
}

impl<'a> Decode<'a> for AuthorizationValidationResponse<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let (request_hash, response_code, confirmed_subject_attributes, extensions) =
            read_response(reader, AuthorizationValidationResponseCode::is_ok, "confirmedSubjectAttributes")?;
        Ok(Self { request_hash, response_code, confirmed_subject_attributes, extensions })
    }
}

impl Encode for AuthorizationValidationResponse<'_> {
    fn encode(&self, writer: &mut Writer) {
        write_response(
            writer,
            &self.request_hash,
            &self.response_code,
            &self.confirmed_subject_attributes,
            &self.extensions,
        );
    }
}
