//! The spread of a quantity: extremes, mean, and only those percentiles its sample can carry.

use serde::{Deserialize, Serialize};

/// A quantity's spread over a run [ns]. Never a mean alone.
///
/// A percentile is `None` where the sample is too small for it: see [`samples_for`].
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Distribution {
    /// Samples.
    pub n: u64,
    /// Smallest [ns].
    pub min_ns: i64,
    /// Arithmetic mean [ns].
    pub mean_ns: f64,
    /// Median [ns].
    pub p50_ns: Option<i64>,
    /// 90th percentile [ns].
    pub p90_ns: Option<i64>,
    /// 99th percentile [ns].
    pub p99_ns: Option<i64>,
    /// 99.9th percentile [ns].
    pub p999_ns: Option<i64>,
    /// Largest [ns].
    pub max_ns: i64,
}

/// Samples needed before the `quantile` is worth printing: the fewest for which the largest sample bounds it from
/// above with 95 % confidence, whatever the distribution; 5, 29, 299 and 2 995 for 0.5, 0.9, 0.99 and 0.999.
///
/// # Source
/// S. S. Wilks, Annals of Mathematical Statistics 12 (1941) 91-96: `1 - q^n >= 0.95`.
pub fn samples_for(quantile: f64) -> u64 {
    (0.05f64.ln() / quantile.ln()).ceil() as u64
}

/// The sample of rank `ceil(quantile * n)` among `sorted` ones, or `None` if there are too few for it.
pub fn percentile<T: Copy>(sorted: &[T], quantile: f64) -> Option<T> {
    if (sorted.len() as u64) < samples_for(quantile) {
        return None;
    }
    let rank = (quantile * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

impl Distribution {
    /// The spread of `samples` [ns] in any order, which are sorted on the way; `None` of nothing.
    pub fn of(samples: &mut [i64]) -> Option<Self> {
        samples.sort_unstable();
        let (min_ns, max_ns) = (*samples.first()?, *samples.last()?);
        let sum: i128 = samples.iter().map(|&sample| i128::from(sample)).sum();
        Some(Self {
            n: samples.len() as u64,
            min_ns,
            mean_ns: sum as f64 / samples.len() as f64,
            p50_ns: percentile(samples, 0.5),
            p90_ns: percentile(samples, 0.9),
            p99_ns: percentile(samples, 0.99),
            p999_ns: percentile(samples, 0.999),
            max_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_spread_is_never_a_mean_alone() {
        let spread = Distribution::of(&mut [5, 1, 3]).unwrap();
        assert_eq!((spread.n, spread.min_ns, spread.mean_ns, spread.max_ns), (3, 1, 3.0, 5));
        assert_eq!(spread.p50_ns, None, "three samples do not carry a median's bound");
        assert_eq!(Distribution::of(&mut []), None);
    }

    #[test]
    fn extreme_samples_do_not_overflow_the_mean() {
        let spread = Distribution::of(&mut [i64::MAX, i64::MAX, i64::MIN]).unwrap();
        assert!(spread.mean_ns > 0.0);
    }
}
