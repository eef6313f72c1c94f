//! Verification on demand, with many stations that send their certificate once a second: whatever policy leaves messages
//! out, none that is genuine is refused.

use std::collections::BTreeMap;

use chronoseal_v2x::certificate::{Issuer, issue};
use chronoseal_v2x::crypto::{Curve, SoftwareKey};
use chronoseal_v2x::message::{SignerCertificate, SignerForm, sign};
use chronoseal_v2x::pipeline::{Class, Engine, Message, Moment, Pipeline, PipelineConfig};
use chronoseal_v2x::types::*;
use chronoseal_v2x::verify::{NoStopwatch, Verifier, VerifierConfig};
use chronoseal_v2x::vss::{DemandPolicy, Relevance};

use crate::stations::{NOW, World, rng, ticket_contents};

const STATIONS: u64 = 50;
const MESSAGES: u64 = 10_000;

/// A received message and how far away its sender is.
struct Received {
    bytes: Vec<u8>,
    distance_m: u32,
}

impl Message for &Received {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn relevance(&self) -> Relevance {
        Relevance { distance_m: Some(self.distance_m), time_to_collision_ms: None, is_demanded: false }
    }
}

/// When message `number` is sent: each station ten times a second, one after the other.
fn sent_at(number: u64) -> Time64 {
    NOW.plus_us(number * 100_000 / STATIONS)
}

fn stations(world: &mut World) -> Vec<(SignerCertificate, SoftwareKey)> {
    let mut rng = rng(70);
    let authority = world.authority.clone();
    (0..STATIONS)
        .map(|_| {
            let key = SoftwareKey::generate(Curve::NistP256, &mut rng);
            let issuer = Issuer::Certificate(&authority.view());
            let ticket = issue(ticket_contents(&key), issuer, &mut world.authority_key).unwrap();
            (SignerCertificate::new(ticket).unwrap(), key)
        })
        .collect()
}

/// What comes in: one message of ten with the certificate, the others by digest.
fn traffic(world: &mut World) -> Vec<Received> {
    let mut stations = stations(world);
    let count = stations.len() as u64;
    (0..MESSAGES)
        .map(|number| {
            let (ticket, key) = &mut stations[(number % count) as usize];
            let payload = number.to_be_bytes();
            let mut tbs = World::cam(&payload);
            tbs.header_info.generation_time = Some(sent_at(number));
            let has_certificate = (number / count).is_multiple_of(10);
            let form = if has_certificate { SignerForm::Certificate(ticket) } else { SignerForm::Digest(ticket) };
            Received { bytes: sign(&tbs, form, key).unwrap(), distance_m: (number % count) as u32 * 20 }
        })
        .collect()
}

fn verifier(world: &World) -> Verifier {
    let mut verifier = Verifier::new(VerifierConfig::default());
    verifier.trust_mut().insert_root(&world.root.view()).unwrap();
    verifier.trust_mut().insert_authority(&world.authority.view()).unwrap();
    verifier
}

#[test]
fn no_policy_refuses_any_of_ten_thousand_genuine_messages() {
    let mut world = World::new(Curve::NistP256);
    let traffic = traffic(&mut world);
    let policies = [
        DemandPolicy::Always,
        DemandPolicy::Sampling { one_of: 10 },
        DemandPolicy::Threshold { per_second: 5 },
        DemandPolicy::Threshold { per_second: 0 },
        DemandPolicy::Relevance { distance_m: 300, time_to_collision_ms: 5_000 },
        DemandPolicy::OnDemand,
    ];
    for demand in policies {
        let mut verifier = verifier(&world);
        let config = PipelineConfig { engine: Engine::fastest(), demand, ..PipelineConfig::default() };
        let mut pipeline = Pipeline::new(config);
        let (mut accepted, mut skipped) = (0, 0);
        let mut refused: BTreeMap<String, u64> = BTreeMap::new();
        for (number, message) in (0..).zip(&traffic) {
            let now = Moment { ns: number * 1_000, time: sent_at(number).plus_us(1_000) };
            assert!(pipeline.receive(message, Class::Near, now).is_none());
            pipeline.run(&mut verifier, now, &mut NoStopwatch, |judged| match judged.verdict.failure() {
                Some(_) => *refused.entry(judged.verdict.to_string()).or_default() += 1,
                None if judged.skipped.is_some() => skipped += 1,
                None => accepted += 1,
            });
        }
        println!("{demand:?}: {accepted} verified, {skipped} left out, refused {refused:?}");
        assert!(refused.is_empty(), "{demand:?}: {accepted} verified, {skipped} left out, refused {refused:?}");
        assert_eq!(accepted + skipped, MESSAGES, "{demand:?}");
    }
}

fn on_demand(certificates_per_second: u32) -> Pipeline<Vec<u8>> {
    let demand = DemandPolicy::OnDemand;
    Pipeline::new(PipelineConfig { demand, certificates_per_second, ..PipelineConfig::default() })
}

fn result(pipeline: &mut Pipeline<Vec<u8>>, verifier: &mut Verifier, message: Vec<u8>) -> String {
    let now = Moment { ns: 0, time: NOW };
    assert!(pipeline.receive(message, Class::Near, now).is_none());
    let mut result = String::new();
    pipeline.run(verifier, now, &mut NoStopwatch, |judged| {
        result = match judged.skipped {
            Some(reason) => reason.name().to_owned(),
            None => judged.verdict.to_string(),
        };
    });
    result
}

#[test]
fn a_message_left_out_teaches_no_certificate_whose_signature_is_wrong() {
    let mut world = World::new(Curve::NistP256);
    let mut verifier = verifier(&world);
    let mut pipeline = on_demand(10);
    let mut thief = SoftwareKey::generate(Curve::NistP256, &mut rng(71));
    // Another key in a ticket that nobody issued.
    let mut forged = world.ticket.certificate().view();
    forged.to_be_signed.verify_key_indicator =
        VerificationKeyIndicator::VerificationKey(thief.public_point().to_verification_key());
    let forged = SignerCertificate::new(CertificateBuf::encoded(&forged).unwrap()).unwrap();
    let message = sign(&World::cam(b"forged"), SignerForm::Certificate(&forged), &mut thief).unwrap();
    assert_eq!(result(&mut pipeline, &mut verifier, message), "refused by signature: spduCryptoVerificationFailure");
    assert!(!verifier.neighbours().contains(forged.id()));
    let genuine = world.signed_cam(true);
    assert_eq!(result(&mut pipeline, &mut verifier, genuine), "not-demanded");
    assert!(verifier.neighbours().contains(world.ticket.id()));
}

#[test]
fn certificates_beyond_the_budget_of_a_second_are_not_verified() {
    let mut world = World::new(Curve::NistP256);
    let genuine = world.signed_cam(true);
    for (budget, is_learned) in [(0, false), (1, true)] {
        let mut verifier = verifier(&world);
        assert_eq!(result(&mut on_demand(budget), &mut verifier, genuine.clone()), "not-demanded");
        assert_eq!(verifier.neighbours().contains(world.ticket.id()), is_learned, "{budget}");
    }
}
