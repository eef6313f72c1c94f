//! What an engineer decides about a system.

use chronoseal_core::{Duration, LocalTime};
use chronoseal_wire::gptp::{ClockIdentity, ClockQuality, FLAG_PTP_TIMESCALE, PtpTime, SystemIdentity};

/// Ports that a system can have.
pub const PORTS_MAX: usize = 64;
/// Bounds of the logarithms of intervals `[log2 s]`: a millisecond to a quarter of an hour.
const LOG_INTERVAL_MAX: i8 = 10;

/// Of a system. Field names follow the standard's; default values are those of its clauses 10.7, 11.2 and 11.5 for Ethernet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// Identity, quality and priorities. A system with `priority1` 255 never becomes the grandmaster.
    pub identity: SystemIdentity,
    /// `domainNumber`; messages of other domains are ignored.
    pub domain: u8,
    /// Where this clock's time comes from if it is the grandmaster; 0xa0 is its own oscillator.
    pub time_source: u8,
    /// What a grandmaster says of its time: some of [`chronoseal_wire::gptp::TIME_FLAGS`].
    pub time_flags: u8,
    /// TAI minus UTC, as a grandmaster announces it `[s]`.
    pub current_utc_offset: i16,
    /// The protocol's time when the local clock shows zero, while no other clock is followed. Stamps of the link delay count
    /// from here too; it lies after [`PtpTime::EPOCH`] by more than the local clock is ever below zero.
    pub epoch: PtpTime,
    /// `initialLogAnnounceInterval` `[log2 s]`.
    pub log_announce_interval: i8,
    /// `initialLogSyncInterval` `[log2 s]`.
    pub log_sync_interval: i8,
    /// `initialLogPdelayReqInterval` `[log2 s]`.
    pub log_pdelay_req_interval: i8,
    /// Announce intervals without an Announce after which a master counts as gone, 2 or more.
    pub announce_receipt_timeout: u8,
    /// Sync intervals without a Sync after which a master counts as gone, 2 or more.
    pub sync_receipt_timeout: u8,
    /// Requests in a row that may go unanswered.
    pub allowed_lost_responses: u8,
    /// Measurements in a row that may be implausible.
    pub allowed_faults: u8,
}

impl Parameters {
    /// A clock of no known quality with the standard's default values.
    pub fn new(clock: ClockIdentity, priority1: u8) -> Self {
        Self {
            identity: SystemIdentity { priority1, quality: ClockQuality::default(), priority2: 248, clock },
            domain: 0,
            time_source: 0xa0,
            time_flags: FLAG_PTP_TIMESCALE,
            current_utc_offset: 37,
            epoch: PtpTime::from_s(1_000_000),
            log_announce_interval: 0,
            log_sync_interval: -3,
            log_pdelay_req_interval: 0,
            announce_receipt_timeout: 3,
            sync_receipt_timeout: 3,
            allowed_lost_responses: 9,
            allowed_faults: 9,
        }
    }

    pub(super) fn check(&self, ports: usize) -> Result<(), ParameterError> {
        if !(1..=PORTS_MAX).contains(&ports) {
            return Err(ParameterError::Ports(ports));
        }
        for (name, log) in [
            ("log_announce_interval", self.log_announce_interval),
            ("log_sync_interval", self.log_sync_interval),
            ("log_pdelay_req_interval", self.log_pdelay_req_interval),
        ] {
            if !(-LOG_INTERVAL_MAX..=LOG_INTERVAL_MAX).contains(&log) {
                return Err(ParameterError::Interval { name, log });
            }
        }
        for (name, count) in [
            ("announce_receipt_timeout", self.announce_receipt_timeout),
            ("sync_receipt_timeout", self.sync_receipt_timeout),
        ] {
            if count < 2 {
                return Err(ParameterError::Timeout { name, count });
            }
        }
        Ok(())
    }

    /// The protocol's time at a time of the local clock if no other clock was ever followed.
    pub(super) fn free_running(&self, at: LocalTime) -> PtpTime {
        self.epoch + at.since_zero()
    }
}

/// Of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortParameters {
    /// `meanLinkDelayThresh`: with a longer link, something between the neighbours does not take part.
    pub mean_link_delay_thresh: Duration,
    /// `delayAsymmetry`: how much longer than the mean a frame needs from the neighbour to here, as far as that is known.
    pub delay_asymmetry: Duration,
}

impl Default for PortParameters {
    /// 800 ns, the standard's value for copper, and no asymmetry.
    fn default() -> Self {
        Self { mean_link_delay_thresh: Duration::from_ns(800), delay_asymmetry: Duration::ZERO }
    }
}

/// Why a system cannot be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// None, or too many.
    #[error("a system has 1 to {PORTS_MAX} ports, not {0}")]
    Ports(usize),
    /// An interval that no network uses.
    #[error("{name} is the binary logarithm of seconds and lies in -10..=10; {log} does not")]
    Interval {
        /// The parameter.
        name: &'static str,
        /// Its value.
        log: i8,
    },
    /// One lost message would be a failure.
    #[error("{name} is 2 or more, so that one lost message is no failure; {count} is not")]
    Timeout {
        /// The parameter.
        name: &'static str,
        /// Its value.
        count: u8,
    },
}

/// The interval of a binary logarithm of seconds; one from the wire that is out of bounds becomes the nearest within.
pub(super) fn interval(log: i8) -> Duration {
    let second = Duration::from_s(1).as_ps();
    match log.clamp(-LOG_INTERVAL_MAX, LOG_INTERVAL_MAX) {
        log @ 0.. => Duration::from_ps(second << log),
        log => Duration::from_ps(second >> -log),
    }
}
