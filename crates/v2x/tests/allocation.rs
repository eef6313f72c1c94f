//! What verification takes of the heap. A program of its own: it counts every allocation.

#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

#[path = "v2x/stations.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the other tests")]
mod stations;

use chronoseal_v2x::certificate::{Issuer, issue};
use chronoseal_v2x::crypto::{Curve, SoftwareKey};
use chronoseal_v2x::message::{SignerCertificate, SignerForm, sign};
use chronoseal_v2x::verify::{Context, NoStopwatch, Verifier, VerifierConfig};

use stations::{NOW, World, rng, ticket_contents};

fn verifier(world: &World) -> Verifier {
    let mut verifier = Verifier::new(VerifierConfig::default());
    verifier.trust_mut().insert_root(&world.root.view()).unwrap();
    verifier.trust_mut().insert_authority(&world.authority.view()).unwrap();
    verifier
}

#[test]
fn a_message_by_digest_is_verified_without_allocation() {
    for curve in Curve::ALL {
        let mut world = World::new(curve);
        let mut verifier = verifier(&world);
        let context = Context::at(NOW);
        let first = world.signed_cam(true);
        let with_certificate = allocation_counter::measure(|| {
            assert!(verifier.verify(&first, &context, &mut NoStopwatch).0.is_accepted());
        });
        assert!(with_certificate.count_total > 0, "the counter counts");
        let second = sign(&World::cam(b"second"), SignerForm::Digest(&world.ticket), &mut world.ticket_key).unwrap();
        let by_digest = allocation_counter::measure(|| {
            assert!(verifier.verify(&second, &context, &mut NoStopwatch).0.is_accepted());
        });
        assert_eq!(by_digest.count_total, 0, "{curve}: {by_digest:?}");
        // And refused again without any.
        let replayed = allocation_counter::measure(|| {
            assert!(!verifier.verify(&second, &context, &mut NoStopwatch).0.is_accepted());
        });
        assert_eq!(replayed.count_total, 0, "{curve}: {replayed:?}");
    }
}

#[test]
fn a_thousand_neighbours_take_less_than_2_mb() {
    let mut world = World::new(Curve::NistP256);
    let mut key = SoftwareKey::generate(Curve::NistP256, &mut rng(8));
    let authority = world.authority.view();
    let messages: Vec<_> = (0..1_000_u16)
        .map(|i| {
            let mut tbs = ticket_contents(&key);
            tbs.crl_series = i;
            let ticket = issue(tbs, Issuer::Certificate(&authority), &mut world.authority_key).unwrap();
            let ticket = SignerCertificate::new(ticket).unwrap();
            sign(&World::cam(&i.to_be_bytes()), SignerForm::Certificate(&ticket), &mut key).unwrap()
        })
        .collect();
    let mut kept = None;
    let used = allocation_counter::measure(|| {
        let mut verifier = verifier(&world);
        for message in &messages {
            assert!(verifier.verify(message, &Context::at(NOW), &mut NoStopwatch).0.is_accepted());
        }
        assert_eq!(verifier.neighbours().len(), 1_000);
        kept = Some(verifier);
    });
    println!("{} bytes for 1,000 neighbours and the messages remembered", used.bytes_current);
    assert!((100_000..2_000_000).contains(&used.bytes_current), "{used:?}");
}

#[test]
fn lengths_that_are_claimed_allocate_nothing() {
    use chronoseal_v2x::coer::{Decode, Rules};
    use chronoseal_v2x::types::{Certificate, Ieee1609Dot2Data};
    // A payload, a list of recipients and a bitmap that claim up to 4 GB.
    for bytes in [
        &b"\x03\x80\x84\xff\xff\xff\xff"[..],
        b"\x03\x82\x02\x27\x10",
        b"\x03\x81\x00\xc0\x03\x80\x00\x00\x01\x24\x84\xff\xff\xff\xf0",
    ] {
        let used = allocation_counter::measure(|| {
            assert!(Ieee1609Dot2Data::from_coer_with(bytes, Rules::LENIENT).is_err());
        });
        // The path of the error.
        assert!(used.bytes_max < 1_000, "{used:?}");
    }
    let mut list = b"\x00\x03\x00\x80".to_vec();
    list.extend([0; 8]);
    list.extend(b"\x10\x83\x00\x00\x00\x00\x00\x00\x00\x00\x00\x84\x00\x01\x02\x27\x10");
    let used = allocation_counter::measure(|| assert!(Certificate::from_coer_with(&list, Rules::LENIENT).is_err()));
    assert!(used.bytes_max < 1_000, "{used:?}");
}
