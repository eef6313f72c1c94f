//! Messages are signed as their receivers compute it.

use chronoseal_v2x::coer::{Decode, Encode};
use chronoseal_v2x::crypto::{Curve, EcdsaSignature, HashValue, SigningKey, SoftwareKey, VerifyingKey, hash};
use chronoseal_v2x::message::{SignError, SignerForm, message_digest, prepare, sign};
use chronoseal_v2x::types::*;

use crate::stations::{World, hex};

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
            let key = VerifyingKey::new(world.ticket_key.public_point());
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

/// RFC 6979 annexes A.2.5 and A.2.6, message "sample"; whichever library the curve comes from.
#[test]
fn signs_as_rfc_6979_says() {
    let vectors = [
        (
            Curve::NistP256,
            "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721",
            "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716
             F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8",
        ),
        (
            Curve::NistP384,
            "6b9d3dad2e1b8c1c05b19875b6659f4de23c3b667bf297ba9aa47740787137d896d5724e4c70a825f872c9ea60d2edf5",
            "94edbb92a5ecb8aad4736e56c691916b3f88140666ce9fa73d64c4ea95ad133c81a648152e44acf96e36dd1e80fabe46
             99ef4aeb15f178cea1fe40db2603138f130e740a19624526203b6351d0a3a94fa329c145786e679e7b82c71a38628ac8",
        ),
    ];
    for (curve, scalar, signature) in vectors {
        let mut key = SoftwareKey::from_scalar(curve, &hex(scalar)).unwrap();
        let digest = hash(curve.hash(), &[b"sample"]).unwrap();
        let signed = key.sign_digest(digest.as_bytes()).unwrap();
        assert_eq!([signed.r(), signed.s()].concat(), hex(signature));
    }
}
