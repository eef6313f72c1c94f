//! When the next frame of a stream is due.

use std::sync::Arc;

use chronoseal_core::Duration;
use chronoseal_core::random::{self, ChaCha8Rng, Jitter, Purpose};

use crate::RecordedMessages;

/// How far apart the frames of a stream are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PaceConfig {
    /// Always so far.
    Period(Duration),
    /// As its value changes: drawn anew for each frame.
    OnChange {
        /// How far.
        distance: Jitter,
        /// Seeds the draws, with the number of the stream.
        seed: u64,
    },
}

impl From<Duration> for PaceConfig {
    fn from(period: Duration) -> Self {
        Self::Period(period)
    }
}

/// The distances of a stream's frames.
#[derive(Clone, Debug)]
pub(crate) enum Pace {
    Period(Duration),
    OnChange(Jitter, Box<ChaCha8Rng>),
    /// As a recording has them, with the number of the message that comes next.
    Recorded(Arc<RecordedMessages>, u64),
}

impl Pace {
    pub(crate) fn new(config: PaceConfig, stream: u16) -> Self {
        match config {
            PaceConfig::Period(period) => Self::Period(period),
            PaceConfig::OnChange { distance, seed } => {
                Self::OnChange(distance, Box::new(random::stream(seed, Purpose::Change, u64::from(stream))))
            }
        }
    }

    /// Begins anew; returns how long after that the first frame is due.
    pub(crate) fn restart(&mut self) -> Duration {
        match self {
            Self::Period(_) | Self::OnChange(..) => Duration::ZERO,
            Self::Recorded(recorded, next) => {
                *next = 0;
                recorded.message(0).map_or(Duration::ZERO, |(at, _)| at)
            }
        }
    }

    /// What the frame is that [`Self::step`] has passed over, if a recording says so.
    pub(crate) fn content(&self) -> Option<&[u8]> {
        match self {
            Self::Period(_) | Self::OnChange(..) => None,
            Self::Recorded(recorded, next) => recorded.message(next.checked_sub(1)?).map(|(_, content)| content),
        }
    }

    /// From one frame to the next.
    #[inline]
    pub(crate) fn step(&mut self) -> Duration {
        match self {
            Self::Period(period) => *period,
            Self::OnChange(distance, rng) => distance.sample(&mut **rng),
            Self::Recorded(recorded, next) => {
                let at = |number| recorded.message(number).map_or(Duration::ZERO, |(at, _)| at);
                let distance = at(*next + 1) - at(*next);
                *next += 1;
                distance
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_keep_their_distance_and_are_the_same_again() {
        let ms = Duration::from_ms;
        let distance = Jitter { min: ms(10), mean: ms(20), max: ms(100) };
        let draws = |stream| {
            let mut pace = Pace::new(PaceConfig::OnChange { distance, seed: 3 }, stream);
            (0..1000).map(|_| pace.step()).collect::<Vec<_>>()
        };
        let drawn = draws(1);
        assert_eq!(drawn, draws(1));
        assert_ne!(drawn, draws(2));
        assert!(drawn.iter().all(|step| *step >= ms(10) && *step <= ms(100)));
        let mean = drawn.iter().fold(Duration::ZERO, |sum, step| sum + *step) / 1000;
        assert!(mean > ms(18) && mean < ms(22), "{mean}");
        assert_eq!(Pace::new(PaceConfig::Period(ms(7)), 0).step(), ms(7));
    }

    #[test]
    fn a_recording_keeps_its_distances_and_begins_again() {
        let ms = Duration::from_ms;
        let messages = vec![(ms(1), vec![1]), (ms(4), vec![2, 2]), (ms(4), vec![3])];
        let mut pace = Pace::Recorded(Arc::new(RecordedMessages::new(messages, ms(10))), 0);
        for _ in 0..2 {
            assert_eq!((pace.restart(), pace.content()), (ms(1), None));
            let steps: Vec<_> = (0..4).map(|_| (pace.step(), pace.content().unwrap().to_vec())).collect();
            assert_eq!(steps, [(ms(3), vec![1]), (ms(0), vec![2, 2]), (ms(7), vec![3]), (ms(3), vec![1])]);
        }
    }
}
