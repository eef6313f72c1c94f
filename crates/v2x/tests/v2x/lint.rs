//! Every deviation is named with its field and its clause, and what is right is left alone.

use chronoseal_v2x::certificate::{Issuer, issue};
use chronoseal_v2x::coer::{Decode, Encode, Rules};
use chronoseal_v2x::crypto::{Curve, SoftwareKey};
use chronoseal_v2x::lint::{Kind, Report, Severity, lint, lint_among, lint_at, lint_packet};
use chronoseal_v2x::message::{SignerCertificate, SignerForm, sign};
use chronoseal_v2x::types::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::stations::{World, rng, ticket_contents};

const TLM: &[u8] = include_bytes!("../data/E7A4B2B045E7ACF9.oer");
const ECTL: &[u8] = include_bytes!("../data/CE4CF6C19BFED720.oer");
const BC_CTL: &[u8] = include_bytes!("../data/bc/rca-ctl.oer");
const BC_CRL: &[u8] = include_bytes!("../data/bc/rca-crl.oer");
const BC_ECTL: &[u8] = include_bytes!("../data/bc/ectl.oer");
const NOW: Time64 = Time64(700_000_000_000_000);

/// What was found, but for what was not checked.
fn findings(report: &Report) -> Vec<String> {
    let found = report.findings.iter().filter(|finding| finding.severity != Severity::NotChecked);
    found.map(ToString::to_string).collect()
}

fn fact<'r>(report: &'r Report, name: &str) -> &'r str {
    &report.facts.iter().find(|(fact, _)| fact == name).unwrap_or_else(|| panic!("{name}: {:?}", report.facts)).1
}

#[test]
fn the_european_trust_list_and_its_manager_are_clean() {
    let report = lint(TLM).unwrap();
    assert_eq!((report.kind, findings(&report)), (Kind::Certificate, vec![]));
    assert_eq!(fact(&report, "hashedId8"), "E7A4B2B045E7ACF9");
    assert_eq!(fact(&report, "signature"), "its own, and right");
    let report = lint(ECTL).unwrap();
    assert_eq!(report.kind, Kind::TrustList);
    assert_eq!(findings(&report), Vec::<String>::new());
}

#[test]
fn the_second_vendors_lists_are_clean() {
    for bytes in [BC_CTL, BC_CRL, BC_ECTL] {
        let report = lint(bytes).unwrap();
        assert_eq!((report.kind, findings(&report)), (Kind::TrustList, vec![]));
    }
}

/// A self-signed certificate that may sign everything used here, changed before it is signed.
fn certificate(change: impl FnOnce(&mut ToBeSignedCertificate<'_>)) -> (CertificateBuf, SoftwareKey) {
    let mut key = SoftwareKey::generate(Curve::NistP256, &mut ChaCha8Rng::seed_from_u64(3));
    let indicator = VerificationKeyIndicator::VerificationKey(key.public_point().to_verification_key());
    let period = ValidityPeriod { start: NOW.time32(), duration: Duration::Hours(1) };
    let mut tbs = ToBeSignedCertificate::new(CertificateId::None, period, indicator);
    let permit = |psid| PsidSsp { psid, ssp: None };
    tbs.app_permissions = Some(vec![permit(Psid::CAM), permit(Psid::DENM)]);
    change(&mut tbs);
    (issue(tbs, Issuer::SelfSigned, &mut key).unwrap(), key)
}

fn of_certificate(change: impl FnOnce(&mut ToBeSignedCertificate<'_>)) -> Vec<String> {
    findings(&lint(certificate(change).0.as_bytes()).unwrap())
}

#[test]
fn a_plain_certificate_is_clean() {
    assert_eq!(of_certificate(|_| ()), Vec::<String>::new());
}

#[test]
fn names_what_the_profile_rules_out() {
    type Change = fn(&mut ToBeSignedCertificate<'_>);
    let cases: [(&str, Change); 9] = [
        ("toBeSigned.id: an authorization ticket with a name (TS 103 097 7.2.1)", |tbs| {
            tbs.id = CertificateId::Name("x")
        }),
        ("toBeSigned.id: neither a name nor none (TS 103 097 6)", |tbs| tbs.id = CertificateId::BinaryId(b"x")),
        ("toBeSigned.cracaId: 010203 instead of 000000 (TS 103 097 6)", |tbs| tbs.craca_id = HashedId3([1, 2, 3])),
        ("toBeSigned.crlSeries: 7 instead of 0 (TS 103 097 6)", |tbs| tbs.crl_series = 7),
        ("toBeSigned.canRequestRollover: has to be absent (TS 103 097 6)", |tbs| tbs.can_request_rollover = true),
        ("toBeSigned.appPermissions[1].psid: 36 for the second time (IEEE 1609.2 6.4.8)", |tbs| {
            tbs.app_permissions = Some(vec![PsidSsp { psid: Psid(36), ssp: None }; 2]);
        }),
        (
            "toBeSigned: permits nothing: neither application, issue nor request permissions (IEEE 1609.2 6.4.8)",
            |tbs| tbs.app_permissions = None,
        ),
        ("toBeSigned.certIssuePermissions[0].minChainLength: less than one (IEEE 1609.2 6.4.30)", |tbs| {
            let group =
                PsidGroupPermissions { min_chain_length: 0, ..PsidGroupPermissions::new(SubjectPermissions::All) };
            tbs.cert_issue_permissions = Some(vec![group]);
        }),
        ("toBeSigned.validityPeriod.duration: never valid (IEEE 1609.2 6.4.16)", |tbs| {
            tbs.validity_period.duration = Duration::Hours(0);
        }),
    ];
    for (expected, change) in cases {
        assert_eq!(of_certificate(change), [expected]);
    }
}

#[test]
fn names_a_changed_signature_and_the_bytes_of_an_uncompressed_point() {
    let (buf, key) = certificate(|_| ());
    let mut bytes = buf.as_bytes().to_vec();
    *bytes.last_mut().unwrap() ^= 1;
    assert_eq!(findings(&lint(&bytes).unwrap()), ["signature: not by the certificate's own key (IEEE 1609.2 5.3.1)"]);

    let point = key.public_point();
    let compressed = [&[0x82 | u8::from(point.y_is_odd())][..], point.x()].concat();
    let place = buf.as_bytes().windows(33).position(|window| window == compressed).unwrap();
    let mut bytes = buf.as_bytes().to_vec();
    bytes.splice(place..place + 33, [&[0x84][..], point.x(), point.y()].concat());
    let (parsed, _) = Certificate::from_coer_with(&bytes, Rules::LENIENT).unwrap();
    assert_ne!(parsed.to_coer().unwrap().len(), buf.as_bytes().len());
    let report = lint(&bytes).unwrap();
    let found = findings(&report);
    assert!(found[0].ends_with("public key point not compressed (IEEE 1609.2 6.4.3)"), "{found:?}");
    assert!(found[0].contains("toBeSigned.verifyKeyIndicator"), "{found:?}");
    assert!(found.iter().any(|one| one.contains("not in its canonical form: identified by")), "{found:?}");
}

#[test]
fn a_certificate_is_verified_with_that_of_its_issuer_or_said_not_to_be() {
    let (root, mut root_key) = certificate(|_| ());
    let root = SignerCertificate::new(root).unwrap();
    let key = SoftwareKey::generate(Curve::NistP256, &mut ChaCha8Rng::seed_from_u64(4));
    let indicator = VerificationKeyIndicator::VerificationKey(key.public_point().to_verification_key());
    let period = ValidityPeriod { start: NOW.time32(), duration: Duration::Hours(1) };
    let mut tbs = ToBeSignedCertificate::new(CertificateId::None, period, indicator);
    tbs.app_permissions = Some(vec![PsidSsp { psid: Psid::CAM, ssp: None }]);
    let view = root.certificate().view();
    let issued = issue(tbs, Issuer::Certificate(&view), &mut root_key).unwrap();
    let mut flipped = issued.as_bytes().to_vec();
    *flipped.last_mut().unwrap() ^= 1;
    let known = [view];
    let among = |bytes: &[u8], known: &[Certificate<'_>]| lint_among(bytes, NOW, known).unwrap();

    let right = among(issued.as_bytes(), &known);
    assert_eq!((right.is_clean(), right.is_checked()), (true, true));
    assert_eq!(fact(&right, "signature"), format!("by its issuer {}, and right", root.id()));
    let wrong = format!("signature: not by the key of its issuer {} (IEEE 1609.2 5.3.1)", root.id());
    assert_eq!(findings(&among(&flipped, &known)), [wrong]);
    for bytes in [issued.as_bytes(), &flipped] {
        let alone = lint(bytes).unwrap();
        assert_eq!((alone.is_clean(), alone.is_checked(), findings(&alone)), (true, false, vec![]));
        let said = alone.findings[0].to_string();
        assert!(said.starts_with("signature: not checked, because the certificate of its issuer"), "{said}");
    }
}

#[test]
fn a_message_that_names_its_signer_is_verified_with_that_certificate_or_said_not_to_be() {
    let bytes = message(Psid::CAM, false, |_| ());
    let mut flipped = bytes.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let (signer, _) = certificate(|_| ());
    let known = [signer.view()];
    let right = lint_among(&bytes, NOW, &known).unwrap();
    assert_eq!((right.is_checked(), findings(&right)), (true, vec![]));
    let wrong = "content.signedData.signature: not by its signer's certificate (IEEE 1609.2 5.3.1)";
    assert_eq!(findings(&lint_among(&flipped, NOW, &known).unwrap()), [wrong]);
    assert_eq!(findings(&lint_packet(&flipped, &known).unwrap()), [wrong]);
    let alone = lint(&flipped).unwrap();
    assert_eq!((alone.is_clean(), alone.is_checked()), (true, false));
}

fn message(psid: Psid, with_certificate: bool, change: impl FnOnce(&mut HeaderInfo<'_>)) -> Vec<u8> {
    let (buf, mut key) = certificate(|_| ());
    let signer = SignerCertificate::new(buf).unwrap();
    let mut header_info = HeaderInfo { generation_time: Some(NOW), ..HeaderInfo::new(psid) };
    change(&mut header_info);
    let payload = SignedDataPayload::unsecured(b"payload");
    let tbs = ToBeSignedData { payload, header_info, received: Received::default() };
    let form = if with_certificate { SignerForm::Certificate(&signer) } else { SignerForm::Digest(&signer) };
    sign(&tbs, form, &mut key).unwrap()
}

fn of_message(psid: Psid, with_certificate: bool, change: impl FnOnce(&mut HeaderInfo<'_>)) -> Vec<String> {
    findings(&lint(&message(psid, with_certificate, change)).unwrap())
}

const HERE: ThreeDLocation = ThreeDLocation { latitude: 1, longitude: 2, elevation: 3 };

#[test]
fn messages_of_the_profile_are_clean() {
    assert_eq!(of_message(Psid::CAM, false, |_| ()), Vec::<String>::new());
    assert_eq!(of_message(Psid::CAM, true, |_| ()), Vec::<String>::new());
    assert_eq!(of_message(Psid::DENM, true, |header| header.generation_location = Some(HERE)), Vec::<String>::new());
}

#[test]
fn names_what_a_header_lacks_or_has_too_much() {
    let absent = of_message(Psid::CAM, false, |header| header.generation_time = None);
    assert_eq!(absent, ["content.signedData.tbsData.headerInfo.generationTime: absent (TS 103 097 5.2)"]);
    let located = of_message(Psid::CAM, false, |header| header.generation_location = Some(HERE));
    assert!(located[0].contains("a CAM has neither location"), "{located:?}");
    let expired = of_message(Psid(99), false, |header| header.expiry_time = Some(NOW));
    assert!(expired[0].contains("not after the generation time"), "{expired:?}");
    let bare = of_message(Psid::DENM, false, |_| ());
    assert!(bare.iter().any(|one| one.contains("generationLocation: absent from a DENM")), "{bare:?}");
    assert!(bare.iter().any(|one| one.contains("a DENM holds its signer's certificate")), "{bare:?}");
}

#[test]
fn names_a_message_its_certificate_does_not_cover() {
    let foreign = of_message(Psid(99), true, |_| ());
    assert!(foreign[0].contains("99 is none of the signer's permissions"), "{foreign:?}");
    let late = of_message(Psid::CAM, true, |header| header.generation_time = Some(NOW.plus_us(7_200_000_000)));
    assert!(late[0].contains("outside the validity of the signer's certificate"), "{late:?}");
    let mut bytes = message(Psid::CAM, true, |_| ());
    *bytes.last_mut().unwrap() ^= 1;
    let forged = findings(&lint(&bytes).unwrap());
    assert_eq!(forged, ["content.signedData.signature: not by its signer's certificate (IEEE 1609.2 5.3.1)"]);
}

#[test]
fn what_follows_a_message_in_its_frame_is_no_violation() {
    let whole = message(Psid::CAM, true, |_| ());
    assert_eq!(lint_packet(&whole, &[]).unwrap(), lint(&whole).unwrap());
    let framed = [&whole[..], &[0xde, 0xad, 0xbe, 0xef]].concat();
    let report = lint_packet(&framed, &[]).unwrap();
    assert!(report.is_clean());
    assert_eq!(findings(&report), ["the whole: 4 bytes of the frame follow, padding or a check sequence"]);
    assert!(lint(&framed).is_err(), "a file holds nothing else");
    assert!(lint_packet(&whole[..whole.len() - 1], &[]).is_err());
}

#[test]
fn what_is_neither_is_an_error_that_says_where() {
    let error = lint(b"\x03\x85").unwrap_err();
    assert!(error.to_string().starts_with("byte 2"), "{error}");
    assert!(lint(b"").is_err());
}

#[test]
fn no_changed_byte_makes_it_panic() {
    for whole in [TLM, BC_CTL, BC_CRL] {
        for at in 0..whole.len() {
            let mut bytes = whole.to_vec();
            bytes[at] ^= 8;
            let _ = lint(&bytes);
            let _ = lint(&whole[..at]);
        }
    }
}

#[test]
fn names_algorithms_that_are_read_and_not_computed() {
    let note = |path: &str, algorithm: &str| {
        format!("{path}: {algorithm}, an unsupported algorithm: read, but neither verified nor opened here")
    };
    let key = BasePublicEncryptionKey::EcencSm2(CurvePoint::CompressedY0([4; 32]));
    let key = PublicEncryptionKey { supported_symm_alg: SymmAlgorithm::Sm4Ccm, public_key: key };
    let found = of_certificate(|tbs| tbs.encryption_key = Some(key));
    assert_eq!(found, [note("toBeSigned.encryptionKey", "SM2"), note("toBeSigned.encryptionKey", "SM4")]);

    let (buf, _) = certificate(|_| ());
    let mut foreign = buf.view();
    foreign.issuer = IssuerIdentifier::Sm3AndDigest(HashedId8([3; 8]));
    foreign.signature = Some(Signature::Sm2 { r_sig: [1; 32], s_sig: [2; 32] });
    let public = PublicVerificationKey::EcsigSm2(CurvePoint::CompressedY0([4; 32]));
    foreign.to_be_signed.verify_key_indicator = VerificationKeyIndicator::VerificationKey(public);
    let found = findings(&lint(&foreign.to_coer().unwrap()).unwrap());
    let key_path = "toBeSigned.verifyKeyIndicator.verificationKey";
    assert_eq!(found, [note(key_path, "SM2"), note("signature", "SM2"), note("issuer", "SM3")]);

    let bytes = message(Psid::CAM, false, |_| ());
    let mut decoded = Ieee1609Dot2Data::from_coer(&bytes).unwrap();
    let Ieee1609Dot2Content::SignedData(signed) = &mut decoded.content else { panic!("it is signed") };
    signed.hash_id = HashAlgorithm::Sm3;
    signed.signature = Signature::Sm2 { r_sig: [1; 32], s_sig: [2; 32] };
    let found = findings(&lint(&decoded.to_coer().unwrap()).unwrap());
    let path = |field| format!("content.signedData.{field}");
    assert_eq!(found, [note(&path("signature"), "SM2"), note(&path("hashId"), "SM3")]);

    let sealed = CcmCiphertext { nonce: [0; 12], ccm_ciphertext: &[0; 20] };
    let ciphertext = SymmetricCiphertext::Sm4Ccm(sealed);
    let recipients = vec![RecipientInfo::Symmetric { recipient_id: HashedId8([1; 8]), enc_key: ciphertext }];
    let content = Ieee1609Dot2Content::EncryptedData(EncryptedData { recipients, ciphertext });
    let found = findings(&lint(&Ieee1609Dot2Data { content }.to_coer().unwrap()).unwrap());
    let path = |field| format!("content.encryptedData.{field}");
    assert_eq!(found[..2], [note(&path("ciphertext"), "SM4"), note(&path("recipients[0].encKey"), "SM4")]);
}

#[test]
fn names_a_region_that_is_none() {
    let found = of_certificate(|tbs| tbs.region = Some(GeographicRegion::Rectangular(vec![])));
    assert_eq!(found, ["toBeSigned.region: an empty list (IEEE 1609.2 6.4.17)"]);
}

#[test]
fn names_a_credential_that_others_take_for_a_ticket() {
    let asks = || Some(vec![PsidSsp { psid: Psid::CERTIFICATE_REQUEST, ssp: None }]);
    let world = World::new(Curve::NistP256);
    let of_credential = |id: CertificateId<'static>| {
        let mut rng = rng(81);
        let mut authority_key = world.authority_key.clone();
        let key = SoftwareKey::generate(Curve::NistP256, &mut rng);
        let mut tbs = ToBeSignedCertificate { id, ..ticket_contents(&key) };
        tbs.app_permissions = asks();
        let issued = issue(tbs, Issuer::Certificate(&world.authority.view()), &mut authority_key).unwrap();
        findings(&lint(issued.as_bytes()).unwrap())
    };
    let found = of_credential(CertificateId::None);
    assert_eq!(
        found,
        ["toBeSigned.id: an enrolment credential without a name, which others take for a ticket (TS 103 097 7.2.2)"]
    );
    assert!(of_credential(CertificateId::Name("enrolment credential")).is_empty());
}

#[test]
fn dates_are_those_of_the_calendar_and_the_far_future_is_called_so() {
    let (buf, _) = certificate(|_| ());
    let view = buf.view();
    let start = view.to_be_signed.validity_period.start.time64();
    let report = lint(buf.as_bytes()).unwrap();
    let valid = fact(&report, "valid");
    assert!(valid.starts_with(&format!("{} to ", start.date())) && valid.contains(" UTC ("), "{valid}");
    let at = |before_us: u64| findings(&lint_at(buf.as_bytes(), Time64(start.0 - before_us)).unwrap());
    let day = 86_400_000_000;
    assert!(at(0).is_empty() && at(366 * day).is_empty(), "tickets are preloaded");
    let said = format!("toBeSigned.validityPeriod.start: far in the future: {} UTC", start.date());
    assert_eq!(at(367 * day), [said]);
}
