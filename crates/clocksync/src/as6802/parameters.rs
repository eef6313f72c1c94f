//! The parameters of a cluster, named as in the standard, and how they follow from one another.

use chronoseal_core::Duration;
use chronoseal_wire::protocol_control_frame::{PcfType, ProtocolControlFrame};

use super::MASTERS_MAX;

/// Which devices are built so that they cannot send wrong frames unnoticed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Integrity {
    /// A faulty synchronisation master may send anything; only the compression masters check themselves. They compress coldstart
    /// acknowledge frames and block start-up frames while the cluster runs.
    #[default]
    Standard,
    /// Synchronisation masters check themselves too, and at worst leave frames out. The compression masters relay start-up frames.
    High,
}

/// What an engineer decides about a cluster; [`Parameters::of`] works out the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cluster {
    /// Number of synchronisation masters, 1 to [`MASTERS_MAX`].
    pub synchronisation_masters: u8,
    /// How many of them may be faulty at once, 0 to 2.
    pub faults_tolerated: u8,
    /// Who checks itself.
    pub integrity: Integrity,
    /// Duration of an integration cycle.
    pub integration_cycle: Duration,
    /// The longest that a control frame is under way between any two devices.
    pub max_transmission_delay: Duration,
    /// The largest difference of two correct clocks that the cluster is built for.
    pub precision: Duration,
    /// What a compression master needs for its calculation.
    pub calculation_overhead: Duration,
    /// Delay in the devices that no transparent clock holds, on the way of an acknowledge frame.
    pub hardware_delay: Duration,
    /// Frames of other domains are ignored.
    pub sync_domain: u8,
    /// Frames of other priorities are ignored.
    pub sync_priority: u8,
}

impl Cluster {
    /// A cluster of standard integrity that tolerates one faulty master if it has three or more.
    pub fn new(
        synchronisation_masters: u8,
        integration_cycle: Duration,
        max_transmission_delay: Duration,
        precision: Duration,
    ) -> Self {
        Self {
            synchronisation_masters,
            faults_tolerated: u8::from(synchronisation_masters >= 3),
            integrity: Integrity::Standard,
            integration_cycle,
            max_transmission_delay,
            precision,
            calculation_overhead: Duration::ZERO,
            hardware_delay: Duration::ZERO,
            sync_domain: 0,
            sync_priority: 0,
        }
    }
}

/// How many bits a membership has to have, by state. `sm` are thresholds of synchronisation masters, `sc` of clients, `cm` of
/// compression masters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are those of the standard and say state and use")]
pub struct Thresholds {
    pub sm_integrate_to_wait_thrld: u32,
    pub sm_integrate_to_sync_thrld: u32,
    pub sm_unsync_to_tentative_thrld: u32,
    pub sm_unsync_to_sync_thrld: u32,
    pub sm_wait_threshold_async: u32,
    pub sm_tentative_sync_threshold_async: u32,
    pub sm_tentative_sync_threshold_sync: u32,
    pub sm_tentative_to_sync_thrld: u32,
    pub sm_sync_threshold_async: u32,
    pub sm_sync_threshold_sync: u32,
    pub sm_stable_threshold_async: u32,
    pub sm_stable_threshold_sync: u32,
    pub sc_integrate_to_sync_thrld: u32,
    pub sc_sync_threshold_async: u32,
    pub sc_sync_threshold_sync: u32,
    pub sc_stable_threshold_async: u32,
    pub sc_stable_threshold_sync: u32,
    pub cm_integrate_to_wait_thrld: u32,
    pub cm_integrate_to_sync_thrld: u32,
    pub cm_unsync_to_tentative_thrld: u32,
    pub cm_unsync_to_sync_thrld: u32,
    pub cm_wait_threshold_async: u32,
    pub cm_tentative_sync_threshold_async: u32,
    pub cm_tentative_sync_threshold_sync: u32,
    pub cm_tentative_to_sync_thrld: u32,
    pub cm_sync_threshold_async: u32,
    pub cm_sync_threshold_sync: u32,
    pub cm_stable_threshold_async: u32,
    pub cm_stable_threshold_sync: u32,
}

impl Thresholds {
    /// Each the same.
    pub const fn all(bits: u32) -> Self {
        Self {
            sm_integrate_to_wait_thrld: bits,
            sm_integrate_to_sync_thrld: bits,
            sm_unsync_to_tentative_thrld: bits,
            sm_unsync_to_sync_thrld: bits,
            sm_wait_threshold_async: bits,
            sm_tentative_sync_threshold_async: bits,
            sm_tentative_sync_threshold_sync: bits,
            sm_tentative_to_sync_thrld: bits,
            sm_sync_threshold_async: bits,
            sm_sync_threshold_sync: bits,
            sm_stable_threshold_async: bits,
            sm_stable_threshold_sync: bits,
            sc_integrate_to_sync_thrld: bits,
            sc_sync_threshold_async: bits,
            sc_sync_threshold_sync: bits,
            sc_stable_threshold_async: bits,
            sc_stable_threshold_sync: bits,
            cm_integrate_to_wait_thrld: bits,
            cm_integrate_to_sync_thrld: bits,
            cm_unsync_to_tentative_thrld: bits,
            cm_unsync_to_sync_thrld: bits,
            cm_wait_threshold_async: bits,
            cm_tentative_sync_threshold_async: bits,
            cm_tentative_sync_threshold_sync: bits,
            cm_tentative_to_sync_thrld: bits,
            cm_sync_threshold_async: bits,
            cm_sync_threshold_sync: bits,
            cm_stable_threshold_async: bits,
            cm_stable_threshold_sync: bits,
        }
    }

    /// More than half of the masters, so that two cliques cannot both go on.
    pub const fn majority(synchronisation_masters: u8) -> Self {
        Self::all(synchronisation_masters as u32 / 2 + 1)
    }
}

/// Everything a device of a cluster is configured with. The equation numbers are those of the standard as CoRE4INET quotes them;
/// where none is given, the standard leaves the value to configuration and the formula is ours.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// What they follow from.
    pub cluster: Cluster,
    /// By state.
    pub thresholds: Thresholds,
    /// Number of integration cycles after which their numbers start again at 0.
    pub max_integration_cycles: u32,
    /// Length of an observation window: the precision.
    pub observation_window: Duration,
    /// Most observation windows of one collection: f + 1.
    pub max_observation_window: u8,
    /// Width of the window around the scheduled point in which a frame counts as in schedule: twice the precision, thrice if
    /// two faulty masters are tolerated (equations 36 and 37).
    pub acceptance_window: Duration,
    /// From a compressed point to the dispatch of the compressed frame: one nanosecond more than the acceptance window, so that
    /// a better compressed point of the same cycle can still replace it.
    pub dispatch_delay: Duration,
    /// Static delay of a compression master: observation windows, calculation and dispatch delay (equation 26).
    pub compression_master_delay: Duration,
    /// Where in a cycle a compressed point belongs, counted from the masters' dispatch.
    pub cm_scheduled_pit: Duration,
    /// Where in a cycle a compressed frame becomes permanent: 2 max_transmission_delay + compression_master_delay after the
    /// dispatch (equations 16 and 17).
    pub smc_scheduled_receive_pit: Duration,
    /// From the scheduled point to the correction of the clock: longer than the acceptance window (equation 20).
    pub clock_corr_delay: Duration,
    /// From a permanent coldstart frame to one's own acknowledge frame (equation 42): a round trip and the time of a frame, so that
    /// other coldstart frames have come by then.
    pub cs_offset: Duration,
    /// From the dispatch of an acknowledge frame to the point at which its like becomes permanent. With compression 2
    /// max_transmission_delay + compression_master_delay + hardware_delay; compression masters of high integrity relay it at once.
    /// CoRE4INET adds a precision, for a window that is not centred.
    pub ca_round_trip: Duration,
    /// Width of the window around `ca_round_trip` in which an acknowledge frame counts: twice the precision.
    pub ca_acceptance_window: Duration,
    /// From a permanent acknowledge frame to the first integration frame: one more round trip, so that none is under way then.
    pub ca_offset: Duration,
    /// How long a master listens after power-on (equation 40): two coldstart time-outs and a cycle.
    pub sm_listen_timeout: Duration,
    /// Distance of coldstart frames of one master (equation 41): longer than a whole start takes.
    pub sm_coldstart_timeout: Duration,
    /// How long a master tries to find back before it sends a coldstart frame (equation 43): a coldstart time-out and a cycle.
    pub sm_restart_timeout: Duration,
    /// The same, after the asynchronous clique detection.
    pub sm_restart_timeout_async: Duration,
    /// The same, after the synchronous clique detection.
    pub sm_restart_timeout_sync: Duration,
    /// How long a compression master listens after power-on: a cycle and the longest way of a frame through it.
    pub cm_listen_timeout: Duration,
    /// How long it tries to find back.
    pub cm_restart_timeout: Duration,
    /// How long it passes acknowledge frames on after a coldstart frame: until those of a second coldstart frame, which crossed
    /// the first, have come.
    pub cm_ca_enabled_timeout: Duration,
    /// How long it then waits for integration frames.
    pub cm_wait_4_in_timeout: Duration,
    /// Cycles in a row before a device is stable.
    pub num_stable_cycles: u32,
    /// Cycles in a row without enough integration frames that a stable device bears.
    pub num_unstable_cycles: u32,
    /// By how many bits a compressed frame may fall behind the best of its cycle and still correct the clock.
    pub membership_acceptance_range: u32,
    /// A stable master gives up its clock for an acknowledge frame. Off: a running cluster cannot be restarted by one forged frame.
    pub stable_ca_enabled: bool,
}

/// The smallest step by which a delay exceeds a window.
const TICK: Duration = Duration::from_ns(1);
/// A minimum frame with preamble and gap at 100 Mbit/s; the standard adds the time of a frame to the coldstart offset.
const FRAME_TIME: Duration = Duration::from_ns(6_720);

/// Why there can be no such cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// No master, or more than a membership has bits.
    #[error("a cluster has 1 to {MASTERS_MAX} synchronisation masters, not {0}")]
    Masters(u8),
    /// The compression function does not tolerate that many faults among so many masters.
    #[error(
        "{faults} faulty synchronisation masters are tolerated by {needed} masters or more, and there are {masters}"
    )]
    Faults {
        /// Faulty masters to be tolerated.
        faults: u8,
        /// Masters there are.
        masters: u8,
        /// Masters that would do.
        needed: u8,
    },
    /// A span that has to be above zero is not.
    #[error("{0} has to be longer than nothing")]
    NotPositive(&'static str),
    /// The protocol does not get done within a cycle.
    #[error("an integration cycle of {cycle} is too short: the protocol needs {needed} of each")]
    CycleTooShort {
        /// As given.
        cycle: Duration,
        /// At least.
        needed: Duration,
    },
}

impl Parameters {
    /// Works out all parameters of a cluster.
    ///
    /// # Errors
    /// [`ParameterError`] if there can be no such cluster.
    pub fn of(cluster: &Cluster) -> Result<Self, ParameterError> {
        let Cluster { precision, max_transmission_delay: max_delay, integration_cycle: cycle, .. } = *cluster;
        let (masters, faults) = (cluster.synchronisation_masters, cluster.faults_tolerated);
        if masters == 0 || usize::from(masters) > MASTERS_MAX {
            return Err(ParameterError::Masters(masters));
        }
        let spans = [("the precision", precision), ("the largest transmission delay", max_delay), ("the cycle", cycle)];
        if let Some((name, _)) = spans.into_iter().find(|(_, span)| *span <= Duration::ZERO) {
            return Err(ParameterError::NotPositive(name));
        }
        // The average drops as many from either end as are faulty only from three masters (one) and six (two) on.
        let needed = [1, 3, 6].get(usize::from(faults)).copied().unwrap_or(u8::MAX);
        if masters < needed {
            return Err(ParameterError::Faults { faults, masters, needed });
        }
        let parameters = Self::unchecked(cluster);
        let needed = parameters.smc_clock_corr_pit() + parameters.acceptance_window;
        match needed < cycle {
            true => Ok(parameters),
            false => Err(ParameterError::CycleTooShort { cycle, needed }),
        }
    }

    fn unchecked(cluster: &Cluster) -> Self {
        let Cluster { precision, max_transmission_delay: max_delay, integration_cycle: cycle, .. } = *cluster;
        let max_observation_window = cluster.faults_tolerated + 1;
        let collection = precision.saturating_mul(i64::from(max_observation_window)) + cluster.calculation_overhead;
        let acceptance_window = precision.saturating_mul(if cluster.faults_tolerated >= 2 { 3 } else { 2 });
        let dispatch_delay = acceptance_window + TICK;
        let compression_master_delay = collection + dispatch_delay;
        let there_and_back = max_delay + max_delay;
        let round_trip = there_and_back + compression_master_delay;
        let cs_offset = round_trip + FRAME_TIME;
        let ca_round_trip = cluster.hardware_delay
            + match cluster.integrity {
                Integrity::Standard => round_trip,
                Integrity::High => there_and_back,
            };
        let slack = precision + precision;
        let ca_offset = round_trip + slack;
        let cm_ca_enabled_timeout = there_and_back + round_trip + cs_offset + slack;
        let cm_wait_4_in_timeout = there_and_back + ca_offset + round_trip + slack;
        let sm_coldstart_timeout = cm_ca_enabled_timeout + cm_wait_4_in_timeout + there_and_back;
        let cm_listen_timeout = cycle + round_trip;
        Self {
            cluster: *cluster,
            thresholds: Thresholds::majority(cluster.synchronisation_masters),
            // The end of the last cycle has to be a time of a cluster.
            max_integration_cycles: u32::try_from(Duration::MAX.as_ps() / 4 / cycle.as_ps()).unwrap_or(u32::MAX),
            observation_window: precision,
            max_observation_window,
            acceptance_window,
            dispatch_delay,
            compression_master_delay,
            cm_scheduled_pit: max_delay + collection,
            smc_scheduled_receive_pit: round_trip,
            clock_corr_delay: acceptance_window + TICK,
            cs_offset,
            ca_round_trip,
            ca_acceptance_window: precision + precision,
            ca_offset,
            sm_listen_timeout: sm_coldstart_timeout + sm_coldstart_timeout + cycle,
            sm_coldstart_timeout,
            sm_restart_timeout: sm_coldstart_timeout + cycle,
            sm_restart_timeout_async: sm_coldstart_timeout + cycle,
            sm_restart_timeout_sync: sm_coldstart_timeout + cycle,
            cm_listen_timeout,
            cm_restart_timeout: cm_listen_timeout,
            cm_ca_enabled_timeout,
            cm_wait_4_in_timeout,
            num_stable_cycles: 1,
            num_unstable_cycles: 1,
            membership_acceptance_range: u32::from(cluster.faults_tolerated),
            stable_ca_enabled: false,
        }
    }

    /// Where in a cycle masters and clients correct their clocks.
    pub fn smc_clock_corr_pit(&self) -> Duration {
        self.smc_scheduled_receive_pit + self.clock_corr_delay
    }

    /// A frame of this cluster that has just been dispatched.
    pub(super) fn frame(&self, kind: PcfType, membership_new: u32, integration_cycle: u32) -> ProtocolControlFrame {
        ProtocolControlFrame {
            integration_cycle,
            membership_new,
            sync_priority: self.cluster.sync_priority,
            sync_domain: self.cluster.sync_domain,
            kind,
            transparent_clock: Duration::ZERO,
        }
    }

    /// Within this time after the last power-on of a correct device all correct devices are stable: listen time-out, coldstart
    /// time-out and three integration cycles.
    pub fn startup_bound(&self) -> Duration {
        self.sm_listen_timeout + self.sm_coldstart_timeout + self.cluster.integration_cycle * 3
    }

    /// The smallest precision that these clocks can keep: how far two of them drift apart between two corrections, and how
    /// wrong the age of a frame is measured meanwhile, once with a single compression master and twice with several.
    ///
    /// `drift` is how far an oscillator deviates from its nominal rate at most, in parts per billion. With one compression master all
    /// clocks follow the same frame. With several, one of which leaves frames out, two clocks can follow different sets of them.
    /// A master that shows two faces can pull the averages of two compression masters apart by as much as the correct clocks are
    /// apart, and half of that difference stays in the mean: a spread s becomes s/2 + e in a cycle and cannot exceed 2e.
    pub fn precision_needed(&self, drift_ppb: i64, compression_masters: usize) -> Duration {
        let gain = |span: Duration| {
            let ps = i128::from(span.as_ps()) * 2 * i128::from(drift_ppb.abs());
            Duration::from_ps(i64::try_from(ps / 1_000_000_000 + 1).unwrap_or(i64::MAX / 4))
        };
        let between_corrections = self.cluster.integration_cycle + self.smc_clock_corr_pit();
        let error = gain(between_corrections) + gain(self.smc_scheduled_receive_pit);
        if compression_masters > 1 { error + error } else { error }
    }
}
