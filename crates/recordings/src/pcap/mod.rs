//! CAN frames: pcap and pcapng with link type 227 (`LINKTYPE_CAN_SOCKETCAN`) in, pcap out.
//!
//! Source: <https://www.tcpdump.org/linktypes/LINKTYPE_CAN_SOCKETCAN.html>; the packet is the frame of
//! [`chronoseal_wire::can::layout`], which may be cut behind its data.

mod read;
mod write;

pub(crate) use read::read;
pub use read::{NOT_CAN, is_can_capture};
pub use write::{write as write_pcap, write_capture};

/// `CAN_ERR_FLAG` in the identifier word.
const ERROR_FLAG: u32 = 0x2000_0000;
/// `CAN_ERR_MASK`.
const ERROR_MASK: u32 = 0x1fff_ffff;
