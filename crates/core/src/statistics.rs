//! Percentiles, medians and intervals: the one place where they are computed.
//!
//! One convention holds throughout: a percentile of samples is of the nearest rank, the sample of rank `ceil(q n)` among
//! `n` sorted ones counted from 1. So the median of an even number is the lower of the two in the middle. It is always a
//! value that was seen, and whole numbers stay whole.

/// The value that a standard normal one stays below with a probability of 97.5 %.
pub const NORMAL_975: f64 = 1.959_963_984_540_054;

/// Quantiles of Student's distribution at 97.5 %, from one degree of freedom on.
const STUDENT_975: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// The sample of rank `ceil(quantile * n)` among `sorted` ones, the first at least; `None` of nothing.
///
/// It says nothing about whether there are enough samples: see [`percentile`].
pub fn nearest_rank<T: Copy>(sorted: &[T], quantile: f64) -> Option<T> {
    sorted.get(rank(sorted.len() as u64, quantile) as usize - 1).copied()
}

/// Which of `n` sorted samples [`nearest_rank`] takes; the first is 1.
fn rank(n: u64, quantile: f64) -> u64 {
    ((quantile * n as f64).ceil() as u64).max(1)
}

/// The middle one of `sorted` samples, the lower of two; `None` of nothing.
pub fn median<T: Copy>(sorted: &[T]) -> Option<T> {
    nearest_rank(sorted, 0.5)
}

/// Samples needed before the `quantile` is worth printing: the fewest for which the largest sample bounds it from
/// above with 95 % confidence, whatever the distribution; 5, 29, 299 and 2 995 for 0.5, 0.9, 0.99 and 0.999.
///
/// # Source
/// S. S. Wilks, Annals of Mathematical Statistics 12 (1941) 91-96: `1 - q^n >= 0.95`.
pub fn samples_for(quantile: f64) -> u64 {
    (0.05f64.ln() / quantile.ln()).ceil() as u64
}

/// [`nearest_rank`] where there are as many samples as [`samples_for`] asks for, else `None`.
pub fn percentile<T: Copy>(sorted: &[T], quantile: f64) -> Option<T> {
    percentile_rank(sorted.len() as u64, quantile)?;
    nearest_rank(sorted, quantile)
}

/// Which of `n` sorted samples [`percentile`] takes, for whoever keeps samples in another way; the first is 1.
pub fn percentile_rank(n: u64, quantile: f64) -> Option<u64> {
    (n >= samples_for(quantile)).then(|| rank(n, quantile))
}

/// An estimate with an interval around it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// The estimate.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Share `k` of `n` with Wilson's 95 % interval; `None` if `n` is 0.
    ///
    /// # Source
    /// E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal of the American
    /// Statistical Association 22 (1927) 209-212.
    pub fn of_share(k: u64, n: u64) -> Option<Self> {
        if n == 0 {
            return None;
        }
        let (share, n, z) = (k as f64 / n as f64, n as f64, NORMAL_975);
        let scale = 1.0 + z * z / n;
        let middle = (share + z * z / (2.0 * n)) / scale;
        let margin = z / scale * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
        Some(Self { estimate: share, low: (middle - margin).max(0.0), high: (middle + margin).min(1.0) })
    }

    /// Mean of one value a run, with Student's 95 % interval. `None` without a value; of a single one it has no width
    /// that would say anything, and both ends are not a number.
    pub fn of_values(values: &[f64]) -> Option<Self> {
        let runs = values.len() as f64;
        let mean = values.iter().sum::<f64>() / runs;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let half = match values.len() {
            0 => return None,
            1 => f64::NAN,
            count => {
                // With more runs Student's distribution comes close to the normal one.
                let quantile = STUDENT_975.get(count - 2).copied().unwrap_or(NORMAL_975);
                quantile * (squares / (runs - 1.0) / runs).sqrt()
            }
        };
        Some(Self { estimate: mean, low: mean - half, high: mean + half })
    }

    /// Share of hits over all runs: `(hits, of)` of each. `None` if there was nothing to hit.
    ///
    /// Runs differ more than chance within one does, and chance remains where runs agree: five runs that all hit all of
    /// 20 do not prove that all are always hit. So of two intervals the wider end counts: Student's over the runs' shares, and
    /// Wilson's over all hits.
    pub fn of_shares(counts: &[(u64, u64)]) -> Option<Self> {
        let (hits, of) = counts.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let Self { estimate, low, high } = Self::of_share(hits, of)?;
        let (mut low, mut high) = (low.min(estimate), high.max(estimate));
        let shares: Vec<f64> = counts.iter().filter(|one| one.1 > 0).map(|one| one.0 as f64 / one.1 as f64).collect();
        if let Some(runs) = Self::of_values(&shares)
            && shares.len() > 1
        {
            let half = runs.high - runs.estimate;
            (low, high) = (low.min(estimate - half), high.max(estimate + half));
        }
        Some(Self { estimate, low: low.max(0.0), high: high.min(1.0) })
    }

    /// The same in another unit.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self { estimate: self.estimate * factor, low: self.low * factor, high: self.high * factor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_is_the_lower_middle_one() {
        assert_eq!(median(&[1, 2, 3]), Some(2));
        assert_eq!(median(&[1, 2, 3, 4]), Some(2));
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median::<u64>(&[]), None);
    }

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let hundred: Vec<u64> = (1..=100).collect();
        let found = [0.0, 0.5, 0.99, 0.999, 1.0].map(|quantile| nearest_rank(&hundred, quantile));
        assert_eq!(found, [1, 50, 99, 100, 100].map(Some));
        // 99.9 % of 1,000 is exactly 999, which a detour through percents would miss.
        let thousand: Vec<u64> = (1..=1_000).collect();
        assert_eq!(nearest_rank(&thousand, 0.999), Some(999));
        assert_eq!((nearest_rank(&[7], 0.5), nearest_rank::<u64>(&[], 0.5)), (Some(7), None));
    }

    #[test]
    fn a_percentile_needs_its_samples() {
        assert_eq!([0.5, 0.9, 0.99, 0.999].map(samples_for), [5, 29, 299, 2995]);
        let sorted: Vec<i64> = (1..=298).collect();
        assert_eq!(percentile(&sorted, 0.99), None);
        let sorted: Vec<i64> = (1..=299).collect();
        assert_eq!(percentile(&sorted, 0.99), Some(297));
        assert_eq!(percentile::<i64>(&[], 0.5), None);
    }

    #[test]
    fn means_are_students() {
        // Mean 3, variance 2.5, 2.776 * sqrt(2.5 / 5) = 1.963.
        let interval = Interval::of_values(&[1.0, 2.0, 3.0, 4.0, 5.0]).expect("values");
        assert_eq!(interval.estimate, 3.0);
        assert!((interval.high - 4.963).abs() < 1e-3 && (interval.low - 1.037).abs() < 1e-3);
        assert_eq!(Interval::of_values(&[]), None);
        let one = Interval::of_values(&[7.0]).expect("a value");
        assert!(one.estimate == 7.0 && one.low.is_nan());
        let many = Interval::of_values(&[0.0, 1.0].repeat(50)).expect("values");
        assert!((many.high - 0.5985).abs() < 1e-3, "{many:?}");
    }

    #[test]
    fn shares_are_wilsons_where_runs_agree() {
        // Wilson's interval of 10 of 10 begins at 1 / (1 + 1.96^2 / 10) = 0.7225.
        let all = Interval::of_shares(&[(5, 5), (5, 5)]).expect("shares");
        assert_eq!((all.estimate, all.high), (1.0, 1.0));
        assert!((all.low - 0.7225).abs() < 1e-3, "{all:?}");
        let none = Interval::of_shares(&[(0, 10)]).expect("shares");
        assert!(none.estimate == 0.0 && none.low == 0.0 && (none.high - 0.2775).abs() < 1e-3, "{none:?}");
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
