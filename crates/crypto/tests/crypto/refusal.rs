//! What must not verify, and what must not be computed.

use chronoseal_crypto::{HashAlgorithm, HmacKey, Mac, TAG_LEN_MIN, TagLenError};

fn tag_of(mac: &dyn Mac, message: &[u8]) -> Vec<u8> {
    let mut tag = vec![0; mac.output_len()];
    mac.compute(&[message], &mut tag).unwrap();
    tag
}

#[test]
fn rejects_every_single_bit_flip_of_a_tag_and_of_a_message() {
    let message: Vec<u8> = (0..100).collect();
    for algorithm in HashAlgorithm::ALL {
        let mac = HmacKey::new(algorithm, &[0x5a; 64]);
        let tag = tag_of(&mac, &message);
        for bit in 0..tag.len() * 8 {
            let mut flipped = tag.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!mac.verify(&[&message], &flipped), "{algorithm}: tag bit {bit}");
        }
        for bit in 0..message.len() * 8 {
            let mut flipped = message.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!mac.verify(&[&flipped], &tag), "{algorithm}: message bit {bit}");
        }
    }
}

#[test]
fn rejects_the_tag_of_another_key_and_of_another_hash() {
    let mut other_key = [0x5a; 64];
    other_key[63] ^= 1;
    for algorithm in HashAlgorithm::ALL {
        let tag = tag_of(&HmacKey::new(algorithm, &[0x5a; 64]), b"message");
        assert!(!HmacKey::new(algorithm, &other_key).verify(&[b"message"], &tag));
        for other in HashAlgorithm::ALL {
            let verified = HmacKey::new(other, &[0x5a; 64]).verify(&[b"message"], &tag[..16]);
            assert_eq!(verified, other == algorithm);
        }
    }
}

#[test]
fn refuses_tags_below_the_minimum_and_above_the_output() {
    for algorithm in HashAlgorithm::ALL {
        let mac = HmacKey::new(algorithm, &[1; 64]);
        let full = tag_of(&mac, b"message");
        for len in (0..TAG_LEN_MIN).chain(full.len() + 1..full.len() + 40) {
            let mut tag = vec![0xee; len];
            assert_eq!(mac.compute(&[b"message"], &mut tag), Err(TagLenError { found: len, algorithm }));
            assert!(tag.iter().all(|byte| *byte == 0xee), "a refused tag is left as it was");
        }
        // Right as far as they go, and still not accepted.
        for len in 0..TAG_LEN_MIN {
            assert!(!mac.verify(&[b"message"], &full[..len]));
        }
        assert!(!mac.verify(&[b"message"], &[&full[..], &[0]].concat()));
    }
}

#[test]
fn formatters_show_no_state() {
    for algorithm in HashAlgorithm::ALL {
        let shown = format!("{:?}", HmacKey::new(algorithm, &[0x41; 64]));
        assert_eq!(shown, format!("HmacKey({algorithm}, state hidden)"));
    }
}
