//! What several runs with different seeds say together.

/// A mean with a 95 % confidence interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// Of all runs.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Quantiles of Student's distribution at 97.5 %, from one degree of freedom on.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];
/// The same of the normal distribution, to which Student's comes close.
const NORMAL: f64 = 1.960;

impl Interval {
    /// Mean of one value a run, with Student's interval. `None` without a value; of a single one it has no width that
    /// would say anything, and both ends are not a number.
    pub fn of_values(values: &[f64]) -> Option<Self> {
        let runs = values.len() as f64;
        let mean = values.iter().sum::<f64>() / runs;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let half = match values.len() {
            0 => return None,
            1 => f64::NAN,
            count => {
                let quantile = STUDENT.get(count - 2).copied().unwrap_or(NORMAL);
                quantile * libm::sqrt(squares / (runs - 1.0) / runs)
            }
        };
        Some(Self { mean, low: mean - half, high: mean + half })
    }

    /// Share of hits over all runs: `(hits, of)` of each. `None` if there was nothing to hit.
    ///
    /// Runs differ more than chance within one does, and chance remains where runs agree: five runs that all hit all of
    /// 20 do not prove that all are always hit. So of two intervals the wider end counts: Student's over the runs' shares, and
    /// Wilson's over all hits.
    ///
    /// # Source
    /// E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal of the American
    /// Statistical Association 22 (1927) 209-212.
    pub fn of_shares(counts: &[(u64, u64)]) -> Option<Self> {
        let (hits, of) = counts.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        if of == 0 {
            return None;
        }
        let (n, mean) = (of as f64, hits as f64 / of as f64);
        let z2 = NORMAL * NORMAL;
        let centre = (mean + z2 / (2.0 * n)) / (1.0 + z2 / n);
        let half = NORMAL / (1.0 + z2 / n) * libm::sqrt(mean * (1.0 - mean) / n + z2 / (4.0 * n * n));
        let (mut low, mut high) = ((centre - half).min(mean), (centre + half).max(mean));
        let shares: Vec<f64> = counts.iter().filter(|one| one.1 > 0).map(|one| one.0 as f64 / one.1 as f64).collect();
        if let Some(runs) = Self::of_values(&shares)
            && shares.len() > 1
        {
            let half = runs.high - runs.mean;
            (low, high) = (low.min(mean - half), high.max(mean + half));
        }
        Some(Self { mean, low: low.max(0.0), high: high.min(1.0) })
    }

    /// The same in another unit.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self { mean: self.mean * factor, low: self.low * factor, high: self.high * factor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_students() {
        // Mean 3, variance 2.5, 2.776 * sqrt(2.5 / 5) = 1.963.
        let interval = Interval::of_values(&[1.0, 2.0, 3.0, 4.0, 5.0]).expect("values");
        assert_eq!(interval.mean, 3.0);
        assert!((interval.high - 4.963).abs() < 1e-3 && (interval.low - 1.037).abs() < 1e-3);
        assert_eq!(Interval::of_values(&[]), None);
        let one = Interval::of_values(&[7.0]).expect("a value");
        assert!(one.mean == 7.0 && one.low.is_nan());
        let many = Interval::of_values(&[0.0, 1.0].repeat(50)).expect("values");
        assert!((many.high - 0.5985).abs() < 1e-3, "{many:?}");
    }

    #[test]
    fn shares_are_wilsons_where_runs_agree() {
        // Wilson's interval of 10 of 10 begins at 1 / (1 + 1.96^2 / 10) = 0.7225.
        let all = Interval::of_shares(&[(5, 5), (5, 5)]).expect("shares");
        assert_eq!((all.mean, all.high), (1.0, 1.0));
        assert!((all.low - 0.7225).abs() < 1e-3, "{all:?}");
        let none = Interval::of_shares(&[(0, 10)]).expect("shares");
        assert!(none.mean == 0.0 && none.low == 0.0 && (none.high - 0.2775).abs() < 1e-3, "{none:?}");
        assert_eq!(Interval::of_shares(&[(0, 0)]), None);
    }

    #[test]
    fn shares_are_students_where_runs_differ() {
        let counts = [(10, 100), (90, 100), (10, 100), (90, 100), (50, 100)];
        let interval = Interval::of_shares(&counts).expect("shares");
        // Deviation 0.4 of five: 2.776 * 0.4 / sqrt(5) = 0.497, far wider than Wilson's 0.04.
        assert!((interval.high - 0.997).abs() < 1e-3 && (interval.low - 0.003).abs() < 1e-3, "{interval:?}");
    }
}
