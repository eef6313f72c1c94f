//! Every algorithm with every freshness and every kind of tag length: what is sealed opens once, and nothing else does.

use chronoseal_core::DiscardReason;
use chronoseal_frameauth::{Freshness, MacAlgorithm, Moment, Opener, Profile, Sealer, TripReset, secoc};

use crate::pair::{DATA_ID, key_for};

const EPOCH: TripReset = TripReset { trip: 9, reset: 5 };
const PAYLOAD: &[u8] = b"payload";

/// Every kind of freshness, with parts that fill whole bytes and parts that do not.
const EVERY_FRESHNESS: [Freshness; 14] = [
    Freshness::None,
    Freshness::Full,
    Freshness::Truncated { bits: 1 },
    Freshness::Truncated { bits: 16 },
    Freshness::Truncated { bits: 63 },
    Freshness::CycleCounter,
    Freshness::Rising { bits: 8, sent_bits: 8 },
    Freshness::Rising { bits: 32, sent_bits: 0 },
    Freshness::Rising { bits: 64, sent_bits: 32 },
    Freshness::Rising { bits: 12, sent_bits: 6 },
    Freshness::Rising { bits: 64, sent_bits: 63 },
    Freshness::TripReset { layout: secoc::JASPAR, sent_bits: 2 },
    Freshness::TripReset { layout: secoc::JASPAR, sent_bits: 4 },
    Freshness::TripReset { layout: secoc::JASPAR, sent_bits: 28 },
];

/// What both ends know of now, for their `count`th PDU.
fn moment(freshness: Freshness, count: u64) -> Moment {
    match freshness {
        // With one bit of a count a receiver that knows nothing does not even find the first value, which is 1.
        Freshness::CycleCounter | Freshness::Truncated { bits: 1 } => Moment::Count(count),
        Freshness::TripReset { .. } => Moment::Epoch(EPOCH),
        _ => Moment::Unknown,
    }
}

/// All profiles there are with `tag_bits`, or those with the nearest lengths that an algorithm gives.
fn profiles() -> Vec<Profile> {
    let mut profiles = Vec::new();
    for mac in MacAlgorithm::ALL {
        let (least, most) = (mac.tag_bits_min(), mac.tag_bits_max());
        // With tags of fewer bits a changed one would now and then pass by chance.
        let mut lens = [64, 65, 71, 100, most - 1, most].map(|bits| bits.clamp(least.max(64), most)).to_vec();
        lens.retain(|bits| mac.takes_tag_bits(*bits));
        lens.dedup();
        for tag_bits in lens {
            profiles.extend(EVERY_FRESHNESS.iter().filter_map(|freshness| {
                let made = Profile::new(mac, tag_bits, *freshness, 4);
                assert_eq!(made.is_err(), mac.needs_nonce() && !freshness.is_nonce(), "{made:?}");
                made.ok()
            }));
        }
    }
    profiles
}

struct Ends {
    sealer: Sealer,
    opener: Opener,
}

impl Ends {
    fn new(profile: Profile) -> Self {
        let key = key_for(profile.mac());
        Self {
            sealer: Sealer::new(profile, &key, DATA_ID).unwrap(),
            opener: Opener::new(profile, &key, DATA_ID).unwrap(),
        }
    }

    /// The `count`th PDU.
    fn seal(&mut self, count: u64) -> Vec<u8> {
        let profile = *self.sealer.profile();
        let mut pdu = PAYLOAD.to_vec();
        pdu.resize(profile.secured_len(PAYLOAD.len()), 0xcc);
        let len = self.sealer.seal_next(&mut pdu, PAYLOAD.len(), moment(profile.freshness(), count));
        assert_eq!(len, Ok(pdu.len()), "{profile}");
        pdu
    }

    fn open(&mut self, pdu: &[u8], count: u64) -> Result<(), DiscardReason> {
        let now = moment(self.opener.profile().freshness(), count);
        self.opener.open(pdu, now).map(|opened| assert_eq!(opened.payload, PAYLOAD))
    }
}

#[test]
fn what_is_sealed_opens_with_the_value_it_was_sealed_with() {
    for profile in profiles() {
        let mut ends = Ends::new(profile);
        for count in 1..=20 {
            let pdu = ends.seal(count);
            let opened = ends.opener.open(&pdu, moment(profile.freshness(), count)).unwrap();
            let value = match profile.freshness() {
                Freshness::None => None,
                Freshness::TripReset { layout, .. } => Some(layout.value(EPOCH, count)),
                _ => Some(count),
            };
            assert_eq!((opened.payload, opened.freshness), (PAYLOAD, value), "{profile}");
            assert_eq!(ends.opener.tags_computed(), 1, "{profile}");
        }
    }
}

#[test]
fn any_changed_bit_is_refused_and_changes_nothing() {
    for profile in profiles() {
        let mut ends = Ends::new(profile);
        let mut pdu = ends.seal(1);
        for bit in 0..8 * pdu.len() {
            pdu[bit / 8] ^= 0x80 >> (bit % 8);
            assert!(ends.open(&pdu, 1).is_err(), "{profile}: bit {bit}");
            pdu[bit / 8] ^= 0x80 >> (bit % 8);
        }
        assert_eq!(ends.opener.highest_accepted(), None, "{profile}");
        assert_eq!(ends.open(&pdu, 1), Ok(()), "{profile}");
    }
}

#[test]
fn a_replay_is_refused_wherever_there_is_freshness() {
    for profile in profiles() {
        let mut ends = Ends::new(profile);
        let recorded: Vec<_> = (1..=12).map(|count| ends.seal(count)).collect();
        for (count, pdu) in (1..).zip(&recorded) {
            assert_eq!(ends.open(pdu, count), Ok(()), "{profile}");
            let again = ends.open(pdu, count);
            assert_eq!(again.is_ok(), profile.is_replayable(), "{profile}");
            for earlier in &recorded[..count as usize] {
                assert_eq!(ends.open(earlier, count).is_ok(), profile.is_replayable(), "{profile}");
            }
        }
    }
}

#[test]
fn a_forgery_with_a_higher_count_moves_nothing() {
    for profile in profiles() {
        let freshness = profile.freshness();
        let (mut ends, mut quiet) = (Ends::new(profile), Ends::new(profile));
        let other_key = chronoseal_frameauth::SymmetricKey::from_slice(&vec![1; key_for(profile.mac()).expose().len()]);
        let mut stranger = Sealer::new(profile, &other_key.unwrap(), DATA_ID).unwrap();
        for count in 1..=6 {
            let pdu = ends.seal(count);
            assert_eq!(quiet.seal(count), pdu);
            // Counts just ahead, at the edge of the window, far ahead, and the highest there are.
            for ahead in [1, 3, 4, 64, 200, 1 << 20, u64::MAX - count] {
                let forged_count = count.saturating_add(ahead);
                let mut forged = PAYLOAD.to_vec();
                forged.resize(profile.secured_len(PAYLOAD.len()), 0);
                let value = match freshness {
                    Freshness::TripReset { layout, .. } => layout.value(EPOCH, forged_count),
                    _ => forged_count,
                };
                stranger.seal(&mut forged, PAYLOAD.len(), value).unwrap();
                let before = ends.opener.highest_accepted();
                // A receiver told of a later cycle, or of a later reset, is as little misled.
                let later = TripReset { reset: EPOCH.reset + 2, ..EPOCH };
                for now in [moment(freshness, count), Moment::Count(forged_count), Moment::Epoch(later)] {
                    assert!(ends.opener.open(&forged, now).is_err(), "{profile}");
                    assert_eq!(ends.opener.highest_accepted(), before, "{profile}");
                }
            }
            assert_eq!(ends.open(&pdu, count), quiet.open(&pdu, count), "{profile}: the genuine one passes as ever");
            assert_eq!(ends.opener.highest_accepted(), quiet.opener.highest_accepted());
            assert_eq!(ends.opener.highest_accepted().is_some(), !profile.is_replayable(), "{profile}");
        }
        stranger.resume_after(5);
        assert_eq!(stranger.count(), 5);
    }
}

#[test]
fn a_sender_uses_no_cycle_twice_and_goes_to_no_earlier_one() {
    let profile = Profile::new(MacAlgorithm::HmacSha256, 64, Freshness::CycleCounter, 4).unwrap();
    let mut ends = Ends::new(profile);
    let not_synchronised = Err(chronoseal_frameauth::SealError::NotSynchronised);
    assert_eq!(ends.sealer.seal_next(&mut [0; 8], 0, Moment::Unknown), not_synchronised);
    assert_eq!(ends.sealer.seal_next(&mut [0; 8], 0, Moment::Count(0)), Ok(8));
    for count in [7, 8] {
        assert_eq!(ends.sealer.seal_next(&mut [0; 8], 0, Moment::Count(count)), Ok(8));
        for used in [0, count - 1, count] {
            assert_eq!(ends.sealer.seal_next(&mut [0; 8], 0, Moment::Count(used)), not_synchronised);
        }
    }
}

#[test]
fn a_key_of_another_length_makes_neither_end() {
    let long = chronoseal_frameauth::KeyBytes::from_array([7; 64]);
    let made = Sealer::new(secoc::profile_2(), &long, DATA_ID);
    let error = made.map(|_| ()).unwrap_err();
    assert_eq!((error.found, error.algorithm), (64, MacAlgorithm::CmacAes128));
    assert_eq!(Opener::new(secoc::profile_2(), &long, DATA_ID).map(|_| ()), Err(error));
}
