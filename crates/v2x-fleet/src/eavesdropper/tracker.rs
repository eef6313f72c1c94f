//! From messages to tracks.

use std::collections::BTreeMap;

use chronoseal_core::Duration;
use chronoseal_core::random::{self, Purpose, Rng};

use super::Observation;
use super::assignment::{Pair, assign};
use super::kalman::{Estimate, Motion, Vector};
use crate::road::State;

/// How the eavesdropper tracks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tracker {
    /// What it believes of motion and messages.
    pub motion: Motion,
    /// Largest squared distance of prediction and message for one vehicle. `None`: whatever time allows is possible, and
    /// whoever can be linked is. 23.5 holds all but 10^-4 of the true pairs, if the motion is as believed.
    pub gate: Option<f64>,
    /// Longest silence it looks across.
    pub silence_max: Duration,
    /// `Some` seed for one that looks at no place: it links at random whom time allows. What it finds is chance.
    pub guesses: Option<u64>,
}

impl Default for Tracker {
    /// A gate of 23.5 and a silence of 60 s.
    fn default() -> Self {
        Self { motion: Motion::default(), gate: Some(23.5), silence_max: Duration::from_s(60), guesses: None }
    }
}

/// What the eavesdropper makes of the messages.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tracks {
    /// Of each message, the tracklet it belongs to: messages surely of one vehicle.
    pub tracklet_of: Vec<usize>,
    /// Of each tracklet, the one it believes to be the same vehicle's next.
    pub next: Vec<Option<usize>>,
}

/// Messages of one pseudonym without a jump between them.
struct Tracklet {
    first: Observation,
    last: Observation,
    estimate: Estimate,
}

impl Tracker {
    /// Follows the messages, which stand in the order of their times.
    pub fn follow(&self, observations: &[Observation]) -> Tracks {
        let (tracklets, tracklet_of) = self.gather(observations);
        let next = self.link(&tracklets);
        Tracks { tracklet_of, next }
    }

    /// Puts together what has one pseudonym. A pseudonym that jumps has changed its vehicle, as in a swap, and begins a
    /// tracklet more.
    fn gather(&self, observations: &[Observation]) -> (Vec<Tracklet>, Vec<usize>) {
        let looks_for_jumps = self.gate.is_some() && self.guesses.is_none();
        let mut tracklets: Vec<Tracklet> = Vec::new();
        let mut open: BTreeMap<u32, usize> = BTreeMap::new();
        let mut tracklet_of = Vec::with_capacity(observations.len());
        for observation in observations {
            let measured = vector(observation);
            let updated = open.get(&observation.pseudonym).and_then(|index| {
                let tracklet = &tracklets[*index];
                let predicted = tracklet.estimate.predict(seconds(tracklet.last, *observation), &self.motion);
                let fit = predicted.fit(measured, &self.motion)?;
                let fits = !looks_for_jumps || fit.distance_squared <= JUMP;
                Some((*index, predicted.update(measured, &self.motion)?)).filter(|_| fits)
            });
            let index = match updated {
                Some((index, estimate)) => {
                    tracklets[index].last = *observation;
                    tracklets[index].estimate = estimate;
                    index
                }
                None => {
                    let estimate = Estimate::first(measured, &self.motion);
                    tracklets.push(Tracklet { first: *observation, last: *observation, estimate });
                    tracklets.len() - 1
                }
            };
            open.insert(observation.pseudonym, index);
            tracklet_of.push(index);
        }
        (tracklets, tracklet_of)
    }

    /// Links ends with beginnings.
    fn link(&self, tracklets: &[Tracklet]) -> Vec<Option<usize>> {
        let mut guesses = self.guesses.map(|seed| random::stream(seed, Purpose::Attack, 1));
        // Beginnings in the order of their times.
        let mut begins: Vec<usize> = (0..tracklets.len()).collect();
        begins.sort_by_key(|index| (tracklets[*index].first.at, *index));
        let mut rows = Vec::with_capacity(tracklets.len());
        for tracklet in tracklets {
            let ended_at = tracklet.last.at;
            let from = begins.partition_point(|index| tracklets[*index].first.at <= ended_at);
            let until = begins.partition_point(|index| tracklets[*index].first.at <= ended_at + self.silence_max);
            let pair = |column: usize| {
                let cost = match &mut guesses {
                    Some(rng) => f64::from(rng.next_u32()),
                    None => self.cost(tracklet, &tracklets[begins[column]].first)?,
                };
                Some(Pair { column, cost })
            };
            rows.push((from..until).filter_map(pair).collect::<Vec<_>>());
        }
        let chosen = assign(&rows, begins.len(), ALONE);
        chosen.into_iter().map(|column| column.map(|column| begins[column])).collect()
    }

    /// Minus twice the log-likelihood that a vehicle goes on so, but for a constant; `None` if it does not.
    fn cost(&self, tracklet: &Tracklet, first: &Observation) -> Option<f64> {
        if let (Some(one), Some(other)) = (tracklet.last.dimensions, first.dimensions)
            && one != other
        {
            return None;
        }
        let predicted = tracklet.estimate.predict(seconds(tracklet.last, *first), &self.motion);
        let fit = predicted.fit(vector(first), &self.motion)?;
        let is_own = tracklet.last.pseudonym == first.pseudonym;
        let fits = is_own || self.gate.is_none_or(|gate| fit.distance_squared <= gate);
        fits.then_some(fit.distance_squared + fit.log_determinant)
    }
}

/// Squared distance from one message to the next that no driving explains. A pseudonym cut by mistake is linked again,
/// for its own continuation passes the gate in any case.
const JUMP: f64 = 50.0;
/// More than any pair costs: as many pairs as possible, of these the best.
const ALONE: f64 = 1e12;

fn vector(observation: &Observation) -> Vector {
    let State { x_m, y_m, speed_m_s, heading_deg, .. } = observation.state;
    let (sin, cos) = libm::sincos(heading_deg.to_radians());
    [x_m, y_m, speed_m_s * sin, speed_m_s * cos]
}

fn seconds(from: Observation, to: Observation) -> f64 {
    (to.at - from.at).as_secs_f64()
}
