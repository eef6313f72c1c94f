//! Lists of whom to trust and whom no longer, TS 102 941 clause 6.3.

use super::subject::{later, write_later};
use crate::coer::{Decode, DecodeError, DecodeErrorKind, Encode, ExtensionAdditions, Reader, Writer};
use crate::types::{Certificate, HashedId8, Time32, UnknownAlternative};

/// Longest address read `[octet]`.
const URL_LEN_MAX: usize = 2048;

/// The only version of both lists.
const VERSION: i64 = 1;

/// Reads the version of a list, an unbounded number here.
fn version(reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    match reader.signed()? {
        VERSION => Ok(()),
        value => Err(reader.error(DecodeErrorKind::OutOfRange { value, min: VERSION, max: VERSION })),
    }
}

/// Reads an address: printable ASCII.
fn url<'a>(reader: &mut Reader<'a>) -> Result<&'a str, DecodeError> {
    let text = reader.text(URL_LEN_MAX)?;
    if text.is_ascii() { Ok(text) } else { Err(reader.error(DecodeErrorKind::Constraint("address is not ASCII"))) }
}

fn write_url(writer: &mut Writer, url: &str) {
    writer.octets_in("url", url.as_bytes(), 0, URL_LEN_MAX);
}

/// A root's list of revoked certificates of authorities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToBeSignedCrl<'a> {
    /// When it was made.
    pub this_update: Time32,
    /// When there will be another one.
    pub next_update: Time32,
    /// Who is revoked.
    pub entries: Vec<HashedId8>,
    /// Additions from later versions.
    pub extensions: ExtensionAdditions<'a>,
}

impl<'a> Decode<'a> for ToBeSignedCrl<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let preamble = reader.preamble(true, 0)?;
        reader.field("version", version)?;
        Ok(Self {
            this_update: reader.component("thisUpdate")?,
            next_update: reader.component("nextUpdate")?,
            entries: reader.field("entries", |reader| reader.list(0, HashedId8::decode))?,
            extensions: later(reader, preamble.is_extended)?,
        })
    }
}

impl Encode for ToBeSignedCrl<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.preamble(&[self.extensions.is_extended(&[])]);
        writer.signed(VERSION);
        self.this_update.encode(writer);
        self.next_update.encode(writer);
        writer.list("entries", 0, &self.entries, |writer, entry| entry.encode(writer));
        write_later(writer, &self.extensions);
    }
}

/// A trust list, or what has changed since the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CtlFormat<'a> {
    /// When there will be another one.
    pub next_update: Time32,
    /// Whether it is the whole list.
    pub is_full_ctl: bool,
    /// Number of the list; 255 is followed by 1.
    pub ctl_sequence: u8,
    /// What to do with the list before; only additions in a whole one.
    pub ctl_commands: Vec<CtlCommand<'a>>,
    /// Additions from later versions.
    pub extensions: ExtensionAdditions<'a>,
}

impl<'a> Decode<'a> for CtlFormat<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let preamble = reader.preamble(true, 0)?;
        reader.field("version", version)?;
        let next_update = reader.component("nextUpdate")?;
        let is_full_ctl = reader.field("isFullCtl", boolean)?;
        let ctl_sequence = reader.field("ctlSequence", Reader::u8)?;
        let ctl_commands: Vec<_> = reader.field("ctlCommands", |reader| reader.list(0, CtlCommand::decode))?;
        if is_full_ctl && ctl_commands.iter().any(|command| matches!(command, CtlCommand::Delete(_))) {
            return Err(reader.error(DecodeErrorKind::Constraint("a full list deletes something")));
        }
        let extensions = later(reader, preamble.is_extended)?;
        Ok(Self { next_update, is_full_ctl, ctl_sequence, ctl_commands, extensions })
    }
}

impl Encode for CtlFormat<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.preamble(&[self.extensions.is_extended(&[])]);
        writer.signed(VERSION);
        self.next_update.encode(writer);
        writer.u8(if self.is_full_ctl { 0xff } else { 0 });
        writer.u8(self.ctl_sequence);
        writer.list("ctlCommands", 0, &self.ctl_commands, |writer, command| command.encode(writer));
        write_later(writer, &self.extensions);
    }
}

/// `BOOLEAN`: 0xff or 0 are the only canonical octets.
fn boolean(reader: &mut Reader<'_>) -> Result<bool, DecodeError> {
    match reader.u8()? {
        0 => Ok(false),
        0xff => Ok(true),
        value => Err(reader.error(DecodeErrorKind::UnknownItem { value })),
    }
}

/// One change of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "most are additions")]
pub enum CtlCommand<'a> {
    /// Trust this one.
    Add(CtlEntry<'a>),
    /// No longer trust that one.
    Delete(CtlDelete<'a>),
    /// Something newer.
    Unknown(UnknownAlternative),
}

impl<'a> Decode<'a> for CtlCommand<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::Add(reader.component("add")?),
            1 => Self::Delete(reader.component("delete")?),
            number => Self::Unknown(UnknownAlternative { number, bytes: reader.octets()?.to_vec() }),
        })
    }
}

impl Encode for CtlCommand<'_> {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Add(entry) => writer.alternative(0, entry),
            Self::Delete(delete) => writer.alternative(1, delete),
            Self::Unknown(unknown) => unknown.encode(writer),
        }
    }
}

/// Somebody on a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "most hold a certificate")]
pub enum CtlEntry<'a> {
    /// A root.
    Rca(RootCaEntry<'a>),
    /// An enrolment authority.
    Ea(EaEntry<'a>),
    /// An authorization authority.
    Aa(AaEntry<'a>),
    /// A distribution centre.
    Dc(DcEntry<'a>),
    /// The trust list manager.
    Tlm(TlmEntry<'a>),
    /// Something newer.
    Unknown(UnknownAlternative),
}

impl<'a> CtlEntry<'a> {
    /// The certificate of the entry, if it has one.
    pub fn certificate(&self) -> Option<&Certificate<'a>> {
        match self {
            Self::Rca(entry) => Some(&entry.self_signed_root_ca),
            Self::Ea(entry) => Some(&entry.ea_certificate),
            Self::Aa(entry) => Some(&entry.aa_certificate),
            Self::Tlm(entry) => Some(&entry.self_signed_tlm_certificate),
            Self::Dc(_) | Self::Unknown(_) => None,
        }
    }
}

impl<'a> Decode<'a> for CtlEntry<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::Rca(reader.component("rca")?),
            1 => Self::Ea(reader.component("ea")?),
            2 => Self::Aa(reader.component("aa")?),
            3 => Self::Dc(reader.component("dc")?),
            4 => Self::Tlm(reader.component("tlm")?),
            number => Self::Unknown(UnknownAlternative { number, bytes: reader.octets()?.to_vec() }),
        })
    }
}

impl Encode for CtlEntry<'_> {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Rca(entry) => writer.alternative(0, entry),
            Self::Ea(entry) => writer.alternative(1, entry),
            Self::Aa(entry) => writer.alternative(2, entry),
            Self::Dc(entry) => writer.alternative(3, entry),
            Self::Tlm(entry) => writer.alternative(4, entry),
            Self::Unknown(unknown) => unknown.encode(writer),
        }
    }
}

/// A root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootCaEntry<'a> {
    /// Its certificate.
    pub self_signed_root_ca: Certificate<'a>,
    /// Ties it to its predecessor.
    pub successor_to: Option<Certificate<'a>>,
}

impl<'a> Decode<'a> for RootCaEntry<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut preamble = reader.preamble(false, 1)?;
        Ok(Self {
            self_signed_root_ca: reader.component("selfsignedRootCa")?,
            successor_to: reader.optional(&mut preamble, "successorTo")?,
        })
    }
}

impl Encode for RootCaEntry<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.preamble(&[self.successor_to.is_some()]);
        self.self_signed_root_ca.encode(writer);
        writer.optional(&self.successor_to);
    }
}

/// An enrolment authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EaEntry<'a> {
    /// Its certificate.
    pub ea_certificate: Certificate<'a>,
    /// Where authorization authorities ask it.
    pub aa_access_point: &'a str,
    /// Where stations ask it.
    pub its_access_point: Option<&'a str>,
}

impl<'a> Decode<'a> for EaEntry<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut preamble = reader.preamble(false, 1)?;
        Ok(Self {
            ea_certificate: reader.component("eaCertificate")?,
            aa_access_point: reader.field("aaAccessPoint", url)?,
            its_access_point: preamble.next().then(|| reader.field("itsAccessPoint", url)).transpose()?,
        })
    }
}

impl Encode for EaEntry<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.preamble(&[self.its_access_point.is_some()]);
        self.ea_certificate.encode(writer);
        write_url(writer, self.aa_access_point);
        if let Some(url) = self.its_access_point {
            write_url(writer, url);
        }
    }
}

/// An authorization authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AaEntry<'a> {
    /// Its certificate.
    pub aa_certificate: Certificate<'a>,
    /// Where stations ask it.
    pub access_point: &'a str,
}

impl<'a> Decode<'a> for AaEntry<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { aa_certificate: reader.component("aaCertificate")?, access_point: reader.field("accessPoint", url)? })
    }
}

impl Encode for AaEntry<'_> {
    fn encode(&self, writer: &mut Writer) {
        self.aa_certificate.encode(writer);
        write_url(writer, self.access_point);
    }
}

/// A distribution centre.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DcEntry<'a> {
    /// Where it is.
    pub url: &'a str,
    /// The roots whose lists it has.
    pub cert: Vec<HashedId8>,
}

impl<'a> Decode<'a> for DcEntry<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            url: reader.field("url", url)?,
            cert: reader.field("cert", |reader| reader.list(0, HashedId8::decode))?,
        })
    }
}

impl Encode for DcEntry<'_> {
    fn encode(&self, writer: &mut Writer) {
        write_url(writer, self.url);
        writer.list("cert", 0, &self.cert, |writer, id| id.encode(writer));
    }
}

/// The trust list manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlmEntry<'a> {
    /// Its certificate.
    pub self_signed_tlm_certificate: Certificate<'a>,
    /// Ties it to its predecessor.
    pub successor_to: Option<Certificate<'a>>,
    /// Where its list is.
    pub access_point: &'a str,
}

impl<'a> Decode<'a> for TlmEntry<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut preamble = reader.preamble(false, 1)?;
        Ok(Self {
            self_signed_tlm_certificate: reader.component("selfSignedTLMCertificate")?,
            successor_to: reader.optional(&mut preamble, "successorTo")?,
            access_point: reader.field("accessPoint", url)?,
        })
    }
}

impl Encode for TlmEntry<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.preamble(&[self.successor_to.is_some()]);
        self.self_signed_tlm_certificate.encode(writer);
        writer.optional(&self.successor_to);
        write_url(writer, self.access_point);
    }
}

/// Whom to forget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CtlDelete<'a> {
    /// The holder of this certificate.
    Cert(HashedId8),
    /// The distribution centre here.
    Dc(&'a str),
    /// Something newer.
    Unknown(UnknownAlternative),
}

impl<'a> Decode<'a> for CtlDelete<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::Cert(reader.component("cert")?),
            1 => Self::Dc(reader.field("dc", url)?),
            number => Self::Unknown(UnknownAlternative { number, bytes: reader.octets()?.to_vec() }),
        })
    }
}

impl Encode for CtlDelete<'_> {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Cert(id) => writer.alternative(0, id),
            Self::Dc(url) => {
                writer.tag(1);
                write_url(writer, url);
            }
            Self::Unknown(unknown) => unknown.encode(writer),
        }
    }
}
