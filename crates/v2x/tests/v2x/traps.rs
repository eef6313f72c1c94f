//! What other implementations got wrong, one test each; a trap that has its test elsewhere is named with it.
//!
//! | trap | test |
//! |---|---|
//! | 1 hash over a certificate as received | `issuing::identifier_is_of_the_canonical_encoding`, and below |
//! | 2 SHA-256 for every certificate | `issuing::hash_follows_the_certificates_algorithm` |
//! | 3 signature without the signer's hash, over re-encoded bytes | `signing::signature_is_over_received_bytes_…` |
//! | 4 request hash over the inner message | below |
//! | 5 first enrolment without the canonical key | `pki_messages` |
//! | 6 identifier of a bare symmetric key | `encryption::identifier_of_a_symmetric_key_is_of_its_encoding` |
//! | 7 ECIES with the wrong P1 | `ieee_vectors::ecies_d_6_2`, and below |
//! | 8 to 12 | below |

use chronoseal_v2x::certificate::{CertificateForm, certificate_hash};
use chronoseal_v2x::coer::{Decode, DecodeErrorKind, DeviationKind, Encode, ExtensionAdditions, Rules};
use chronoseal_v2x::crypto::{Curve, HashValue};
use chronoseal_v2x::message::{Recipient, encrypt};
use chronoseal_v2x::types::*;

use crate::stations::{World, hex, rng};

/// A group of permissions with all three defaults spelt out, as one authority library writes them.
#[test]
fn trap_1_defaults_spelt_out_are_no_part_of_the_hash() {
    let spelt = hex("e0 81 0101 0100 80");
    let kind = DecodeErrorKind::NotCanonical(DeviationKind::DefaultEncoded);
    assert_eq!(PsidGroupPermissions::from_coer(&spelt).unwrap_err().kind, kind);
    let (group, deviations) = PsidGroupPermissions::from_coer_with(&spelt, Rules::LENIENT).unwrap();
    let paths: Vec<_> = deviations.iter().map(|deviation| deviation.path.to_string()).collect();
    assert_eq!(paths, ["minChainLength", "chainLengthRange", "eeType"]);
    assert_eq!(group, PsidGroupPermissions::new(SubjectPermissions::All));
    assert_eq!(group.to_coer().unwrap(), hex("00 81"));
}

/// What a request is known by is the hash of all that was sent, ciphertext and all.
#[test]
fn trap_4_request_hash_is_over_the_outermost_bytes() {
    let world = World::new(Curve::NistP256);
    let inner = Ieee1609Dot2Data::unsecured(b"request").to_coer().unwrap();
    let authority = world.authority.view();
    let (outer, _) = encrypt(&inner, &[Recipient::Certificate(&authority)], &mut rng(1)).unwrap();
    let message = Ieee1609Dot2Data::from_coer(&outer).unwrap();
    let again = message.to_coer().unwrap();
    assert_eq!(HashValue::sha256(&outer), HashValue::sha256(&again));
    assert_ne!(HashValue::sha256(&outer), HashValue::sha256(&inner));
}

/// P1 ties the key to the certificate: with that of another, it does not open.
#[test]
fn trap_7_recipient_is_named_by_canonical_hash() {
    let world = World::new(Curve::NistP256);
    let authority = world.authority.view();
    let (outer, _) = encrypt(b"x", &[Recipient::Certificate(&authority)], &mut rng(1)).unwrap();
    let message = Ieee1609Dot2Data::from_coer(&outer).unwrap();
    let id = certificate_hash(&authority, CertificateForm::Canonical).unwrap().id();
    assert_eq!(message.encrypted_data().unwrap().recipients[0].recipient_id(), id);
}

/// Distribution centres are asked by capital digits.
#[test]
fn trap_8_identifiers_in_addresses_are_in_capitals() {
    let id = HashedId8([0xe7, 0xa4, 0xb2, 0xb0, 0x45, 0xe7, 0xac, 0xf9]);
    assert_eq!(id.to_string(), "E7A4B2B045E7ACF9");
    assert_eq!(HashedId8::from_hex("e7A4b2b045e7acF9"), Some(id));
    assert_eq!(HashedId8::from_hex("e7A4b2b045e7ac+9"), None);
}

#[test]
fn trap_9_default_kind_of_entity_is_app() {
    let group = PsidGroupPermissions::from_coer(&[0, 0x81]).unwrap();
    assert_eq!(group.ee_type, EndEntityType::APP);
    assert_eq!(EndEntityType::APP, EndEntityType(0x80));
}

#[test]
fn trap_9_psid_is_a_minimal_integer_without_sign() {
    for (psid, octets) in
        [(0, "0100"), (36, "0124"), (127, "017f"), (128, "0180"), (255, "01ff"), (256, "020100"), (624, "020270")]
    {
        assert_eq!(Psid(psid).to_coer().unwrap(), hex(octets));
        assert_eq!(Psid::from_coer(&hex(octets)), Ok(Psid(psid)));
    }
    let kind = DecodeErrorKind::NotCanonical(DeviationKind::IntegerNotMinimal);
    assert_eq!(Psid::from_coer(&hex("020024")).unwrap_err().kind, kind);
    assert_eq!(Psid::from_coer(&hex("09010000000000000000")).unwrap_err().kind, DecodeErrorKind::NumberTooLarge);
}

#[test]
fn trap_9_time_is_tai_since_2004() {
    // 2004-01-01T00:00:00Z and one second before the leap second at the end of 2016.
    assert_eq!(Time64::from_unix_us(1_072_915_200_000_000), Time64(0));
    let before = Time64::from_unix_us(1_483_228_799_000_000);
    let after = Time64::from_unix_us(1_483_228_800_000_000);
    assert_eq!(after.0 - before.0, 2_000_000);
    // Five leap seconds since 2004: GPS time less 2004's 13.
    assert_eq!(Time64::from_unix_us(1_795_000_000_000_000).0, (1_795_000_000 - 1_072_915_200 + 5) * 1_000_000);
    for unix_us in [1_072_915_200_000_000, 1_136_073_599_000_000, 1_136_073_600_000_000, 1_795_000_000_123_456] {
        assert_eq!(Time64::from_unix_us(unix_us).to_unix_us(), unix_us);
    }
}

#[test]
fn trap_9_a_year_is_no_365_days() {
    assert_eq!(Duration::Years(1).us(), 31_556_952_000_000);
    assert_ne!(Duration::Years(1).us(), 365 * 86_400 * 1_000_000);
    assert_eq!(Duration::SixtyHours(1).us(), 60 * Duration::Hours(1).us());
}

#[test]
fn trap_10_signatures_come_with_an_x_alone() {
    for curve in Curve::ALL {
        let mut world = World::new(curve);
        let bytes = world.signed_cam(true);
        let message = Ieee1609Dot2Data::from_coer(&bytes).unwrap();
        let signed = message.signed_data().unwrap();
        assert_eq!(signed.signature, signed.signature.canonical());
        let SignerIdentifier::Certificate(list) = &signed.signer else { unreachable!() };
        assert_eq!(list[0], list[0].canonical());
    }
}

#[test]
fn trap_11_unknown_additions_survive() {
    let mut header = HeaderInfo::new(Psid::CAM);
    header.extensions = ExtensionAdditions { bit_count: 7, unknown: vec![(4, b"later"), (6, b"")] };
    header.pdu_functional_type = Some(1);
    let bytes = header.to_coer().unwrap();
    assert_eq!(bytes, hex("80 0124 02 01 2a 0101 05 6c61746572 00"));
    let read = HeaderInfo::from_coer(&bytes).unwrap();
    assert_eq!(read, header);
    assert_eq!(read.to_coer().unwrap(), bytes);

    let region = hex("87 03 010203");
    let read = GeographicRegion::from_coer(&region).unwrap();
    assert!(matches!(&read, GeographicRegion::Unknown(unknown) if unknown.number == 7 && unknown.bytes == [1, 2, 3]));
    assert_eq!(read.to_coer().unwrap(), region);
}

/// An older bitmap has fewer bits than ours, a newer one more; each comes back as it was.
#[test]
fn trap_11_bitmaps_of_other_versions_survive() {
    for bitmap in ["02 07 80", "02 06 80", "02 00 80", "03 07 8000"] {
        let bytes = hex(&format!("80 0124 {bitmap} 05 0101 aabbcc"));
        let read = HeaderInfo::from_coer(&bytes).unwrap();
        assert_eq!(read.inline_p2pcd_request.unwrap().iter().next(), Some(HashedId3([0xaa, 0xbb, 0xcc])));
        assert_eq!(read.to_coer().unwrap(), bytes);
    }
}

#[test]
fn trap_12_brainpool_stations_are_served() {
    use chronoseal_v2x::verify::{Context, Verifier, VerifierConfig};
    let mut world = World::with_curves(Curve::BrainpoolP384r1, Curve::BrainpoolP256r1, Curve::BrainpoolP256r1);
    let mut verifier = Verifier::new(VerifierConfig::default());
    verifier.trust_mut().insert_root(&world.root.view()).unwrap();
    verifier.trust_mut().insert_authority(&world.authority.view()).unwrap();
    let message = world.signed_cam(true);
    assert!(verifier.verify_untimed(&message, &Context::at(crate::stations::NOW)).0.is_accepted());
}
