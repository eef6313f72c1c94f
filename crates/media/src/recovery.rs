//! Sequence recovery of IEEE 802.1CB-2017 §7.4.3: which frames with a redundancy tag are copies of others.
//!
//! Receivers and switches have the same function. What follows of authentication is about receivers: a switch has no keys, so there
//! every frame of a stream counts, a forged one too.
//!
//! # What a copy changes before it is authenticated
//! Nothing but the count of copies: [`SequenceRecovery::refuses`] only looks. The number of a frame counts once the frame has been
//! opened, in [`SequenceRecovery::take`]. A receiver that waits for `reset` without a frame takes any number again.
//!
//! # Latent errors
//! Where each frame comes over several ways, each one that passes has copies that are eliminated. If fewer or more are, a way has
//! failed that nobody misses, or brings what it should not (§7.4.4). The difference is tested at the first frame after each test
//! period, as it stood before this frame; what happened after the last frame of a run nobody tells.

use chronoseal_core::{DiscardReason, Duration, LocalTime};

/// Which algorithm, and with what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecoveryConfig {
    /// The algorithm.
    pub algorithm: RecoveryAlgorithm,
    /// Without an accepted frame for so long, the next one is accepted whatever its number is.
    pub reset: Duration,
    /// Over so many ways each frame comes.
    pub ways: u16,
    /// How often the count of copies is tested, and by how many it may differ.
    pub latent: Option<LatentErrors>,
}

/// The algorithms of IEEE 802.1CB-2017 §7.4.3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecoveryAlgorithm {
    /// Numbers up to `history` ahead or behind are judged by whether they were seen; others are thrown away (§7.4.3.4).
    Vector {
        /// So many of the last numbers are kept, 2..=[`HISTORY_MAX`].
        history: u8,
    },
    /// Only the number accepted last is compared; for frames so far apart that no copy overtakes the next frame (§7.4.3.5).
    Match,
}

/// Longest history of [`RecoveryAlgorithm::Vector`].
pub const HISTORY_MAX: u8 = 64;

/// When a difference between frames and copies is an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LatentErrors {
    /// Distance of two tests.
    pub period: Duration,
    /// Distance of two times at which the count begins anew.
    pub reset: Duration,
    /// More copies than this too few, or too many, are an error.
    pub difference: u32,
}

/// The sequence recovery function of a stream: at its receiver, or at a switch where several of its ways meet.
#[derive(Clone, Debug)]
pub struct SequenceRecovery {
    config: RecoveryConfig,
    /// The number accepted that is the furthest ahead, and when a frame was accepted last; `None`: any is taken.
    last: Option<(u16, LocalTime)>,
    /// By how far behind `last`: whether it was accepted; that of `last` itself is the lowest bit.
    history: u64,
    /// By the lowest bits of a number: when a frame of it was accepted last.
    accepted_at: Box<[LocalTime; HISTORY_MAX as usize]>,
    passed: i64,
    eliminated: i64,
    base: i64,
    next_test: Option<LocalTime>,
    next_reset: Option<LocalTime>,
}

impl SequenceRecovery {
    /// One that has seen no frame.
    pub fn new(config: RecoveryConfig) -> Self {
        let (last, next_test, next_reset) = (None, None, None);
        let accepted_at = Box::new([LocalTime::ZERO; HISTORY_MAX as usize]);
        Self { config, last, history: 0, accepted_at, passed: 0, eliminated: 0, base: 0, next_test, next_reset }
    }

    /// How far ahead of the last one a number is, unless any is taken now.
    fn ahead(&self, number: u16, at: LocalTime) -> Option<i32> {
        let (last, then) = self.last?;
        (at - then < self.config.reset).then(|| i32::from(number.wrapping_sub(last) as i16))
    }

    /// Why a frame is not taken; `None` if it would be.
    pub fn refuses(&self, number: u16, at: LocalTime) -> Option<DiscardReason> {
        let ahead = self.ahead(number, at)?;
        match self.config.algorithm {
            RecoveryAlgorithm::Match => (ahead == 0).then_some(DiscardReason::CopyEliminated),
            RecoveryAlgorithm::Vector { history } if ahead.abs() >= i32::from(history) => {
                Some(DiscardReason::OutOfSequence)
            }
            RecoveryAlgorithm::Vector { .. } => {
                let was_accepted = ahead <= 0 && self.history >> -ahead & 1 == 1;
                was_accepted.then_some(DiscardReason::CopyEliminated)
            }
        }
    }

    /// Counts a frame that was refused as a copy, and tells how much later than the first it came.
    pub fn eliminate(&mut self, number: u16, at: LocalTime) -> Duration {
        self.eliminated += 1;
        at - self.accepted_at[usize::from(number) % self.accepted_at.len()]
    }

    /// Judges an authentic frame.
    ///
    /// # Errors
    /// Why it is not taken.
    pub fn take(&mut self, number: u16, at: LocalTime) -> Result<(), DiscardReason> {
        if let Some(reason) = self.refuses(number, at) {
            self.eliminated += i64::from(reason == DiscardReason::CopyEliminated);
            return Err(reason);
        }
        let ahead = self.ahead(number, at);
        let place = usize::from(number) % self.accepted_at.len();
        self.accepted_at[place] = at;
        self.passed += 1;
        match ahead {
            Some(behind @ ..=0) if matches!(self.config.algorithm, RecoveryAlgorithm::Vector { .. }) => {
                self.history |= 1 << -behind;
                self.last = self.last.map(|(last, _)| (last, at));
            }
            Some(ahead @ 1..) => {
                self.history = self.history.checked_shl(ahead.unsigned_abs()).unwrap_or(0) | 1;
                self.last = Some((number, at));
            }
            _ => {
                self.history = 1;
                self.last = Some((number, at));
            }
        }
        Ok(())
    }

    /// By how many copies more or fewer came than should have, if a test is due and finds too many. To be called before a frame
    /// is judged.
    pub fn latent_error(&mut self, at: LocalTime) -> Option<i64> {
        let latent = self.config.latent?;
        let missing = self.passed * (i64::from(self.config.ways) - 1) - self.eliminated;
        let test = self.next_test.get_or_insert(at + latent.period);
        let is_due = *test <= at;
        if is_due {
            while *test <= at {
                *test += latent.period;
            }
        }
        let reset = self.next_reset.get_or_insert(at + latent.reset);
        let difference = missing - self.base;
        if *reset <= at {
            self.base = missing;
            while *reset <= at {
                *reset += latent.reset;
            }
        }
        (is_due && difference.unsigned_abs() > u64::from(latent.difference)).then_some(difference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COPY: Option<DiscardReason> = Some(DiscardReason::CopyEliminated);
    const ROGUE: Option<DiscardReason> = Some(DiscardReason::OutOfSequence);

    fn ms(ms: i64) -> LocalTime {
        LocalTime::ZERO + Duration::from_ms(ms)
    }

    fn recovery(algorithm: RecoveryAlgorithm, latent: Option<LatentErrors>) -> SequenceRecovery {
        SequenceRecovery::new(RecoveryConfig { algorithm, reset: Duration::from_ms(100), ways: 2, latent })
    }

    /// Why each of these numbers, one a millisecond, is not taken.
    fn refused(algorithm: RecoveryAlgorithm, numbers: &[u16]) -> Vec<Option<DiscardReason>> {
        let mut recovery = recovery(algorithm, None);
        (0..).zip(numbers).map(|(at, number)| recovery.take(*number, ms(at)).err()).collect()
    }

    #[test]
    fn the_vector_takes_each_number_once_in_any_order_within_its_history() {
        let vector = RecoveryAlgorithm::Vector { history: 4 };
        assert_eq!(refused(vector, &[7, 7, 8, 8, 9]), [None, COPY, None, COPY, None]);
        // 10 is late but within the history, and comes once.
        assert_eq!(refused(vector, &[9, 11, 10, 10, 11, 9]), [None, None, None, COPY, COPY, COPY]);
        // Three behind is within a history of four, four behind is not; nor is four ahead.
        assert_eq!(refused(vector, &[20, 21, 22, 23, 19]), [None, None, None, None, ROGUE]);
        assert_eq!(refused(vector, &[20, 23, 20, 27, 26]), [None, None, COPY, ROGUE, None]);
        // Numbers go round.
        assert_eq!(refused(vector, &[65_535, 0, 65_535, 1, 0]), [None, None, COPY, None, COPY]);
    }

    #[test]
    fn what_was_before_the_first_frame_was_never_seen() {
        let vector = RecoveryAlgorithm::Vector { history: 4 };
        assert_eq!(refused(vector, &[7, 5, 6, 5]), [None, None, None, COPY]);
    }

    #[test]
    fn the_longest_history_forgets_what_is_behind_it() {
        let vector = RecoveryAlgorithm::Vector { history: HISTORY_MAX };
        assert_eq!(refused(vector, &[100, 163, 100, 164, 101, 100]), [None, None, COPY, None, None, ROGUE]);
    }

    #[test]
    fn the_match_compares_with_the_last_number_only() {
        assert_eq!(refused(RecoveryAlgorithm::Match, &[7, 7, 9, 7, 9]), [None, COPY, None, None, None]);
    }

    #[test]
    fn after_the_reset_time_any_number_is_taken_and_just_before_it_is_not() {
        for (after, expected) in [(99, ROGUE), (100, None)] {
            let mut recovery = recovery(RecoveryAlgorithm::Vector { history: 8 }, None);
            assert_eq!(recovery.take(500, ms(0)), Ok(()));
            assert_eq!(recovery.take(3, ms(after)).err(), expected);
        }
        // A copy does not keep the time from running, an accepted frame does.
        let mut recovery = recovery(RecoveryAlgorithm::Vector { history: 8 }, None);
        for (number, at) in [(500, 0), (501, 60), (501, 90)] {
            let _ = recovery.take(number, ms(at));
        }
        assert_eq!(recovery.refuses(3, ms(159)), ROGUE);
        assert_eq!(recovery.refuses(3, ms(160)), None);
    }

    #[test]
    fn copies_that_stay_away_are_a_latent_error_until_the_count_begins_anew() {
        let latent = LatentErrors { period: Duration::from_ms(20), reset: Duration::from_ms(200), difference: 2 };
        let mut recovery = recovery(RecoveryAlgorithm::Vector { history: 8 }, Some(latent));
        let mut told = Vec::new();
        // A frame each 5 ms; its copy comes until 50 ms and from 100 ms on.
        for number in 0..60u16 {
            let at = i64::from(number) * 5;
            told.extend(recovery.latent_error(ms(at)).map(|difference| (at, difference)));
            assert_eq!(recovery.take(number, ms(at)), Ok(()));
            if !(50..100).contains(&at) {
                told.extend(recovery.latent_error(ms(at + 1)).map(|difference| (at + 1, difference)));
                assert_eq!(recovery.take(number, ms(at + 1)), Err(DiscardReason::CopyEliminated));
            }
        }
        // Two are missing at 60 ms, which is allowed, and six at 80 ms; ten for ever after, until 200 ms.
        assert_eq!(told, [(80, 6), (100, 10), (120, 10), (140, 10), (160, 10), (180, 10), (200, 10)]);
    }
}
