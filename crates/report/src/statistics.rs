//! Statistics that assume nothing about a distribution: ranks, shifts, resampling. Percentiles, medians and intervals of
//! shares and means are in [`chronoseal_core::statistics`].
//!
//! Compare runs, not packets: samples of one run are not independent, and tests that take them so raise false alarms.

use chronoseal_core::statistics::{Interval, nearest_rank};
use rand_core::{Rng, SeedableRng};

/// Outcome of [`mann_whitney`].
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize)]
pub struct MannWhitney {
    /// Pairs in which the first sample is larger, ties counted half.
    pub u: f64,
    /// Two-sided probability of a difference at least as large between samples of one source.
    pub p: f64,
    /// Counted exactly, not approximated.
    pub exact: bool,
}

/// Up to this many values a side, without ties, [`mann_whitney`] counts exactly.
const EXACT_MAX: usize = 30;

/// Mann-Whitney U test of two samples, two-sided; `None` if one is empty. Exact without ties and up to 30 values a
/// side, else by the normal approximation with tie and continuity correction.
///
/// # Source
/// H. B. Mann, D. R. Whitney, Annals of Mathematical Statistics 18 (1947) 50-60; vectors: `tests/vectors/statistics.json`.
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Option<MannWhitney> {
    if a.len() <= EXACT_MAX && b.len() <= EXACT_MAX && !has_ties(a, b) {
        mann_whitney_exact(a, b)
    } else {
        mann_whitney_approximate(a, b)
    }
}

fn has_ties(a: &[f64], b: &[f64]) -> bool {
    let mut all: Vec<f64> = a.iter().chain(b).copied().collect();
    all.sort_by(f64::total_cmp);
    all.windows(2).any(|pair| pair[0] == pair[1])
}

/// Pairs in which the value of `a` is larger, ties counted half.
fn u_statistic(a: &[f64], b: &[f64]) -> f64 {
    let mut sorted = b.to_vec();
    sorted.sort_by(f64::total_cmp);
    a.iter()
        .map(|x| {
            let below = sorted.partition_point(|y| y < x);
            let up_to = sorted.partition_point(|y| y <= x);
            below as f64 + (up_to - below) as f64 / 2.0
        })
        .sum()
}

fn mann_whitney_exact(a: &[f64], b: &[f64]) -> Option<MannWhitney> {
    let (m, n) = (a.len(), b.len());
    if m == 0 || n == 0 {
        return None;
    }
    let u = u_statistic(a, b);
    // counts[i][k]: arrangements of i values of `a` among j of `b` with U = k; built up over j.
    // f(i, j, k) = f(i - 1, j, k - j) + f(i, j - 1, k).
    let mut counts = vec![vec![0.0f64; m * n + 1]; m + 1];
    for row in &mut counts {
        row[0] = 1.0;
    }
    for j in 1..=n {
        for i in 1..=m {
            for k in j..=i * j {
                counts[i][k] += counts[i - 1][k - j];
            }
        }
    }
    let total: f64 = counts[m].iter().sum();
    // The distribution is symmetric: twice the tail beyond the larger of U and its mirror.
    let larger = u.max((m * n) as f64 - u) as usize;
    let tail: f64 = counts[m][larger..].iter().sum();
    Some(MannWhitney { u, p: (2.0 * tail / total).min(1.0), exact: true })
}

fn mann_whitney_approximate(a: &[f64], b: &[f64]) -> Option<MannWhitney> {
    let (m, n) = (a.len() as f64, b.len() as f64);
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let u = u_statistic(a, b);
    let mut all: Vec<f64> = a.iter().chain(b).copied().collect();
    all.sort_by(f64::total_cmp);
    let ties: f64 = all.chunk_by(|x, y| x == y).map(|tie| tie.len() as f64).map(|t| t * t * t - t).sum();
    let total = m + n;
    let variance = m * n / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    let p = if variance > 0.0 {
        two_sided((((u - m * n / 2.0).abs() - 0.5) / variance.sqrt()).max(0.0))
    } else {
        // Every value is the same.
        1.0
    };
    Some(MannWhitney { u, p, exact: false })
}

/// How far `b` lies above `a`: the median of all differences, with a distribution-free interval; `None` if one is empty.
///
/// # Source
/// J. L. Hodges, E. L. Lehmann, Annals of Mathematical Statistics 34 (1963) 598-611; interval for large samples as in
/// Hollander, Wolfe, Nonparametric Statistical Methods, section 4.3.
pub fn hodges_lehmann(a: &[f64], b: &[f64], confidence: f64) -> Option<Interval> {
    let mut differences: Vec<f64> = a.iter().flat_map(|x| b.iter().map(move |y| y - x)).collect();
    differences.sort_by(f64::total_cmp);
    // The source takes the mean of the two middle differences of an even number.
    let (lower, upper) = (nearest_rank(&differences, 0.5)?, differences[differences.len() / 2]);
    let estimate = (lower + upper) / 2.0;
    let (m, n) = (a.len() as f64, b.len() as f64);
    let margin = normal_quantile(0.5 + confidence / 2.0) * (m * n * (m + n + 1.0) / 12.0).sqrt();
    let rank = ((m * n / 2.0 - margin).floor() as usize).max(1);
    Some(Interval { estimate, low: differences[rank - 1], high: differences[differences.len() - rank] })
}

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

/// Adjusts probabilities of several tests so that one false alarm among all is as rare as one alone.
///
/// # Source
/// S. Holm, Scandinavian Journal of Statistics 6 (1979) 65-70.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&i, &j| p[i].total_cmp(&p[j]));
    let (mut adjusted, mut top) = (vec![0.0; p.len()], 0.0f64);
    for (rank, &i) in order.iter().enumerate() {
        top = top.max(((p.len() - rank) as f64 * p[i]).min(1.0));
        adjusted[i] = top;
    }
    adjusted
}

/// The cumulative share of `samples`, at most `points_max` steps; smallest, largest and both tails are kept.
pub fn ecdf(samples: &mut [f64], points_max: usize) -> Vec<(f64, f64)> {
    samples.sort_by(f64::total_cmp);
    let n = samples.len();
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (i, &value) in samples.iter().enumerate() {
        let share = (i + 1) as f64 / n as f64;
        match points.last_mut() {
            Some(last) if last.0 == value => last.1 = share,
            _ => points.push((value, share)),
        }
    }
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

/// Probability of a standard normal value at least `z` from zero, on either side.
fn two_sided(z: f64) -> f64 {
    let x = z / std::f64::consts::SQRT_2;
    if x < 2.0 {
        // erf by its series: 2/sqrt(pi) * exp(-x^2) * sum of 2^k x^(2k+1) / (1 * 3 * ... * (2k+1)).
        let (mut term, mut sum) = (x, x);
        for k in 1..100 {
            term *= 2.0 * x * x / (2 * k + 1) as f64;
            sum += term;
        }
        1.0 - std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
    } else {
        // erfc by its continued fraction, from the innermost term outwards.
        let fraction = (1..=60).rev().fold(x, |inner, k| x + k as f64 / 2.0 / inner);
        std::f64::consts::FRAC_2_SQRT_PI / 2.0 * (-x * x).exp() / fraction
    }
}

/// The value a standard normal one stays below with probability `share`, 0.5 <= share < 1.
fn normal_quantile(share: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if two_sided(middle) > 2.0 * (1.0 - share) { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests;
