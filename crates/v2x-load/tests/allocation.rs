//! What the pipeline takes of the heap. A program of its own: it counts every allocation.

#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::pipeline::{Class, Engine, Moment, Pipeline, PipelineConfig};
use chronoseal_v2x::verify::{NoStopwatch, VerifierConfig};
use chronoseal_v2x_load::{NOW, Town};

#[test]
fn messages_by_digest_are_verified_or_dropped_without_allocation() {
    for (curve, engine) in [
        (Curve::NistP256, Engine::Lanes),
        (Curve::BrainpoolP256r1, Engine::Lanes),
        (Curve::NistP256, Engine::Words),
        (Curve::NistP256, Engine::Scalar),
    ] {
        let town = Town::on(curve, 3, 1).unwrap();
        let mut verifier = town.verifier(VerifierConfig::default()).unwrap();
        let config = PipelineConfig { engine, queue_len_max: 64, ..PipelineConfig::default() };
        let mut pipeline = Pipeline::new(config);
        let now = Moment { ns: 0, time: NOW };
        let (first, messages) = (town.cams(3, true).unwrap(), town.cams(103, false).unwrap().split_off(3));
        let mut accepted = 0;
        let mut all_of = |messages: &'static [Vec<u8>]| {
            for (number, message) in messages.iter().enumerate() {
                pipeline.receive(&message[..], Class::ALL[number % 3], now);
            }
            while !pipeline.is_empty() {
                pipeline.run(&mut verifier, now, &mut NoStopwatch, |judged| {
                    accepted += usize::from(judged.verdict.is_accepted());
                });
            }
        };
        let (first, messages) = (first.leak(), messages.leak());
        let with_certificates = allocation_counter::measure(|| all_of(first));
        assert!(with_certificates.count_total > 0, "the counter counts");
        let by_digest = allocation_counter::measure(|| all_of(messages));
        assert_eq!(by_digest.count_total, 0, "{curve} {engine:?}: {by_digest:?}");
        assert_eq!((accepted, pipeline.audit().total()), (3 + 64, 36));
    }
}
