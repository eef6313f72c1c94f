//! Whatever was not sealed for this stream with this key is thrown away, for the right reason, and changes nothing.
//!
//! Tags have 8 bytes or more here: a forgery passes by luck once in 2^64 tries, and these tests make fewer than 2^18,
//! so they fail for no fault once in 2^46 runs. With 4 bytes it would be once in 2^14.

use chronoseal_core::DiscardReason;
use chronoseal_frameauth::{Counters, Freshness, MacAlgorithm, Moment, Opener, Profile, Sealer, SymmetricKey};
use proptest::prelude::*;

use crate::pair::{DATA_ID, Pair, any_profile, key_for, seal};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rejects_any_single_bit_flip_anywhere(
        profile in any_profile(64),
        payload in prop::collection::vec(any::<u8>(), 0..60),
        value in any::<u64>(),
    ) {
        let mut pair = Pair::new(profile);
        let mut pdu = pair.seal(&payload, value);
        for bit in 0..pdu.len() * 8 {
            pdu[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(pair.opener.open(&pdu, Some(value)), Err(DiscardReason::TagMismatch), "bit {}", bit);
            pdu[bit / 8] ^= 1 << (bit % 8);
        }
        prop_assert_eq!(pair.opener.highest_accepted(), None);
        prop_assert!(pair.opener.open(&pdu, Some(value)).is_ok(), "and the genuine one still passes");
    }

    #[test]
    fn rejects_a_pdu_cut_short_or_drawn_out(profile in any_profile(64), value in any::<u64>(), more in 1usize..20) {
        let mut pair = Pair::new(profile);
        let pdu = pair.seal(b"twenty bytes payload", value);
        for len in 0..pdu.len() {
            let expected = if len < profile.overhead() { DiscardReason::TooShort } else { DiscardReason::TagMismatch };
            prop_assert_eq!(pair.opener.open(&pdu[..len], Some(value)), Err(expected));
        }
        let longer = [&pdu[..], &vec![0; more]].concat();
        prop_assert_eq!(pair.opener.open(&longer, Some(value)), Err(DiscardReason::TagMismatch));
    }

    #[test]
    fn never_panics_and_counts_every_call(
        profile in any_profile(24),
        frames in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..80), any::<Option<u64>>()), 1..30),
        stored in any::<Option<u64>>(),
    ) {
        let mut opener = Opener::new(profile, &key_for(profile.mac()), DATA_ID).unwrap();
        if let Some(highest) = stored {
            opener.resume_after(highest);
        }
        for (bytes, expected) in &frames {
            let _ = opener.open(bytes, *expected);
        }
        let counters = opener.counters();
        prop_assert_eq!(counters.accepted() + counters.discarded_total(), frames.len() as u64);
    }

    #[test]
    fn a_forgery_never_changes_what_is_accepted_next(
        profile in any_profile(64),
        forgeries in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..20),
        values in prop::collection::vec(1000u64..1080, 1..20),
    ) {
        let (mut attacked, mut quiet) = (Pair::new(profile), Pair::new(profile));
        for value in values {
            for forgery in &forgeries {
                prop_assert!(attacked.opener.open(forgery, Some(value)).is_err());
            }
            prop_assert_eq!(attacked.pass(value), quiet.pass(value));
        }
    }
}

#[test]
fn rejects_a_pdu_of_another_stream_and_of_another_key() {
    for mac in MacAlgorithm::ALL {
        let mut other_key = key_for(mac).expose().to_vec();
        *other_key.last_mut().unwrap() ^= 1;
        let other_key = SymmetricKey::from_slice(&other_key).unwrap();
        for freshness in [Freshness::None, Freshness::Full, Freshness::Truncated { bits: 16 }, Freshness::CycleCounter]
        {
            if mac.needs_nonce() && !freshness.is_nonce() {
                continue;
            }
            let profile = Profile::new(mac, 128, freshness, 4).unwrap();
            let mut pair = Pair::new(profile);
            for stranger in [
                Sealer::new(profile, &key_for(mac), DATA_ID + 1).unwrap(),
                Sealer::new(profile, &other_key, DATA_ID).unwrap(),
            ] {
                let pdu = seal(&stranger, b"payload", 5);
                assert_eq!(pair.opener.open(&pdu, Some(5)), Err(DiscardReason::TagMismatch));
            }
            assert!(pair.pass(5).is_ok());
        }
    }
}

#[test]
fn rejects_a_pdu_under_another_cycle() {
    let mut pair = Pair::with(Freshness::CycleCounter, 4);
    let pdu = pair.seal(b"payload", 50);
    for cycle in [0, 49, 51, 50 + 256, 50 + (1 << 32), u64::MAX] {
        assert_eq!(pair.opener.open(&pdu, Some(cycle)), Err(DiscardReason::TagMismatch));
    }
    assert!(pair.opener.open(&pdu, Some(50)).is_ok());
}

#[test]
fn without_a_clock_the_cycle_counter_mode_opens_nothing() {
    let mut pair = Pair::with(Freshness::CycleCounter, 4);
    let pdu = pair.seal(b"payload", 50);
    assert_eq!(pair.opener.open(&pdu, Moment::Unknown), Err(DiscardReason::NotSynchronised));
    assert_eq!(pair.opener.open(&pdu[..7], Moment::Unknown), Err(DiscardReason::TooShort), "length comes first");
    assert!(pair.opener.open(&pdu, Some(50)).is_ok());
}

#[test]
fn the_tag_is_checked_before_the_replay_window() {
    let mut pair = Pair::with(Freshness::Full, 4);
    pair.pass(1000).unwrap();
    for value in [1000, 999, 1] {
        let mut pdu = pair.seal(b"payload", value);
        *pdu.last_mut().unwrap() ^= 1;
        // Without the key nobody learns whether a value is too old, was seen, or would be new.
        assert_eq!(pair.opener.open(&pdu, Moment::Unknown), Err(DiscardReason::TagMismatch));
    }
}

#[test]
fn every_reason_has_its_own_counter_and_name() {
    let mut pair = Pair::with(Freshness::Truncated { bits: 8 }, 2);
    let beyond = pair.seal(b"payload", 200);
    assert_eq!(pair.opener.open(&beyond, Moment::Unknown), Err(DiscardReason::FreshnessTooFarAhead));
    pair.pass(10).unwrap();
    let _ = (pair.pass(10), pair.pass(8), pair.pass(8), pair.opener.open(&[], Moment::Unknown));
    for _ in 0..4 {
        let _ = pair.opener.open(&[0; 30], Moment::Unknown);
    }
    let shown: Vec<_> = pair.opener.counters().iter().collect();
    assert_eq!(
        shown,
        [
            ("accepted", 1),
            ("too-short", 1),
            ("not-synchronised", 0),
            ("tag-mismatch", 4),
            ("freshness-too-far-ahead", 1),
            ("freshness-too-old", 2),
            ("replayed", 1),
        ]
    );
    assert_eq!(pair.opener.counters().discarded(DiscardReason::FreshnessTooOld), 2);
    assert_eq!(pair.opener.counters().discarded(DiscardReason::QueueFull), 0, "not a reason of an opener");
    assert_eq!(pair.opener.counters().discarded_total(), 9);
    assert_eq!(shown.len(), 1 + Counters::REASONS.len());
}
