//! Places and regions, IEEE 1609.2 clauses 6.3.13 to 6.3.21 and 6.4.17 to 6.4.23.

use super::UnknownAlternative;
use crate::coer::{Decode, DecodeError, Encode, Reader, Writer};

/// Latitude that stands for "unknown" `[0.1 microdegree]`.
pub const LATITUDE_UNKNOWN: i32 = 900_000_001;
/// Longitude that stands for "unknown" `[0.1 microdegree]`.
pub const LONGITUDE_UNKNOWN: i32 = 1_800_000_001;
const LATITUDE_MIN: i32 = -900_000_000;
const LONGITUDE_MIN: i32 = -1_799_999_999;

/// A place on the ground (WGS 84).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TwoDLocation {
    /// North of the equator `[0.1 microdegree]`.
    pub latitude: i32,
    /// East of Greenwich `[0.1 microdegree]`.
    pub longitude: i32,
}

impl TwoDLocation {
    /// Whether both coordinates are known.
    pub fn is_known(&self) -> bool {
        self.latitude != LATITUDE_UNKNOWN && self.longitude != LONGITUDE_UNKNOWN
    }
}

impl<'a> Decode<'a> for TwoDLocation {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            latitude: reader.field("latitude", |reader| reader.i32_in(LATITUDE_MIN, LATITUDE_UNKNOWN))?,
            longitude: reader.field("longitude", |reader| reader.i32_in(LONGITUDE_MIN, LONGITUDE_UNKNOWN))?,
        })
    }
}

impl Encode for TwoDLocation {
    fn encode(&self, writer: &mut Writer) {
        writer.i32_in("latitude", self.latitude, LATITUDE_MIN, LATITUDE_UNKNOWN);
        writer.i32_in("longitude", self.longitude, LONGITUDE_MIN, LONGITUDE_UNKNOWN);
    }
}

/// A place with its height.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreeDLocation {
    /// North of the equator `[0.1 microdegree]`.
    pub latitude: i32,
    /// East of Greenwich `[0.1 microdegree]`.
    pub longitude: i32,
    /// Height above the ellipsoid, 0 for -409.5 m `[0.1 m]`.
    pub elevation: u16,
}

impl ThreeDLocation {
    /// The place below it.
    pub fn two_d(&self) -> TwoDLocation {
        TwoDLocation { latitude: self.latitude, longitude: self.longitude }
    }
}

impl<'a> Decode<'a> for ThreeDLocation {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let TwoDLocation { latitude, longitude } = TwoDLocation::decode(reader)?;
        Ok(Self { latitude, longitude, elevation: reader.field("elevation", Reader::u16)? })
    }
}

impl Encode for ThreeDLocation {
    fn encode(&self, writer: &mut Writer) {
        self.two_d().encode(writer);
        writer.u16(self.elevation);
    }
}

/// Where a certificate is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GeographicRegion {
    /// A circle.
    Circular(CircularRegion),
    /// The union of rectangles.
    Rectangular(Vec<RectangularRegion>),
    /// A polygon of at least 3 corners, the last joined to the first.
    Polygonal(Vec<TwoDLocation>),
    /// The union of countries and parts of countries.
    Identified(Vec<IdentifiedRegion>),
    /// Something newer.
    Unknown(UnknownAlternative),
}

impl<'a> Decode<'a> for GeographicRegion {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::Circular(reader.component("circularRegion")?),
            1 => Self::Rectangular(
                reader.field("rectangularRegion", |reader| reader.list(0, RectangularRegion::decode))?,
            ),
            2 => Self::Polygonal(reader.field("polygonalRegion", |reader| reader.list(3, TwoDLocation::decode))?),
            3 => Self::Identified(reader.field("identifiedRegion", |reader| reader.list(0, IdentifiedRegion::decode))?),
            number => Self::Unknown(UnknownAlternative::decode(reader, number)?),
        })
    }
}

impl Encode for GeographicRegion {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Circular(circle) => writer.alternative(0, circle),
            Self::Rectangular(rectangles) => {
                writer.tag(1);
                writer.list("rectangularRegion", 0, rectangles, |writer, rectangle| rectangle.encode(writer));
            }
            Self::Polygonal(corners) => {
                writer.tag(2);
                writer.list("polygonalRegion", 3, corners, |writer, corner| corner.encode(writer));
            }
            Self::Identified(regions) => {
                writer.tag(3);
                writer.list("identifiedRegion", 0, regions, |writer, region| region.encode(writer));
            }
            Self::Unknown(unknown) => unknown.encode(writer),
        }
    }
}

/// A circle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CircularRegion {
    /// Its centre.
    pub center: TwoDLocation,
    /// Its radius `[m]`.
    pub radius: u16,
}

impl<'a> Decode<'a> for CircularRegion {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { center: reader.component("center")?, radius: reader.field("radius", Reader::u16)? })
    }
}

impl Encode for CircularRegion {
    fn encode(&self, writer: &mut Writer) {
        self.center.encode(writer);
        writer.u16(self.radius);
    }
}

/// A rectangle along meridians and parallels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RectangularRegion {
    /// The north-west corner.
    pub north_west: TwoDLocation,
    /// The south-east corner.
    pub south_east: TwoDLocation,
}

impl<'a> Decode<'a> for RectangularRegion {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { north_west: reader.component("northWest")?, south_east: reader.component("southEast")? })
    }
}

impl Encode for RectangularRegion {
    fn encode(&self, writer: &mut Writer) {
        self.north_west.encode(writer);
        self.south_east.encode(writer);
    }
}

/// A country or parts of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdentifiedRegion {
    /// The whole country (United Nations M49 number).
    CountryOnly(u16),
    /// Regions of a country.
    CountryAndRegions {
        /// The country.
        country: u16,
        /// Its regions.
        regions: Vec<u8>,
    },
    /// Parts of regions of a country.
    CountryAndSubregions {
        /// The country.
        country: u16,
        /// Its regions, and their parts.
        region_and_subregions: Vec<RegionAndSubregions>,
    },
    /// Something newer.
    Unknown(UnknownAlternative),
}

impl IdentifiedRegion {
    /// The country, if the alternative is known.
    pub fn country(&self) -> Option<u16> {
        match self {
            Self::CountryOnly(country)
            | Self::CountryAndRegions { country, .. }
            | Self::CountryAndSubregions { country, .. } => Some(*country),
            Self::Unknown(_) => None,
        }
    }
}

impl<'a> Decode<'a> for IdentifiedRegion {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::CountryOnly(reader.field("countryOnly", Reader::u16)?),
            1 => Self::CountryAndRegions {
                country: reader.field("countryOnly", Reader::u16)?,
                regions: reader.field("regions", |reader| reader.list(0, Reader::u8))?,
            },
            2 => Self::CountryAndSubregions {
                country: reader.field("countryOnly", Reader::u16)?,
                region_and_subregions: reader
                    .field("regionAndSubregions", |reader| reader.list(0, RegionAndSubregions::decode))?,
            },
            number => Self::Unknown(UnknownAlternative::decode(reader, number)?),
        })
    }
}

impl Encode for IdentifiedRegion {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::CountryOnly(country) => {
                writer.tag(0);
                writer.u16(*country);
            }
            Self::CountryAndRegions { country, regions } => {
                writer.tag(1);
                writer.u16(*country);
                writer.list("regions", 0, regions, |writer, region| writer.u8(*region));
            }
            Self::CountryAndSubregions { country, region_and_subregions } => {
                writer.tag(2);
                writer.u16(*country);
                writer.list("regionAndSubregions", 0, region_and_subregions, |writer, region| region.encode(writer));
            }
            Self::Unknown(unknown) => unknown.encode(writer),
        }
    }
}

/// A region and the parts of it that are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionAndSubregions {
    /// The region.
    pub region: u8,
    /// Its parts.
    pub subregions: Vec<u16>,
}

impl<'a> Decode<'a> for RegionAndSubregions {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            region: reader.field("region", Reader::u8)?,
            subregions: reader.field("subregions", |reader| reader.list(0, Reader::u16))?,
        })
    }
}

impl Encode for RegionAndSubregions {
    fn encode(&self, writer: &mut Writer) {
        writer.u8(self.region);
        writer.list("subregions", 0, &self.subregions, |writer, subregion| writer.u16(*subregion));
    }
}
