//! Three signed messages, each byte replaced by each of its 255 other values: none is accepted under the strict rules; under
//! the lenient ones those that are accepted are the same text in another encoding, listed one by one.

use std::collections::BTreeMap;

use chronoseal_v2x::coer::{Decode, DeviationKind, Rules};
use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::message::{SignerForm, sign};
use chronoseal_v2x::types::*;
use chronoseal_v2x::verify::*;

use crate::stations::{NOW, World};
use CheckKind::{Chain, Consistency, Encoding, Freshness, Permissions, Signature, Signer};

/// A CAM by digest, a CAM by certificate that asks for certificates, a DENM by certificate; and who verifies them.
fn messages() -> ([(&'static str, Vec<u8>); 3], World) {
    let mut world = World::new(Curve::NistP256);
    let by_digest = world.signed_cam(false);
    let mut tbs = World::cam(b"asking");
    tbs.header_info.inline_p2pcd_request = HashedId3List::new(&[1, 2, 3]);
    let asking = sign(&tbs, SignerForm::Certificate(&world.ticket), &mut world.ticket_key).unwrap();
    let mut tbs = World::cam(b"a denm");
    tbs.header_info.psid = Psid::DENM;
    tbs.header_info.generation_location =
        Some(ThreeDLocation { latitude: 481_351_253, longitude: 115_819_806, elevation: 9_000 });
    let denm = sign(&tbs, SignerForm::Certificate(&world.ticket), &mut world.ticket_key).unwrap();
    ([("cam by digest", by_digest), ("cam by certificate", asking), ("denm", denm)], world)
}

fn verifier(world: &mut World, rules: Rules) -> Verifier {
    let mut verifier = Verifier::new(VerifierConfig { rules, ..VerifierConfig::default() });
    verifier.trust_mut().insert_root(&world.root.view()).unwrap();
    verifier.trust_mut().insert_authority(&world.authority.view()).unwrap();
    verifier
}

/// Makes the ticket known, so that digests are found.
fn introduce(verifier: &mut Verifier, world: &mut World) {
    let introduction = sign(&World::cam(b"hello"), SignerForm::Certificate(&world.ticket), &mut world.ticket_key);
    assert!(verifier.verify_untimed(&introduction.unwrap(), &Context::at(NOW)).0.is_accepted());
}

/// What became of every changed message made of one.
#[derive(Default)]
struct Outcomes {
    /// Under the strict rules, by the check that refused it.
    refused_by: BTreeMap<&'static str, u32>,
    /// Those of which a signature was verified.
    verified_count: u32,
    /// Under the lenient rules, accepted in spite of this: places, and the values there.
    accepted: BTreeMap<DeviationKind, BTreeMap<String, Vec<u8>>>,
}

/// Ends a verification. One that is accepted on a copy, so that the next one is no replay.
fn finish<'a>(verifier: &mut Verifier, begun: Begun<'a>, results: &[bool]) -> (Verdict, Option<Ieee1609Dot2Data<'a>>) {
    if results.contains(&true) {
        verifier.clone().finish(begun, results, 0)
    } else {
        verifier.finish(begun, results, 0)
    }
}

/// Replaces every byte of one of the [`messages`] by every other value, and verifies each with both rules: all checks, and
/// every signature that they leave to be verified.
#[allow(clippy::print_stdout, reason = "the table is what one runs it for")]
fn change_every_byte(which: usize) -> Outcomes {
    let (messages, mut world) = messages();
    let (name, message) = &messages[which];
    let original = Ieee1609Dot2Data::from_coer(message).unwrap();
    let mut strict = verifier(&mut world, Rules::STRICT);
    let mut lenient = verifier(&mut world, Rules::LENIENT);
    introduce(&mut strict, &mut world);
    introduce(&mut lenient, &mut world);
    let mut outcomes = Outcomes::default();
    let mut changed = message.clone();
    for at in 0..message.len() {
        for value in (0..=255).filter(|value| *value != message[at]) {
            changed[at] = value;
            let under_strict = strict.begin(&changed, &Context::at(NOW), &mut NoStopwatch);
            let under_lenient = lenient.begin(&changed, &Context::at(NOW), &mut NoStopwatch);
            // What both leave to be verified is the same, and is verified once.
            let digests = |begun: &Begun<'_>| begun.jobs().map(|job| job.digest).collect::<Vec<_>>();
            assert!(digests(&under_strict).is_empty() || digests(&under_strict) == digests(&under_lenient));
            let is_right = under_lenient.jobs().count() > 0 && under_lenient.jobs().all(SignatureJob::verify);
            outcomes.verified_count += u32::from(under_lenient.jobs().count() > 0);
            let results = [is_right; 4];

            let (verdict, _) = finish(&mut strict, under_strict, &results);
            let (check, _) =
                verdict.failure().unwrap_or_else(|| panic!("{name}: byte {at} as {value:#04x} is accepted"));
            *outcomes.refused_by.entry(check.name()).or_default() += 1;

            let (verdict, decoded) = finish(&mut lenient, under_lenient, &results);
            if verdict.failure().is_none() {
                assert!(is_right, "{name}: byte {at} as {value:#04x} is accepted with a wrong signature");
                assert_eq!(
                    canonical(decoded.unwrap()),
                    original,
                    "{name}: byte {at} as {value:#04x} says something else"
                );
                let (_, deviations) = Ieee1609Dot2Data::from_coer_with(&changed, Rules::LENIENT).unwrap();
                let [deviation] = &deviations[..] else { panic!("{name}: byte {at}: {deviations:?}") };
                assert_eq!(verdict.deviation_count, 1);
                let place = format!("byte {at}, {}", deviation.path);
                outcomes.accepted.entry(deviation.kind).or_default().entry(place).or_default().push(value);
            }
        }
        changed[at] = message[at];
    }
    let refused: u32 = outcomes.refused_by.values().sum();
    assert_eq!(refused as usize, 255 * message.len(), "every one is refused under the strict rules");
    // What was not changed is accepted still.
    for verifier in [&mut strict, &mut lenient] {
        assert!(verifier.verify_untimed(message, &Context::at(NOW)).0.is_accepted(), "{name}");
    }
    println!("{name}: {} bytes, {refused} changes, {} signatures verified", message.len(), outcomes.verified_count);
    println!("  refused by {:?}", outcomes.refused_by);
    for (kind, places) in &outcomes.accepted {
        println!("  accepted by lenient rules although {kind}:");
        for (place, values) in places {
            println!("    {place}: {} values, {:02x} to {:02x}", values.len(), values[0], values[values.len() - 1]);
        }
    }
    outcomes
}

/// Checks that each of the checks named refused some, and that lenient rules accepted so many with an r that came as a point
/// and so many with bits set that stand for nothing. Both are about what is not hashed as received: the signature, and
/// the certificate, which is known by its canonical hash.
fn expect(which: usize, checks: &[CheckKind], [points, unused_bits]: [usize; 2]) {
    let outcomes = change_every_byte(which);
    for kind in checks {
        assert!(outcomes.refused_by.contains_key(kind.name()), "nothing refused by {}", kind.name());
    }
    let count_of = |places: &BTreeMap<String, Vec<u8>>| places.values().map(Vec::len).sum::<usize>();
    let count = |kind| outcomes.accepted.get(&kind).map_or(0, count_of);
    let counts = [count(DeviationKind::SignaturePointNotXOnly), count(DeviationKind::UnusedBitsSet)];
    assert_eq!(counts, [points, unused_bits]);
    assert_eq!(outcomes.accepted.values().map(count_of).sum::<usize>(), points + unused_bits);
}

#[test]
fn every_changed_byte_of_a_cam_by_digest_is_refused() {
    expect(0, &[Encoding, Consistency, Freshness, Signer, Signature], [2, 0]);
}

#[test]
fn every_changed_byte_of_a_cam_by_certificate_is_refused() {
    expect(1, &[Encoding, Consistency, Freshness, Signer, Chain, Signature], [4, 381]);
}

#[test]
fn every_changed_byte_of_a_denm_is_refused() {
    expect(2, &[Encoding, Consistency, Freshness, Signer, Chain, Permissions, Signature], [4, 381]);
}

#[test]
fn a_changed_field_is_refused_by_its_check() {
    // Where the fields of a CAM by digest lie, and what refuses them if their lowest bit is changed.
    let ([(_, message), ..], mut world) = messages();
    let decoded = Ieee1609Dot2Data::from_coer(&message).unwrap();
    let signed = decoded.signed_data().unwrap();
    let tbs_at =
        message.windows(signed.tbs_data.received.0.len()).position(|w| w == signed.tbs_data.received.0).unwrap();
    let tbs_end = tbs_at + signed.tbs_data.received.0.len();
    let fields = [
        ("protocolVersion", 0, Encoding),
        ("content", 1, Encoding),
        ("hashId", 2, Signer),
        ("payload", tbs_at + 5, Signature),
        ("psid", tbs_end - 9, Consistency),
        ("generationTime, seconds", tbs_end - 5, Freshness),
        ("generationTime, microseconds", tbs_end - 1, Signature),
        ("signer", tbs_end, Encoding),
        ("signer.digest", tbs_end + 1, Signer),
        ("signature", tbs_end + 9, Signature),
        ("signature.rSig", tbs_end + 11, Signature),
        ("signature.sSig", message.len() - 1, Signature),
    ];
    let mut verifier = verifier(&mut world, Rules::STRICT);
    introduce(&mut verifier, &mut world);
    for (field, at, kind) in fields {
        let mut changed = message.clone();
        changed[at] ^= 1;
        let (verdict, _) = verifier.verify_untimed(&changed, &Context::at(NOW));
        assert_eq!(verdict.failure().map(|(kind, _)| kind), Some(kind), "{field}: {verdict}");
    }
}

/// A message with every point in its canonical form.
fn canonical(mut message: Ieee1609Dot2Data<'_>) -> Ieee1609Dot2Data<'_> {
    if let Ieee1609Dot2Content::SignedData(signed) = &mut message.content {
        signed.signature = signed.signature.canonical();
        if let SignerIdentifier::Certificate(list) = &mut signed.signer {
            list.iter_mut().for_each(|certificate| *certificate = certificate.canonical());
        }
    }
    message
}
