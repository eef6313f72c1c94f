//! AWS-LC's P-256 against RustCrypto's: the same bytes, the same refusals.

use chronoseal_crypto::suite::{P256, Suite, aws_lc};
use proptest::prelude::*;

use crate::{suites, wycheproof_suites};

#[test]
fn keeps_the_contract() {
    suites::conformance::<aws_lc::P256>();
}

#[test]
fn wycheproof_ecdh() {
    wycheproof_suites::p256_ecdh::<aws_lc::P256>();
}

#[test]
fn wycheproof_ecdsa() {
    wycheproof_suites::p256_ecdsa::<aws_lc::P256>();
}

#[test]
fn refuses_every_tag_but_those_of_compressed_points() {
    let secret = aws_lc::P256::secret(&[7; 32]);
    let share = aws_lc::P256::share(&secret);
    for tag in 0..=255 {
        let mut other = share.as_bytes().to_vec();
        other[0] = tag;
        let (ours, theirs) = (P256::agree(&P256::secret(&[7; 32]), &other), aws_lc::P256::agree(&secret, &other));
        assert_eq!(ours.is_ok(), matches!(tag, 2 | 3), "{tag}");
        assert_eq!(ours.map(|agreed| *agreed.expose()), theirs.map(|agreed| *agreed.expose()), "{tag}");
        assert_eq!(P256::verifying_key(&other).err(), aws_lc::P256::verifying_key(&other).err(), "{tag}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn gives_the_same_bytes_and_takes_each_others(
        seed in any::<[u8; 32]>(),
        other in any::<[u8; 32]>(),
        message in prop::collection::vec(any::<u8>(), 0..200),
        noise in any::<[u8; 33]>(),
    ) {
        let (plain, fast) = (P256::secret(&seed), aws_lc::P256::secret(&seed));
        prop_assert_eq!(P256::share(&plain), aws_lc::P256::share(&fast));
        let peer = P256::share(&P256::secret(&other));
        prop_assert_eq!(
            P256::agree(&plain, peer.as_bytes()).map(|agreed| *agreed.expose()),
            aws_lc::P256::agree(&fast, peer.as_bytes()).map(|agreed| *agreed.expose())
        );
        let mut noise = noise;
        noise[0] = 2 | noise[0] & 1;
        prop_assert_eq!(
            P256::agree(&plain, &noise).map(|agreed| *agreed.expose()),
            aws_lc::P256::agree(&fast, &noise).map(|agreed| *agreed.expose())
        );

        let (plain, fast) = (P256::signing_key(&seed), aws_lc::P256::signing_key(&seed));
        let public = P256::public_key(&plain);
        prop_assert_eq!(public, aws_lc::P256::public_key(&fast));
        let signature = P256::sign(&plain, &message);
        prop_assert_eq!(signature, aws_lc::P256::sign(&fast, &message));
        let verifying = aws_lc::P256::verifying_key(public.as_bytes()).unwrap();
        prop_assert_eq!(aws_lc::P256::verify(&verifying, &message, &signature), Ok(()));
    }
}
