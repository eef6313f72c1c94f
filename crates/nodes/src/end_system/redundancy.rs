//! Which of two copies of a frame its receiver takes: redundancy management of virtual links over the networks A and B
//! (ARINC 664 part 7).
//!
//! # The rule
//! Each network has an integrity check of its own. Of what passes them the first valid copy wins: a frame whose number was
//! accepted up to `skew_max` before is a copy of that one and eliminated, and one whose number lies behind the number accepted
//! last, again up to `skew_max` before, came too late to be in order. After `skew_max` nothing is held against a frame any more:
//! it is a new one, whatever its number is.
//!
//! # What a copy changes before it is authenticated
//! A frame that its network's integrity check refuses is thrown away unopened: where freshness values are checked, opening it would make a
//! replay of its copy on the other network, which may be admitted there. Its number is kept aside. It counts once the copy is accepted,
//! or for whether the next frame of its network follows it; what came before is not forgotten for it.
//!
//! A copy of an accepted frame is thrown away unopened: opening it would cost as much again, and where freshness values are
//! checked it would be a replay. Its number was authenticated with the first copy, so the integrity check of its network may
//! go forward to it. It never goes back to one, so that a forged copy changes nothing that the true one would not.

use chronoseal_core::{DiscardReason, Duration, LocalTime};
use chronoseal_wire::virtual_link::SequenceNumber;

use super::virtual_link::IntegrityCheck;

/// How many networks there are: A and B.
pub(super) const NETWORKS: usize = 2;

/// The receiver's end of a virtual link that comes over both networks.
#[derive(Clone, Debug)]
pub(super) struct Redundancy {
    skew_max: Duration,
    checks: [IntegrityCheck; NETWORKS],
    /// By network: the number refused last.
    refused: [Option<SequenceNumber>; NETWORKS],
    /// By number: when a frame of it was accepted last.
    accepted_at: Box<[Option<LocalTime>; 256]>,
    /// The frame accepted last.
    last: Option<(SequenceNumber, LocalTime)>,
}

impl Redundancy {
    /// Copies come within `skew_max` of each other.
    pub(super) fn new(skew_max: Duration) -> Self {
        Self {
            skew_max,
            checks: Default::default(),
            refused: [None; NETWORKS],
            accepted_at: Box::new([None; 256]),
            last: None,
        }
    }

    /// How much later than the accepted one a copy has come; `None` if a frame is no copy of one.
    pub(super) fn since_first(&self, number: SequenceNumber, at: LocalTime) -> Option<Duration> {
        let first = self.accepted_at[usize::from(number.0)]?;
        Some(at - first).filter(|since| *since <= self.skew_max)
    }

    /// Notes that a copy of an accepted frame has come over a network.
    pub(super) fn eliminate(&mut self, network: usize, number: SequenceNumber) {
        self.checks[network % NETWORKS].go_forward_to(number);
    }

    /// True if the integrity check of a network refuses a frame, which is not known to be authentic.
    pub(super) fn refuses(&mut self, network: usize, number: SequenceNumber) -> bool {
        let (check, refused) = (&self.checks[network % NETWORKS], &mut self.refused[network % NETWORKS]);
        let is_next = |refused: SequenceNumber| IntegrityCheck::follows(number, refused);
        if check.would_admit(number) || refused.is_some_and(is_next) {
            return false;
        }
        *refused = Some(number);
        true
    }

    /// Judges an authentic frame that came over a network.
    ///
    /// # Errors
    /// Why it is not taken.
    pub(super) fn judge(&mut self, network: usize, number: SequenceNumber, at: LocalTime) -> Result<(), DiscardReason> {
        let refused = self.refused[network % NETWORKS].take();
        let is_next = refused.is_some_and(|refused| IntegrityCheck::follows(number, refused));
        if !self.checks[network % NETWORKS].admits(number) && !is_next {
            return Err(DiscardReason::OutOfSequence);
        }
        if self.since_first(number, at).is_some() {
            return Err(DiscardReason::CopyEliminated);
        }
        let is_overtaken = |(last, then): (SequenceNumber, LocalTime)| {
            at - then <= self.skew_max && number != SequenceNumber::RESET && !number.is_ahead_of(last)
        };
        if self.last.is_some_and(is_overtaken) {
            return Err(DiscardReason::OutOfSequence);
        }
        self.accepted_at[usize::from(number.0)] = Some(at);
        self.last = Some((number, at));
        for (check, refused) in self.checks.iter_mut().zip(&mut self.refused) {
            if refused.take_if(|refused| *refused == number).is_some() {
                check.go_forward_to(number);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SKEW_MAX: Duration = Duration::from_us(500);
    const A: usize = 0;
    const B: usize = 1;

    fn us(us: i64) -> LocalTime {
        LocalTime::ZERO + Duration::from_us(us)
    }

    /// What becomes of frames: network, number, and when they come `[us]`. Copies go the way that the station takes them.
    fn verdicts(frames: &[(usize, u8, i64)]) -> Vec<Result<(), DiscardReason>> {
        let mut redundancy = Redundancy::new(SKEW_MAX);
        let judge = |&(network, number, at): &(usize, u8, i64)| {
            let number = SequenceNumber(number);
            if redundancy.since_first(number, us(at)).is_some() {
                redundancy.eliminate(network, number);
                return Err(DiscardReason::CopyEliminated);
            }
            if redundancy.refuses(network, number) {
                return Err(DiscardReason::OutOfSequence);
            }
            redundancy.judge(network, number, us(at))
        };
        frames.iter().map(judge).collect()
    }

    const TAKEN: Result<(), DiscardReason> = Ok(());
    const COPY: Result<(), DiscardReason> = Err(DiscardReason::CopyEliminated);
    const WRONG: Result<(), DiscardReason> = Err(DiscardReason::OutOfSequence);

    #[test]
    fn the_first_valid_copy_wins_on_whichever_network() {
        let frames = [(A, 0, 0), (B, 0, 100), (B, 1, 1_000), (A, 1, 1_200), (A, 2, 2_000), (B, 2, 2_000)];
        assert_eq!(verdicts(&frames), [TAKEN, COPY, TAKEN, COPY, TAKEN, COPY]);
    }

    /// ARINC 664 part 7: what comes more than SkewMax after the frame that was accepted is a new frame.
    #[test]
    fn a_copy_later_than_the_skew_is_a_new_frame_and_one_just_within_it_is_not() {
        assert_eq!(verdicts(&[(A, 0, 0), (B, 0, 500)]), [TAKEN, COPY]);
        assert_eq!(verdicts(&[(A, 0, 0), (B, 0, 501)]), [TAKEN, TAKEN]);
    }

    #[test]
    fn a_network_that_fails_loses_nothing_even_if_its_copies_were_always_first() {
        let mut frames = Vec::new();
        for number in 0..40u8 {
            let at = i64::from(number) * 1_000;
            if number < 20 {
                frames.push((A, number, at));
            }
            frames.push((B, number, at + 300));
        }
        let taken = verdicts(&frames).iter().filter(|verdict| **verdict == TAKEN).count();
        assert_eq!(taken, 40);
    }

    #[test]
    fn each_network_is_checked_by_itself() {
        // B has lost 2 to 4 and goes on with 5, which A has not brought yet: three are missing on B, whatever came on A.
        let frames = [(A, 1, 0), (B, 1, 10), (A, 2, 1_000), (A, 3, 2_000), (B, 5, 2_100), (A, 4, 3_000), (A, 5, 4_000)];
        assert_eq!(verdicts(&frames), [TAKEN, COPY, TAKEN, TAKEN, WRONG, TAKEN, TAKEN]);
    }

    #[test]
    fn what_was_overtaken_is_out_of_order_within_the_skew() {
        // A has lost 2; its copy on B comes after A's 3.
        assert_eq!(
            verdicts(&[(A, 1, 0), (B, 1, 10), (A, 3, 1_000), (B, 2, 1_100), (B, 3, 1_200)]),
            [TAKEN, COPY, TAKEN, WRONG, COPY]
        );
        // Numbers go round from 255 to 1.
        assert_eq!(
            verdicts(&[(A, 254, 0), (B, 254, 1), (A, 1, 100), (B, 255, 200), (B, 1, 300), (A, 2, 400)]),
            [TAKEN, COPY, TAKEN, WRONG, COPY, TAKEN]
        );
    }

    #[test]
    fn a_sender_that_was_reset_is_taken_at_once_and_its_copy_is_none_too_many() {
        let frames = [(A, 7, 0), (B, 7, 10), (A, 0, 100), (A, 1, 150), (B, 0, 200), (B, 1, 250)];
        assert_eq!(verdicts(&frames), [TAKEN, COPY, TAKEN, TAKEN, COPY, COPY]);
    }

    #[test]
    fn what_one_network_refuses_is_taken_from_the_other() {
        // A has lost 2 and 3; its 4 comes before that of B, and A goes on from there.
        let frames = [(A, 1, 0), (B, 1, 10), (B, 2, 1_010), (B, 3, 2_010), (A, 4, 3_000), (B, 4, 3_010), (A, 5, 4_000)];
        assert_eq!(verdicts(&frames), [TAKEN, COPY, TAKEN, TAKEN, WRONG, TAKEN, TAKEN]);
        // Both have lost 2 and 3.
        let frames = [(A, 1, 0), (B, 1, 10), (A, 4, 3_000), (B, 4, 3_010), (A, 5, 4_000), (B, 5, 4_010), (B, 6, 5_010)];
        assert_eq!(verdicts(&frames), [TAKEN, COPY, WRONG, WRONG, TAKEN, COPY, TAKEN]);
    }

    #[test]
    fn a_forged_number_that_is_refused_keeps_no_true_frame_away() {
        let mut redundancy = Redundancy::new(SKEW_MAX);
        assert_eq!(redundancy.judge(A, SequenceNumber(1), us(0)), Ok(()));
        assert!(redundancy.refuses(A, SequenceNumber(100)));
        assert!(!redundancy.refuses(A, SequenceNumber(2)));
        assert_eq!(redundancy.judge(A, SequenceNumber(2), us(1_000)), Ok(()));
    }

    #[test]
    fn a_copy_of_an_old_frame_does_not_take_a_network_back() {
        let mut redundancy = Redundancy::new(Duration::from_ms(100));
        for number in 1..=20u8 {
            assert_eq!(redundancy.judge(A, SequenceNumber(number), us(i64::from(number) * 1_000)), Ok(()));
            redundancy.eliminate(B, SequenceNumber(number));
        }
        // Somebody repeats an old frame on B, which is still a copy of an accepted one.
        assert!(redundancy.since_first(SequenceNumber(5), us(20_500)).is_some());
        redundancy.eliminate(B, SequenceNumber(5));
        assert_eq!(redundancy.judge(B, SequenceNumber(21), us(21_000)), Ok(()));
    }
}
