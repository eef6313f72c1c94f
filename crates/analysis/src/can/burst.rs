//! Frames of one identifier that come several at a time, one after the other.

use chronoseal_core::Duration;
use chronoseal_wire::can::CanId;

use super::response_time::{Message, ceil_div};

/// The frames of one identifier of a stream whose messages take several: each is queued when the one before has left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Burst {
    pub(crate) id: CanId,
    /// C of its longest frame.
    pub(crate) wire_time: Duration,
    /// C of all frames of an instance together.
    pub(crate) total: Duration,
    /// So many frames of an instance keep no distance.
    pub(crate) at_once: u32,
    /// From the instant at which one of the others is queued to that of the next one, at least.
    pub(crate) distance: Duration,
    /// Least distance of two instances.
    pub(crate) period: Duration,
    /// How much later than its event a frame of an instance can be queued, at most.
    pub(crate) jitter: Duration,
}

impl Burst {
    /// A message of one frame.
    pub(super) fn of_one(message: &Message) -> Self {
        Self {
            id: message.id,
            wire_time: message.wire_time,
            total: message.wire_time,
            at_once: 1,
            distance: Duration::ZERO,
            period: message.period,
            jitter: message.jitter,
        }
    }

    pub(super) fn rank(&self) -> u32 {
        self.id.arbitration_rank(false)
    }

    /// The most that is queued of it in a window of this length `[ps]`.
    ///
    /// Of an instance, no more frames than `at_once` and one for each `distance` in the window.
    pub(super) fn demand(&self, window: i128) -> i128 {
        let total = i128::from(self.total.as_ps());
        let of_one = match self.distance > Duration::ZERO {
            true => {
                let frames = i128::from(self.at_once) + window / i128::from(self.distance.as_ps());
                total.min(frames * i128::from(self.wire_time.as_ps()))
            }
            false => total,
        };
        ceil_div(window + i128::from(self.jitter.as_ps()), self.period.as_ps()) * of_one
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_no_more_frames_than_their_distance_allows() {
        let us = Duration::from_us;
        let burst = Burst {
            id: CanId::standard(1).expect("11 bits"),
            wire_time: us(100),
            total: us(550),
            at_once: 2,
            distance: us(1000),
            period: us(50_000),
            jitter: us(0),
        };
        let demand = |window: i64| Duration::from_ps(burst.demand(i128::from(us(window).as_ps())) as i64);
        assert_eq!((demand(1), demand(999), demand(1000)), (us(200), us(200), us(300)));
        // All there are, and those of the next instance.
        assert_eq!((demand(40_000), demand(50_001)), (us(550), us(1100)));
        let together = Burst { distance: Duration::ZERO, ..burst };
        assert_eq!(together.demand(1), i128::from(us(550).as_ps()));
        let late = Burst { jitter: us(50_000), ..burst };
        assert_eq!(late.demand(1), i128::from(us(400).as_ps()));
    }
}
