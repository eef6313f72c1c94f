//! Where vehicles are and how they move: computed on a built-in [`highway`], or read from a trace of [`sumo`].

mod geodesy;
pub mod highway;
pub mod sumo;

pub use geodesy::Origin;

use chronoseal_core::{Duration, SimTime};

/// A vehicle at one moment, on a plane with x to the east and y to the north.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    /// Middle of the front, east `[m]`.
    pub x_m: f64,
    /// Middle of the front, north `[m]`.
    pub y_m: f64,
    /// `[m/s]`
    pub speed_m_s: f64,
    /// Direction from north, clockwise, 0 to 360 `[degree]`.
    pub heading_deg: f64,
    /// Along the direction `[m/s^2]`.
    pub acceleration_m_s2: f64,
}

impl State {
    /// Distance to another place `[m]`.
    pub fn distance_m(&self, other: &Self) -> f64 {
        libm::hypot(self.x_m - other.x_m, self.y_m - other.y_m)
    }
}

/// How long and wide a vehicle is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Dimensions {
    /// `[dm]`
    pub length_dm: u16,
    /// `[dm]`
    pub width_dm: u8,
}

/// One vehicle from where it appears to where it leaves.
#[derive(Clone, PartialEq, Debug)]
pub struct Trip {
    /// Its name in the source.
    pub name: String,
    /// Its size.
    pub dimensions: Dimensions,
    /// When it appears.
    pub begins_at: SimTime,
    /// One state for each step of the trips since then; at least one.
    states: Vec<State>,
}

/// All vehicles of a road over some time.
#[derive(Clone, PartialEq, Debug)]
pub struct Trips {
    /// The vehicles, by the time they appear.
    pub trips: Vec<Trip>,
    /// Time between two states.
    pub step: Duration,
    /// When the last state is.
    pub ends_at: SimTime,
}

impl Trip {
    /// Where the vehicle is; `None` before it appears and after it has left.
    ///
    /// Between two states place, speed and acceleration are linear in time, and the direction turns the short way.
    pub fn state_at(&self, now: SimTime, step: Duration) -> Option<State> {
        let since = now - self.begins_at;
        if since.is_negative() {
            return None;
        }
        let index = since.div_floor(step) as usize;
        let from = self.states.get(index)?;
        let rest = since.rem_floor(step);
        if rest == Duration::ZERO {
            return Some(*from);
        }
        let to = self.states.get(index + 1)?;
        let share = rest.as_ps() as f64 / step.as_ps() as f64;
        let between = |a: f64, b: f64| a + (b - a) * share;
        let turn_deg = libm::fmod(to.heading_deg - from.heading_deg + 540.0, 360.0) - 180.0;
        Some(State {
            x_m: between(from.x_m, to.x_m),
            y_m: between(from.y_m, to.y_m),
            speed_m_s: between(from.speed_m_s, to.speed_m_s),
            heading_deg: libm::fmod(from.heading_deg + turn_deg * share + 360.0, 360.0),
            acceleration_m_s2: between(from.acceleration_m_s2, to.acceleration_m_s2),
        })
    }

    /// When the vehicle is seen last.
    pub fn ends_at(&self, step: Duration) -> SimTime {
        self.begins_at + step * (self.states.len() as i64 - 1)
    }

    /// The states, one a step.
    pub fn states(&self) -> &[State] {
        &self.states
    }
}

/// Direction of a movement, from north, clockwise `[degree]`.
fn heading_deg(east: f64, north: f64) -> f64 {
    libm::fmod(libm::atan2(east, north).to_degrees() + 360.0, 360.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(x_m: f64, heading_deg: f64) -> State {
        State { x_m, heading_deg, ..State::default() }
    }

    #[test]
    fn between_two_states_a_vehicle_is_in_between() {
        let trip = Trip {
            name: "a".into(),
            dimensions: Dimensions { length_dm: 45, width_dm: 18 },
            begins_at: SimTime::ZERO + Duration::from_s(10),
            states: vec![state(0.0, 350.0), state(10.0, 10.0)],
        };
        let step = Duration::from_s(1);
        let at = |ms| trip.state_at(SimTime::ZERO + Duration::from_ms(ms), step);
        assert_eq!(at(9_999), None);
        assert_eq!(at(10_000), Some(state(0.0, 350.0)));
        let half = at(10_500).expect("it is there");
        assert_eq!((half.x_m, half.heading_deg), (5.0, 0.0), "north lies between");
        assert_eq!(at(11_000), Some(state(10.0, 10.0)));
        assert_eq!(at(11_001), None);
        assert_eq!(trip.ends_at(step), SimTime::ZERO + Duration::from_s(11));
    }

    #[test]
    fn directions_turn_clockwise_from_north() {
        for (east, north, expected) in [(0.0, 1.0, 0.0), (1.0, 0.0, 90.0), (0.0, -1.0, 180.0), (-1.0, 0.0, 270.0)] {
            assert!((heading_deg(east, north) - expected).abs() < 1e-9);
        }
    }
}
