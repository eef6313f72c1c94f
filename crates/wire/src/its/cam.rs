//! The cooperative awareness message (ETSI EN 302 637-2 V1.4.1): who is where, how fast and in which direction.

use super::position::{PathHistory, ReferencePosition};
use super::uper::{self, Coder, Message, UperError, integer};

/// A vehicle's CAM. What a station does not know has the number that means unavailable, as in [`Cam::default`].
///
/// Optional elements of the high-frequency container are read over and never written. A special vehicle container is not
/// read; an RSU's message is refused as unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cam {
    /// StationID: changes with the pseudonym.
    pub station_id: u32,
    /// TimestampIts modulo 65536 `[ms]`.
    pub generation_delta_time_ms: u16,
    /// StationType; 5 is a passenger car.
    pub station_type: u8,
    /// The middle of the vehicle's front.
    pub position: ReferencePosition,
    /// From north, clockwise `[0.1 degree]`; 3601 is unavailable.
    pub heading: u16,
    /// `[0.1 degree]`; 127 is unavailable.
    pub heading_confidence: u8,
    /// `[cm/s]`; 16383 is unavailable.
    pub speed_cm_s: u16,
    /// `[cm/s]`; 127 is unavailable.
    pub speed_confidence: u8,
    /// DriveDirection: 0 forward, 1 backward, 2 unavailable.
    pub drive_direction: u8,
    /// `[dm]`; 1023 is unavailable.
    pub length_dm: u16,
    /// `[dm]`; 62 is unavailable.
    pub width_dm: u8,
    /// Longitudinal acceleration `[0.1 m/s^2]`; 161 is unavailable.
    pub acceleration: i16,
    /// `[1/10000 m^-1]`; 1023 is unavailable.
    pub curvature: i16,
    /// `[0.01 degree/s]`, left positive; 32767 is unavailable.
    pub yaw_rate: i16,
    /// What is sent every 500 ms.
    pub low_frequency: Option<LowFrequency>,
}

/// BasicVehicleContainerLowFrequency.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LowFrequency {
    /// VehicleRole, as its number; 0 is the default.
    pub vehicle_role: u8,
    /// ExteriorLights, low beam in the highest bit.
    pub exterior_lights: u8,
    /// Where it was.
    pub path_history: PathHistory,
}

impl Default for Cam {
    /// A passenger car that knows nothing of itself.
    fn default() -> Self {
        Self {
            station_id: 0,
            generation_delta_time_ms: 0,
            station_type: 5,
            position: ReferencePosition::default(),
            heading: 3601,
            heading_confidence: 127,
            speed_cm_s: 16_383,
            speed_confidence: 127,
            drive_direction: 2,
            length_dm: 1023,
            width_dm: 62,
            acceleration: 161,
            curvature: 1023,
            yaw_rate: 32_767,
            low_frequency: None,
        }
    }
}

/// protocolVersion and messageID.
const HEADER: (i64, i64) = (2, 2);

impl Cam {
    /// Longest message that [`Self::emit`] writes, 40 points of the path included `[byte]`.
    pub const LEN_MAX: usize = 388;

    /// Writes the message to the front of `buf`; returns its length `[byte]`.
    ///
    /// # Errors
    /// [`UperError`] for a value out of range or a buffer too short.
    pub fn emit(&self, buf: &mut [u8]) -> Result<usize, UperError> {
        uper::emit(*self, buf)
    }

    /// Reads a message.
    ///
    /// # Errors
    /// [`UperError`] if it is cut off, holds a value out of range or is none of a vehicle.
    pub fn parse(bytes: &[u8]) -> Result<Self, UperError> {
        uper::parse(bytes)
    }
}

impl Message for Cam {
    fn code(&mut self, coder: &mut impl Coder) -> Result<bool, UperError> {
        uper::header(coder, HEADER, &mut self.station_id)?;
        integer!(coder, "generationDeltaTime", self.generation_delta_time_ms, 0, 65_535);
        let mut has_low_frequency = self.low_frequency.is_some();
        let mut has_special_vehicle = false;
        coder.fixed("camParameters", 0, 1)?;
        coder.flag("lowFrequencyContainer", &mut has_low_frequency)?;
        coder.flag("specialVehicleContainer", &mut has_special_vehicle)?;
        coder.fixed("basicContainer", 0, 1)?;
        integer!(coder, "stationType", self.station_type, 0, 255);
        self.position.code(coder)?;
        // A choice of two with an extension bit; the first is the vehicle's.
        coder.fixed("highFrequencyContainer", 0, 2)?;
        self.code_high_frequency(coder)?;
        if has_low_frequency {
            let low = self.low_frequency.get_or_insert_default();
            // A choice of one with an extension bit.
            coder.fixed("lowFrequencyContainer", 0, 1)?;
            integer!(coder, "vehicleRole", low.vehicle_role, 0, 15);
            integer!(coder, "exteriorLights", low.exterior_lights, 0, 255);
            low.path_history.code(coder)?;
        }
        Ok(!has_special_vehicle)
    }
}

impl Cam {
    fn code_high_frequency(&mut self, coder: &mut impl Coder) -> Result<(), UperError> {
        let mut present = 0;
        coder.bits("basicVehicleContainerHighFrequency", &mut present, 7)?;
        integer!(coder, "headingValue", self.heading, 0, 3601);
        integer!(coder, "headingConfidence", self.heading_confidence, 1, 127);
        integer!(coder, "speedValue", self.speed_cm_s, 0, 16_383);
        integer!(coder, "speedConfidence", self.speed_confidence, 1, 127);
        integer!(coder, "driveDirection", self.drive_direction, 0, 2);
        integer!(coder, "vehicleLengthValue", self.length_dm, 1, 1023);
        // unavailable, of five
        skip(coder, "vehicleLengthConfidenceIndication", 4, 0, 4)?;
        integer!(coder, "vehicleWidth", self.width_dm, 1, 62);
        integer!(coder, "longitudinalAccelerationValue", self.acceleration, -160, 161);
        skip(coder, "longitudinalAccelerationConfidence", 102, 0, 102)?;
        integer!(coder, "curvatureValue", self.curvature, -1023, 1023);
        skip(coder, "curvatureConfidence", 7, 0, 7)?;
        coder.fixed("curvatureCalculationMode", 0, 1)?;
        skip(coder, "curvatureCalculationMode", 2, 0, 2)?;
        integer!(coder, "yawRateValue", self.yaw_rate, -32_766, 32_767);
        skip(coder, "yawRateConfidence", 8, 0, 8)?;
        self.skip_optional(coder, present)
    }

    /// Reads over the optional elements whose bits are set, first element in the highest of seven.
    fn skip_optional(&mut self, coder: &mut impl Coder, present: u64) -> Result<(), UperError> {
        let is_present = |index: u32| present >> (6 - index) & 1 == 1;
        // accelerationControl 7, lanePosition 4, steeringWheelAngle 10 + 7, lateral and vertical acceleration 9 + 7,
        // performanceClass 3
        for (index, width) in [7, 4, 17, 16, 16, 3].into_iter().enumerate() {
            if is_present(index as u32) {
                coder.bits("basicVehicleContainerHighFrequency", &mut 0, width)?;
            }
        }
        if is_present(6) {
            let mut has_id = false;
            coder.fixed("cenDsrcTollingZone", 0, 1)?;
            coder.flag("cenDsrcTollingZone", &mut has_id)?;
            coder.bits("protectedZoneLatitude", &mut 0, 31)?;
            coder.bits("protectedZoneLongitude", &mut 0, 32)?;
            if has_id {
                coder.bits("cenDsrcTollingZoneID", &mut 0, 27)?;
            }
        }
        Ok(())
    }
}

/// An element that is written as unavailable and not kept when read.
fn skip(coder: &mut impl Coder, field: &'static str, unavailable: i64, low: i64, high: i64) -> Result<(), UperError> {
    coder.integer(field, &mut { unavailable }, low, high)
}
