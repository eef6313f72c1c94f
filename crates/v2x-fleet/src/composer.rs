//! What a vehicle says of itself: its CAMs, with the errors of its sensors and the path it has come.

use chronoseal_core::LocalTime;
use chronoseal_core::random::ChaCha8Rng;
use chronoseal_wire::its::{Cam, LowFrequency, PathHistory, PathPoint, ReferencePosition};

use crate::accuracy::Accuracy;
use crate::chance::normal;
use crate::road::{Dimensions, Origin, State};

/// Points of the path lie this far apart, and so many are told `[m]`.
const PATH_STEP_M: f64 = 25.0;
const PATH_POINTS: usize = 8;

/// What does not change while a vehicle drives.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ComposerConfig {
    /// Where on the ellipsoid the plane of the road touches.
    pub(crate) origin: Origin,
    /// How well the vehicle knows what it tells.
    pub(crate) accuracy: Accuracy,
    /// Its size, if it tells that.
    pub(crate) dimensions: Option<Dimensions>,
}

/// Makes the CAMs of one vehicle.
#[derive(Debug)]
pub(crate) struct Composer {
    config: ComposerConfig,
    /// Where it was, newest first: time, latitude, longitude.
    path: Vec<(LocalTime, i32, i32)>,
    errors: ChaCha8Rng,
}

impl Composer {
    /// A vehicle that comes from nowhere; its sensors err by `errors`.
    pub(crate) fn new(config: ComposerConfig, errors: ChaCha8Rng) -> Self {
        Self { config, path: Vec::new(), errors }
    }

    /// The longest CAM there is `[byte]`: with the low-frequency container and a whole path.
    pub(crate) fn cam_len_max() -> usize {
        let points = [PathPoint { delta_time: Some(1), ..PathPoint::default() }; PATH_POINTS];
        let low_frequency = LowFrequency { path_history: PathHistory::new(&points), ..LowFrequency::default() };
        let cam = Cam { low_frequency: Some(low_frequency), ..Cam::default() };
        cam.emit(&mut [0; Cam::LEN_MAX]).unwrap_or(Cam::LEN_MAX)
    }

    /// Forgets whatever would tell of an identity it had before.
    pub(crate) fn forget(&mut self) {
        self.path.clear();
    }

    /// The CAM for a place; `now_us` is TAI since 2004-01-01 `[us]`.
    pub(crate) fn cam(
        &mut self,
        now: LocalTime,
        now_us: u64,
        station_id: u32,
        state: &State,
        with_low_frequency: bool,
    ) -> Cam {
        let ComposerConfig { origin, accuracy, dimensions } = self.config;
        let mut errs = |value: f64, deviation: f64| value + deviation * normal(&mut self.errors);
        let (x_m, y_m) = (errs(state.x_m, accuracy.position_m), errs(state.y_m, accuracy.position_m));
        let speed_m_s = errs(state.speed_m_s, accuracy.speed_m_s);
        let heading_deg = libm::fmod(errs(state.heading_deg, accuracy.heading_deg) + 720.0, 360.0);
        let (latitude, longitude) = origin.to_wgs84(x_m, y_m);
        let semi_axes_cm = [accuracy.position_confidence_cm(); 2];
        let mut cam = Cam {
            station_id,
            generation_delta_time_ms: (now_us / 1000) as u16,
            position: ReferencePosition { semi_axes_cm, orientation: 0, ..ReferencePosition::at(latitude, longitude) },
            heading: (libm::round(heading_deg * 10.0) as u16) % 3600,
            heading_confidence: accuracy.heading_confidence(),
            speed_cm_s: libm::round(speed_m_s * 100.0).clamp(0.0, 16_382.0) as u16,
            speed_confidence: accuracy.speed_confidence_cm_s(),
            drive_direction: 0,
            acceleration: libm::round(state.acceleration_m_s2 * 10.0).clamp(-160.0, 160.0) as i16,
            ..Cam::default()
        };
        if let Some(dimensions) = dimensions {
            (cam.length_dm, cam.width_dm) = (dimensions.length_dm, dimensions.width_dm);
        }
        if with_low_frequency {
            let path_history = self.path_history(now, latitude, longitude);
            cam.low_frequency = Some(LowFrequency { path_history, ..LowFrequency::default() });
        }
        self.remember(now, latitude, longitude);
        cam
    }

    fn remember(&mut self, now: LocalTime, latitude: i32, longitude: i32) {
        let is_far = self.path.first().is_none_or(|(_, last_latitude, last_longitude)| {
            let (x_m, y_m) = self.config.origin.to_plane(latitude, longitude);
            let (last_x_m, last_y_m) = self.config.origin.to_plane(*last_latitude, *last_longitude);
            libm::hypot(x_m - last_x_m, y_m - last_y_m) >= PATH_STEP_M
        });
        if is_far {
            self.path.insert(0, (now, latitude, longitude));
            self.path.truncate(PATH_POINTS);
        }
    }

    /// Each point as its difference from the one before it in the list, the first from the place told.
    fn path_history(&self, now: LocalTime, latitude: i32, longitude: i32) -> PathHistory {
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
