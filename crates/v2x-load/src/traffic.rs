//! Messages at instants that nobody waits for.

use chronoseal_v2x::pipeline::{Class, Message};
use chronoseal_v2x::types::Time64;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};

use crate::LoadError;
use crate::town::{Draft, NOW, Town};

/// A stream of messages: instants of a Poisson process, stations, classes and certificates by the seed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Load {
    /// Mean rate `[messages/s]`.
    pub offered_per_s: f64,
    /// How long `[ms]`.
    pub duration_ms: u64,
    /// Of a hundred messages, so many are emergencies.
    pub emergency_percent: u64,
    /// Of a hundred messages, so many come from near by.
    pub near_percent: u64,
    /// Of a hundred messages, so many carry their certificate, which the receiver knows.
    pub certificate_percent: u64,
    /// How long the receiver lets a message wait for others, [`PipelineConfig::wait_max_ns`](chronoseal_v2x::pipeline::PipelineConfig::wait_max_ns) `[ns]`.
    pub wait_max_ns: u64,
    /// Draws all of it.
    pub seed: u64,
}

impl Default for Load {
    /// 1,000 a second for a second; 5 % emergencies, 25 % near, 10 % with their certificate; no waiting.
    fn default() -> Self {
        Self {
            offered_per_s: 1_000.0,
            duration_ms: 1_000,
            emergency_percent: 5,
            near_percent: 25,
            certificate_percent: 10,
            wait_max_ns: 0,
            seed: 1,
        }
    }
}

/// A message on its way.
pub(crate) struct Arrival {
    pub(crate) due_ns: u64,
    pub(crate) class: Class,
    pub(crate) bytes: Vec<u8>,
}

impl Message for &Arrival {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Load {
    pub(crate) fn arrivals(&self, town: &Town) -> Result<Vec<Arrival>, LoadError> {
        let count = (self.offered_per_s * self.duration_ms as f64 / 1_000.0).round().max(1.0);
        self.some_arrivals(town, count as usize)
    }

    pub(crate) fn some_arrivals(&self, town: &Town, count: usize) -> Result<Vec<Arrival>, LoadError> {
        let mut rng = ChaCha20Rng::seed_from_u64(self.seed);
        let mut due_ns = 0.0;
        let (mut drafts, mut plans) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for number in 0..count {
            // Exponential gaps; 53 bits, never zero.
            let uniform = ((rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
            due_ns += -uniform.ln() * 1e9 / self.offered_per_s;
            let percent = rng.next_u64() % 100;
            let class = match percent {
                _ if percent < self.emergency_percent => Class::Emergency,
                _ if percent < self.emergency_percent + self.near_percent => Class::Near,
                _ => Class::Far,
            };
            let station = (rng.next_u64() % town.stations.len() as u64) as usize;
            let with_certificate = rng.next_u64() % 100 < self.certificate_percent;
            let generation_time = at(due_ns as u64);
            drafts.push(Draft { station, payload: Draft::payload(number), generation_time, with_certificate });
            plans.push((due_ns as u64, class));
        }
        let signed = town.sign_all(&drafts)?;
        Ok(plans.into_iter().zip(signed).map(|((due_ns, class), bytes)| Arrival { due_ns, class, bytes }).collect())
    }
}

/// The messages' own time, so long after the start.
pub(crate) fn at(since_ns: u64) -> Time64 {
    NOW.plus_us(since_ns / 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_offers_the_same_stream() {
        let town = Town::new(3, 9).unwrap();
        let load = Load { duration_ms: 20, ..Load::default() };
        let two = [load.arrivals(&town).unwrap(), load.arrivals(&town).unwrap()];
        assert_eq!(two[0].len(), 20);
        assert!(two[0].iter().zip(&two[1]).all(|(a, b)| (a.due_ns, &a.bytes) == (b.due_ns, &b.bytes)));
        let other = Load { seed: 2, ..load }.arrivals(&town).unwrap();
        assert!(two[0].iter().zip(&other).any(|(a, b)| a.due_ns != b.due_ns));
    }
}
