//! The bits of a secured PDU, against a plain way of writing them down: as a text of zeros and ones.

use chronoseal_core::DiscardReason;
use chronoseal_crypto::symmetric::{BlockMac, CmacAes128, Key128};
use chronoseal_frameauth::{
    SealError,
    secoc::{
        FreshnessFormat, Protection, Receiver, SecOcProfile, SecOcProfileError, Transmitter, TripReset, TripResetLayout,
    },
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
        (1u8..=8).prop_map(|len| FreshnessFormat::Counter { len }),
        Just(FreshnessFormat::JASPAR),
        trip_reset,
    ]
}

pub(crate) fn any_profile() -> impl Strategy<Value = SecOcProfile> {
    (any_format(), 0u8..=32, 24u8..=64)
        .prop_filter_map("bits that can be sent", |(format, sent, tag)| SecOcProfile::new(format, sent, tag).ok())
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

fn secured(profile: SecOcProfile, payload: &[u8], freshness: u64) -> Vec<u8> {
    let mut pdu = payload.to_vec();
    pdu.resize(payload.len() + profile.overhead(), 0xcc);
    assert_eq!(Protection::new(profile, &key(), DATA_ID).secure(&mut pdu, payload.len(), freshness), Ok(pdu.len()));
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
            FreshnessFormat::None => (0, String::new()),
            FreshnessFormat::Counter { len } => {
                let bits = 8 * usize::from(len);
                let count = u64::try_from(u128::from(count) % (1 << bits)).unwrap();
                (count, text(count.into(), bits))
            }
            FreshnessFormat::TripReset(layout) => {
                let epoch = TripReset { trip, reset };
                let complete = text(trip.into(), layout.trip_bits.into())
                    + &text(reset.into(), layout.reset_bits.into())
                    + &text(count.into(), layout.message_bits.into())
                    + &text(u128::from(reset % 4), 2);
                (layout.value(epoch, count), complete)
            }
        };
        let covered = [&DATA_ID.to_be_bytes()[..], &payload, &packed(&complete)].concat();
        prop_assert_eq!(packed(&complete).len(), profile.freshness().complete_len());
        prop_assert_eq!(Protection::new(profile, &key(), DATA_ID).work(payload.len()).len as usize, covered.len());
        let tag = text(u128::from_be_bytes(CmacAes128::new(&key()).tag(&[&covered])), 128);
        let sent = &complete[complete.len() - usize::from(profile.sent_bits())..];
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
        let profile = SecOcProfile::new(profile.freshness(), profile.sent_bits(), 57 + profile.tag_bits() % 8).unwrap();
        prop_assume!(!matches!(profile.freshness(), FreshnessFormat::TripReset(layout) if !holds(layout)));
        let mut transmitter = Transmitter::new(profile, &key(), DATA_ID);
        let mut pdu = payload.clone();
        pdu.resize(payload.len() + profile.overhead(), 0);
        transmitter.seal(&mut pdu, payload.len(), Some(EPOCH)).unwrap();
        let genuine = pdu.clone();
        for bit in 0..8 * pdu.len() {
            pdu.copy_from_slice(&genuine);
            pdu[bit / 8] ^= 0x80 >> (bit % 8);
            let mut receiver = Receiver::new(profile, &key(), DATA_ID).with_attempts(2);
            prop_assert!(receiver.open(&pdu, Some(EPOCH)).is_err(), "bit {}", bit);
            prop_assert!(receiver.open(&genuine, Some(EPOCH)).is_ok(), "the refused one changed nothing");
        }
        for len in 0..genuine.len() {
            prop_assert!(Receiver::new(profile, &key(), DATA_ID).open(&genuine[..len], Some(EPOCH)).is_err());
        }
        let mut other = Receiver::new(profile, &key(), DATA_ID ^ 1);
        prop_assert_eq!(other.open(&genuine, Some(EPOCH)), Err(DiscardReason::TagMismatch), "another data identifier");
    }

    #[test]
    fn any_bytes_are_opened_or_refused(
        profile in any_profile(),
        pdus in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..20),
        epoch in prop::option::of((any::<u32>(), any::<u32>()).prop_map(|(trip, reset)| TripReset { trip, reset })),
    ) {
        let mut receiver = Receiver::new(profile, &key(), DATA_ID).with_attempts(3);
        for pdu in &pdus {
            let _ = receiver.open(pdu, epoch);
        }
        let counters = receiver.counters();
        prop_assert_eq!(counters.accepted() + counters.discarded_total(), pdus.len() as u64);
    }
}

#[test]
fn the_three_profiles_have_autosar_s_bits_and_names() {
    let one = SecOcProfile::profile_1(FreshnessFormat::Counter { len: 4 }).unwrap();
    let trips = SecOcProfile::profile_1(FreshnessFormat::JASPAR).unwrap();
    for (profile, name, sent, tag, overhead, complete_len) in [
        (one, "24Bit-CMAC-8Bit-FV", 8, 24, 4, 4),
        (trips, "24Bit-CMAC-8Bit-FV", 8, 24, 4, 8),
        (SecOcProfile::profile_2(), "24Bit-CMAC-No-FV", 0, 24, 3, 0),
        (SecOcProfile::profile_3(), "JASPAR", 4, 28, 4, 8),
    ] {
        assert_eq!((profile.name(), profile.sent_bits(), profile.tag_bits()), (name, sent, tag));
        assert_eq!((profile.overhead(), profile.freshness().complete_len()), (overhead, complete_len));
        assert_eq!(profile.is_replayable(), name == "24Bit-CMAC-No-FV");
        let rebuilt = SecOcProfile::new(profile.freshness(), sent, tag);
        assert_eq!(rebuilt, Ok(profile), "made by the same rules as any other");
    }
}

#[test]
fn refuses_impossible_profiles_on_both_sides_of_each_limit() {
    let counter = FreshnessFormat::Counter { len: 4 };
    for (format, sent, tag, error) in [
        (FreshnessFormat::Counter { len: 0 }, 0, 24, SecOcProfileError::CounterLen { found: 0 }),
        (FreshnessFormat::Counter { len: 9 }, 8, 24, SecOcProfileError::CounterLen { found: 9 }),
        (FreshnessFormat::None, 1, 24, SecOcProfileError::SentBits { found: 1, least: 0, most: 0 }),
        (counter, 33, 24, SecOcProfileError::SentBits { found: 33, least: 0, most: 32 }),
        (FreshnessFormat::Counter { len: 1 }, 9, 24, SecOcProfileError::SentBits { found: 9, least: 0, most: 8 }),
        (FreshnessFormat::JASPAR, 1, 28, SecOcProfileError::SentBits { found: 1, least: 2, most: 28 }),
        (FreshnessFormat::JASPAR, 29, 28, SecOcProfileError::SentBits { found: 29, least: 2, most: 28 }),
        (counter, 8, 23, SecOcProfileError::TagBits { found: 23 }),
        (counter, 8, 65, SecOcProfileError::TagBits { found: 65 }),
    ] {
        assert_eq!(SecOcProfile::new(format, sent, tag), Err(error));
    }
    for (format, sent, tag) in [
        (counter, 0, 24),
        (counter, 32, 64),
        (FreshnessFormat::Counter { len: 8 }, 32, 24),
        (FreshnessFormat::JASPAR, 2, 28),
        (FreshnessFormat::JASPAR, 28, 28),
    ] {
        assert!(SecOcProfile::new(format, sent, tag).is_ok());
    }
    for (trip_bits, reset_bits, message_bits) in
        [(0, 20, 26), (25, 20, 17), (16, 1, 26), (16, 25, 21), (16, 20, 0), (2, 2, 49), (24, 24, 15)]
    {
        let layout = TripResetLayout { trip_bits, reset_bits, message_bits };
        let error = SecOcProfileError::CounterBits { trip_bits, reset_bits, message_bits };
        assert_eq!(SecOcProfile::new(FreshnessFormat::TripReset(layout), 4, 28), Err(error));
    }
    let widest = TripResetLayout { trip_bits: 24, reset_bits: 24, message_bits: 14 };
    assert!(SecOcProfile::new(FreshnessFormat::TripReset(widest), 4, 28).is_ok());
    assert!(SecOcProfile::profile_1(FreshnessFormat::None).is_err());
}

#[test]
fn refuses_bits_set_behind_the_tag() {
    let profile = SecOcProfile::new(FreshnessFormat::Counter { len: 4 }, 8, 29).unwrap();
    let mut pdu = secured(profile, b"payload", 1);
    for bit in [1, 2, 4] {
        let mut receiver = Receiver::new(profile, &key(), DATA_ID);
        pdu[7 + 4] ^= bit;
        assert_eq!(receiver.open(&pdu, None), Err(DiscardReason::TooShort));
        pdu[7 + 4] ^= bit;
        assert!(receiver.open(&pdu, None).is_ok());
    }
}

#[test]
fn refuses_a_buffer_one_byte_too_small_and_leaves_it_and_the_count_alone() {
    for profile in [SecOcProfile::profile_2(), SecOcProfile::profile_3()] {
        let mut transmitter = Transmitter::new(profile, &key(), DATA_ID);
        for (buffer_len, payload_len) in [(profile.overhead() - 1, 0), (profile.overhead() + 7, 8), (0, usize::MAX)] {
            let mut buffer = vec![0xee; buffer_len];
            let needed = payload_len.saturating_add(profile.overhead());
            let refused = transmitter.seal(&mut buffer, payload_len, Some(EPOCH));
            assert_eq!(refused, Err(SealError::BufferTooSmall { needed, found: buffer_len }));
            assert!(buffer.iter().all(|byte| *byte == 0xee));
            assert_eq!(transmitter.count(), 0);
        }
        let mut buffer = [0xee; 16];
        assert_eq!(transmitter.seal(&mut buffer, 8, Some(EPOCH)), Ok(8 + profile.overhead()));
        assert!(buffer[..8].iter().chain(&buffer[8 + profile.overhead()..]).all(|byte| *byte == 0xee));
    }
}

#[test]
fn both_sides_show_no_key() {
    let profile = SecOcProfile::profile_3();
    let sides = [
        format!("{:?}", Transmitter::new(profile, &key(), DATA_ID)),
        format!("{:?}", Receiver::new(profile, &key(), DATA_ID)),
    ];
    for shown in sides {
        assert!(shown.contains("hidden") && !shown.contains("165, 164"), "{shown}");
    }
}
