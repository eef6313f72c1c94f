//! Who may send what, and issue certificates for what: IEEE 1609.2 clauses 6.4.24 to 6.4.35.

use super::UnknownAlternative;
use crate::coer::{Decode, DecodeError, DecodeErrorKind, DeviationKind, Encode, Reader, Writer};

/// Number of an application area, IEEE 1609.12; ETSI calls it ITS-AID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Psid(pub u64);

impl Psid {
    /// Cooperative awareness (CAM), ETSI TS 102 965.
    pub const CAM: Self = Self(36);
    /// Decentralised environmental notification (DENM).
    pub const DENM: Self = Self(37);
    /// Misbehaviour reports (the registry of IEEE 1609.12).
    pub const MISBEHAVIOUR: Self = Self(38);
    /// Certificate revocation list, TS 102 965.
    pub const CRL: Self = Self(622);
    /// Secure certificate request: messages to the authorities, TS 102 965.
    pub const CERTIFICATE_REQUEST: Self = Self(623);
    /// Certificate trust list.
    pub const CTL: Self = Self(624);
    /// Vulnerable road users (VAM).
    pub const VAM: Self = Self(638);
    /// Collective perception (CPM).
    pub const CPM: Self = Self(639);
    /// GeoNetworking management.
    pub const GN_MANAGEMENT: Self = Self(141);
}

impl<'a> Decode<'a> for Psid {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.unsigned().map(Self)
    }
}

impl Encode for Psid {
    fn encode(&self, writer: &mut Writer) {
        writer.unsigned(self.0);
    }
}

/// An application area and what may be sent in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PsidSsp<'a> {
    /// The area.
    pub psid: Psid,
    /// The permissions in it.
    pub ssp: Option<ServiceSpecificPermissions<'a>>,
}

impl<'a> Decode<'a> for PsidSsp<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut preamble = reader.preamble(false, 1)?;
        Ok(Self { psid: reader.component("psid")?, ssp: reader.optional(&mut preamble, "ssp")? })
    }
}

impl Encode for PsidSsp<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.preamble(&[self.ssp.is_some()]);
        self.psid.encode(writer);
        writer.optional(&self.ssp);
    }
}

/// What may be sent in an application area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceSpecificPermissions<'a> {
    /// Bytes that only the application understands.
    Opaque(&'a [u8]),
    /// One bit a permission; at most 31 octets, the first of which is the version in ETSI's use.
    Bitmap(&'a [u8]),
    /// Something newer.
    Unknown(UnknownAlternative),
}

impl<'a> Decode<'a> for ServiceSpecificPermissions<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::Opaque(reader.field("opaque", Reader::octets)?),
            1 => Self::Bitmap(reader.open_type(|reader| reader.field("bitmapSsp", |reader| reader.octets_in(0, 31)))?),
            number => Self::Unknown(UnknownAlternative::decode(reader, number)?),
        })
    }
}

impl Encode for ServiceSpecificPermissions<'_> {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Opaque(octets) => {
                writer.tag(0);
                writer.octets(octets);
            }
            Self::Bitmap(octets) => {
                writer.tag(1);
                writer.open_type(|writer| writer.octets_in("bitmapSsp", octets, 0, 31));
            }
            Self::Unknown(unknown) => unknown.encode(writer),
        }
    }
}

/// An application area and the permissions in it that may be handed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PsidSspRange<'a> {
    /// The area.
    pub psid: Psid,
    /// The permissions.
    pub ssp_range: Option<SspRange<'a>>,
}

impl<'a> Decode<'a> for PsidSspRange<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut preamble = reader.preamble(false, 1)?;
        Ok(Self { psid: reader.component("psid")?, ssp_range: reader.optional(&mut preamble, "sspRange")? })
    }
}

impl Encode for PsidSspRange<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.preamble(&[self.ssp_range.is_some()]);
        self.psid.encode(writer);
        writer.optional(&self.ssp_range);
    }
}

/// A set of permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SspRange<'a> {
    /// Exactly these.
    Opaque(Vec<&'a [u8]>),
    /// Any.
    All,
    /// Any bitmap that equals `value` where `bitmask` is 1.
    Bitmap(BitmapSspRange<'a>),
    /// Something newer.
    Unknown(UnknownAlternative),
}

impl<'a> Decode<'a> for SspRange<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::Opaque(reader.field("opaque", |reader| reader.list(0, Reader::octets))?),
            1 => Self::All,
            2 => Self::Bitmap(reader.open_type(|reader| reader.component("bitmapSspRange"))?),
            number => Self::Unknown(UnknownAlternative::decode(reader, number)?),
        })
    }
}

impl Encode for SspRange<'_> {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Opaque(list) => {
                writer.tag(0);
                writer.list("opaque", 0, list, |writer, octets| writer.octets(octets));
            }
            Self::All => writer.tag(1),
            Self::Bitmap(range) => writer.extension_alternative(2, range),
            Self::Unknown(unknown) => unknown.encode(writer),
        }
    }
}

/// Bitmaps that agree with `ssp_value` where `ssp_bitmask` is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitmapSspRange<'a> {
    /// The pattern, 1 to 32 octets.
    pub ssp_value: &'a [u8],
    /// Where it counts, 1 to 32 octets.
    pub ssp_bitmask: &'a [u8],
}

impl<'a> Decode<'a> for BitmapSspRange<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            ssp_value: reader.field("sspValue", |reader| reader.octets_in(1, 32))?,
            ssp_bitmask: reader.field("sspBitmask", |reader| reader.octets_in(1, 32))?,
        })
    }
}

impl Encode for BitmapSspRange<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.octets_in("sspValue", self.ssp_value, 1, 32);
        writer.octets_in("sspBitmask", self.ssp_bitmask, 1, 32);
    }
}

/// What kinds of end entities a certificate may be issued for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndEntityType(pub u8);

impl EndEntityType {
    /// Those that send application messages: the default.
    pub const APP: Self = Self(0x80);
    /// Those that request certificates.
    pub const ENROLL: Self = Self(0x40);
    /// Both.
    pub const APP_AND_ENROLL: Self = Self(0xc0);
}

/// What a certificate may issue, or request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PsidGroupPermissions<'a> {
    /// For which areas.
    pub subject_permissions: SubjectPermissions<'a>,
    /// Least number of certificates below this one, the end entity's counted; 1 by default.
    pub min_chain_length: i64,
    /// By how many a chain may be longer; any number if -1; 0 by default.
    pub chain_length_range: i64,
    /// For whom; applications by default.
    pub ee_type: EndEntityType,
}

impl<'a> PsidGroupPermissions<'a> {
    /// For end entities of the default kind, directly below.
    pub fn new(subject_permissions: SubjectPermissions<'a>) -> Self {
        Self { subject_permissions, min_chain_length: 1, chain_length_range: 0, ee_type: EndEntityType::APP }
    }
}

impl<'a> Decode<'a> for PsidGroupPermissions<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut preamble = reader.preamble(false, 3)?;
        let mut permissions = Self::new(reader.component("subjectPermissions")?);
        if preamble.next() {
            permissions.min_chain_length = with_default(reader, "minChainLength", &1, Reader::signed)?;
        }
        if preamble.next() {
            permissions.chain_length_range = with_default(reader, "chainLengthRange", &0, Reader::signed)?;
        }
        if preamble.next() {
            permissions.ee_type =
                with_default(reader, "eeType", &EndEntityType::APP, |reader| reader.u8().map(EndEntityType))?;
            if permissions.ee_type.0 == 0 {
                return Err(reader.error(DecodeErrorKind::Constraint("eeType names no kind of end entity")));
            }
        }
        Ok(permissions)
    }
}

/// A component that is there although it may be left out: canonical only if it differs from the default.
fn with_default<'a, T: PartialEq>(
    reader: &mut Reader<'a>,
    name: &'static str,
    default: &T,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    reader.field(name, |reader| {
        let start = reader.position();
        let value = read(reader)?;
        if value == *default {
            reader.deviation_at(start, DeviationKind::DefaultEncoded)?;
        }
        Ok(value)
    })
}

impl Encode for PsidGroupPermissions<'_> {
    fn encode(&self, writer: &mut Writer) {
        let has_min = self.min_chain_length != 1;
        let has_range = self.chain_length_range != 0;
        let has_type = self.ee_type != EndEntityType::APP;
        writer.preamble(&[has_min, has_range, has_type]);
        self.subject_permissions.encode(writer);
        if has_min {
            writer.signed(self.min_chain_length);
        }
        if has_range {
            writer.signed(self.chain_length_range);
        }
        if has_type {
            writer.u8(self.ee_type.0);
        }
    }
}

/// Areas and permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubjectPermissions<'a> {
    /// These.
    Explicit(Vec<PsidSspRange<'a>>),
    /// All.
    All,
    /// Something newer.
    Unknown(UnknownAlternative),
}

impl<'a> Decode<'a> for SubjectPermissions<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::Explicit(reader.field("explicit", |reader| reader.list(0, PsidSspRange::decode))?),
            1 => Self::All,
            number => Self::Unknown(UnknownAlternative::decode(reader, number)?),
        })
    }
}

impl Encode for SubjectPermissions<'_> {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Explicit(ranges) => {
                writer.tag(0);
                writer.list("explicit", 0, ranges, |writer, range| range.encode(writer));
            }
            Self::All => writer.tag(1),
            Self::Unknown(unknown) => unknown.encode(writer),
        }
    }
}
