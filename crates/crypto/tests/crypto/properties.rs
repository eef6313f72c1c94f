//! Our MACs against others that share no code with it, on inputs of proptest's choosing.

use chronoseal_crypto::symmetric::{AesGcm, Gmac};
use chronoseal_crypto::{MacAlgorithm, MacKey};
use proptest::prelude::*;
use sha3::{Digest, Sha3_256};

use crate::vectors::{key_len, key_of, tag_len_min};

fn any_algorithm() -> impl Strategy<Value = MacAlgorithm> {
    prop::sample::select(&MacAlgorithm::ALL[..])
}

fn full_tag(algorithm: MacAlgorithm, key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut tag = vec![0; algorithm.output_len()];
    MacKey::new(algorithm, key).unwrap().compute(5, parts, &mut tag).unwrap();
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
    fn sha1_sha256_and_sha512_agree_with_ring(
        key in prop::collection::vec(any::<u8>(), 0..200),
        message in prop::collection::vec(any::<u8>(), 0..1600),
    ) {
        for (ours, theirs) in [
            (MacAlgorithm::HmacSha1, ring::hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY),
            (MacAlgorithm::HmacSha256, ring::hmac::HMAC_SHA256),
            (MacAlgorithm::HmacSha512, ring::hmac::HMAC_SHA512),
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
            full_tag(MacAlgorithm::HmacSha3_256, &key, &[&message]),
            textbook_hmac_sha3_256(&key, &message)
        );
    }

    #[test]
    fn gmac_is_gcm_of_nothing(
        key in prop::sample::select(&[16usize, 32][..]),
        nonce in any::<[u8; 12]>(),
        message in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let key = vec![9; key];
        let sealed = AesGcm::new(&key).unwrap().seal(&nonce, &message, &mut []);
        prop_assert_eq!(Gmac::new(&key).unwrap().tag(&nonce, &[&message]), sealed);
    }

    #[test]
    fn how_a_message_is_cut_into_parts_makes_no_difference(
        algorithm in any_algorithm(),
        parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..6),
    ) {
        let cut: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        let key = vec![7; key_len(algorithm)];
        prop_assert_eq!(full_tag(algorithm, &key, &cut), full_tag(algorithm, &key, &[&parts.concat()]));
    }

    #[test]
    fn a_truncated_tag_is_the_front_of_the_full_one(algorithm in any_algorithm(), message in any::<[u8; 40]>()) {
        let key = key_of(algorithm, 7);
        let full = full_tag(algorithm, &vec![7; key_len(algorithm)], &[&message]);
        prop_assert_eq!(&key.leading_bits(5, &[&message]).to_be_bytes(), &full[..8]);
        for len in tag_len_min(algorithm)..=algorithm.output_len() {
            let mut tag = vec![0; len];
            key.compute(5, &[&message], &mut tag).unwrap();
            prop_assert_eq!(&tag, &full[..len]);
            prop_assert!(key.verify(5, &[&message], &tag));
        }
    }

    #[test]
    fn a_key_is_not_used_up(algorithm in any_algorithm(), first in any::<[u8; 70]>(), second in any::<[u8; 3]>()) {
        let key = key_of(algorithm, 7);
        let (mut before, mut after) = ([0; 16], [0; 16]);
        key.compute(5, &[&first], &mut before).unwrap();
        prop_assert!(!key.verify(5, &[&second], &before));
        key.compute(5, &[&first], &mut after).unwrap();
        prop_assert_eq!(before, after);
    }
}
