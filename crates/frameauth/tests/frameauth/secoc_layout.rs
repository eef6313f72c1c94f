//! The bits of a secured PDU, against a plain way of writing them down: as a text of zeros and ones.

use chronoseal_core::DiscardReason;
use chronoseal_crypto::symmetric::{BlockMac, CmacAes128, Key128};
use chronoseal_frameauth::{
    Freshness, Moment, Opener, Profile, ProfileError, SealError, Sealer, TripReset, TripResetLayout,
    secoc::{self, FreshnessFormat, SecOcProfileError},
};
use proptest::prelude::*;

pub(crate) fn key() -> Key128 {
    Key128::from_array(core::array::from_fn(|i| i as u8 ^ 0xa5))
}

pub(crate) const DATA_ID: u16 = 0x0fcb;
pub(crate) const EPOCH: TripReset = TripReset { trip: 9, reset: 5 };

pub(crate) fn any_format() -> impl Strategy<Value = FreshnessFormat> {
    let trip_reset = (1u8..=24, 2u8..=24, 1u8..=48)
        .prop_filter("64 bits at most", |(trip, reset, message)| trip + reset + message <= 62)
        .prop_map(|(trip_bits, reset_bits, message_bits)| {
            FreshnessFormat::TripReset(TripResetLayout { trip_bits, reset_bits, message_bits })
        });
    prop_oneof![
        Just(FreshnessFormat::None),
        (1u8..=64).prop_map(|bits| FreshnessFormat::Counter { bits }),
        Just(FreshnessFormat::TripReset(secoc::JASPAR)),
        trip_reset,
    ]
}

pub(crate) fn any_profile() -> impl Strategy<Value = Profile> {
    (any_format(), 0u8..=63, 1u16..=64)
        .prop_filter_map("bits that can be sent", |(format, sent, tag)| secoc::profile(format, sent, tag).ok())
}

/// `bits` bits of a number, highest first.
fn text(number: u128, bits: usize) -> String {
    (0..bits).rev().map(|bit| if number >> bit & 1 == 1 { '1' } else { '0' }).collect()
}

/// The bytes written as zeros and ones, zeros added up to a whole one.
fn packed(bits: &str) -> Vec<u8> {
    let padded = format!("{bits:0<width$}", width = bits.len().next_multiple_of(8));
    (0..padded.len()).step_by(8).map(|i| u8::from_str_radix(&padded[i..i + 8], 2).unwrap()).collect()
}

pub(crate) fn sealer(profile: Profile) -> Sealer {
    Sealer::new(profile, &key(), DATA_ID).unwrap()
}

pub(crate) fn opener(profile: Profile) -> Opener {
    Opener::new(profile, &key(), DATA_ID).unwrap()
}

fn secured(profile: Profile, payload: &[u8], freshness: u64) -> Vec<u8> {
    let mut pdu = payload.to_vec();
    pdu.resize(payload.len() + profile.overhead(), 0xcc);
    assert_eq!(sealer(profile).seal(&mut pdu, payload.len(), freshness), Ok(pdu.len()));
    pdu
}

proptest! {
    #[test]
    fn bits_are_where_the_layout_says(
        profile in any_profile(),
        payload in prop::collection::vec(any::<u8>(), 0..64),
        (trip, reset, count) in (any::<u32>(), any::<u32>(), any::<u64>()),
    ) {
        let (value, complete) = match profile.freshness() {
            Freshness::None => (0, String::new()),
            Freshness::Rising { bits, .. } => {
                let count = u64::try_from(u128::from(count) % (1 << bits)).unwrap();
                (count, text(count.into(), bits.into()))
            }
            Freshness::TripReset { layout, .. } => {
                let epoch = TripReset { trip, reset };
                let complete = text(trip.into(), layout.trip_bits.into())
                    + &text(reset.into(), layout.reset_bits.into())
                    + &text(count.into(), layout.message_bits.into())
                    + &text(u128::from(reset % 4), 2);
                (layout.value(epoch, count), complete)
            }
            other => panic!("SecOC has no {other}"),
        };
        let covered = [&DATA_ID.to_be_bytes()[..], &payload, &packed(&complete)].concat();
        prop_assert_eq!(packed(&complete).len(), profile.freshness().complete_len());
        prop_assert_eq!(sealer(profile).work(payload.len()).len as usize, covered.len());
        let tag = text(u128::from_be_bytes(CmacAes128::new(&key()).tag(&[&covered])), 128);
        let sent = &complete[complete.len() - usize::from(profile.freshness().sent_bits())..];
        let trailer = packed(&format!("{sent}{}", &tag[..usize::from(profile.tag_bits())]));
        prop_assert_eq!(trailer.len(), profile.overhead());
        prop_assert_eq!(secured(profile, &payload, value), [payload, trailer].concat());
    }

    #[test]
    fn refuses_a_pdu_with_any_bit_changed(
        profile in any_profile(),
        payload in prop::collection::vec(any::<u8>(), 0..12),
    ) {
        let holds = |layout: TripResetLayout| layout.holds(EPOCH);
        // With so many tries a short tag would now and then be found by chance.
        let profile = Profile::new(profile.mac(), 57 + profile.tag_bits() % 8, profile.freshness(), 1).unwrap();
        prop_assume!(!matches!(profile.freshness(), Freshness::TripReset { layout, .. } if !holds(layout)));
        let mut transmitter = sealer(profile);
        let mut pdu = payload.clone();
        pdu.resize(payload.len() + profile.overhead(), 0);
        transmitter.seal_next(&mut pdu, payload.len(), Some(EPOCH)).unwrap();
        let genuine = pdu.clone();
        for bit in 0..8 * pdu.len() {
            pdu.copy_from_slice(&genuine);
            pdu[bit / 8] ^= 0x80 >> (bit % 8);
            let mut receiver = opener(profile).with_attempts(2);
            prop_assert!(receiver.open(&pdu, Some(EPOCH)).is_err(), "bit {}", bit);
            prop_assert!(receiver.open(&genuine, Some(EPOCH)).is_ok(), "the refused one changed nothing");
        }
        for len in 0..genuine.len() {
            prop_assert!(opener(profile).open(&genuine[..len], Some(EPOCH)).is_err());
        }
        let mut other = Opener::new(profile, &key(), DATA_ID ^ 1).unwrap();
        prop_assert_eq!(other.open(&genuine, Some(EPOCH)), Err(DiscardReason::TagMismatch), "another data identifier");
    }

    #[test]
    fn any_bytes_are_opened_or_refused(
        profile in any_profile(),
        pdus in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..20),
        epoch in prop::option::of((any::<u32>(), any::<u32>()).prop_map(|(trip, reset)| TripReset { trip, reset })),
    ) {
        let mut receiver = opener(profile).with_attempts(3);
        for pdu in &pdus {
            let _ = receiver.open(pdu, epoch);
        }
        let counters = receiver.counters();
        prop_assert_eq!(counters.accepted() + counters.discarded_total(), pdus.len() as u64);
    }
}

#[test]
fn the_three_profiles_have_autosar_s_bits_and_names() {
    let one = secoc::profile_1(FreshnessFormat::Counter { bits: 32 }).unwrap();
    let trips = secoc::profile_1(FreshnessFormat::TripReset(secoc::JASPAR)).unwrap();
    for (format, profile, name, sent, tag, overhead, complete_len) in [
        (FreshnessFormat::Counter { bits: 32 }, one, "24Bit-CMAC-8Bit-FV", 8, 24, 4, 4),
        (FreshnessFormat::TripReset(secoc::JASPAR), trips, "24Bit-CMAC-8Bit-FV", 8, 24, 4, 8),
        (FreshnessFormat::None, secoc::profile_2(), "24Bit-CMAC-No-FV", 0, 24, 3, 0),
        (FreshnessFormat::TripReset(secoc::JASPAR), secoc::profile_3(), "JASPAR", 4, 28, 4, 8),
    ] {
        assert_eq!((secoc::name(&profile), profile.freshness().sent_bits(), profile.tag_bits()), (name, sent, tag));
        assert_eq!((profile.overhead(), profile.freshness().complete_len()), (overhead, complete_len));
        assert_eq!(profile.is_replayable(), name == "24Bit-CMAC-No-FV");
        let rebuilt = secoc::profile(format, sent, tag);
        assert_eq!(rebuilt, Ok(profile), "made by the same rules as any other");
    }
}

#[test]
fn refuses_impossible_profiles_on_both_sides_of_each_limit() {
    let (counter, jaspar) = (FreshnessFormat::Counter { bits: 32 }, FreshnessFormat::TripReset(secoc::JASPAR));
    for (format, sent, tag, error) in [
        (
            FreshnessFormat::Counter { bits: 0 },
            0,
            24,
            SecOcProfileError::Profile(ProfileError::CounterWidth { found: 0 }),
        ),
        (
            FreshnessFormat::Counter { bits: 72 },
            8,
            24,
            SecOcProfileError::Profile(ProfileError::CounterWidth { found: 72 }),
        ),
        (
            FreshnessFormat::None,
            1,
            24,
            SecOcProfileError::Profile(ProfileError::SentBits { found: 1, least: 0, most: 0 }),
        ),
        (counter, 33, 24, SecOcProfileError::Profile(ProfileError::SentBits { found: 33, least: 0, most: 32 })),
        (
            FreshnessFormat::Counter { bits: 8 },
            9,
            24,
            SecOcProfileError::Profile(ProfileError::SentBits { found: 9, least: 0, most: 8 }),
        ),
        (jaspar, 1, 28, SecOcProfileError::Profile(ProfileError::SentBits { found: 1, least: 2, most: 28 })),
        (jaspar, 29, 28, SecOcProfileError::Profile(ProfileError::SentBits { found: 29, least: 2, most: 28 })),
        (counter, 8, 0, SecOcProfileError::TagBits { found: 0 }),
        (counter, 8, 65, SecOcProfileError::TagBits { found: 65 }),
    ] {
        assert_eq!(secoc::profile(format, sent, tag), Err(error));
    }
    for (format, sent, tag) in [
        (counter, 0, 24),
        (counter, 32, 64),
        (FreshnessFormat::Counter { bits: 64 }, 63, 24),
        (FreshnessFormat::Counter { bits: 12 }, 6, 10),
        (FreshnessFormat::Counter { bits: 1 }, 1, 1),
        (jaspar, 2, 28),
        (jaspar, 28, 28),
    ] {
        assert!(secoc::profile(format, sent, tag).is_ok());
    }
    for (trip_bits, reset_bits, message_bits) in
        [(0, 20, 26), (25, 20, 17), (16, 1, 26), (16, 25, 21), (16, 20, 0), (2, 2, 49), (24, 24, 15)]
    {
        let layout = TripResetLayout { trip_bits, reset_bits, message_bits };
        let error = SecOcProfileError::Profile(ProfileError::CounterBits { trip_bits, reset_bits, message_bits });
        assert_eq!(secoc::profile(FreshnessFormat::TripReset(layout), 4, 28), Err(error));
    }
    let widest = TripResetLayout { trip_bits: 24, reset_bits: 24, message_bits: 14 };
    assert!(secoc::profile(FreshnessFormat::TripReset(widest), 4, 28).is_ok());
    assert!(secoc::profile_1(FreshnessFormat::None).is_err());
}

#[test]
fn refuses_bits_set_behind_the_tag() {
    let profile = secoc::profile(FreshnessFormat::Counter { bits: 32 }, 8, 29).unwrap();
    let mut pdu = secured(profile, b"payload", 1);
    for bit in [1, 2, 4] {
        let mut receiver = opener(profile);
        pdu[7 + 4] ^= bit;
        assert_eq!(receiver.open(&pdu, Moment::Unknown), Err(DiscardReason::TooShort));
        pdu[7 + 4] ^= bit;
        assert!(receiver.open(&pdu, Moment::Unknown).is_ok());
    }
}

#[test]
fn refuses_a_buffer_one_byte_too_small_and_leaves_it_and_the_count_alone() {
    for profile in [secoc::profile_2(), secoc::profile_3()] {
        let mut transmitter = sealer(profile);
        for (buffer_len, payload_len) in [(profile.overhead() - 1, 0), (profile.overhead() + 7, 8), (0, usize::MAX)] {
            let mut buffer = vec![0xee; buffer_len];
            let needed = payload_len.saturating_add(profile.overhead());
            let refused = transmitter.seal_next(&mut buffer, payload_len, Some(EPOCH));
            assert_eq!(refused, Err(SealError::BufferTooSmall { needed, found: buffer_len }));
            assert!(buffer.iter().all(|byte| *byte == 0xee));
            assert_eq!(transmitter.count(), 0);
        }
        let mut buffer = [0xee; 16];
        assert_eq!(transmitter.seal_next(&mut buffer, 8, Some(EPOCH)), Ok(8 + profile.overhead()));
        assert!(buffer[..8].iter().chain(&buffer[8 + profile.overhead()..]).all(|byte| *byte == 0xee));
    }
}

#[test]
fn both_sides_show_no_key() {
    let profile = secoc::profile_3();
    let sides = [format!("{:?}", sealer(profile)), format!("{:?}", opener(profile))];
    for shown in sides {
        assert!(shown.contains("hidden") && !shown.contains("165, 164"), "{shown}");
    }
}
