//! Frames that wait to become permanent.

use chronoseal_core::{Duration, LocalTime};
use chronoseal_wire::protocol_control_frame::{PcfType, ProtocolControlFrame};

use super::{Cluster, Refusal, permanence_point};

/// At most so many frames wait at one device; a largest transmission delay of 860 us is full of minimum frames at 100 Mbit/s then.
pub const PENDING_MAX: usize = 128;

/// A frame with where it came from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Permanent<T> {
    pub(super) at: LocalTime,
    pub(super) from: T,
    pub(super) kind: PcfType,
    pub(super) membership: u32,
    pub(super) integration_cycle: u32,
}

/// The frames in the order in which they become permanent; of one instant coldstart frames first, then acknowledge frames.
#[derive(Clone, Debug)]
pub(super) struct Pending<T> {
    max_transmission_delay: Duration,
    sync_domain: u8,
    sync_priority: u8,
    cycles: u32,
    frames: Vec<Permanent<T>>,
}

/// The order of frames that become permanent at one instant.
fn rank(kind: PcfType) -> u8 {
    match kind {
        PcfType::ColdStart => 0,
        PcfType::ColdStartAck => 1,
        PcfType::Integration => 2,
    }
}

impl<T> Pending<T> {
    pub(super) fn new(cluster: &Cluster, cycles: u32) -> Self {
        Self {
            max_transmission_delay: cluster.max_transmission_delay,
            sync_domain: cluster.sync_domain,
            sync_priority: cluster.sync_priority,
            cycles,
            frames: Vec::new(),
        }
    }

    /// Takes a frame that arrived at a time.
    pub(super) fn add(&mut self, arrived: LocalTime, from: T, frame: &ProtocolControlFrame) -> Result<(), Refusal> {
        if frame.sync_domain != self.sync_domain || frame.sync_priority != self.sync_priority {
            return Err(Refusal::OtherCluster);
        }
        if frame.integration_cycle >= self.cycles {
            return Err(Refusal::NoSuchCycle);
        }
        let at = permanence_point(arrived, frame.transparent_clock, self.max_transmission_delay);
        let at = at.ok_or(Refusal::TooOld)?;
        if self.frames.len() >= PENDING_MAX {
            return Err(Refusal::TooMany);
        }
        let order = (at, rank(frame.kind));
        let place = self.frames.partition_point(|other| (other.at, rank(other.kind)) <= order);
        let (membership, integration_cycle) = (frame.membership_new, frame.integration_cycle);
        self.frames.insert(place, Permanent { at, from, kind: frame.kind, membership, integration_cycle });
        Ok(())
    }

    pub(super) fn next_at(&self) -> Option<LocalTime> {
        self.frames.first().map(|frame| frame.at)
    }

    pub(super) fn take(&mut self) -> Option<Permanent<T>> {
        (!self.frames.is_empty()).then(|| self.frames.remove(0))
    }
}
