//! What a fleet is made of.

use std::sync::Arc;

use chronoseal_core::{Duration, SimTime};
use chronoseal_media::radio::{LogDistance, OfdmRate, Position, Propagation, RadioError, STATIONS_MAX};

use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::pki::TicketPeriods;

use crate::accuracy::Accuracy;
use crate::generation;
use crate::policy::Policy;
use crate::road::{Origin, Trips};
use crate::security::SecurityError;
use crate::station::{Kept, MessageKind};

/// Where the plane of a road touches the ellipsoid if nothing else is said: Stuttgart.
pub const ORIGIN: Origin = Origin { latitude_deg: 48.77, longitude_deg: 9.18 };
/// TAI since 2004-01-01 at the start of a run, a day in March 2026 `[us]`.
pub const STARTS_AT_US: u64 = 700_000_000_000_000;
/// How long a message may wait for the processor if nothing else is said.
pub const WAIT_MAX: Duration = Duration::from_ms(100);
/// Frames that may wait in an access category if nothing else is said.
pub const QUEUE_LEN_MAX: usize = 16;

/// Vehicles, radio, policy, and where an eavesdropper listens.
#[derive(Clone, Debug)]
pub struct FleetConfig {
    /// Who drives where.
    pub trips: Arc<Trips>,
    /// Where on the ellipsoid the road's plane touches.
    pub origin: Origin,
    /// TAI since 2004-01-01 at the start of the run `[us]`.
    pub starts_at_us: u64,
    /// Rate of every frame.
    pub rate: OfdmRate,
    /// Who hears whom.
    pub propagation: Propagation,
    /// See [`chronoseal_media::radio::RadioConfig::capture_db`].
    pub capture_db: Option<f64>,
    /// When vehicles change their pseudonyms.
    pub policy: Policy,
    /// What vehicles do not change with their pseudonyms; [`Kept::NOTHING`] but to see what it gives away.
    pub keeps: Kept,
    /// How well vehicles know what they tell.
    pub accuracy: Accuracy,
    /// Shortest time between two CAMs of a vehicle, T_GenCam_DCC: 100 ms to 1 s.
    pub cam_interval_min: Duration,
    /// True if CAMs tell the size of the vehicle.
    pub tells_dimensions: bool,
    /// Where the eavesdropper has its receivers. None: it hears everything.
    pub posts: Vec<Position>,
    /// The curve of all signatures. `None`: packets go out unsecured.
    pub signs: Option<Curve>,
    /// What tickets permit beside CAMs and DENMs, each once, if packets are signed.
    pub permits: Vec<MessageKind>,
    /// Which periods tickets have, if packets are signed.
    pub ticket_periods: TicketPeriods,
    /// Whether stations ask for certificates they do not know, and send theirs when asked.
    pub asks_for_certificates: bool,
    /// Whether a frame that many receive is decoded and verified once for all. It changes nothing but the time a run takes.
    pub shares_verification: bool,
    /// A message that has waited longer for the processor is dropped unread.
    pub wait_max: Duration,
    /// Frames that may wait in each access category of a station.
    pub queue_len_max: usize,
    /// Seeds pseudonyms, phases, policy, radio and errors of place.
    pub seed: u64,
}

impl FleetConfig {
    /// 6 Mbit/s, log-distance with exponent 2.3 and Nakagami m = 3, unsigned, accuracy as [`Accuracy::default`] has it, a CAM
    /// every 100 ms at most, sizes told, an eavesdropper that hears everything.
    pub fn new(trips: impl Into<Arc<Trips>>, policy: Policy) -> Self {
        let rate = OfdmRate::default();
        Self {
            trips: trips.into(),
            origin: ORIGIN,
            starts_at_us: STARTS_AT_US,
            rate,
            propagation: Propagation::LogDistance(LogDistance { nakagami_m: Some(3), ..LogDistance::new(2.3, rate) }),
            capture_db: None,
            policy,
            keeps: Kept::NOTHING,
            accuracy: Accuracy::default(),
            cam_interval_min: generation::INTERVAL_MIN,
            tells_dimensions: true,
            posts: Vec::new(),
            signs: None,
            permits: Vec::new(),
            ticket_periods: TicketPeriods::default(),
            asks_for_certificates: false,
            shares_verification: true,
            wait_max: WAIT_MAX,
            queue_len_max: QUEUE_LEN_MAX,
            seed: 1,
        }
    }

    /// TAI since 2004-01-01 `[us]`.
    pub(super) fn tai_us(&self, now: SimTime) -> u64 {
        self.starts_at_us + (now.as_ps() / 1_000_000).unsigned_abs()
    }

    /// Whether every figure is one that something can have.
    ///
    /// # Errors
    /// [`FleetError`] for the first that is not.
    pub fn check(&self) -> Result<(), FleetError> {
        let stations = self.trips.trips.len() + self.posts.len();
        if stations >= STATIONS_MAX {
            return Err(FleetError::TooManyStations(stations));
        }
        let is_between = |value: f64, low: f64, high: f64| (low..=high).contains(&value);
        let checks = [
            ("origin.latitude_deg", is_between(self.origin.latitude_deg, -89.0, 89.0)),
            ("origin.longitude_deg", is_between(self.origin.longitude_deg, -179.0, 179.0)),
            ("starts_at_us", self.starts_at_us < 1 << 52),
            ("wait_max", !self.wait_max.is_negative()),
            ("accuracy.position_m", is_between(self.accuracy.position_m, 0.0, 1_000.0)),
            ("accuracy.speed_m_s", is_between(self.accuracy.speed_m_s, 0.0, 100.0)),
            ("accuracy.heading_deg", is_between(self.accuracy.heading_deg, 0.0, 180.0)),
            (
                "cam_interval_min",
                (generation::INTERVAL_MIN..=generation::INTERVAL_MAX).contains(&self.cam_interval_min),
            ),
        ];
        checks.iter().find(|(_, holds)| !holds).map_or(Ok(()), |(name, _)| Err(FleetError::OutOfRange(name)))
    }
}

/// How closely an observer of a run looks at who knows of whom.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WatchConfig {
    /// Within this distance two vehicles should know of each other `[m]`.
    pub awareness_m: f64,
    /// Older news of a vehicle is none.
    pub news_age_max: Duration,
    /// Time between two looks at who knows of whom.
    pub look_interval: Duration,
    /// How long behind the end of a change's silence the time around it lasts.
    pub around_change: Duration,
}

impl Default for WatchConfig {
    /// Vehicles within 100 m should know of each other, with news at most 1.1 s old, looked at every 200 ms; the time around
    /// a change lasts 2 s.
    fn default() -> Self {
        Self {
            awareness_m: 100.0,
            news_age_max: Duration::from_ms(1_100),
            look_interval: Duration::from_ms(200),
            around_change: Duration::from_s(2),
        }
    }
}

impl WatchConfig {
    pub(super) fn check(&self) -> Result<(), FleetError> {
        let checks = [
            ("awareness_m", (0.0..=100_000.0).contains(&self.awareness_m)),
            ("look_interval", self.look_interval >= Duration::from_ms(1)),
            ("news_age_max", !self.news_age_max.is_negative()),
            ("around_change", !self.around_change.is_negative()),
        ];
        checks.iter().find(|(_, holds)| !holds).map_or(Ok(()), |(name, _)| Err(FleetError::OutOfRange(name)))
    }
}

/// Why a fleet cannot drive.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FleetError {
    /// More stations than a channel holds.
    #[error("{0} vehicles and posts; a channel has room for 65535")]
    TooManyStations(usize),
    /// A figure nothing can have.
    #[error("{0} is out of range")]
    OutOfRange(&'static str),
    /// The channel refused its configuration.
    #[error("radio: {0}")]
    Radio(#[from] RadioError),
    /// There are no certificates.
    #[error("stations cannot sign: {0}")]
    Security(#[from] SecurityError),
}
