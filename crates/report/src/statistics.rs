//! Statistics that assume nothing about a distribution: ranks, shifts, resampling. Percentiles, medians and intervals of
//! shares and means are in [`chronoseal_core::statistics`].
//!
//! Compare runs, not packets: samples of one run are not independent, and tests that take them so raise false alarms.

use chronoseal_core::statistics::Interval;
use rand_core::{Rng, SeedableRng};

pub(crate) mod exchange;

/// Ranks, counted from 1, between which the `quantile` of `n` samples lies with 95 % confidence, each tail 2.5 %.
/// `None` where the sample is too small to say.
///
/// # Source
/// Hahn, Meeker, Statistical Intervals, section 5.2: the number of samples below a quantile is binomial.
pub fn percentile_ranks(n: u64, quantile: f64) -> (Option<u64>, Option<u64>) {
    let low = binomial_quantile(n, quantile, 0.025);
    let high = binomial_quantile(n, quantile, 0.975) + 1;
    ((low >= 1).then_some(low), (high <= n).then_some(high))
}

/// The smallest `k` with `P(X <= k) >= share` of a binomial `X`.
fn binomial_quantile(n: u64, p: f64, share: f64) -> u64 {
    // log pmf, step by step: pmf(k + 1) / pmf(k) = (n - k) / (k + 1) * p / (1 - p).
    let (mut log_pmf, ratio, mut cumulated) = (n as f64 * (1.0 - p).ln(), (p / (1.0 - p)).ln(), 0.0);
    for k in 0..=n {
        cumulated += log_pmf.exp();
        if cumulated >= share {
            return k;
        }
        log_pmf += ((n - k) as f64 / (k + 1) as f64).ln() + ratio;
    }
    n
}

/// Interval of `statistic` over whole runs, by drawing runs with repetition; `None` without runs or resamples.
///
/// # Source
/// Efron, Annals of Statistics 7 (1979) 1-26; percentile method.
pub fn bootstrap(
    runs: &[f64],
    statistic: impl Fn(&[f64]) -> f64,
    resamples: usize,
    confidence: f64,
    seed: u64,
) -> Option<Interval> {
    if runs.is_empty() || resamples == 0 {
        return None;
    }
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let mut drawn = vec![0.0; runs.len()];
    let mut statistics: Vec<f64> = (0..resamples)
        .map(|_| {
            for value in &mut drawn {
                let index = (u128::from(rng.next_u64()) * runs.len() as u128) >> 64;
                *value = runs[index as usize];
            }
            statistic(&drawn)
        })
        .collect();
    statistics.sort_by(f64::total_cmp);
    let at = |share: f64| statistics[((share * resamples as f64) as usize).min(resamples - 1)];
    Some(Interval { estimate: statistic(runs), low: at(0.5 - confidence / 2.0), high: at(0.5 + confidence / 2.0) })
}

/// The cumulative share of samples, which are different values in order with how often each came, at most `points_max` steps; smallest,
/// largest and both tails are kept.
pub fn ecdf(counted: &[(f64, u64)], points_max: usize) -> Vec<(f64, f64)> {
    let n: u64 = counted.iter().map(|(_, count)| count).sum();
    let mut below = 0;
    let share = |(value, count): &(f64, u64)| {
        below += count;
        (*value, below as f64 / n as f64)
    };
    let mut points: Vec<(f64, f64)> = counted.iter().map(share).collect();
    if let Some(&(first, _)) = points.first() {
        points.insert(0, (first, 0.0));
    }
    downsample(&points, points_max)
}

/// At most `points_max` of `points`: the first and the last 16, those with the smallest and largest y, and evenly
/// spread ones between.
pub fn downsample(points: &[(f64, f64)], points_max: usize) -> Vec<(f64, f64)> {
    const TAIL: usize = 16;
    let n = points.len();
    if n <= points_max {
        return points.to_vec();
    }
    let tail = TAIL.min(points_max / 4);
    let middle = points_max - 2 * tail - points_max.min(2);
    let extreme = |pick: fn(&(usize, f64), &(usize, f64)) -> std::cmp::Ordering| {
        points.iter().map(|point| point.1).enumerate().min_by(pick).map(|(i, _)| i)
    };
    let mut chosen: Vec<usize> = (0..tail).chain(n - tail..n).collect();
    chosen.extend((0..middle).map(|i| tail + i * (n - 2 * tail) / middle));
    if points_max >= 4 {
        chosen.extend(extreme(|a, b| a.1.total_cmp(&b.1)));
        chosen.extend(extreme(|a, b| b.1.total_cmp(&a.1)));
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen.truncate(points_max);
    chosen.into_iter().map(|i| points[i]).collect()
}

#[cfg(test)]
mod tests;
