//! The capture of a run as pcapng: one interface for each segment, with the link type of its kind; nanoseconds; where and
//! which way a frame was seen as the packet's comment.

use std::borrow::Cow;
use std::io::Write;
use std::time::Duration;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::{DataLink, PcapError};

use crate::{CaptureRow, Direction, RunMeta};

/// Writes `rows` in order of time. Packet times count from the start of the run, so a reader shows them from 1970 on.
///
/// # Errors
/// What `out` refused, or a row of a segment that `meta` does not describe.
pub fn write_capture(out: impl Write, meta: &RunMeta, rows: &[CaptureRow]) -> Result<(), PcapError> {
    let mut writer = PcapNgWriter::new(out)?;
    for segment in &meta.segments {
        let mut interface = InterfaceDescriptionBlock::new(DataLink::from(u32::from(segment.link_type)), 0);
        interface.options = vec![
            InterfaceDescriptionOption::IfName(Cow::Borrowed(&segment.name)),
            // Time stamps in units of 10^-9 s.
            InterfaceDescriptionOption::IfTsResol(9),
        ];
        writer.write_pcapng_block(interface)?;
    }
    let mut in_order: Vec<&CaptureRow> = rows.iter().collect();
    in_order.sort_by_key(|row| (row.time, row.segment, row.node, row.direction));
    for row in in_order {
        if usize::from(row.segment) >= meta.segments.len() {
            return Err(PcapError::InvalidField("a frame of a segment that the run does not describe"));
        }
        let mut comment = format!("{} {}", meta.node_name(row.node.0), row.direction.name());
        if !row.comment.is_empty() {
            comment += "; ";
            comment += &row.comment;
        }
        writer.write_pcapng_block(EnhancedPacketBlock {
            interface_id: row.segment.into(),
            // A frame before the start of the run cannot be captured; a clock that says so is held at the start.
            timestamp: Duration::from_nanos(u64::try_from(row.time.since_zero().as_ns()).unwrap_or(0)),
            original_len: row.bytes.len() as u32,
            data: Cow::Borrowed(&row.bytes),
            options: vec![
                EnhancedPacketOption::Comment(Cow::Owned(comment)),
                EnhancedPacketOption::Flags(row.direction.flags()),
            ],
        })?;
    }
    writer.into_inner().flush().map_err(PcapError::IoError)
}

impl Direction {
    /// As comments of the capture say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arrival => "arrival",
            Self::Departure => "departure",
            Self::Carried => "carried",
        }
    }

    /// The direction in the flags of a packet (pcapng, option `epb_flags`): 1 inbound, 2 outbound, 0 for neither.
    const fn flags(self) -> u32 {
        match self {
            Self::Arrival => 1,
            Self::Departure => 2,
            Self::Carried => 0,
        }
    }
}
