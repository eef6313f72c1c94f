//! The whole path: decoding, look-up, every check, signatures, one message after the other and in batches.

use std::hint::black_box;
use std::time::Duration;

use chronoseal_ecdsa_lanes as lanes;
use chronoseal_v2x::crypto::{Curve, SigningKey as _, SoftwareKey, has_words};
use chronoseal_v2x::verify::{Context, NoStopwatch, ResultCode, Verifier, VerifierConfig};
use chronoseal_v2x::pipeline::{Class, Engine, Moment, Pipeline, PipelineConfig, QUEUE_LEN};
use chronoseal_v2x_load::{NOW, Town};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::{COUNT, Row, bare, timed};

/// Neighbours where they are known beforehand.
const STATIONS: usize = 64;
/// Garbage is refused fast: more of it, for the clock's sake.
const GARBAGE_COUNT: usize = 8_192;

pub const VERIFY: &str = "1 verify";
pub const VERIFY_NEW: &str = "2 verify, each with a new certificate";
pub const VERIFY_BRAINPOOL: &str = "3 verify, brainpoolP256r1";
pub const SIGN: &str = "4 sign";
/// The whole path of one message at a time, on the lanes where the processor has them.
pub const ALONE: &str = "whole path, a lone emergency";

/// The same of a signer whose key's multiples are kept.
pub const ALONE_KNOWN: &str = "whole path, a lone emergency, tables of the signers";
/// In batches of signers whose keys' multiples are kept.
pub const KNOWN: &str = "whole path, 64-bit words, tables of the signers";
/// Digests, as a station signs them one at a time.
pub const SIGN_ALONE: &str = "a digest at a time";

/// The whole path in batches, named by what verifies.
pub fn batched() -> &'static str {
    by_engine(["whole path, lanes", "whole path, 64-bit words", "whole path, queued and one by one"])
}

/// The whole path of one message after the other, named by what verifies.
fn one_by_one(curve: Curve) -> &'static str {
    if has_words() && curve == Curve::NistP256 { "whole path, one by one in words" } else { "whole path, scalar" }
}

/// Signatures alone, named by what signs.
pub fn signing() -> &'static str {
    by_engine(["lanes", "64-bit words", "without AWS-LC (p256)"])
}

fn by_engine([lanes, words, scalar]: [&'static str; 3]) -> &'static str {
    match Engine::fastest() {
        Engine::Lanes => lanes,
        Engine::Words => words,
        Engine::Scalar => scalar,
    }
}

pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (group, curve) in [(VERIFY, Curve::NistP256), (VERIFY_BRAINPOOL, Curve::BrainpoolP256r1)] {
        let town = Town::on(curve, STATIONS, 1).expect("a town");
        let verifier = knowing(&town, false);
        let messages = town.cams(STATIONS + COUNT, false).expect("messages").split_off(STATIONS);
        if curve == Curve::NistP256 {
            push_alone(&mut rows, ALONE, verifier.clone(), messages.clone());
            if has_words() {
                push_alone(&mut rows, ALONE_KNOWN, knowing(&town, true), messages.clone());
                let config = PipelineConfig { engine: Engine::Words, ..PipelineConfig::default() };
                let mut batches = batches(config, knowing(&town, true), messages.clone(), |code| code == ResultCode::Success);
                rows.push(Row { group, name: KNOWN, count: COUNT, run: Box::new(move || batches()) });
            }
        }
        push_paths(&mut rows, group, curve, verifier, messages);
    }
    let town = Town::new(COUNT, 2).expect("a town");
    let verifier = town.verifier(VerifierConfig::default()).expect("a verifier");
    push_paths(&mut rows, VERIFY_NEW, Curve::NistP256, verifier, town.cams(COUNT, true).expect("messages"));
    push_signing(&mut rows);
    push_refusals(&mut rows);
    rows
}

fn knowing(town: &Town, are_signer_tables_kept: bool) -> Verifier {
    let config = VerifierConfig { are_signer_tables_kept, ..VerifierConfig::default() };
    let mut verifier = town.verifier(config).expect("a verifier");
    for message in town.cams(town.stations.len(), true).expect("messages") {
        assert!(verifier.verify(&message, &Context::at(NOW), &mut NoStopwatch).0.is_accepted());
    }
    verifier
}

/// Each round begins with a verifier that has seen none of the messages.
fn push_paths(rows: &mut Vec<Row>, group: &'static str, curve: Curve, verifier: Verifier, messages: Vec<Vec<u8>>) {
    let (own, list) = (verifier.clone(), messages.clone());
    let scalar = move || {
        let mut verifier = own.clone();
        timed(|| {
            for message in &list {
                let (verdict, _) = verifier.verify(black_box(message), &Context::at(NOW), &mut NoStopwatch);
                assert!(verdict.is_accepted(), "{verdict}");
            }
        })
    };
    rows.push(Row { group, name: one_by_one(curve), count: COUNT, run: Box::new(scalar) });
    let mut batches = batches(fastest(), verifier.clone(), messages.clone(), |code| code == ResultCode::Success);
    rows.push(Row { group, name: batched(), count: COUNT, run: Box::new(move || batches()) });
    // What is left of the path without signatures.
    let checks = move || {
        let mut verifier = verifier.clone();
        timed(|| {
            for message in &messages {
                let begun = verifier.begin(black_box(message), &Context::at(NOW), &mut NoStopwatch);
                assert!(begun.jobs().count() > 0);
            }
        })
    };
    rows.push(Row { group, name: "all checks but signatures", count: COUNT, run: Box::new(checks) });
}

fn fastest() -> PipelineConfig {
    PipelineConfig { engine: Engine::fastest(), ..PipelineConfig::default() }
}

/// Emergencies, each of which comes when nothing else waits.
fn push_alone(rows: &mut Vec<Row>, name: &'static str, verifier: Verifier, messages: Vec<Vec<u8>>) {
    let mut pipeline = Pipeline::new(fastest());
    let messages: &'static [Vec<u8>] = messages.leak();
    let run = move || {
        let mut verifier = verifier.clone();
        let (now, mut count) = (Moment { ns: 0, time: NOW }, 0);
        let took = timed(|| {
            for message in messages {
                pipeline.receive(black_box(&message[..]), Class::Emergency, now);
                pipeline.run(&mut verifier, now, &mut NoStopwatch, |judged| {
                    count += usize::from(judged.verdict.is_accepted());
                });
            }
        });
        assert_eq!(count, messages.len());
        took
    };
    rows.push(Row { group: VERIFY, name, count: COUNT, run: Box::new(run) });
}

fn batches(
    config: PipelineConfig,
    verifier: Verifier,
    messages: Vec<Vec<u8>>,
    is_expected: fn(ResultCode) -> bool,
) -> impl FnMut() -> Duration {
    let mut pipeline = Pipeline::new(config);
    let messages: &'static [Vec<u8>] = messages.leak();
    move || {
        let mut verifier = verifier.clone();
        let (now, mut count) = (Moment { ns: 0, time: NOW }, 0);
        let took = timed(|| {
            for some in messages.chunks(QUEUE_LEN) {
                for message in some {
                    pipeline.receive(&message[..], Class::Near, now);
                }
                while !pipeline.is_empty() {
                    pipeline.run(&mut verifier, now, &mut NoStopwatch, |judged| {
                        count += usize::from(is_expected(judged.verdict.result()));
                    });
                }
            }
        });
        assert_eq!(count, messages.len());
        took
    }
}

/// Messages under a digest, ready to send.
fn push_signing(rows: &mut Vec<Row>) {
    let town = Town::new(1, 3).expect("a town");
    let mut number = 0_u64;
    let whole = move || {
        let mut signed = Vec::new();
        let took = timed(|| signed = town.cams(COUNT, false).expect("messages"));
        number += 1;
        assert!(signed.len() == COUNT && number > 0);
        took
    };
    let name = by_engine(["whole message, lanes", "whole message, 64-bit words", "whole message, one by one"]);
    rows.push(Row { group: SIGN, name, count: COUNT, run: Box::new(whole) });
    let samples = bare::samples(lanes::Curve::NistP256, COUNT);
    let bare = move || {
        let jobs: Vec<_> = samples
            .iter()
            .map(|sample| lanes::Signing {
                curve: lanes::Curve::NistP256,
                digest: &sample.digest,
                secret: &sample.secret,
                entropy: &[],
            })
            .collect();
        let mut signatures = vec![None; jobs.len()];
        let took = timed(|| {
            lanes::sign_batch(&jobs, &mut signatures);
        });
        assert!(signatures.iter().all(Option::is_some));
        took
    };
    rows.push(Row { group: SIGN, name: signing(), count: COUNT, run: Box::new(bare) });
    let samples = bare::samples(lanes::Curve::NistP256, COUNT);
    let mut keys: Vec<_> = samples
        .iter()
        .map(|sample| SoftwareKey::from_scalar(Curve::NistP256, &sample.secret).expect("in range"))
        .collect();
    let alone = move || {
        timed(|| {
            for (key, sample) in keys.iter_mut().zip(&samples) {
                key.sign_digest(black_box(&sample.digest)).expect("signs");
            }
        })
    };
    rows.push(Row { group: SIGN, name: SIGN_ALONE, count: COUNT, run: Box::new(alone) });
}

fn push_refusals(rows: &mut Vec<Row>) {
    let town = Town::new(STATIONS, 1).expect("a town");
    let verifier = knowing(&town, false);
    let messages = town.cams(STATIONS + GARBAGE_COUNT, false).expect("messages").split_off(STATIONS);
    let mut random = ChaCha20Rng::seed_from_u64(5);
    let noise: Vec<Vec<u8>> = messages
        .iter()
        .map(|message| {
            let mut bytes = vec![0; message.len()];
            random.fill_bytes(&mut bytes);
            bytes
        })
        .collect();
    let shortened = |(at, message): (usize, &Vec<u8>)| message[..1 + at * 7 % (message.len() - 1)].to_vec();
    let truncated: Vec<Vec<u8>> = messages.iter().enumerate().map(shortened).collect();
    // Before the signature: tag, tag, r, tag, s are 66 octets, and before those the digest's eight.
    let unknown: Vec<Vec<u8>> = messages
        .iter()
        .map(|message| {
            let mut message = message.clone();
            let at = message.len() - 66 - 8;
            message[at] ^= 1;
            message
        })
        .collect();
    let mut forged = messages;
    for message in &mut forged {
        let last = message.len() - 1;
        message[last] ^= 1;
    }
    forged.truncate(COUNT);
    let is_parsing: fn(ResultCode) -> bool = |code| code != ResultCode::Success;
    let cases: [(_, _, fn(ResultCode) -> bool); 4] = [
        ("random bytes", noise, is_parsing),
        ("truncated messages", truncated, is_parsing),
        ("unknown signers", unknown, |code| code == ResultCode::SpduParsingCertificateNotFound),
        ("forged signatures", forged, |code| code == ResultCode::SpduCryptoVerificationFailure),
    ];
    for (name, messages, is_expected) in cases {
        let count = messages.len();
        let mut run = batches(fastest(), verifier.clone(), messages, is_expected);
        rows.push(Row { group: "5 refuse", name, count, run: Box::new(move || run()) });
    }
}
