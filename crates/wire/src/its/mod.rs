//! Messages of cooperative ITS, without their security: GeoNetworking and BTP headers, CAM, DENM, CPM and VAM.
//!
//! ```text
//! basic header | common header | SHB or GBC header | BTP-B | CAM or DENM      NH = 1, not secured
//! basic header | Ieee1609Dot2Data( common header | … | CAM or DENM )          NH = 2, secured
//! ```
//! [`geonetworking::Packet`] writes and reads what stands behind the basic header, which is what a station signs.
//!
//! ```
//! use chronoseal_wire::its::geonetworking::{BasicHeader, ExtendedHeader, GnAddress, LongPosition, NextHeader, Packet};
//! use chronoseal_wire::its::{Cam, BTP_PORT_CAM, ReferencePosition};
//!
//! let position = ReferencePosition::at(487_758_459, 91_829_321);
//! let cam = Cam { station_id: 7, position, speed_cm_s: 3_300, ..Cam::default() };
//! let mut message = [0; Cam::LEN_MAX];
//! let len = cam.emit(&mut message)?;
//!
//! let source = LongPosition { address: GnAddress::passenger_car([2, 0, 0, 0, 0, 7]), ..LongPosition::default() };
//! let packet = Packet::single_hop(source, BTP_PORT_CAM, &message[..len]);
//! let mut bytes = [0; 256];
//! BasicHeader::new(NextHeader::Common, 1).emit(&mut bytes);
//! let len = BasicHeader::LEN + packet.emit(&mut bytes[BasicHeader::LEN..])?;
//!
//! let packet = Packet::parse(&bytes[BasicHeader::LEN..len])?;
//! assert_eq!(Cam::parse(packet.message)?, cam);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cam;
mod cpm;
mod denm;
pub mod geonetworking;
mod perceived;
mod position;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_perception;
mod uper;
mod vam;
mod vru;

pub use cam::{Cam, LowFrequency};
pub use cpm::{Cpm, CpmOrigin, List, Perceived, Sensor};
pub use denm::{Denm, Situation};
pub use perceived::{Estimate, ObjectClass, PerceivedObject};
pub use position::{PathHistory, PathPoint, ReferencePosition};
pub use uper::UperError;
pub use vam::{Vam, VruLowFrequency};
pub use vru::VruProfile;

/// EtherType of GeoNetworking (EN 302 636-4-1, annex; IEEE registration 0x8947).
pub const ETHERTYPE_GEONETWORKING: u16 = 0x8947;
/// BTP port of CAMs (ETSI TS 103 248).
pub const BTP_PORT_CAM: u16 = 2001;
/// BTP port of DENMs (ETSI TS 103 248).
pub const BTP_PORT_DENM: u16 = 2002;
/// BTP port of CPMs (ETSI TS 103 248).
pub const BTP_PORT_CPM: u16 = 2009;
/// BTP port of VAMs (ETSI TS 103 248).
pub const BTP_PORT_VAM: u16 = 2018;
