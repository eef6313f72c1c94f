//! Places: ReferencePosition and PathHistory of the common data dictionary (ETSI TS 102 894-2 V1.3.1).

use super::uper::{Coder, UperError, integer};

/// ReferencePosition: WGS 84, with what is not known marked so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReferencePosition {
    /// Latitude, north positive `[0.1 microdegree]`.
    pub latitude: i32,
    /// Longitude, east positive `[0.1 microdegree]`.
    pub longitude: i32,
    /// Half axes of the ellipse that holds the true place with 95 % `[cm]`; 4095 is unavailable.
    pub semi_axes_cm: [u16; 2],
    /// Direction of the longer half axis from north `[0.1 degree]`; 3601 is unavailable.
    pub orientation: u16,
    /// Height over the ellipsoid `[cm]`; 800001 is unavailable.
    pub altitude_cm: i32,
    /// AltitudeConfidence, as its number; 15 is unavailable.
    pub altitude_confidence: u8,
}

impl ReferencePosition {
    /// A place with nothing else known.
    pub const fn at(latitude: i32, longitude: i32) -> Self {
        Self {
            latitude,
            longitude,
            semi_axes_cm: [4095; 2],
            orientation: 3601,
            altitude_cm: 800_001,
            altitude_confidence: 15,
        }
    }

    pub(super) fn code(&mut self, coder: &mut impl Coder) -> Result<(), UperError> {
        integer!(coder, "latitude", self.latitude, -900_000_000, 900_000_001);
        integer!(coder, "longitude", self.longitude, -1_800_000_000, 1_800_000_001);
        integer!(coder, "semiMajorConfidence", self.semi_axes_cm[0], 0, 4095);
        integer!(coder, "semiMinorConfidence", self.semi_axes_cm[1], 0, 4095);
        integer!(coder, "semiMajorOrientation", self.orientation, 0, 3601);
        integer!(coder, "altitudeValue", self.altitude_cm, -100_000, 800_001);
        integer!(coder, "altitudeConfidence", self.altitude_confidence, 0, 15);
        Ok(())
    }
}

impl Default for ReferencePosition {
    /// Unavailable.
    fn default() -> Self {
        Self::at(900_000_001, 1_800_000_001)
    }
}

/// PathPoint: where a station was before, from the point behind it in the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathPoint {
    /// North `[0.1 microdegree]`; 131072 is unavailable.
    pub delta_latitude: i32,
    /// East `[0.1 microdegree]`; 131072 is unavailable.
    pub delta_longitude: i32,
    /// Up `[cm]`; 12800 is unavailable.
    pub delta_altitude_cm: i16,
    /// How long before `[10 ms]`, from 1 on.
    pub delta_time: Option<u16>,
}

impl PathPoint {
    fn code(&mut self, coder: &mut impl Coder) -> Result<(), UperError> {
        let mut has_time = self.delta_time.is_some();
        coder.flag("pathDeltaTime", &mut has_time)?;
        integer!(coder, "deltaLatitude", self.delta_latitude, -131_071, 131_072);
        integer!(coder, "deltaLongitude", self.delta_longitude, -131_071, 131_072);
        integer!(coder, "deltaAltitude", self.delta_altitude_cm, -12_700, 12_800);
        if has_time {
            let mut time = self.delta_time.unwrap_or_default();
            coder.fixed("pathDeltaTime", 0, 1)?;
            integer!(coder, "pathDeltaTime", time, 1, 65_535);
            self.delta_time = Some(time);
        }
        Ok(())
    }
}

/// PathHistory: where a station was before, newest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathHistory {
    points: [PathPoint; Self::LEN_MAX],
    len: u8,
}

impl PathHistory {
    /// Most points.
    pub const LEN_MAX: usize = 40;

    /// The first [`Self::LEN_MAX`] of `points`.
    pub fn new(points: &[PathPoint]) -> Self {
        let len = points.len().min(Self::LEN_MAX);
        let mut history = Self::default();
        history.points[..len].copy_from_slice(&points[..len]);
        history.len = len as u8;
        history
    }

    /// The points.
    pub fn points(&self) -> &[PathPoint] {
        &self.points[..usize::from(self.len)]
    }

    pub(super) fn code(&mut self, coder: &mut impl Coder) -> Result<(), UperError> {
        integer!(coder, "pathHistory", self.len, 0, Self::LEN_MAX as i64);
        self.points[..usize::from(self.len)].iter_mut().try_for_each(|point| point.code(coder))
    }
}

impl Default for PathHistory {
    /// No point.
    fn default() -> Self {
        Self { points: [PathPoint::default(); Self::LEN_MAX], len: 0 }
    }
}
