//! Three signed messages, each byte replaced by each of its 255 other values: none is accepted under the strict rules; under
//! the lenient ones those that are accepted are the same text in another encoding, listed one by one.

use std::collections::BTreeMap;

use chronoseal_v2x::coer::{Decode, DeviationKind, Rules};
use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::message::{SignerForm, sign};
use chronoseal_v2x::types::*;
use chronoseal_v2x::verify::*;

use crate::stations::{NOW, World};

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

/// Calls `look` with the verdict on each changed message. Signatures are verified as far as `is_verified` says: one
/// that is over other bytes is wrong, and without optimisation each costs milliseconds.
fn mutate(rules: Rules, mut look: impl FnMut(&str, usize, &[u8], &Verdict)) {
    let (messages, mut world) = messages();
    for (name, message) in &messages {
        let mut verifier = verifier(&mut world, rules);
        introduce(&mut verifier, &mut world);
        let mut changed = message.clone();
        for at in 0..message.len() {
            for value in (0..=255).filter(|value| *value != message[at]) {
                changed[at] = value;
                let begun = verifier.begin(&changed, &Context::at(NOW), &mut NoStopwatch);
                // Of those that get as far as their signature, all of them optimised; else one a byte, and tags.
                let is_tag = message[at] == 0x80 && value < 0x85 && value > 0x80;
                let is_looked_at = !cfg!(debug_assertions) || is_tag || value ^ message[at] == 1 << (at % 8);
                let results: Vec<bool> = begun.jobs().map(|job| is_looked_at && job.verify()).collect();
                // A copy, so that the first accepted one does not make the others replays.
                let (verdict, _) = verifier.clone().finish(begun, &results, 0);
                look(name, at, &changed, &verdict);
            }
            changed[at] = message[at];
        }
        // What was not changed is accepted still.
        assert!(verifier.verify_untimed(message, &Context::at(NOW)).0.is_accepted(), "{name}");
    }
}

#[test]
fn strict_rules_refuse_every_changed_byte_and_name_the_check() {
    let mut counts: BTreeMap<(String, &str), u32> = BTreeMap::new();
    mutate(Rules::STRICT, |name, at, changed, verdict| {
        let (kind, _) =
            verdict.failure().unwrap_or_else(|| panic!("{name}: byte {at} as {:#04x} is accepted", changed[at]));
        *counts.entry((name.into(), kind.name())).or_default() += 1;
    });
    let table: Vec<String> = counts.iter().map(|((name, kind), count)| format!("{name} / {kind}: {count}")).collect();
    println!("{}", table.join("\n"));
    for name in ["cam by digest", "cam by certificate", "denm"] {
        for kind in [CheckKind::Encoding, CheckKind::Freshness, CheckKind::Signer, CheckKind::Signature] {
            assert!(counts.contains_key(&(name.into(), kind.name())), "{name}: nothing refused by {}", kind.name());
        }
    }
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
        ("protocolVersion", 0, CheckKind::Encoding),
        ("content", 1, CheckKind::Encoding),
        ("hashId", 2, CheckKind::Signer),
        ("payload", tbs_at + 5, CheckKind::Signature),
        ("psid", tbs_end - 9, CheckKind::Consistency),
        ("generationTime, seconds", tbs_end - 5, CheckKind::Freshness),
        ("generationTime, microseconds", tbs_end - 1, CheckKind::Signature),
        ("signer", tbs_end, CheckKind::Encoding),
        ("signer.digest", tbs_end + 1, CheckKind::Signer),
        ("signature", tbs_end + 9, CheckKind::Signature),
        ("signature.rSig", tbs_end + 11, CheckKind::Signature),
        ("signature.sSig", message.len() - 1, CheckKind::Signature),
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

#[test]
fn lenient_rules_accept_other_encodings_of_the_same_only() {
    let (messages, _) = messages();
    let messages: BTreeMap<&str, Vec<u8>> = messages.into_iter().collect();
    let mut found: BTreeMap<(String, DeviationKind), Vec<String>> = BTreeMap::new();
    mutate(Rules::LENIENT, |name, at, changed, verdict| {
        if verdict.failure().is_some() {
            return;
        }
        let (decoded, deviations) = Ieee1609Dot2Data::from_coer_with(changed, Rules::LENIENT).unwrap();
        let original = Ieee1609Dot2Data::from_coer(&messages[name]).unwrap();
        assert_eq!(canonical(decoded), original, "{name}: byte {at} as {:#04x} says something else", changed[at]);
        let [deviation] = &deviations[..] else { panic!("{name}: byte {at}: {deviations:?}") };
        assert_eq!(verdict.deviation_count, 1);
        let place = format!("byte {at} as {:02x}, {}", changed[at], deviation.path);
        found.entry((name.into(), deviation.kind)).or_default().push(place);
    });
    for ((name, kind), places) in &found {
        println!("{name}, accepted although {kind}:\n  {}", places.join("\n  "));
    }
    // Two reasons, both about what is not hashed as received: an r that came as a point, of the message or of its
    // certificate; and bits that stand for nothing in a certificate that is known by its canonical hash.
    let r = |name: &str| found[&(name.into(), DeviationKind::SignaturePointNotXOnly)].len();
    assert_eq!([r("cam by digest"), r("cam by certificate"), r("denm")], [2, 4, 4]);
    let kinds = [DeviationKind::SignaturePointNotXOnly, DeviationKind::UnusedBitsSet];
    assert!(found.keys().all(|(_, kind)| kinds.contains(kind)));
    assert!(!found.contains_key(&("cam by digest".into(), DeviationKind::UnusedBitsSet)));
}
