//! A vulnerable road user's station: when it sends a VAM and what that tells (ETSI TS 103 300-3 V2.3.1, clause 6.4).
//!
//! Clusters, predictions of ways and the likelihood that two ways cross are left out: a VAM is due by the time since the last
//! one and by how the user has moved.

use chronoseal_core::{Duration, LocalTime};
use chronoseal_wire::its::{Vam, VruLowFrequency, VruProfile};

use super::perception::erring;
use super::sending::Outgoing;
use super::{ItsStation, MessageKind};
use crate::generation::has_moved;
use crate::road::State;

/// A vulnerable road user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoadUser {
    /// Of which kind.
    pub profile: VruProfile,
    /// Shortest time between two VAMs, T_GenVam: 100 ms to 5 s.
    pub every: Duration,
}

/// Longest time between two, T_GenVamMax.
pub const INTERVAL_MAX: Duration = Duration::from_ms(5_000);
/// Shortest time between two low-frequency containers, T_GenVamLFMin.
const LOW_FREQUENCY_INTERVAL: Duration = Duration::from_ms(2_000);

/// What a station remembers of its VAMs.
#[derive(Debug, Default)]
pub(super) struct Awareness {
    last: Option<(LocalTime, State)>,
    low_frequency_at: Option<LocalTime>,
}

impl Awareness {
    /// Whether a VAM is due, and if so, whether it carries the low-frequency container; it counts as sent then.
    pub(super) fn check(&mut self, now: LocalTime, user: &RoadUser, state: &State) -> Option<bool> {
        let is_due = self.last.is_none_or(|(at, last)| {
            let elapsed = now - at;
            elapsed >= user.every && (elapsed >= INTERVAL_MAX || has_moved(&last, state))
        });
        if !is_due {
            return None;
        }
        self.last = Some((now, *state));
        let with_low_frequency = self.low_frequency_at.is_none_or(|at| now - at >= LOW_FREQUENCY_INTERVAL);
        if with_low_frequency {
            self.low_frequency_at = Some(now);
        }
        Some(with_low_frequency)
    }
}

impl ItsStation {
    /// The VAM that is due; `None` if it cannot be written, which only a place off the map can bring about.
    pub(super) fn vam(&mut self, now: LocalTime, state: &State, with_low_frequency: bool) -> Option<Outgoing> {
        let accuracy = self.config.accuracy;
        let profile = self.config.road_user.map_or(VruProfile::default(), |user| user.profile);
        let said = erring(state, &accuracy, &mut self.sensors);
        let (at, position) = self.told(&said);
        let vam = Vam {
            station_id: self.identity().station_id,
            generation_delta_time_ms: (self.tai_us(now) / 1_000) as u16,
            station_type: profile.station_type(),
            position,
            heading: at.heading,
            heading_confidence: accuracy.heading_confidence(),
            speed_cm_s: at.speed_cm_s,
            speed_confidence: accuracy.speed_confidence_cm_s(),
            low_frequency: with_low_frequency.then_some(VruLowFrequency { profile, size_class: None }),
            ..Vam::default()
        };
        self.outgoing(MessageKind::Vam, now, at, |message| vam.emit(message))
    }
}

/// The longest VAM that a station sends `[byte]`.
pub(super) fn vam_len_max() -> usize {
    let vam = Vam { low_frequency: Some(VruLowFrequency::default()), ..Vam::default() };
    vam.emit(&mut [0; Vam::LEN_MAX]).unwrap_or(Vam::LEN_MAX)
}
