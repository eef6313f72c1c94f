//! Batch verification against verification one by one.

use chronoseal_fourq::batch::{BatchItem, verify_batch_vartime};
use chronoseal_fourq::schnorrq::{Signature, SigningKey, VerifyingKey};
use chronoseal_fourq::{EncodingError, Error};

/// More than one equation's worth, and not a multiple of it.
const SIGNATURES: usize = 37;

struct Signed {
    key: VerifyingKey,
    message: Vec<u8>,
    signature: Signature,
}

fn signed(len: usize) -> Vec<Signed> {
    (0..len)
        .map(|i| {
            // Some keys sign more than once.
            let key = SigningKey::from_seed([(i / 2) as u8; 32]);
            let message = vec![i as u8; i];
            Signed { key: key.verifying_key(), signature: key.sign(&message), message }
        })
        .collect()
}

fn verify(signed: &[Signed]) -> Result<(), Error> {
    let items: Vec<_> =
        signed.iter().map(|Signed { key, message, signature }| BatchItem { key, message, signature }).collect();
    verify_batch_vartime(&items, [42; 32])
}

#[test]
fn accepts_valid_signatures_in_any_number() {
    for len in [0, 1, 2, 15, 16, 17, SIGNATURES] {
        assert_eq!(verify(&signed(len)), Ok(()), "{len}");
    }
}

#[test]
fn refuses_one_bad_signature_wherever_it_is() {
    for bad in 0..SIGNATURES {
        let mut signed = signed(SIGNATURES);
        signed[bad].message.push(0);
        assert_eq!(verify(&signed), Err(Error::Signature), "{bad}");
    }
}

#[test]
fn refuses_two_signatures_whose_errors_cancel_without_random_factors() {
    // S1 + 1 and S2 - 1: the plain sum of the equations still holds for one key.
    let key = SigningKey::from_seed([1; 32]);
    let mut signed = Vec::new();
    for (message, change) in [(b"one", 1i16), (b"two", -1)] {
        let mut bytes = key.sign(message).to_bytes();
        bytes[32] = u8::try_from(i16::from(bytes[32]) + change).expect("neither 255 nor 0");
        let signature = Signature::from_bytes(&bytes);
        signed.push(Signed { key: key.verifying_key(), message: message.to_vec(), signature });
    }
    assert_eq!(verify(&signed), Err(Error::Signature));
}

#[test]
fn refuses_swapped_signatures() {
    let mut signed = signed(4);
    let first = signed[0].signature;
    signed[0].signature = signed[2].signature;
    signed[2].signature = first;
    assert_eq!(verify(&signed), Err(Error::Signature));
}

#[test]
fn refuses_what_is_no_signature_with_its_reason() {
    let mut signed = signed(3);
    let valid = signed[1].signature.to_bytes();
    let mut bytes = valid;
    bytes[32..].fill(0xff);
    signed[1].signature = Signature::from_bytes(&bytes);
    assert_eq!(verify(&signed), Err(Error::ScalarRange));
    let mut bytes = valid;
    bytes[15] |= 0x80;
    signed[1].signature = Signature::from_bytes(&bytes);
    assert_eq!(verify(&signed), Err(Error::Commitment(EncodingError::ReservedBit)));
}
