//! Makes the frames of one stream.

use chronoseal_core::{Duration, NodeId, Priority, Work};
use chronoseal_frameauth::{Profile, Sealer};
use chronoseal_wire::ethernet::{HEADER_LEN, Header, TypeOrLength};
use chronoseal_wire::test_bed_header::{ETHERTYPE_BEST_EFFORT, TestBedHeader};
use chronoseal_wire::virtual_link;

use super::config::{Protection, Replay, TalkerConfig, TalkerTiming};

/// Bytes written even if only headers are asked for: Ethernet header and test-bed header.
const HEADERS_LEN: usize = HEADER_LEN + TestBedHeader::LEN;

/// The sender's end of one stream.
pub(super) struct Talker {
    pub(super) config: TalkerConfig,
    /// A whole frame but for sequence, replayed signal and protection.
    template: Vec<u8>,
    /// The frame on the wire [byte].
    secured_len: usize,
    sealer: Option<(Sealer, Profile)>,
    /// Frames made so far; the sequence number of the next one, and its freshness value but for cycle counters.
    pub(super) made: u64,
}

impl Talker {
    pub(super) fn new(config: TalkerConfig, node: NodeId, ct_marker: [u8; 4]) -> Self {
        let (data_id, destination) = match config.timing {
            TalkerTiming::Slots { ct_id, .. } => (ct_id, virtual_link::critical_traffic_address(ct_marker, ct_id)),
            TalkerTiming::Periodic { .. } => (config.stream.0, virtual_link::stream_address(config.stream)),
        };
        let (sealer, overhead) = match &config.protection {
            Protection::None { padding } => (None, *padding),
            Protection::Authenticated { profile, key } => {
                (Some((Sealer::new(*profile, key, data_id), *profile)), profile.overhead())
            }
        };
        let secured_len = config.frame_len + overhead;
        let type_or_length = match config.timing {
            // Critical traffic carries its length, as the data frames of time-triggered Ethernet do.
            TalkerTiming::Slots { .. } => TypeOrLength::Length((secured_len - HEADER_LEN) as u16),
            TalkerTiming::Periodic { .. } => TypeOrLength::EtherType(ETHERTYPE_BEST_EFFORT),
        };
        let mut template = vec![0; secured_len];
        Header { destination, source: virtual_link::station_address(node), type_or_length }.emit(&mut template);
        let fill_len = config.fill.len().min(config.frame_len.saturating_sub(HEADERS_LEN));
        template[HEADERS_LEN..HEADERS_LEN + fill_len].copy_from_slice(&config.fill[..fill_len]);
        Self { config, template, secured_len, sealer, made: 0 }
    }

    pub(super) fn priority(&self) -> Priority {
        match self.config.timing {
            TalkerTiming::Slots { .. } => Priority::TIME_TRIGGERED,
            TalkerTiming::Periodic { priority, .. } => Priority(priority.min(7)),
        }
    }

    /// What computing one frame takes; `None` if there is nothing to compute.
    pub(super) fn work(&self) -> Option<Work> {
        self.sealer.as_ref().map(|(_, profile)| profile.work(self.config.frame_len - HEADER_LEN))
    }

    /// Writes the next frame and returns its length. `freshness` is the slot's count, or the frame's own.
    #[inline]
    pub(super) fn make(&mut self, frame: &mut [u8], signal_time: Duration, freshness: u64, real_bytes: bool) -> usize {
        let header = TestBedHeader { stream: self.config.stream, sequence: self.made as u32 };
        self.made += 1;
        if !real_bytes {
            frame[..HEADERS_LEN].copy_from_slice(&self.template[..HEADERS_LEN]);
            header.emit(&mut frame[HEADER_LEN..]);
            return self.secured_len;
        }
        frame[..self.secured_len].copy_from_slice(&self.template);
        header.emit(&mut frame[HEADER_LEN..]);
        if let Some(signal) = self.config.replay.as_ref().map(|replay: &Replay| replay.at(signal_time)) {
            let len = signal.len().min(self.config.frame_len - HEADERS_LEN);
            frame[HEADERS_LEN..HEADERS_LEN + len].copy_from_slice(&signal[..len]);
        }
        if let Some((sealer, _)) = &self.sealer {
            let payload_len = self.config.frame_len - HEADER_LEN;
            let sealed = sealer.seal(&mut frame[HEADER_LEN..], payload_len, freshness);
            debug_assert_eq!(sealed.ok(), Some(self.secured_len - HEADER_LEN), "the driver's buffer holds any frame");
        }
        self.secured_len
    }
}
