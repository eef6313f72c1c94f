//! Notices that frames of a stream stay away.

use chronoseal_core::{Duration, LocalTime};

/// Within which time frames of a stream have to follow one another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SupervisionConfig {
    /// From one accepted frame, or the start, to the next one, at most.
    pub within: Duration,
    /// One that stays away longer is noticed again after each of these.
    pub period: Duration,
}

/// Looks after the frames of one stream at one receiver.
#[derive(Clone, Debug)]
pub(crate) struct Supervision {
    config: SupervisionConfig,
    /// `None` before the start.
    due: Option<LocalTime>,
    /// The number of the frame that is waited for.
    expected: u64,
}

impl Supervision {
    pub(crate) const fn new(config: SupervisionConfig) -> Self {
        Self { config, due: None, expected: 0 }
    }

    pub(crate) fn start(&mut self, now: LocalTime) {
        self.due = Some(now + self.config.within);
    }

    /// A frame was accepted.
    pub(crate) fn met(&mut self, now: LocalTime, sequence: u64) {
        self.due = Some(now + self.config.within);
        self.expected = sequence + 1;
    }

    /// When it has waited too long.
    pub(crate) const fn due(&self) -> Option<LocalTime> {
        self.due
    }

    /// The number of a frame that has stayed away too long, once for each.
    pub(crate) fn absent(&mut self, now: LocalTime) -> Option<u64> {
        let due = self.due.filter(|due| *due <= now)?;
        self.due = Some(due + self.config.period);
        self.expected += 1;
        Some(self.expected - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_away_is_noticed_in_time_and_again() {
        let ms = |ms| LocalTime::ZERO + Duration::from_ms(ms);
        let config = SupervisionConfig { within: Duration::from_ms(25), period: Duration::from_ms(10) };
        let mut supervision = Supervision::new(config);
        assert_eq!((supervision.due(), supervision.absent(ms(1000))), (None, None));
        supervision.start(ms(0));
        supervision.met(ms(12), 4);
        assert_eq!(supervision.absent(ms(36)), None);
        assert_eq!((supervision.absent(ms(37)), supervision.absent(ms(37))), (Some(5), None));
        assert_eq!((supervision.absent(ms(47)), supervision.due()), (Some(6), Some(ms(57))));
        supervision.met(ms(50), 7);
        assert_eq!(supervision.due(), Some(ms(75)));
    }
}
