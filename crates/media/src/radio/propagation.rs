//! How strongly a station hears another one.

use chronoseal_core::random::ChaCha8Rng;

use super::fading::Fading;
use super::ofdm::OfdmRate;

/// A place on a plane `[mm]`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Position {
    /// East.
    pub x_mm: i64,
    /// North.
    pub y_mm: i64,
}

impl Position {
    /// The place `x_m` metres east and `y_m` metres north of the origin.
    pub const fn from_m(x_m: i64, y_m: i64) -> Self {
        Self { x_mm: x_m * 1000, y_mm: y_m * 1000 }
    }

    /// Square of the distance to `other` `[mm^2]`; held at the largest number for places too far apart for it.
    pub const fn distance_squared_mm2(self, other: Self) -> u64 {
        let (dx, dy) = (self.x_mm.abs_diff(other.x_mm), self.y_mm.abs_diff(other.y_mm));
        dx.saturating_mul(dx).saturating_add(dy.saturating_mul(dy))
    }
}

/// What becomes of a signal on its way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Propagation {
    /// Whoever is within `range_mm` hears and decodes everything, nobody else hears anything `[mm]`.
    Disc {
        /// Up to and including this distance `[mm]`.
        range_mm: u64,
    },
    /// Mean path loss by distance, with or without fading.
    LogDistance(LogDistance),
}

/// Log-distance path loss: L(d) = L(1 m) + 10 n log10(d / 1 m); nearer than 1 m counts as 1 m.
///
/// # Source
/// T. S. Rappaport, Wireless Communications, 2nd ed., section 4.9.1. Fading: M. Nakagami, The m-distribution, 1960; the
/// power is then gamma distributed with shape m around the mean of the path loss.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LogDistance {
    /// Radiated power `[dBm]`.
    pub tx_power_dbm: f64,
    /// L(1 m) `[dB]`; 47.86 is free space at 5.9 GHz.
    pub reference_loss_db: f64,
    /// n; 2 is free space.
    pub exponent: f64,
    /// A weaker signal is not heard at all `[dBm]`.
    pub carrier_sense_dbm: f64,
    /// A weaker frame is heard but not decoded `[dBm]`; see [`OfdmRate::sensitivity_dbm`].
    pub sensitivity_dbm: f64,
    /// m of Nakagami fading, drawn for each frame and receiver; 1 is Rayleigh. `None`: the mean, always.
    pub nakagami_m: Option<u8>,
}

/// Free space at 5.9 GHz: 20 log10(4 pi f / c) `[dB]`.
const FREE_SPACE_5_9_GHZ_DB: f64 = 47.86;

impl LogDistance {
    /// 23 dBm, the exponent given, thresholds of the standard for `rate`, no fading.
    pub const fn new(exponent: f64, rate: OfdmRate) -> Self {
        Self {
            tx_power_dbm: 23.0,
            reference_loss_db: FREE_SPACE_5_9_GHZ_DB,
            exponent,
            carrier_sense_dbm: OfdmRate::Mbps3.sensitivity_dbm(),
            sensitivity_dbm: rate.sensitivity_dbm(),
            nakagami_m: None,
        }
    }

    /// Where the mean power falls to `power_dbm` `[m]`.
    pub fn range_m(&self, power_dbm: f64) -> f64 {
        let budget_db = self.tx_power_dbm - self.reference_loss_db - power_dbm;
        libm::pow(10.0, budget_db / (10.0 * self.exponent))
    }

    /// True if every number can be computed with.
    pub(super) fn is_sound(&self) -> bool {
        let powers = [self.tx_power_dbm, self.reference_loss_db, self.carrier_sense_dbm, self.sensitivity_dbm];
        powers.iter().all(|power| power.abs() <= 300.0)
            && (0.5..=10.0).contains(&self.exponent)
            && self.carrier_sense_dbm <= self.sensitivity_dbm
            && self.nakagami_m.is_none_or(|m| (1..=NAKAGAMI_M_MAX).contains(&m))
    }
}

/// A larger m is hardly different from no fading.
const NAKAGAMI_M_MAX: u8 = 16;

/// How a signal comes out at one receiver.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Heard {
    /// Its power; 1 where the model knows none `[mW]`.
    pub(super) power_mw: f64,
    /// True if it can be decoded, undisturbed.
    pub(super) is_decodable: bool,
}

/// [`Propagation`] with its logarithms taken.
#[derive(Clone, Debug)]
pub(super) enum Path {
    Disc {
        range_squared_mm2: u64,
    },
    LogDistance {
        at_1_m_mw: f64,
        exponent: f64,
        carrier_sense_mw: f64,
        sensitivity_mw: f64,
        fading: Option<Fading>,
        /// Beyond it nothing is heard; spares the logarithms.
        reach_squared_mm2: u64,
    },
}

impl Path {
    pub(super) fn new(propagation: &Propagation) -> Self {
        match *propagation {
            Propagation::Disc { range_mm } => Self::Disc { range_squared_mm2: range_mm.saturating_mul(range_mm) },
            Propagation::LogDistance(model) => Self::log_distance(&model),
        }
    }

    fn log_distance(model: &LogDistance) -> Self {
        let at_1_m_mw = milliwatt(model.tx_power_dbm - model.reference_loss_db);
        let carrier_sense_mw = milliwatt(model.carrier_sense_dbm);
        let gain_db = 10.0 * libm::log10(model.nakagami_m.map_or(1.0, rare_gain));
        let reach_mm = model.range_m(model.carrier_sense_dbm - gain_db) * 1000.0 + 1.0;
        let reach_mm = reach_mm.min(1e15) as u64;
        let reach_squared_mm2 = reach_mm.saturating_mul(reach_mm);
        let fading = model.nakagami_m.map(|m| {
            let mean_mw = |squared_m2| at_1_m_mw * relative_power(model.exponent, squared_m2);
            Fading::new(m, mean_mw, carrier_sense_mw, squared_m2(reach_squared_mm2))
        });
        Self::LogDistance {
            at_1_m_mw,
            exponent: model.exponent,
            carrier_sense_mw,
            sensitivity_mw: milliwatt(model.sensitivity_dbm),
            fading,
            reach_squared_mm2,
        }
    }

    /// What a receiver at `to`, whose chances are `rng`, hears of a sender at `from`; `None` if nothing.
    pub(super) fn heard(&self, from: Position, to: Position, rng: &mut ChaCha8Rng) -> Option<Heard> {
        let squared_mm2 = from.distance_squared_mm2(to);
        match self {
            Self::Disc { range_squared_mm2 } => {
                (squared_mm2 <= *range_squared_mm2).then_some(Heard { power_mw: 1.0, is_decodable: true })
            }
            Self::LogDistance { reach_squared_mm2, .. } if squared_mm2 > *reach_squared_mm2 => None,
            Self::LogDistance { at_1_m_mw, exponent, carrier_sense_mw, sensitivity_mw, fading, .. } => {
                let squared_m2 = squared_m2(squared_mm2);
                let gain = match fading {
                    Some(fading) => {
                        let draw = fading.draw(rng);
                        if !fading.may_be_heard(draw, squared_m2) {
                            return None;
                        }
                        fading.gain(draw)
                    }
                    None => 1.0,
                };
                let mean_mw = at_1_m_mw * relative_power(*exponent, squared_m2);
                let power_mw = mean_mw * gain;
                let heard = Heard { power_mw, is_decodable: power_mw >= *sensitivity_mw };
                (power_mw >= *carrier_sense_mw).then_some(heard)
            }
        }
    }
}

/// Nearer than a metre is a metre.
fn squared_m2(squared_mm2: u64) -> f64 {
    (squared_mm2 as f64 * 1e-6).max(1.0)
}

/// d^-n of the squared distance; a general power takes three times as long.
fn relative_power(exponent: f64, squared_m2: f64) -> f64 {
    libm::exp(-0.5 * exponent * libm::log(squared_m2))
}

/// A gain of fading that is exceeded once in 10^9 draws. Who hears a frame only by a larger one does not hear it.
fn rare_gain(m: u8) -> f64 {
    let (mut low, mut high) = (1.0, 64.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if exceeds(m, middle) > 1e-9 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// P(X >= x) of a gamma distribution with integer shape m and mean 1: e^(-mx) sum_(k<m) (mx)^k / k! (Erlang).
fn exceeds(m: u8, x: f64) -> f64 {
    let mx = f64::from(m) * x;
    let (mut term, mut sum) = (1.0, 0.0);
    for k in 1..=m {
        sum += term;
        term *= mx / f64::from(k);
    }
    libm::exp(-mx) * sum
}

pub(super) fn milliwatt(dbm: f64) -> f64 {
    libm::pow(10.0, dbm / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoseal_core::random::{Purpose, Rng as _, stream};

    fn rng() -> ChaCha8Rng {
        stream(7, Purpose::Medium, 0)
    }

    #[test]
    fn a_disc_ends_at_its_range() {
        let path = Path::new(&Propagation::Disc { range_mm: 5_000 });
        let origin = Position::default();
        assert!(path.heard(origin, Position::from_m(3, 4), &mut rng()).is_some());
        assert!(path.heard(origin, Position { x_mm: 3_000, y_mm: 4_001 }, &mut rng()).is_none());
        let far = Position { x_mm: i64::MAX, y_mm: i64::MIN };
        assert!(path.heard(far, origin, &mut rng()).is_none(), "no overflow");
    }

    #[test]
    fn without_fading_the_thresholds_are_ranges() {
        let model = LogDistance::new(2.0, OfdmRate::Mbps6);
        // 23 dBm - 47.86 dB + 82 dBm = 57.14 dB: 10^(57.14/20) m.
        let range_m = model.range_m(model.sensitivity_dbm);
        assert!((range_m - 719.4).abs() < 0.1, "{range_m}");
        let path = Path::new(&Propagation::LogDistance(model));
        let heard = |m: f64| {
            let to = Position { x_mm: (m * 1000.0) as i64, y_mm: 0 };
            path.heard(Position::default(), to, &mut rng())
        };
        assert!(heard(range_m - 0.01).is_some_and(|heard| heard.is_decodable));
        assert!(heard(range_m + 0.01).is_some_and(|heard| !heard.is_decodable));
        let sensed_m = model.range_m(model.carrier_sense_dbm);
        assert!(heard(sensed_m - 0.01).is_some());
        assert!(heard(sensed_m + 0.01).is_none());
        assert_eq!(heard(0.0), heard(1.0), "nearer than a metre is a metre");
    }

    #[test]
    fn erlangs_law_is_as_in_tables() {
        // P(X >= x), shape 1: e^-1, e^-2; shape 2 at mean: 3 e^-2; shape 3 at twice the mean: 25 e^-6.
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
        assert!(close(exceeds(1, 1.0), (-1f64).exp()) && close(exceeds(1, 2.0), (-2f64).exp()));
        assert!(close(exceeds(2, 1.0), 3.0 * (-2f64).exp()));
        assert!(close(exceeds(3, 2.0), 25.0 * (-6f64).exp()));
        assert!((rare_gain(1) - 1e9_f64.ln()).abs() < 1e-6);
        assert!(rare_gain(16) < rare_gain(3) && rare_gain(3) < rare_gain(1));
    }

    #[test]
    fn what_is_heard_is_what_the_formula_says() {
        let model = LogDistance { nakagami_m: Some(3), ..LogDistance::new(2.3, OfdmRate::Mbps6) };
        let path = Path::new(&Propagation::LogDistance(model));
        let (mut rng, mut same) = (rng(), rng());
        let mut heard_count = 0;
        for x_m in (0..1_000).cycle().take(20_000) {
            let to = Position::from_m(x_m, 0);
            let found = path.heard(Position::default(), to, &mut rng);
            // Mean power by distance times the mean of three exponential draws, with a logarithm for everybody.
            let uniform = |bits: u64| ((bits >> 11) as f64 + 0.5) * (1.0 / 9_007_199_254_740_992.0);
            let product: f64 = (0..3).map(|_| uniform(same.next_u64())).product();
            let squared_m2 = ((x_m * x_m) as f64).max(1.0);
            let mean_mw = milliwatt(23.0 - 47.86) * libm::exp(-0.5 * 2.3 * libm::log(squared_m2));
            let power_mw = mean_mw * (-libm::log(product) / 3.0);
            let is_decodable = power_mw >= milliwatt(-82.0);
            assert_eq!(found, (power_mw >= milliwatt(-85.0)).then_some(Heard { power_mw, is_decodable }), "{x_m} m");
            heard_count += usize::from(found.is_some());
        }
        assert!((5_000..15_000).contains(&heard_count), "{heard_count}");
    }

    #[test]
    fn who_is_too_far_for_a_draw_is_told_without_a_logarithm() {
        let model = LogDistance { nakagami_m: Some(3), ..LogDistance::new(2.3, OfdmRate::Mbps6) };
        let Path::LogDistance { fading: Some(fading), .. } = Path::new(&Propagation::LogDistance(model)) else {
            panic!("it fades")
        };
        let mut rng = rng();
        let mut share = |d_m: f64| {
            let draws = 10_000;
            let may = (0..draws).filter(|_| fading.may_be_heard(fading.draw(&mut rng), d_m * d_m)).count();
            may as f64 / f64::from(draws)
        };
        // Where the mean power is that of carrier sense, only a gain of 1 and more is heard.
        let at_edge = share(model.range_m(model.carrier_sense_dbm));
        assert!((at_edge - exceeds(3, 1.0)).abs() < 0.03, "{at_edge}");
    }

    #[test]
    fn fading_decodes_as_often_as_its_law_says() {
        for m in [1u8, 3] {
            let model = LogDistance { nakagami_m: Some(m), ..LogDistance::new(2.0, OfdmRate::Mbps6) };
            let path = Path::new(&Propagation::LogDistance(model));
            for (d_m, x) in [(300.0, (300.0 / 719.4_f64).powi(2)), (800.0, (800.0 / 719.4_f64).powi(2))] {
                let to = Position { x_mm: (d_m * 1000.0) as i64, y_mm: 0 };
                let mut rng = rng();
                let draws = 40_000;
                let decoded = (0..draws)
                    .filter(|_| path.heard(Position::default(), to, &mut rng).is_some_and(|heard| heard.is_decodable))
                    .count();
                let expected = exceeds(m, x);
                let found = decoded as f64 / f64::from(draws);
                assert!((found - expected).abs() < 0.01, "m {m}, {d_m} m: {found} for {expected}");
            }
        }
    }
}
