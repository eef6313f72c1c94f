//! A payload in two pieces, and PDUs whose freshness somebody else judges.

use chronoseal_core::DiscardReason;
use chronoseal_frameauth::{Freshness, MacAlgorithm, Moment, Opener, Profile, SealError, Sealer};
use proptest::prelude::*;

use crate::pair::{DATA_ID, Pair, any_mac, key_for};

proptest! {
    #[test]
    fn a_payload_in_two_pieces_is_sealed_as_one(
        mac in any_mac(),
        front in prop::collection::vec(any::<u8>(), 0..40),
        rest in prop::collection::vec(any::<u8>(), 0..200),
        count in 0u64..1 << 40,
    ) {
        let bits = mac.tag_bits_max() / 8 * 8;
        let profile = Profile::new(mac, bits, Freshness::Full, 1).unwrap();
        let key = key_for(mac);
        let sealer = || {
            let mut sealer = Sealer::new(profile, &key, DATA_ID).unwrap();
            sealer.resume_after(count);
            sealer
        };
        let mut pdu = [&front[..], &rest].concat();
        let len = pdu.len();
        pdu.resize(len + profile.overhead(), 0);
        sealer().seal_next(&mut pdu, len, Moment::Unknown).unwrap();
        let mut trailer = vec![0; profile.overhead()];
        let mut apart = sealer();
        apart.seal_next_apart([&front, &rest], &mut trailer, Moment::Unknown).unwrap();
        prop_assert_eq!(&pdu[len..], &trailer);
        prop_assert_eq!(apart.count(), count + 1);
        // It is opened as often as it comes, and not if anything of it is altered.
        let mut opener = Opener::new(profile, &key, DATA_ID).unwrap();
        for _ in 0..2 {
            let opened = opener.open_unordered(&pdu).unwrap();
            prop_assert_eq!((opened.payload, opened.freshness), (&pdu[..len], Some(count + 1)));
        }
        for at in 0..pdu.len() {
            pdu[at] ^= 1;
            prop_assert_eq!(opener.open_unordered(&pdu), Err(DiscardReason::TagMismatch));
            pdu[at] ^= 1;
        }
        prop_assert_eq!(opener.open_unordered(&pdu[..profile.overhead() - 1]), Err(DiscardReason::TooShort));
        prop_assert_eq!(opener.counters().accepted(), 2);
    }
}

#[test]
fn what_does_not_fit_is_refused_and_uses_up_no_value() {
    let sealer = |tag_bits, freshness| {
        let profile = Profile::new(MacAlgorithm::HmacSha256, tag_bits, freshness, 1).unwrap();
        Sealer::new(profile, &key_for(MacAlgorithm::HmacSha256), DATA_ID).unwrap()
    };
    let mut whole = sealer(64, Freshness::Full);
    let refused = whole.seal_next_apart([b"a", b"b"], &mut [0; 15], Moment::Unknown);
    assert_eq!(refused, Err(SealError::BufferTooSmall { needed: 16, found: 15 }));
    assert_eq!(whole.count(), 0);
    let mut bits = sealer(65, Freshness::Full);
    assert_eq!(bits.seal_next_apart([b"a", b"b"], &mut [0; 17], Moment::Unknown), Err(SealError::NotInBytes));
}

#[test]
fn where_the_value_is_not_sent_nobody_else_can_judge_it() {
    let mut pair = Pair::with(Freshness::Truncated { bits: 16 }, 1);
    let pdu = pair.seal(b"payload", 1);
    assert_eq!(pair.opener.open_unordered(&pdu), Err(DiscardReason::NotSynchronised));
    assert!(pair.opener.open(&pdu, Moment::Unknown).is_ok());
}
