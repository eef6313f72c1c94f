//! What a station did and met.

use chronoseal_core::{Duration, SimTime};

/// Counted at one station.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StationStatistics {
    /// Frames sent.
    pub sent: u64,
    /// Bytes of their PSDUs.
    pub sent_bytes: u64,
    /// Time of them on the air.
    pub sent_airtime: Duration,
    /// Sum over them of the time from the node's offer to the first bit.
    pub access_delay: Duration,
    /// Longest of these times.
    pub access_delay_max: Duration,
    /// Frames refused because their queue was full.
    pub refused: u64,
    /// Frames received whole.
    pub received: u64,
    /// Frames heard and lost to another one at the same time.
    pub lost_to_overlap: u64,
    /// Frames heard and lost because the station sent itself.
    pub lost_to_own_transmission: u64,
    /// Frames heard alone, too weak to be decoded.
    pub too_weak: u64,
    /// Times it put off a frame of its own for one of a higher category.
    pub internal_collisions: u64,
    /// Time the station found the channel busy, its own frames included, up to the last moment it became idle.
    pub busy: Duration,
}

impl StationStatistics {
    /// Channel busy ratio since the start of the run `[10^-6]`.
    pub fn busy_ppm(&self, now: SimTime) -> u64 {
        let elapsed = i128::from(now.as_ps()).max(1);
        (i128::from(self.busy.as_ps()) * 1_000_000 / elapsed) as u64
    }
}
