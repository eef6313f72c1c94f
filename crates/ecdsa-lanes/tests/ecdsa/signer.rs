use chronoseal_ecdsa_lanes::{Curve, Engine, KnownVerification, SignerTable, verify_known_batch};

use crate::samples::{CURVES, Sample, random, verify};

/// Verdicts by tables for an engine. What has no table because its key is no point is wrong.
pub(crate) fn known(engine: Engine, samples: &[Sample], curve: Curve) -> Vec<bool> {
    let keys: Vec<_> = samples.iter().map(|sample| [&sample.public[0], &sample.public[1]]).collect();
    let tables = SignerTable::build_for(engine, curve, &keys);
    let jobs: Vec<_> = (samples.iter().zip(&tables))
        .filter_map(|(sample, table)| {
            let (r, s) = (&sample.signature.r, &sample.signature.s);
            Some(KnownVerification { digest: &sample.digest, r, s, signer: table.as_ref()? })
        })
        .collect();
    let mut results = vec![false; jobs.len()];
    verify_known_batch(&jobs, &mut results);
    let mut alone = vec![false; jobs.len()];
    for (job, result) in jobs.iter().zip(&mut alone) {
        verify_known_batch(&[*job], core::slice::from_mut(result));
    }
    assert_eq!(alone, results, "{engine:?} {curve:?}");
    let mut results = results.into_iter();
    tables.iter().map(|table| table.is_some() && results.next().expect("one for each table")).collect()
}

#[test]
fn tables_give_the_verdicts_of_plain_verification() {
    for curve in CURVES {
        let mut random = random(40);
        let mut samples: Vec<_> = (0..77).map(|_| Sample::new(curve, &mut random)).collect();
        for (at, sample) in samples.iter_mut().enumerate() {
            match at % 7 {
                1 => sample.digest[at % 32] ^= 1,
                3 => sample.signature.r[at % 32] ^= 16,
                5 => sample.signature.s = [0; 32],
                _ => {}
            }
        }
        let expected = verify(chronoseal_ecdsa_lanes::engine(), &samples);
        assert_eq!(expected.iter().filter(|valid| **valid).count(), 44);
        for engine in Engine::available() {
            assert_eq!(known(*engine, &samples, curve), expected, "{engine:?} {curve:?}");
        }
    }
}

#[test]
fn small_multiples_of_the_generator_are_no_exception() {
    for curve in CURVES {
        for small in [1u8, 2, 3, 5, 16, 31] {
            let mut secret = [0; 32];
            secret[31] = small;
            let digest = secret;
            let mut signature = [None];
            let job = chronoseal_ecdsa_lanes::Signing { curve, digest: &digest, secret: &secret, entropy: &[] };
            chronoseal_ecdsa_lanes::sign_batch(&[job], &mut signature);
            let signature = signature[0].expect("in range");
            let sample = Sample { curve, digest, signature, public: crate::samples::public(curve, &secret) };
            for engine in Engine::available() {
                assert_eq!(
                    known(*engine, core::slice::from_ref(&sample), curve),
                    [true],
                    "{engine:?} {curve:?} {small}"
                );
            }
        }
    }
}

#[test]
fn no_table_for_what_is_no_point() {
    for curve in CURVES {
        let sample = Sample::new(curve, &mut random(41));
        let [x, y] = &sample.public;
        for engine in Engine::available() {
            let tables = SignerTable::build_for(*engine, curve, &[[x, y], [x, x], [&[0xff; 32], y], [x, y]]);
            let made: Vec<_> = tables.iter().map(|table| table.as_ref().map(SignerTable::public)).collect();
            assert_eq!(made, [Some(&sample.public), None, None, Some(&sample.public)], "{engine:?} {curve:?}");
        }
    }
}

#[test]
fn tables_of_several_engines_may_be_mixed() {
    let sample = Sample::new(Curve::NistP256, &mut random(42));
    let [x, y] = &sample.public;
    let tables: Vec<_> = (Engine::available().iter())
        .flat_map(|engine| SignerTable::build_for(*engine, Curve::NistP256, &[[x, y]]))
        .map(|table| table.expect("a point"))
        .collect();
    let wrong = [7; 32];
    let jobs: Vec<_> = (tables.iter())
        .flat_map(|signer| {
            let (r, s) = (&sample.signature.r, &sample.signature.s);
            [&sample.digest, &wrong].map(|digest| KnownVerification { digest, r, s, signer })
        })
        .collect();
    let mut results = vec![false; jobs.len()];
    verify_known_batch(&jobs, &mut results);
    assert!(results.chunks(2).all(|both| both == [true, false]), "{results:?}");
}
