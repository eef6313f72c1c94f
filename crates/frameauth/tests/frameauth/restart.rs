//! What a receiver that starts again accepts, and the ways out.

use chronoseal_core::DiscardReason;
use chronoseal_frameauth::{Freshness, Moment};

use crate::pair::Pair;

#[test]
fn after_a_restart_a_recorded_frame_passes_until_a_genuine_one_came() {
    let mut pair = Pair::with(Freshness::Full, 8);
    let recorded: Vec<_> = (1..=3).map(|value| pair.seal(b"payload", value)).collect();
    for pdu in &recorded {
        assert!(pair.opener.open(pdu, Moment::Unknown).is_ok());
    }
    let mut restarted = Pair::with(Freshness::Full, 8);
    assert!(
        restarted.opener.open(&recorded[0], Moment::Unknown).is_ok(),
        "this is the weakness the documentation states"
    );
    restarted.pass(100).unwrap();
    assert_eq!(restarted.opener.open(&recorded[1], Moment::Unknown), Err(DiscardReason::FreshnessTooOld));
}

#[test]
fn a_stored_value_closes_the_gap() {
    let mut pair = Pair::with(Freshness::Full, 8);
    let recorded: Vec<_> = (1..=30).map(|value| pair.seal(b"payload", value)).collect();
    for pdu in &recorded {
        assert!(pair.opener.open(pdu, Moment::Unknown).is_ok());
    }
    let stored = pair.opener.highest_accepted().unwrap();
    let mut restarted = Pair::with(Freshness::Full, 8);
    restarted.opener.resume_after(stored);
    for pdu in &recorded {
        assert!(restarted.opener.open(pdu, Moment::Unknown).is_err());
    }
    assert_eq!(restarted.pass(31), Ok(Some(31)));
}

#[test]
fn the_cycle_counter_closes_the_gap_too() {
    let mut pair = Pair::with(Freshness::CycleCounter, 8);
    let recorded = pair.seal(b"payload", 10);
    for cycle in (11..200).chain([266, 10 + (1 << 32)]) {
        assert_eq!(pair.opener.open(&recorded, Some(cycle)), Err(DiscardReason::TagMismatch));
    }
}

#[test]
fn a_late_joiner_finds_a_truncated_count_by_its_own_clock() {
    let mut pair = Pair::with(Freshness::Truncated { bits: 8 }, 8);
    let pdu = pair.seal(b"payload", 100_000);
    assert_eq!(pair.opener.open(&pdu, Moment::Unknown), Err(DiscardReason::TagMismatch), "from 0 it is out of reach");
    let opened = pair.opener.open(&pdu, Some(99_990)).unwrap();
    assert_eq!(opened.freshness, Some(100_000));
    let next = pair.seal(b"payload", 100_001);
    assert!(pair.opener.open(&next, Some(5)).is_ok(), "once in step, the clock is not asked any more");
}
