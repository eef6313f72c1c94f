//! Secured PDUs a second on one core: profiles 1 and 3, sealed and opened, in classical and in the longest FD frames.
//!
//! The goal is 3 million PDUs a second of profile 1. Every PDU is another one: the freshness value counts up, the payload
//! is what the one before left. What is opened has been sealed before the clock starts, 4096 PDUs of it.

#![allow(clippy::unwrap_used, missing_docs, reason = "a bench may stop at the first surprise and is nobody's API")]

use std::hint::black_box;

use chronoseal_crypto::symmetric::Key128;
use chronoseal_frameauth::{
    Opener, Sealer, TripReset,
    secoc::{self, FreshnessFormat},
};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const EPOCH: Option<TripReset> = Some(TripReset { trip: 1, reset: 1 });
const PDUS: usize = 4096;

fn secoc(criterion: &mut Criterion) {
    let key = Key128::from_array(std::array::from_fn(|i| i as u8));
    let profile_1 = secoc::profile_1(FreshnessFormat::Counter { bits: 32 }).unwrap();
    for (name, profile) in [("secoc-profile-1", profile_1), ("secoc-profile-3", secoc::profile_3())] {
        let mut group = criterion.benchmark_group(name);
        for pdu_len in [8usize, 64] {
            let payload_len = pdu_len - profile.overhead();
            let mut pdu = [0x5a; 64];

            group.throughput(Throughput::Elements(1));
            let mut transmitter = Sealer::new(profile, &key, 0x0123).unwrap();
            group.bench_function(BenchmarkId::new("seal", pdu_len), |bench| {
                bench.iter(|| transmitter.seal_next(black_box(&mut pdu[..pdu_len]), payload_len, EPOCH).unwrap());
            });

            group.throughput(Throughput::Elements(PDUS as u64));
            let mut transmitter = Sealer::new(profile, &key, 0x0123).unwrap();
            let sealed: Vec<[u8; 64]> = std::iter::repeat_with(|| {
                transmitter.seal_next(&mut pdu[..pdu_len], payload_len, EPOCH).unwrap();
                pdu
            })
            .take(PDUS)
            .collect();
            let receiver = Opener::new(profile, &key, 0x0123).unwrap();
            group.bench_function(BenchmarkId::new("open", pdu_len), |bench| {
                bench.iter_batched_ref(
                    || receiver.clone(),
                    |receiver| {
                        for pdu in &sealed {
                            receiver.open(black_box(&pdu[..pdu_len]), EPOCH).unwrap();
                        }
                    },
                    BatchSize::LargeInput,
                );
            });
        }
        group.finish();
    }
}

criterion_group!(benches, secoc);
criterion_main!(benches);
