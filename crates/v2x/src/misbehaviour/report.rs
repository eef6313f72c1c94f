//! Reports byte by byte: `EtsiTs103759Data` and what is in it, in COER.

use super::CamObservation;
use crate::coer::{Decode, DecodeError, DecodeErrorKind, Encode, ExtensionAdditions, Reader, Writer};
use crate::types::{Certificate, Ieee1609Dot2Data, Psid, ThreeDLocation, Time64};

/// The version of the protocol: that of TS 103 759 V2.2.1.
pub const VERSION: u8 = 3;
/// Most messages of a stream of evidence.
pub const EVIDENCE_MAX: usize = 255;

/// What travels to a misbehaviour authority: `EtsiTs103759Data`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MisbehaviourData<'a> {
    /// The report, in one of three wrappings.
    pub content: MisbehaviourContent<'a>,
}

/// A report as it is, signed, or signed and then encrypted: `EtsiTs103759MbrSec`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "one of them lives at a time")]
pub enum MisbehaviourContent<'a> {
    /// As it is.
    Plaintext(MisbehaviourReport<'a>),
    /// Signed.
    Signed(Ieee1609Dot2Data<'a>),
    /// Signed, then encrypted.
    SignedThenEncrypted(Ieee1609Dot2Data<'a>),
}

impl<'a> Decode<'a> for MisbehaviourData<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.field("version", |reader| match reader.u8()? {
            VERSION => Ok(()),
            value => {
                let expected = i64::from(VERSION);
                Err(reader.error(DecodeErrorKind::OutOfRange { value: value.into(), min: expected, max: expected }))
            }
        })?;
        let content = reader.field("content", |reader| {
            Ok(match reader.tag()? {
                0 => MisbehaviourContent::Plaintext(reader.component("plaintext")?),
                1 => MisbehaviourContent::Signed(reader.component("signed")?),
                2 => MisbehaviourContent::SignedThenEncrypted(reader.component("sTE")?),
                number => return Err(reader.unknown_alternative(number)),
            })
        })?;
        Ok(Self { content })
    }
}

impl Encode for MisbehaviourData<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.u8(VERSION);
        match &self.content {
            MisbehaviourContent::Plaintext(report) => writer.alternative(0, report),
            MisbehaviourContent::Signed(data) => writer.alternative(1, data),
            MisbehaviourContent::SignedThenEncrypted(data) => writer.alternative(2, data),
        }
    }
}

/// What was seen, when and where: `EtsiTs103759Mbr`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MisbehaviourReport<'a> {
    /// When the report was made.
    pub generation_time: Time64,
    /// Where the reporter was.
    pub observation_location: ThreeDLocation,
    /// The application whose messages it is about.
    pub aid: Psid,
    /// What was seen.
    pub content: ReportContent<'a>,
}

/// What is said of the messages of an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportContent<'a> {
    /// Of CAMs: `AsrCam`.
    Cam(Observed<'a>),
    /// Of another application, as it came.
    Other(&'a [u8]),
}

impl<'a> Decode<'a> for MisbehaviourReport<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let generation_time = reader.component("generationTime")?;
        let observation_location = reader.component("observationLocation")?;
        let (aid, content) = reader.field("report", |reader| {
            let aid = reader.component("aid")?;
            let content = reader.field("content", |reader| match aid {
                Psid::CAM => reader.open_type(Observed::decode).map(ReportContent::Cam),
                _ => reader.octets().map(ReportContent::Other),
            })?;
            Ok((aid, content))
        })?;
        Ok(Self { generation_time, observation_location, aid, content })
    }
}

impl Encode for MisbehaviourReport<'_> {
    fn encode(&self, writer: &mut Writer) {
        self.generation_time.encode(writer);
        self.observation_location.encode(writer);
        self.aid.encode(writer);
        match &self.content {
            ReportContent::Cam(observed) => writer.open_type(|writer| observed.encode(writer)),
            ReportContent::Other(octets) => writer.octets(octets),
        }
    }
}

/// Observations with the messages that show them: `TemplateAsr`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed<'a> {
    /// By what they are about, at least one.
    pub observations: Vec<ObservationsByTarget<'a>>,
    /// The messages, at least one stream of them.
    pub evidence: Vec<PduStream<'a>>,
    /// Number and contents of evidence that is no message.
    pub other_evidence: Vec<(u8, &'a [u8])>,
}

impl<'a> Decode<'a> for Observed<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            observations: reader.field("observations", |reader| reader.list(1, ObservationsByTarget::decode))?,
            evidence: reader.field("v2xPduEvidence", |reader| reader.list(1, PduStream::decode))?,
            other_evidence: reader.field("nonV2xPduEvidence", |reader| {
                reader
                    .list(0, |reader| Ok((reader.field("id", Reader::u8)?, reader.field("evidence", Reader::octets)?)))
            })?,
        })
    }
}

impl Encode for Observed<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.list("observations", 1, &self.observations, |writer, one| one.encode(writer));
        writer.list("v2xPduEvidence", 1, &self.evidence, |writer, one| one.encode(writer));
        writer.list("nonV2xPduEvidence", 0, &self.other_evidence, |writer, (id, evidence)| {
            writer.u8(*id);
            writer.octets(evidence);
        });
    }
}

/// What was observed of one property, such as the position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservationsByTarget<'a> {
    /// The property's number; see [`CamObservation::target`].
    pub target: u8,
    /// Number of each observation, see [`CamObservation::id`], and what is said of it: mostly nothing.
    pub observations: Vec<(u8, &'a [u8])>,
}

impl ObservationsByTarget<'_> {
    /// Those that are known here.
    pub fn known(&self) -> impl Iterator<Item = CamObservation> {
        self.observations.iter().filter_map(|(id, _)| CamObservation::from_numbers(self.target, *id))
    }
}

impl<'a> Decode<'a> for ObservationsByTarget<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let target = reader.field("tgtId", Reader::u8)?;
        let observations = reader.field("observations", |reader| {
            reader.list(0, |reader| {
                reader
                    .open_type(|reader| Ok((reader.field("obsId", Reader::u8)?, reader.field("obs", Reader::octets)?)))
            })
        })?;
        Ok(Self { target, observations })
    }
}

impl Encode for ObservationsByTarget<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.u8(self.target);
        writer.list("observations", 0, &self.observations, |writer, (id, observation)| {
            writer.open_type(|writer| {
                writer.u8(*id);
                writer.octets(observation);
            });
        });
    }
}

/// Messages of one sender, in the order they were received: `V2xPduStream`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PduStream<'a> {
    /// What they are; [`PduStream::SIGNED`] is known here.
    pub kind: u8,
    /// As they were received, at most [`EVIDENCE_MAX`].
    pub pdus: Vec<&'a [u8]>,
    /// The sender's certificate, if the messages name it by its identifier alone.
    pub certificate: Option<Certificate<'a>>,
    /// Which of the messages the observations are about, counted from 0.
    pub subject_index: u8,
    /// Additions from later versions.
    pub extensions: ExtensionAdditions<'a>,
}

impl PduStream<'_> {
    /// `Ieee1609Dot2Data`, signed.
    pub const SIGNED: u8 = 2;
}

impl<'a> Decode<'a> for PduStream<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut preamble = reader.preamble(true, 1)?;
        let kind = reader.field("type", Reader::u8)?;
        let pdus = reader.field("v2xPdus", |reader| reader.list(1, Reader::octets))?;
        if pdus.len() > EVIDENCE_MAX {
            return Err(reader.error(DecodeErrorKind::TooManyElements { elements_max: EVIDENCE_MAX }));
        }
        let certificate = reader.optional(&mut preamble, "certificate")?;
        let subject_index = reader.field("subjectPduIndex", Reader::u8)?;
        let extensions = match preamble.is_extended {
            true => ExtensionAdditions::decode(reader, 0, |_, _| Ok(()))?,
            false => ExtensionAdditions::default(),
        };
        Ok(Self { kind, pdus, certificate, subject_index, extensions })
    }
}

impl Encode for PduStream<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.preamble(&[self.extensions.is_extended(&[]), self.certificate.is_some()]);
        writer.u8(self.kind);
        writer.check_size("v2xPdus", self.pdus.len(), 1, EVIDENCE_MAX);
        writer.list("v2xPdus", 1, &self.pdus, |writer, pdu| writer.octets(pdu));
        writer.optional(&self.certificate);
        writer.u8(self.subject_index);
        self.extensions.encode(writer, &[], |_, _| ());
    }
}
