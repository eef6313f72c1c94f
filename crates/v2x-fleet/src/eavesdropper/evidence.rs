//! How much it says that two tracklets agree in a field.
//!
//! For each field and each step of agreement the eavesdropper counts how often tracklets that are one vehicle's agree so, m, and
//! how often those of two vehicles do, u. Minus twice the logarithm of m/u is then added to what places cost, so that a field
//! that always agrees and rarely by chance decides, and one that agrees as often among strangers says nothing. It has nobody
//! to tell it which tracklets are one vehicle's: it takes those it has linked so far, at first by places alone.
//!
//! # Source
//! I. P. Fellegi, A. B. Sunter, A theory for record linkage, Journal of the American Statistical Association 64 (1969)
//! 1183-1210; m from the links found, and linked again, as in W. E. Winkler's estimates of it (1988).

use super::field::{Field, Fields, LEVELS, Traits};

/// Minus twice the log-likelihood ratio of each field and step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    costs: [[f64; LEVELS]; Field::ALL.len()],
    fields: Fields,
}

/// So many strangers each tracklet is compared with.
const STRANGERS: usize = 32;
/// A field is worth nothing until some links show otherwise: so many links count as if they agreed as strangers do.
const DOUBT: f64 = 8.0;
/// A step that was never seen among strangers, as a part of one occurrence.
const UNSEEN: f64 = 0.5;

impl Evidence {
    /// What can be learned from who is believed to go on as whom. `None` if no field is shown at all.
    pub(super) fn learned(fields: Fields, traits: &[Traits], next: &[Option<usize>]) -> Option<Self> {
        let mut evidence = Self { costs: [[0.0; LEVELS]; Field::ALL.len()], fields };
        let mut is_shown = false;
        for field in Field::ALL.into_iter().filter(|field| fields.has(*field)) {
            let (mut linked, mut strange) = ([0.0; LEVELS], [0.0; LEVELS]);
            for (index, own) in traits.iter().enumerate() {
                let believed = next[index];
                if let Some(level) = believed.and_then(|other| own.compare(&traits[other], field)) {
                    linked[level] += 1.0;
                }
                // Spread over all there are: neighbours in time are rarely strangers.
                let stride = (traits.len() / STRANGERS).max(1);
                let others = (1..=STRANGERS).map(|step| (index + step * stride) % traits.len());
                for other in others.filter(|other| *other != index && Some(*other) != believed) {
                    if let Some(level) = own.compare(&traits[other], field) {
                        strange[level] += 1.0;
                    }
                }
            }
            let (linked_sum, strange_sum): (f64, f64) = (linked.iter().sum(), strange.iter().sum());
            if linked_sum == 0.0 || strange_sum == 0.0 {
                continue;
            }
            is_shown = true;
            for level in 0..LEVELS {
                let by_chance = (strange[level] + UNSEEN) / (strange_sum + UNSEEN * LEVELS as f64);
                let same = (linked[level] + DOUBT * by_chance) / (linked_sum + DOUBT);
                evidence.costs[field as usize][level] = -2.0 * libm::log(same / by_chance);
            }
        }
        is_shown.then_some(evidence)
    }

    /// What it adds to the cost that one tracklet goes on as another.
    pub(super) fn cost(&self, own: &Traits, other: &Traits) -> f64 {
        let fields = Field::ALL.into_iter().filter(|field| self.fields.has(*field));
        fields.filter_map(|field| own.compare(other, field).map(|level| self.costs[field as usize][level])).sum()
    }
}

#[cfg(test)]
mod tests;
