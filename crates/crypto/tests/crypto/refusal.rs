//! What must not verify, and what must not be computed.

use chronoseal_crypto::{KeyLen, KeyLenError, MacAlgorithm, MacKey, TagLenError};

use crate::vectors::{key_len, key_of, tag_len_min};

fn tag_of(mac: &MacKey, message: &[u8]) -> Vec<u8> {
    let mut tag = vec![0; mac.algorithm().output_len()];
    mac.compute(NONCE, &[message], &mut tag).unwrap();
    tag
}

const NONCE: u64 = 5;

#[test]
fn rejects_every_single_bit_flip_of_a_tag_and_of_a_message() {
    let message: Vec<u8> = (0..100).collect();
    for algorithm in MacAlgorithm::ALL {
        let mac = key_of(algorithm, 0x5a);
        let tag = tag_of(&mac, &message);
        for bit in 0..tag.len() * 8 {
            let mut flipped = tag.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!mac.verify(NONCE, &[&message], &flipped), "{algorithm}: tag bit {bit}");
        }
        for bit in 0..message.len() * 8 {
            let mut flipped = message.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!mac.verify(NONCE, &[&flipped], &tag), "{algorithm}: message bit {bit}");
        }
    }
}

#[test]
fn rejects_the_tag_of_another_key_and_of_another_algorithm() {
    for algorithm in MacAlgorithm::ALL {
        let tag = tag_of(&key_of(algorithm, 0x5a), b"message");
        let mut other_key = vec![0x5a; key_len(algorithm)];
        *other_key.last_mut().unwrap() ^= 1;
        assert!(!MacKey::new(algorithm, &other_key).unwrap().verify(NONCE, &[b"message"], &tag));
        for other in MacAlgorithm::ALL {
            let verified = key_of(other, 0x5a).verify(NONCE, &[b"message"], &tag[..16]);
            assert_eq!(verified, other == algorithm);
        }
    }
}

#[test]
fn refuses_tags_below_the_minimum_and_above_the_output() {
    for algorithm in MacAlgorithm::ALL {
        let mac = key_of(algorithm, 1);
        let full = tag_of(&mac, b"message");
        for len in (0..tag_len_min(algorithm)).chain(full.len() + 1..full.len() + 40) {
            let mut tag = vec![0xee; len];
            assert_eq!(mac.compute(NONCE, &[b"message"], &mut tag), Err(TagLenError { found: len, algorithm }));
            assert!(tag.iter().all(|byte| *byte == 0xee), "a refused tag is left as it was");
        }
        // Right as far as they go, and still not accepted.
        for len in 0..tag_len_min(algorithm) {
            assert!(!mac.verify(NONCE, &[b"message"], &full[..len]));
        }
        assert!(!mac.verify(NONCE, &[b"message"], &[&full[..], &[0]].concat()));
    }
}

#[test]
fn formatters_show_no_state() {
    for algorithm in MacAlgorithm::ALL {
        let shown = format!("{:?}", key_of(algorithm, 0x41));
        assert_eq!(shown, format!("MacKey({algorithm}, state hidden)"));
    }
}

#[test]
fn the_shortest_tags_are_those_of_the_standards() {
    for algorithm in MacAlgorithm::ALL {
        let expected = match algorithm.name() {
            // No standard has a least length of a CMAC.
            name if name.starts_with("cmac") => 1,
            name if name.starts_with("gmac") => 12,
            _ => 4,
        };
        assert_eq!(tag_len_min(algorithm), expected, "{algorithm}");
    }
}

#[test]
fn refuses_keys_of_another_length_than_the_algorithm_takes() {
    for algorithm in MacAlgorithm::ALL {
        for len in 0..=200 {
            let made = MacKey::new(algorithm, &vec![7; len]);
            let is_taken = match algorithm.key_len() {
                KeyLen::Any => true,
                KeyLen::Exactly(expected) => len == expected,
            };
            assert_eq!(made.err(), (!is_taken).then_some(KeyLenError { found: len, algorithm }));
        }
    }
    let error = KeyLenError { found: 64, algorithm: MacAlgorithm::CmacAes128 };
    assert_eq!(error.to_string(), "a key of 64 bytes does not go with cmac-aes-128, which takes 16");
}
