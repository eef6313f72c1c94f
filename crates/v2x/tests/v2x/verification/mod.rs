//! Each check refuses what it is for, and says so.

mod places;
mod sharing;

use chronoseal_v2x::certificate::{Issuer, issue};
use chronoseal_v2x::coer::{Decode, Encode};
use chronoseal_v2x::crypto::{Curve, SoftwareKey};
use chronoseal_v2x::message::{SignerCertificate, SignerForm, prepare, sign};
use chronoseal_v2x::types::*;
use chronoseal_v2x::verify::*;

use crate::stations::{NOW, World, issue_permissions, key_of, rng, ticket_contents, year};

const PLACE: TwoDLocation = TwoDLocation { latitude: 481_351_253, longitude: 115_819_806 };

fn verifier(world: &World) -> Verifier {
    verifier_with(world, VerifierConfig::default())
}

fn verifier_with(world: &World, config: VerifierConfig) -> Verifier {
    let mut verifier = Verifier::new(config);
    verifier.trust_mut().insert_root(&world.root.view()).unwrap();
    verifier.trust_mut().insert_authority(&world.authority.view()).unwrap();
    verifier
}

fn at(us: u64) -> Context<'static> {
    Context::at(NOW.plus_us(us))
}

/// Verifies, and checks that the failure is the one that is expected.
#[track_caller]
fn refused(verifier: &mut Verifier, message: &[u8], context: &Context<'_>, kind: CheckKind, code: ResultCode) {
    let (verdict, _) = verifier.verify(message, context, &mut NoStopwatch);
    assert_eq!(verdict.failure(), Some((kind, code)), "{verdict:#?}");
    assert!(!verdict.is_accepted());
    let after = verdict.checks.iter().skip(kind as usize + 1);
    for check in after.filter(|check| check.kind != CheckKind::Signature) {
        assert_eq!(check.outcome, Outcome::Skipped(SkipReason::EarlierFailure));
    }
}

#[track_caller]
fn accepted(verifier: &mut Verifier, message: &[u8], context: &Context<'_>) -> Verdict {
    let (verdict, decoded) = verifier.verify(message, context, &mut NoStopwatch);
    assert!(verdict.is_accepted(), "{verdict:#?}");
    assert!(decoded.is_some());
    verdict
}

/// Signs under a ticket that differs from the usual one.
fn cam_under(world: &World, change: impl FnOnce(&mut ToBeSignedCertificate<'static>)) -> Vec<u8> {
    let mut key = SoftwareKey::generate(Curve::NistP256, &mut rng(99));
    let mut tbs = ticket_contents(&key);
    change(&mut tbs);
    let mut authority_key = world.authority_key.clone();
    let ticket = issue(tbs, Issuer::Certificate(&world.authority.view()), &mut authority_key).unwrap();
    let ticket = SignerCertificate::new(ticket).unwrap();
    sign(&World::cam(b"a cam"), SignerForm::Certificate(&ticket), &mut key).unwrap()
}

/// Signs a CAM with another header.
fn cam_with(world: &mut World, change: impl FnOnce(&mut ToBeSignedData<'static>)) -> Vec<u8> {
    let mut tbs = World::cam(b"a cam");
    change(&mut tbs);
    sign(&tbs, SignerForm::Certificate(&world.ticket), &mut world.ticket_key).unwrap()
}

#[test]
fn accepts_by_certificate_then_by_digest_on_every_curve() {
    for curve in Curve::ALL {
        let mut world = World::new(curve);
        let mut verifier = verifier(&world);
        let by_digest = world.signed_cam(false);
        let id = world.ticket.id();
        refused(&mut verifier, &by_digest, &at(0), CheckKind::Signer, ResultCode::SpduParsingCertificateNotFound);
        assert!(verifier.peers_mut().is_wanted(id));
        let verdict = accepted(&mut verifier, &world.signed_cam(true), &at(1));
        assert_eq!((verdict.signer, verdict.psid), (Some(id), Some(Psid::CAM)));
        assert!(!verifier.peers_mut().is_wanted(id) && verifier.neighbours().contains(id));
        // The same text by digest has the same digest: it is a replay, so another text.
        let mut other = World::cam(b"another cam");
        other.header_info.generation_time = Some(NOW.plus_us(100_000));
        let other = sign(&other, SignerForm::Digest(&world.ticket), &mut world.ticket_key).unwrap();
        accepted(&mut verifier, &other, &at(100_000));
    }
}

#[test]
fn takes_the_authority_from_the_message_if_its_root_is_trusted() {
    let mut world = World::new(Curve::NistP256);
    let mut verifier = Verifier::new(VerifierConfig::default());
    verifier.trust_mut().insert_root(&world.root.view()).unwrap();
    let alone = world.signed_cam(true);
    let not_enough = ResultCode::SpduCertificateChainNotEnoughInformationToConstructChain;
    refused(&mut verifier, &alone, &at(0), CheckKind::Chain, not_enough);
    let above = [world.authority.clone()];
    let with_chain =
        sign(&World::cam(b"a cam"), SignerForm::Chain(&world.ticket, &above), &mut world.ticket_key).unwrap();
    // The authority asked for above was told so to the peers.
    assert_eq!(verifier.peers_mut().inline_request(NOW).len(), 3);
    accepted(&mut verifier, &with_chain, &at(0));
    assert!(verifier.peers_mut().inline_request(NOW).is_empty());
    assert_eq!(verifier.trust().authorities().count(), 2);
}

#[test]
fn refuses_a_foreign_root() {
    let mut world = World::new(Curve::NistP256);
    let foreign = World::new(Curve::BrainpoolP256r1);
    let mut verifier = Verifier::new(VerifierConfig::default());
    verifier.trust_mut().insert_root(&foreign.root.view()).unwrap();
    let above = [world.authority.clone(), world.root.clone()];
    let message = sign(&World::cam(b""), SignerForm::Chain(&world.ticket, &above), &mut world.ticket_key).unwrap();
    let code = ResultCode::SpduCertificateChainChainEndedAtUntrustedRoot;
    refused(&mut verifier, &message, &at(0), CheckKind::Chain, code);
}

#[test]
fn refuses_replays_also_by_two_ways_at_once() {
    let mut world = World::new(Curve::NistP256);
    let mut verifier = verifier(&world);
    let message = world.signed_cam(true);
    accepted(&mut verifier, &message, &at(0));
    let code = ResultCode::SpduRelevanceReplayedSpdu;
    refused(&mut verifier, &message, &at(1), CheckKind::Replay, code);
    refused(&mut verifier, &world.signed_cam(false), &at(2), CheckKind::Replay, code);

    let second = cam_with(&mut world, |tbs| tbs.payload = SignedDataPayload::unsecured(b"second"));
    let one = verifier.begin(&second, &at(3), &mut NoStopwatch);
    let two = verifier.begin(&second, &at(3), &mut NoStopwatch);
    let results = one.jobs().map(SignatureJob::verify).collect::<Vec<_>>();
    assert!(verifier.finish(one, &results, 0).0.is_accepted());
    assert_eq!(verifier.finish(two, &results, 0).0.failure(), Some((CheckKind::Replay, code)));
}

#[test]
fn a_refused_message_is_no_replay_when_the_real_one_comes() {
    let mut world = World::new(Curve::NistP256);
    let mut verifier = verifier(&world);
    let message = world.signed_cam(true);
    let mut forged = message.clone();
    *forged.last_mut().unwrap() ^= 1;
    let code = ResultCode::SpduCryptoVerificationFailure;
    refused(&mut verifier, &forged, &at(0), CheckKind::Signature, code);
    assert!(verifier.neighbours().is_empty());
    accepted(&mut verifier, &message, &at(0));
}

#[test]
fn refuses_old_future_and_undated_messages() {
    let mut world = World::new(Curve::NistP256);
    let mut verifier = verifier(&world);
    let message = world.signed_cam(true);
    let past = ResultCode::SpduRelevanceGenerationTimeTooFarInPast;
    refused(&mut verifier, &message, &at(2_000_001), CheckKind::Freshness, past);
    let future = ResultCode::SpduRelevanceGenerationTimeTooFarInFuture;
    let early = Context::at(Time64(NOW.0 - 200_001));
    refused(&mut verifier, &message, &early, CheckKind::Freshness, future);
    accepted(&mut verifier, &message, &Context::at(Time64(NOW.0 - 200_000)));

    let undated = cam_with(&mut world, |tbs| tbs.header_info.generation_time = None);
    let code = ResultCode::SpduParsingGenerationTimeNotAvailable;
    refused(&mut verifier, &undated, &at(0), CheckKind::Freshness, code);
    let over = cam_with(&mut world, |tbs| {
        tbs.header_info.psid = Psid::VAM;
        tbs.header_info.expiry_time = Some(NOW.plus_us(5));
    });
    let code = ResultCode::SpduRelevanceExpiryTimeInPast;
    refused(&mut verifier, &over, &at(6), CheckKind::Freshness, code);
    let inverted = cam_with(&mut world, |tbs| {
        tbs.header_info.psid = Psid::VAM;
        tbs.header_info.expiry_time = Some(NOW);
    });
    let code = ResultCode::SpduInternalConsistencyExpiryTimeBeforeGenerationTime;
    refused(&mut verifier, &inverted, &at(0), CheckKind::Consistency, code);
}

#[test]
fn refuses_a_ticket_before_and_after_its_time() {
    let world = World::new(Curve::NistP256);
    let mut verifier = verifier(&world);
    let expired = cam_under(&world, |tbs| {
        tbs.validity_period = ValidityPeriod { start: Time32(720_000_000), duration: Duration::Hours(1) };
    });
    let code = ResultCode::SpduConsistencyExpiredCertificateAtGenerationTime;
    refused(&mut verifier, &expired, &at(0), CheckKind::ValidityTime, code);
    let future = cam_under(&world, |tbs| {
        tbs.validity_period = ValidityPeriod { start: Time32(722_000_001), duration: Duration::Hours(1) };
    });
    let code = ResultCode::SpduConsistencyFutureCertificateAtGenerationTime;
    refused(&mut verifier, &future, &at(0), CheckKind::ValidityTime, code);
}

#[test]
fn refuses_tickets_that_do_not_fit_below_their_authority() {
    let world = World::new(Curve::NistP256);
    let mut verifier = verifier(&world);
    let longer = cam_under(&world, |tbs| {
        tbs.validity_period = ValidityPeriod { start: Time32(721_900_000), duration: Duration::Years(9) };
    });
    let code = ResultCode::SpduCertificateChainInconsistentExpiryTimes;
    refused(&mut verifier, &longer, &at(0), CheckKind::Chain, code);
    let earlier = cam_under(&world, |tbs| {
        tbs.validity_period = ValidityPeriod { start: Time32(699_999_999), duration: Duration::Years(1) };
    });
    let code = ResultCode::SpduCertificateChainInconsistentStartTimes;
    refused(&mut verifier, &earlier, &at(0), CheckKind::Chain, code);
    let code = ResultCode::SpduCertificateChainInconsistentChainPermissions;
    for psid_ssp in [
        PsidSsp { psid: Psid::CTL, ssp: None },
        PsidSsp { psid: Psid::CAM, ssp: None },
        PsidSsp { psid: Psid::CAM, ssp: Some(ServiceSpecificPermissions::Bitmap(&[2, 0, 0])) },
        PsidSsp { psid: Psid::CAM, ssp: Some(ServiceSpecificPermissions::Bitmap(&[1, 0, 3])) },
        PsidSsp { psid: Psid::CAM, ssp: Some(ServiceSpecificPermissions::Bitmap(&[1, 0])) },
        PsidSsp { psid: Psid::CAM, ssp: Some(ServiceSpecificPermissions::Opaque(&[1, 0, 0])) },
    ] {
        let message = cam_under(&world, |tbs| tbs.app_permissions = Some(vec![psid_ssp.clone()]));
        refused(&mut verifier, &message, &at(0), CheckKind::Chain, code);
    }
    // A ticket that would issue others.
    let message = cam_under(&world, |tbs| tbs.cert_issue_permissions = Some(issue_permissions()));
    refused(&mut verifier, &message, &at(0), CheckKind::Chain, code);
}

#[test]
fn refuses_a_station_that_issues_tickets() {
    // A ticket's holder signs a certificate with the ticket's key.
    let mut world = World::new(Curve::NistP256);
    let mut verifier = verifier(&world);
    let mut key = SoftwareKey::generate(Curve::NistP256, &mut rng(5));
    let ticket = world.ticket.certificate().view();
    let below = issue(ticket_contents(&key), Issuer::Certificate(&ticket), &mut world.ticket_key).unwrap();
    let below = SignerCertificate::new(below).unwrap();
    let above = [world.ticket.certificate().clone()];
    let message = sign(&World::cam(b""), SignerForm::Chain(&below, &above), &mut key).unwrap();
    let code = ResultCode::SpduCertificateChainInconsistentChainPermissions;
    refused(&mut verifier, &message, &at(0), CheckKind::Chain, code);
    // Nor after the ticket is known.
    accepted(&mut verifier, &world.signed_cam(true), &at(0));
    let alone = sign(&World::cam(b""), SignerForm::Certificate(&below), &mut key).unwrap();
    let code = ResultCode::SpduCertificateChainNotEnoughInformationToConstructChain;
    refused(&mut verifier, &alone, &at(0), CheckKind::Chain, code);
}

#[test]
fn refuses_what_the_ticket_does_not_permit() {
    let mut world = World::new(Curve::NistP256);
    let mut verifier = verifier(&world);
    let other = cam_with(&mut world, |tbs| tbs.header_info.psid = Psid::VAM);
    let code = ResultCode::SpduConsistencyUnauthorizedPsid;
    refused(&mut verifier, &other, &at(0), CheckKind::Permissions, code);
    let message = world.signed_cam(true);
    let needing = |ssp_needed| Context { ssp_needed: Some(ssp_needed), ..at(0) };
    refused(&mut verifier, &message, &needing(&[1, 0, 1]), CheckKind::Permissions, code);
    refused(&mut verifier, &message, &needing(&[2, 1, 0]), CheckKind::Permissions, code);
    refused(&mut verifier, &message, &needing(&[1, 0, 0, 1]), CheckKind::Permissions, code);
    let elsewhere = Context { psid: Some(Psid::DENM), ..at(0) };
    let code = ResultCode::SpduLocalConsistencyPsidsDontMatch;
    refused(&mut verifier, &message, &elsewhere, CheckKind::Consistency, code);
    accepted(&mut verifier, &message, &needing(&[1, 0x80, 4]));
}

#[test]
fn refuses_what_was_revoked_at_every_height_and_takes_it_back() {
    let mut world = World::new(Curve::NistP256);
    let code = ResultCode::SpduCertificateChainCertificateRevoked;
    let root = chronoseal_v2x::certificate::hashed_id8(&world.root.view()).unwrap();
    let authority = chronoseal_v2x::certificate::hashed_id8(&world.authority.view()).unwrap();
    let message = world.signed_cam(true);
    for id in [world.ticket.id(), authority, root] {
        let mut verifier = verifier(&world);
        verifier.trust_mut().revoke(id);
        refused(&mut verifier, &message, &at(0), CheckKind::Revocation, code);
        verifier.trust_mut().unrevoke(id);
        accepted(&mut verifier, &message, &at(0));
        // A neighbour known already is refused as well.
        verifier.trust_mut().revoke(id);
        let next = cam_with(&mut world, |tbs| tbs.payload = SignedDataPayload::unsecured(b"next"));
        refused(&mut verifier, &next, &at(0), CheckKind::Revocation, code);
    }
    let mut verifier = verifier(&world);
    verifier.trust_mut().remove(root);
    let not_enough = ResultCode::SpduCertificateChainNotEnoughInformationToConstructChain;
    refused(&mut verifier, &message, &at(0), CheckKind::Chain, not_enough);
}

#[test]
fn revokes_by_hash_and_by_linkage_value() {
    let mut world = World::new(Curve::NistP256);
    let code = ResultCode::SpduCertificateChainCertificateRevoked;
    let mut verifier = verifier(&world);
    verifier.trust_mut().revoke_hash(world.ticket.hash().value.hashed_id10());
    refused(&mut verifier, &world.signed_cam(true), &at(0), CheckKind::Revocation, code);
    let linkage = LinkageData { i_cert: 3, linkage_value: [7; 9], group_linkage_value: None };
    let message = cam_under(&world, |tbs| tbs.id = CertificateId::LinkageData(linkage));
    verifier.trust_mut().revoke_linkage(3, [8; 9]);
    accepted(&mut verifier, &message, &at(0));
    verifier.trust_mut().revoke_linkage(3, [7; 9]);
    refused(&mut verifier, &message, &at(0), CheckKind::Revocation, code);
}

#[test]
fn refuses_under_an_overdue_revocation_list_if_asked() {
    let mut world = World::new(Curve::NistP256);
    let root = chronoseal_v2x::certificate::hashed_id8(&world.root.view()).unwrap();
    for is_overdue_crl_refused in [false, true] {
        let config = VerifierConfig { is_overdue_crl_refused, ..VerifierConfig::default() };
        let mut verifier = verifier_with(&world, config);
        verifier.trust_mut().set_crl_due(root, Time32(721_999_999));
        let message = world.signed_cam(true);
        if is_overdue_crl_refused {
            let code = ResultCode::SpduCertificateChainOverdueCrl;
            refused(&mut verifier, &message, &at(0), CheckKind::Revocation, code);
        } else {
            accepted(&mut verifier, &message, &at(0));
        }
    }
}

#[test]
fn holds_messages_to_the_profile_of_their_area() {
    let mut world = World::new(Curve::NistP256);
    let mut verifier = verifier(&world);
    let place = ThreeDLocation { latitude: PLACE.latitude, longitude: PLACE.longitude, elevation: 9_000 };
    let located = cam_with(&mut world, |tbs| tbs.header_info.generation_location = Some(place));
    refused(&mut verifier, &located, &at(0), CheckKind::Consistency, ResultCode::AgainstProfile);
    let asking = cam_with(&mut world, |tbs| tbs.header_info.p2pcd_learning_request = Some(HashedId3([0; 3])));
    refused(&mut verifier, &asking, &at(0), CheckKind::Consistency, ResultCode::AgainstProfile);
    let placeless = cam_with(&mut world, |tbs| tbs.header_info.psid = Psid::DENM);
    let code = ResultCode::SpduParsingGenerationLocationNotAvailable;
    refused(&mut verifier, &placeless, &at(0), CheckKind::Consistency, code);
    let denm = cam_with(&mut world, |tbs| {
        tbs.header_info.psid = Psid::DENM;
        tbs.header_info.generation_location = Some(place);
    });
    accepted(&mut verifier, &denm, &at(0));
    let mut tbs = World::cam(b"by digest");
    tbs.header_info.psid = Psid::DENM;
    tbs.header_info.generation_location = Some(place);
    let by_digest = sign(&tbs, SignerForm::Digest(&world.ticket), &mut world.ticket_key).unwrap();
    refused(&mut verifier, &by_digest, &at(0), CheckKind::Consistency, ResultCode::AgainstProfile);
    let config = VerifierConfig { other: None, ..VerifierConfig::default() };
    let vam = cam_with(&mut world, |tbs| tbs.header_info.psid = Psid::VAM);
    let mut closed = verifier_with(&world, config);
    refused(&mut closed, &vam, &at(0), CheckKind::Consistency, ResultCode::AgainstProfile);
}

#[test]
fn checks_payloads_that_came_otherwise() {
    let mut world = World::new(Curve::NistP256);
    let mut verifier = verifier(&world);
    let hash = chronoseal_v2x::crypto::HashValue::sha256(b"payload").hashed_id32();
    let hashed = cam_with(&mut world, |tbs| tbs.payload = SignedDataPayload::hash_only(HashedData::Sha256(hash)));
    let with = |external_payload| Context { external_payload, ..at(0) };
    let code = ResultCode::SpduInternalConsistencyNoExtDataHashProvided;
    refused(&mut verifier, &hashed, &with(None), CheckKind::Consistency, code);
    let code = ResultCode::SpduInternalConsistencyExtDataHashDoesntMatch;
    refused(&mut verifier, &hashed, &with(Some(b"other")), CheckKind::Consistency, code);
    accepted(&mut verifier, &hashed, &with(Some(b"payload")));
    let plain = cam_with(&mut world, |_| ());
    let code = ResultCode::SpduInternalConsistencyNoExtDataHashPresent;
    refused(&mut verifier, &plain, &with(Some(b"payload")), CheckKind::Consistency, code);

    let mut tbs = World::cam(b"");
    tbs.payload = SignedDataPayload { omitted: true, ..SignedDataPayload::default() };
    let form = SignerForm::Certificate(&world.ticket);
    let prepared = prepare(&tbs, Some(b"elsewhere"), form, Curve::NistP256).unwrap();
    let signature =
        chronoseal_v2x::crypto::SigningKey::sign_digest(&mut world.ticket_key, prepared.digest().as_bytes());
    let omitted = prepared.complete(&signature.unwrap()).unwrap();
    let code = ResultCode::SpduCryptoVerificationFailure;
    refused(&mut verifier, &omitted, &with(Some(b"changed")), CheckKind::Signature, code);
    accepted(&mut verifier, &omitted, &with(Some(b"elsewhere")));
}

#[test]
fn refuses_a_hash_that_is_not_the_keys() {
    let mut world = World::new(Curve::NistP256);
    let mut verifier = verifier(&world);
    let mut message = world.signed_cam(true);
    assert_eq!(message[2], 0, "hashId");
    message[2] = 1;
    refused(&mut verifier, &message, &at(0), CheckKind::Signer, ResultCode::HashDoesNotMatchKey);
}

#[test]
fn learns_an_authority_that_was_asked_for_and_no_other() {
    let mut world = World::new(Curve::NistP256);
    // A second authority, whose tickets are not known here.
    let mut key = SoftwareKey::generate(Curve::NistP256, &mut rng(31));
    let mut tbs = ToBeSignedCertificate::new(CertificateId::Name("second"), year(5), key_of(&key));
    tbs.cert_issue_permissions = Some(issue_permissions());
    let second = issue(tbs, Issuer::Certificate(&world.root.view()), &mut world.root_key).unwrap();
    let mut ticket_key = SoftwareKey::generate(Curve::NistP256, &mut rng(32));
    let ticket = issue(ticket_contents(&ticket_key), Issuer::Certificate(&second.view()), &mut key).unwrap();
    let ticket = SignerCertificate::new(ticket).unwrap();
    let id = chronoseal_v2x::certificate::hashed_id8(&second.view()).unwrap();

    let mut verifier = verifier(&world);
    let bearer = cam_with(&mut world, |_| ());
    let second_bytes = second.as_bytes().to_vec();
    let second_view = Certificate::from_coer(&second_bytes).unwrap();
    let mut tbs = World::cam(b"bearer");
    tbs.header_info.requested_certificate = Some(Box::new(second_view));
    let carrying = sign(&tbs, SignerForm::Certificate(&world.ticket), &mut world.ticket_key).unwrap();
    accepted(&mut verifier, &carrying, &at(0));
    assert!(verifier.trust().authority(id).is_none(), "nobody asked");

    let message = sign(&World::cam(b"x"), SignerForm::Certificate(&ticket), &mut ticket_key).unwrap();
    let code = ResultCode::SpduCertificateChainNotEnoughInformationToConstructChain;
    refused(&mut verifier, &message, &at(1), CheckKind::Chain, code);
    let request = verifier.peers_mut().inline_request(NOW);
    assert_eq!(request, id.hashed_id3().0);

    // The station that is asked answers once.
    let mut asked = verifier_with(&world, VerifierConfig::default());
    asked.trust_mut().insert_authority(&second.view()).unwrap();
    let mut tbs = World::cam(b"asking");
    tbs.header_info.inline_p2pcd_request = HashedId3List::new(&request);
    let asking = sign(&tbs, SignerForm::Certificate(&world.ticket), &mut world.ticket_key).unwrap();
    accepted(&mut asked, &asking, &at(1));
    assert_eq!(asked.peers_mut().take_to_send(), Some(id.hashed_id3()));
    assert_eq!(asked.peers_mut().take_to_send(), None);

    tbs = World::cam(b"answer");
    tbs.header_info.requested_certificate = Some(Box::new(Certificate::from_coer(&second_bytes).unwrap()));
    let answer = sign(&tbs, SignerForm::Certificate(&world.ticket), &mut world.ticket_key).unwrap();
    accepted(&mut verifier, &answer, &at(2));
    assert!(verifier.trust().authority(id).is_some());
    accepted(&mut verifier, &message, &at(3));
    accepted(&mut verifier, &bearer, &at(3));
}

#[test]
fn tells_a_station_that_its_certificate_is_asked_for() {
    let mut world = World::new(Curve::NistP256);
    let mut verifier = verifier(&world);
    let own = HashedId8([1, 2, 3, 4, 5, 6, 7, 8]);
    verifier.peers_mut().set_own([own]);
    let mut tbs = World::cam(b"asking");
    tbs.header_info.inline_p2pcd_request = HashedId3List::new(&[9, 9, 9, 6, 7, 8]);
    let asking = sign(&tbs, SignerForm::Certificate(&world.ticket), &mut world.ticket_key).unwrap();
    assert!(!verifier.peers_mut().take_own_wanted());
    accepted(&mut verifier, &asking, &at(0));
    assert!(verifier.peers_mut().take_own_wanted());
    assert!(!verifier.peers_mut().take_own_wanted());
}

#[test]
fn bounds_its_neighbours() {
    let world = World::new(Curve::NistP256);
    let config = VerifierConfig { neighbours_max: 3, ..VerifierConfig::default() };
    let mut verifier = verifier_with(&world, config);
    for i in 0..5_u8 {
        let message = cam_under(&world, |tbs| tbs.crl_series = u16::from(i));
        accepted(&mut verifier, &message, &at(u64::from(i)));
    }
    assert_eq!(verifier.neighbours().len(), 3);
    assert_eq!(verifier.neighbours().replaced_count(), 2);
}

#[test]
fn refuses_unsigned_encrypted_and_self_signed_messages() {
    let mut world = World::new(Curve::NistP256);
    let mut verifier = verifier(&world);
    let plain = Ieee1609Dot2Data::unsecured(b"x").to_coer().unwrap();
    refused(&mut verifier, &plain, &at(0), CheckKind::Encoding, ResultCode::SpduParsingInvalidInput);
    let own = sign(&World::cam(b"x"), SignerForm::SelfSigned, &mut world.ticket_key).unwrap();
    refused(&mut verifier, &own, &at(0), CheckKind::Signer, ResultCode::SpduParsingCertificateNotFound);
}

#[test]
fn the_store_refuses_roots_and_authorities_that_are_none() {
    let world = World::new(Curve::NistP256);
    let mut store = TrustStore::default();
    assert_eq!(store.insert_root(&world.authority.view()), Err(TrustError::NotSelfSigned));
    let not_enough = ResultCode::SpduCertificateChainNotEnoughInformationToConstructChain;
    assert_eq!(store.insert_authority(&world.authority.view()), Err(TrustError::Chain(not_enough)));
    let mut bytes = world.root.as_bytes().to_vec();
    *bytes.last_mut().unwrap() ^= 1;
    let forged = Certificate::from_coer(&bytes).unwrap();
    assert!(matches!(store.insert_root(&forged), Err(TrustError::Certificate(_))));
    store.insert_root(&world.root.view()).unwrap();
    store.revoke(chronoseal_v2x::certificate::hashed_id8(&world.authority.view()).unwrap());
    assert_eq!(store.insert_authority(&world.authority.view()), Err(TrustError::Revoked));
}

#[test]
fn measures_each_check_by_the_stopwatch_handed_in() {
    let mut world = World::new(Curve::NistP256);
    let mut verifier = verifier(&world);
    let mut ticks = 0;
    let mut stopwatch = || {
        ticks += 7;
        ticks
    };
    let message = world.signed_cam(true);
    let (verdict, _) = verifier.verify(&message, &at(0), &mut stopwatch);
    assert!(verdict.checks.iter().all(|check| check.took_ns == 7), "{verdict:?}");
    assert_eq!(verdict.took_ns(), 84);
}

#[test]
fn names_an_unsupported_algorithm_whatever_holds_it() {
    let mut world = World::new(Curve::NistP256);
    let mut verifier = verifier(&world);
    accepted(&mut verifier, &world.signed_cam(true), &at(0));
    let sm2 = Signature::Sm2 { r_sig: [1; 32], s_sig: [2; 32] };
    let changed = |message: Vec<u8>, change: &dyn Fn(&mut SignedData<'_>)| {
        let mut decoded = Ieee1609Dot2Data::from_coer(&message).unwrap();
        let Ieee1609Dot2Content::SignedData(signed) = &mut decoded.content else { panic!("it is signed") };
        change(signed);
        decoded.to_coer().unwrap()
    };
    let certificate_changed = |message: Vec<u8>, change: &dyn Fn(&mut Certificate<'_>)| {
        changed(message, &|signed| {
            let SignerIdentifier::Certificate(list) = &mut signed.signer else { panic!("it came along") };
            change(&mut list[0]);
        })
    };
    let by_digest = || world.ticket_key.clone();
    let cam = |with_certificate: bool| {
        let ticket = &world.ticket;
        let form = if with_certificate { SignerForm::Certificate(ticket) } else { SignerForm::Digest(ticket) };
        sign(&World::cam(b"sm"), form, &mut by_digest()).unwrap()
    };
    let messages = [
        changed(cam(false), &|signed| signed.hash_id = HashAlgorithm::Sm3),
        changed(cam(false), &|signed| signed.signature = sm2),
        certificate_changed(cam(true), &|certificate| certificate.signature = Some(sm2)),
        certificate_changed(cam(true), &|certificate| {
            certificate.issuer = IssuerIdentifier::Sm3AndDigest(HashedId8([3; 8]));
        }),
        certificate_changed(cam(true), &|certificate| {
            let key = PublicVerificationKey::EcsigSm2(CurvePoint::CompressedY0([4; 32]));
            certificate.to_be_signed.verify_key_indicator = VerificationKeyIndicator::VerificationKey(key);
        }),
    ];
    for message in messages {
        refused(&mut verifier, &message, &at(0), CheckKind::Encoding, ResultCode::UnsupportedAlgorithm);
    }
    let hashed = changed(cam(false), &|signed| {
        signed.tbs_data.payload.ext_data_hash = Some(HashedData::Sm3(HashedId32([5; 32])));
    });
    let context = Context { external_payload: Some(b"elsewhere"), ..at(0) };
    refused(&mut verifier, &hashed, &context, CheckKind::Consistency, ResultCode::UnsupportedAlgorithm);
    // A key to encrypt to is nobody's concern who verifies.
    let mut tbs = World::cam(b"");
    let key = BasePublicEncryptionKey::EcencSm2(CurvePoint::CompressedY0([4; 32]));
    let key = PublicEncryptionKey { supported_symm_alg: SymmAlgorithm::Sm4Ccm, public_key: key };
    tbs.header_info.encryption_key = Some(EncryptionKey::Public(key));
    let message = sign(&tbs, SignerForm::Digest(&world.ticket), &mut world.ticket_key).unwrap();
    accepted(&mut verifier, &message, &at(0));
}
