//! One vehicle's sending side: identity, CAMs and packets.

use chronoseal_core::random::{self, ChaCha8Rng, Purpose, Rng};
use chronoseal_core::{Duration, SimTime};
use chronoseal_wire::its::{Cam, LowFrequency, PathHistory, PathPoint, ReferencePosition};

use super::config::{FleetConfig, FleetError};
use crate::envelope::{Envelope, SealError};
use crate::generation::{Due, Generation};
use crate::policy::Changer;
use crate::road::{Dimensions, State};
use crate::security::Security;

/// A frame ready to send.
pub(super) struct Message {
    pub(super) bytes: Vec<u8>,
    pub(super) pseudonym: u32,
    pub(super) with_certificate: bool,
}

/// One vehicle.
pub(super) struct Sender {
    name: String,
    pub(super) dimensions: Dimensions,
    pub(super) begins_at: SimTime,
    /// Where it is, while it is there.
    pub(super) state: Option<State>,
    pub(super) pseudonym: u32,
    pub(super) generation: Generation,
    /// `None` only while it decides.
    pub(super) changer: Option<Changer>,
    pub(super) silent_until: SimTime,
    /// When it last took up an identity or fell silent.
    pub(super) changed_at: Option<SimTime>,
    certificate_at: Option<SimTime>,
    /// Where it was, newest first: time, latitude, longitude.
    path: Vec<(SimTime, i32, i32)>,
    rng: ChaCha8Rng,
    errors: ChaCha8Rng,
}

/// Streams of pseudonyms and of errors of place, beside those of the radio with the same purpose.
const PSEUDONYM_STREAMS: u64 = 1 << 33;
const ERROR_STREAMS: u64 = 1 << 34;
/// Points of the path lie this far apart, and so many are told [m].
const PATH_STEP_M: f64 = 25.0;
const PATH_POINTS: usize = 8;

impl Sender {
    pub(super) fn new(config: &FleetConfig, index: usize) -> Self {
        let trip = &config.trips.trips[index];
        let mut rng = random::stream(config.seed, Purpose::Medium, PSEUDONYM_STREAMS + index as u64);
        // Vehicles do not tick together.
        let phase = random::uniform_i64(&mut rng, 0, crate::generation::INTERVAL_MIN.as_ps() - 1);
        let begins_at = trip.begins_at + Duration::from_ps(phase);
        // Who is there when the record begins was on its way before.
        let is_under_way = trip.begins_at == SimTime::ZERO;
        Self {
            name: trip.name.clone(),
            dimensions: trip.dimensions,
            begins_at,
            state: None,
            pseudonym: rng.next_u32(),
            generation: Generation::with_interval_min(config.cam_interval_min),
            changer: Some(Changer::new(&config.policy, config.seed, index as u64, begins_at, is_under_way)),
            silent_until: SimTime::ZERO,
            changed_at: None,
            certificate_at: None,
            path: Vec::new(),
            rng,
            errors: random::stream(config.seed, Purpose::Medium, ERROR_STREAMS + index as u64),
        }
    }

    /// Takes up an identity, and forgets whatever would tell of the one before.
    pub(super) fn change(&mut self, now: SimTime, silence: Duration, identity: Option<u32>) {
        self.pseudonym = identity.unwrap_or_else(|| self.rng.next_u32());
        self.silent_until = now + silence;
        self.changed_at = Some(now);
        self.certificate_at = None;
        self.path.clear();
    }

    /// True from a change to some time behind its silence.
    pub(super) fn is_changing(&self, now: SimTime, around_change: Duration) -> bool {
        self.changed_at.is_some_and(|at| now <= at.max(self.silent_until) + around_change)
    }

    /// The next message.
    pub(super) fn compose(
        &mut self,
        config: &FleetConfig,
        now: SimTime,
        state: &State,
        due: Due,
        security: Option<&mut (dyn Security + '_)>,
    ) -> Result<Message, FleetError> {
        let now_us = config.tai_us(now);
        let now_ms = now_us / 1000;
        let accuracy = config.accuracy;
        let mut errs = |value: f64, deviation: f64| value + deviation * normal(&mut self.errors);
        let (x_m, y_m) = (errs(state.x_m, accuracy.position_m), errs(state.y_m, accuracy.position_m));
        let speed_m_s = errs(state.speed_m_s, accuracy.speed_m_s);
        let heading_deg = libm::fmod(errs(state.heading_deg, accuracy.heading_deg) + 720.0, 360.0);
        let (latitude, longitude) = config.origin.to_wgs84(x_m, y_m);
        let speed_cm_s = libm::round(speed_m_s * 100.0).clamp(0.0, 16_382.0) as u16;
        let heading = (libm::round(heading_deg * 10.0) as u16) % 3600;
        let semi_axes_cm = [accuracy.position_confidence_cm(); 2];
        let mut cam = Cam {
            station_id: self.pseudonym,
            generation_delta_time_ms: now_ms as u16,
            position: ReferencePosition { semi_axes_cm, orientation: 0, ..ReferencePosition::at(latitude, longitude) },
            heading,
            heading_confidence: accuracy.heading_confidence(),
            speed_cm_s,
            speed_confidence: accuracy.speed_confidence_cm_s(),
            drive_direction: 0,
            acceleration: libm::round(state.acceleration_m_s2 * 10.0).clamp(-160.0, 160.0) as i16,
            ..Cam::default()
        };
        if config.tells_dimensions {
            (cam.length_dm, cam.width_dm) = (self.dimensions.length_dm, self.dimensions.width_dm);
        }
        if due.with_low_frequency {
            let path_history = self.path_history(now, latitude, longitude);
            cam.low_frequency = Some(LowFrequency { path_history, ..LowFrequency::default() });
        }
        self.remember(now, config, latitude, longitude);
        let mut message = [0; Cam::LEN_MAX];
        let len = cam
            .emit(&mut message)
            .map_err(|error| FleetError::Message { vehicle: self.name.clone(), reason: error.to_string() })?;
        let with_certificate = security.is_some() && self.certificate_is_due(now, config.certificate_interval);
        let envelope = Envelope {
            pseudonym: self.pseudonym,
            now_us,
            with_certificate,
            latitude,
            longitude,
            speed_cm_s,
            heading,
            broadcast: None,
            message: &message[..len],
        };
        let bytes = envelope.seal(security).map_err(|error| match error {
            SealError::Packet(error) => FleetError::Message { vehicle: self.name.clone(), reason: error.to_string() },
            SealError::Security(error) => FleetError::Security(error),
        })?;
        if let Some(changer) = &mut self.changer {
            changer.count_message();
        }
        Ok(Message { bytes, pseudonym: self.pseudonym, with_certificate })
    }

    fn certificate_is_due(&mut self, now: SimTime, interval: Duration) -> bool {
        let is_due = self.certificate_at.is_none_or(|at| now - at >= interval);
        if is_due {
            self.certificate_at = Some(now);
        }
        is_due
    }

    fn remember(&mut self, now: SimTime, config: &FleetConfig, latitude: i32, longitude: i32) {
        let is_far = self.path.first().is_none_or(|(_, last_latitude, last_longitude)| {
            let (x_m, y_m) = config.origin.to_plane(latitude, longitude);
            let (last_x_m, last_y_m) = config.origin.to_plane(*last_latitude, *last_longitude);
            libm::hypot(x_m - last_x_m, y_m - last_y_m) >= PATH_STEP_M
        });
        if is_far {
            self.path.insert(0, (now, latitude, longitude));
            self.path.truncate(PATH_POINTS);
        }
    }

    /// Each point as its difference from the one before it in the list, the first from the place told.
    fn path_history(&self, now: SimTime, latitude: i32, longitude: i32) -> PathHistory {
        let mut points = Vec::with_capacity(PATH_POINTS);
        let (mut at, mut last_latitude, mut last_longitude) = (now, latitude, longitude);
        for (then, latitude, longitude) in &self.path {
            let delta = |to: i32, from: i32| to.saturating_sub(from).clamp(-131_071, 131_071);
            let hundredths = ((at - *then).as_ns() / 10_000_000).clamp(1, 65_535);
            points.push(PathPoint {
                delta_latitude: delta(*latitude, last_latitude),
                delta_longitude: delta(*longitude, last_longitude),
                delta_altitude_cm: 12_800,
                delta_time: Some(hundredths as u16),
            });
            (at, last_latitude, last_longitude) = (*then, *latitude, *longitude);
        }
        PathHistory::new(&points)
    }
}

/// A draw of the normal distribution (G. E. P. Box and M. E. Muller, Ann. Math. Stat. 29 (1958) 610-611).
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let uniform = |rng: &mut ChaCha8Rng| ((rng.next_u64() >> 11) as f64 + 0.5) * (1.0 / 9_007_199_254_740_992.0);
    let radius = libm::sqrt(-2.0 * libm::log(uniform(rng)));
    radius * libm::cos(core::f64::consts::TAU * uniform(rng))
}
