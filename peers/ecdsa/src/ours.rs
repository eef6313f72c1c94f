//! The lanes, and the same interface with the scalar engine.

use chronoseal_ecdsa_lanes::{
    CompressedPoint, Curve, Engine, KnownVerification, SignerTable, Signing, Verification, prepare, verify_known_batch,
};

use crate::Operation;
use crate::data::{self, COUNT, Sample};

/// Of [`Engine::Mulx`], for P-256 only.
const WORDS: &str = "in words, batches of 32";
const WORDS_ALONE: &str = "in words, one alone";

pub fn operations() -> Vec<Operation> {
    let mut operations = Vec::new();
    for (curve, verify_name, sign_name) in [
        (Curve::NistP256, data::VERIFY, data::SIGN),
        (Curve::BrainpoolP256r1, data::VERIFY_BRAINPOOL, data::SIGN_BRAINPOOL),
    ] {
        prepare(curve);
        for (library, engine, batch) in [
            ("lanes, one alone", Engine::Avx512Ifma, 1),
            ("lanes, batches of 8", Engine::Avx512Ifma, 8),
            ("lanes, batches of 32", Engine::Avx512Ifma, 32),
            (WORDS_ALONE, Engine::Mulx, 1),
            (WORDS, Engine::Mulx, 32),
            ("scalar engine (p256, bp256)", Engine::Scalar, 32),
        ] {
            // By the name of what this processor lacks would run something else.
            if !engine.is_available() || engine == Engine::Mulx && curve != Curve::NistP256 {
                continue;
            }
            let samples = data::samples(curve);
            operations.push(Operation {
                name: verify_name,
                library,
                count: COUNT as u32,
                run: Box::new(move || {
                    for samples in samples.chunks(batch) {
                        verify(engine, curve, samples, 1);
                    }
                }),
            });
            let samples = data::samples(curve);
            operations.push(Operation {
                name: sign_name,
                library,
                count: COUNT as u32,
                run: Box::new(move || {
                    for samples in samples.chunks(batch) {
                        sign(engine, curve, samples);
                    }
                }),
            });
        }
    }
    for (engine, curve, library) in [
        (Engine::Avx512Ifma, Curve::NistP256, "lanes, batches of 32, tables of the signers"),
        (Engine::Avx512Ifma, Curve::BrainpoolP256r1, "lanes, batches of 32, tables of the signers"),
        (Engine::Mulx, Curve::NistP256, "in words, batches of 32, tables of the signers"),
    ] {
        if engine.is_available() {
            operations.push(known(engine, curve, library));
        }
    }
    let curve = Curve::NistP256;
    for (library, engine) in [
        ("lanes, batches of 32", Engine::Avx512Ifma),
        (WORDS, Engine::Mulx),
        ("scalar engine (p256)", Engine::Scalar),
    ] {
        if !engine.is_available() {
            continue;
        }
        let samples = data::samples(curve);
        operations.push(Operation {
            name: data::DECOMPRESS,
            library,
            count: COUNT as u32,
            run: Box::new(move || decompress(engine, &samples)),
        });
        let samples = data::samples(curve);
        operations.push(Operation {
            name: data::VERIFY_NEW,
            library,
            count: COUNT as u32,
            run: Box::new(move || {
                decompress(engine, &samples);
                verify(engine, curve, &samples, 2);
            }),
        });
    }
    operations
}

/// With tables made beforehand for 32 signers: feature `signer-tables`.
fn known(engine: Engine, curve: Curve, library: &'static str) -> Operation {
    let samples = data::samples(curve);
    let keys: Vec<_> = samples.iter().map(|sample| [&sample.x, &sample.y]).collect();
    let tables = SignerTable::build_for(engine, curve, &keys);
    Operation {
        name: if curve == Curve::NistP256 { data::VERIFY } else { data::VERIFY_BRAINPOOL },
        library,
        count: COUNT as u32,
        run: Box::new(move || {
            let jobs: Vec<_> = samples
                .iter()
                .zip(&tables)
                .map(|(sample, table)| KnownVerification {
                    digest: &sample.digest,
                    r: &sample.signature.r,
                    s: &sample.signature.s,
                    signer: table.as_ref().expect("a point"),
                })
                .collect();
            let mut results = vec![false; jobs.len()];
            verify_known_batch(&jobs, &mut results);
            assert!(results.iter().all(|valid| *valid));
        }),
    }
}

fn verify(engine: Engine, curve: Curve, samples: &[Sample], times: usize) {
    let jobs: Vec<_> = samples
        .iter()
        .flat_map(|sample| {
            let job = Verification {
                curve,
                digest: &sample.digest,
                r: &sample.signature.r,
                s: &sample.signature.s,
                public_x: &sample.x,
                public_y: &sample.y,
            };
            std::iter::repeat_n(job, times)
        })
        .collect();
    let mut results = vec![false; jobs.len()];
    engine.verify_batch(&jobs, &mut results);
    assert!(results.iter().all(|valid| *valid));
}

fn sign(engine: Engine, curve: Curve, samples: &[Sample]) {
    let jobs: Vec<_> = samples
        .iter()
        .map(|sample| Signing { curve, digest: &sample.digest, secret: &sample.secret, entropy: &[] })
        .collect();
    let mut signatures = vec![None; jobs.len()];
    engine.sign_batch(&jobs, &mut signatures);
    assert!(signatures.iter().zip(samples).all(|(signature, sample)| *signature == Some(sample.signature)));
}

fn decompress(engine: Engine, samples: &[Sample]) {
    let points: Vec<_> = samples
        .iter()
        .map(|sample| CompressedPoint { curve: Curve::NistP256, x: &sample.x, y_is_odd: sample.y[31] & 1 == 1 })
        .collect();
    let mut ys = vec![None; points.len()];
    engine.decompress_batch(&points, &mut ys);
    assert!(ys.iter().zip(samples).all(|(y, sample)| *y == Some(sample.y)));
}
