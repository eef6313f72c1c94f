//! How often and how much: a rate from what was counted, and a burst from the curve that bounds all that was seen.

use chronoseal_core::Duration;
use chronoseal_core::statistics::nearest_rank;

/// A flow with more at once than so many of its longest frames is described by no period and burst.
pub(super) const BURST_MAX: u64 = 500;
/// Nor is one that came at once for so much of all that was seen `[1]`.
const BURST_SHARE_MAX: f64 = 0.5;
/// Below it, a mean distance says little: what was seen counts against the length of the whole capture.
const FRAMES_FEW: usize = 10;
/// Frames and their bytes may come by so much before the curve without counting as one more `[1]`.
const TOLERANCE: f64 = 0.1;

/// What was seen of a stream.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Rate {
    pub(super) frames: usize,
    pub(super) bytes: u64,
    pub(super) shortest: u64,
    pub(super) longest: u64,
    /// From the first frame to the last `[ns]`.
    pub(super) span_ns: u64,
    /// In the long run `[byte/s]`.
    pub(super) bytes_per_s: f64,
    /// More than the rate gives, at most, within any time `[byte]`.
    pub(super) burst: f64,
    /// Distance of two frames, or of two bursts `[ns]`.
    pub(super) period_ns: u64,
    /// So many frames of the longest length at once.
    pub(super) count: u64,
    /// The period was near a round number and is that.
    pub(super) is_rounded: bool,
    /// Counted against the whole capture, for there are so few.
    pub(super) is_few: bool,
    /// The middle half of all distances is within a tenth of the mean one.
    is_usual: bool,
}

impl Rate {
    /// Of frames by time, with their lengths `[ns, byte]`. The capture is `capture_ns` long. `None` if there is no distance in it.
    pub(super) fn of(seen: &[(u64, u64)], capture_ns: u64) -> Option<Self> {
        let (first, last) = (seen.first()?.0, seen.last()?.0);
        let (frames, span_ns) = (seen.len(), last - first);
        let bytes: u64 = seen.iter().map(|(_, len)| len).sum();
        let longest = seen.iter().map(|(_, len)| *len).max()?.max(1);
        let even = even_rate(seen);
        let is_few = even.is_none() && frames < FRAMES_FEW;
        let bytes_per_s = match even {
            Some(rate) => rate,
            None if is_few => bytes as f64 / seconds(capture_ns),
            None => (bytes - seen[frames - 1].1) as f64 / seconds(span_ns),
        };
        if frames < 2 || span_ns == 0 || !bytes_per_s.is_finite() || bytes_per_s <= 0.0 {
            return None;
        }
        let burst = burst(seen, bytes_per_s);
        let count = (burst / longest as f64 - TOLERANCE).ceil().max(1.0) as u64;
        let exact_ns = count as f64 * longest as f64 / bytes_per_s * 1e9;
        let period_ns = exact_ns.min(86_400e9) as u64;
        let round_ns = round_period_us(period_ns).map(|us| us.unsigned_abs() * 1_000);
        let round_ns = round_ns.filter(|round| round.abs_diff(period_ns) * 100 <= *round);
        Some(Self {
            frames,
            bytes,
            shortest: seen.iter().map(|(_, len)| *len).min()?,
            longest,
            span_ns,
            bytes_per_s,
            burst,
            period_ns: round_ns.unwrap_or(period_ns),
            count,
            is_rounded: round_ns.is_some_and(|round| round != period_ns),
            is_few,
            is_usual: is_usual(seen),
        })
    }
}

impl Rate {
    /// No period and no burst describes it.
    pub(super) fn is_undescribed(&self) -> bool {
        let is_most = self.frames >= FRAMES_FEW && self.burst > self.bytes as f64 * BURST_SHARE_MAX;
        self.count > BURST_MAX || self.count > 1 && is_most
    }

    /// The round distance of single frames that come evenly but for some `[us]`.
    pub(super) fn usual_period_us(&self) -> Option<i64> {
        let mean_ns = self.longest as f64 / self.bytes_per_s * 1e9;
        round_period_us(mean_ns as u64).filter(|_| self.is_usual)
    }
}

fn is_usual(seen: &[(u64, u64)]) -> bool {
    let mut gaps: Vec<u64> = seen.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    gaps.sort_unstable();
    let [quartile, median, upper] = [0.25, 0.5, 0.75].map(|share| nearest_rank(&gaps, share).unwrap_or(0));
    gaps.len() >= 4 && (upper - quartile).saturating_mul(10) <= median
}

/// 1, 2, 2.5, 4, 5 or 8 times a power of ten `[us]`, if `ns` is within 3 % of it.
pub(in crate::import) fn round_period_us(ns: u64) -> Option<i64> {
    let mut power_ns = 1_000u64;
    while power_ns <= 1_000_000_000 {
        for tenths in [10, 20, 25, 40, 50, 80] {
            let candidate = power_ns * tenths / 10;
            if ns.abs_diff(candidate).saturating_mul(100) <= candidate * 3 && candidate.is_multiple_of(1_000) {
                return Some((candidate / 1_000) as i64);
            }
        }
        power_ns *= 10;
    }
    None
}

/// A time as it is shown, at most a hundred days.
pub(super) fn shown(ns: u64) -> Duration {
    Duration::from_ns(ns.min(100 * 86_400 * 1_000_000_000) as i64)
}

fn seconds(ns: u64) -> f64 {
    ns.max(1) as f64 * 1e-9
}

/// The rate of frames, or of bursts, that come evenly: the last one is the first of the time behind what was seen.
fn even_rate(seen: &[(u64, u64)]) -> Option<f64> {
    let gap = |pair: &[(u64, u64)]| pair[1].0 - pair[0].0;
    let largest = seen.windows(2).map(gap).max()?;
    // Begin and bytes of each burst.
    let mut bursts: Vec<(u64, u64)> = Vec::new();
    let mut before: Option<u64> = None;
    for (at, len) in seen {
        match bursts.last_mut() {
            Some((_, bytes)) if before.is_some_and(|before| (at - before).saturating_mul(2) < largest) => *bytes += len,
            _ => bursts.push((*at, *len)),
        }
        before = Some(*at);
    }
    let (mut shortest, mut longest) = (u64::MAX, 0);
    for pair in bursts.windows(2) {
        shortest = shortest.min(gap(pair));
        longest = longest.max(gap(pair));
    }
    let is_even = bursts.len() >= 4 && (longest - shortest).saturating_mul(10) <= longest;
    let (first, last) = (bursts.first()?, bursts.last()?);
    let whole: u64 = bursts[..bursts.len() - 1].iter().map(|(_, bytes)| bytes).sum();
    is_even.then(|| whole as f64 / seconds(last.0 - first.0))
}

/// The smallest burst with which a curve of this rate is nowhere below what came within any time `[byte]`.
fn burst(seen: &[(u64, u64)], bytes_per_s: f64) -> f64 {
    let begin = seen.first().map_or(0, |(at, _)| *at);
    let (mut before, mut lowest, mut most) = (0u64, f64::INFINITY, 0f64);
    for (at, len) in seen {
        let earned = bytes_per_s * ((at - begin) as f64 * 1e-9);
        lowest = lowest.min(before as f64 - earned);
        before += len;
        most = most.max(before as f64 - earned - lowest);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every(period_ns: u64, frames: u64, burst: u64, len: u64) -> Vec<(u64, u64)> {
        (0..frames).map(|i| (i / burst * period_ns + i % burst * 1_000, len)).collect()
    }

    #[test]
    fn even_frames_have_their_period_and_a_burst_of_one() {
        let rate = Rate::of(&every(124_800_000, 9, 1, 58), 2_000_000_000).unwrap();
        assert_eq!((rate.period_ns, rate.count, rate.is_rounded), (124_800_000, 1, false));
        assert!((rate.burst - 58.0).abs() < 1e-6);
        let rate = Rate::of(&every(9_999_000, 100, 1, 100), 1_000_000_000).unwrap();
        assert_eq!((rate.period_ns, rate.count, rate.is_rounded), (10_000_000, 1, true));
    }

    #[test]
    fn a_period_is_as_short_as_it_was_seen() {
        let rate = Rate::of(&every(150, 5_000, 1, 60), 749_850).unwrap();
        assert_eq!((rate.period_ns, rate.count), (150, 1));
    }

    #[test]
    fn even_bursts_come_whole_at_their_distance() {
        let rate = Rate::of(&every(100_000_000, 100, 10, 1_000), 1_000_000_000).unwrap();
        assert_eq!((rate.period_ns, rate.count), (100_000_000, 10));
        assert!((rate.bytes_per_s - 100_000.0).abs() < 1e-6);
    }

    #[test]
    fn two_messages_behind_one_another_are_a_burst_and_no_period() {
        // As Sync and Follow_Up, 50 us apart: the median distance would be 50 us.
        let seen: Vec<_> = (0..32).map(|i| (i / 2 * 125_000_000 + i % 2 * 50_000, 90)).collect();
        let rate = Rate::of(&seen, 1_875_050_000).unwrap();
        assert_eq!((rate.period_ns, rate.count), (125_000_000, 2));
        let few = Rate::of(&[(0, 60), (1_000, 60)], 1_000_000_000).unwrap();
        assert_eq!((few.period_ns, few.count, few.is_few), (1_000_000_000, 2, true));
    }

    #[test]
    fn lengths_that_differ_keep_the_bytes_per_second() {
        let seen: Vec<_> = (0..1_000).map(|i| (i * 1_000_000, if i % 2 == 0 { 66 } else { 1_514 })).collect();
        let rate = Rate::of(&seen, 1_000_000_000).unwrap();
        let written = rate.count as f64 * rate.longest as f64 / (rate.period_ns as f64 * 1e-9);
        assert!((written / 790_000.0 - 1.0).abs() < 0.02, "{rate:?}");
    }

    #[test]
    fn no_curve_is_below_what_was_seen() {
        let mut at = 0;
        let seen: Vec<_> = (0..500u64)
            .map(|i| {
                at += (i * i * 7_919 + 13) % 3_000_000;
                (at, 60 + i * 37 % 1_000)
            })
            .collect();
        let rate = Rate::of(&seen, at).unwrap();
        for from in 0..seen.len() {
            let mut sum = 0;
            for (at, len) in &seen[from..] {
                sum += len;
                let curve = rate.burst + rate.bytes_per_s * (at - seen[from].0) as f64 * 1e-9;
                assert!(sum as f64 <= curve + 1e-3);
            }
        }
        assert!(rate.count as f64 * rate.longest as f64 >= rate.burst - 0.11 * rate.longest as f64);
    }

    #[test]
    fn nothing_comes_of_a_single_frame_or_of_one_instant() {
        assert_eq!(Rate::of(&[], 1), None);
        assert_eq!(Rate::of(&[(5, 60)], 1), None);
        assert_eq!(Rate::of(&[(5, 60), (5, 60)], 1_000_000), None);
    }
}
