//! The grandmaster's time by the local clock.

use chronoseal_core::oscillator::RateDeviation;
use chronoseal_core::{Duration, LocalTime};
use chronoseal_wire::gptp::{FollowUp, PtpTime};

/// `cumulativeScaledRateOffset` has one fractional bit more than [`RateDeviation`].
pub(super) fn rate_from_wire(scaled: i32) -> RateDeviation {
    RateDeviation::from_fixed(i64::from(scaled) >> 1)
}

/// Deviations beyond the field, 976 ppm, become its end.
pub(super) fn rate_to_wire(rate: RateDeviation) -> i32 {
    let scaled = rate.as_fixed().saturating_mul(2);
    scaled.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

/// A line: a point in time by both clocks, and how much faster the other one runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TimeBase {
    pub(super) local: LocalTime,
    pub(super) time: PtpTime,
    pub(super) rate: RateDeviation,
}

impl TimeBase {
    pub(super) fn time(&self, at: LocalTime) -> PtpTime {
        let since: Duration = at - self.local;
        self.time + since + self.rate.gain(since)
    }

    /// The first time of the local clock at which the other one has come to `time`.
    pub(super) fn local_time(&self, time: PtpTime) -> LocalTime {
        let elapsed: Duration = time - self.time;
        // 1 / (1 + r) = 1 - r + r^2 - ...; steps of Newton remove what the series left out.
        let mut local = self.local + elapsed - self.rate.gain(elapsed);
        for _ in 0..4 {
            local += time - self.time(local);
        }
        while self.time(local) < time {
            local += Duration::from_ps(1);
        }
        local
    }
}

/// What a Sync says that is sent on: IEEE 802.1AS-2020 §10.2.2.1, the `PortSyncSync` structure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SyncInformation {
    /// The time of the grandmaster.
    pub(super) base: TimeBase,
    /// As the grandmaster wrote it; `None` if this system is the grandmaster.
    pub(super) precise_origin: Option<PtpTime>,
    pub(super) gm_time_base_indicator: u16,
    pub(super) last_gm_phase_change: i128,
    pub(super) scaled_last_gm_freq_change: i32,
}

impl SyncInformation {
    /// The `Follow_Up` of a Sync that left at a time, and its correction.
    pub(super) fn follow_up(&self, sent: LocalTime) -> (FollowUp, Duration) {
        let time = self.base.time(sent);
        let (precise_origin, correction) = match self.precise_origin {
            Some(origin) => (origin, time - origin),
            None => time.split(),
        };
        let follow_up = FollowUp {
            precise_origin,
            cumulative_scaled_rate_offset: rate_to_wire(self.base.rate),
            gm_time_base_indicator: self.gm_time_base_indicator,
            last_gm_phase_change: self.last_gm_phase_change,
            scaled_last_gm_freq_change: self.scaled_last_gm_freq_change,
        };
        (follow_up, correction)
    }
}
