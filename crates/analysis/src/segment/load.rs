//! How much of their time links and processors are asked for by streams and recordings, in the long run.
//!
//! This is no bound. It is what a reader wants to know of a network first, and the witness where more is asked for than there is:
//! then frames are late or lost whatever their order.

use chronoseal_core::{Duration, NodeId};

/// Parts of a share: `10^-18` each, so that rounding down loses nothing that matters.
const WHOLE: i128 = 1_000_000_000_000_000_000;

/// What is asked for of one link, bus or processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Share {
    parts: i128,
    is_estimate: bool,
}

impl Share {
    /// Adds what takes `cost` in each `period`.
    pub(crate) fn add(&mut self, cost: Duration, period: Duration) {
        let part = i128::from(cost.as_ps()) * WHOLE / i128::from(period.as_ps().max(1));
        self.parts = self.parts.saturating_add(part);
    }

    /// Something in it may need less than was added.
    pub(crate) fn estimate(&mut self) {
        self.is_estimate = true;
    }

    /// Of all the time there is `[10^-6]`.
    pub fn ppm(&self) -> u64 {
        u64::try_from(self.parts / (WHOLE / 1_000_000)).unwrap_or(u64::MAX)
    }

    /// True if it is certain that more is asked for than there is.
    pub const fn is_over(&self) -> bool {
        !self.is_estimate && self.parts > WHOLE
    }
}

/// How busy one direction of a link is, or a bus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkLoad {
    /// Who sends and who receives; `None` for a bus, which has no direction.
    pub ends: Option<[NodeId; 2]>,
    /// What its frames need, each as long as it can be.
    pub share: Share,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_over_from_more_than_all_of_the_time_on() {
        let of = |cost: i64| {
            let mut share = Share::default();
            share.add(Duration::from_us(cost), Duration::from_us(100));
            share
        };
        assert_eq!((of(40).ppm(), of(100).is_over(), of(101).is_over()), (400_000, false, true));
        let mut guessed = of(200);
        guessed.estimate();
        assert_eq!((guessed.ppm(), guessed.is_over()), (2_000_000, false));
    }
}
