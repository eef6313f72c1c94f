//! A model that explains Table 3: links, and one host interface that copies frame by frame.
//!
//! ```text
//! L(n)           = a + b n                        fitted to the six unsaturated means of RC, and again to those of BE and UDP
//! W              = (b - links) 1518               the copy of one flood frame: follows from the fit, nothing is left to choose
//! RC saturated   = L(n) + U(0, W)                 the rest of the flood frame that is being copied
//! TTE            = L(n) + U(0, 1 ms)              the wait of an application that is not synchronised to the slots
//! TTE saturated  = L(n) + U(0, 1 ms) + U(0, W)
//! BE saturated   = L(n) + Q                       a full buffer; Q is fitted to the twelve saturated means
//! ```
//!
//! This is an inference from the table, not a statement of the source.

use super::published::{Latencies, Protocol};

/// What three store-and-forward links of 1 Gbit/s take for a byte `[us]`.
pub(super) const LINKS: f64 = 3.0 * 0.008;
/// A flood frame, checksum included `[byte]`.
pub(super) const FLOOD_FRAME: f64 = 1518.0;
/// The distance of two slots `[us]`.
const SLOTS: f64 = 1000.0;

/// A straight line through latencies over payloads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// At 0 bytes `[us]`.
    pub(super) base: f64,
    /// For each byte `[us]`.
    pub(super) slope: f64,
}

impl Line {
    /// Least squares.
    fn through(points: &[(f64, f64)]) -> Self {
        let n = points.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        let covariance: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
        let variance: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
        let slope = covariance / variance;
        Self { base: y - slope * x, slope }
    }

    pub(super) fn at(self, payload: u32) -> f64 {
        self.base + self.slope * f64::from(payload)
    }
}

/// How a value of the model came about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Basis {
    /// Parameters were fitted to this cell.
    Fitted,
    /// It follows from what was fitted to others.
    Predicted,
    /// The model says nothing of it.
    Open,
}

/// What the model says of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Modelled {
    /// The mean `[us]`, and how it came about.
    pub(super) mean: Option<f64>,
    pub(super) mean_basis: Basis,
    /// The standard deviation `[us]`.
    pub(super) sd: Option<f64>,
    pub(super) sd_basis: Basis,
}

/// The model with its parameters.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) rc: Line,
    pub(super) be: Line,
    pub(super) udp: Line,
    /// Spread of an unsaturated network, the median of the six of RC `[us]`.
    pub(super) noise: f64,
    /// What waits before a message of BE on a saturated network `[us]`.
    pub(super) queue: f64,
}

impl Model {
    /// Fits it.
    pub(super) fn of(table: &[Latencies]) -> Self {
        let line = |protocol| {
            let idle = table.iter().filter(|row| row.protocol == protocol && row.saturation == 0);
            Line::through(&idle.map(|row| (f64::from(row.payload), row.mean)).collect::<Vec<_>>())
        };
        let (rc, be, udp) = (line(Protocol::Rc), line(Protocol::Be), line(Protocol::Udp));
        let idle = table.iter().filter(|row| row.protocol == Protocol::Rc && row.saturation == 0);
        let mut spreads: Vec<f64> = idle.map(|row| row.sd).collect();
        spreads.sort_by(f64::total_cmp);
        let full: Vec<f64> = table
            .iter()
            .filter(|row| row.protocol == Protocol::Be && row.saturation > 0)
            .map(|row| row.mean - be.at(row.payload))
            .collect();
        let noise = chronoseal_core::statistics::median(&spreads).unwrap_or_default();
        Self { rc, be, udp, noise, queue: full.iter().sum::<f64>() / full.len().max(1) as f64 }
    }

    /// The copy of a flood frame `[us]`.
    pub(super) fn copy(&self) -> f64 {
        (self.rc.slope - LINKS) * FLOOD_FRAME
    }

    pub(super) fn cell(&self, row: &Latencies) -> Modelled {
        use Basis::{Fitted, Open, Predicted};
        let of = |mean: f64, mean_basis, sd: f64, sd_basis| Modelled {
            mean: Some(mean),
            mean_basis,
            sd: Some(sd),
            sd_basis,
        };
        let uniform = |width: f64| width / 12f64.sqrt();
        let together = |parts: &[f64]| parts.iter().map(|part| part * part).sum::<f64>().sqrt();
        let is_flooded = row.saturation > 0;
        let (rest, rest_sd) = if is_flooded { (self.copy() / 2.0, uniform(self.copy())) } else { (0.0, 0.0) };
        match row.protocol {
            Protocol::Rc => {
                let basis = if is_flooded { Predicted } else { Fitted };
                of(self.rc.at(row.payload) + rest, basis, together(&[self.noise, rest_sd]), basis)
            }
            Protocol::Tte => {
                let sd = together(&[self.noise, uniform(SLOTS), rest_sd]);
                of(self.rc.at(row.payload) + SLOTS / 2.0 + rest, Predicted, sd, Predicted)
            }
            Protocol::Be if is_flooded => Modelled {
                mean: Some(self.be.at(row.payload) + self.queue),
                mean_basis: Fitted,
                sd: None,
                sd_basis: Open,
            },
            Protocol::Be => {
                Modelled { mean: Some(self.be.at(row.payload)), mean_basis: Fitted, sd: None, sd_basis: Open }
            }
            Protocol::Udp if !is_flooded => {
                Modelled { mean: Some(self.udp.at(row.payload)), mean_basis: Fitted, sd: None, sd_basis: Open }
            }
            Protocol::Udp => Modelled { mean: None, mean_basis: Open, sd: None, sd_basis: Open },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::published::table3;
    use super::*;

    fn is_near(value: f64, expected: f64, within: f64) -> bool {
        (value - expected).abs() <= within
    }

    #[test]
    fn the_fit_is_that_of_the_notes_and_the_copy_follows() {
        let model = Model::of(&table3());
        assert!(is_near(model.rc.base, 19.93, 0.01) && is_near(model.rc.slope, 0.293_45, 0.000_01), "{:?}", model.rc);
        assert!(is_near(model.be.base, 29.81, 0.01) && is_near(model.be.slope, 0.286_26, 0.000_01), "{:?}", model.be);
        assert!(is_near(model.udp.base, 80.9, 0.05) && is_near(model.udp.slope, 0.008_25, 0.000_01), "{:?}", model.udp);
        assert!(is_near(model.copy(), 409.0, 0.5), "{}", model.copy());
    }

    #[test]
    fn predictions_are_nowhere_fitted_to_their_own_cells() {
        let table = table3();
        let model = Model::of(&table);
        // Another printed value in a predicted cell changes nothing there.
        for index in (0..table.len()).filter(|index| model.cell(&table[*index]).mean_basis == Basis::Predicted) {
            let mut other = table.clone();
            other[index].mean *= 2.0;
            other[index].sd *= 2.0;
            let (one, two) = (model.cell(&table[index]), Model::of(&other).cell(&table[index]));
            assert_eq!((one.mean, one.sd), (two.mean, two.sd));
        }
        // And one in a fitted cell does.
        let fitted = table.iter().position(|row| model.cell(row).mean_basis == Basis::Fitted).expect("there are some");
        let mut other = table.clone();
        other[fitted].mean *= 2.0;
        assert_ne!(model.cell(&table[fitted]).mean, Model::of(&other).cell(&table[fitted]).mean);
    }
}
