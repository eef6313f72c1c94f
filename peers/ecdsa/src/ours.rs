//! The lanes, and the same interface with the scalar engine.

use chronoseal_ecdsa_lanes::{
    CompressedPoint, Curve, Engine, KnownVerification, SignerTable, Signing, Verification, engine, prepare, verify_known_batch,
};

use crate::Operation;
use crate::data::{self, COUNT, Sample};

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
            ("scalar engine (p256, bp256)", Engine::Scalar, 32),
        ] {
            // By the name of what this processor lacks would run something else.
            if !Engine::available().contains(&engine) {
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
    for (curve, name) in [(Curve::NistP256, data::VERIFY), (Curve::BrainpoolP256r1, data::VERIFY_BRAINPOOL)] {
        operations.push(known(curve, name));
    }
    let curve = Curve::NistP256;
    for (library, engine) in [("lanes, batches of 32", Engine::Avx512Ifma), ("scalar engine (p256)", Engine::Scalar)] {
        if !Engine::available().contains(&engine) {
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
fn known(curve: Curve, name: &'static str) -> Operation {
    let samples = data::samples(curve);
    let keys: Vec<_> = samples.iter().map(|sample| [&sample.x, &sample.y]).collect();
    let tables = SignerTable::build(curve, &keys);
    Operation {
        name,
        library: match engine() {
            Engine::Avx512Ifma => "lanes, batches of 32, tables of the signers",
            Engine::Scalar => "scalar engine, tables of the signers",
        },
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
