//! Our HMAC against others that share no code with it, on inputs of proptest's choosing.

use chronoseal_crypto::{HashAlgorithm, HmacKey, Mac, TAG_LEN_MIN};
use proptest::prelude::*;
use sha3::{Digest, Sha3_256};

fn any_algorithm() -> impl Strategy<Value = HashAlgorithm> {
    prop::sample::select(&HashAlgorithm::ALL[..])
}

fn full_tag(algorithm: HashAlgorithm, key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut tag = vec![0; algorithm.output_len()];
    HmacKey::new(algorithm, key).compute(parts, &mut tag).unwrap();
    tag
}

/// HMAC as FIPS 198-1, table 1 writes it, steps 1 to 9, over the one-shot hash.
fn textbook_hmac_sha3_256(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut k0 = if key.len() > 136 { Sha3_256::digest(key).to_vec() } else { key.to_vec() };
    k0.resize(136, 0);
    let xored = |pad: u8| k0.iter().map(|byte| byte ^ pad).collect::<Vec<u8>>();
    let inner = Sha3_256::digest([&xored(0x36)[..], message].concat());
    Sha3_256::digest([&xored(0x5c)[..], &inner].concat()).to_vec()
}

proptest! {
    #[test]
    fn sha1_and_sha256_agree_with_ring(
        key in prop::collection::vec(any::<u8>(), 0..200),
        message in prop::collection::vec(any::<u8>(), 0..1600),
    ) {
        for (ours, theirs) in [
            (HashAlgorithm::Sha1, ring::hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY),
            (HashAlgorithm::Sha256, ring::hmac::HMAC_SHA256),
        ] {
            let expected = ring::hmac::sign(&ring::hmac::Key::new(theirs, &key), &message);
            prop_assert_eq!(full_tag(ours, &key, &[&message]), expected.as_ref());
        }
    }

    #[test]
    fn sha3_256_agrees_with_the_textbook(
        key in prop::collection::vec(any::<u8>(), 0..300),
        message in prop::collection::vec(any::<u8>(), 0..1600),
    ) {
        prop_assert_eq!(
            full_tag(HashAlgorithm::Sha3_256, &key, &[&message]),
            textbook_hmac_sha3_256(&key, &message)
        );
    }

    #[test]
    fn how_a_message_is_cut_into_parts_makes_no_difference(
        algorithm in any_algorithm(),
        parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..6),
    ) {
        let cut: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        prop_assert_eq!(full_tag(algorithm, b"key", &cut), full_tag(algorithm, b"key", &[&parts.concat()]));
    }

    #[test]
    fn a_truncated_tag_is_the_front_of_the_full_one(algorithm in any_algorithm(), message in any::<[u8; 40]>()) {
        let key = HmacKey::new(algorithm, &[7; 64]);
        let full = full_tag(algorithm, &[7; 64], &[&message]);
        for len in TAG_LEN_MIN..=algorithm.output_len() {
            let mut tag = vec![0; len];
            key.compute(&[&message], &mut tag).unwrap();
            prop_assert_eq!(&tag, &full[..len]);
            prop_assert!(key.verify(&[&message], &tag));
        }
    }

    #[test]
    fn a_key_is_not_used_up(algorithm in any_algorithm(), first in any::<[u8; 70]>(), second in any::<[u8; 3]>()) {
        let key = HmacKey::new(algorithm, b"key");
        let (mut before, mut after) = ([0; 20], [0; 20]);
        key.compute(&[&first], &mut before).unwrap();
        prop_assert!(!key.verify(&[&second], &before));
        key.compute(&[&first], &mut after).unwrap();
        prop_assert_eq!(before, after);
    }
}
