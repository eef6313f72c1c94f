//! The capture of a run as pcapng: one interface for each station and direction, nanoseconds, remarks as comments.
//!
//! Of a CAN bus the link type is 227 (LINKTYPE_CAN_SOCKETCAN), of any other network 1 (LINKTYPE_ETHERNET).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::{DataLink, PcapError};

use crate::{CaptureRow, Direction, RunMeta};

/// LINKTYPE_CAN_SOCKETCAN.
const CAN_SOCKETCAN: DataLink = DataLink::CAN_SOCKETCAN;

/// Writes `rows` in order of time. Packet times count from the start of the run, so a reader shows them from 1970 on.
///
/// # Errors
/// What `out` refused.
pub fn write_capture(out: impl Write, meta: &RunMeta, rows: &[CaptureRow]) -> Result<(), PcapError> {
    let mut writer = PcapNgWriter::new(out)?;
    let link_type = if meta.bus.is_some() { CAN_SOCKETCAN } else { DataLink::ETHERNET };
    let mut interfaces: BTreeMap<_, u32> = rows.iter().map(|row| ((row.node, row.direction), 0)).collect();
    for (number, ((node, direction), id)) in interfaces.iter_mut().enumerate() {
        *id = number as u32;
        let name = format!("{} {}", meta.node_name(node.0), direction.name());
        let mut interface = InterfaceDescriptionBlock::new(link_type, 0);
        interface.options = vec![
            InterfaceDescriptionOption::IfName(Cow::Owned(name)),
            // Time stamps in units of 10^-9 s.
            InterfaceDescriptionOption::IfTsResol(9),
        ];
        writer.write_pcapng_block(interface)?;
    }
    let mut in_order: Vec<&CaptureRow> = rows.iter().collect();
    in_order.sort_by_key(|row| (row.time, row.node, row.direction));
    for row in in_order {
        let comment =
            (!row.comment.is_empty()).then_some(EnhancedPacketOption::Comment(Cow::Borrowed(row.comment.as_str())));
        writer.write_pcapng_block(EnhancedPacketBlock {
            interface_id: interfaces[&(row.node, row.direction)],
            // A frame before the start of the run cannot be captured; a clock that says so is held at the start.
            timestamp: Duration::from_nanos(u64::try_from(row.time.since_zero().as_ns()).unwrap_or(0)),
            original_len: row.bytes.len() as u32,
            data: Cow::Borrowed(&row.bytes),
            options: comment.into_iter().collect(),
        })?;
    }
    writer.into_inner().flush().map_err(PcapError::IoError)
}

impl Direction {
    /// As interfaces of the capture are named.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arrival => "arrival",
            Self::Departure => "departure",
            Self::Carried => "carried",
        }
    }
}
