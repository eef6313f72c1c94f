//! Keys and attributes of whoever a certificate is asked for.

use crate::coer::{Decode, DecodeError, DecodeErrorKind, Encode, ExtensionAdditions, Reader, Writer};
use crate::types::{
    CertificateId, GeographicRegion, PsidGroupPermissions, PsidSsp, PublicEncryptionKey, PublicVerificationKey,
    ValidityPeriod, optional_list, optional_with, write_list,
};

/// The profile of the certificate asked for; 1 is TS 103 097 V1.3.1 and later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CertificateFormat(pub u8);

impl CertificateFormat {
    /// TS 103 097 V1.3.1 and later.
    pub const TS103097_V131: Self = Self(1);
}

impl<'a> Decode<'a> for CertificateFormat {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        match reader.u8()? {
            0 => Err(reader.error(DecodeErrorKind::OutOfRange { value: 0, min: 1, max: 255 })),
            format => Ok(Self(format)),
        }
    }
}

impl Encode for CertificateFormat {
    fn encode(&self, writer: &mut Writer) {
        writer.u8(self.0);
    }
}

/// The keys of a future certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKeys {
    /// What its signatures are verified with.
    pub verification_key: PublicVerificationKey,
    /// What is encrypted to its holder.
    pub encryption_key: Option<PublicEncryptionKey>,
}

impl PublicKeys {
    /// What the tag over the keys is made of: the encodings of both, one after the other (TS 102 941 clause 6.2.3.3.1).
    ///
    /// # Panics
    /// Never: keys have no bounds to be out of.
    pub fn tagged_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new();
        self.verification_key.encode(&mut writer);
        writer.optional(&self.encryption_key);
        writer.finish().expect("keys have no bounds")
    }
}

impl<'a> Decode<'a> for PublicKeys {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut preamble = reader.preamble(false, 1)?;
        Ok(Self {
            verification_key: reader.component("verificationKey")?,
            encryption_key: reader.optional(&mut preamble, "encryptionKey")?,
        })
    }
}

impl Encode for PublicKeys {
    fn encode(&self, writer: &mut Writer) {
        writer.preamble(&[self.encryption_key.is_some()]);
        self.verification_key.encode(writer);
        writer.optional(&self.encryption_key);
    }
}

/// What a certificate is asked to say of its holder, or confirmed to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CertificateSubjectAttributes<'a> {
    /// The holder's name.
    pub id: Option<CertificateId<'a>>,
    /// When it is valid.
    pub validity_period: Option<ValidityPeriod>,
    /// Where it is valid.
    pub region: Option<GeographicRegion>,
    /// How well its keys are guarded.
    pub assurance_level: Option<u8>,
    /// What its holder may send.
    pub app_permissions: Option<Vec<PsidSsp<'a>>>,
    /// What its holder may issue.
    pub cert_issue_permissions: Option<Vec<PsidGroupPermissions<'a>>>,
    /// Additions from later versions.
    pub extensions: ExtensionAdditions<'a>,
}

impl<'a> Decode<'a> for CertificateSubjectAttributes<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut preamble = reader.preamble(true, 6)?;
        let mut attributes = Self {
            id: reader.optional(&mut preamble, "id")?,
            validity_period: reader.optional(&mut preamble, "validityPeriod")?,
            region: reader.optional(&mut preamble, "region")?,
            assurance_level: optional_with(reader, &mut preamble, "assuranceLevel", Reader::u8)?,
            app_permissions: optional_list(reader, &mut preamble, "appPermissions")?,
            cert_issue_permissions: optional_list(reader, &mut preamble, "certIssuePermissions")?,
            extensions: ExtensionAdditions::default(),
        };
        attributes.extensions = later(reader, preamble.is_extended)?;
        if attributes.app_permissions.is_none() && attributes.cert_issue_permissions.is_none() {
            return Err(reader.error(DecodeErrorKind::Constraint("attributes without any permissions")));
        }
        Ok(attributes)
    }
}

impl Encode for CertificateSubjectAttributes<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.preamble(&[
            self.extensions.is_extended(&[]),
            self.id.is_some(),
            self.validity_period.is_some(),
            self.region.is_some(),
            self.assurance_level.is_some(),
            self.app_permissions.is_some(),
            self.cert_issue_permissions.is_some(),
        ]);
        writer.optional(&self.id);
        writer.optional(&self.validity_period);
        writer.optional(&self.region);
        if let Some(level) = self.assurance_level {
            writer.u8(level);
        }
        write_list(writer, "appPermissions", 0, &self.app_permissions);
        write_list(writer, "certIssuePermissions", 0, &self.cert_issue_permissions);
        write_later(writer, &self.extensions);
    }
}

/// Additions to a structure of which this version knows none.
pub(super) fn later<'a>(reader: &mut Reader<'a>, is_extended: bool) -> Result<ExtensionAdditions<'a>, DecodeError> {
    if is_extended { ExtensionAdditions::decode(reader, 0, |_, _| Ok(())) } else { Ok(ExtensionAdditions::default()) }
}

/// Writes what [`later`] has read.
pub(super) fn write_later(writer: &mut Writer, extensions: &ExtensionAdditions<'_>) {
    extensions.encode(writer, &[], |_, _| ());
}
