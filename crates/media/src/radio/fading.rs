//! Nakagami fading, and the draws that need no logarithm.
//!
//! A channel draws a gain for each frame and every station in reach, most of which hear nothing. That they do not follows
//! from a comparison, which is much faster than the gain itself.

use chronoseal_core::random::{ChaCha8Rng, Rng};

/// Bins of the squared distance in one octave, as a power of two.
const BINS_LOG2: u32 = 5;
/// Fraction bits of a binary64 that do not choose a bin.
const REST_BITS: u32 = f64::MANTISSA_DIGITS - 1 - BINS_LOG2;
/// Bins below the distance of 1 m.
const FIRST_BIN: u64 = 1.0f64.to_bits() >> REST_BITS;
/// What rounding in logarithms and exponentials may add up to, and much more.
const MARGIN: f64 = 1.0 + 1e-9;

/// Gains of one channel: the power of a signal around its mean, gamma distributed with an integer shape and mean 1.
#[derive(Clone, Debug)]
pub(super) struct Fading {
    shape: u8,
    /// By bin of the squared distance: a draw above it is not heard anywhere in the bin.
    audible_max: Vec<f64>,
}

/// A product of uniform numbers, whose logarithm is the gain.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Draw(f64);

impl Fading {
    /// Fading with a shape of 1 to 16, for signals whose mean power is `mean_mw` of the squared distance, which falls with
    /// it, and that are heard from `least_mw` on and within `reach_m2` `[m^2]`.
    pub(super) fn new(shape: u8, mean_mw: impl Fn(f64) -> f64, least_mw: f64, reach_m2: f64) -> Self {
        let audible_max = (0..=bin(reach_m2.max(1.0)))
            .map(|bin| {
                // Nobody in the bin is nearer.
                let nearest_m2 = f64::from_bits((FIRST_BIN + bin as u64) << REST_BITS);
                let least_gain = least_mw / (mean_mw(nearest_m2) * MARGIN);
                libm::exp(-f64::from(shape) * least_gain) * MARGIN
            })
            .collect();
        Self { shape, audible_max }
    }

    pub(super) fn draw(&self, rng: &mut ChaCha8Rng) -> Draw {
        // 2^-53 of 53 random bits and a half more: never zero, so that the logarithm is finite; and 16 factors of at
        // least 2^-54 stay above the least number.
        let uniform = |bits: u64| ((bits >> 11) as f64 + 0.5) * (1.0 / 9_007_199_254_740_992.0);
        Draw((0..self.shape).map(|_| uniform(rng.next_u64())).product())
    }

    /// False if nobody at this squared distance hears a signal with this draw; true says nothing. `squared_m2` is at
    /// least 1.
    pub(super) fn may_be_heard(&self, draw: Draw, squared_m2: f64) -> bool {
        self.audible_max.get(bin(squared_m2)).is_none_or(|most| draw.0 <= *most)
    }

    /// The gain: the mean of as many exponential draws as the shape says, whose sum is the logarithm of a product.
    pub(super) fn gain(&self, draw: Draw) -> f64 {
        (0.0 - libm::log(draw.0)) / f64::from(self.shape)
    }
}

/// The number of the bin of a squared distance of at least 1.
fn bin(squared_m2: f64) -> usize {
    (squared_m2.to_bits() >> REST_BITS).saturating_sub(FIRST_BIN) as usize
}

#[cfg(test)]
mod tests {
    use chronoseal_core::random::{Purpose, stream};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bins_share_an_octave() {
        assert_eq!([1.0, 1.03, 1.04, 1.99, 2.0, 4.0, 1024.0].map(bin), [0, 0, 1, 31, 32, 64, 320]);
    }

    #[test]
    fn most_draws_of_a_distant_station_need_no_logarithm() {
        let fading = Fading::new(3, |squared_m2| 1.0 / squared_m2, 1e-4, 1e5);
        let mut rng = stream(3, Purpose::Medium, 0);
        let mut share = |squared_m2| {
            let draws = 10_000;
            (0..draws).filter(|_| fading.may_be_heard(fading.draw(&mut rng), squared_m2)).count() as f64
                / f64::from(draws)
        };
        // At the distance where the mean is just heard: P(gain >= 1) = 8.5 e^-3.
        assert!((share(1e4) - 0.4232).abs() < 0.03);
        assert!(share(4e4) < 0.01 && share(1e3) > 0.98);
    }

    proptest! {
        #[test]
        fn who_is_told_at_once_that_it_hears_nothing_would_not_hear_it(
            shape in 1u8..=16,
            exponent in 0.5f64..10.0,
            least_db in -120.0f64..20.0,
            distance_m in 1.0f64..5000.0,
            seed: u64,
        ) {
            let mean_mw = |squared_m2: f64| libm::exp(-0.5 * exponent * libm::log(squared_m2));
            let least_mw = libm::pow(10.0, least_db / 10.0);
            let fading = Fading::new(shape, mean_mw, least_mw, 1e6);
            let mut rng = stream(seed, Purpose::Medium, 0);
            let squared_m2 = distance_m * distance_m;
            for _ in 0..100 {
                let draw = fading.draw(&mut rng);
                let is_heard = mean_mw(squared_m2) * fading.gain(draw) >= least_mw;
                prop_assert!(fading.may_be_heard(draw, squared_m2) || !is_heard, "{draw:?}");
            }
        }
    }
}
