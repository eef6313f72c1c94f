//! A frame is accepted once. The one mode where that does not hold says so.

use std::collections::BTreeSet;

use chronoseal_core::{DiscardReason, StoppedBy};
use chronoseal_frameauth::{Freshness, Moment};
use proptest::prelude::*;

use crate::pair::{Pair, any_freshness};

/// Freshness modes in which the frame, not the clock, carries the value.
fn carried() -> impl Strategy<Value = Freshness> {
    prop_oneof![Just(Freshness::Full), (1u8..=7).prop_map(|len| Freshness::Truncated { bits: 8 * len })]
}

#[test]
fn without_freshness_a_replay_is_accepted_and_the_mode_says_so() {
    let mut pair = Pair::with(Freshness::None, 64);
    let pdu = pair.seal(b"payload", 1);
    for _ in 0..3 {
        assert!(pair.opener.open(&pdu, Moment::Unknown).is_ok());
    }
    assert_eq!(pair.opener.counters().accepted(), 3);
    assert!(pair.opener.profile().freshness().is_replayable());
}

#[test]
fn rejects_a_replay_in_the_same_cycle_and_in_a_later_one() {
    let mut pair = Pair::with(Freshness::CycleCounter, 8);
    let pdu = pair.seal(b"payload", 70);
    assert!(pair.opener.open(&pdu, Some(70)).is_ok());
    assert_eq!(pair.opener.open(&pdu, Some(70)), Err(DiscardReason::Replayed));
    assert_eq!(pair.opener.open(&pdu, Some(71)), Err(DiscardReason::TagMismatch));
}

#[test]
fn accepts_late_frames_inside_the_window_only() {
    for freshness in [Freshness::Full, Freshness::Truncated { bits: 8 }, Freshness::Truncated { bits: 56 }] {
        let mut pair = Pair::with(freshness, 4);
        pair.pass(100).unwrap();
        assert_eq!(pair.pass(97), Ok(Some(97)), "3 below the highest is the last place of a window of 4");
        assert_eq!(pair.pass(96), Err(DiscardReason::FreshnessTooOld));
        assert_eq!(pair.pass(97), Err(DiscardReason::Replayed));
    }
}

proptest! {
    #[test]
    fn rejects_the_replay_of_any_earlier_frame(
        freshness in carried(),
        steps in prop::collection::vec(1u64..100, 1..30),
        window in 1u8..=64,
    ) {
        let mut pair = Pair::with(freshness, window);
        let (mut value, mut recorded) = (0, vec![]);
        for step in steps {
            value += step;
            recorded.push(pair.seal(b"payload", value));
            prop_assert!(pair.opener.open(recorded.last().unwrap(), Moment::Unknown).is_ok());
            for old in &recorded {
                let reason = pair.opener.open(old, Moment::Unknown).unwrap_err();
                // A truncated value from far behind is completed to a later one, and its tag does not fit that.
                let far_behind = matches!(freshness, Freshness::Truncated { bits: 8 }) && reason == DiscardReason::TagMismatch;
                prop_assert!(reason.stopped_by() == StoppedBy::Freshness || far_behind, "{:?}", reason);
            }
        }
        prop_assert_eq!(pair.opener.counters().accepted(), recorded.len() as u64);
    }

    #[test]
    fn frames_reordered_within_the_window_are_each_accepted_once(
        freshness in carried(),
        start in prop_oneof![Just(0u64), any::<u64>()],
        order in Just((0..60u64).collect::<Vec<_>>()).prop_shuffle(),
        twice in prop::collection::vec(any::<bool>(), 60),
    ) {
        let start = start.min(u64::MAX - 60);
        let mut pair = Pair::with(freshness, 64);
        // The receiver is in step with the sender before the frames get mixed up.
        pair.opener.resume_after(start);
        let start = start + 1;
        for offset in order {
            let value = start + offset.min(u64::MAX - start);
            let pdu = pair.seal(b"payload", value);
            prop_assert_eq!(pair.opener.open(&pdu, Moment::Unknown).map(|opened| opened.freshness), Ok(Some(value)));
            if twice[offset as usize] {
                prop_assert_eq!(pair.opener.open(&pdu, Moment::Unknown), Err(DiscardReason::Replayed));
            }
        }
        prop_assert_eq!(pair.opener.counters().accepted(), 60);
    }

    #[test]
    fn no_value_is_ever_accepted_twice(
        freshness in any_freshness(),
        values in prop::collection::vec(0u64..150, 1..200),
        window in 1u8..=64,
    ) {
        prop_assume!(!freshness.is_replayable());
        let (mut pair, mut seen) = (Pair::with(freshness, window), BTreeSet::new());
        for value in values {
            if let Ok(accepted) = pair.pass(value) {
                prop_assert_eq!(accepted, Some(value));
                prop_assert!(seen.insert(value), "{} twice", value);
            }
        }
    }
}
