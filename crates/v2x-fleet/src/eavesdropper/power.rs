//! What an eavesdropper's receivers measure of the power of frames.
//!
//! A station radiates a little more or less than it should, always by the same amount: that is what can be recognised. On the
//! way there is shadowing, which changes as the vehicle drives, and fading, which is new with every frame. Both count for
//! what is measured here; whether a frame is decoded at all is the channel's business, which knows no shadowing.
//!
//! The values of the two 3GPP documents named below were taken over from works that quote them, not from their own text. Public
//! models of WINNER+ B1 have the same 3 dB.

use std::collections::BTreeMap;

use chronoseal_core::random::{self, ChaCha8Rng, Purpose};
use chronoseal_media::radio::Propagation;

use crate::chance::{normal, uniform};
use crate::road::State;

/// Standard deviation of the log-normal shadowing `[dB]`.
///
/// # Source
/// 3GPP TR 36.885 V14.0.0, clause A.1.4: vehicle to vehicle in line of sight, path loss by WINNER+ B1, 3 dB.
pub const SHADOWING_SIGMA_DB: f64 = 3.0;
/// Way over which shadowing keeps 1/e of itself `[m]`.
///
/// # Source
/// 3GPP TR 36.885 V14.0.0, clause A.1.4, for the freeway; M. Gudmundson, Electronics Letters 27 (1991) 2145-2146, for the law.
pub const DECORRELATION_M: f64 = 25.0;
/// How far a station's power is from the nominal one at most, evenly spread `[dB]`.
///
/// # Source
/// 3GPP TS 36.101 V14, table 6.2.2-1: power class 3, 23 dBm with a tolerance of 2 dB either way. Gains of antennas, which
/// differ by vehicle and direction, are left out.
pub const TOLERANCE_DB: f64 = 2.0;

/// Between two receivers of one who hears everything `[m]`: squares of [`super::Coverage`].
const GRID_M: f64 = 500.0;
/// Nearer than a metre is a metre.
const NEAREST_M: f64 = 1.0;

/// Receivers that measure.
#[derive(Debug)]
pub(crate) struct PowerMeter {
    propagation: Propagation,
    seed: u64,
    links: BTreeMap<usize, Link>,
}

/// One vehicle, as the receiver that is in charge of it measures it.
#[derive(Debug)]
struct Link {
    rng: ChaCha8Rng,
    /// What the station radiates beyond the nominal power `[dB]`.
    offset_db: f64,
    /// Where the receiver and the vehicle were, and how much the way between them took `[m]`, `[dB]`.
    last: Option<([f64; 2], [f64; 2], f64)>,
}

/// Streams of the attack purpose, behind those of the trackers.
const POWER_STREAMS: u64 = 1 << 32;

impl PowerMeter {
    pub(crate) fn new(propagation: Propagation, seed: u64) -> Self {
        Self { propagation, seed, links: BTreeMap::new() }
    }

    /// How much stronger a frame is received than one from the place it claims would be on average `[dB]`, by a receiver at a
    /// place of its own, or by the nearest of a grid. `None` where the channel knows no power.
    pub(crate) fn measure(
        &mut self,
        vehicle: usize,
        real: &State,
        claimed: &State,
        receiver: Option<[f64; 2]>,
    ) -> Option<f64> {
        let Propagation::LogDistance(model) = self.propagation else { return None };
        let receiver = receiver.unwrap_or_else(|| [real.x_m, real.y_m].map(middle));
        let link = self.links.entry(vehicle).or_insert_with(|| {
            let mut rng = random::stream(self.seed, Purpose::Attack, POWER_STREAMS + vehicle as u64);
            let offset_db = TOLERANCE_DB * (2.0 * uniform(&mut rng) - 1.0);
            Link { rng, offset_db, last: None }
        });
        let here = [real.x_m, real.y_m];
        let drawn = SHADOWING_SIGMA_DB * normal(&mut link.rng);
        let shadow_db = match link.last {
            Some((by, there, shadow_db)) if by == receiver => {
                let kept = libm::exp(-distance_m(here, there) / DECORRELATION_M);
                kept * shadow_db + libm::sqrt(1.0 - kept * kept) * drawn
            }
            _ => drawn,
        };
        link.last = Some((receiver, here, shadow_db));
        let fading_db = model.nakagami_m.map_or(0.0, |m| {
            let sum: f64 = (0..m).map(|_| -libm::log(uniform(&mut link.rng))).sum();
            10.0 * libm::log10(sum / f64::from(m))
        });
        let loss_db = |place| 10.0 * model.exponent * libm::log10(distance_m(place, receiver).max(NEAREST_M));
        let expected_by_place_db = loss_db([claimed.x_m, claimed.y_m]) - loss_db(here);
        Some(link.offset_db + shadow_db + fading_db + expected_by_place_db)
    }
}

fn middle(metres: f64) -> f64 {
    (libm::floor(metres / GRID_M) + 0.5) * GRID_M
}

fn distance_m([x, y]: [f64; 2], [other_x, other_y]: [f64; 2]) -> f64 {
    libm::hypot(x - other_x, y - other_y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoseal_media::radio::{LogDistance, OfdmRate};

    fn at(x_m: f64) -> State {
        State { x_m, y_m: 250.0, ..State::default() }
    }

    fn meter(nakagami_m: Option<u8>) -> PowerMeter {
        let model = LogDistance { nakagami_m, ..LogDistance::new(2.3, OfdmRate::Mbps6) };
        PowerMeter::new(Propagation::LogDistance(model), 1)
    }

    /// What is measured of many vehicles, in steps of `step_m` past one receiver.
    fn measured(step_m: f64) -> Vec<Vec<f64>> {
        let mut meter = meter(None);
        let mut of = |vehicle| {
            let mut measure = |step: i32| {
                let place = at(300.0 + step_m * f64::from(step));
                meter.measure(vehicle, &place, &place, Some([400.0, 0.0])).expect("a power")
            };
            (0..100).map(&mut measure).collect()
        };
        (0..400).map(&mut of).collect()
    }

    fn deviation(values: &[f64]) -> f64 {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
    }

    #[test]
    fn shadowing_is_log_normal_and_changes_with_the_way() {
        let far = measured(500.0);
        let within = far.iter().map(|of_one| deviation(of_one)).sum::<f64>() / far.len() as f64;
        assert!((within - SHADOWING_SIGMA_DB).abs() < 0.1, "{within} dB around the mean of each vehicle");
        // Means of the vehicles: their own offsets, with a deviation of 2 / sqrt(3) dB, and what is left of 100 draws.
        let means: Vec<f64> = far.iter().map(|of_one| of_one.iter().sum::<f64>() / of_one.len() as f64).collect();
        let expected = (4.0f64 / 3.0 + 9.0 / 100.0).sqrt();
        assert!((deviation(&means) - expected).abs() < 0.1, "{} for {expected}", deviation(&means));
        // From one step to the next the difference has a variance of 2 sigma^2 (1 - e^(-d / 25 m)).
        let near = measured(5.0);
        let steps: Vec<f64> = near.iter().flat_map(|of_one| of_one.windows(2).map(|two| two[1] - two[0])).collect();
        let expected = SHADOWING_SIGMA_DB * (2.0 * (1.0 - (-0.2f64).exp())).sqrt();
        assert!((deviation(&steps) - expected).abs() < 0.05, "{} for {expected}", deviation(&steps));
    }

    #[test]
    fn who_claims_to_be_further_off_is_received_stronger_than_that() {
        let (real, claimed) = (at(410.0), at(500.0));
        let honest = meter(None).measure(7, &real, &real, Some([400.0, 250.0])).expect("a power");
        let lying = meter(None).measure(7, &real, &claimed, Some([400.0, 250.0])).expect("a power");
        // Ten times as far: 23 dB.
        assert!((lying - honest - 23.0).abs() < 1e-9, "{lying} {honest}");
        let disc = Propagation::Disc { range_mm: 1_000_000 };
        assert_eq!(PowerMeter::new(disc, 1).measure(7, &real, &real, None), None, "no power is known there");
    }
}
