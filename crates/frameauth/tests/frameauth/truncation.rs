//! A truncated freshness value says as much as a full one, as long as the two sides are less than half a span apart.

use chronoseal_core::DiscardReason;
use chronoseal_frameauth::{Freshness, Moment};
use proptest::prelude::*;

use crate::pair::Pair;

proptest! {
    #[test]
    fn is_completed_to_the_full_value_across_wrap_arounds(
        len in 1u8..=3,
        start in prop_oneof![0u64..1000, any::<u64>()],
        steps in prop::collection::vec(any::<prop::sample::Index>(), 1..40),
    ) {
        let half = 1usize << (8 * len - 1);
        let (mut truncated, mut full) = (Pair::with(Freshness::Truncated { bits: 8 * len }, 64), Pair::with(Freshness::Full, 64));
        let mut value = start.min(u64::MAX - (half as u64) * 41);
        truncated.opener.resume_after(value);
        full.opener.resume_after(value);
        for step in steps {
            // From the next value to the last that is followed: losses of up to half a span.
            value += 1 + step.index(half) as u64;
            prop_assert_eq!(truncated.pass(value), Ok(Some(value)));
            prop_assert_eq!(full.pass(value), Ok(Some(value)));
        }
    }

    #[test]
    fn judges_like_a_full_value_near_the_highest(
        len in 2u8..=7,
        start in 1_000_000u64..u64::MAX / 2,
        offsets in prop::collection::vec(-100i64..100, 1..60),
        window in 1u8..=64,
    ) {
        let (mut truncated, mut full) =
            (Pair::with(Freshness::Truncated { bits: 8 * len }, window), Pair::with(Freshness::Full, window));
        truncated.opener.resume_after(start);
        full.opener.resume_after(start);
        let mut value = start;
        for offset in offsets {
            value = value.saturating_add_signed(offset);
            prop_assert_eq!(truncated.pass(value), full.pass(value));
        }
    }
}

#[test]
fn is_followed_up_to_half_a_span_ahead_and_no_further() {
    for (ahead, expected) in [(127, Ok(Some(1001 + 127))), (128, Err(DiscardReason::TagMismatch))] {
        let mut pair = Pair::with(Freshness::Truncated { bits: 8 }, 8);
        pair.opener.resume_after(1000);
        assert_eq!(pair.pass(1001 + ahead), expected);
    }
}

#[test]
fn near_zero_a_value_too_far_ahead_is_named_so_and_not_followed() {
    let mut pair = Pair::with(Freshness::Truncated { bits: 8 }, 8);
    for value in [128, 255] {
        let pdu = pair.seal(b"payload", value);
        assert_eq!(pair.opener.open(&pdu, Moment::Unknown), Err(DiscardReason::FreshnessTooFarAhead));
    }
    assert_eq!(pair.opener.highest_accepted(), None, "an authentic frame that was refused moves nothing");
    assert_eq!(pair.pass(127), Ok(Some(127)));
}

#[test]
fn a_full_value_is_followed_however_far_ahead() {
    let mut pair = Pair::with(Freshness::Full, 8);
    for value in [0, 1 << 40, u64::MAX] {
        assert_eq!(pair.pass(value), Ok(Some(value)));
    }
    assert_eq!(pair.pass(u64::MAX), Err(DiscardReason::Replayed), "after the last value there is no further one");
}
