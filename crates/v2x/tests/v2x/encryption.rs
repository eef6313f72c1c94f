//! What is encrypted opens for its recipients and for nobody else.

use chronoseal_v2x::coer::{Decode, Encode};
use chronoseal_v2x::crypto::{Curve, HashValue, SoftwareKey};
use chronoseal_v2x::message::*;
use chronoseal_v2x::types::*;

use crate::stations::{World, rng};

#[test]
fn opens_with_the_certificates_key_and_for_the_answer_with_the_requests() {
    let mut world = World::new(Curve::NistP256);
    let authority = world.authority.view();
    let request = Ieee1609Dot2Data::unsecured(b"request").to_coer().unwrap();
    let (bytes, sent_key) = encrypt(&request, &[Recipient::Certificate(&authority)], &mut rng(1)).unwrap();
    let message = Ieee1609Dot2Data::from_coer(&bytes).unwrap();
    assert_eq!(message.to_coer().unwrap(), bytes);
    let key = |key| DecryptionKey::Private { source: KeySource::Certificate(&authority), key };
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
        for source in [KeySource::Elsewhere, KeySource::SignedData(signed)] {
            let opened = decrypt(encrypted, DecryptionKey::Private { source, key: &mut key }).unwrap();
            assert_eq!(opened.plaintext, b"text");
        }
        let other = KeySource::SignedData(b"another signed message");
        let refused = decrypt(encrypted, DecryptionKey::Private { source: other, key: &mut key });
        assert_eq!(refused.unwrap_err(), DecryptError::NotARecipient);
    }
}

#[test]
fn each_kind_of_recipient_is_itself_and_no_other() {
    // What each alternative of RecipientInfo is encrypted to, and the others it is then given out for.
    let mut world = World::new(Curve::NistP256);
    let authority = world.authority.view();
    let public = authority.to_be_signed.encryption_key.unwrap();
    let signed = b"a signed message with the key in it";
    let sources = [KeySource::Certificate(&authority), KeySource::SignedData(signed), KeySource::Elsewhere];
    let recipients = [
        Recipient::Certificate(&authority),
        Recipient::SignedData { message: signed, key: &public },
        Recipient::Key(&public),
    ];
    let names = ["certRecipInfo", "signedDataRecipInfo", "rekRecipInfo"];
    let kinds: [fn(PkRecipientInfo) -> RecipientInfo<'static>; 3] =
        [RecipientInfo::Certificate, RecipientInfo::SignedData, RecipientInfo::Rek];
    for (meant, recipient) in recipients.iter().enumerate() {
        let (bytes, session_key) = encrypt(b"text", &[*recipient], &mut rng(7)).unwrap();
        let message = Ieee1609Dot2Data::from_coer(&bytes).unwrap();
        let mut encrypted = message.encrypted_data().unwrap().clone();
        let (RecipientInfo::Certificate(info) | RecipientInfo::SignedData(info) | RecipientInfo::Rek(info)) =
            encrypted.recipients[0].clone()
        else {
            panic!("a key is encrypted to it");
        };
        for (said, kind) in kinds.iter().enumerate() {
            // The identifier and the encrypted key are right; what they are said to be need not be.
            encrypted.recipients = vec![kind(info)];
            let key = &mut world.authority_encryption_key;
            let opened = decrypt(&encrypted, DecryptionKey::Private { source: sources[meant], key });
            if said == meant {
                assert_eq!(opened.unwrap().plaintext, b"text");
            } else {
                let error = DecryptError::OtherKind { expected: names[meant], found: names[said] };
                assert_eq!(opened.unwrap_err(), error);
            }
            // Nor does the session key open what is not given out as encrypted with it.
            let refused = decrypt(&encrypted, DecryptionKey::Symmetric(&session_key));
            assert_eq!(refused.unwrap_err(), DecryptError::NotARecipient);
        }
        // A wrong kind beside the right one does not stand in the way.
        encrypted.recipients = kinds.iter().map(|kind| kind(info)).collect();
        let key = &mut world.authority_encryption_key;
        decrypt(&encrypted, DecryptionKey::Private { source: sources[meant], key }).unwrap();
    }
    // A key that is there already is none that is encrypted with it.
    let key = SessionKey([7; 16]);
    let bytes = encrypt_with_session_key(b"text", &[Recipient::PreSharedKey], &key, &mut rng(8)).unwrap();
    let message = Ieee1609Dot2Data::from_coer(&bytes).unwrap();
    let mut encrypted = message.encrypted_data().unwrap().clone();
    encrypted.recipients = vec![RecipientInfo::Symmetric { recipient_id: key.id(), enc_key: encrypted.ciphertext }];
    assert_eq!(decrypt(&encrypted, DecryptionKey::Symmetric(&key)).unwrap_err(), DecryptError::WrongKey);
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
