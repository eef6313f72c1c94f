//! How a station moves.

use std::sync::Arc;

use chronoseal_core::{LocalTime, SimTime};

use crate::road::{Dimensions, State, Trips};

/// Where a station is at any time, as a clock that shows the time of the run tells it.
///
/// The station asks by its own clock, which satellites keep right; the radio channel asks by the time of the run.
#[derive(Clone, Debug)]
pub enum Mobility {
    /// Straight on at the same speed, from where it is at time zero.
    Straight(State),
    /// One trip of a record that many share.
    Trip {
        /// The record.
        trips: Arc<Trips>,
        /// Which of its trips; one that is not there is nowhere.
        index: usize,
    },
}

impl Mobility {
    /// Where it is; `None` before it appears and after it has left.
    pub fn state_at(&self, now: LocalTime) -> Option<State> {
        match self {
            Self::Straight(state) => {
                let (sin, cos) = libm::sincos(state.heading_deg.to_radians());
                let way_m = state.speed_m_s * now.since_zero().as_secs_f64();
                Some(State { x_m: state.x_m + way_m * sin, y_m: state.y_m + way_m * cos, ..*state })
            }
            Self::Trip { trips, index } => trips.trips.get(*index)?.state_at(SimTime::from_ps(now.as_ps()), trips.step),
        }
    }

    /// Its size, if the record has it.
    pub fn dimensions(&self) -> Option<Dimensions> {
        match self {
            Self::Straight(_) => None,
            Self::Trip { trips, index } => Some(trips.trips.get(*index)?.dimensions),
        }
    }
}
