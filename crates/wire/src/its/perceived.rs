//! PerceivedObject of the common data dictionary (ETSI TS 102 894-2 V2.4.1): something a station's sensors see.

use super::uper::{Coder, UperError, integer};
use super::vru::VruProfile;

/// A value and the half width of its 95 % interval, in the same unit unless something else is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Estimate<T> {
    /// The value.
    pub value: T,
    /// How far it may be off.
    pub confidence: u16,
}

/// What something is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectClass {
    /// A vehicle, by its TrafficParticipantType up to 14; 5 is a passenger car.
    Vehicle(u8),
    /// A vulnerable road user.
    Vru(VruProfile),
    /// Anything else, by OtherSubClass.
    Other(u8),
}

/// Something perceived, as seen from the reference position of the message. Its axes point east and north.
///
/// Accelerations, correlations, places on a map and axes up are never written; a message with them is refused as unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PerceivedObject {
    /// objectId: as long as the station follows it.
    pub id: u16,
    /// measurementDeltaTime, before the reference time `[ms]`: -2048 to 2047.
    pub measurement_delta_ms: i16,
    /// East `[cm]`: -131072 to 131071; confidence 1 to 4096 (unavailable).
    pub x_cm: Estimate<i32>,
    /// North `[cm]`.
    pub y_cm: Estimate<i32>,
    /// Velocity east and north `[cm/s]`: -16383 to 16383 (unavailable); confidence 1 to 127 (unavailable).
    pub velocity_cm_s: Option<[Estimate<i16>; 2]>,
    /// Angle about the axis up, counter-clockwise from the x axis `[0.1 degree]`: 0 to 3601 (unavailable); confidence 1 to 127
    /// (unavailable).
    pub angle: Option<Estimate<u16>>,
    /// Along the angle `[dm]`: 1 to 256 (unavailable); confidence 1 to 32 (unavailable).
    pub length_dm: Option<Estimate<u16>>,
    /// Across it `[dm]`.
    pub width_dm: Option<Estimate<u16>>,
    /// For how long the station has known it `[ms]`: 0 to 2047, the last for that and more.
    pub age_ms: Option<u16>,
    /// ObjectPerceptionQuality, 0 none to 15 full.
    pub quality: Option<u8>,
    /// What it is, and how sure: 1 to 100 %, or 101 (unavailable).
    pub class: Option<(ObjectClass, u8)>,
}

impl Default for PerceivedObject {
    /// Something at the reference position, of which nothing is known.
    fn default() -> Self {
        Self {
            id: 0,
            measurement_delta_ms: 0,
            x_cm: Estimate { value: 0, confidence: 4096 },
            y_cm: Estimate { value: 0, confidence: 4096 },
            velocity_cm_s: None,
            angle: None,
            length_dm: None,
            width_dm: None,
            age_ms: None,
            quality: None,
            class: None,
        }
    }
}

impl PerceivedObject {
    pub(super) fn code(&mut self, coder: &mut impl Coder) -> Result<(), UperError> {
        coder.fixed("perceivedObject", 0, 1)?;
        // objectId is always there (TS 103 324, PerceivedObjects).
        coder.fixed("objectId", 1, 1)?;
        let mut has_velocity = self.velocity_cm_s.is_some();
        let mut has_angle = self.angle.is_some();
        let (mut has_length, mut has_width) = (self.length_dm.is_some(), self.width_dm.is_some());
        let (mut has_age, mut has_quality) = (self.age_ms.is_some(), self.quality.is_some());
        let mut has_class = self.class.is_some();
        coder.flag("velocity", &mut has_velocity)?;
        coder.fixed("acceleration", 0, 1)?;
        coder.flag("angles", &mut has_angle)?;
        coder.fixed("zAngularVelocity, correlations, objectDimensionZ", 0, 3)?;
        coder.flag("objectDimensionY", &mut has_width)?;
        coder.flag("objectDimensionX", &mut has_length)?;
        coder.flag("objectAge", &mut has_age)?;
        coder.flag("objectPerceptionQuality", &mut has_quality)?;
        coder.fixed("sensorIdList", 0, 1)?;
        coder.flag("classification", &mut has_class)?;
        coder.fixed("mapPosition", 0, 1)?;
        integer!(coder, "objectId", self.id, 0, 65_535);
        integer!(coder, "measurementDeltaTime", self.measurement_delta_ms, -2048, 2047);
        coder.fixed("zCoordinate", 0, 1)?;
        for coordinate in [&mut self.x_cm, &mut self.y_cm] {
            integer!(coder, "coordinate", coordinate.value, -131_072, 131_071);
            integer!(coder, "coordinateConfidence", coordinate.confidence, 1, 4096);
        }
        if has_velocity {
            // The second of two kinds: cartesian.
            coder.fixed("velocity", 1, 1)?;
            coder.fixed("zVelocity", 0, 1)?;
            for component in self.velocity_cm_s.get_or_insert_default() {
                integer!(coder, "velocityComponent", component.value, -16_383, 16_383);
                integer!(coder, "speedConfidence", component.confidence, 1, 127);
            }
        }
        if has_angle {
            let angle = self.angle.get_or_insert_default();
            coder.fixed("yAngle, xAngle", 0, 2)?;
            integer!(coder, "zAngle", angle.value, 0, 3601);
            integer!(coder, "angleConfidence", angle.confidence, 1, 127);
        }
        for (is_present, dimension) in [(has_width, &mut self.width_dm), (has_length, &mut self.length_dm)] {
            if is_present {
                let dimension = dimension.get_or_insert_default();
                integer!(coder, "objectDimension", dimension.value, 1, 256);
                integer!(coder, "objectDimensionConfidence", dimension.confidence, 1, 32);
            }
        }
        if has_age {
            integer!(coder, "objectAge", *self.age_ms.get_or_insert_default(), 0, 2047);
        }
        if has_quality {
            integer!(coder, "objectPerceptionQuality", *self.quality.get_or_insert_default(), 0, 15);
        }
        if has_class {
            let (class, confidence) = self.class.get_or_insert((ObjectClass::Other(0), 101));
            // One class of up to eight.
            coder.fixed("classification", 0, 3)?;
            class.code(coder)?;
            integer!(coder, "classConfidence", *confidence, 1, 101);
        }
        Ok(())
    }
}

impl ObjectClass {
    fn code(&mut self, coder: &mut impl Coder) -> Result<(), UperError> {
        let mut kind = match self {
            Self::Vehicle(_) => 0,
            Self::Vru(_) => 1,
            Self::Other(_) => 3,
        };
        coder.fixed("objectClass", 0, 1)?;
        coder.bits("objectClass", &mut kind, 2)?;
        let mut number = match self {
            Self::Vehicle(number) | Self::Other(number) => i64::from(*number),
            Self::Vru(_) => 0,
        };
        *self = match kind {
            0 => {
                coder.integer("vehicleSubClass", &mut number, 0, 14)?;
                Self::Vehicle(number as u8)
            }
            1 => {
                let mut profile = if let Self::Vru(profile) = self { *profile } else { VruProfile::default() };
                profile.code(coder)?;
                Self::Vru(profile)
            }
            3 => {
                coder.integer("otherSubClass", &mut number, 0, 255)?;
                Self::Other(number as u8)
            }
            _ => return Err(UperError::Unknown { field: "groupSubClass" }),
        };
        Ok(())
    }
}
