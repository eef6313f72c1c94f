//! Judges the frames of one stream.

use chronoseal_core::{DiscardReason, Duration, Work};
use chronoseal_frameauth::Opener;
use chronoseal_wire::test_bed_header::TestBedHeader;

use super::config::ListenerConfig;
use crate::protection::{Protection, ProtectionError};

/// The receiver's end of one stream.
pub(super) struct Listener {
    pub(super) config: ListenerConfig,
    opener: Option<Opener>,
    /// By instance: the last cycle a frame was seen in, accepted or not.
    seen: Vec<Option<i64>>,
    /// Frames accepted.
    pub(super) accepted: u64,
}

/// The window a frame came in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct InWindow {
    pub(super) instance: usize,
    pub(super) cycle: i64,
    /// From the start of its slot.
    pub(super) since_slot: Duration,
}

impl Listener {
    pub(super) fn new(config: ListenerConfig) -> Result<Self, ProtectionError> {
        config.protection.check_on_ethernet()?;
        let opener = match &config.protection {
            Protection::Secured { profile, key: Some(key), data_id } => Some(Opener::new(*profile, key, *data_id)?),
            Protection::Secured { key: None, .. } | Protection::None { .. } => None,
        };
        let seen = vec![None; config.windows.len()];
        Ok(Self { config, opener, seen, accepted: 0 })
    }

    /// What checking a sealed payload of `len` bytes takes; `None` if there is nothing to compute.
    pub(super) fn work(&self, len: usize) -> Option<Work> {
        self.opener.as_ref().map(|opener| opener.work(opener.profile().payload_len(len).unwrap_or(0)))
    }

    /// The window that holds a cluster time.
    pub(super) fn window(&self, at: Duration, cycle_len: Duration) -> Result<InWindow, DiscardReason> {
        self.config
            .windows
            .iter()
            .enumerate()
            .find_map(|(instance, window)| {
                let since_open = at - window.opens;
                let inside = since_open.rem_floor(cycle_len) <= window.closes - window.opens;
                inside.then(|| {
                    let cycle = since_open.div_floor(cycle_len);
                    InWindow { instance, cycle, since_slot: at - (cycle_len * cycle + window.slot_start) }
                })
            })
            .ok_or(DiscardReason::OutsideWindow)
    }

    /// The freshness value both ends count without sending it: slots of the stream since the cluster started.
    pub(super) fn slot_count(&self, window: InWindow) -> u64 {
        (window.cycle * self.config.windows.len() as i64 + window.instance as i64) as u64
    }

    /// Notes that the slot was used. False if it already was.
    pub(super) fn mark_seen(&mut self, window: InWindow) -> bool {
        let seen = &mut self.seen[window.instance];
        let fresh = seen.is_none_or(|cycle| cycle < window.cycle);
        if fresh {
            *seen = Some(window.cycle);
        }
        fresh
    }

    /// True if nothing came in a slot that has ended.
    pub(super) fn is_missing(&self, instance: usize, cycle: i64) -> bool {
        cycle >= 0 && self.seen[instance].is_none_or(|seen| seen < cycle)
    }

    /// Checks the payload of a frame and returns its sequence number. Without real bytes there is no tag to check.
    #[inline]
    pub(super) fn open(
        &mut self,
        payload: &[u8],
        slot_count: Option<u64>,
        real_bytes: bool,
    ) -> Result<u64, DiscardReason> {
        let payload = match &mut self.opener {
            Some(opener) if real_bytes => opener.open(payload, slot_count)?.payload,
            _ => payload,
        };
        let header = TestBedHeader::parse(payload).map_err(DiscardReason::from)?;
        if header.stream != self.config.stream {
            return Err(DiscardReason::Malformed);
        }
        self.accepted += 1;
        Ok(u64::from(header.sequence))
    }
}
