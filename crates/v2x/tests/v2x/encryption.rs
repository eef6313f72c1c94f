//! What is encrypted opens for its recipients and for nobody else.

use chronoseal_v2x::certificate::{canonical_bytes, hashed_id8};
use chronoseal_v2x::coer::{Decode, Encode};
use chronoseal_v2x::crypto::{Curve, HashValue, SoftwareKey};
use chronoseal_v2x::message::*;
use chronoseal_v2x::types::*;

use crate::stations::{World, rng};

fn sha256(bytes: &[u8]) -> [u8; 32] {
    HashValue::sha256(bytes).as_bytes().try_into().unwrap()
}

#[test]
fn opens_with_the_certificates_key_and_for_the_answer_with_the_requests() {
    let mut world = World::new(Curve::NistP256);
    let authority = world.authority.view();
    let request = Ieee1609Dot2Data::unsecured(b"request").to_coer().unwrap();
    let (bytes, sent_key) = encrypt(&request, &[Recipient::Certificate(&authority)], &mut rng(1)).unwrap();
    let message = Ieee1609Dot2Data::from_coer(&bytes).unwrap();
    assert_eq!(message.to_coer().unwrap(), bytes);
    let key = |key| DecryptionKey::Private {
        recipient_id: hashed_id8(&authority).unwrap(),
        p1: sha256(&canonical_bytes(&authority).unwrap()),
        key,
    };
    let opened = decrypt(message.encrypted_data().unwrap(), key(&mut world.authority_encryption_key)).unwrap();
    assert_eq!(opened.plaintext, request);
    assert_eq!(opened.session_key.0, sent_key.0);

    let answer =
        encrypt_with_session_key(b"answer", &[Recipient::PreSharedKey], &opened.session_key, &mut rng(2)).unwrap();
    let answer = Ieee1609Dot2Data::from_coer(&answer).unwrap();
    let opened = decrypt(answer.encrypted_data().unwrap(), DecryptionKey::Symmetric(&sent_key)).unwrap();
    assert_eq!(opened.plaintext, b"answer");

    let mut other = SoftwareKey::generate(Curve::NistP256, &mut rng(3));
    let refused = decrypt(message.encrypted_data().unwrap(), key(&mut other));
    assert_eq!(refused.unwrap_err(), DecryptError::WrongKey);
    let refused = decrypt(answer.encrypted_data().unwrap(), DecryptionKey::Symmetric(&SessionKey([0; 16])));
    assert_eq!(refused.unwrap_err(), DecryptError::NotARecipient);
}

#[test]
fn opens_for_each_kind_of_recipient_on_both_curves() {
    for curve in [Curve::NistP256, Curve::BrainpoolP256r1] {
        let mut key = SoftwareKey::generate(curve, &mut rng(4));
        let public = key.public_point().to_encryption_key().unwrap();
        let signed = b"a signed message with the key in it";
        let recipients = [Recipient::Key(&public), Recipient::SignedData { message: signed, key: &public }];
        let (bytes, _) = encrypt(b"text", &recipients, &mut rng(5)).unwrap();
        let message = Ieee1609Dot2Data::from_coer(&bytes).unwrap();
        let encrypted = message.encrypted_data().unwrap();
        for (what, p1) in [(&public.to_coer().unwrap()[..], sha256(b"")), (signed, sha256(signed))] {
            let recipient_id = HashValue::sha256(what).hashed_id8();
            let opened = decrypt(encrypted, DecryptionKey::Private { recipient_id, p1, key: &mut key }).unwrap();
            assert_eq!(opened.plaintext, b"text");
        }
    }
}

#[test]
fn identifier_of_a_symmetric_key_is_of_its_encoding() {
    let key = SessionKey([7; 16]);
    let encoded = SymmetricEncryptionKey::Aes128Ccm(key.0).to_coer().unwrap();
    assert_eq!(encoded[0], 0x80);
    assert_eq!(key.id(), HashValue::sha256(&encoded).hashed_id8());
}

#[test]
fn a_changed_ciphertext_does_not_open() {
    let key = SessionKey([7; 16]);
    let bytes = encrypt_with_session_key(b"text", &[Recipient::PreSharedKey], &key, &mut rng(6)).unwrap();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        let Ok(message) = Ieee1609Dot2Data::from_coer(&changed) else { continue };
        let Some(encrypted) = message.encrypted_data() else { continue };
        assert!(decrypt(encrypted, DecryptionKey::Symmetric(&key)).is_err(), "byte {at}");
    }
}
