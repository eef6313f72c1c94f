//! How stations move, as whoever builds a channel tells it.

use core::fmt::Debug;

use chronoseal_core::SimTime;

use super::propagation::Position;

/// Where stations are at any time of the run. The channel asks at the start and at each step a station takes; in
/// between it stays. The answer must follow from the station and the time alone.
pub trait Motion: Debug + Send + Sync {
    /// Where the station with this number in [`super::RadioConfig::stations`] is from `now` on.
    fn step(&self, station: usize, now: SimTime) -> Step;
}

/// A step of a station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Where it is.
    pub position: Position,
    /// When to ask again, later than now; `None`: never.
    pub next: Option<SimTime>,
}
