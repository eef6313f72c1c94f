//! The vulnerable road user awareness message (ETSI TS 103 300-3 V2.3.1): who goes on foot or on two wheels, and where.

use super::position::ReferencePosition;
use super::uper::{self, Coder, Message, UperError, integer};
use super::vru::VruProfile;

/// A VAM. What a station does not know has the number that means unavailable, as in [`Vam::default`].
///
/// Optional elements of the high-frequency container, clusters and predictions are never written; a message that has them
/// in front of what is read is refused as unknown, and one that has them behind it is read up to them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vam {
    /// StationId: changes with the pseudonym.
    pub station_id: u32,
    /// TimestampIts modulo 65536 `[ms]`.
    pub generation_delta_time_ms: u16,
    /// TrafficParticipantType; 1 is a pedestrian.
    pub station_type: u8,
    /// Where.
    pub position: ReferencePosition,
    /// From north, clockwise `[0.1 degree]`; 3601 is unavailable.
    pub heading: u16,
    /// `[0.1 degree]`; 127 is unavailable.
    pub heading_confidence: u8,
    /// `[cm/s]`; 16383 is unavailable.
    pub speed_cm_s: u16,
    /// `[cm/s]`; 127 is unavailable.
    pub speed_confidence: u8,
    /// Longitudinal acceleration `[0.1 m/s^2]`; 161 is unavailable.
    pub acceleration: i16,
    /// `[0.1 m/s^2]`; 102 is unavailable.
    pub acceleration_confidence: u8,
    /// What is sent every 2 s.
    pub low_frequency: Option<VruLowFrequency>,
}

/// VruLowFrequencyContainer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct VruLowFrequency {
    /// Of which kind.
    pub profile: VruProfile,
    /// VruSizeClass: 1 low, 2 medium, 3 high; 0 is unavailable.
    pub size_class: Option<u8>,
}

impl Default for Vam {
    /// Somebody who knows nothing of himself.
    fn default() -> Self {
        Self {
            station_id: 0,
            generation_delta_time_ms: 0,
            station_type: 0,
            position: ReferencePosition::default(),
            heading: 3601,
            heading_confidence: 127,
            speed_cm_s: 16_383,
            speed_confidence: 127,
            acceleration: 161,
            acceleration_confidence: 102,
            low_frequency: None,
        }
    }
}

/// protocolVersion and messageId.
const HEADER: (i64, i64) = (3, 16);
/// Optional elements of the high-frequency container.
const HIGH_FREQUENCY_OPTIONS: u32 = 11;

impl Vam {
    /// Longest message that [`Self::emit`] writes `[byte]`.
    pub const LEN_MAX: usize = 64;

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
    /// [`UperError`] if it is cut off, holds a value out of range or an element that is not known here.
    pub fn parse(bytes: &[u8]) -> Result<Self, UperError> {
        uper::parse(bytes)
    }
}

impl Message for Vam {
    fn code(&mut self, coder: &mut impl Coder) -> Result<bool, UperError> {
        uper::header(coder, HEADER, &mut self.station_id)?;
        integer!(coder, "generationDeltaTime", self.generation_delta_time_ms, 0, 65_535);
        coder.fixed("vamParameters", 0, 1)?;
        let mut has_low_frequency = self.low_frequency.is_some();
        let mut has_more = 0;
        coder.flag("vruLowFrequencyContainer", &mut has_low_frequency)?;
        coder.bits("clusterInformation, clusterOperation, motionPrediction", &mut has_more, 3)?;
        coder.fixed("basicContainer", 0, 1)?;
        integer!(coder, "stationType", self.station_type, 0, 255);
        self.position.code(coder)?;
        coder.fixed("vruHighFrequencyContainer", 0, 1 + HIGH_FREQUENCY_OPTIONS)?;
        integer!(coder, "headingValue", self.heading, 0, 3601);
        integer!(coder, "headingConfidence", self.heading_confidence, 1, 127);
        integer!(coder, "speedValue", self.speed_cm_s, 0, 16_383);
        integer!(coder, "speedConfidence", self.speed_confidence, 1, 127);
        integer!(coder, "longitudinalAccelerationValue", self.acceleration, -160, 161);
        integer!(coder, "longitudinalAccelerationConfidence", self.acceleration_confidence, 0, 102);
        if has_low_frequency {
            let low = self.low_frequency.get_or_insert_default();
            let mut has_size = low.size_class.is_some();
            coder.fixed("vruLowFrequencyContainer", 0, 1)?;
            coder.flag("sizeClass", &mut has_size)?;
            coder.fixed("exteriorLights", 0, 1)?;
            low.profile.code(coder)?;
            if has_size {
                integer!(coder, "sizeClass", *low.size_class.get_or_insert_default(), 0, 15);
            }
        }
        Ok(has_more == 0)
    }
}
