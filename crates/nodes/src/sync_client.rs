//! A station's clock: its own oscillator, disciplined by the sync beacon (SAE AS6802 synchronisation client).

use chronoseal_clocksync::as6802;
use chronoseal_core::oscillator::RateDeviation;
use chronoseal_core::{Duration, LocalTime};
use chronoseal_wire::protocol_control_frame::ProtocolControlFrame;

/// How the cluster keeps time.
#[derive(Clone, Copy, Debug)]
pub struct SyncConfig {
    /// Distance of two beacons.
    pub integration_cycle: Duration,
    /// Half the acceptance window: a beacon further away than this is not used (AS6802: window of 2 * precision).
    pub precision: Duration,
    /// Cluster-wide bound of a control frame's way; its permanence point lies this much after its dispatch.
    pub max_transmission_delay: Duration,
}

/// States of a synchronisation client (names of AS6802).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SyncState {
    /// No beacon used yet; the station neither sends nor judges windows.
    Integrate,
    /// The clock follows the beacon.
    Sync,
    /// Several beacons in a row were inside the acceptance window.
    Stable,
}

/// What a beacon did to the clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BeaconEffect {
    /// The clock joined the cluster with this step.
    Joined(Duration),
    /// The clock was moved by this much.
    Corrected(Duration),
    /// Outside the acceptance window by this distance; not used.
    Rejected(Duration),
    /// Outside the window for too long: the clock starts over with the next beacon.
    Lost(Duration),
    /// Older than its own bound allows: permanence cannot be computed.
    Unusable,
}

/// Beacons in the window before the clock counts as stable (AS6802 num_stable_cycles).
pub const STABLE_CYCLES: u32 = 2;
/// Beacons outside the window, or absent, before the clock starts over (802.1AS syncReceiptTimeout has the same value).
pub const UNSTABLE_CYCLES_MAX: u32 = 3;

/// A clock that maps the station's oscillator to cluster time (time since the cluster's first cycle began).
#[derive(Clone, Debug)]
pub struct SyncClient {
    config: SyncConfig,
    state: SyncState,
    /// `cluster = anchor_cluster + (local - anchor_local) * (1 + rate)`.
    anchor_local: LocalTime,
    anchor_cluster: Duration,
    rate: RateDeviation,
    in_window: u32,
    out_of_window: u32,
    /// Ends when no beacon came for too long.
    last_beacon: LocalTime,
    ideal: bool,
}

impl SyncClient {
    /// A clock that waits for its first beacon.
    pub fn new(config: SyncConfig) -> Self {
        Self {
            config,
            state: SyncState::Integrate,
            anchor_local: LocalTime::ZERO,
            anchor_cluster: Duration::ZERO,
            rate: RateDeviation::ZERO,
            in_window: 0,
            out_of_window: 0,
            last_beacon: LocalTime::ZERO,
            ideal: false,
        }
    }

    /// A clock whose oscillator is cluster time; needs no beacon.
    pub fn ideal(config: SyncConfig) -> Self {
        Self { state: SyncState::Stable, ideal: true, ..Self::new(config) }
    }

    /// The state.
    pub fn state(&self) -> SyncState {
        self.state
    }

    /// True if cluster time means anything.
    pub fn is_synchronised(&self) -> bool {
        self.state != SyncState::Integrate
    }

    /// Cluster time at a time of the oscillator.
    pub fn cluster_time(&self, local: LocalTime) -> Duration {
        let elapsed = local - self.anchor_local;
        self.anchor_cluster + elapsed + self.rate.gain(elapsed)
    }

    /// The first time of the oscillator at which cluster time has come to `cluster`.
    pub fn local_time(&self, cluster: Duration) -> LocalTime {
        let elapsed = cluster - self.anchor_cluster;
        // 1 / (1 + r) = 1 - r + r^2 - ...; with r below 1e-3 the third term is below 1e-9.
        let gain = self.rate.gain(elapsed);
        let guess = self.anchor_local + elapsed - gain + self.rate.gain(gain);
        // A step of Newton removes what the series left out; the last picosecond may need another.
        let mut local = guess + (cluster - self.cluster_time(guess));
        while self.cluster_time(local) < cluster {
            local += Duration::from_ps(1);
        }
        local
    }

    /// A beacon whose last bit came in at `rx_at`.
    pub fn handle_beacon(&mut self, rx_at: LocalTime, beacon: &ProtocolControlFrame) -> BeaconEffect {
        if self.ideal {
            return BeaconEffect::Corrected(Duration::ZERO);
        }
        let delay_max = self.config.max_transmission_delay;
        let Some(permanence) = as6802::permanence_point(rx_at, beacon.transparent_clock, delay_max) else {
            return BeaconEffect::Unusable;
        };
        // The reference: dispatch at the start of the integration cycle, permanent the maximum delay later.
        let reference = self.config.integration_cycle.saturating_mul(i64::from(beacon.integration_cycle)) + delay_max;
        let error = reference - self.cluster_time(permanence);

        if self.state == SyncState::Integrate {
            self.anchor_local = permanence;
            self.anchor_cluster = reference;
            self.rate = RateDeviation::ZERO;
            self.state = SyncState::Sync;
            self.in_window = 0;
            self.out_of_window = 0;
            self.last_beacon = rx_at;
            return BeaconEffect::Joined(error);
        }
        // [SAE AS6802] in schedule iff |permanence - scheduled| <= acceptance_window / 2.
        if error.abs() > self.config.precision {
            self.in_window = 0;
            self.out_of_window += 1;
            if self.out_of_window >= UNSTABLE_CYCLES_MAX {
                self.state = SyncState::Integrate;
                return BeaconEffect::Lost(error);
            }
            return BeaconEffect::Rejected(error);
        }
        self.out_of_window = 0;
        self.last_beacon = rx_at;
        self.in_window += 1;
        if self.in_window >= STABLE_CYCLES {
            self.state = SyncState::Stable;
        }
        self.correct(permanence, error);
        BeaconEffect::Corrected(error)
    }

    /// When the clock counts as lost if no beacon comes; `None` if it is not following one.
    pub fn beacon_deadline(&self) -> Option<LocalTime> {
        if self.ideal || !self.is_synchronised() {
            return None;
        }
        let patience =
            self.config.integration_cycle.saturating_mul(i64::from(UNSTABLE_CYCLES_MAX)) + self.config.precision;
        Some(self.last_beacon + patience)
    }

    /// Gives up the clock because no beacon came.
    pub fn lose(&mut self) {
        self.state = SyncState::Integrate;
    }

    /// Proportional-integral control: half of an error is taken out at once, an eighth of it, spread over one
    /// integration cycle, is kept as a correction of the rate. The pair is critically damped at worst and forgets a
    /// single bad beacon within a few cycles.
    fn correct(&mut self, at: LocalTime, error: Duration) {
        self.anchor_cluster = self.cluster_time(at) + error / 2;
        self.anchor_local = at;
        let cycle = self.config.integration_cycle.max(Duration::from_ps(1));
        self.rate = self.rate + RateDeviation::from_gain(error / 8, cycle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoseal_wire::protocol_control_frame::PcfType;

    const CYCLE: Duration = Duration::from_ms(10);

    fn client() -> SyncClient {
        SyncClient::new(SyncConfig {
            integration_cycle: CYCLE,
            precision: Duration::from_us(10),
            max_transmission_delay: Duration::from_us(500),
        })
    }

    fn beacon(cycle: u32, transparent_clock: Duration) -> ProtocolControlFrame {
        ProtocolControlFrame {
            integration_cycle: cycle,
            membership_new: 1,
            sync_priority: 0,
            sync_domain: 0,
            kind: PcfType::Integration,
            transparent_clock,
        }
    }

    /// What an oscillator 5 ms off and 100 ppm fast shows at true time `t`.
    fn oscillator(t: Duration) -> LocalTime {
        LocalTime::ZERO + Duration::from_ms(5) + t + t / 10_000
    }

    #[test]
    fn a_clock_5_ms_off_and_100_ppm_fast_is_inside_its_window_after_two_cycles() {
        let mut clock = client();
        let mut worst_after_two = Duration::ZERO;
        for cycle in 0..200u32 {
            let sent = CYCLE * i64::from(cycle);
            let delay = Duration::from_us(7 + i64::from(cycle % 3) * 50);
            clock.handle_beacon(oscillator(sent + delay), &beacon(cycle, delay));
            // Just before the next beacon the drift of a whole cycle has built up.
            let late = sent + CYCLE;
            let error = (clock.cluster_time(oscillator(late)) - late).abs();
            if cycle >= 1 {
                worst_after_two = worst_after_two.max(error);
            }
            if cycle >= 60 {
                assert!(error < Duration::from_ns(100), "cycle {cycle}: the rate is learnt, {error} remains");
            }
        }
        assert!(worst_after_two < Duration::from_us(10), "{worst_after_two}");
        assert_eq!(clock.state(), SyncState::Stable);
    }

    #[test]
    fn local_time_is_the_inverse_of_cluster_time() {
        let mut clock = client();
        for cycle in 0..20u32 {
            clock.handle_beacon(oscillator(CYCLE * i64::from(cycle)), &beacon(cycle, Duration::ZERO));
        }
        for us in [0, 1, 999, 12_345, 9_999_999] {
            let cluster = Duration::from_us(us);
            let back = clock.cluster_time(clock.local_time(cluster)) - cluster;
            assert!(back.abs() <= Duration::from_ps(2), "{back}");
        }
    }

    #[test]
    fn a_beacon_outside_the_window_is_not_used_and_three_start_over() {
        let mut clock = client();
        let on_time = |cycle: u32| LocalTime::ZERO + CYCLE * i64::from(cycle);
        let late = Duration::from_us(11);
        assert!(matches!(clock.handle_beacon(on_time(0), &beacon(0, Duration::ZERO)), BeaconEffect::Joined(_)));
        assert_eq!(clock.handle_beacon(on_time(1) + late, &beacon(1, Duration::ZERO)), BeaconEffect::Rejected(-late));
        assert_eq!(clock.handle_beacon(on_time(2) + late, &beacon(2, Duration::ZERO)), BeaconEffect::Rejected(-late));
        assert_eq!(clock.handle_beacon(on_time(3) + late, &beacon(3, Duration::ZERO)), BeaconEffect::Lost(-late));
        assert!(!clock.is_synchronised());
    }

    #[test]
    fn a_beacon_older_than_its_bound_is_unusable() {
        let mut clock = client();
        let effect = clock.handle_beacon(LocalTime::ZERO, &beacon(0, Duration::from_us(501)));
        assert_eq!(effect, BeaconEffect::Unusable);
    }
}
