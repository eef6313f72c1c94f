//! From a message to a frame: BTP, GeoNetworking, signature, Ethernet.

use chronoseal_wire::ethernet::{HEADER_LEN, Header, MacAddress, TypeOrLength};
use chronoseal_wire::its::geonetworking::{
    Area, BasicHeader, ExtendedHeader, GnAddress, LongPosition, NextHeader, Packet, PacketError,
};
use chronoseal_wire::its::{ETHERTYPE_GEONETWORKING, VruProfile};

use crate::security::SecurityError;
use crate::station::MessageKind;

/// What identifies a station on the air. All of it changes with the pseudonym.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Identity {
    /// StationID of its messages.
    pub station_id: u32,
    /// Address of its link layer, locally administered; its GeoNetworking address holds the same octets.
    pub link_address: [u8; 6],
}

impl Identity {
    /// One that follows from a number, for a station without certificates.
    pub const fn of_number(number: u32) -> Self {
        let [a, b, c, d] = number.to_be_bytes();
        Self { station_id: number, link_address: [2, 0, a, b, c, d] }
    }
}

/// What goes around a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope<'a> {
    pub(crate) kind: MessageKind,
    pub(crate) identity: Identity,
    /// What its sender is, if it is no vehicle.
    pub(crate) user: Option<VruProfile>,
    /// TAI since 2004-01-01 `[us]`.
    pub(crate) now_us: u64,
    /// Where the sender is `[0.1 microdegree]`.
    pub(crate) latitude: i32,
    pub(crate) longitude: i32,
    pub(crate) speed_cm_s: u16,
    /// `[0.1 degree]`
    pub(crate) heading: u16,
    /// Number of a GeoBroadcast and whom it is for.
    pub(crate) broadcast: Option<(u16, Area)>,
    pub(crate) message: &'a [u8],
}

/// Why a message could not be sent.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum SealError {
    #[error(transparent)]
    Packet(#[from] PacketError),
    #[error(transparent)]
    Security(#[from] SecurityError),
}

/// Hops a DENM may make.
const DENM_HOPS: u8 = 5;
/// Traffic class of DENMs; a CAM's is 2.
const DENM_TRAFFIC_CLASS: u8 = 1;

impl Envelope<'_> {
    /// The whole frame. `secure` appends a secured packet made of the one it is given; without it, this one goes out.
    pub(crate) fn seal(
        &self,
        secure: Option<impl FnOnce(&[u8], &mut Vec<u8>) -> Result<(), SecurityError>>,
    ) -> Result<Vec<u8>, SealError> {
        let mac = MacAddress(self.identity.link_address);
        let source = LongPosition {
            address: match self.user {
                Some(profile) => GnAddress::road_user(profile, mac.0),
                None => GnAddress::passenger_car(mac.0),
            },
            timestamp_ms: (self.now_us / 1000) as u32,
            latitude: self.latitude,
            longitude: self.longitude,
            is_accurate: true,
            speed_cm_s: self.speed_cm_s.min(16_383) as i16,
            heading: self.heading,
        };
        let packet = match self.broadcast {
            None => Packet::single_hop(source, self.kind.btp_port(), self.message),
            Some((sequence, area)) => Packet {
                traffic_class: DENM_TRAFFIC_CLASS,
                maximum_hop_limit: DENM_HOPS,
                extended: ExtendedHeader::GeoBroadcast { sequence, source, area },
                ..Packet::single_hop(source, self.kind.btp_port(), self.message)
            },
        };
        let mut inner = vec![0; packet.len()];
        packet.emit(&mut inner)?;

        let mut bytes = vec![0; HEADER_LEN + BasicHeader::LEN];
        let type_or_length = TypeOrLength::EtherType(ETHERTYPE_GEONETWORKING);
        Header { destination: MacAddress::BROADCAST, source: mac, type_or_length }.emit(&mut bytes);
        let next = if secure.is_some() { NextHeader::Secured } else { NextHeader::Common };
        BasicHeader::new(next, packet.maximum_hop_limit).emit(&mut bytes[HEADER_LEN..]);
        match secure {
            Some(secure) => secure(&inner, &mut bytes)?,
            None => bytes.extend_from_slice(&inner),
        }
        Ok(bytes)
    }

    /// Where what a DENM tells of happened, north and east `[0.1 microdegree]`.
    pub(crate) fn event(&self) -> Option<(i32, i32)> {
        self.broadcast.map(|(_, area)| (area.latitude, area.longitude))
    }
}
