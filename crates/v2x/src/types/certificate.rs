//! Certificates, IEEE 1609.2 clause 6.4.

use super::{
    CurvePoint, EccP256CurvePoint, GeographicRegion, HashAlgorithm, HashedId3, HashedId8, PsidGroupPermissions,
    PsidSsp, PublicEncryptionKey, PublicVerificationKey, Received, Signature, UnknownAlternative, ValidityPeriod,
};
use crate::coer::{Decode, DecodeError, DecodeErrorKind, Encode, EncodeError, ExtensionAdditions, Reader, Writer};

/// A certificate: explicit, with a signature, or implicit, with a reconstruction value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate<'a> {
    /// Explicit or implicit.
    pub r#type: CertificateType,
    /// Who issued it.
    pub issuer: IssuerIdentifier,
    /// What it says.
    pub to_be_signed: ToBeSignedCertificate<'a>,
    /// Of the issuer; explicit certificates only.
    pub signature: Option<Signature>,
    /// All its bytes.
    pub received: Received<'a>,
}

impl Certificate<'_> {
    /// The only version of the structure.
    pub const VERSION: u8 = 3;

    /// The same certificate with every point in its canonical form, IEEE 1609.2 clause 6.4.3.
    #[must_use]
    pub fn canonical(&self) -> Self {
        let mut certificate = self.clone();
        certificate.received = Received::default();
        let tbs = &mut certificate.to_be_signed;
        tbs.received = Received::default();
        tbs.encryption_key = tbs.encryption_key.map(|key| key.canonical());
        tbs.verify_key_indicator = match tbs.verify_key_indicator.clone() {
            VerificationKeyIndicator::VerificationKey(key) => {
                VerificationKeyIndicator::VerificationKey(key.canonical())
            }
            VerificationKeyIndicator::ReconstructionValue(point) => {
                VerificationKeyIndicator::ReconstructionValue(point.compressed())
            }
            unknown => unknown,
        };
        certificate.signature = certificate.signature.map(Signature::canonical);
        certificate
    }
}

impl<'a> Decode<'a> for Certificate<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let start = reader.position();
        let mut preamble = reader.preamble(false, 1)?;
        reader.field("version", |reader| version(reader, Self::VERSION))?;
        let r#type = reader.component("type")?;
        let issuer = reader.component("issuer")?;
        let to_be_signed: ToBeSignedCertificate<'_> = reader.component("toBeSigned")?;
        let signature = reader.optional(&mut preamble, "signature")?;
        // [IEEE 1609.2-2022 §6.4.5, §6.4.6] Explicit: verification key and signature. Implicit: neither.
        let is_explicit = matches!(to_be_signed.verify_key_indicator, VerificationKeyIndicator::VerificationKey(_));
        match r#type {
            CertificateType::Explicit if !is_explicit || signature.is_none() => {
                return Err(reader.error(DecodeErrorKind::Constraint(
                    "an explicit certificate has a verification key and a signature",
                )));
            }
            CertificateType::Implicit if is_explicit || signature.is_some() => {
                return Err(reader.error(DecodeErrorKind::Constraint(
                    "an implicit certificate has a reconstruction value and no signature",
                )));
            }
            CertificateType::Explicit | CertificateType::Implicit => {}
        }
        Ok(Self { r#type, issuer, to_be_signed, signature, received: Received(reader.since(start)) })
    }
}

/// Reads a version that has to be `expected`.
pub(crate) fn version(reader: &mut Reader<'_>, expected: u8) -> Result<(), DecodeError> {
    let version = reader.u8()?;
    if version == expected {
        return Ok(());
    }
    let kind = DecodeErrorKind::OutOfRange { value: version.into(), min: expected.into(), max: expected.into() };
    Err(reader.error(kind))
}

impl Encode for Certificate<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.preamble(&[self.signature.is_some()]);
        writer.u8(Self::VERSION);
        self.r#type.encode(writer);
        self.issuer.encode(writer);
        self.to_be_signed.encode(writer);
        writer.optional(&self.signature);
    }
}

/// The two kinds of certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CertificateType {
    /// Carries a public key and its issuer's signature.
    Explicit,
    /// Carries a value from which the public key is reconstructed with the issuer's.
    Implicit,
}

impl<'a> Decode<'a> for CertificateType {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.enumerated()? {
            0 => Self::Explicit,
            1 => Self::Implicit,
            value => return Err(reader.error(DecodeErrorKind::UnknownItem { value })),
        })
    }
}

impl Encode for CertificateType {
    fn encode(&self, writer: &mut Writer) {
        writer.enumerated(*self as u8);
    }
}

/// Who issued a certificate, and the hash both identifier and signature are made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IssuerIdentifier {
    /// By the end of its SHA-256.
    Sha256AndDigest(HashedId8),
    /// The certificate itself.
    SelfSigned(HashAlgorithm),
    /// By the end of its SHA-384.
    Sha384AndDigest(HashedId8),
    /// By the end of its SM3.
    Sm3AndDigest(HashedId8),
}

impl IssuerIdentifier {
    /// The issuer's identifier; none if the certificate is its own.
    pub fn digest(&self) -> Option<HashedId8> {
        match self {
            Self::Sha256AndDigest(digest) | Self::Sha384AndDigest(digest) | Self::Sm3AndDigest(digest) => Some(*digest),
            Self::SelfSigned(_) => None,
        }
    }
}

impl<'a> Decode<'a> for IssuerIdentifier {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::Sha256AndDigest(reader.component("sha256AndDigest")?),
            1 => Self::SelfSigned(reader.component("self")?),
            2 => Self::Sha384AndDigest(reader.open_type(|reader| reader.component("sha384AndDigest"))?),
            3 => Self::Sm3AndDigest(reader.open_type(|reader| reader.component("sm3AndDigest"))?),
            number => return Err(reader.unknown_alternative(number)),
        })
    }
}

impl Encode for IssuerIdentifier {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Sha256AndDigest(digest) => writer.alternative(0, digest),
            Self::SelfSigned(algorithm) => writer.alternative(1, algorithm),
            Self::Sha384AndDigest(digest) => writer.extension_alternative(2, digest),
            Self::Sm3AndDigest(digest) => writer.extension_alternative(3, digest),
        }
    }
}

/// What a certificate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToBeSignedCertificate<'a> {
    /// Name of the holder.
    pub id: CertificateId<'a>,
    /// Who may revoke it.
    pub craca_id: HashedId3,
    /// The series of revocation lists it would be in.
    pub crl_series: u16,
    /// When it is valid.
    pub validity_period: ValidityPeriod,
    /// Where it is valid; everywhere its issuer is, if none.
    pub region: Option<GeographicRegion>,
    /// How well the holder guards its keys.
    pub assurance_level: Option<u8>,
    /// What the holder may send.
    pub app_permissions: Option<Vec<PsidSsp<'a>>>,
    /// What the holder may issue certificates for.
    pub cert_issue_permissions: Option<Vec<PsidGroupPermissions<'a>>>,
    /// What the holder may request certificates for.
    pub cert_request_permissions: Option<Vec<PsidGroupPermissions<'a>>>,
    /// Whether it may ask for a successor with this certificate.
    pub can_request_rollover: bool,
    /// A key to encrypt to the holder with.
    pub encryption_key: Option<PublicEncryptionKey>,
    /// The holder's verification key, or what it is reconstructed from.
    pub verify_key_indicator: VerificationKeyIndicator,
    /// Bits; bit 0x80 is `usesCubk`.
    pub flags: Option<u8>,
    /// Properties of the holder.
    pub app_extensions: Option<Vec<AppExtension<'a>>>,
    /// Properties the holder may certify.
    pub cert_issue_extensions: Option<Vec<PermittedExtension<'a>>>,
    /// Properties the holder may request.
    pub cert_request_extension: Option<Vec<PermittedExtension<'a>>>,
    /// Additions from later versions.
    pub extensions: ExtensionAdditions<'a>,
    /// All its bytes: what the issuer signs.
    pub received: Received<'a>,
}

impl<'a> ToBeSignedCertificate<'a> {
    /// With the parts that have to be there, and no permissions.
    pub fn new(
        id: CertificateId<'a>,
        validity_period: ValidityPeriod,
        verify_key_indicator: VerificationKeyIndicator,
    ) -> Self {
        Self {
            id,
            craca_id: HashedId3([0; 3]),
            crl_series: 0,
            validity_period,
            region: None,
            assurance_level: None,
            app_permissions: None,
            cert_issue_permissions: None,
            cert_request_permissions: None,
            can_request_rollover: false,
            encryption_key: None,
            verify_key_indicator,
            flags: None,
            app_extensions: None,
            cert_issue_extensions: None,
            cert_request_extension: None,
            extensions: ExtensionAdditions::default(),
            received: Received::default(),
        }
    }

    fn known_additions(&self) -> [bool; 4] {
        [
            self.flags.is_some(),
            self.app_extensions.is_some(),
            self.cert_issue_extensions.is_some(),
            self.cert_request_extension.is_some(),
        ]
    }
}

impl<'a> Decode<'a> for ToBeSignedCertificate<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let start = reader.position();
        let mut preamble = reader.preamble(true, 7)?;
        let mut tbs = Self {
            id: reader.component("id")?,
            craca_id: reader.component("cracaId")?,
            crl_series: reader.field("crlSeries", Reader::u16)?,
            validity_period: reader.component("validityPeriod")?,
            region: reader.optional(&mut preamble, "region")?,
            assurance_level: optional_with(reader, &mut preamble, "assuranceLevel", Reader::u8)?,
            app_permissions: optional_list(reader, &mut preamble, "appPermissions")?,
            cert_issue_permissions: optional_list(reader, &mut preamble, "certIssuePermissions")?,
            cert_request_permissions: optional_list(reader, &mut preamble, "certRequestPermissions")?,
            can_request_rollover: preamble.next(),
            encryption_key: reader.optional(&mut preamble, "encryptionKey")?,
            verify_key_indicator: reader.component("verifyKeyIndicator")?,
            flags: None,
            app_extensions: None,
            cert_issue_extensions: None,
            cert_request_extension: None,
            extensions: ExtensionAdditions::default(),
            received: Received::default(),
        };
        if preamble.is_extended {
            tbs.extensions = ExtensionAdditions::decode(reader, 4, |reader, index| {
                match index {
                    0 => tbs.flags = Some(reader.field("flags", Reader::u8)?),
                    1 => tbs.app_extensions = Some(list(reader, "appExtensions", 1)?),
                    2 => tbs.cert_issue_extensions = Some(list(reader, "certIssueExtensions", 1)?),
                    _ => tbs.cert_request_extension = Some(list(reader, "certRequestExtension", 1)?),
                }
                Ok(())
            })?;
        }
        tbs.received = Received(reader.since(start));
        Ok(tbs)
    }
}

fn list<'a, T: Decode<'a>>(reader: &mut Reader<'a>, name: &'static str, min: usize) -> Result<Vec<T>, DecodeError> {
    reader.field(name, |reader| reader.list(min, T::decode))
}

pub(crate) fn optional_list<'a, T: Decode<'a>>(
    reader: &mut Reader<'a>,
    preamble: &mut crate::coer::Preamble,
    name: &'static str,
) -> Result<Option<Vec<T>>, DecodeError> {
    preamble.next().then(|| list(reader, name, 0)).transpose()
}

pub(crate) fn optional_with<'a, T>(
    reader: &mut Reader<'a>,
    preamble: &mut crate::coer::Preamble,
    name: &'static str,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, DecodeError>,
) -> Result<Option<T>, DecodeError> {
    preamble.next().then(|| reader.field(name, read)).transpose()
}

impl Encode for ToBeSignedCertificate<'_> {
    fn encode(&self, writer: &mut Writer) {
        let known = self.known_additions();
        writer.preamble(&[
            self.extensions.is_extended(&known),
            self.region.is_some(),
            self.assurance_level.is_some(),
            self.app_permissions.is_some(),
            self.cert_issue_permissions.is_some(),
            self.cert_request_permissions.is_some(),
            self.can_request_rollover,
            self.encryption_key.is_some(),
        ]);
        self.id.encode(writer);
        self.craca_id.encode(writer);
        writer.u16(self.crl_series);
        self.validity_period.encode(writer);
        writer.optional(&self.region);
        if let Some(level) = self.assurance_level {
            writer.u8(level);
        }
        write_list(writer, "appPermissions", 0, &self.app_permissions);
        write_list(writer, "certIssuePermissions", 0, &self.cert_issue_permissions);
        write_list(writer, "certRequestPermissions", 0, &self.cert_request_permissions);
        writer.optional(&self.encryption_key);
        self.verify_key_indicator.encode(writer);
        self.extensions.encode(writer, &known, |writer, index| match index {
            0 => writer.u8(self.flags.unwrap_or_default()),
            1 => write_list(writer, "appExtensions", 1, &self.app_extensions),
            2 => write_list(writer, "certIssueExtensions", 1, &self.cert_issue_extensions),
            _ => write_list(writer, "certRequestExtension", 1, &self.cert_request_extension),
        });
    }
}

pub(crate) fn write_list<T: Encode>(writer: &mut Writer, what: &'static str, min: usize, list: &Option<Vec<T>>) {
    if let Some(list) = list {
        writer.list(what, min, list, |writer, element| element.encode(writer));
    }
}

/// Name of a certificate's holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificateId<'a> {
    /// A value by which many certificates of one holder can be revoked at once.
    LinkageData(LinkageData),
    /// A host name of at most 255 octets.
    Name(&'a str),
    /// 1 to 64 octets.
    BinaryId(&'a [u8]),
    /// None.
    None,
    /// Something newer.
    Unknown(UnknownAlternative),
}

impl<'a> Decode<'a> for CertificateId<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::LinkageData(reader.component("linkageData")?),
            1 => Self::Name(reader.field("name", |reader| reader.text(255))?),
            2 => Self::BinaryId(reader.field("binaryId", |reader| reader.octets_in(1, 64))?),
            3 => Self::None,
            number => Self::Unknown(UnknownAlternative::decode(reader, number)?),
        })
    }
}

impl Encode for CertificateId<'_> {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::LinkageData(data) => writer.alternative(0, data),
            Self::Name(name) => {
                writer.tag(1);
                writer.octets_in("name", name.as_bytes(), 0, 255);
            }
            Self::BinaryId(id) => {
                writer.tag(2);
                writer.octets_in("binaryId", id, 1, 64);
            }
            Self::None => writer.tag(3),
            Self::Unknown(unknown) => unknown.encode(writer),
        }
    }
}

/// What a pseudonym is revoked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkageData {
    /// The period.
    pub i_cert: u16,
    /// The value of the holder in the period.
    pub linkage_value: [u8; 9],
    /// j and the value of the holder's group.
    pub group_linkage_value: Option<([u8; 4], [u8; 9])>,
}

impl<'a> Decode<'a> for LinkageData {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut preamble = reader.preamble(false, 1)?;
        Ok(Self {
            i_cert: reader.field("iCert", Reader::u16)?,
            linkage_value: reader.field("linkage-value", Reader::array)?,
            group_linkage_value: optional_with(reader, &mut preamble, "group-linkage-value", |reader| {
                Ok((reader.array()?, reader.array()?))
            })?,
        })
    }
}

impl Encode for LinkageData {
    fn encode(&self, writer: &mut Writer) {
        writer.preamble(&[self.group_linkage_value.is_some()]);
        writer.u16(self.i_cert);
        writer.raw(&self.linkage_value);
        if let Some((j_value, value)) = &self.group_linkage_value {
            writer.raw(j_value);
            writer.raw(value);
        }
    }
}

/// A verification key, or what it is reconstructed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerificationKeyIndicator {
    /// The key, in an explicit certificate.
    VerificationKey(PublicVerificationKey),
    /// The point, in an implicit certificate.
    ReconstructionValue(EccP256CurvePoint),
    /// Something newer.
    Unknown(UnknownAlternative),
}

impl<'a> Decode<'a> for VerificationKeyIndicator {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::VerificationKey(reader.component("verificationKey")?),
            1 => Self::ReconstructionValue(reader.field("reconstructionValue", CurvePoint::decode_public)?),
            number => Self::Unknown(UnknownAlternative::decode(reader, number)?),
        })
    }
}

impl Encode for VerificationKeyIndicator {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::VerificationKey(key) => writer.alternative(0, key),
            Self::ReconstructionValue(point) => writer.alternative(1, point),
            Self::Unknown(unknown) => unknown.encode(writer),
        }
    }
}

/// A property of a certificate's holder, with contents as they came: number 1 is the operating organisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppExtension<'a> {
    /// Number of the property.
    pub id: u8,
    /// Contents of the open type.
    pub content: &'a [u8],
}

impl<'a> Decode<'a> for AppExtension<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { id: reader.field("id", Reader::u8)?, content: reader.field("content", Reader::octets)? })
    }
}

impl Encode for AppExtension<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.u8(self.id);
        writer.octets(self.content);
    }
}

/// A property that may be certified or requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermittedExtension<'a> {
    /// Number of the property.
    pub id: u8,
    /// What of it, as it came; all if none.
    pub specific: Option<&'a [u8]>,
}

impl<'a> Decode<'a> for PermittedExtension<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let id = reader.field("id", Reader::u8)?;
        let specific = reader.field("permissions", |reader| match reader.tag()? {
            0 => reader.octets().map(Some),
            1 => Ok(None),
            number => Err(reader.unknown_alternative(number)),
        })?;
        Ok(Self { id, specific })
    }
}

impl Encode for PermittedExtension<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.u8(self.id);
        match self.specific {
            Some(content) => {
                writer.tag(0);
                writer.octets(content);
            }
            None => writer.tag(1),
        }
    }
}

/// A certificate that owns its bytes, known to decode.
#[derive(Clone, PartialEq, Eq)]
pub struct CertificateBuf {
    bytes: Box<[u8]>,
    rules: crate::coer::Rules,
}

impl CertificateBuf {
    /// Keeps `bytes` if they are a certificate by the strict rules.
    ///
    /// # Errors
    /// What the bytes have wrong.
    pub fn new(bytes: impl Into<Box<[u8]>>) -> Result<Self, DecodeError> {
        Self::with_rules(bytes, crate::coer::Rules::STRICT)
    }

    /// Keeps `bytes` if they are a certificate by `rules`.
    ///
    /// # Errors
    /// What the bytes have wrong.
    pub fn with_rules(bytes: impl Into<Box<[u8]>>, rules: crate::coer::Rules) -> Result<Self, DecodeError> {
        let bytes = bytes.into();
        Certificate::from_coer_with(&bytes, rules)?;
        Ok(Self { bytes, rules })
    }

    /// Encodes `certificate` and keeps the bytes.
    ///
    /// # Errors
    /// [`EncodeError`] if it cannot be encoded, or would not decode.
    pub fn encoded(certificate: &Certificate<'_>) -> Result<Self, EncodeError> {
        let bytes = certificate.to_coer()?;
        Self::new(bytes).map_err(|_| EncodeError::Constraint("certificate that no receiver would decode"))
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The certificate in them.
    #[allow(clippy::missing_panics_doc, reason = "the bytes were decoded by the same rules when they were taken in")]
    pub fn view(&self) -> Certificate<'_> {
        let (certificate, _) = Certificate::from_coer_with(&self.bytes, self.rules).expect("decoded when it was made");
        certificate
    }
}

impl core::fmt::Debug for CertificateBuf {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.view().fmt(f)
    }
}
