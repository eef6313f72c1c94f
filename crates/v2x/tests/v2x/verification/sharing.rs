//! Receivers that share what they find of a message come to what each alone comes to.

use super::*;
use proptest::prelude::*;

/// Messages of one station: CAMs by certificate and by digest, forged, old, and what is no message.
fn messages(world: &mut World) -> Vec<Vec<u8>> {
    let mut other_key = SoftwareKey::generate(Curve::NistP256, &mut rng(5));
    let mut messages = Vec::new();
    for number in 0..4u64 {
        for by_certificate in [true, false] {
            let payload = [number as u8; 9];
            let mut tbs = World::cam(&payload);
            tbs.header_info.generation_time = Some(NOW.plus_us(number * 700_000));
            let wanted = [world.authority.view()].map(|one| chronoseal_v2x::certificate::hashed_id8(&one).unwrap());
            let wanted: Vec<u8> = wanted.iter().flat_map(|id| id.hashed_id3().0).collect();
            tbs.header_info.inline_p2pcd_request = HashedId3List::new(&wanted).filter(|_| number == 2);
            let form = match by_certificate {
                true => SignerForm::Certificate(&world.ticket),
                false => SignerForm::Digest(&world.ticket),
            };
            messages.push(sign(&tbs, form, &mut world.ticket_key).unwrap());
            if number == 1 {
                messages.push(sign(&tbs, form, &mut other_key).unwrap());
            }
        }
    }
    let chain = [world.authority.clone()];
    messages.push(sign(&World::cam(b"all"), SignerForm::Chain(&world.ticket, &chain), &mut world.ticket_key).unwrap());
    messages.push(cam_under(world, |tbs| tbs.validity_period.start = Time32(722_000_002)));
    messages.push(cam_under(world, |tbs| tbs.app_permissions = None));
    messages.push(b"no message".to_vec());
    messages
}

/// A verifier of its own kind: some know no authority, some refuse what is far, some have revoked the ticket.
fn receiver(world: &World, kind: u8) -> Verifier {
    let mut config = VerifierConfig::default();
    if kind == 2 {
        config.policies.get_mut(&Psid::CAM).unwrap().past_max_us = 500_000;
    }
    let mut verifier = Verifier::new(config);
    verifier.trust_mut().insert_root(&world.root.view()).unwrap();
    if kind != 1 {
        verifier.trust_mut().insert_authority(&world.authority.view()).unwrap();
    }
    if kind == 3 {
        verifier.trust_mut().revoke(world.ticket.id());
    }
    verifier
}

/// All that a verifier remembers and will tell.
fn state(verifier: &mut Verifier, now: Time64) -> (Vec<HashedId8>, Vec<u8>, Option<HashedId3>, usize) {
    let ids = verifier.neighbours().ids().collect();
    let to_send = verifier.peers_mut().clone().take_to_send();
    (ids, verifier.peers_mut().inline_request(now), to_send, verifier.trust().authorities().count())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn sharing_changes_no_verdict_and_no_memory(
        steps in prop::collection::vec((0usize..14, 0u64..3_000_000, 0usize..6), 1..80)
    ) {
        let mut world = World::new(Curve::NistP256);
        let messages = messages(&mut world);
        let mut shared: Vec<SharedMessage> =
            messages.iter().map(|bytes| SharedMessage::new(bytes, &receiver(&world, 0))).collect();
        let kinds = [0, 0, 0, 1, 2, 3];
        let mut alone = kinds.map(|kind| receiver(&world, kind));
        let mut sharing = kinds.map(|kind| receiver(&world, kind));
        for (message, us, receiver) in steps {
            let (message, now) = (message % messages.len(), NOW.plus_us(us));
            let (verdict, decoded) = alone[receiver].verify_untimed(&messages[message], &Context::at(now));
            let (checked, code) = sharing[receiver].check(&mut shared[message], now, None);
            let code = match code {
                ResultCode::Success => sharing[receiver].conclude(&checked, now),
                code => code,
            };
            prop_assert_eq!(code, verdict.result(), "message {} at receiver {}", message, receiver);
            prop_assert_eq!(verdict.signer, checked.verdict().signer);
            let payload = decoded.as_ref().and_then(|one| one.signed_data()?.tbs_data.payload.unsecured_payload());
            prop_assert_eq!(shared[message].payload(), payload);
            prop_assert_eq!(state(&mut sharing[receiver], now), state(&mut alone[receiver], now));
        }
    }
}

#[test]
fn a_message_is_checked_once_for_all_who_know_the_same() {
    let mut world = World::new(Curve::NistP256);
    let mut receivers = [0, 0, 0, 3].map(|kind| receiver(&world, kind));
    let bytes = world.signed_cam(true);
    let mut message = SharedMessage::new(&bytes, &receivers[0]);
    assert!(message.has_certificate());
    let found: Vec<_> = receivers.iter_mut().map(|one| one.check(&mut message, NOW, None)).collect();
    assert!(std::sync::Arc::ptr_eq(&found[0].0, &found[1].0) && std::sync::Arc::ptr_eq(&found[0].0, &found[2].0));
    assert_eq!(found[0].0.jobs().len(), 2, "the ticket's signature and its own");
    assert_eq!(found[3].1, ResultCode::SpduCertificateChainCertificateRevoked);
    // Later, within the time it is fresh for, the same is found; who knows the ticket by then has less to verify.
    assert_eq!(receivers[0].conclude(&found[0].0, NOW), ResultCode::Success);
    let (again, code) = receivers[1].check(&mut message, NOW.plus_us(1_000_000), None);
    assert!(std::sync::Arc::ptr_eq(&again, &found[0].0) && code == ResultCode::Success);
    let (replayed, code) = receivers[0].check(&mut message, NOW, None);
    assert_eq!((replayed.jobs().len(), code), (1, ResultCode::SpduRelevanceReplayedSpdu));
    let (late, code) = receivers[2].check(&mut message, NOW.plus_us(2_000_001), None);
    assert!(late.jobs().is_empty() && code == ResultCode::SpduRelevanceGenerationTimeTooFarInPast);
}
