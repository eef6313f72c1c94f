//! The decentralized environmental notification message (ETSI EN 302 637-3 V1.3.1): something happened, there.

use super::position::ReferencePosition;
use super::uper::{self, Coder, Message, UperError, integer};

/// A DENM with its management and situation containers.
///
/// Location and à-la-carte containers, linked causes and histories are never written; a message is read up to them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Denm {
    /// StationID of the sender.
    pub station_id: u32,
    /// ActionID: the station that began the action,
    pub originating_station_id: u32,
    /// and its number there.
    pub sequence_number: u16,
    /// TimestampIts of the event `[ms since 2004-01-01, TAI]`.
    pub detection_time_ms: u64,
    /// TimestampIts of this version `[ms since 2004-01-01, TAI]`.
    pub reference_time_ms: u64,
    /// Termination: `Some(false)` cancels an own action, `Some(true)` negates another station's.
    pub termination: Option<bool>,
    /// Where.
    pub event_position: ReferencePosition,
    /// RelevanceDistance, as its number of 0..=7.
    pub relevance_distance: Option<u8>,
    /// RelevanceTrafficDirection, as its number of 0..=3.
    pub relevance_traffic_direction: Option<u8>,
    /// From the detection on `[s]`; 600 is the default and takes no bits.
    pub validity_duration_s: u32,
    /// Time between repetitions `[ms]`.
    pub transmission_interval_ms: Option<u16>,
    /// StationType; 5 is a passenger car.
    pub station_type: u8,
    /// The situation, if told: what, and how sure.
    pub situation: Option<Situation>,
}

/// SituationContainer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Situation {
    /// InformationQuality, 1 lowest to 7 highest; 0 is unavailable.
    pub information_quality: u8,
    /// CauseCodeType; 94 is a stationary vehicle.
    pub cause_code: u8,
    /// SubCauseCodeType; 0 is unavailable.
    pub sub_cause_code: u8,
}

/// `defaultValidity` `[s]`.
const DEFAULT_VALIDITY_S: u32 = 600;
/// protocolVersion and messageID.
const HEADER: (i64, i64) = (2, 1);
/// TimestampIts has 42 bits.
const TIMESTAMP_MAX_MS: i64 = 4_398_046_511_103;

impl Default for Denm {
    /// Nothing known, nothing told.
    fn default() -> Self {
        Self {
            station_id: 0,
            originating_station_id: 0,
            sequence_number: 0,
            detection_time_ms: 0,
            reference_time_ms: 0,
            termination: None,
            event_position: ReferencePosition::default(),
            relevance_distance: None,
            relevance_traffic_direction: None,
            validity_duration_s: DEFAULT_VALIDITY_S,
            transmission_interval_ms: None,
            station_type: 5,
            situation: None,
        }
    }
}

impl Denm {
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
    /// [`UperError`] if it is cut off or holds a value out of range.
    pub fn parse(bytes: &[u8]) -> Result<Self, UperError> {
        uper::parse(bytes)
    }
}

impl Message for Denm {
    fn code(&mut self, coder: &mut impl Coder) -> Result<bool, UperError> {
        uper::header(coder, HEADER, &mut self.station_id)?;
        let mut has_situation = self.situation.is_some();
        let mut has_more = 0;
        coder.flag("situation", &mut has_situation)?;
        coder.bits("location, alacarte", &mut has_more, 2)?;
        self.code_management(coder)?;
        if has_situation {
            let situation = self.situation.get_or_insert_default();
            let mut has_history = 0;
            coder.fixed("situation", 0, 1)?;
            coder.bits("linkedCause, eventHistory", &mut has_history, 2)?;
            integer!(coder, "informationQuality", situation.information_quality, 0, 7);
            coder.fixed("eventType", 0, 1)?;
            integer!(coder, "causeCode", situation.cause_code, 0, 255);
            integer!(coder, "subCauseCode", situation.sub_cause_code, 0, 255);
            has_more |= has_history;
        }
        Ok(has_more == 0)
    }
}

impl Denm {
    fn code_management(&mut self, coder: &mut impl Coder) -> Result<(), UperError> {
        let mut present = [
            self.termination.is_some(),
            self.relevance_distance.is_some(),
            self.relevance_traffic_direction.is_some(),
            self.validity_duration_s != DEFAULT_VALIDITY_S,
            self.transmission_interval_ms.is_some(),
        ];
        coder.fixed("management", 0, 1)?;
        for flag in &mut present {
            coder.flag("management", flag)?;
        }
        let [has_termination, has_distance, has_direction, has_validity, has_interval] = present;
        integer!(coder, "originatingStationID", self.originating_station_id, 0, i64::from(u32::MAX));
        integer!(coder, "sequenceNumber", self.sequence_number, 0, 65_535);
        for (field, time_ms) in
            [("detectionTime", &mut self.detection_time_ms), ("referenceTime", &mut self.reference_time_ms)]
        {
            let mut wide = i64::try_from(*time_ms).unwrap_or(i64::MAX);
            coder.integer(field, &mut wide, 0, TIMESTAMP_MAX_MS)?;
            *time_ms = wide as u64;
        }
        if has_termination {
            coder.flag("termination", self.termination.get_or_insert_default())?;
        }
        self.event_position.code(coder)?;
        if has_distance {
            integer!(coder, "relevanceDistance", *self.relevance_distance.get_or_insert_default(), 0, 7);
        }
        if has_direction {
            let direction = self.relevance_traffic_direction.get_or_insert_default();
            integer!(coder, "relevanceTrafficDirection", *direction, 0, 3);
        }
        if has_validity {
            integer!(coder, "validityDuration", self.validity_duration_s, 0, 86_400);
        }
        if has_interval {
            let interval = self.transmission_interval_ms.get_or_insert_default();
            integer!(coder, "transmissionInterval", *interval, 1, 10_000);
        }
        integer!(coder, "stationType", self.station_type, 0, 255);
        Ok(())
    }
}
