//! Requests that come twice.

use chronoseal_v2x::crypto::SigningKey;
use chronoseal_v2x::pki::{MemoryAnswers, PkiError, SealedRequest, Step, request_ticket};

use crate::pki_exchanges::{NOW, World, cam};

/// A copy of a request, as long as its time is taken, and after that.
#[test]
fn a_copy_is_answered_as_before_until_its_time_is_over() {
    let mut world = World::new();
    let mut credential = world.enrol();
    let mut key = world.new_key();
    let authorities = (&world.aa.authority.certificate, &world.ea.authority.certificate);
    let signer = (&credential.0, &mut credential.1 as &mut dyn SigningKey);
    let pending = request_ticket(&cam(), &mut key, signer, authorities, NOW, &mut world.rng).unwrap();
    let first = world.ask_aa(pending.message()).unwrap();
    let ask = |world: &mut World, after_us: u64| {
        let World { aa, answers, rng, .. } = world;
        match aa.handle(pending.message(), answers, NOW.plus_us(after_us), rng).unwrap() {
            Step::Done(decision) => decision,
            Step::Ask(_) | Step::LookUp(_) => panic!("the enrolment authority is asked again"),
        }
    };
    let copy = ask(&mut world, 300_999_999);
    assert!(copy.answer == first && copy.issued.is_none() && copy.refused.is_none());
    let late = ask(&mut world, 301_000_000);
    assert_eq!(late.refused, Some(PkiError::OutOfSync { difference_s: 301 }));
    world.answers.forget(NOW.plus_us(301_000_000));
    assert!(world.answers.is_empty(), "the answer is kept no longer");
}

/// Encrypted anew, or asked about by the authority once more, it is the same request.
#[test]
fn a_copy_is_known_by_what_is_signed_in_it() {
    let mut world = World::new();
    let mut credential = world.enrol();
    let mut key = world.new_key();
    let plaintext = world.ticket_request(&mut credential, &mut key);
    let aa = world.aa.authority.certificate.clone();
    let seal = |world: &mut World| SealedRequest::new(&plaintext, &aa, &mut world.rng).unwrap();
    let (one, other) = (seal(&mut world), seal(&mut world));
    assert_ne!(one.message, other.message);
    let first = world.ask_aa(&one.message).unwrap();
    assert!(world.ask_aa(&other.message).unwrap() == first);
    assert!(other.open_answer(&first).is_err(), "it is of use to the first one alone");
    // The authority lost its memory: the enrolment authority counts the request once all the same.
    world.answers = MemoryAnswers::default();
    assert_ne!(world.ask_aa(&one.message).unwrap(), first);
    assert_eq!(world.store.confirmed.len(), 1);
}
