//! GeoNetworking headers (ETSI EN 302 636-4-1 V1.4.1) with BTP-B behind them (EN 302 636-5-1 V2.2.1).

use chronoseal_core::DiscardReason;

use super::VruProfile;
use crate::field;

/// protocol version of the GN headers.
const VERSION: u8 = 1;

/// What stands behind the basic header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextHeader {
    /// A common header, not secured.
    Common,
    /// An Ieee1609Dot2Data that holds the common header and all behind it.
    Secured,
}

/// The header that routers change and nobody signs: 4 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BasicHeader {
    /// What follows.
    pub next: NextHeader,
    /// Lifetime as on the wire: multiplier in six bits, base in two (50 ms, 1 s, 10 s, 100 s).
    pub lifetime: u8,
    /// Hops left.
    pub remaining_hop_limit: u8,
}

/// Why bytes are no packet of GeoNetworking that is known here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PacketError {
    /// Cut off, or a buffer too short to write to.
    #[error("{len} bytes do not hold {field}")]
    TooShort {
        /// Which header.
        field: &'static str,
        /// What there is `[byte]`.
        len: usize,
    },
    /// Another version.
    #[error("version {0} of GeoNetworking; 1 is known")]
    Version(u8),
    /// A next header, header type or subtype that is not known here.
    #[error("{field} {value} is not known here")]
    Unknown {
        /// Which field.
        field: &'static str,
        /// Its value.
        value: u8,
    },
    /// The payload length of the common header does not fit.
    #[error("a payload of {said} bytes is announced, {found} are there")]
    PayloadLen {
        /// By the common header `[byte]`.
        said: usize,
        /// Behind the headers `[byte]`.
        found: usize,
    },
}

impl From<PacketError> for DiscardReason {
    fn from(error: PacketError) -> Self {
        match error {
            PacketError::TooShort { .. } => Self::TooShort,
            PacketError::Version(_) | PacketError::Unknown { .. } => Self::UnsupportedFormat,
            PacketError::PayloadLen { .. } => Self::Malformed,
        }
    }
}

/// 1 s: multiplier 1, base 1.
const LIFETIME_1_S: u8 = 1 << 2 | 1;

impl BasicHeader {
    /// Length on the air `[byte]`.
    pub const LEN: usize = 4;

    /// A lifetime of 1 s.
    pub const fn new(next: NextHeader, remaining_hop_limit: u8) -> Self {
        Self { next, lifetime: LIFETIME_1_S, remaining_hop_limit }
    }

    /// Reads the header at the front of `bytes`.
    ///
    /// # Errors
    /// [`PacketError`] if it is cut off or of another version, or if what follows is not known.
    pub fn parse(bytes: &[u8]) -> Result<Self, PacketError> {
        let [first, _reserved, lifetime, remaining_hop_limit] = take(bytes, 0, "the basic header")?;
        if first >> 4 != VERSION {
            return Err(PacketError::Version(first >> 4));
        }
        let next = match first & 0xf {
            1 => NextHeader::Common,
            2 => NextHeader::Secured,
            value => return Err(PacketError::Unknown { field: "next header", value }),
        };
        Ok(Self { next, lifetime, remaining_hop_limit })
    }

    /// Writes the header to the front of `buf`.
    ///
    /// # Panics
    /// If `buf` is shorter than [`Self::LEN`].
    pub fn emit(&self, buf: &mut [u8]) {
        let next = match self.next {
            NextHeader::Common => 1,
            NextHeader::Secured => 2,
        };
        buf[..Self::LEN].copy_from_slice(&[VERSION << 4 | next, 0, self.lifetime, self.remaining_hop_limit]);
    }
}

/// GN_ADDR: a station's address. It changes with the pseudonym.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct GnAddress(pub [u8; 8]);

impl GnAddress {
    /// A passenger car's, from the address of its link layer.
    pub const fn passenger_car(mac: [u8; 6]) -> Self {
        let [a, b, c, d, e, f] = mac;
        // M = 0, automatic; ST = 5 in the next five bits.
        Self([5 << 2, 0, a, b, c, d, e, f])
    }

    /// A vulnerable road user's, from the address of its link layer.
    pub const fn road_user(profile: VruProfile, mac: [u8; 6]) -> Self {
        let [a, b, c, d, e, f] = mac;
        Self([profile.station_type() << 2, 0, a, b, c, d, e, f])
    }
}

/// Long position vector: 24 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LongPosition {
    /// Whose.
    pub address: GnAddress,
    /// When it was there: TAI since 2004-01-01, modulo 2^32 `[ms]`.
    pub timestamp_ms: u32,
    /// North `[0.1 microdegree]`.
    pub latitude: i32,
    /// East `[0.1 microdegree]`.
    pub longitude: i32,
    /// PAI: true if the place is accurate.
    pub is_accurate: bool,
    /// Speed `[cm/s]`; 15 bits with their sign.
    pub speed_cm_s: i16,
    /// From north, clockwise `[0.1 degree]`.
    pub heading: u16,
}

impl LongPosition {
    const LEN: usize = 24;

    fn parse(bytes: &[u8; Self::LEN]) -> Self {
        let at = |offset| field::read(bytes, offset).unwrap_or_default();
        let speed = u16::from_be_bytes([bytes[20], bytes[21]]);
        Self {
            address: GnAddress(field::read(bytes, 0).unwrap_or_default()),
            timestamp_ms: u32::from_be_bytes(at(8)),
            latitude: i32::from_be_bytes(at(12)),
            longitude: i32::from_be_bytes(at(16)),
            is_accurate: speed >> 15 == 1,
            // The sign is the highest of 15 bits.
            speed_cm_s: ((speed << 1) as i16) >> 1,
            heading: u16::from_be_bytes([bytes[22], bytes[23]]),
        }
    }

    fn emit(&self, buf: &mut [u8]) {
        buf[..8].copy_from_slice(&self.address.0);
        buf[8..12].copy_from_slice(&self.timestamp_ms.to_be_bytes());
        buf[12..16].copy_from_slice(&self.latitude.to_be_bytes());
        buf[16..20].copy_from_slice(&self.longitude.to_be_bytes());
        let speed = u16::from(self.is_accurate) << 15 | self.speed_cm_s as u16 & 0x7fff;
        buf[20..22].copy_from_slice(&speed.to_be_bytes());
        buf[22..24].copy_from_slice(&self.heading.to_be_bytes());
    }
}

/// Whom a GeoBroadcast is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Area {
    /// Shape: 0 circle, 1 rectangle, 2 ellipse; the header's subtype.
    pub shape: u8,
    /// North, of the centre `[0.1 microdegree]`.
    pub latitude: i32,
    /// East, of the centre `[0.1 microdegree]`.
    pub longitude: i32,
    /// Radius, or half of the longer side or axis `[m]`.
    pub distance_a_m: u16,
    /// 0 for a circle, or half of the shorter side or axis `[m]`.
    pub distance_b_m: u16,
    /// Of the longer side or axis, from north `[degree]`.
    pub angle_deg: u16,
}

/// How a packet travels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExtendedHeader {
    /// To whoever hears it: topologically scoped broadcast of a single hop, 28 bytes.
    SingleHop {
        /// From whom.
        source: LongPosition,
        /// Media dependent data: congestion control's.
        media: [u8; 4],
    },
    /// To all within an area, 44 bytes.
    GeoBroadcast {
        /// Number of the packet at its source.
        sequence: u16,
        /// From whom.
        source: LongPosition,
        /// To where.
        area: Area,
    },
}

/// What stands behind the basic header, and what a station signs: common and extended header, BTP-B and a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// Traffic class as on the wire: 2 is the one of CAMs, 0 the one of urgent DENMs.
    pub traffic_class: u8,
    /// True if the source can move.
    pub is_mobile: bool,
    /// Hops a packet may make.
    pub maximum_hop_limit: u8,
    /// How it travels.
    pub extended: ExtendedHeader,
    /// BTP-B destination port: what the message is.
    pub destination_port: u16,
    /// BTP-B destination port info.
    pub destination_port_info: u16,
    /// The message.
    pub message: &'a [u8],
}

const NEXT_BTP_B: u8 = 2;
const TYPE_GEO_BROADCAST: u8 = 4;
const TYPE_SCOPED_BROADCAST: u8 = 5;
const COMMON_LEN: usize = 8;
const SINGLE_HOP_LEN: usize = LongPosition::LEN + 4;
const GEO_BROADCAST_LEN: usize = 4 + LongPosition::LEN + 16;
const BTP_LEN: usize = 4;
const MOBILE: u8 = 0x80;

impl<'a> Packet<'a> {
    /// A single-hop broadcast of a CAM's traffic class.
    pub const fn single_hop(source: LongPosition, destination_port: u16, message: &'a [u8]) -> Self {
        Self {
            traffic_class: 2,
            is_mobile: true,
            maximum_hop_limit: 1,
            extended: ExtendedHeader::SingleHop { source, media: [0; 4] },
            destination_port,
            destination_port_info: 0,
            message,
        }
    }

    /// Length on the air, without the basic header `[byte]`.
    pub const fn len(&self) -> usize {
        let extended = match self.extended {
            ExtendedHeader::SingleHop { .. } => SINGLE_HOP_LEN,
            ExtendedHeader::GeoBroadcast { .. } => GEO_BROADCAST_LEN,
        };
        COMMON_LEN + extended + BTP_LEN + self.message.len()
    }

    /// Never: headers always take bytes.
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// Writes the packet to the front of `buf`; returns its length `[byte]`.
    ///
    /// # Errors
    /// [`PacketError`] if `buf` or the field of the payload's length is too short.
    pub fn emit(&self, buf: &mut [u8]) -> Result<usize, PacketError> {
        let (len, available) = (self.len(), buf.len());
        let buf = buf.get_mut(..len).ok_or(PacketError::TooShort { field: "the packet", len: available })?;
        let found = BTP_LEN + self.message.len();
        let payload_len = u16::try_from(found).map_err(|_| PacketError::PayloadLen { said: u16::MAX.into(), found })?;
        let (kind, subtype) = match self.extended {
            ExtendedHeader::SingleHop { .. } => (TYPE_SCOPED_BROADCAST, 0),
            ExtendedHeader::GeoBroadcast { area, .. } => (TYPE_GEO_BROADCAST, area.shape),
        };
        let flags = if self.is_mobile { MOBILE } else { 0 };
        buf[..4].copy_from_slice(&[NEXT_BTP_B << 4, kind << 4 | subtype & 0xf, self.traffic_class, flags]);
        buf[4..6].copy_from_slice(&payload_len.to_be_bytes());
        buf[6..COMMON_LEN].copy_from_slice(&[self.maximum_hop_limit, 0]);
        let rest = &mut buf[COMMON_LEN..];
        let extended_len = match &self.extended {
            ExtendedHeader::SingleHop { source, media } => {
                source.emit(rest);
                rest[LongPosition::LEN..SINGLE_HOP_LEN].copy_from_slice(media);
                SINGLE_HOP_LEN
            }
            ExtendedHeader::GeoBroadcast { sequence, source, area } => {
                rest[..2].copy_from_slice(&sequence.to_be_bytes());
                rest[2..4].fill(0);
                source.emit(&mut rest[4..]);
                area.emit(&mut rest[4 + LongPosition::LEN..GEO_BROADCAST_LEN]);
                GEO_BROADCAST_LEN
            }
        };
        let rest = &mut rest[extended_len..];
        rest[..2].copy_from_slice(&self.destination_port.to_be_bytes());
        rest[2..BTP_LEN].copy_from_slice(&self.destination_port_info.to_be_bytes());
        rest[BTP_LEN..].copy_from_slice(self.message);
        Ok(len)
    }

    /// Reads what stands behind the basic header.
    ///
    /// # Errors
    /// [`PacketError`] if it is cut off, contradicts its own length, or is of a kind not known here.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, PacketError> {
        let [next, kind, traffic_class, flags, len_0, len_1, maximum_hop_limit, _reserved] =
            take(bytes, 0, "the common header")?;
        if next >> 4 != NEXT_BTP_B {
            return Err(PacketError::Unknown { field: "next header", value: next >> 4 });
        }
        let (extended, extended_len) = match (kind >> 4, kind & 0xf) {
            (TYPE_SCOPED_BROADCAST, 0) => {
                let source = LongPosition::parse(&take(bytes, COMMON_LEN, "the single-hop header")?);
                let media = take(bytes, COMMON_LEN + LongPosition::LEN, "the single-hop header")?;
                (ExtendedHeader::SingleHop { source, media }, SINGLE_HOP_LEN)
            }
            (TYPE_GEO_BROADCAST, shape @ 0..=2) => {
                let sequence = u16::from_be_bytes(take(bytes, COMMON_LEN, "the GeoBroadcast header")?);
                let source = LongPosition::parse(&take(bytes, COMMON_LEN + 4, "the GeoBroadcast header")?);
                let area = take(bytes, COMMON_LEN + 4 + LongPosition::LEN, "the GeoBroadcast header")?;
                let area = Area::parse(shape, &area);
                (ExtendedHeader::GeoBroadcast { sequence, source, area }, GEO_BROADCAST_LEN)
            }
            (TYPE_SCOPED_BROADCAST | TYPE_GEO_BROADCAST, value) => {
                return Err(PacketError::Unknown { field: "header subtype", value });
            }
            (value, _) => return Err(PacketError::Unknown { field: "header type", value }),
        };
        let payload = &bytes[COMMON_LEN + extended_len..];
        let said = usize::from(u16::from_be_bytes([len_0, len_1]));
        if said != payload.len() {
            return Err(PacketError::PayloadLen { said, found: payload.len() });
        }
        let [port_0, port_1, info_0, info_1] = take(payload, 0, "the BTP header")?;
        Ok(Self {
            traffic_class,
            is_mobile: flags & MOBILE != 0,
            maximum_hop_limit,
            extended,
            destination_port: u16::from_be_bytes([port_0, port_1]),
            destination_port_info: u16::from_be_bytes([info_0, info_1]),
            message: &payload[BTP_LEN..],
        })
    }

    /// From whom.
    pub const fn source(&self) -> &LongPosition {
        match &self.extended {
            ExtendedHeader::SingleHop { source, .. } | ExtendedHeader::GeoBroadcast { source, .. } => source,
        }
    }
}

impl Area {
    fn parse(shape: u8, bytes: &[u8; 16]) -> Self {
        let at = |offset| field::read(bytes, offset).unwrap_or_default();
        let short = |offset: usize| u16::from_be_bytes([bytes[offset], bytes[offset + 1]]);
        Self {
            shape,
            latitude: i32::from_be_bytes(at(0)),
            longitude: i32::from_be_bytes(at(4)),
            distance_a_m: short(8),
            distance_b_m: short(10),
            angle_deg: short(12),
        }
    }

    fn emit(&self, buf: &mut [u8]) {
        buf[..4].copy_from_slice(&self.latitude.to_be_bytes());
        buf[4..8].copy_from_slice(&self.longitude.to_be_bytes());
        buf[8..10].copy_from_slice(&self.distance_a_m.to_be_bytes());
        buf[10..12].copy_from_slice(&self.distance_b_m.to_be_bytes());
        buf[12..14].copy_from_slice(&self.angle_deg.to_be_bytes());
        buf[14..16].fill(0);
    }
}

fn take<const N: usize>(bytes: &[u8], offset: usize, field: &'static str) -> Result<[u8; N], PacketError> {
    field::read(bytes, offset).ok_or(PacketError::TooShort { field, len: bytes.len() })
}
