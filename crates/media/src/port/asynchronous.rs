//! When frames of asynchronously shaped streams may leave: IEEE 802.1Q-2022 §8.6.11.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, SimTime, StreamId};

use super::config::SchedulerConfig;

/// The scheduler instances of a port.
#[derive(Debug, Default)]
pub(super) struct Schedulers {
    by_stream: BTreeMap<StreamId, Scheduler>,
    /// When the last frame of each group may leave.
    groups: BTreeMap<u16, SimTime>,
}

/// A token bucket. Times of it are multiplied by its rate, so that they are whole numbers.
#[derive(Debug)]
struct Scheduler {
    config: SchedulerConfig,
    /// *BucketEmptyTime* times the rate `[10^-12 bit]`.
    empty_at: i128,
}

/// What one byte is worth in the times of a scheduler: 8 bits, 10^12 ps a second.
const BYTE: i128 = 8_000_000_000_000;

impl Schedulers {
    pub(super) fn new(configs: &[SchedulerConfig]) -> Self {
        let scheduler = |config: &SchedulerConfig| {
            // The bucket is full when the run begins.
            let empty_at = -i128::from(config.committed_burst) * BYTE;
            (config.stream, Scheduler { config: *config, empty_at })
        };
        Self { by_stream: configs.iter().map(scheduler).collect(), groups: BTreeMap::new() }
    }

    /// When a frame may leave that came now and keeps the line for so many bytes; `None` if that is after its longest residence
    /// time. A stream without a scheduler may leave at once.
    pub(super) fn eligible(&mut self, now: SimTime, stream: StreamId, bytes: u64) -> Option<SimTime> {
        let Some(scheduler) = self.by_stream.get_mut(&stream) else { return Some(now) };
        let SchedulerConfig { committed_rate, committed_burst, max_residence, group, .. } = scheduler.config;
        let rate = i128::from(committed_rate.0.max(1));
        let group = self.groups.entry(group).or_default();
        let in_bucket = scheduler.empty_at + i128::from(bytes) * BYTE;
        let full_at = scheduler.empty_at + i128::from(committed_burst) * BYTE;
        // The first picosecond at which the bucket holds enough.
        let enough = SimTime::from_ps(i64::try_from(-(-in_bucket).div_euclid(rate)).unwrap_or(i64::MAX));
        let eligible = now.max(*group).max(enough);
        if max_residence.is_some_and(|longest: Duration| eligible - now > longest) {
            return None;
        }
        *group = eligible;
        let over_full = i128::from(eligible.as_ps()) * rate - full_at;
        scheduler.empty_at = in_bucket + over_full.max(0);
        Some(eligible)
    }
}

#[cfg(test)]
mod tests {
    use chronoseal_core::Rate;
    use proptest::prelude::*;

    use super::*;

    fn config(stream: u16, group: u16) -> SchedulerConfig {
        SchedulerConfig {
            stream: StreamId(stream),
            committed_rate: Rate(8_000_000),
            committed_burst: 200,
            max_residence: None,
            group,
        }
    }

    fn at(us: i64) -> SimTime {
        SimTime::ZERO + Duration::from_us(us)
    }

    #[test]
    fn frames_leave_as_the_bucket_fills() {
        // 8 Mbit/s is a byte in a microsecond.
        let mut shaped = Schedulers::new(&[config(0, 0)]);
        let mut eligible = |us, bytes| shaped.eligible(at(us), StreamId(0), bytes).unwrap();
        assert_eq!(eligible(0, 200), at(0), "the bucket is full");
        assert_eq!(eligible(0, 100), at(100));
        assert_eq!(eligible(250, 150), at(250), "100 bytes are left and 50 have come");
        assert_eq!(eligible(250, 50), at(300), "the bucket is empty");
        assert_eq!(eligible(5_000, 200), at(5_000), "it holds no more than its burst");
        assert_eq!(eligible(5_000, 1), at(5_001));
    }

    #[test]
    fn a_group_keeps_its_order() {
        let mut shaped = Schedulers::new(&[config(0, 7), config(1, 7), config(2, 8)]);
        shaped.eligible(at(0), StreamId(0), 200);
        assert_eq!(shaped.eligible(at(0), StreamId(0), 100), Some(at(100)));
        assert_eq!(shaped.eligible(at(10), StreamId(1), 100), Some(at(100)), "not before the one that came first");
        assert_eq!(shaped.eligible(at(10), StreamId(2), 100), Some(at(10)), "another group");
        assert_eq!(shaped.eligible(at(10), StreamId(3), 100), Some(at(10)), "a stream without a scheduler");
    }

    #[test]
    fn a_frame_that_would_wait_too_long_changes_nothing() {
        let longest = Some(Duration::from_us(100));
        let mut shaped = Schedulers::new(&[SchedulerConfig { max_residence: longest, ..config(0, 0) }]);
        shaped.eligible(at(0), StreamId(0), 200);
        assert_eq!(shaped.eligible(at(0), StreamId(0), 101), None);
        assert_eq!(shaped.eligible(at(0), StreamId(0), 100), Some(at(100)), "just not too long");
    }

    proptest! {
        #[test]
        fn what_leaves_keeps_to_the_bucket(
            came in proptest::collection::vec((0i64..400, 1u64..200), 1..40), rate in 1_000_000u64..100_000_000,
        ) {
            let scheduler = SchedulerConfig { committed_rate: Rate(rate), ..config(0, 0) };
            let mut shaped = Schedulers::new(&[scheduler]);
            let mut now = at(0);
            let left: Vec<(SimTime, u64)> = came.into_iter().map(|(later, bytes)| {
                now += Duration::from_us(later);
                (shaped.eligible(now, StreamId(0), bytes).unwrap(), bytes)
            }).collect();
            for first in 0..left.len() {
                let mut bits = 0;
                for (last, bytes) in &left[first..] {
                    bits += i128::from(*bytes) * BYTE;
                    let filled = i128::from((*last - left[first].0).as_ps() + 1) * i128::from(rate);
                    prop_assert!(bits <= 200 * BYTE + filled, "never more than the burst and what the rate brings");
                }
            }
        }
    }
}
