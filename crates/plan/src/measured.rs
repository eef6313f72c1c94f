//! What a robot middleware takes of messages, as it was measured.

use std::sync::Arc;

use chronoseal_core::Duration;

/// What one configuration of a middleware took on some host, over a link without delay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MeasuredMiddleware {
    /// The name of the configuration.
    pub configuration: String,
    /// Its middleware with its version, and the host, in words.
    pub source: String,
    /// By length of a message, rising; at least one.
    pub lengths: Vec<MeasuredLength>,
}

/// What messages of one length took.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MeasuredLength {
    /// Of a message `[byte]`.
    pub length: u32,
    /// All frames of a message, in both directions, with what the middleware sends beside `[byte]`.
    pub wire: u32,
    /// From when a message was due to when its subscriber had it: [`Self::QUANTILES`] times, rising.
    pub times: Vec<Duration>,
}

impl MeasuredLength {
    /// Quantiles of a length: the least time, each percentile, and the longest.
    pub const QUANTILES: usize = 101;
}

/// What a stream is charged in a simulation for the middleware that carries it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Charged {
    /// All frames of a message `[byte]`.
    pub wire: u32,
    /// What a message takes, one as likely as another.
    pub times: Arc<[Duration]>,
}

impl MeasuredMiddleware {
    /// What a message of `length` bytes is charged: between two lengths that were measured, each quantile and the bytes lie on the line between
    /// theirs. `None` if it is shorter or longer than all of them.
    pub fn charged(&self, length: u32) -> Option<Charged> {
        let above = self.lengths.iter().position(|one| one.length >= length)?;
        let high = &self.lengths[above];
        if high.length == length {
            return Some(Charged { wire: high.wire, times: high.times.clone().into() });
        }
        let low = &self.lengths[above.checked_sub(1)?];
        let (part, whole) = (i128::from(length - low.length), i128::from(high.length - low.length));
        let between = |from: i64, to: i64| from + (i128::from(to - from) * part / whole) as i64;
        let times = low.times.iter().zip(&high.times);
        Some(Charged {
            wire: between(low.wire.into(), high.wire.into()) as u32,
            times: times.map(|(from, to)| Duration::from_ps(between(from.as_ps(), to.as_ps()))).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(length: u32, wire: u32, us: i64) -> MeasuredLength {
        MeasuredLength { length, wire, times: vec![Duration::from_us(us), Duration::from_us(2 * us)] }
    }

    #[test]
    fn between_two_lengths_everything_lies_on_the_line() {
        let lengths = vec![of(1_000, 1_100, 100), of(9_000, 9_900, 300)];
        let measured = MeasuredMiddleware { configuration: "own".into(), source: String::new(), lengths };
        let us = |charged: Charged| {
            (charged.wire, charged.times.iter().map(|time| time.as_ns() / 1_000).collect::<Vec<_>>())
        };
        assert_eq!(measured.charged(1_000).map(us), Some((1_100, vec![100, 200])));
        assert_eq!(measured.charged(3_000).map(us), Some((3_300, vec![150, 300])));
        assert_eq!(measured.charged(9_000).map(us), Some((9_900, vec![300, 600])));
        assert_eq!((measured.charged(999), measured.charged(9_001)), (None, None));
    }
}
