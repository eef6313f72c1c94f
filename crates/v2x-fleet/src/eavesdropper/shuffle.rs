//! The control of the experiment: messages whose places tell nothing.

use chronoseal_core::random::{self, Purpose};

use super::Heard;

/// Gives the places, speeds, directions and sizes of all messages to each other at random; times, pseudonyms and truth stay.
pub fn reshuffle(heard: &mut [Heard], seed: u64) {
    let mut rng = random::stream(seed, Purpose::Attack, 0);
    // R. A. Fisher and F. Yates, as R. Durstenfeld's algorithm 235 (1964).
    for last in (1..heard.len()).rev() {
        let other = random::uniform_i64(&mut rng, 0, last as i64) as usize;
        let (a, b) = (heard[last].observation, heard[other].observation);
        (heard[last].observation.state, heard[other].observation.state) = (b.state, a.state);
        (heard[last].observation.dimensions, heard[other].observation.dimensions) = (b.dimensions, a.dimensions);
    }
}
