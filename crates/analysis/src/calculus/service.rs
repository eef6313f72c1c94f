//! Convex service curves: how much of what waits a server carries at least within a time.

use super::InvalidCurve;
use super::rational::Rational;

/// After `latency` at least `rate` for each unit of time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RateLatency {
    /// Data for each unit of time.
    pub rate: Rational,
    /// How long nothing may be carried.
    pub latency: Rational,
}

impl RateLatency {
    /// When both carry the same; the other one is faster, and starts later.
    fn meets(&self, faster: &Self) -> Rational {
        (&faster.rate * &faster.latency - &self.rate * &self.latency) / (&faster.rate - &self.rate)
    }
}

/// The most of some rates with latencies: a convex curve that is zero at zero.
///
/// Pieces are in order of latency, and each is the most somewhere, so two curves are equal if their pieces are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServiceCurve {
    pieces: Vec<RateLatency>,
}

impl ServiceCurve {
    /// A server that gives at least the most of these.
    ///
    /// # Errors
    /// If there is none, or one has a negative rate or latency.
    pub fn most_of(pieces: impl IntoIterator<Item = RateLatency>) -> Result<Self, InvalidCurve> {
        let pieces: Vec<RateLatency> = pieces.into_iter().collect();
        if pieces.is_empty() {
            return Err(InvalidCurve::Empty);
        }
        if pieces.iter().any(|piece| piece.rate.is_negative() || piece.latency.is_negative()) {
            return Err(InvalidCurve::Negative);
        }
        Ok(Self::envelope(pieces))
    }

    /// A server with one rate after one latency.
    ///
    /// # Errors
    /// If one of them is negative.
    pub fn rate_latency(rate: Rational, latency: Rational) -> Result<Self, InvalidCurve> {
        Self::most_of([RateLatency { rate, latency }])
    }

    pub(super) fn envelope(mut lines: Vec<RateLatency>) -> Self {
        lines.retain(|line| line.rate.is_positive());
        lines.sort_by(|a, b| a.latency.cmp(&b.latency).then_with(|| b.rate.cmp(&a.rate)));
        let mut pieces: Vec<RateLatency> = Vec::with_capacity(lines.len());
        for line in lines {
            if pieces.last().is_some_and(|last| line.rate <= last.rate) {
                continue;
            }
            while let [.., before, last] = pieces.as_slice() {
                if last.meets(&line) > before.meets(last) {
                    break;
                }
                pieces.pop();
            }
            pieces.push(line);
        }
        if pieces.is_empty() {
            pieces.push(RateLatency { rate: Rational::zero(), latency: Rational::zero() });
        }
        Self { pieces }
    }

    /// The rates with their latencies, by latency.
    pub fn pieces(&self) -> &[RateLatency] {
        &self.pieces
    }

    /// What is carried in the long run for each unit of time.
    pub fn rate(&self) -> &Rational {
        &self.pieces[self.pieces.len() - 1].rate
    }

    /// How long nothing may be carried.
    pub fn latency(&self) -> &Rational {
        &self.pieces[0].latency
    }

    /// What is carried within this time, at least.
    pub fn at(&self, time: &Rational) -> Rational {
        let carried = self.pieces.iter().map(|piece| &piece.rate * (time - &piece.latency)).max();
        carried.unwrap_or_else(Rational::zero).max(Rational::zero())
    }

    /// How long until `data` is carried, at most; `None` if that never happens. For zero: how long nothing is.
    pub fn carries(&self, data: &Rational) -> Option<Rational> {
        if self.rate().is_zero() {
            return None;
        }
        self.pieces.iter().map(|piece| &piece.latency + data / &piece.rate).min()
    }

    /// Where one piece gives way to the next.
    pub fn corners(&self) -> impl Iterator<Item = Rational> + '_ {
        self.pieces.windows(2).map(|pair| pair[0].meets(&pair[1]))
    }

    /// The same server if it hands frames of at most this length on whole: up to one frame less at any time.
    #[must_use]
    pub fn framed(&self, longest: &Rational) -> Self {
        if longest.is_zero() || self.rate().is_zero() {
            return self.clone();
        }
        let later = |piece: &RateLatency| RateLatency {
            rate: piece.rate.clone(),
            latency: &piece.latency + longest / &piece.rate,
        };
        Self::envelope(self.pieces.iter().map(later).collect())
    }

    /// The same server if it starts up to so much later.
    #[must_use]
    pub fn later(&self, time: &Rational) -> Self {
        let later = |piece: &RateLatency| RateLatency { rate: piece.rate.clone(), latency: &piece.latency + time };
        Self::envelope(self.pieces.iter().map(later).collect())
    }

    /// Slopes that grow, each with its length; the last has no end.
    pub(super) fn segments(&self) -> Vec<(Rational, Option<Rational>)> {
        let mut segments = vec![(Rational::zero(), Some(self.latency().clone()))];
        let mut time = self.latency().clone();
        for (piece, corner) in self.pieces.iter().zip(self.corners()) {
            segments.push((piece.rate.clone(), Some(&corner - &time)));
            time = corner;
        }
        segments.push((self.rate().clone(), None));
        segments
    }

    /// One server after the other: the (min,+) convolution.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        if let ([mine], [others]) = (self.pieces.as_slice(), next.pieces.as_slice()) {
            let rate = (&mine.rate).min(&others.rate).clone();
            return Self::envelope(vec![RateLatency { rate, latency: &mine.latency + &others.latency }]);
        }
        let mut segments = self.segments();
        segments.extend(next.segments());
        // The one without an end comes before others of its slope: they add nothing to it.
        segments.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.is_some().cmp(&b.1.is_some())));
        let (mut time, mut value) = (Rational::zero(), Rational::zero());
        let mut pieces = Vec::with_capacity(segments.len());
        for (slope, length) in segments {
            if slope.is_positive() {
                pieces.push(RateLatency { latency: &time - &value / &slope, rate: slope.clone() });
            }
            let Some(length) = length else { break };
            value += &slope * &length;
            time += length;
        }
        Self::envelope(pieces)
    }
}
