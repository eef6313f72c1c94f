//! What a signature says beside the payload, IEEE 1609.2 clauses 6.3.9 to 6.3.23d.

use super::{Certificate, EncryptionKey, HashedId3, HashedId8, Psid, ThreeDLocation, Time32, Time64};
use crate::coer::{Decode, DecodeError, DecodeErrorKind, Encode, ExtensionAdditions, Reader, Writer};

/// The header of signed data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderInfo<'a> {
    /// The application area the payload belongs to.
    pub psid: Psid,
    /// When it was made.
    pub generation_time: Option<Time64>,
    /// After when it is of no interest.
    pub expiry_time: Option<Time64>,
    /// Where it was made.
    pub generation_location: Option<ThreeDLocation>,
    /// A certificate the sender lacks, in the older way of asking.
    pub p2pcd_learning_request: Option<HashedId3>,
    /// A revocation list the sender lacks.
    pub missing_crl_identifier: Option<MissingCrlIdentifier<'a>>,
    /// A key to encrypt the answer with.
    pub encryption_key: Option<EncryptionKey>,
    /// Certificates the sender lacks.
    pub inline_p2pcd_request: Option<HashedId3List<'a>>,
    /// A certificate somebody asked for.
    pub requested_certificate: Option<Box<Certificate<'a>>>,
    /// What process it is for, if no application.
    pub pdu_functional_type: Option<u8>,
    /// Additions of other organisations.
    pub contributed_extensions: Option<Vec<ContributedExtensionBlock<'a>>>,
    /// Additions from later versions.
    pub extensions: ExtensionAdditions<'a>,
}

impl HeaderInfo<'_> {
    /// With nothing but the application area.
    pub fn new(psid: Psid) -> Self {
        Self {
            psid,
            generation_time: None,
            expiry_time: None,
            generation_location: None,
            p2pcd_learning_request: None,
            missing_crl_identifier: None,
            encryption_key: None,
            inline_p2pcd_request: None,
            requested_certificate: None,
            pdu_functional_type: None,
            contributed_extensions: None,
            extensions: ExtensionAdditions::default(),
        }
    }

    fn known_additions(&self) -> [bool; 4] {
        [
            self.inline_p2pcd_request.is_some(),
            self.requested_certificate.is_some(),
            self.pdu_functional_type.is_some(),
            self.contributed_extensions.is_some(),
        ]
    }
}

impl<'a> Decode<'a> for HeaderInfo<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut preamble = reader.preamble(true, 6)?;
        let mut header = Self {
            psid: reader.component("psid")?,
            generation_time: reader.optional(&mut preamble, "generationTime")?,
            expiry_time: reader.optional(&mut preamble, "expiryTime")?,
            generation_location: reader.optional(&mut preamble, "generationLocation")?,
            p2pcd_learning_request: reader.optional(&mut preamble, "p2pcdLearningRequest")?,
            missing_crl_identifier: reader.optional(&mut preamble, "missingCrlIdentifier")?,
            encryption_key: reader.optional(&mut preamble, "encryptionKey")?,
            ..Self::new(Psid(0))
        };
        if preamble.is_extended {
            header.extensions = ExtensionAdditions::decode(reader, 4, |reader, index| {
                match index {
                    0 => header.inline_p2pcd_request = Some(reader.component("inlineP2pcdRequest")?),
                    1 => header.requested_certificate = Some(Box::new(reader.component("requestedCertificate")?)),
                    2 => header.pdu_functional_type = Some(reader.field("pduFunctionalType", Reader::u8)?),
                    _ => {
                        let blocks = |reader: &mut Reader<'a>| reader.list(1, ContributedExtensionBlock::decode);
                        header.contributed_extensions = Some(reader.field("contributedExtensions", blocks)?);
                    }
                }
                Ok(())
            })?;
        }
        // [IEEE 1609.2-2022 §6.3.9] The two ways of asking exclude each other.
        if header.p2pcd_learning_request.is_some() && header.inline_p2pcd_request.is_some() {
            return Err(reader
                .error(DecodeErrorKind::Constraint("p2pcdLearningRequest and inlineP2pcdRequest exclude each other")));
        }
        Ok(header)
    }
}

impl Encode for HeaderInfo<'_> {
    fn encode(&self, writer: &mut Writer) {
        let known = self.known_additions();
        writer.preamble(&[
            self.extensions.is_extended(&known),
            self.generation_time.is_some(),
            self.expiry_time.is_some(),
            self.generation_location.is_some(),
            self.p2pcd_learning_request.is_some(),
            self.missing_crl_identifier.is_some(),
            self.encryption_key.is_some(),
        ]);
        self.psid.encode(writer);
        writer.optional(&self.generation_time);
        writer.optional(&self.expiry_time);
        writer.optional(&self.generation_location);
        writer.optional(&self.p2pcd_learning_request);
        writer.optional(&self.missing_crl_identifier);
        writer.optional(&self.encryption_key);
        self.extensions.encode(writer, &known, |writer, index| match index {
            0 => writer.optional(&self.inline_p2pcd_request),
            1 => {
                if let Some(certificate) = &self.requested_certificate {
                    certificate.encode(writer);
                }
            }
            2 => writer.u8(self.pdu_functional_type.unwrap_or_default()),
            _ => {
                let blocks = self.contributed_extensions.as_deref().unwrap_or_default();
                writer.list("contributedExtensions", 1, blocks, |writer, block| block.encode(writer));
            }
        });
    }
}

/// A list of certificates asked for, as it lies in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashedId3List<'a>(&'a [u8]);

impl<'a> HashedId3List<'a> {
    /// From the identifiers one after the other; none if the length is no multiple of 3.
    pub fn new(octets: &'a [u8]) -> Option<Self> {
        octets.len().is_multiple_of(3).then_some(Self(octets))
    }

    /// The identifiers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = HashedId3> + use<'a> {
        self.0.chunks_exact(3).map(HashedId3::of_hash)
    }
}

impl<'a> Decode<'a> for HashedId3List<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let count = reader.element_count(0)?;
        reader.take(3 * count).map(Self)
    }
}

impl Encode for HashedId3List<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.unsigned((self.0.len() / 3) as u64);
        writer.raw(self.0);
    }
}

/// A revocation list, by who issues it and its series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingCrlIdentifier<'a> {
    /// Who issues it.
    pub craca_id: HashedId3,
    /// Its series.
    pub crl_series: u16,
    /// Additions from later versions.
    pub extensions: ExtensionAdditions<'a>,
}

impl<'a> Decode<'a> for MissingCrlIdentifier<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let preamble = reader.preamble(true, 0)?;
        let craca_id = reader.component("cracaId")?;
        let crl_series = reader.field("crlSeries", Reader::u16)?;
        let extensions = if preamble.is_extended {
            ExtensionAdditions::decode(reader, 0, |_, _| Ok(()))?
        } else {
            ExtensionAdditions::default()
        };
        Ok(Self { craca_id, crl_series, extensions })
    }
}

impl Encode for MissingCrlIdentifier<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.preamble(&[self.extensions.is_extended(&[])]);
        self.craca_id.encode(writer);
        writer.u16(self.crl_series);
        self.extensions.encode(writer, &[], |_, _| ());
    }
}

/// Additions of one organisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContributedExtensionBlock<'a> {
    /// Number of the organisation.
    pub contributor_id: u8,
    /// Its additions: contents of open types, each an [`Extension`] for the organisations known here.
    pub extns: Vec<&'a [u8]>,
}

impl ContributedExtensionBlock<'_> {
    /// IEEE, working group 1609.
    pub const IEEE1609: u8 = 1;
    /// ETSI.
    pub const ETSI: u8 = 2;
}

impl<'a> Decode<'a> for ContributedExtensionBlock<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            contributor_id: reader.field("contributorId", Reader::u8)?,
            extns: reader.field("extns", |reader| reader.list(1, Reader::octets))?,
        })
    }
}

impl Encode for ContributedExtensionBlock<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.u8(self.contributor_id);
        writer.list("extns", 1, &self.extns, |writer, extension| writer.octets(extension));
    }
}

/// One addition of a contributing organisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension<'a> {
    /// Its number within the organisation.
    pub id: u8,
    /// Contents of the open type.
    pub content: &'a [u8],
}

impl<'a> Decode<'a> for Extension<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { id: reader.field("id", Reader::u8)?, content: reader.field("content", Reader::octets)? })
    }
}

impl Encode for Extension<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.u8(self.id);
        writer.octets(self.content);
    }
}

/// Request for a revocation list, ETSI extension 1 (TS 103 097, extension module).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EtsiTs102941CrlRequest {
    /// Who issues it.
    pub issuer_id: HashedId8,
    /// Time of the newest one the sender has.
    pub last_known_update: Option<Time32>,
}

impl EtsiTs102941CrlRequest {
    /// Number of the extension.
    pub const ID: u8 = 1;
}

impl<'a> Decode<'a> for EtsiTs102941CrlRequest {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut preamble = reader.preamble(false, 1)?;
        Ok(Self {
            issuer_id: reader.component("issuerId")?,
            last_known_update: reader.optional(&mut preamble, "lastKnownUpdate")?,
        })
    }
}

impl Encode for EtsiTs102941CrlRequest {
    fn encode(&self, writer: &mut Writer) {
        writer.preamble(&[self.last_known_update.is_some()]);
        self.issuer_id.encode(writer);
        writer.optional(&self.last_known_update);
    }
}

/// Request for changes of a trust list, ETSI extension 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EtsiTs102941DeltaCtlRequest {
    /// Who issues it.
    pub issuer_id: HashedId8,
    /// Number of the newest one the sender has.
    pub last_known_ctl_sequence: Option<u8>,
}

impl EtsiTs102941DeltaCtlRequest {
    /// Number of the extension.
    pub const ID: u8 = 2;
}

impl<'a> Decode<'a> for EtsiTs102941DeltaCtlRequest {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut preamble = reader.preamble(false, 1)?;
        let issuer_id = reader.component("issuerId")?;
        let last_known_ctl_sequence =
            preamble.next().then(|| reader.field("lastKnownCtlSequence", Reader::u8)).transpose()?;
        Ok(Self { issuer_id, last_known_ctl_sequence })
    }
}

impl Encode for EtsiTs102941DeltaCtlRequest {
    fn encode(&self, writer: &mut Writer) {
        writer.preamble(&[self.last_known_ctl_sequence.is_some()]);
        self.issuer_id.encode(writer);
        if let Some(sequence) = self.last_known_ctl_sequence {
            writer.u8(sequence);
        }
    }
}
