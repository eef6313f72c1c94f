//! Samples of one quantity, counted by value while they come.

use crate::Distribution;

/// As many different values are kept exactly; beyond them values are rounded.
pub const EXACT_MAX: usize = 1 << 15;

/// Significant bits of a rounded value, which is then off by 1 part in 2,048 at most.
const BITS: u32 = 11;

/// So many samples at least are sorted in together.
const BATCH: usize = 256;

/// Among so many different values a sample is looked up at once.
const FEW: usize = 64;

/// Samples of a quantity `[ns]`. Simulated times take few different values, so each is kept once with how often it came. From
/// [`EXACT_MAX`] different values on they are rounded to 0.05 % of their size; count, mean and extremes stay exact.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// By value, with how often it came.
    counted: Vec<(i64, u64)>,
    /// Not sorted in yet.
    fresh: Vec<i64>,
    n: u64,
    sum: i128,
    extremes: Option<(i64, i64)>,
    is_rounded: bool,
}

impl Samples {
    /// Takes in one more.
    pub fn push(&mut self, sample: i64) {
        self.n += 1;
        self.sum += i128::from(sample);
        let (min, max) = self.extremes.unwrap_or((sample, sample));
        self.extremes = Some((min.min(sample), max.max(sample)));
        let value = if self.is_rounded { rounded(sample) } else { sample };
        if self.counted.len() <= FEW
            && let Ok(place) = self.counted.binary_search_by_key(&value, |(known, _)| *known)
        {
            self.counted[place].1 += 1;
            return;
        }
        self.fresh.push(value);
        if self.fresh.len() >= BATCH.max(self.counted.len() / 2) {
            self.sort_in();
        }
    }

    /// Takes in those of another.
    pub fn extend(&mut self, other: &Self) {
        self.n += other.n;
        self.sum += other.sum;
        self.extremes = match (self.extremes, other.extremes) {
            (Some((min, max)), Some((low, high))) => Some((min.min(low), max.max(high))),
            (known, others) => known.or(others),
        };
        self.sort_in();
        self.is_rounded |= other.is_rounded;
        let fresh = other.fresh.iter().map(|value| (*value, 1));
        self.counted.extend(other.counted.iter().copied().chain(fresh));
        self.tidy();
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// How many.
    pub const fn len(&self) -> u64 {
        self.n
    }

    /// True if there is none.
    pub const fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The values in order, with how often each came.
    pub fn into_counted(mut self) -> Vec<(i64, u64)> {
        self.sort_in();
        self.counted
    }

    /// Their spread; `None` of nothing.
    pub fn spread(&mut self) -> Option<Distribution> {
        self.sort_in();
        let (min_ns, max_ns) = self.extremes?;
        let percentile = |quantile| Some(self.percentile(quantile)?.clamp(min_ns, max_ns));
        Some(Distribution {
            n: self.n,
            min_ns,
            mean_ns: self.sum as f64 / self.n as f64,
            p50_ns: percentile(0.5),
            p90_ns: percentile(0.9),
            p99_ns: percentile(0.99),
            p999_ns: percentile(0.999),
            max_ns,
            is_rounded: self.is_rounded,
        })
    }

    /// As [`percentile`](chronoseal_core::statistics::percentile) of all of them.
    fn percentile(&self, quantile: f64) -> Option<i64> {
        let rank = chronoseal_core::statistics::percentile_rank(self.n, quantile)?;
        let mut below = 0;
        let reaches = |(_, count): &&(i64, u64)| {
            below += count;
            below >= rank
        };
        self.counted.iter().find(reaches).map(|(value, _)| *value)
    }

    fn sort_in(&mut self) {
        if self.fresh.is_empty() {
            return;
        }
        // Alone they are sorted faster than among what is in order already.
        self.fresh.sort_unstable();
        self.counted.extend(self.fresh.chunk_by(|one, next| one == next).map(|alike| (alike[0], alike.len() as u64)));
        self.fresh.clear();
        self.tidy();
    }

    /// Sorts values and adds up equal ones; rounds them if there are too many.
    fn tidy(&mut self) {
        if self.is_rounded {
            self.counted.iter_mut().for_each(|(value, _)| *value = rounded(*value));
        }
        // Two parts that are in order each, which a stable sort makes use of.
        self.counted.sort_by_key(|(value, _)| *value);
        self.counted.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            kept.1 += if is_same { next.1 } else { 0 };
            is_same
        });
        if self.counted.len() > EXACT_MAX && !self.is_rounded {
            self.is_rounded = true;
            self.tidy();
        }
    }
}

impl FromIterator<i64> for Samples {
    fn from_iter<T: IntoIterator<Item = i64>>(samples: T) -> Self {
        let mut all = Self::default();
        samples.into_iter().for_each(|sample| all.push(sample));
        all
    }
}

/// The middle of the values that have the same first bits.
fn rounded(value: i64) -> i64 {
    let size = value.unsigned_abs();
    let dropped = (u64::BITS - size.leading_zeros()).saturating_sub(BITS);
    if dropped == 0 {
        return value;
    }
    let middle = ((size >> dropped) << dropped | 1 << (dropped - 1)).min(i64::MAX as u64) as i64;
    if value < 0 { -middle } else { middle }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look drawn and are always the same.
    fn drawn(count: usize, below: u64) -> Vec<i64> {
        let mut state = 7u64;
        let next = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 20) % below) as i64 - 1000
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn counted_samples_spread_as_whole_ones_do() {
        for (count, below) in [(0, 9), (1, 9), (300, 5), (5_000, 20_000), (40_000, EXACT_MAX as u64)] {
            let mut samples = drawn(count, below);
            let mut all: Samples = samples.iter().copied().collect();
            let (mut one, two) = (Samples::from_iter(samples[..count / 3].to_vec()), &samples[count / 3..]);
            one.extend(&two.iter().copied().collect());
            let whole = Distribution::of(&mut samples);
            assert_eq!((all.spread(), one.spread()), (whole, whole), "{count}");
        }
    }

    #[test]
    fn too_many_different_values_are_rounded_by_less_than_a_thousandth() {
        let mut samples = drawn(200_000, 1 << 40);
        let mut all: Samples = samples.iter().copied().collect();
        assert!(all.counted.len() + all.fresh.len() < 2 * EXACT_MAX);
        let (found, whole) = (all.spread().unwrap(), Distribution::of(&mut samples).unwrap());
        assert!(found.is_rounded && !whole.is_rounded);
        assert_eq!(
            (found.n, found.min_ns, found.mean_ns, found.max_ns),
            (whole.n, whole.min_ns, whole.mean_ns, whole.max_ns)
        );
        let pairs = [(found.p50_ns, whole.p50_ns), (found.p90_ns, whole.p90_ns), (found.p999_ns, whole.p999_ns)];
        for (found, whole) in pairs.map(|(found, whole)| (found.unwrap() as f64, whole.unwrap() as f64)) {
            assert!((found - whole).abs() <= whole / 1000.0, "{found} for {whole}");
        }
        assert_eq!(
            [2047, -2047, 2049, i64::MAX, i64::MIN].map(|value| rounded(value) == value),
            [true, true, true, false, false]
        );
        assert_eq!((rounded(1 << 20), rounded(-(1 << 20))), ((1 << 20) + 512, -(1 << 20) - 512));
    }
}
