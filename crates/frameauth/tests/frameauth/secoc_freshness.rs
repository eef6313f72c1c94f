//! A secured PDU is taken once, whatever is lost, repeated or restarted. The one profile where that fails says so.

use std::collections::BTreeSet;

use chronoseal_core::DiscardReason;
use chronoseal_frameauth::{
    ATTEMPTS_MAX, Moment, Opener, Profile, SealError, Sealer, TripReset, TripResetLayout,
    secoc::{self, FreshnessFormat},
};
use proptest::prelude::*;

use crate::secoc_layout::{opener, sealer};

fn counting() -> Profile {
    secoc::profile_1(FreshnessFormat::Counter { bits: 32 }).unwrap()
}

const fn epoch(reset: u32) -> TripReset {
    TripReset { trip: 9, reset }
}

struct Pair {
    transmitter: Sealer,
    receiver: Opener,
}

impl Pair {
    fn new(profile: Profile) -> Self {
        Self { transmitter: sealer(profile), receiver: opener(profile) }
    }

    fn seal(&mut self, epoch: Option<TripReset>) -> Vec<u8> {
        let mut pdu = b"payload".to_vec();
        pdu.resize(7 + self.transmitter.profile().overhead(), 0);
        let len = self.transmitter.seal_next(&mut pdu, 7, epoch).unwrap();
        pdu.truncate(len);
        pdu
    }

    fn lose(&mut self, count: usize, epoch: Option<TripReset>) {
        for _ in 0..count {
            self.seal(epoch);
        }
    }

    fn open(&mut self, pdu: &[u8], epoch: Option<TripReset>) -> Result<(), DiscardReason> {
        self.receiver.open(pdu, epoch).map(|opened| assert_eq!(opened.payload, b"payload"))
    }
}

#[test]
fn without_freshness_a_replay_is_accepted_and_the_profile_says_so() {
    let mut pair = Pair::new(secoc::profile_2());
    let pdu = pair.seal(None);
    for _ in 0..3 {
        assert_eq!(pair.open(&pdu, None), Ok(()));
    }
    assert!(pair.receiver.profile().is_replayable());
}

#[test]
fn names_a_replay_up_to_one_span_back() {
    let mut pair = Pair::new(counting());
    let recorded: Vec<_> = (0..600).map(|_| pair.seal(None)).collect();
    for pdu in &recorded {
        assert_eq!(pair.open(pdu, None), Ok(()));
    }
    for (age, pdu) in recorded.iter().rev().enumerate() {
        let reason = if age < 256 { DiscardReason::Replayed } else { DiscardReason::TagMismatch };
        assert_eq!(pair.open(pdu, None), Err(reason), "{age} PDUs old");
    }
    assert_eq!(pair.receiver.counters().accepted(), 600);
    assert_eq!(pair.receiver.counters().discarded(DiscardReason::Replayed), 256);
    assert_eq!(pair.receiver.counters().discarded(DiscardReason::TagMismatch), 344);
}

#[test]
fn refuses_what_comes_late_even_if_it_was_never_taken() {
    let mut pair = Pair::new(counting());
    let (early, late) = (pair.seal(None), pair.seal(None));
    assert_eq!(pair.open(&late, None), Ok(()));
    assert_eq!(pair.open(&early, None), Err(DiscardReason::Replayed));
}

#[test]
fn bridges_as_many_losses_as_its_attempts_reach() {
    for attempts in [1, 2, ATTEMPTS_MAX] {
        let reach = 256 * usize::from(attempts);
        for (lost, outcome) in [(reach - 1, Ok(())), (reach, Err(DiscardReason::TagMismatch))] {
            let mut pair = Pair::new(counting());
            pair.receiver = pair.receiver.with_attempts(attempts);
            let pdu = pair.seal(None);
            assert_eq!(pair.open(&pdu, None), Ok(()));
            pair.lose(lost, None);
            let pdu = pair.seal(None);
            assert_eq!(pair.open(&pdu, None), outcome, "{attempts} attempts, {lost} lost");
        }
    }
}

#[test]
fn counts_the_tags_it_computes() {
    let mut pair = Pair::new(counting());
    pair.receiver = pair.receiver.with_attempts(4);
    let pdu = pair.seal(None);
    assert_eq!(pair.open(&pdu, None), Ok(()));
    assert_eq!(pair.receiver.tags_computed(), 1);
    assert_eq!(pair.open(&pdu, None), Err(DiscardReason::Replayed));
    assert_eq!(pair.receiver.tags_computed(), 5, "four attempts and the look back");
    pair.lose(600, None);
    let pdu = pair.seal(None);
    assert_eq!(pair.open(&pdu, None), Ok(()));
    assert_eq!(pair.receiver.tags_computed(), 3, "600 are two spans and some");
    assert_eq!(pair.open(&[0; 3], None), Err(DiscardReason::TooShort));
    assert_eq!(pair.receiver.tags_computed(), 0);
}

#[test]
fn is_back_with_the_senders_count_after_a_loss_beyond_reach() {
    let mut pair = Pair::new(counting());
    pair.lose(1000, None);
    let pdu = pair.seal(None);
    assert_eq!(pair.open(&pdu, None), Err(DiscardReason::TagMismatch));
    pair.receiver.resume_after(pair.transmitter.count() - 1);
    assert_eq!(pair.open(&pdu, None), Ok(()));
    assert_eq!(pair.receiver.highest_accepted(), Some(1001));
}

#[test]
fn both_sides_go_on_after_a_restart_with_what_they_stored() {
    let mut pair = Pair::new(counting());
    pair.lose(1000, None);
    let recorded = pair.seal(None);
    let mut restarted = Pair::new(counting());
    restarted.transmitter.resume_after(pair.transmitter.count());
    restarted.receiver.resume_after(pair.transmitter.count());
    assert_eq!(restarted.open(&recorded, None), Err(DiscardReason::Replayed));
    let pdu = restarted.seal(None);
    assert_eq!(restarted.open(&pdu, None), Ok(()));
}

#[test]
fn a_counter_is_never_used_past_its_end() {
    let mut pair = Pair::new(secoc::profile_1(FreshnessFormat::Counter { bits: 8 }).unwrap());
    for _ in 0..255 {
        let pdu = pair.seal(None);
        assert_eq!(pair.open(&pdu, None), Ok(()));
    }
    assert_eq!(pair.transmitter.seal_next(&mut [0xee; 4], 0, Moment::Unknown), Err(SealError::FreshnessExhausted));
    for low in 0..=255 {
        let mut forged = vec![0; 11];
        forged[7] = low;
        let reason = pair.open(&forged, None).unwrap_err();
        assert_eq!(reason, DiscardReason::FreshnessTooOld, "no count is left that could be fresh");
    }
    let widest = secoc::profile_1(FreshnessFormat::Counter { bits: 64 }).unwrap();
    let mut pair = Pair::new(widest);
    pair.transmitter.resume_after(u64::MAX - 1);
    pair.receiver.resume_after(u64::MAX - 1);
    let last = pair.seal(None);
    assert_eq!(pair.open(&last, None), Ok(()));
    assert_eq!(pair.open(&last, None), Err(DiscardReason::Replayed));
    assert_eq!(pair.transmitter.seal_next(&mut [0; 4], 0, Moment::Unknown), Err(SealError::FreshnessExhausted));
}

#[test]
fn neither_side_works_without_trip_and_reset_counters() {
    let mut pair = Pair::new(secoc::profile_3());
    assert_eq!(pair.transmitter.seal_next(&mut [0; 4], 0, Moment::Unknown), Err(SealError::NotSynchronised));
    let pdu = pair.seal(Some(epoch(1)));
    assert_eq!(pair.open(&pdu, None), Err(DiscardReason::NotSynchronised));
    assert_eq!(pair.open(&pdu, Some(epoch(1))), Ok(()));
}

#[test]
fn nothing_is_sent_in_an_epoch_wider_than_the_layout() {
    let layout = TripResetLayout { trip_bits: 4, reset_bits: 3, message_bits: 8 };
    let profile = secoc::profile(FreshnessFormat::TripReset(layout), 4, 28).unwrap();
    let mut pair = Pair::new(profile);
    for (trip, reset) in [(16, 1), (1, 8), (u32::MAX, u32::MAX)] {
        let epoch = Some(TripReset { trip, reset });
        assert_eq!(pair.transmitter.seal_next(&mut [0; 4], 0, epoch), Err(SealError::NotSynchronised));
    }
    assert_eq!(pair.transmitter.seal_next(&mut [0; 4], 0, Some(TripReset { trip: 15, reset: 7 })), Ok(4));
}

#[test]
fn bridges_resets_that_one_side_has_not_heard_of() {
    for (here, there) in [(5, 5), (4, 5), (3, 5), (5, 4), (5, 3)] {
        let mut pair = Pair::new(secoc::profile_3());
        let pdu = pair.seal(Some(epoch(there)));
        assert_eq!(pair.open(&pdu, Some(epoch(here))), Ok(()), "receiver at reset {here}, sender at {there}");
    }
    for (here, there) in [(2, 5), (1, 5), (5, 2), (5, 1)] {
        let mut pair = Pair::new(secoc::profile_3());
        let pdu = pair.seal(Some(epoch(there)));
        assert_eq!(pair.open(&pdu, Some(epoch(here))), Err(DiscardReason::TagMismatch), "{here} and {there}");
    }
}

#[test]
fn never_goes_back_before_the_reset_of_the_last_pdu_accepted() {
    let mut pair = Pair::new(secoc::profile_3());
    let old = pair.seal(Some(epoch(4)));
    let new = pair.seal(Some(epoch(5)));
    assert_eq!(pair.open(&new, Some(epoch(4))), Ok(()), "the sender is ahead");
    assert_eq!(pair.open(&old, Some(epoch(4))), Err(DiscardReason::FreshnessTooOld));
    assert_eq!(pair.open(&old, Some(epoch(5))), Err(DiscardReason::FreshnessTooOld));
}

#[test]
fn every_recorded_pdu_is_refused_in_every_later_reset() {
    let mut pair = Pair::new(secoc::profile_3());
    let mut recorded = vec![];
    for reset in 1..=12 {
        for _ in 0..5 {
            let pdu = pair.seal(Some(epoch(reset)));
            assert_eq!(pair.open(&pdu, Some(epoch(reset))), Ok(()));
            recorded.push(pdu);
        }
        for pdu in &recorded {
            assert!(pair.open(pdu, Some(epoch(reset))).is_err());
        }
    }
}

#[test]
fn a_receiver_that_lost_too_much_is_back_with_the_next_reset() {
    let mut pair = Pair::new(secoc::profile_3());
    let pdu = pair.seal(Some(epoch(1)));
    assert_eq!(pair.open(&pdu, Some(epoch(1))), Ok(()));
    pair.lose(4, Some(epoch(1)));
    for _ in 0..2 {
        // Four lost in a row are more than two bits count.
        let pdu = pair.seal(Some(epoch(1)));
        assert_eq!(pair.open(&pdu, Some(epoch(1))), Err(DiscardReason::TagMismatch));
    }
    let pdu = pair.seal(Some(epoch(2)));
    assert_eq!(pair.open(&pdu, Some(epoch(2))), Ok(()));
}

#[test]
fn a_sender_that_restarts_is_silent_until_the_next_reset() {
    let mut pair = Pair::new(secoc::profile_3());
    let recorded = pair.seal(Some(epoch(3)));
    let mut restarted = sealer(secoc::profile_3());
    restarted.resume_after_epoch(epoch(3));
    for reset in 1..=3 {
        assert_eq!(restarted.seal_next(&mut [0; 4], 0, Some(epoch(reset))), Err(SealError::NotSynchronised));
    }
    pair.transmitter = restarted;
    let pdu = pair.seal(Some(epoch(4)));
    assert_ne!(pdu, recorded);
    assert_eq!(pair.open(&pdu, Some(epoch(4))), Ok(()));
    assert_eq!(
        pair.transmitter.seal_next(&mut [0; 4], 0, Some(epoch(3))),
        Err(SealError::NotSynchronised),
        "time goes on"
    );
}

#[test]
fn a_sender_never_goes_back_to_an_earlier_reset() {
    let mut pair = Pair::new(secoc::profile_3());
    pair.lose(3, Some(epoch(5)));
    for earlier in [epoch(4), TripReset { trip: 8, reset: 9 }] {
        assert_eq!(pair.transmitter.seal_next(&mut [0; 4], 0, Some(earlier)), Err(SealError::NotSynchronised));
    }
    assert_eq!(pair.transmitter.seal_next(&mut [0; 4], 0, Some(epoch(5))), Ok(4));
    assert_eq!(pair.transmitter.count(), 4, "and did not begin anew");
}

#[test]
fn a_message_counter_at_its_end_waits_for_the_next_reset() {
    let layout = TripResetLayout { trip_bits: 8, reset_bits: 8, message_bits: 3 };
    let mut pair = Pair::new(secoc::profile(FreshnessFormat::TripReset(layout), 4, 28).unwrap());
    pair.lose(7, Some(epoch(1)));
    assert_eq!(pair.transmitter.seal_next(&mut [0; 4], 0, Some(epoch(1))), Err(SealError::FreshnessExhausted));
    let pdu = pair.seal(Some(epoch(2)));
    assert_eq!(pair.open(&pdu, Some(epoch(2))), Ok(()));
}

#[derive(Clone, Debug)]
enum Step {
    /// A PDU is sent; it is delivered so many times.
    Send { deliveries: usize },
    /// A recorded PDU is replayed.
    Replay(prop::sample::Index),
    /// The master begins a reset cycle.
    Reset,
    /// The receiver hears of the latest reset.
    Hear,
}

fn any_steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0usize..3).prop_map(|deliveries| Step::Send { deliveries }),
        3 => any::<prop::sample::Index>().prop_map(Step::Replay),
        1 => Just(Step::Reset),
        1 => Just(Step::Hear),
    ];
    prop::collection::vec(step, 1..200)
}

proptest! {
    #[test]
    fn no_freshness_value_is_sent_or_accepted_twice(
        steps in any_steps(),
        trips in any::<bool>(),
        sent_bits in 2u8..9,
        attempts in 1u8..5,
    ) {
        let format = if trips { FreshnessFormat::TripReset(secoc::JASPAR) } else { FreshnessFormat::Counter { bits: 32 } };
        // With so many tries a short tag would now and then be found by chance.
        let profile = secoc::profile(format, sent_bits, 64).unwrap();
        let mut pair = Pair::new(profile);
        pair.receiver = pair.receiver.with_attempts(attempts);
        let (mut sender_at, mut receiver_at) = (1, 1);
        let (mut recorded, mut accepted, mut opened): (Vec<Vec<u8>>, BTreeSet<u64>, u64) = (vec![], BTreeSet::new(), 0);
        for step in steps {
            let (pdu, times) = match step {
                Step::Send { deliveries } => {
                    let pdu = pair.seal(Some(epoch(sender_at)));
                    prop_assert!(!recorded.contains(&pdu), "the payload is the same, so the value must not be");
                    recorded.push(pdu.clone());
                    (pdu, deliveries)
                }
                Step::Replay(_) if recorded.is_empty() => continue,
                Step::Replay(which) => (which.get(&recorded).clone(), 1),
                Step::Reset => {
                    sender_at += 1;
                    continue;
                }
                Step::Hear => {
                    receiver_at = sender_at;
                    continue;
                }
            };
            for _ in 0..times {
                if let Ok(accepted_pdu) = pair.receiver.open(&pdu, Some(epoch(receiver_at))) {
                    opened += 1;
                    let value = accepted_pdu.freshness.unwrap();
                    prop_assert!(accepted.last().is_none_or(|last| *last < value), "values only rise");
                    accepted.insert(value);
                }
            }
        }
        prop_assert_eq!(pair.receiver.counters().accepted(), opened);
        prop_assert_eq!(accepted.len() as u64, opened);
    }

    #[test]
    fn takes_every_pdu_of_a_bus_that_loses_fewer_in_a_row_than_the_sent_bits_count(
        losses in prop::collection::vec(0usize..4, 1..60),
        resets in prop::collection::vec(any::<bool>(), 60),
    ) {
        let mut pair = Pair::new(secoc::profile_3());
        let mut reset = 1;
        for (lost, advances) in losses.into_iter().zip(resets) {
            reset += u32::from(advances);
            // With two bits of message counter three in a row may go missing.
            pair.lose(lost, Some(epoch(reset)));
            let pdu = pair.seal(Some(epoch(reset)));
            prop_assert_eq!(pair.open(&pdu, Some(epoch(reset))), Ok(()));
        }
    }
}
