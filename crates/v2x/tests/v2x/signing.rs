//! Messages are signed as their receivers compute it.

use chronoseal_v2x::coer::{Decode, Encode};
use chronoseal_v2x::crypto::{Curve, EcdsaSignature, HashValue, SigningKey, VerifyingKey, hash};
use chronoseal_v2x::message::{SignError, SignerForm, message_digest, prepare, sign};
use chronoseal_v2x::types::*;

use crate::stations::World;

#[test]
fn signature_is_over_received_bytes_and_the_signers_certificate() {
    for curve in Curve::ALL {
        let mut world = World::new(curve);
        for with_certificate in [false, true] {
            let bytes = world.signed_cam(with_certificate);
            let message = Ieee1609Dot2Data::from_coer(&bytes).unwrap();
            assert_eq!(message.to_coer().unwrap(), bytes);
            let signed = message.signed_data().unwrap();
            let algorithm = curve.hash();
            let tbs = hash(algorithm, &[signed.tbs_data.received.0]).unwrap();
            let certificate = hash(algorithm, &[world.ticket.certificate().as_bytes()]).unwrap();
            let digest = hash(algorithm, &[tbs.as_bytes(), certificate.as_bytes()]).unwrap();
            let key = VerifyingKey::new(world.ticket_key.public_point()).unwrap();
            let signature = EcdsaSignature::from_signature(&signed.signature).unwrap();
            assert!(key.verify_digest(digest.as_bytes(), &signature));
            let other = message_digest(algorithm, signed.tbs_data.received.0, None, None).unwrap();
            assert!(!key.verify_digest(other.as_bytes(), &signature));
        }
    }
}

#[test]
fn one_digest_has_one_signature() {
    for curve in Curve::ALL {
        let mut key = World::new(curve).ticket_key;
        let digest = hash(curve.hash(), &[b"text"]).unwrap();
        assert_eq!(key.sign_digest(digest.as_bytes()), key.sign_digest(digest.as_bytes()));
        assert!(key.sign_digest(&digest.as_bytes()[1..]).is_err());
    }
}

#[test]
fn omitted_payload_is_part_of_the_digest() {
    let mut world = World::new(Curve::NistP256);
    let mut tbs = World::cam(b"");
    tbs.payload = SignedDataPayload { omitted: true, ..SignedDataPayload::default() };
    assert_eq!(sign(&tbs, SignerForm::SelfSigned, &mut world.ticket_key), Err(SignError::OmittedPayload));
    let prepared = prepare(&tbs, Some(b"elsewhere"), SignerForm::SelfSigned, Curve::NistP256).unwrap();
    let bytes = tbs.to_coer().unwrap();
    let payload = HashValue::sha256(b"elsewhere");
    let inner = HashValue::sha256(&[&bytes[..], payload.as_bytes()].concat());
    let expected = HashValue::sha256(&[inner.as_bytes(), HashValue::sha256(b"").as_bytes()].concat());
    assert_eq!(*prepared.digest(), expected);
}

#[test]
fn refuses_a_key_of_another_curve_than_the_certificates() {
    let world = World::new(Curve::NistP256);
    let mut other = World::new(Curve::BrainpoolP256r1).ticket_key;
    assert!(sign(&World::cam(b""), SignerForm::Digest(&world.ticket), &mut other).is_err());
}
