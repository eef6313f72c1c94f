//! Certificates are issued on every curve and refused when anything was changed.

use chronoseal_v2x::certificate::*;
use chronoseal_v2x::coer::{Decode, Encode, Rules};
use chronoseal_v2x::crypto::{Curve, PublicPoint, VerifyingKey};
use chronoseal_v2x::types::*;

use crate::stations::World;

const TLM: &[u8] = include_bytes!("../data/E7A4B2B045E7ACF9.oer");

fn key_of(certificate: &Certificate<'_>) -> VerifyingKey {
    let VerificationKeyIndicator::VerificationKey(key) = &certificate.to_be_signed.verify_key_indicator else {
        panic!("no verification key")
    };
    VerifyingKey::from_verification_key(key).unwrap()
}

#[test]
fn chains_verify_on_every_pair_of_curves() {
    for root in Curve::ALL {
        for authority in Curve::ALL {
            let world = World::with_curves(root, authority, Curve::NistP256);
            let (root, authority) = (world.root.view(), world.authority.view());
            let root_hash = certificate_hash(&root, CertificateForm::CanonicalOnly).unwrap();
            let authority_hash = certificate_hash(&authority, CertificateForm::CanonicalOnly).unwrap();
            verify_certificate_signature(&root, None, &key_of(&root)).unwrap();
            verify_certificate_signature(&authority, Some(&root_hash), &key_of(&root)).unwrap();
            let ticket = world.ticket.certificate().view();
            verify_certificate_signature(&ticket, Some(&authority_hash), &key_of(&authority)).unwrap();
            assert_eq!(
                verify_certificate_signature(&ticket, Some(&root_hash), &key_of(&root)),
                Err(CertificateError::WrongIssuer)
            );
        }
    }
}

#[test]
fn hash_follows_the_certificates_algorithm() {
    // The file's name is the end of its SHA-384, because its key is of brainpoolP384r1.
    let tlm = Certificate::from_coer(TLM).unwrap();
    let hash = certificate_hash(&tlm, CertificateForm::Canonical).unwrap();
    assert_eq!(hash.algorithm, HashAlgorithm::Sha384);
    assert_eq!(hash.id().to_string(), "E7A4B2B045E7ACF9");
}

#[test]
fn the_european_trust_list_managers_signature_holds() {
    let tlm = Certificate::from_coer(TLM).unwrap();
    verify_certificate_signature(&tlm, None, &key_of(&tlm)).unwrap();
    let mut changed = TLM.to_vec();
    changed[20] ^= 1;
    let changed = Certificate::from_coer(&changed).unwrap();
    assert_eq!(verify_certificate_signature(&changed, None, &key_of(&tlm)), Err(CertificateError::WrongSignature));
}

#[test]
fn identifier_is_of_the_canonical_encoding() {
    let world = World::new(Curve::NistP256);
    let canonical = world.authority.view();
    // Three ways in which other issuers' certificates come: a key spelt out, an r as a point, a default spelt out.
    let point = PublicPoint::from_verification_key(&match &canonical.to_be_signed.verify_key_indicator {
        VerificationKeyIndicator::VerificationKey(key) => *key,
        _ => unreachable!(),
    })
    .unwrap();
    let mut variant = canonical.clone();
    variant.to_be_signed.verify_key_indicator =
        VerificationKeyIndicator::VerificationKey(PublicVerificationKey::EcdsaNistP256(CurvePoint::Uncompressed {
            x: point.x().try_into().unwrap(),
            y: point.y().try_into().unwrap(),
        }));
    let Some(Signature::EcdsaNistP256(value)) = &mut variant.signature else { unreachable!() };
    value.r_sig = CurvePoint::CompressedY1(*value.r_sig.x().unwrap());
    let bytes = variant.to_coer().unwrap();
    assert!(Certificate::from_coer(&bytes).is_err());
    let (received, deviations) = Certificate::from_coer_with(&bytes, Rules::LENIENT).unwrap();
    let paths: Vec<_> = deviations.iter().map(|deviation| deviation.path.to_string()).collect();
    assert_eq!(
        paths,
        ["toBeSigned.verifyKeyIndicator.verificationKey.ecdsaNistP256", "signature.ecdsaNistP256Signature.rSig"]
    );
    assert_eq!(hashed_id8(&received).unwrap(), hashed_id8(&canonical).unwrap());
    let as_received = certificate_hash(&received, CertificateForm::AsReceived).unwrap();
    assert_ne!(as_received.id(), hashed_id8(&canonical).unwrap());
    assert_eq!(certificate_hash(&received, CertificateForm::CanonicalOnly), Err(CertificateError::NotCanonical));
}
