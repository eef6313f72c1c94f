//! Where a message comes from: regions along the chain, and distance.

use super::*;

struct Germany;

impl Geography for Germany {
    fn contains(&self, country: u16, _: Option<u8>, _: Option<u16>, place: TwoDLocation) -> Option<bool> {
        (country == 276).then_some(place.latitude > 473_000_000)
    }
}

#[test]
fn refuses_a_message_from_outside_its_region() {
    let world = World::new(Curve::NistP256);
    let near = TwoDLocation { latitude: PLACE.latitude + 80_000, longitude: PLACE.longitude };
    let box_of = |half: i32| RectangularRegion {
        north_west: TwoDLocation { latitude: PLACE.latitude + half, longitude: PLACE.longitude - half },
        south_east: TwoDLocation { latitude: PLACE.latitude - half, longitude: PLACE.longitude + half },
    };
    let corners = |half: i32| {
        [(-half, -half), (half, -half), (half, half), (-half, half)]
            .map(|(north, east)| TwoDLocation { latitude: PLACE.latitude + north, longitude: PLACE.longitude + east })
            .to_vec()
    };
    // The place is 889 m north: inside the first of each pair, outside the second.
    let pairs = [
        [900, 880].map(|radius| GeographicRegion::Circular(CircularRegion { center: PLACE, radius })),
        [80_000, 79_999].map(|half| GeographicRegion::Rectangular(vec![box_of(half)])),
        [80_000, 79_999].map(|half| GeographicRegion::Polygonal(corners(half))),
    ];
    for [inside, outside] in pairs {
        let mut verifier = verifier(&world);
        let context = Context { payload_location: Some(near), ..at(0) };
        let message = cam_under(&world, |tbs| tbs.region = Some(outside));
        let code = ResultCode::SpduConsistencyGenerationLocationOutsideValidityRegion;
        refused(&mut verifier, &message, &context, CheckKind::ValidityRegion, code);
        let message = cam_under(&world, |tbs| tbs.region = Some(inside));
        accepted(&mut verifier, &message, &context);
    }
    let germany = IdentifiedRegion::CountryOnly(276);
    let message = cam_under(&world, |tbs| tbs.region = Some(GeographicRegion::Identified(vec![germany])));
    let mut verifier = verifier(&world);
    let rome = Some(TwoDLocation { latitude: 418_900_000, longitude: 124_900_000 });
    let context = Context { payload_location: rome, geography: &Germany, ..at(0) };
    let code = ResultCode::SpduConsistencyGenerationLocationOutsideValidityRegion;
    refused(&mut verifier, &message, &context, CheckKind::ValidityRegion, code);
    let verdict = accepted(&mut verifier, &message, &Context { payload_location: rome, ..at(0) });
    assert_eq!(verdict.check(CheckKind::ValidityRegion).outcome, Outcome::Skipped(SkipReason::NoGeography));
}

/// A world whose authority is valid in one region and whose ticket in another, and the message that is under both.
fn world_of_regions(
    authority: Option<GeographicRegion>,
    ticket: Option<GeographicRegion>,
) -> (World, CertificateBuf, Vec<u8>) {
    let mut world = World::new(Curve::NistP256);
    let mut tbs = ToBeSignedCertificate::new(CertificateId::Name("there"), year(5), key_of(&world.authority_key));
    tbs.cert_issue_permissions = Some(issue_permissions());
    tbs.region = authority;
    let authority = issue(tbs, Issuer::Certificate(&world.root.view()), &mut world.root_key).unwrap();
    let mut tbs = ticket_contents(&world.ticket_key);
    tbs.region = ticket;
    let ticket = issue(tbs, Issuer::Certificate(&authority.view()), &mut world.authority_key).unwrap();
    let signer = SignerCertificate::new(ticket).unwrap();
    let message = sign(&World::cam(b""), SignerForm::Certificate(&signer), &mut world.ticket_key).unwrap();
    (world, authority, message)
}

fn round(radius: u16) -> Option<GeographicRegion> {
    Some(GeographicRegion::Circular(CircularRegion { center: PLACE, radius }))
}

fn germany() -> Option<GeographicRegion> {
    Some(GeographicRegion::Identified(vec![IdentifiedRegion::CountryOnly(276)]))
}

#[test]
fn refuses_a_ticket_for_more_than_its_issuers_region() {
    for (authority, ticket, is_in) in [
        (round(900), round(901), false),
        (round(900), round(900), true),
        (round(900), None, true),
        (None, round(9), true),
    ] {
        let (world, authority, message) = world_of_regions(authority, ticket);
        let mut verifier = verifier(&world);
        verifier.trust_mut().insert_authority(&authority.view()).unwrap();
        // The place is in both regions; it is the certificates that disagree.
        let context = Context { payload_location: Some(PLACE), ..at(0) };
        if is_in {
            let verdict = accepted(&mut verifier, &message, &context);
            assert_eq!(verdict.check(CheckKind::ValidityRegion).outcome, Outcome::Passed);
        } else {
            refused(&mut verifier, &message, &context, CheckKind::Chain, ResultCode::InconsistentRegions);
        }
    }
}

#[test]
fn a_region_is_inherited_and_held_against_the_next_one_above() {
    // The authority between has none: the ticket's is held against the one above it.
    let mut world = World::new(Curve::NistP256);
    let mut root_of = |region| {
        let mut tbs = ToBeSignedCertificate::new(CertificateId::Name("root here"), year(10), key_of(&world.root_key));
        let mut permissions = issue_permissions();
        permissions[0].min_chain_length = 2;
        tbs.cert_issue_permissions = Some(permissions);
        tbs.region = region;
        let root = issue(tbs, Issuer::SelfSigned, &mut world.root_key).unwrap();
        let mut tbs = ToBeSignedCertificate::new(CertificateId::None, year(5), key_of(&world.authority_key));
        tbs.cert_issue_permissions = Some(issue_permissions());
        (root.clone(), issue(tbs, Issuer::Certificate(&root.view()), &mut world.root_key).unwrap())
    };
    let (root, authority) = root_of(round(900));
    let mut verifier = Verifier::new(VerifierConfig::default());
    verifier.trust_mut().insert_root(&root.view()).unwrap();
    verifier.trust_mut().insert_authority(&authority.view()).unwrap();
    for (radius, is_in) in [(900, true), (901, false)] {
        let mut tbs = ticket_contents(&world.ticket_key);
        tbs.region = round(radius);
        let ticket = issue(tbs, Issuer::Certificate(&authority.view()), &mut world.authority_key).unwrap();
        let signer = SignerCertificate::new(ticket).unwrap();
        let message = sign(&World::cam(b""), SignerForm::Certificate(&signer), &mut world.ticket_key).unwrap();
        if is_in {
            accepted(&mut verifier, &message, &at(0));
        } else {
            refused(&mut verifier, &message, &at(0), CheckKind::Chain, ResultCode::InconsistentRegions);
        }
    }
    // An authority that is new and comes along is held against those above, and its ticket against it.
    let mut tbs = ToBeSignedCertificate::new(CertificateId::None, year(5), key_of(&world.authority_key));
    tbs.cert_issue_permissions = Some(issue_permissions());
    tbs.region = round(950);
    let wider = issue(tbs, Issuer::Certificate(&root.view()), &mut world.root_key).unwrap();
    let error = verifier.trust_mut().insert_authority(&wider.view()).unwrap_err();
    assert_eq!(error, TrustError::Chain(ResultCode::InconsistentRegions));
    let ticket = ticket_contents(&world.ticket_key);
    let ticket = issue(ticket, Issuer::Certificate(&wider.view()), &mut world.authority_key).unwrap();
    let signer = SignerCertificate::new(ticket).unwrap();
    let message = sign(&World::cam(b""), SignerForm::Chain(&signer, &[wider]), &mut world.ticket_key).unwrap();
    refused(&mut verifier, &message, &at(0), CheckKind::Chain, ResultCode::InconsistentRegions);
}

/// Knows Germany as a whole: circles around places in it are in it.
struct WholeGermany;

impl Geography for WholeGermany {
    fn contains(&self, country: u16, _: Option<u8>, _: Option<u16>, place: TwoDLocation) -> Option<bool> {
        Germany.contains(country, None, None, place)
    }

    fn covers(&self, country: u16, _: Option<u8>, _: Option<u16>, inner: &GeographicRegion) -> Option<bool> {
        let GeographicRegion::Circular(circle) = inner else { return None };
        self.contains(country, None, None, circle.center)
    }
}

#[test]
fn regions_that_cannot_be_compared_are_said_and_refused_if_asked() {
    let (world, authority, message) = world_of_regions(germany(), round(900));
    let trusting = |is_region_doubt_refused| {
        let config = VerifierConfig { is_region_doubt_refused, ..VerifierConfig::default() };
        let mut verifier = verifier_with(&world, config);
        verifier.trust_mut().insert_authority(&authority.view()).unwrap();
        verifier
    };
    let here = Context { payload_location: Some(PLACE), geography: &Germany, ..at(0) };
    let skipped_by = |context: &Context<'_>| {
        let verdict = accepted(&mut trusting(false), &message, context);
        assert_eq!(verdict.check(CheckKind::Chain).outcome, Outcome::Passed);
        verdict.check(CheckKind::ValidityRegion).outcome
    };
    // A map that knows where places are, but not what of a circle.
    assert_eq!(skipped_by(&here), Outcome::Skipped(SkipReason::RegionsNotComparable));
    let code = ResultCode::SpduParsingUnsupportedCriticalInformationField;
    refused(&mut trusting(true), &message, &here, CheckKind::ValidityRegion, code);
    // No map at all.
    let mapless = Context { geography: &NoGeography, ..here };
    assert_eq!(skipped_by(&mapless), Outcome::Skipped(SkipReason::NoGeography));
    refused(&mut trusting(true), &message, &mapless, CheckKind::ValidityRegion, code);
    // A map that knows both.
    let knowing = Context { geography: &WholeGermany, ..here };
    assert_eq!(skipped_by(&knowing), Outcome::Passed);
    accepted(&mut trusting(true), &message, &knowing);

    // A ticket for a circle in Italy under an authority for Germany: the map says so although no place is named.
    let rome = TwoDLocation { latitude: 418_900_000, longitude: 124_900_000 };
    let region = Some(GeographicRegion::Circular(CircularRegion { center: rome, radius: 900 }));
    let (world, authority, message) = world_of_regions(germany(), region);
    let mut verifier = verifier(&world);
    verifier.trust_mut().insert_authority(&authority.view()).unwrap();
    let code = ResultCode::InconsistentRegions;
    let nowhere = Context { geography: &Germany, ..at(0) };
    refused(&mut verifier, &message, &nowhere, CheckKind::Chain, code);
}

#[test]
fn refuses_a_certificate_whose_region_is_none() {
    let corners = [(0, 0), (9, 9), (9, 0), (0, 9)];
    let bow_tie = corners.map(|(north, east)| TwoDLocation { latitude: north, longitude: east });
    for region in [GeographicRegion::Polygonal(bow_tie.into()), GeographicRegion::Rectangular(vec![])] {
        let (world, authority, message) = world_of_regions(None, Some(region.clone()));
        let mut verifier = verifier(&world);
        verifier.trust_mut().insert_authority(&authority.view()).unwrap();
        refused(&mut verifier, &message, &at(0), CheckKind::Chain, ResultCode::InvalidRegion);
        let (_, authority, _) = world_of_regions(Some(region), None);
        let error = verifier.trust_mut().insert_authority(&authority.view()).unwrap_err();
        assert_eq!(error, TrustError::Chain(ResultCode::InvalidRegion));
    }
}

#[test]
fn needs_a_location_if_the_policy_says_so() {
    let world = World::new(Curve::NistP256);
    let message = cam_under(&world, |tbs| {
        tbs.region = Some(GeographicRegion::Circular(CircularRegion { center: PLACE, radius: 9 }));
    });
    let verdict = accepted(&mut verifier(&world), &message, &at(0));
    assert_eq!(verdict.check(CheckKind::ValidityRegion).outcome, Outcome::Skipped(SkipReason::NoLocation));
    let mut config = VerifierConfig::default();
    config.policies.insert(Psid::CAM, PsidPolicy { is_location_needed: true, ..PsidPolicy::CAM });
    let code = ResultCode::SpduConsistencyNoGenerationLocation;
    refused(&mut verifier_with(&world, config), &message, &at(0), CheckKind::ValidityRegion, code);
}

#[test]
fn refuses_a_message_from_far_away() {
    let mut world = World::new(Curve::NistP256);
    let mut config = VerifierConfig::default();
    config.policies.insert(Psid::CAM, PsidPolicy { distance_max_m: 1_000, ..PsidPolicy::CAM });
    let mut verifier = verifier_with(&world, config);
    let message = world.signed_cam(true);
    let far = TwoDLocation { latitude: PLACE.latitude + 100_000, longitude: PLACE.longitude };
    let context = Context { position: Some(PLACE), payload_location: Some(far), ..at(0) };
    let code = ResultCode::SpduRelevanceGenerationLocationTooDistant;
    refused(&mut verifier, &message, &context, CheckKind::Distance, code);
}
