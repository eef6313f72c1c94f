//! What every suite promises, run for each of them, and what each promises alone.

use chronoseal_crypto::suite::{
    AgreementError, BadSignature, FourQ, P256, PublicKeyError, SECRET_LEN, Suite, SuiteName, SuiteVisitor,
    X25519Ed25519,
};

use crate::vectors::bytes;

/// Seeds that are not alike and cover both ends of the range.
fn seeds() -> impl Iterator<Item = [u8; SECRET_LEN]> {
    let spread = (1..=8u8).map(|k| core::array::from_fn(|i| (i as u8).wrapping_mul(31) ^ k.wrapping_mul(0x47)));
    [[0; SECRET_LEN], [0xff; SECRET_LEN]].into_iter().chain(spread)
}

struct Conformance;

impl SuiteVisitor for Conformance {
    type Output = ();

    fn visit<S: Suite>(self) {
        conformance::<S>();
    }
}

/// The contract of [`Suite`].
pub(crate) fn conformance<S: Suite>() {
    let mut shares = vec![];
    for (seed, other_seed) in seeds().zip(seeds().skip(1)) {
        let (a, b) = (S::secret(&seed), S::secret(&other_seed));
        let (share_a, share_b) = (S::share(&a), S::share(&b));
        assert_eq!(share_a.as_bytes().len(), S::SHARE_LEN);
        assert_eq!(share_a, S::share(&S::secret(&seed)), "the same seed, the same share");
        assert!(!shares.contains(&share_a), "another seed, another share");
        let agreed = S::agree(&a, share_b.as_bytes()).unwrap();
        assert_eq!(agreed.expose(), S::agree(&b, share_a.as_bytes()).unwrap().expose(), "both sides agree");
        let with_itself = S::agree(&a, share_a.as_bytes()).unwrap();
        assert_ne!(agreed.expose(), with_itself.expose(), "with another peer on another secret");
        assert_eq!(format!("{agreed:?}"), "AgreedSecret(hidden)");
        shares.push(share_a);

        for len in [0, S::SHARE_LEN - 1, S::SHARE_LEN + 1, 2 * S::SHARE_LEN] {
            let refused = S::agree(&a, &vec![2; len]).unwrap_err();
            assert_eq!(refused, AgreementError::WrongLength { found: len, expected: S::SHARE_LEN });
        }
        signs_and_verifies::<S>(&seed, &other_seed);
    }
    for len in [0, S::PUBLIC_KEY_LEN - 1, S::PUBLIC_KEY_LEN + 1] {
        let refused = S::verifying_key(&vec![2; len]).err();
        assert_eq!(refused, Some(PublicKeyError::WrongLength { found: len, expected: S::PUBLIC_KEY_LEN }));
    }
    assert!(S::verifying_key(&vec![0; S::PUBLIC_KEY_LEN]).is_err(), "zeros are no key");
    assert!(S::verifying_key(&vec![0xff; S::PUBLIC_KEY_LEN]).is_err(), "ones are no key");
}

fn signs_and_verifies<S: Suite>(seed: &[u8; SECRET_LEN], other_seed: &[u8; SECRET_LEN]) {
    let key = S::signing_key(seed);
    let public = S::public_key(&key);
    assert_eq!(public.as_bytes().len(), S::PUBLIC_KEY_LEN);
    let verifying = S::verifying_key(public.as_bytes()).unwrap();
    let other = S::verifying_key(S::public_key(&S::signing_key(other_seed)).as_bytes()).unwrap();
    for message in [&b""[..], b"engine speed", &[0x5a; 300]] {
        let signature = S::sign(&key, message);
        assert_eq!(signature, S::sign(&key, message), "signing is deterministic");
        assert_eq!(S::verify(&verifying, message, &signature), Ok(()));
        assert_eq!(S::verify(&verifying.clone(), b"another message", &signature), Err(BadSignature));
        assert_eq!(S::verify(&other, message, &signature), Err(BadSignature));
    }
    let signature = S::sign(&key, b"engine speed");
    for bit in (0..512).step_by(13) {
        let mut changed = signature;
        changed[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(S::verify(&verifying, b"engine speed", &changed), Err(BadSignature), "bit {bit}");
    }
    for constant in [0, 0xff] {
        assert_eq!(S::verify(&verifying, b"engine speed", &[constant; 64]), Err(BadSignature));
    }
}

#[test]
fn every_suite_keeps_the_contract() {
    for suite in SuiteName::ALL {
        suite.dispatch(Conformance);
    }
    // With the feature `aws-lc` the name stands for another implementation.
    #[cfg(feature = "aws-lc")]
    conformance::<P256>();
}

/// The order of the base point of P-256 (SEC 2, 2.4.2).
const P256_ORDER: &str = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";

#[test]
fn p256_signs_as_rfc_6979_a_2_5_with_low_s() {
    let seed = bytes("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721").try_into().unwrap();
    let key = P256::signing_key(&seed);
    assert_eq!(
        P256::public_key(&key).as_bytes(),
        bytes("0360fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6")
    );
    let r = "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716";
    let s = "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8";
    let low_s = "0834e36ad29a83bf2bc9385e491d6099c8fdf9d1ed67aa7ea5f51f93782857a9";
    assert_eq!(P256::sign(&key, b"sample").to_vec(), bytes(&[r, low_s].concat()));
    let printed: [u8; 64] = bytes(&[r, s].concat()).try_into().unwrap();
    let verifying = P256::verifying_key(P256::public_key(&key).as_bytes()).unwrap();
    assert_eq!(P256::verify(&verifying, b"sample", &printed), Err(BadSignature), "right, but with the high s");

    let r = "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367";
    let s = "019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083";
    assert_eq!(P256::sign(&key, b"test").to_vec(), bytes(&[r, s].concat()), "here the printed s is the low one");
}

#[test]
fn p256_takes_every_seed() {
    let order: [u8; 32] = bytes(P256_ORDER).try_into().unwrap();
    // 0, n and 2^256 - 1 are no private scalars and go through SHA-256; 1 and n - 1 are taken as they are.
    let generator = "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";
    let (mut one, mut last) = ([0; 32], order);
    one[31] = 1;
    last[31] -= 1;
    assert_eq!(P256::share(&P256::secret(&one)).as_bytes(), bytes(&["03", generator].concat()));
    assert_eq!(P256::share(&P256::secret(&last)).as_bytes(), bytes(&["02", generator].concat()));
    for seed in [[0; 32], order, [0xff; 32]] {
        let replaced = <sha2::Sha256 as sha2::Digest>::digest(seed).into();
        assert_eq!(P256::share(&P256::secret(&seed)), P256::share(&P256::secret(&replaced)));
    }
}

#[test]
fn p256_refuses_what_is_no_compressed_point() {
    let secret = P256::secret(&[7; 32]);
    let share = P256::share(&secret);
    for first in [0x00, 0x01, 0x04, 0x05, 0x06, 0x07, 0xff] {
        let mut other = share.as_bytes().to_vec();
        other[0] = first;
        assert_eq!(P256::agree(&secret, &other).err(), Some(AgreementError::NotAPoint), "{first:02x}");
        assert_eq!(P256::verifying_key(&other).err(), Some(PublicKeyError::NotAPoint), "{first:02x}");
    }
    // x = p, the same point as x = 0, is no canonical encoding; x = 0 itself is a point.
    let p = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff";
    assert!(P256::agree(&secret, &bytes(&["02", &"00".repeat(32)].concat())).is_ok());
    assert_eq!(P256::agree(&secret, &bytes(&["02", p].concat())).err(), Some(AgreementError::NotAPoint));
}

/// The points of small order of Curve25519 in canonical form, little-endian u: 0, 1, the two of order 8, and p - 1
/// (Langley and Hamburg, RFC 7748, 6.1 and the errata; Bernstein, "Curve25519: small-order points").
const X25519_SMALL_ORDER: [&str; 5] = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
];

#[test]
fn x25519_refuses_shares_of_small_order_and_other_encodings() {
    let secret = X25519Ed25519::secret(&[7; 32]);
    for share in X25519_SMALL_ORDER {
        let mut share = bytes(share);
        assert_eq!(X25519Ed25519::agree(&secret, &share).err(), Some(AgreementError::SmallOrder));
        share[31] |= 0x80;
        assert_eq!(X25519Ed25519::agree(&secret, &share).err(), Some(AgreementError::NotAPoint));
    }
    let mut genuine = X25519Ed25519::share(&X25519Ed25519::secret(&[8; 32])).as_bytes().to_vec();
    assert!(X25519Ed25519::agree(&secret, &genuine).is_ok());
    genuine[31] |= 0x80;
    assert_eq!(X25519Ed25519::agree(&secret, &genuine).err(), Some(AgreementError::NotAPoint));
}

#[test]
fn ed25519_refuses_weak_keys_and_other_encodings() {
    // The points of small order: identity, order 2, order 4 (both signs), order 8 (both signs of two).
    for (key, reason) in [
        ("0100000000000000000000000000000000000000000000000000000000000000", PublicKeyError::SmallOrder),
        ("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", PublicKeyError::SmallOrder),
        ("0000000000000000000000000000000000000000000000000000000000000000", PublicKeyError::SmallOrder),
        ("0000000000000000000000000000000000000000000000000000000000000080", PublicKeyError::SmallOrder),
        ("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", PublicKeyError::SmallOrder),
        ("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", PublicKeyError::SmallOrder),
        // The base point plus a point of order 8, another of order 8, and that of order 2 (by plain arithmetic in Python).
        ("98519eadf35b995233b51b5cd23e9cc5a28b639b5a4af0ec903cb960d81b7819", PublicKeyError::MixedOrder),
        ("da99e28ba529cdde35a25fba9059e78ecaee239f99755b9b1aa4f65df00803e2", PublicKeyError::MixedOrder),
        ("9599999999999999999999999999999999999999999999999999999999999999", PublicKeyError::MixedOrder),
        // y = p + 1, the identity once more, and x = 0 with its sign set.
        ("eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", PublicKeyError::NotAPoint),
        ("0100000000000000000000000000000000000000000000000000000000000080", PublicKeyError::NotAPoint),
    ] {
        assert_eq!(X25519Ed25519::verifying_key(&bytes(key)).err(), Some(reason), "{key}");
    }
}

#[test]
fn fourq_tells_small_order_from_no_point() {
    let secret = FourQ::secret(&[7; 32]);
    let mut identity = [0; 32];
    identity[0] = 1;
    let mut order_2 = [0xff; 32];
    // y = -1: the first half is p - 1 = 2^127 - 2, the second half 0.
    order_2[0] = 0xfe;
    order_2[15] = 0x7f;
    order_2[16..].fill(0);
    for share in [identity, order_2] {
        assert_eq!(FourQ::agree(&secret, &share).err(), Some(AgreementError::SmallOrder));
        assert_eq!(FourQ::verifying_key(&share).err(), Some(PublicKeyError::SmallOrder));
    }
    // The second half is p, which is no canonical zero; the identity with a sign; the reserved bit.
    let mut not_reduced = identity;
    not_reduced[16..].fill(0xff);
    not_reduced[31] = 0x7f;
    let (mut signed, mut reserved) = (identity, identity);
    signed[31] = 0x80;
    reserved[15] = 0x80;
    for share in [not_reduced, signed, reserved] {
        assert_eq!(FourQ::agree(&secret, &share).err(), Some(AgreementError::NotAPoint));
        assert_eq!(FourQ::verifying_key(&share).err(), Some(PublicKeyError::NotAPoint));
    }
}

#[test]
fn ed25519_refuses_a_commitment_of_small_order() {
    // Made with the private key of this seed, by plain arithmetic in Python: R is the identity, s = k a, so that
    // s B = R + k A holds. Verification that is not the strict one takes it.
    let verifying =
        X25519Ed25519::verifying_key(X25519Ed25519::public_key(&X25519Ed25519::signing_key(&[7; 32])).as_bytes())
            .unwrap();
    let s = "edd19db3cff022aaa852a9ed7a4cab5a4bd4054f9721f2952f37d43bbe6d2d03";
    let signature = bytes(&["01", &"00".repeat(31), s].concat()).try_into().unwrap();
    assert!(
        ed25519_dalek::Verifier::verify(&verifying, b"engine speed", &ed25519_dalek::Signature::from_bytes(&signature))
            .is_ok()
    );
    assert_eq!(X25519Ed25519::verify(&verifying, b"engine speed", &signature), Err(BadSignature));
}
