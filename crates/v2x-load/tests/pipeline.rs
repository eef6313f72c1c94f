//! The pipeline with stations that sign: what comes of messages in batches, and in which order.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that fails says where, one that is skipped why")]

use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::pipeline::{Class, Engine, Message, Moment, Pipeline, PipelineConfig};
use chronoseal_v2x::verify::{Context, NoStopwatch, ResultCode, Verifier, VerifierConfig};
use chronoseal_v2x::vss::{DemandPolicy, Relevance, SkipReason};
use chronoseal_v2x_load::{NOW, Town};

fn moment(ns: u64) -> Moment {
    Moment { ns, time: NOW.plus_us(1_000) }
}

fn lanes(wait_max_ns: u64) -> PipelineConfig {
    PipelineConfig { wait_max_ns, ..PipelineConfig::default() }
}

/// Runs until nothing waits; result codes with classes, in the order of verdicts.
fn drain<M: Message>(pipeline: &mut Pipeline<M>, verifier: &mut Verifier) -> Vec<(ResultCode, Class)> {
    let mut judged = Vec::new();
    while !pipeline.is_empty() {
        pipeline.run(verifier, moment(0), &mut NoStopwatch, |one| judged.push((one.verdict.result(), one.class)));
    }
    judged
}

/// A pipeline that waits for nothing to fill; all of these in it.
fn pipeline_of(messages: &[Vec<u8>], config: PipelineConfig) -> Pipeline<&[u8]> {
    let mut pipeline = Pipeline::new(config);
    for message in messages {
        assert!(pipeline.receive(&message[..], Class::Near, moment(0)).is_none());
    }
    pipeline
}

#[test]
fn verdicts_are_those_of_one_verification_after_the_other() {
    for curve in [Curve::NistP256, Curve::BrainpoolP256r1] {
        let town = Town::on(curve, 5, 3).unwrap();
        let mut messages = town.cams(5, true).unwrap();
        messages.extend(town.cams(60, false).unwrap().split_off(5));
        for (at, message) in messages.iter_mut().enumerate() {
            let len = message.len();
            // All signers but the last become known.
            match if at < 4 { 0 } else { at % 7 } {
                // The signature, the payload, an encoding cut short.
                2 => message[len - 1] ^= 1,
                3 => message[40] ^= 0x80,
                4 => message.truncate(len / 2),
                _ => {}
            }
        }
        let repeated = messages[7].clone();
        messages.push(repeated);
        let mut plain = town.verifier(VerifierConfig::default()).unwrap();
        let context = Context::at(NOW.plus_us(1_000));
        let expected: Vec<_> = messages
            .iter()
            .map(|message| (plain.verify(message, &context, &mut NoStopwatch).0.result(), Class::Near))
            .collect();
        let accepted = expected.iter().filter(|(code, _)| *code == ResultCode::Success).count();
        assert!((20..50).contains(&accepted), "{accepted} of {}", expected.len());
        for (engine, are_signer_tables_kept) in
            [(Engine::Lanes, false), (Engine::Words, false), (Engine::Words, true), (Engine::Scalar, true)]
        {
            let config = VerifierConfig { are_signer_tables_kept, ..VerifierConfig::default() };
            let mut verifier = town.verifier(config).unwrap();
            let mut pipeline = pipeline_of(&messages, PipelineConfig { engine, ..lanes(0) });
            let mut found = drain(&mut pipeline, &mut verifier);
            let mut expected = expected.clone();
            // What is refused at once is judged before the batch it came with.
            found.sort_unstable_by_key(|(code, _)| *code as u32);
            expected.sort_unstable_by_key(|(code, _)| *code as u32);
            assert_eq!(found, expected, "{curve} {engine:?}");
            assert!(verifier.neighbours().ids().eq(plain.neighbours().ids()));
        }
    }
}

#[test]
fn a_signer_that_becomes_known_in_a_batch_is_known_to_the_next_message() {
    let town = Town::new(1, 4).unwrap();
    let mut messages = town.cams(1, true).unwrap();
    messages.extend(town.cams(4, false).unwrap().split_off(1));
    let mut verifier = town.verifier(VerifierConfig::default()).unwrap();
    let judged = drain(&mut pipeline_of(&messages, lanes(0)), &mut verifier);
    assert_eq!(judged, [(ResultCode::Success, Class::Near); 4]);
    // Unless the certificate was not right.
    let last = messages[0].len() - 1;
    messages[0][last] ^= 1;
    let mut verifier = town.verifier(VerifierConfig::default()).unwrap();
    let judged = drain(&mut pipeline_of(&messages, lanes(0)), &mut verifier);
    assert_eq!(judged[0].0, ResultCode::SpduCryptoVerificationFailure);
    assert!(judged[1..].iter().all(|(code, _)| *code == ResultCode::SpduParsingCertificateNotFound));
}

#[test]
fn the_most_relevant_are_verified_first_and_an_emergency_takes_eight_along() {
    let town = Town::new(1, 4).unwrap();
    let mut verifier = town.verifier(VerifierConfig::default()).unwrap();
    let known = town.cams(1, true).unwrap();
    drain(&mut pipeline_of(&known, lanes(0)), &mut verifier);
    let messages = town.cams(41, false).unwrap().split_off(1);
    let classes = [Class::Far, Class::Near, Class::Near, Class::Emergency];
    let mut pipeline = Pipeline::new(lanes(0));
    for (message, class) in messages.iter().zip(classes.into_iter().cycle()).take(20) {
        pipeline.receive(&message[..], class, moment(0));
    }
    let mut judged = Vec::new();
    if !has_lanes() {
        return println!("skipped: this processor has no lanes");
    }
    let count = pipeline.run(&mut verifier, moment(0), &mut NoStopwatch, |one| judged.push(one.class));
    assert_eq!(count, 8);
    assert_eq!(judged[..6], [[Class::Emergency; 5].as_slice(), &[Class::Near]].concat());
    assert_eq!(pipeline.run(&mut verifier, moment(0), &mut NoStopwatch, |_| ()), 12, "no emergency is left");
    // In a backlog, a full batch.
    for (message, class) in messages.iter().zip(classes.into_iter().cycle()) {
        pipeline.receive(&message[..], class, moment(0));
    }
    assert_eq!(pipeline.run(&mut verifier, moment(0), &mut NoStopwatch, |_| ()), 40, "half of them are replays");
    assert!(pipeline.is_empty());
}

#[test]
fn two_emergencies_go_alone() {
    let town = Town::new(1, 4).unwrap();
    let mut verifier = town.verifier(VerifierConfig::default()).unwrap();
    drain(&mut pipeline_of(&town.cams(1, true).unwrap(), lanes(0)), &mut verifier);
    let messages = town.cams(8, false).unwrap().split_off(1);
    let mut pipeline = pipeline_of(&messages[2..], lanes(0));
    pipeline.receive(&messages[0][..], Class::Emergency, moment(0));
    pipeline.receive(&messages[1][..], Class::Emergency, moment(0));
    let mut counts = Vec::new();
    while !pipeline.is_empty() {
        counts.push(pipeline.run(&mut verifier, moment(0), &mut NoStopwatch, |one| {
            assert_eq!(one.verdict.result(), ResultCode::Success);
        }));
    }
    assert_eq!(counts, if is_together() { vec![1, 1, 5] } else { vec![1; 7] });
}

/// Whether several are verified together.
fn is_together() -> bool {
    Engine::fastest() != Engine::Scalar
}

fn has_lanes() -> bool {
    Engine::fastest() == Engine::Lanes
}

/// Verdicts, in their order, of `waiting` in a batch while `emergencies` come one after the other.
fn interrupted<'m>(
    pipeline: &mut Pipeline<&'m [u8]>,
    verifier: &mut Verifier,
    emergencies: &'m [Vec<u8>],
) -> Vec<(ResultCode, Class)> {
    let (mut coming, mut judged) = (emergencies.iter(), Vec::new());
    let count = pipeline.run_interruptibly(
        verifier,
        moment(0),
        &mut NoStopwatch,
        || Some((coming.next()?.as_slice(), moment(0))),
        |one| judged.push((one.verdict.result(), one.class)),
    );
    assert_eq!(count, judged.len());
    for left in coming {
        pipeline.receive(left, Class::Emergency, moment(0));
    }
    judged
}

#[test]
fn an_emergency_interrupts_a_batch() {
    if !is_together() {
        return println!("skipped: this processor verifies one by one, and there is no batch to interrupt");
    }
    let town = Town::new(1, 4).unwrap();
    let mut verifier = town.verifier(VerifierConfig::default()).unwrap();
    drain(&mut pipeline_of(&town.cams(1, true).unwrap(), lanes(0)), &mut verifier);
    let mut messages = town.cams(60, false).unwrap().split_off(1);
    messages[1][200] ^= 1;
    let (emergencies, others) = messages.split_at(3);
    let batch_len = Engine::fastest().batch_len();
    let count = batch_len.min(10);
    let mut pipeline = pipeline_of(&others[..count], lanes(0));
    let judged = interrupted(&mut pipeline, &mut verifier, emergencies);
    let emergency = |code| (code, Class::Emergency);
    assert_eq!(
        judged[..2],
        [emergency(ResultCode::Success), emergency(ResultCode::SpduCryptoVerificationFailure)],
        "a wrong one is refused, and harms nobody"
    );
    assert_eq!(judged[2..], vec![(ResultCode::Success, Class::Near); count]);
    assert_eq!(pipeline.len(), 1, "the third did not interrupt");
    assert_eq!(drain(&mut pipeline, &mut verifier), [emergency(ResultCode::Success)]);

    let mut pipeline = pipeline_of(&others[10..50], lanes(0));
    let judged = interrupted(&mut pipeline, &mut verifier, &others[50..51]);
    assert_eq!(judged.len(), batch_len, "in a backlog nobody asks");
    assert_eq!(drain(&mut pipeline, &mut verifier)[0], emergency(ResultCode::Success), "but it is the next");
}

#[test]
fn an_emergency_whose_certificate_is_in_the_batch_goes_after_it() {
    if !is_together() {
        return println!("skipped: this processor verifies one by one, and there is no batch to interrupt");
    }
    let town = Town::new(1, 4).unwrap();
    let mut verifier = town.verifier(VerifierConfig::default()).unwrap();
    let messages = town.cams(2, false).unwrap();
    let first = town.cams(1, true).unwrap();
    let mut pipeline = pipeline_of(&first, lanes(0));
    let judged = interrupted(&mut pipeline, &mut verifier, &messages[1..]);
    assert_eq!(judged, [(ResultCode::Success, Class::Near)]);
    assert_eq!(drain(&mut pipeline, &mut verifier), [(ResultCode::Success, Class::Emergency)]);
}

#[test]
fn garbage_takes_no_place_in_a_batch() {
    let town = Town::new(1, 4).unwrap();
    let mut verifier = town.verifier(VerifierConfig::default()).unwrap();
    drain(&mut pipeline_of(&town.cams(1, true).unwrap(), lanes(0)), &mut verifier);
    let messages = town.cams(33, false).unwrap().split_off(1);
    let mut pipeline = Pipeline::new(lanes(0));
    for message in &messages {
        for _ in 0..3 {
            pipeline.receive(&b"garbage"[..], Class::Near, moment(0));
        }
        pipeline.receive(&message[..], Class::Near, moment(0));
    }
    let batch_len = Engine::fastest().batch_len();
    let mut accepted = 0;
    let count = pipeline
        .run(&mut verifier, moment(0), &mut NoStopwatch, |one| accepted += usize::from(one.verdict.is_accepted()));
    assert_eq!((count, accepted), (4 * batch_len, batch_len));
}

#[test]
fn messages_that_grew_too_old_in_waiting_are_refused() {
    let town = Town::new(1, 4).unwrap();
    let mut verifier = town.verifier(VerifierConfig::default()).unwrap();
    let messages = town.cams(1, true).unwrap();
    let mut pipeline = pipeline_of(&messages, lanes(0));
    let late = Moment { ns: 3_000_000_000, time: NOW.plus_us(3_000_000) };
    let mut judged = Vec::new();
    pipeline.run(&mut verifier, late, &mut NoStopwatch, |one| judged.push(one.verdict.result()));
    assert_eq!(judged, [ResultCode::SpduRelevanceGenerationTimeTooFarInPast]);
}

/// A message that says how near its sender is.
struct From(u32, Vec<u8>);

impl Message for From {
    fn bytes(&self) -> &[u8] {
        &self.1
    }

    fn relevance(&self) -> Relevance {
        Relevance { distance_m: Some(self.0), ..Relevance::default() }
    }
}

#[test]
fn a_policy_leaves_out_what_is_genuine_and_far_and_writes_it_down() {
    let town = Town::new(1, 4).unwrap();
    let mut verifier = town.verifier(VerifierConfig::default()).unwrap();
    let demand = DemandPolicy::Relevance { distance_m: 100, time_to_collision_ms: 0 };
    let mut pipeline = Pipeline::new(PipelineConfig { demand, ..lanes(0) });
    let mut messages = town.cams(1, true).unwrap();
    messages.extend(town.cams(21, false).unwrap().split_off(1));
    // One of the far ones is refused before anybody asks how far it is.
    messages[4].truncate(50);
    for (number, message) in messages.into_iter().enumerate() {
        let distance_m = if number % 2 == 0 { 100 * u32::from(number == 4) + 100 } else { 101 };
        pipeline.receive(From(distance_m, message), Class::Near, moment(0));
    }
    let mut ends = Vec::new();
    while !pipeline.is_empty() {
        pipeline.run(&mut verifier, moment(0), &mut NoStopwatch, |one| {
            assert_eq!(one.engine.is_some(), one.verdict.is_accepted());
            ends.push((one.message.0, one.skipped, one.verdict.result()));
        });
    }
    let count = |end| ends.iter().filter(|one| **one == end).count();
    assert_eq!(count((100, None, ResultCode::Success)), 10);
    assert_eq!(count((101, Some(SkipReason::NotRelevant), ResultCode::Success)), 10);
    assert_eq!(count((200, None, ResultCode::SpduParsingInvalidInput)), 1);
    assert_eq!((pipeline.audit().total(), pipeline.audit().count(SkipReason::NotRelevant)), (10, 10));
}

#[test]
fn a_message_past_the_queue_gets_the_verdict_it_would_get_in_it() {
    for curve in [Curve::NistP256, Curve::BrainpoolP256r1] {
        let town = Town::on(curve, 1, 4).unwrap();
        let mut verifier = town.verifier(VerifierConfig::default()).unwrap();
        let mut message = town.cams(2, true).unwrap().pop().unwrap();
        let waiting = town.cams(1, true).unwrap();
        let mut pipeline = pipeline_of(&waiting, lanes(u64::MAX));
        let last = message.len() - 1;
        let mut codes = Vec::new();
        for flip in [1, 1, 0] {
            message[last] ^= flip;
            pipeline.verify(&message[..], &mut verifier, moment(0), &mut NoStopwatch, |one| {
                codes.push((one.verdict.result(), one.engine));
            });
        }
        assert_eq!(codes[0].0, ResultCode::SpduCryptoVerificationFailure);
        assert_eq!(codes[1].0, ResultCode::Success, "{curve}");
        assert_eq!(codes[2], (ResultCode::SpduRelevanceReplayedSpdu, None));
        assert_eq!(pipeline.len(), 1, "the other one waits on");
    }
}
