//! What a radio channel is built from.

use std::sync::Arc;

use super::access::{AccessCategory, AccessParameters};
use super::kinds::Kinds;
use super::motion::Motion;
use super::ofdm::OfdmRate;
use super::propagation::{Position, Propagation};
use super::timing::CW_MAX;
use crate::medium::Attachment;

/// Most stations of one channel.
pub const STATIONS_MAX: usize = 65_536;

/// A channel and the stations on it.
#[derive(Clone, Debug)]
pub struct RadioConfig {
    /// Where each station is at the start.
    pub stations: Vec<StationConfig>,
    /// Rate of every frame.
    pub rate: OfdmRate,
    /// Who hears whom.
    pub propagation: Propagation,
    /// A frame survives others that overlap it if it is stronger than all of them together by as much `[dB]`. `None`: none
    /// survives.
    pub capture_db: Option<f64>,
    /// How each access category, lowest first, gets its turn.
    pub access: [AccessParameters; 4],
    /// Frames that may wait in each category of a station.
    pub queue_len_max: usize,
    /// How stations move. `None`: as [`super::RadioChannel::move_to`] says.
    pub motion: Option<Arc<dyn Motion>>,
    /// Tells kinds of message apart, whose time on the air is then counted by kind as well.
    pub kinds: Option<Arc<dyn Kinds>>,
    /// Seeds backoff and fading.
    pub seed: u64,
}

impl RadioConfig {
    /// 6 Mbit/s, parameters outside a BSS, no capture, 16 frames a queue, nobody moves, all messages alike, seed 0.
    pub fn new(stations: Vec<StationConfig>, propagation: Propagation) -> Self {
        Self {
            stations,
            rate: OfdmRate::default(),
            propagation,
            capture_db: None,
            access: AccessCategory::ALL.map(AccessParameters::ocb),
            queue_len_max: 16,
            motion: None,
            kinds: None,
            seed: 0,
        }
    }

    pub(super) fn check(&self) -> Result<(), RadioError> {
        if self.stations.len() > STATIONS_MAX {
            return Err(RadioError::TooManyStations(self.stations.len()));
        }
        if self.queue_len_max == 0 {
            return Err(RadioError::NoQueue);
        }
        for (category, parameters) in AccessCategory::ALL.into_iter().zip(&self.access) {
            let AccessParameters { aifsn, cw_min, cw_max } = *parameters;
            if cw_min > cw_max || cw_max > CW_MAX || aifsn > AIFSN_MAX {
                return Err(RadioError::Access(category));
            }
        }
        match &self.propagation {
            Propagation::LogDistance(model) if !model.is_sound() => return Err(RadioError::Propagation),
            Propagation::Disc { .. } if self.capture_db.is_some() => return Err(RadioError::CaptureWithoutPower),
            _ => {}
        }
        match self.capture_db {
            Some(capture_db) if !(0.0..=300.0).contains(&capture_db) => Err(RadioError::Capture(capture_db)),
            _ => Ok(()),
        }
    }
}

/// The field of the parameter set has four bits.
const AIFSN_MAX: u32 = 15;

/// One station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StationConfig {
    /// The node's port to it.
    pub attachment: Attachment,
    /// Where it is at the start.
    pub position: Position,
}

/// Why a channel cannot be built.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RadioError {
    /// More stations than a timer can name.
    #[error("{0} stations; a channel has at most {STATIONS_MAX}")]
    TooManyStations(usize),
    /// Two stations for one port.
    #[error("port {} of node {} is attached twice", .0.port.0, .0.node.0)]
    AttachedTwice(Attachment),
    /// A queue for no frame at all.
    #[error("queue_len_max is 0: a station could never send")]
    NoQueue,
    /// Parameters no station can use.
    #[error("access parameters of {0:?}: cw_min must not exceed cw_max, cw_max not 1023, aifsn not 15")]
    Access(AccessCategory),
    /// Numbers of the path loss that cannot be computed with.
    #[error(
        "path loss: powers must lie within 300 dB of 0, the exponent within 0.5 and 10, the carrier sense threshold at or \
         below the sensitivity, m within 1 and 16"
    )]
    Propagation,
    /// The disc model has no powers to compare.
    #[error("capture needs received powers, which the disc model does not have")]
    CaptureWithoutPower,
    /// A ratio out of range.
    #[error("capture_db is {0}; it must lie within 0 and 300")]
    Capture(f64),
}
