//! Which bytes are sent, and which the tag covers.

use chronoseal_crypto::MacKey;
use chronoseal_frameauth::{Freshness, HashAlgorithm, KeyBytes, Opener, Profile, SealError, Sealer};
use proptest::prelude::*;

use crate::pair::{DATA_ID, Pair, any_profile_in_bits, key, key_for, seal};

#[test]
fn known_answers_of_every_mode_and_hash() {
    // Made with Python's hmac and hashlib from the layout in the crate's documentation: key 00..3f, data identifier
    // 100, payload 01 02 03 04, freshness value 0x0102030405060708, tag of 8 bytes.
    let key = KeyBytes::from_array(core::array::from_fn(|i| i as u8));
    for (hash, freshness, trailer) in [
        (HashAlgorithm::Sha1, Freshness::None, "9f98e30224dc08d8"),
        (HashAlgorithm::Sha1, Freshness::Full, "0102030405060708660c9da35e85d477"),
        (HashAlgorithm::Sha1, Freshness::Truncated { bits: 16 }, "0708660c9da35e85d477"),
        (HashAlgorithm::Sha1, Freshness::CycleCounter, "660c9da35e85d477"),
        (HashAlgorithm::Sha256, Freshness::None, "23652d2ee2fc187d"),
        (HashAlgorithm::Sha256, Freshness::Full, "0102030405060708e05f166cd5553171"),
        (HashAlgorithm::Sha256, Freshness::Truncated { bits: 16 }, "0708e05f166cd5553171"),
        (HashAlgorithm::Sha256, Freshness::CycleCounter, "e05f166cd5553171"),
        (HashAlgorithm::Sha3_256, Freshness::None, "16c3c83669ed87e8"),
        (HashAlgorithm::Sha3_256, Freshness::Full, "010203040506070857c06f75ec7d1690"),
        (HashAlgorithm::Sha3_256, Freshness::Truncated { bits: 16 }, "070857c06f75ec7d1690"),
        (HashAlgorithm::Sha3_256, Freshness::CycleCounter, "57c06f75ec7d1690"),
    ] {
        let sealer = Sealer::new(Profile::new(hash.mac(), 64, freshness, 1).unwrap(), &key, 100).unwrap();
        let pdu = seal(&sealer, &[1, 2, 3, 4], 0x0102_0304_0506_0708);
        let shown: String = pdu[4..].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(shown, trailer, "{hash} {freshness}");
    }
}

#[test]
fn leaves_the_payload_and_what_lies_behind_the_pdu_alone() {
    let pair = Pair::with(Freshness::Truncated { bits: 24 }, 1);
    let mut buffer = [0xee; 40];
    let len = pair.sealer.seal(&mut buffer, 10, 7).unwrap();
    assert_eq!(len, 10 + 3 + 8);
    assert!(buffer[..10].iter().chain(&buffer[len..]).all(|byte| *byte == 0xee));
    assert_eq!(buffer[10..13], [0, 0, 7]);
}

#[test]
fn refuses_a_buffer_one_byte_too_small_and_leaves_it_alone() {
    let pair = Pair::with(Freshness::Full, 1);
    for (buffer_len, payload_len) in [(15, 0), (35, 20), (0, 0), (8, usize::MAX)] {
        let mut buffer = vec![0xee; buffer_len];
        let refused = pair.sealer.seal(&mut buffer, payload_len, 7);
        let needed = payload_len.saturating_add(16);
        assert_eq!(refused, Err(SealError::BufferTooSmall { needed, found: buffer_len }));
        assert!(buffer.iter().all(|byte| *byte == 0xee));
    }
    assert_eq!(pair.sealer.seal(&mut [0; 36], 20, 7), Ok(36));
}

#[test]
fn an_empty_payload_is_a_payload() {
    for freshness in [Freshness::None, Freshness::Full, Freshness::Truncated { bits: 8 }, Freshness::CycleCounter] {
        let mut pair = Pair::with(freshness, 1);
        let pdu = pair.seal(&[], 3);
        assert_eq!(pair.opener.open(&pdu, Some(3)).unwrap().payload, b"");
    }
}

/// Bytes as zeros and ones, highest bit first.
fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:08b}")).collect()
}

/// Zeros and ones as bytes, zeros added up to a whole one.
fn packed(bits: &str) -> Vec<u8> {
    let padded = format!("{bits:0<width$}", width = bits.len().next_multiple_of(8));
    (0..padded.len()).step_by(8).map(|i| u8::from_str_radix(&padded[i..i + 8], 2).unwrap()).collect()
}

proptest! {
    #[test]
    fn opens_what_was_sealed(
        profile in any_profile_in_bits(24),
        payload in prop::collection::vec(any::<u8>(), 0..1500),
        value in any::<u64>(),
    ) {
        let mut pair = Pair::new(profile);
        let pdu = pair.seal(&payload, value);
        prop_assert_eq!(pdu.len(), payload.len() + profile.overhead());
        let opened = pair.opener.open(&pdu, Some(value)).unwrap();
        prop_assert_eq!(opened.payload, &payload);
        prop_assert_eq!(opened.freshness, (profile.freshness() != Freshness::None).then_some(value));
    }

    #[test]
    fn the_tag_covers_identifier_payload_and_whole_freshness_value(
        profile in any_profile_in_bits(24),
        payload in prop::collection::vec(any::<u8>(), 0..300),
        value in any::<u64>(),
    ) {
        let mut covered = [&DATA_ID.to_be_bytes()[..], &payload].concat();
        if profile.freshness() != Freshness::None {
            covered.extend(value.to_be_bytes());
        }
        prop_assert_eq!(covered.len(), profile.mac_input_len(&DATA_ID.into(), payload.len()));
        let mut tag = vec![0; usize::from(profile.tag_bits().div_ceil(8))];
        prop_assume!(!profile.mac().needs_nonce());
        MacKey::new(profile.mac(), key_for(profile.mac()).expose()).unwrap().compute(0, &[&covered], &mut tag).unwrap();
        let sent = text(&value.to_be_bytes());
        let sent = &sent[64 - usize::from(profile.freshness().sent_bits())..];
        let trailer = packed(&format!("{sent}{}", &text(&tag)[..usize::from(profile.tag_bits())]));
        let expected = [payload.clone(), trailer].concat();
        prop_assert_eq!(Pair::new(profile).seal(&payload, value), expected);
    }
}

#[test]
fn both_sides_show_no_key() {
    let pair = Pair::with(Freshness::Full, 1);
    for shown in
        [format!("{:?}", pair.sealer), format!("{:?}", Opener::new(*pair.opener.profile(), &key(), 1).unwrap())]
    {
        assert!(shown.contains("hidden") && !shown.contains("165"), "{shown}");
    }
}
