//! The outermost structure and signed data, IEEE 1609.2 clauses 6.3.2 to 6.3.8 and 6.3.25.

use super::certificate::version;
use super::{
    Certificate, EncryptedData, HashAlgorithm, HashedId8, HashedId32, HashedId48, HeaderInfo, Received, Signature,
    UnknownAlternative,
};
use crate::coer::{Decode, DecodeError, DecodeErrorKind, Encode, ExtensionAdditions, Reader, Writer};

/// A message; ETSI calls it `EtsiTs103097Data`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ieee1609Dot2Data<'a> {
    /// What it carries.
    pub content: Ieee1609Dot2Content<'a>,
}

impl<'a> Ieee1609Dot2Data<'a> {
    /// The only version of the structure.
    pub const PROTOCOL_VERSION: u8 = 3;

    /// A message without protection.
    pub fn unsecured(payload: &'a [u8]) -> Self {
        Self { content: Ieee1609Dot2Content::UnsecuredData(payload) }
    }

    /// The signed data, if it is any.
    pub fn signed_data(&self) -> Option<&SignedData<'a>> {
        match &self.content {
            Ieee1609Dot2Content::SignedData(signed) => Some(signed),
            _ => None,
        }
    }

    /// The encrypted data, if it is any.
    pub fn encrypted_data(&self) -> Option<&EncryptedData<'a>> {
        match &self.content {
            Ieee1609Dot2Content::EncryptedData(encrypted) => Some(encrypted),
            _ => None,
        }
    }
}

impl<'a> Decode<'a> for Ieee1609Dot2Data<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.nested(|reader| {
            reader.field("protocolVersion", |reader| version(reader, Self::PROTOCOL_VERSION))?;
            Ok(Self { content: reader.component("content")? })
        })
    }
}

impl Encode for Ieee1609Dot2Data<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.u8(Self::PROTOCOL_VERSION);
        self.content.encode(writer);
    }
}

/// What a message carries.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "a box would be an allocation for every message received")]
pub enum Ieee1609Dot2Content<'a> {
    /// Payload without protection.
    UnsecuredData(&'a [u8]),
    /// Signed data.
    SignedData(SignedData<'a>),
    /// Encrypted data.
    EncryptedData(EncryptedData<'a>),
    /// A signed certificate request, as it came.
    SignedCertificateRequest(&'a [u8]),
    /// A certificate request signed with an X.509 certificate, as it came.
    SignedX509CertificateRequest(&'a [u8]),
    /// Something newer.
    Unknown(UnknownAlternative),
}

impl<'a> Decode<'a> for Ieee1609Dot2Content<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::UnsecuredData(reader.field("unsecuredData", Reader::octets)?),
            1 => Self::SignedData(reader.component("signedData")?),
            2 => Self::EncryptedData(reader.component("encryptedData")?),
            3 => Self::SignedCertificateRequest(reader.field("signedCertificateRequest", Reader::octets)?),
            4 => Self::SignedX509CertificateRequest(
                reader.open_type(|reader| reader.field("signedX509CertificateRequest", Reader::octets))?,
            ),
            number => Self::Unknown(UnknownAlternative::decode(reader, number)?),
        })
    }
}

impl Encode for Ieee1609Dot2Content<'_> {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::UnsecuredData(payload) => {
                writer.tag(0);
                writer.octets(payload);
            }
            Self::SignedData(signed) => writer.alternative(1, signed),
            Self::EncryptedData(encrypted) => writer.alternative(2, encrypted),
            Self::SignedCertificateRequest(request) => {
                writer.tag(3);
                writer.octets(request);
            }
            Self::SignedX509CertificateRequest(request) => {
                writer.tag(4);
                writer.open_type(|writer| writer.octets(request));
            }
            Self::Unknown(unknown) => unknown.encode(writer),
        }
    }
}

/// Signed data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedData<'a> {
    /// The hash of the signature.
    pub hash_id: HashAlgorithm,
    /// What was signed.
    pub tbs_data: ToBeSignedData<'a>,
    /// Who signed it.
    pub signer: SignerIdentifier<'a>,
    /// The signature.
    pub signature: Signature,
}

impl<'a> Decode<'a> for SignedData<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            hash_id: reader.component("hashId")?,
            tbs_data: reader.component("tbsData")?,
            signer: reader.component("signer")?,
            signature: reader.component("signature")?,
        })
    }
}

impl Encode for SignedData<'_> {
    fn encode(&self, writer: &mut Writer) {
        self.hash_id.encode(writer);
        self.tbs_data.encode(writer);
        self.signer.encode(writer);
        self.signature.encode(writer);
    }
}

/// What a signature is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToBeSignedData<'a> {
    /// The payload, or its hash.
    pub payload: SignedDataPayload<'a>,
    /// The header.
    pub header_info: HeaderInfo<'a>,
    /// All its bytes: what is hashed.
    pub received: Received<'a>,
}

impl<'a> Decode<'a> for ToBeSignedData<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let start = reader.position();
        let payload = reader.component("payload")?;
        let header_info = reader.component("headerInfo")?;
        Ok(Self { payload, header_info, received: Received(reader.since(start)) })
    }
}

impl Encode for ToBeSignedData<'_> {
    fn encode(&self, writer: &mut Writer) {
        self.payload.encode(writer);
        self.header_info.encode(writer);
    }
}

/// The payload of signed data: at least one of the three.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignedDataPayload<'a> {
    /// Payload inside.
    pub data: Option<InnerData<'a>>,
    /// Hash of a payload that travels otherwise.
    pub ext_data_hash: Option<HashedData>,
    /// Whether a payload that does not travel at all is part of what was hashed.
    pub omitted: bool,
    /// Additions from later versions.
    pub extensions: ExtensionAdditions<'a>,
}

impl<'a> SignedDataPayload<'a> {
    /// A payload without protection of its own.
    pub fn unsecured(payload: &'a [u8]) -> Self {
        Self { data: Some(InnerData::Unsecured(payload)), ..Self::default() }
    }

    /// The hash of a payload that travels otherwise.
    pub fn hash_only(hash: HashedData) -> Self {
        Self { ext_data_hash: Some(hash), ..Self::default() }
    }

    /// Payload without protection of its own, if that is what it is.
    pub fn unsecured_payload(&self) -> Option<&'a [u8]> {
        match self.data {
            Some(InnerData::Unsecured(payload)) => Some(payload),
            _ => None,
        }
    }
}

impl<'a> Decode<'a> for SignedDataPayload<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut preamble = reader.preamble(true, 2)?;
        let mut payload = Self {
            data: reader.optional(&mut preamble, "data")?,
            ext_data_hash: reader.optional(&mut preamble, "extDataHash")?,
            ..Self::default()
        };
        if preamble.is_extended {
            payload.extensions = ExtensionAdditions::decode(reader, 1, |_, _| {
                payload.omitted = true;
                Ok(())
            })?;
        }
        if payload.data.is_none() && payload.ext_data_hash.is_none() && !payload.omitted {
            return Err(reader.error(DecodeErrorKind::Constraint("payload has no component")));
        }
        Ok(payload)
    }
}

impl Encode for SignedDataPayload<'_> {
    fn encode(&self, writer: &mut Writer) {
        let known = [self.omitted];
        writer.preamble(&[self.extensions.is_extended(&known), self.data.is_some(), self.ext_data_hash.is_some()]);
        writer.optional(&self.data);
        writer.optional(&self.ext_data_hash);
        self.extensions.encode(writer, &known, |_, _| ());
    }
}

/// A message within signed data. The common kind is spelt out so that it needs no allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InnerData<'a> {
    /// Payload without protection of its own.
    Unsecured(&'a [u8]),
    /// Any other message; never an unsecured one.
    Nested(Box<Ieee1609Dot2Data<'a>>),
}

impl<'a> From<Ieee1609Dot2Data<'a>> for InnerData<'a> {
    fn from(data: Ieee1609Dot2Data<'a>) -> Self {
        match data.content {
            Ieee1609Dot2Content::UnsecuredData(payload) => Self::Unsecured(payload),
            _ => Self::Nested(Box::new(data)),
        }
    }
}

impl<'a> Decode<'a> for InnerData<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ieee1609Dot2Data::decode(reader).map(Self::from)
    }
}

impl Encode for InnerData<'_> {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Unsecured(payload) => Ieee1609Dot2Data::unsecured(payload).encode(writer),
            Self::Nested(data) => data.encode(writer),
        }
    }
}

/// A hash of data that travels otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are the algorithms")]
pub enum HashedData {
    Sha256(HashedId32),
    Sha384(HashedId48),
    Sm3(HashedId32),
}

impl<'a> Decode<'a> for HashedData {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::Sha256(reader.component("sha256HashedData")?),
            1 => Self::Sha384(reader.open_type(|reader| reader.component("sha384HashedData"))?),
            2 => Self::Sm3(reader.open_type(|reader| reader.component("sm3HashedData"))?),
            number => return Err(reader.unknown_alternative(number)),
        })
    }
}

impl Encode for HashedData {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Sha256(hash) => writer.alternative(0, hash),
            Self::Sha384(hash) => writer.extension_alternative(1, hash),
            Self::Sm3(hash) => writer.extension_alternative(2, hash),
        }
    }
}

/// Who signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignerIdentifier<'a> {
    /// The holder of the certificate with this identifier.
    Digest(HashedId8),
    /// The holder of the first of these certificates; each is followed by its issuer's.
    Certificate(Vec<Certificate<'a>>),
    /// Whoever holds the key that the payload itself contains.
    SelfSigned,
    /// Something newer.
    Unknown(UnknownAlternative),
}

impl<'a> Decode<'a> for SignerIdentifier<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::Digest(reader.component("digest")?),
            1 => Self::Certificate(reader.field("certificate", |reader| reader.list(1, Certificate::decode))?),
            2 => Self::SelfSigned,
            number => Self::Unknown(UnknownAlternative::decode(reader, number)?),
        })
    }
}

impl Encode for SignerIdentifier<'_> {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Digest(digest) => writer.alternative(0, digest),
            Self::Certificate(chain) => {
                writer.tag(1);
                writer.list("certificate", 1, chain, |writer, certificate| certificate.encode(writer));
            }
            Self::SelfSigned => writer.tag(2),
            Self::Unknown(unknown) => unknown.encode(writer),
        }
    }
}
