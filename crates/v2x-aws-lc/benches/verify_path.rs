//! The whole way of a message signed by digest, decoding, look-up, all checks and verification, beside the bare
//! verification of the same signature; and how fast what is no message is refused.
//!
//! The NIST curve of the path is AWS-LC's, and AWS-LC alone is measured in the same run. Each message is another one, so nothing is a replay. Times are of the processor, not of the wall, so other programs on the
//! machine disturb less. The last line compares by turns, a thousand messages each, so that a processor that slows down
//! slows both.

#![allow(clippy::unwrap_used, missing_docs, reason = "a bench may stop at the first surprise and is nobody's API")]
#![allow(clippy::print_stdout, reason = "a bench tells")]

#[path = "../../v2x/tests/v2x/stations.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests")]
mod stations;

use std::hint::black_box;
use std::time::Duration;

use chronoseal_v2x::coer::Decode;
use chronoseal_v2x::crypto::{Curve, EcdsaSignature, VerifyingKey};
use chronoseal_v2x::message::{SignerForm, message_digest, sign};
use chronoseal_v2x::types::Ieee1609Dot2Data;
use chronoseal_v2x::verify::{Context, NoStopwatch, Verifier, VerifierConfig};
use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BatchSize, Criterion, Throughput};
use nix::time::{ClockId, clock_gettime};
use rand_chacha::rand_core::Rng;

use stations::{NOW, World, rng};

/// Messages of one round.
const COUNT: usize = 1_000;

/// Length of a CAM's payload with its GeoNetworking headers `[byte]`.
const PAYLOAD_LEN: usize = 200;

/// Time of the processor this program took.
fn processor_time() -> Duration {
    Duration::from(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).unwrap())
}

/// [`processor_time`] for criterion.
struct ProcessorTime;

impl Measurement for ProcessorTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        processor_time()
    }

    fn end(&self, start: Duration) -> Duration {
        processor_time() - start
    }

    fn add(&self, a: &Duration, b: &Duration) -> Duration {
        *a + *b
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

struct Stage {
    verifier: Verifier,
    messages: Vec<Vec<u8>>,
    key: VerifyingKey,
    /// Digest and signature of each message.
    signatures: Vec<(Vec<u8>, EcdsaSignature)>,
}

fn stage(curve: Curve) -> Stage {
    let mut world = World::new(curve);
    let mut verifier = Verifier::new(VerifierConfig::default());
    verifier.trust_mut().insert_root(&world.root.view()).unwrap();
    verifier.trust_mut().insert_authority(&world.authority.view()).unwrap();
    let first = world.signed_cam(true);
    assert!(verifier.verify(&first, &Context::at(NOW), &mut NoStopwatch).0.is_accepted());
    let mut payload = [0x5a; PAYLOAD_LEN];
    let messages: Vec<_> = (0..COUNT as u32)
        .map(|i| {
            payload[..4].copy_from_slice(&i.to_be_bytes());
            sign(&World::cam(&payload), SignerForm::Digest(&world.ticket), &mut world.ticket_key).unwrap()
        })
        .collect();
    let key = VerifyingKey::new(world.ticket_key.public_point());
    let signatures = messages
        .iter()
        .map(|message| {
            let message = Ieee1609Dot2Data::from_coer(message).unwrap();
            let signed = message.signed_data().unwrap();
            let hash = &world.ticket.hash().value;
            let digest = message_digest(curve.hash(), signed.tbs_data.received.0, None, Some(hash)).unwrap();
            (digest.as_bytes().to_vec(), EcdsaSignature::from_signature(&signed.signature).unwrap())
        })
        .collect();
    Stage { verifier, messages, key, signatures }
}

/// Time of one round of whole paths by a verifier that has seen none of the messages.
fn whole(stage: &Stage) -> Duration {
    let mut verifier = stage.verifier.clone();
    let context = Context::at(NOW);
    let start = processor_time();
    for message in &stage.messages {
        assert!(verifier.verify(black_box(message), &context, &mut NoStopwatch).0.is_accepted());
    }
    processor_time() - start
}

fn bare(stage: &Stage) -> Duration {
    let start = processor_time();
    for (digest, signature) in &stage.signatures {
        assert!(stage.key.verify_digest(black_box(digest), signature));
    }
    processor_time() - start
}

fn paths(criterion: &mut Criterion<ProcessorTime>) {
    for curve in [Curve::NistP256, Curve::BrainpoolP256r1] {
        let stage = stage(curve);
        let mut group = criterion.benchmark_group(format!("{curve}"));
        group.throughput(Throughput::Elements(COUNT as u64)).sample_size(10);
        group.bench_function("whole path", |bench| {
            bench.iter_custom(|rounds| (0..rounds).map(|_| whole(&stage)).sum());
        });
        group.bench_function("bare verification", |bench| {
            bench.iter_custom(|rounds| (0..rounds).map(|_| bare(&stage)).sum());
        });
        group.finish();
        let mut ratios: Vec<f64> = (0..15).map(|_| bare(&stage).as_secs_f64() / whole(&stage).as_secs_f64()).collect();
        ratios.sort_by(f64::total_cmp);
        println!("{curve}: whole path at {:.3} of bare verification (median of 15 rounds by turns)", ratios[7]);
    }
}

fn refusals(criterion: &mut Criterion<ProcessorTime>) {
    let stage = stage(Curve::NistP256);
    let mut random = rng(5);
    let noise: Vec<Vec<u8>> = (0..COUNT)
        .map(|_| {
            let mut bytes = vec![0; 300];
            random.fill_bytes(&mut bytes);
            bytes
        })
        .collect();
    let cut: Vec<Vec<u8>> = stage
        .messages
        .iter()
        .enumerate()
        .map(|(i, message)| message[..1 + i * 7 % (message.len() - 1)].to_vec())
        .collect();
    // The signer's identifier stands before the signature: tag, eight octets, tag, tag, r, s.
    let unknown: Vec<Vec<u8>> = stage
        .messages
        .iter()
        .map(|message| {
            let mut message = message.clone();
            let at = message.len() - 66 - 8;
            message[at] ^= 1;
            message
        })
        .collect();
    let mut group = criterion.benchmark_group("refused");
    group.throughput(Throughput::Elements(COUNT as u64));
    for (name, messages) in [("random bytes", noise), ("truncated messages", cut), ("unknown signers", unknown)] {
        let context = Context::at(NOW);
        group.bench_function(name, |bench| {
            bench.iter_batched_ref(
                || stage.verifier.clone(),
                |verifier| {
                    for message in &messages {
                        assert!(!verifier.verify(black_box(message), &context, &mut NoStopwatch).0.is_accepted());
                    }
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

fn main() {
    assert!(chronoseal_v2x_aws_lc::install());
    let mut criterion = Criterion::default().with_measurement(ProcessorTime).configure_from_args();
    paths(&mut criterion);
    refusals(&mut criterion);
    criterion.final_summary();
}
