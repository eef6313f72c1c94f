use chronoseal_ecdsa_lanes::{Curve, Engine, Usage};

use crate::samples::{CURVES, Sample, random, verify};

#[test]
fn accepts_valid_signatures_in_every_lane_and_any_number() {
    for curve in CURVES {
        let mut random = random(1);
        let samples: Vec<_> = (0..67).map(|_| Sample::new(curve, &mut random)).collect();
        for engine in Engine::available() {
            for len in [0, 1, 2, 7, 8, 9, 31, 32, 33, 67] {
                assert_eq!(verify(*engine, &samples[..len]), vec![true; len], "{engine:?} {curve:?} {len}");
            }
        }
    }
}

#[test]
fn refuses_one_wrong_signature_in_any_lane_and_only_that() {
    for curve in CURVES {
        let mut random = random(2);
        let good: Vec<_> = (0..16).map(|_| Sample::new(curve, &mut random)).collect();
        for engine in Engine::available() {
            for wrong in 0..good.len() {
                let mut samples = good.clone();
                samples[wrong].digest[31] ^= 1;
                let expected: Vec<_> = (0..good.len()).map(|at| at != wrong).collect();
                assert_eq!(verify(*engine, &samples), expected, "{engine:?} {curve:?} {wrong}");
            }
        }
    }
}

#[test]
fn every_flipped_bit_is_refused_as_by_the_scalar_code() {
    for curve in CURVES {
        let sample = Sample::new(curve, &mut random(3));
        let mut mutants = Vec::new();
        // The scalar code takes milliseconds where the compiler does not optimize.
        for bit in (0..256).step_by(if cfg!(debug_assertions) { 11 } else { 1 }) {
            let flip = |bytes: &mut [u8; 32]| bytes[bit / 8] ^= 1 << (bit % 8);
            for part in 0..5 {
                let mut mutant = sample.clone();
                match part {
                    0 => flip(&mut mutant.digest),
                    1 => flip(&mut mutant.signature.r),
                    2 => flip(&mut mutant.signature.s),
                    3 => flip(&mut mutant.public[0]),
                    _ => flip(&mut mutant.public[1]),
                }
                mutants.push(mutant);
            }
        }
        for engine in Engine::available() {
            assert_eq!(verify(*engine, &mutants), vec![false; mutants.len()], "{engine:?} {curve:?}");
        }
    }
}

#[test]
fn curves_may_be_mixed_and_lanes_are_counted() {
    let mut random = random(4);
    let samples: Vec<_> = (0..45).map(|at| Sample::new(CURVES[usize::from(at % 3 == 0)], &mut random)).collect();
    let jobs: Vec<_> = samples.iter().map(Sample::job).collect();
    for engine in Engine::available() {
        let mut results = vec![false; jobs.len()];
        let usage = engine.verify_batch(&jobs, &mut results);
        assert_eq!(results, vec![true; 45], "{engine:?}");
        // 15 of one curve, 30 of the other.
        let lanes = if *engine == Engine::Avx512Ifma { 16 + 32 } else { 45 };
        assert_eq!(usage, Usage { jobs: 45, lanes });
    }
}

#[test]
fn whoever_is_asked_during_a_batch_may_verify_another() {
    let mut random = random(6);
    let samples: Vec<_> = (0..20).map(|_| Sample::new(CURVES[0], &mut random)).collect();
    let jobs: Vec<_> = samples.iter().map(Sample::job).collect();
    for engine in Engine::available() {
        let (mut results, mut pauses) = (vec![false; jobs.len()], 0);
        engine.verify_batch_with_pauses(&jobs, &mut results, &mut || {
            pauses += 1;
            if pauses % 16 == 1 {
                assert_eq!(verify(*engine, &samples[..1]), [true], "{engine:?}");
            }
        });
        assert_eq!(results, vec![true; 20], "{engine:?}");
        let expected = match engine {
            // Three groups: one each when its key is loaded, and one every ten of 256 bits.
            Engine::Avx512Ifma => 3 * (1 + 26)..=3 * (1 + 26),
            // One when all keys are loaded, and one every 32 bits; the topmost may all be zero.
            Engine::Mulx => 1 + 20 * 7..=1 + 20 * 8,
            Engine::Scalar => 20..=20,
        };
        assert!(expected.contains(&pauses), "{engine:?} {pauses}");
        pauses = 0;
        engine.verify_batch_with_pauses(&jobs[..1], &mut results[..1], &mut || pauses += 1);
        let expected = match engine {
            // Alone on all lanes, the last twenty bits are where the lanes come together.
            Engine::Avx512Ifma => 1 + 24..=1 + 24,
            Engine::Mulx => 7..=8,
            Engine::Scalar => 1..=1,
        };
        assert!(expected.contains(&pauses), "{engine:?} {pauses}");
    }
}

/// Sums meet their like where the key is a small multiple of the generator: no formula but the scalar code's covers that.
#[test]
fn keys_that_are_small_multiples_of_the_generator_are_no_exception() {
    for curve in CURVES {
        for small in 1..=if cfg!(debug_assertions) { 10 } else { 70u8 } {
            let mut secret = [0; 32];
            secret[31] = small;
            let samples: Vec<_> = (0..8u8)
                .map(|at| {
                    let mut digest = [0; 32];
                    digest[31 - usize::from(at)] = small;
                    let mut signature = [None];
                    let job = chronoseal_ecdsa_lanes::Signing { curve, digest: &digest, secret: &secret, entropy: &[] };
                    Engine::Scalar.sign_batch(&[job], &mut signature);
                    let signature = signature[0].expect("in range");
                    Sample { curve, digest, signature, public: crate::samples::public(curve, &secret) }
                })
                .collect();
            let jobs: Vec<_> = samples.iter().map(Sample::job).collect();
            for (engine, number) in Engine::available().iter().flat_map(|engine| [(engine, 8), (engine, 1)]) {
                let mut results = [false; 8];
                for (jobs, results) in jobs.chunks(number).zip(results.chunks_mut(number)) {
                    engine.verify_batch(jobs, results);
                }
                assert_eq!(results, [true; 8], "{engine:?} {curve:?} {small}");
            }
        }
    }
}

#[test]
fn agrees_with_the_scalar_code_on_random_signatures_and_mutants() {
    let rounds = if cfg!(debug_assertions) { 4 } else { 400 };
    for curve in CURVES {
        let mut random = random(5);
        for round in 0..rounds {
            let mut samples: Vec<_> = (0..8).map(|_| Sample::new(curve, &mut random)).collect();
            for at in 0..8 {
                let mut mutant = samples[at].clone();
                match (at + round) % 4 {
                    0 => mutant.digest = samples[(at + 1) % 8].digest,
                    1 => mutant.signature.r = samples[(at + 1) % 8].signature.r,
                    2 => mutant.signature.s = samples[(at + 1) % 8].signature.s,
                    _ => mutant.public = samples[(at + 1) % 8].public,
                }
                samples.push(mutant);
            }
            let expected = verify(Engine::Scalar, &samples);
            assert_eq!(expected.iter().filter(|valid| **valid).count(), 8);
            for engine in Engine::available().iter().filter(|engine| **engine != Engine::Scalar) {
                assert_eq!(verify(*engine, &samples), expected, "{engine:?} {curve:?} {round}");
            }
        }
    }
}

/// The scalar of the generator is digest / s: zero first, and digests of one bit.
#[test]
fn digests_of_zero_and_of_one_bit_are_no_exception() {
    for curve in CURVES {
        let secret = crate::samples::secret(&mut random(8));
        let public = crate::samples::public(curve, &secret);
        let samples: Vec<_> = [None, Some(0), Some(10), Some(20), Some(255)]
            .into_iter()
            .map(|bit: Option<usize>| {
                let mut digest = [0; 32];
                if let Some(bit) = bit {
                    digest[31 - bit / 8] = 1 << (bit % 8);
                }
                let mut signature = [None];
                let job = chronoseal_ecdsa_lanes::Signing { curve, digest: &digest, secret: &secret, entropy: &[] };
                Engine::Scalar.sign_batch(&[job], &mut signature);
                Sample { curve, digest, signature: signature[0].expect("in range"), public }
            })
            .collect();
        for engine in Engine::available() {
            assert_eq!(verify(*engine, &samples), [true; 5], "{engine:?} {curve:?}");
        }
    }
}

#[test]
fn one_signature_under_the_other_curve_is_refused() {
    let mut sample = Sample::new(Curve::NistP256, &mut random(6));
    sample.curve = Curve::BrainpoolP256r1;
    for engine in Engine::available() {
        assert_eq!(verify(*engine, &[sample.clone()]), [false], "{engine:?}");
    }
}
