//! The spread of a quantity: extremes, mean, and only those percentiles its sample can carry.

use chronoseal_core::statistics::percentile;
use serde::{Deserialize, Serialize};

/// A quantity's spread over a run `[ns]`. Never a mean alone.
///
/// A percentile is `None` where the sample is too small for it: see [`samples_for`](chronoseal_core::statistics::samples_for).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Distribution {
    /// Samples.
    pub n: u64,
    /// Smallest `[ns]`.
    pub min_ns: i64,
    /// Arithmetic mean `[ns]`.
    pub mean_ns: f64,
    /// Median `[ns]`.
    pub p50_ns: Option<i64>,
    /// 90th percentile `[ns]`.
    pub p90_ns: Option<i64>,
    /// 99th percentile `[ns]`.
    pub p99_ns: Option<i64>,
    /// 99.9th percentile `[ns]`.
    pub p999_ns: Option<i64>,
    /// Largest `[ns]`.
    pub max_ns: i64,
    /// There were too many different values to keep: percentiles are off by up to 0.05 %. See [`Samples`](crate::Samples).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_rounded: bool,
}

impl Distribution {
    /// The spread of `samples` `[ns]` in any order, which are sorted on the way; `None` of nothing.
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
            is_rounded: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
