//! What must be refused, each with the reason it is refused for.

use chronoseal_fourq::{EncodingError, Error, ecdh, schnorrq};
use num_bigint::BigUint;
use schnorrq::{Signature, SigningKey, VerifyingKey};

use crate::unhex;

/// The order of the base point, most significant digit first.
const N_HEX: &[u8] = b"29cbc14e5e0a72f05397829cbc14e5dfbd004dfe0f79992fb2540ec7768ce7";
const P: u128 = u128::MAX >> 1;

/// Encodings of points whose order divides 392, one of each order there is (`src/tests/torsion.rs` goes
/// through all 392).
const SMALL_ORDER: &[(u32, &str)] = &[
    (1, "0100000000000000000000000000000000000000000000000000000000000000"),
    (2, "feffffffffffffffffffffffffffff7f00000000000000000000000000000000"),
    (4, "0000000000000000000000000000000000000000000000000000000000000000"),
    (7, "04aa7875270d55ff7667e98e5521c71aa70ee2449509c2b6293e687242744c23"),
    (8, "143c66913d7755e2d32f4d60156350439f983f868fe40370fb4bd00f471e3468"),
    (14, "11959fd0b5970518a6af43a19d277551fdfbb771dfe5589248ed34b94f2c24cd"),
    (28, "0139c4cc37288aa56aeedbb41b341b77a9c695aff8232ba2cf004732a744e714"),
    (56, "000ad2e2dbc6c398f5899e0458b16750337db9707d9d78a7a2bf0ac160ab7601"),
];

fn encoding(re: u128, im: u128, sign: bool) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(&re.to_le_bytes());
    bytes[16..].copy_from_slice(&(im | u128::from(sign) << 127).to_le_bytes());
    bytes
}

/// Both kinds of keys refuse `bytes` for the same reason.
fn refusal(bytes: &[u8; 32]) -> Error {
    let (agreement, signature) = (ecdh::PublicKey::from_bytes(bytes), VerifyingKey::from_bytes(bytes));
    assert_eq!(agreement.as_ref().err(), signature.as_ref().err());
    agreement.expect_err("refused")
}

fn key() -> SigningKey {
    SigningKey::from_seed([5; 32])
}

#[test]
fn refuses_keys_of_small_order() {
    for &(order, hex) in SMALL_ORDER {
        assert_eq!(refusal(&unhex(hex)), Error::SmallOrder, "order {order}");
    }
}

#[test]
fn refuses_the_small_order_point_of_the_draft() {
    // draft-ladd-cfrg-4q's reference implementation, test_dh: its y, under both signs.
    let (re, im) = (0x515854b6d19cc2da1ea2b43b5121a22e, 0x763f89e129497361d74dff5063e66682);
    for sign in [false, true] {
        assert_eq!(refusal(&encoding(re, im, sign)), Error::SmallOrder);
    }
}

#[test]
fn refuses_a_set_reserved_bit() {
    let mut bytes = key().public();
    bytes[15] |= 0x80;
    assert_eq!(refusal(&bytes), Error::PublicKey(EncodingError::ReservedBit));
}

#[test]
fn refuses_a_half_of_y_that_is_not_less_than_p() {
    for (re, im) in [(P, 0), (P, 1), (0, P), (1, P), (P, P)] {
        for sign in [false, true] {
            let reason = refusal(&encoding(re, im, sign));
            assert_eq!(reason, Error::PublicKey(EncodingError::NotCanonical), "{re:x} {im:x}");
        }
    }
}

#[test]
fn refuses_x_zero_with_the_sign_set() {
    for y in [1, P - 1] {
        assert_eq!(refusal(&encoding(y, 0, true)), Error::PublicKey(EncodingError::SignOfZero));
    }
}

#[test]
fn refuses_y_without_a_point() {
    // Among these y, the field elements j 2^64 i, are those FourQlib's squaring with AVX2 gets wrong.
    let accepted = |j: u64| match ecdh::PublicKey::from_bytes(&encoding(0, u128::from(j) << 64, false)) {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error, Error::PublicKey(EncodingError::NotOnCurve), "{j}");
            false
        }
    };
    assert_eq!((1..=64).filter(|&j| accepted(j)).count(), 29);
    for wrongly_accepted_there in [9, 14, 16] {
        assert!(!accepted(wrongly_accepted_there));
    }
}

#[test]
fn refuses_a_second_half_of_n_or_more() {
    let n = BigUint::parse_bytes(N_HEX, 16).unwrap();
    let (key, message) = (key(), b"malleable");
    let verifying = key.verifying_key();
    let signature = key.sign(message).to_bytes();
    let with_response = |response: &BigUint| {
        let mut bytes = signature;
        bytes[32..].fill(0);
        bytes[32..][..response.to_bytes_le().len()].copy_from_slice(&response.to_bytes_le());
        verifying.verify(message, &Signature::from_bytes(&bytes))
    };
    let response = BigUint::from_bytes_le(&signature[32..]);
    assert_eq!(with_response(&response), Ok(()));
    // S + N < 2^246 for more than half of all signatures, and passes where only that is checked.
    assert_eq!(with_response(&(&response + &n)), Err(Error::ScalarRange));
    assert_eq!(with_response(&n), Err(Error::ScalarRange));
    assert_eq!(with_response(&(&n - 1u32)), Err(Error::Signature));
    assert_eq!(with_response(&((BigUint::from(1u32) << 256) - 1u32)), Err(Error::ScalarRange));
}

#[test]
fn refuses_every_changed_bit_of_a_signature() {
    let (key, message) = (key(), b"every bit counts");
    let signature = key.sign(message).to_bytes();
    for bit in 0..512 {
        let mut changed = signature;
        changed[bit / 8] ^= 1 << (bit % 8);
        let outcome = key.verifying_key().verify(message, &Signature::from_bytes(&changed));
        assert!(matches!(outcome, Err(Error::Signature | Error::ScalarRange)), "bit {bit}");
    }
}

#[test]
fn refuses_another_message_and_another_key() {
    let signature = key().sign(b"one");
    assert_eq!(key().verifying_key().verify(b"another", &signature), Err(Error::Signature));
    let other = SigningKey::from_seed([6; 32]).verifying_key();
    assert_eq!(other.verify(b"one", &signature), Err(Error::Signature));
}

#[test]
fn refuses_a_commitment_in_another_encoding() {
    // y + p is the same field element where it fits; no encoder writes it.
    let (key, message) = (key(), b"encoding");
    let mut bytes = key.sign(message).to_bytes();
    bytes[15] |= 0x80;
    assert_eq!(key.verifying_key().verify(message, &Signature::from_bytes(&bytes)), Err(Error::Signature));
}

#[test]
fn refuses_a_secret_that_is_a_multiple_of_n() {
    let peer = ecdh::PublicKey::from_bytes(&key().public()).unwrap();
    let n = BigUint::parse_bytes(N_HEX, 16).unwrap();
    for factor in [0u32, 1, 2, 1000] {
        let mut secret = [0; 32];
        let multiple = (&n * factor).to_bytes_le();
        secret[..multiple.len()].copy_from_slice(&multiple);
        assert_eq!(ecdh::SecretKey::from_bytes(secret).agree(&peer).err(), Some(Error::SharedSecret));
    }
}

#[test]
fn secrets_are_not_shown() {
    let secret = ecdh::SecretKey::from_bytes([0xab; 32]);
    let shared = secret.agree(&ecdh::PublicKey::from_bytes(&key().public()).unwrap()).unwrap();
    assert_eq!(format!("{secret:?} {shared:?}"), "SecretKey(..) SharedSecret(..)");
    let shown = format!("{:?}", SigningKey::from_seed([0xab; 32]));
    assert_eq!(shown, format!("SigningKey {{ public: {:?}, .. }}", SigningKey::from_seed([0xab; 32]).public()));
}
