//! Ethernet segments: switches with a schedule table, streams in slots, virtual links, and streams whenever the wire is free.

mod class;
mod clock_use;
mod datagram;
mod hop;
mod integration;
mod macsec;
mod networks;
mod ports;
mod segment;
mod stream_filters;
mod time_aware;
mod view;
mod ways;
mod wiring;

use chronoseal_wire::ethernet;
use chronoseal_wire::test_bed_header::TestBedHeader;

pub use class::*;
pub use datagram::Datagram;
pub use hop::*;
pub use macsec::{Macsec, Processing};
pub use networks::{Copies, NetworkName};
pub use ports::{GATE_ENTRIES_MAX, PortEnd, Ports};
pub use segment::*;
pub use stream_filters::{FilterPlan, Neighbour, StreamFilters};
pub use time_aware::{GrandmasterQuality, TimeAwarePlan};
pub use view::Ethernet;
pub use ways::{CopyCount, StreamWay, joined_hops};
pub use wiring::*;

/// The kind's name.
pub const ETHERNET: &str = "ethernet";

/// Lengths as plans count them `[byte]`.
const FRAME_LEN_MIN: u32 = ethernet::FRAME_LEN_MIN as u32;
const FRAME_LEN_MAX: u32 = ethernet::FRAME_LEN_MAX as u32;
const HEADER_LEN: u32 = ethernet::HEADER_LEN as u32;
/// What stands before the PDU of a stream that gateways carry `[byte]`.
const BENCH_HEADER_LEN: u32 = TestBedHeader::LEN as u32;
