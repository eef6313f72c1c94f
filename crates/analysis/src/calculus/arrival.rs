//! Concave arrival curves: how much data a flow sends at most in any interval of a length.

use super::InvalidCurve;
use super::rational::{Grid, Rational};

/// At most `burst + rate * t` in any interval of length `t`: a leaky bucket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bucket {
    /// Data for each unit of time, in the long run.
    pub rate: Rational,
    /// Data that may come at once.
    pub burst: Rational,
}

impl Bucket {
    fn at(&self, time: &Rational) -> Rational {
        &self.burst + &self.rate * time
    }

    /// When both buckets allow the same; the other one has the lower rate.
    fn meets(&self, slower: &Self) -> Rational {
        (&slower.burst - &self.burst) / (&self.rate - &slower.rate)
    }
}

/// The least of some buckets, in whole pieces: a concave curve that is zero at zero.
///
/// Pieces are in order of their bursts, and each is the least somewhere, so two curves are equal if their pieces are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArrivalCurve {
    pieces: Vec<Bucket>,
}

impl ArrivalCurve {
    /// A flow that keeps to all of these buckets.
    ///
    /// # Errors
    /// If there is none, or one has a negative rate or burst.
    pub fn least_of(buckets: impl IntoIterator<Item = Bucket>) -> Result<Self, InvalidCurve> {
        let buckets: Vec<Bucket> = buckets.into_iter().collect();
        if buckets.is_empty() {
            return Err(InvalidCurve::Empty);
        }
        if buckets.iter().any(|bucket| bucket.rate.is_negative() || bucket.burst.is_negative()) {
            return Err(InvalidCurve::Negative);
        }
        Ok(Self::envelope(buckets))
    }

    /// A flow that keeps to one bucket.
    ///
    /// # Errors
    /// If rate or burst is negative.
    pub fn bucket(rate: Rational, burst: Rational) -> Result<Self, InvalidCurve> {
        Self::least_of([Bucket { rate, burst }])
    }

    /// A flow that sends nothing.
    pub fn zero() -> Self {
        Self { pieces: vec![Bucket { rate: Rational::zero(), burst: Rational::zero() }] }
    }

    pub(super) fn envelope(mut buckets: Vec<Bucket>) -> Self {
        if buckets.len() > 1 {
            buckets.sort_by(|a, b| b.rate.cmp(&a.rate).then_with(|| a.burst.cmp(&b.burst)));
        }
        let mut pieces: Vec<Bucket> = Vec::with_capacity(buckets.len());
        for bucket in buckets {
            if pieces.last().is_some_and(|last| last.rate == bucket.rate) {
                continue;
            }
            while pieces.last().is_some_and(|last| bucket.burst <= last.burst) {
                pieces.pop();
            }
            while let [.., before, last] = pieces.as_slice() {
                if last.meets(&bucket) > before.meets(last) {
                    break;
                }
                pieces.pop();
            }
            pieces.push(bucket);
        }
        Self { pieces }
    }

    /// The buckets, by burst.
    pub fn pieces(&self) -> &[Bucket] {
        &self.pieces
    }

    /// What comes in the long run for each unit of time.
    pub fn rate(&self) -> &Rational {
        &self.pieces[self.pieces.len() - 1].rate
    }

    /// What may come at once.
    pub fn burst(&self) -> &Rational {
        &self.pieces[0].burst
    }

    /// True for a flow that sends nothing.
    pub fn is_zero(&self) -> bool {
        self.burst().is_zero() && self.pieces[0].rate.is_zero()
    }

    /// Data in an interval of this length, at most. For zero: what may come at once.
    pub fn at(&self, time: &Rational) -> Rational {
        self.pieces.iter().map(|piece| piece.at(time)).min().unwrap_or_else(Rational::zero)
    }

    /// The shortest interval in which as much as `data` may come; `None` if that never happens.
    pub fn reaches(&self, data: &Rational) -> Option<Rational> {
        let mut latest = Rational::zero();
        for piece in &self.pieces {
            let missing = data - &piece.burst;
            if !missing.is_positive() {
                continue;
            }
            if piece.rate.is_zero() {
                return None;
            }
            latest = latest.max(missing / &piece.rate);
        }
        Some(latest)
    }

    /// The time after which more than `data` may come; `None` if that never happens.
    pub(super) fn exceeds(&self, data: &Rational) -> Option<Rational> {
        let full = self.pieces.iter().any(|piece| piece.rate.is_zero() && piece.burst == *data);
        if full { None } else { self.reaches(data) }
    }

    /// Where one piece gives way to the next.
    pub fn corners(&self) -> impl Iterator<Item = Rational> + '_ {
        self.pieces.windows(2).map(|pair| pair[0].meets(&pair[1]))
    }

    /// The rest of a sum without one of its parts, if both keep to one bucket each.
    pub(super) fn minus_bucket(&self, part: &Self) -> Option<Self> {
        let ([sum], [part]) = (self.pieces.as_slice(), part.pieces.as_slice()) else { return None };
        Some(Self { pieces: vec![Bucket { rate: &sum.rate - &part.rate, burst: &sum.burst - &part.burst }] })
    }

    /// Both flows together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let sum = |a: &Bucket, b: &Bucket| Bucket { rate: &a.rate + &b.rate, burst: &a.burst + &b.burst };
        if let ([a], [b]) = (self.pieces.as_slice(), other.pieces.as_slice()) {
            return Self { pieces: vec![sum(a, b)] };
        }
        let (mut mine, mut others) = (self.corners().peekable(), other.corners().peekable());
        let (mut i, mut j) = (0, 0);
        let mut pieces = vec![sum(&self.pieces[0], &other.pieces[0])];
        while mine.peek().is_some() || others.peek().is_some() {
            let order = match (mine.peek(), others.peek()) {
                (Some(a), Some(b)) => a.cmp(b),
                (Some(_), None) => std::cmp::Ordering::Less,
                _ => std::cmp::Ordering::Greater,
            };
            if order.is_le() {
                mine.next();
                i += 1;
            }
            if order.is_ge() {
                others.next();
                j += 1;
            }
            pieces.push(sum(&self.pieces[i], &other.pieces[j]));
        }
        Self { pieces }
    }

    /// A flow that keeps to both curves.
    #[must_use]
    pub fn least(&self, other: &Self) -> Self {
        Self::envelope(self.pieces.iter().chain(&other.pieces).cloned().collect())
    }

    /// The same flow after something that delays any of its data by at most `jitter` more than other data of it.
    #[must_use]
    pub fn delayed(&self, jitter: &Rational) -> Self {
        Self::envelope(
            self.pieces.iter().map(|piece| Bucket { rate: piece.rate.clone(), burst: piece.at(jitter) }).collect(),
        )
    }

    /// So many times as much of everything; the factor is above zero.
    #[must_use]
    pub fn scaled(&self, factor: &Rational) -> Self {
        let times = |piece: &Bucket| Bucket { rate: &piece.rate * factor, burst: &piece.burst * factor };
        Self::envelope(self.pieces.iter().map(times).collect())
    }

    /// A curve on the grid that is nowhere below this one.
    #[must_use]
    pub fn rounded_up(&self, grid: &Grid) -> Self {
        let up = |piece: &Bucket| Bucket { rate: piece.rate.clone(), burst: grid.more(&piece.burst) };
        Self::envelope(self.pieces.iter().map(up).collect())
    }

    /// The concave curve that starts with `burst` and goes on in these segments of falling slope; the last has no end.
    pub(super) fn from_segments(burst: Rational, segments: &[(Rational, Option<Rational>)]) -> Self {
        let (mut time, mut value) = (Rational::zero(), burst);
        let mut pieces = Vec::with_capacity(segments.len());
        for (slope, length) in segments {
            pieces.push(Bucket { rate: slope.clone(), burst: &value - slope * &time });
            let Some(length) = length else { break };
            value += slope * length;
            time += length;
        }
        Self::envelope(pieces)
    }
}
