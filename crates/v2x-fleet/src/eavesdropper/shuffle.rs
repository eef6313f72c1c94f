//! The control of the experiment: messages whose places tell nothing.

use chronoseal_core::random::{self, Purpose};

use super::{Heard, Observation};

/// Gives the places, speeds, directions, sizes and received powers of all messages to each other at random; times, pseudonyms,
/// what else frames show and truth stay.
///
/// Over the whole record and not within each instant: among few vehicles a deal within an instant often gives a vehicle
/// its own place back, and what is found then is more than chance.
pub fn reshuffle(heard: &mut [Heard], seed: u64) {
    let mut rng = random::stream(seed, Purpose::Attack, 0);
    // R. A. Fisher and F. Yates, as R. Durstenfeld's algorithm 235 (1964).
    for last in (1..heard.len()).rev() {
        let other = random::uniform_i64(&mut rng, 0, last as i64) as usize;
        let (a, b) = (heard[last].observation, heard[other].observation);
        (heard[last].observation.state, heard[other].observation.state) = (b.state, a.state);
        (heard[last].observation.dimensions, heard[other].observation.dimensions) = (b.dimensions, a.dimensions);
        // A power is measured against a place.
        let power_db = |from: &Observation| from.trace.and_then(|trace| trace.power_db);
        for (to, from) in [(last, &b), (other, &a)] {
            if let Some(trace) = &mut heard[to].observation.trace {
                trace.power_db = power_db(from);
            }
        }
    }
}
