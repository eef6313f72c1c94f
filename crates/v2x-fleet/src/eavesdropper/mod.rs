//! Who listens and follows: what of the traffic can be put together again from what is on the air.
//!
//! The eavesdropper knows of each message what it says (a pseudonym, a time, a place, a speed and a direction, perhaps a size) and
//! what its frame shows ([`Trace`]): addresses, a certificate, a length, a number, when it was made, how strongly it came in.
//! Messages of one pseudonym are one vehicle's, for certain. Where a pseudonym ends, one that begins later may be
//! the same vehicle: a Kalman filter over the last messages of the first says where the vehicle would be, one that runs
//! backwards over the first messages of the second says where it was, and of all such pairs those are taken that fit best
//! all together. From these it learns what else agrees across a change more often than among strangers ([`Field`]), and pairs
//! again by all of it. It never sees [`Heard::vehicle`]; the score does.

mod air;
mod assignment;
mod coverage;
mod evidence;
mod field;
mod kalman;
mod power;
mod score;
mod shuffle;
#[cfg(test)]
mod tests;
mod tracker;

pub use air::{TicketSeen, Trace};
pub use coverage::Coverage;
pub use field::{Field, Fields};
pub use kalman::Motion;
pub(crate) use power::PowerMeter;
pub use power::{DECORRELATION_M, SHADOWING_SIGMA_DB, TOLERANCE_DB};
pub use score::Score;
pub use shuffle::reshuffle;
pub use tracker::{Tracker, Tracks};

use chronoseal_core::SimTime;

use crate::road::{Dimensions, State};

/// What a message says, and what its frame shows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Observation {
    /// When it was on the air.
    pub at: SimTime,
    /// Under which identity: the StationID, which changes with certificate and addresses.
    pub pseudonym: u32,
    /// Where, how fast and in which direction the vehicle says it is.
    pub state: State,
    /// Its size, if it tells.
    pub dimensions: Option<Dimensions>,
    /// What its frame shows; `None` if only what it says is known.
    pub trace: Option<Trace>,
}

/// A message as heard, with the vehicle it came from, which only the score looks at.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Heard {
    /// What it says.
    pub observation: Observation,
    /// Who sent it, as an index into the trips.
    pub vehicle: usize,
}
