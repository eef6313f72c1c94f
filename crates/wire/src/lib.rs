//! Frame formats: what the bytes on a time-triggered Ethernet, on a CAN bus and between vehicles mean.
//!
//! This crate does no I/O, allocates nothing, keeps no state, knows no schedule and checks no authentication tag. Every
//! format comes as a pair: a reader that refuses bytes it cannot vouch for, and an `emit` that writes what the reader
//! accepts. Readers never panic, whatever the bytes; every refusal converts into a
//! [`DiscardReason`](chronoseal_core::DiscardReason), so that a receiver can count it.
//!
//! The types that matter: [`ethernet::Frame`], a checked view of a frame,
//! [`protocol_control_frame::ProtocolControlFrame`], the synchronisation message of SAE AS6802, [`gptp::Message`], those of
//! IEEE 802.1AS, [`can::CanFrame`], with
//! what it takes on the wire in [`can::FrameBits`], and [`its::geonetworking::Packet`], with the messages in [`its`].
//!
//! ```
//! use chronoseal_core::StreamId;
//! use chronoseal_wire::ethernet::{self, Frame, Header, TypeOrLength};
//! use chronoseal_wire::test_bed_header::TestBedHeader;
//! use chronoseal_wire::virtual_link::{self, DEFAULT_CT_MARKER};
//!
//! let mut bytes = [0; 64];
//! let destination = virtual_link::critical_traffic_address(DEFAULT_CT_MARKER, 4043);
//! let source = virtual_link::station_address(chronoseal_core::NodeId(1));
//! Header { destination, source, type_or_length: TypeOrLength::Length(8) }.emit(&mut bytes);
//! TestBedHeader { stream: StreamId(7), sequence: 1 }.emit(&mut bytes[ethernet::HEADER_LEN..]);
//! let len = ethernet::pad(&mut bytes, ethernet::HEADER_LEN + TestBedHeader::LEN);
//!
//! let frame = Frame::new_checked(&bytes[..len])?;
//! assert_eq!(virtual_link::ct_id(frame.destination(), DEFAULT_CT_MARKER), Some(4043));
//! assert_eq!(TestBedHeader::parse(frame.payload()).unwrap().stream, StreamId(7));
//! # Ok::<(), ethernet::FrameError>(())
//! ```
#![cfg_attr(not(test), no_std)]

pub mod can;
pub mod container;
pub mod ethernet;
pub mod gptp;
pub mod ipv4;
pub mod its;
pub mod macsec;
pub mod message_check;
pub mod part_header;
pub mod protocol_control_frame;
pub mod r_tag;
pub mod secured_pdu;
pub mod tcp;
pub mod test_bed_header;
pub mod udp;
pub mod virtual_link;

mod field;
